"""The forms in which a name may stand: with an article, with a title, in other letters for the same characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

_ARTICLES = (
    "the",
    "der die das den dem des zum zur vom beim im am ins",
    "le la les l' du au des aux",
    "el la los las al del",
    "il lo la gli le l' al allo alla all' del dello della dell' dal dallo dalla dall' nel nello nella nell' sul sulla sull'",
    "o os ao do pelo",
    "de het",
)
"""Definite articles, a language each, with the prepositions that are one word with them.

The Portuguese "a" and "no" and the Italian "i" are words of English, too.
"""
DEFINITE_ARTICLES = frozenset(" ".join(_ARTICLES).split())
_BEFORE_A_NAME = re.compile(r"the|der|die|das|le|la|les|l'|el|los|las|il|de|het")
"""Those in which a name in capitals may begin; others are somebody's first names, too: Al, Des, Lo."""
_INDEFINITE = "a an ein eine einen einem einer eines un une una uno un' um uma een"


UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Characters of scripts that put no spaces between words, as in `prose.sentences`."""
LETTER = rf"[^\W{UNSPACED}]"
CAPITALS = "A-ZÀ-ÖØ-ÞĀĆČĎĘĚĞĪŁŃŇŌŘŚŠŤŪŮŹŻŽА-ЯЁІЇЄΑ-Ω"


def _any(articles: str) -> str:
    """Return a pattern of any of some articles, with the space behind it."""
    forms = sorted(dict.fromkeys(articles.split()), key=lambda form: (-len(form), form))
    return "(?i:" + "|".join(form if form.endswith("'") else rf"{form}\s+" for form in forms) + ")"


DEFINITE = _any(" ".join(_ARTICLES))
"""A pattern of what a name or role may have before it."""
_WITH_ARTICLE = re.compile(rf"({DEFINITE})(?=\S)")
_OF_ROLE = re.compile(rf"(?:{DEFINITE}|{_any(_INDEFINITE)})(?=\S)")
_WHOSE = "his her their my our your"
_OTHERS = f"{_WHOSE} no another some any every each one {_INDEFINITE}".split()
NOBODY_KNOWN = "(?i:" + "".join(rf"(?<!\b{form}{'' if form.endswith(chr(39)) else ' '})" for form in _OTHERS) + ")"
"""What a role must not have before it: a ferryman is anybody, and her brother somebody else's."""

_TITLES_OF_HER = (
    "mrs ms miss lady madam madame mme frau señora señorita signora senhora mevrouw queen princess countess baroness"
)
_TITLES_OF_HIM = "mr mister sir lord master monsieur herr señor signor senhor meneer king prince count baron"
RANKS = frozenset((
    "dr", "doctor", "captain", "professor", "colonel", "major", "sergeant", "lieutenant", "inspector", "detective", "constable",
    "commander", "admiral", "general", "judge", "nurse", "corporal", "sheriff", "mayor", "governor", "senator", "president",
    "chancellor", "ambassador", "archbishop", "abbess", "vicar", "rabbi", "imam", "pastor", "deacon", "cardinal", "marshal",
    "ensign", "bosun", "cadet", "private", "councillor", "viscount", "archduke", "chief", "agent", "officer", "nanny", "coach",
    "engineer", "pilot", "skipper",
))  # fmt: skip
"""Titles by which somebody may be meant without their name."""
_SHORT = {"capt": "captain", "prof": "professor", "col": "colonel", "sgt": "sergeant", "lt": "lieutenant"} | {
    "doctor": "dr",
    "mister": "mr",
}
OF_HER, OF_HIM = frozenset(_TITLES_OF_HER.split()), frozenset(_TITLES_OF_HIM.split())
"""Titles that say whether somebody is she or he."""
_TITLES = OF_HER | OF_HIM | RANKS | _SHORT.keys()
_WEDDED = frozenset(
    ("mrs", "ms", "miss", "lady", "madam", "madame", "mme", "frau", "señora", "señorita", "signora", "senhora")
)
"""Titles behind which a surname alone is hardly ever said without them."""
_KIN_TITLES = frozenset(("father", "mother", "brother", "sister", "uncle", "aunt"))
EPITHETS = _KIN_TITLES | {"old", "young", "little"}
"""What may stand before a name and says who of several has it: Old Tom and Young Tom are both Tom."""
OF_ANYBODY = ("old", "poor")
"""What may stand before anybody's name, in whatever letters, and makes nobody else of them."""
_PARTICLES = frozenset(
    ("von", "van", "de", "der", "den", "di", "da", "del", "du", "la", "le", "ten", "zu", "bin", "al", "o'")
)
PREPOSITIONS = frozenset((
    "of", "from", "with", "in", "on", "at", "for", "to", "without", "under", "von", "aus", "mit", "zu", "de", "d'", "du", "des",
    "en", "à", "au", "del", "della", "dello", "di", "da", "do", "dos", "das", "van", "uit", "met",
))  # fmt: skip
"""What begins that of which a thing is a part, or made, and whose somebody is."""
_ANOTHER = frozenset(("junior", "jr", "jr.", "senior", "sr", "sr.", "i", "ii", "iii", "iv"))
"""What makes of a name before it that of somebody else."""

ANYBODY = frozenset(
    ("woman", "man", "girl", "boy", "stranger", "person", "child", "lady", "gentleman", "fellow", "youth", "guest", "visitor",
     "frau", "mann", "mädchen", "junge", "kind", "fremde", "fremder", "femme", "homme", "fille", "garçon", "mujer", "hombre",
     "chica", "chico", "donna", "uomo", "ragazza", "ragazzo", "mulher", "homem", "vrouw", "meisje", "jongen")
)  # fmt: skip
"""What everybody may be called, and nobody is known by."""

_GENITIVE = re.compile(rf"(?<!{LETTER})(?<!\b[Dd]ie )([{CAPITALS}]{LETTER}+[^\W\d_sxzß])s(?= [{CAPITALS}])")
"""Greta's in a language that writes it without an apostrophe: Gretas."""
_ITS_WORDS = "und ist nicht ein eine einen einem einer dem das zum zur och är det og ikke het een zijn im der"
_WITH_GENITIVES = frozenset(_ITS_WORDS.split())
"""Words of those languages that are none of English, where Jens is not Jen's."""
_CYRILLIC = re.compile(r"(?<![а-яёіїє])[А-ЯЁІЇЄ][а-яёіїє]{2,}")
_CASES = {
    **dict.fromkeys(("у", "ы", "ой", "ою"), ("а",)),
    **dict.fromkeys(("ю", "ей", "ею", "ёй", "єю"), ("я",)),
    **dict.fromkeys(("е", "и", "і"), ("а", "я")),
    **dict.fromkeys(("ом", "ым"), ("",)),
    "ем": ("й", "ь"),
}
"""Endings of other cases of a name, and that of the name: of men's names those that are no case of a woman's, too."""

_SOMEBODYS = re.compile(rf"(?i:{'|'.join(_WHOSE.split())})\s")
_WHOSE_KIN = r"[A-Z]\w*\.?(?:[ '’-][A-Z]\w*)*"
_KIN = re.compile(
    rf"(?P<whose>{_WHOSE_KIN})['’]s? (?P<what>[a-z][\w-]*(?: [a-z][\w-]*)?)|"
    rf"(?:[Tt]he |an? )?(?P<is>[a-z][\w-]*(?: [a-z][\w-]*)?) of (?P<of>{_WHOSE_KIN})"
)
_KIN_OF_ROLE = re.compile(r"(?:[Tt]he )?(?P<whose>[a-z][\w-]*(?: [a-z][\w-]*)?)['’]s (?P<what>[a-z][\w-]*)")
_CAPITAL = re.compile(r"[A-Z][\w'-]*")
_WORD_BEFORE = re.compile(r"(?<![\w'-])([A-Z][a-z]+) $")
_NO_NAMES = (
    "A After Again All Although An And Another As At Because Before Behind Both But By Every Everybody Everyone Finally For "
    "From He Her Here His How I If In Inside Into It Later Maybe Meanwhile My Near No Nobody Not Now On Once One Only Or "
    "Our Outside Over Perhaps She Since So Some Somebody Someone Soon Still Suddenly That The Their Then There They This "
    "Though To Today Tomorrow Tonight Two Under Until We What When Where While Who Why With Yes Yet You Your "
    "Am Are Could Did Does Had Has Have Is Let Might Must Shall Should Was Were Would"
)
_BEGINS = frozenset(
    (*_NO_NAMES.split(), "Poor", "Dear", "Brave", "Sweet", "Gentle", "Beloved", "Unlucky", "Unhappy", "Wretched")
)
"""What a sentence may begin with in capitals that is nobody's name."""

CALENDAR = frozenset((
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "January", "February", "March", "April",
    "May", "June", "July", "August", "September", "October", "November", "December", "Christmas", "Easter", "Lent", "Advent",
    "Epiphany", "Whitsun", "Pentecost", "Michaelmas", "Martinmas", "Candlemas", "Lammas", "Midsummer", "Halloween",
    "Hallowe'en", "Thanksgiving", "Passover", "Hanukkah", "Ramadan", "Diwali",
))  # fmt: skip
"""Days, months and feasts."""
_SEASONS = frozenset(("Spring", "Summer", "Autumn", "Winter"))
_TIMES = CALENDAR | _SEASONS
_ALSO_NAMES = frozenset(("March", "April", "May", "June", "August", "Easter", "Lent")) | _SEASONS
"""Those by which somebody may be called."""
_TIME = rf"(?:{'|'.join(sorted(_TIMES))})"
_DATE = re.compile(
    r"\b(?:(?P<sure>[Ii]n|[Oo]n|[Tt]hat|[Tt]his|[Ll]ast|[Nn]ext|[Oo]ne|[Ee]very|[Dd]uring|[Aa]t)|[Bb]y|[Aa]fter|[Bb]efore|"
    rf"[Ss]ince|[Uu]ntil|[Tt]ill) (?:(?:the|early|late|mid) )?(?:(?P<time>{_TIME})|"
    rf"(?:[A-Z][\w'’-]* ){{1,3}}(?:Day|Eve|Night|{_TIME}))(?: (?:Day|Eve|Night|Morning|{_TIME}))? (?=[A-Z])"
)
"""A day, month, season or feast between a word that makes a date of it and a name."""
PLACES = frozenset((
    "Street", "Road", "Lane", "Alley", "Avenue", "Square", "Bridge", "Hill", "House", "Hall", "Manor", "Castle", "Abbey",
    "Church", "College", "School", "Park", "Garden", "Gardens", "Island", "Bay", "Point", "River", "Lake", "Harbour", "Harbor",
    "Town", "City", "Village", "County", "Valley", "Station", "Inn", "Gate", "Tower", "Mill", "Farm", "Wood", "Woods", "Forest",
    "Arms", "Bank", "Hotel", "Hospital", "Prison", "Museum", "Press", "Company", "Brothers", "Yard", "Court", "Office", "Theatre",
    "University", "Library", "Market", "Council", "Society",
))  # fmt: skip
"""What ends the name of a place, or of a house."""
BEFORE_PLACES = frozenset(("Mount", "Fort", "Port", "Cape", "Saint", "New"))
"""What begins the name of a place."""
_PLACED = re.compile(
    r"(?:^|[.!?;,:][\"”’)]? |[\"“(] ?|\b(?:and|but) )(?:[Ii]n|[Aa]t|[Oo]n|[Bb]y|[Nn]ear|[Ff]rom|[Oo]utside|[Bb]eyond|[Oo]ver) "
    r"(?P<where>(?:[A-Z][\w'’-]* ){1,2})$"
)
"""What ends in where or when something happens, in words in capitals, before the name that a clause is of."""

SEVERAL = frozenset((
    "friend", "enemy", "neighbour", "neighbor", "colleague", "companion", "comrade", "follower", "children", "people", "men",
    "one", "member",
))  # fmt: skip
_OF_MANY = ANYBODY | SEVERAL
"""What somebody has several of, as a rule, whom nobody has told of yet."""
FAMILY = re.compile(
    r"(?:god|grand|step|half-|foster-)?"
    r"(?:father|mother|brother|sister|son|daughter|aunt|uncle|cousin|nephew|niece|husband|wife|wives|widow\w*)s?(?:-in-law)?"
)
"""What somebody is to others of their family."""


HE_IS = frozenset((
    "man", "boy", "brother", "father", "son", "husband", "widower", "king", "prince", "lord", "uncle", "nephew", "grandfather",
    "monk", "priest", "fisherman", "ferryman",
))  # fmt: skip
SHE_IS = frozenset((
    "woman", "girl", "sister", "mother", "daughter", "wife", "widow", "queen", "princess", "lady", "aunt", "niece",
    "grandmother", "nun", "midwife", "waitress",
))  # fmt: skip
"""What somebody is of whom is said he, or she."""
RELATIVE = (
    r"(?:(?:grand|step|god|foster-)?(?:father|mother|son|daughter)|brother|sister|husband|wife|uncle|aunt|cousin|nephew|niece|"
    r"friend|widow|widower|fiancé|fiancée|lover)"
)
SOMEBODY = rf"(?:{RELATIVE}|(?:\w+-?)?(?:man|woman|boy|girl|lad|lass)|child|stranger|fellow|youth|guest|visitor|lady)"
OFFICE = (
    rf"(?:{SOMEBODY}|\w{{3,}}ist|\w{{4,}}ian|\w+(?:smith|keeper|maker|wright|monger|master|mistress|mate)|doctor|nurse|teacher|"
    r"captain|priest|vicar|monk|nun|bishop|abbot|farmer|baker|miller|butcher|tailor|painter|singer|writer|reporter|sailor|"
    r"soldier|lawyer|judge|clerk|servant|maid|cook|orphan|heir|leader|officer|guard|inspector|detective|sergeant|thief|spy|"
    r"mayor|steward|porter|driver|carter|smuggler|surgeon|engineer|ranger|warden|hunter|gardener|professor|student|pilot|smith)"
)
"""Patterns of what somebody is: to somebody else, and to whoever meets them; and these with what they do."""
TRADE = (
    r"(?:keeper|weaver|potter|piper|fiddler|beggar|preacher|healer|midwife|witch|wizard|sexton|apprentice|owner|landlord|"
    r"landlady|"
    r"shepherd|merchant|scribe|lord|duke|duchess|knight|squire|tinker|cooper|mason|carpenter|barber|groom|bailiff|butler|scholar|"
    r"poet|prophet|seer|founder|dancer|king|queen|prince|princess|grocer|draper|chemist|banker|lodger|tenant|waiter|waitress|brewer|"
    r"cobbler|jeweller|printer|publisher|tutor|governess|secretary|manager|president|minister|senator|governor|lieutenant|"
    r"corporal|admiral|chancellor|boatman|pharmacist|undertaker)"
)
"""What else somebody is: no ship, which may be a cutter, and no river or harbour."""
_IN_RETURN = (
    (("wife", "husband", "widow", "widower"), "husband", "wife"),
    (("brother", "sister"), "brother", "sister"),
    (("son", "daughter"), "father", "mother"),
    (("father", "mother"), "son", "daughter"),
    (("uncle", "aunt"), "nephew", "niece"),
    (("nephew", "niece"), "uncle", "aunt"),
    (("cousin",), "cousin", "cousin"),
)
"""What they are to somebody who are that to them, as he and as she."""
_BY_MARRIAGE = "-in-law"


class Kin(NamedTuple):
    """What somebody is to somebody else: `Bastian`, `sister`."""

    whose: str
    what: str


class Parted(NamedTuple):
    """A name without its definite article, and a pattern of all articles that may stand in that one's place."""

    bare: str
    articles: str
    """Empty where the name has none."""


def plain(text: str) -> str:
    """Return a text in the one form in which names are compared: composed characters, and one apostrophe."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).replace("’", "'")


@lru_cache(maxsize=4096)
def parted(name: str) -> Parted:
    """Return a plain name without its definite article: in a sentence another case or letter of it may stand there."""
    match = _WITH_ARTICLE.match(name)
    article = match[1].strip().casefold() if match else ""
    if match is None or not (name[0].islower() or _BEFORE_A_NAME.fullmatch(article)):
        return Parted(name, "")
    own = " ".join(articles for articles in _ARTICLES if article in articles.split())
    return Parted(name[match.end() :], _any(own))


@lru_cache(maxsize=4096)
def spelled(name: str) -> str:
    """Return a pattern of a name as a text spells it: with any case of its article, and either apostrophe."""
    bare, articles = parted(plain(name))
    return articles + re.escape(bare).replace("'", "['’]")


_SHORT_GENITIVE = re.compile(r"(?<=s)'(?= )")
"""Jonas' oath is Jonas's oath."""


@lru_cache(maxsize=4096)
def key_of(name: str) -> str:
    """Return a name as it is looked up: in small letters, with "the" for every definite article."""
    bare, articles = parted(plain(" ".join(name.split())))
    key = _SHORT_GENITIVE.sub("'s", bare.casefold())
    return f"the {key}" if articles else key


def without_article(role: str) -> str:
    """Return a role without its article of whatever language."""
    role = plain(role)
    match = _OF_ROLE.match(role)
    return role[match.end() :] if match else role


class Form(NamedTuple):
    """A title, in small letters and one spelling, and the words of the name behind it."""

    title: str
    words: tuple[str, ...]


@lru_cache(maxsize=4096)
def form_of(name: str) -> Form:
    """Return the title and the words of somebody's name."""
    words = plain(name).split()
    title = words[0].rstrip(".").casefold() if words else ""
    if len(words) > 1 and title in _TITLES:
        return Form(_SHORT.get(title, title), tuple(words[1:]))
    return Form("", tuple(words))


@lru_cache(maxsize=4096)
def epithets_of(name: str) -> tuple[str, ...]:
    """Return the words, in small letters, that a name begins with and that are none of it: `old`, of Old Tom."""
    found = list[str]()
    for word in plain(name).split()[:-1]:
        if word.casefold() not in EPITHETS:
            break
        found.append(word.casefold())
    return tuple(found)


def without_epithets(name: str) -> str:
    """Return a name without its epithets: Tom, of Old Tom."""
    return " ".join(plain(name).split()[len(epithets_of(name)) :])


def is_anothers(text: str, start: int, names: Collection[str]) -> bool:
    """Return whether the name that stands in a text from `start` is another's, by its epithet: Young Tom is not Old Tom.

    `names` are somebody's, with or without parts of those: what they are called without an epithet may have any before it.
    """
    word = _WORD_BEFORE.search(text, max(0, start - 20), start)
    said = word[1].casefold() if word else ""
    if said not in EPITHETS:
        return False
    told_apart = [name for name in names if epithets_of(name)]
    parts = {part for name in told_apart for part in parts_of(name)}
    own = {epithet for name in told_apart for epithet in epithets_of(name)}
    others = [name for name in names if name not in told_apart and name not in parts]
    may_have_any = {called for name in others for called in (name, *parts_of(name))}
    stands = text[start:]
    return bool(own) and said not in own and not any(re.match(rf"{re.escape(name)}\b", stands) for name in may_have_any)


def are_told_apart(names: Collection[str]) -> bool:
    """Return whether somebody of these names has what stands behind an epithet by no name without one.

    Uncle Walter who is Walter Crane, too, may be Old Walter; as the sexton, or Mr Crane, he may not.
    """
    behind = {form_of(without_epithets(name)).words[0] for name in names if epithets_of(name)}
    return bool(behind) and all(epithets_of(name) or behind.isdisjoint(plain(name).split()) for name in names)


def parts_of(name: str) -> list[str]:
    """Return the first and the last name of somebody: of Mrs Cole none, of Captain Ahab and Old Ahab the last.

    Of Old Captain Rusk, Captain Rusk is one, too, and of Old Uncle Hiram Uncle Hiram.
    """
    is_told_apart, behind = bool(epithets_of(name)), without_epithets(name)
    title, words = form_of(behind)
    if parted(plain(name)).articles or not words:
        return []
    is_described = words[0][0].islower() and words[0] not in _PARTICLES
    if is_described and not PREPOSITIONS.isdisjoint(words):
        return []  # the mother of Tom is no Tom
    if len(words) == 1:
        found = list(words) if (is_told_apart or title) and title not in _WEDDED else []
    else:
        found = [word for word in (words[0], words[-1]) if not word[0].islower()]
    if not is_told_apart:
        return found
    if any(word[0].islower() and word not in _PARTICLES for word in words):
        found = found[:1]  # Old Peg of the Mill is no Mill
    # An old woman, the little ones, Father Christmas and Mother Superior are called so, and by no part of that.
    found = [part for part in found if _may_be_said_alone(part)]
    further = [plain(name).split(maxsplit=1)[1]] if found and len(epithets_of(name)) > 1 else []
    return [*found, *further, *([behind] if " " in behind and not is_described else [])]


def _may_be_said_alone(word: str) -> bool:
    said = word.casefold()
    return is_name_part(word) and said not in ANYBODY | {"superior"} and word not in CALENDAR - _ALSO_NAMES


def is_same_name(known: str, name: str) -> bool:
    """Return whether one name is the other with more words: with a surname, or with names between the first and the last."""
    if epithets_of(known) != epithets_of(name):
        return False
    (title, words), (_, others) = form_of(without_epithets(known)), form_of(without_epithets(name))
    first, last = ([word.casefold() for word in form] for form in (words, others))
    if len(words) > len(others):
        first, last = last, first
    elif len(words) == 1 and title:
        return first == last  # whoever is called Captain Cole may be any Cole
    if not first or first[0] != last[0] or last[-1] in _ANOTHER:
        return False
    if any(word[0].islower() and word not in _PARTICLES for word in (*words[1:], *others[1:])):
        return False
    between = iter(last)
    return all(word in between for word in first) and (len(first) == 1 or first[-1] == last[-1])


def called_as(title: str) -> str:
    """Return the pronoun of whoever has a title; empty for one that says nothing of it."""
    return "she" if title in OF_HER else "he" if title in OF_HIM else ""


def is_by_marriage(title: str) -> bool:
    """Return whether somebody of a title may have the surname behind it from whom she married."""
    return title in _WEDDED and title not in ("miss", "ms", "señorita")


def is_name_part(word: str) -> bool:
    """Return whether a word before a surname is another's first name, and no title or first word of a sentence."""
    word = word.strip()
    title = word.rstrip(".").casefold()
    return word[:1].isupper() and word not in _BEGINS and title not in _TITLES | EPITHETS


def date_before(text: str, start: int, end: int) -> int:
    """Return where a name in capitals begins that stands from `start` to `end`, behind the date that it may begin with.

    May Welland is not called Welland: what may be her first name is a date where the rest is a name of two words.
    """
    if _TIMES.isdisjoint(text[start:end].split()) and "Day " not in text[start:end] and "Eve " not in text[start:end]:
        return start
    for match in _DATE.finditer(text, max(0, start - 20), end):
        is_sure = match["sure"] or match["time"] not in _ALSO_NAMES
        if match.end() > start and (is_sure or " " in text[match.end() : end]):
            return match.end()
    return start


def is_behind_setting(text: str, start: int, name: str, first: str) -> bool:
    """Return whether what stands in capitals before a name is when or where something happens, and no part of a name.

    That is a date, and before a whole name or somebody's `first` name whatever a clause begins with behind a preposition
    and is a name by itself.
    """
    before = text[max(0, start - 60) : start]
    if any(match.end() == len(before) for match in _DATE.finditer(f"{before}X")):
        return True
    match = _PLACED.search(text[:start]) if " " in name or name == first else None
    if match is None:
        return False
    # Port Anna and Lake Anna are places, and Aunt Anna is somebody else; in Hyde Park Anna does something.
    *others, last = match["where"].split()
    return not (last in BEFORE_PLACES or is_title(last) or (last in PLACES and not others))


def is_title(word: str) -> bool:
    """Return whether a word before a name says how somebody is addressed: Mrs, Dr, Captain, Sister."""
    return word.rstrip(".").casefold() in _TITLES | _KIN_TITLES


class Declined(NamedTuple):
    """A word of a text that may be a name in another case."""

    place: int
    word: str
    names: tuple[str, ...]
    """What the name may be."""


@lru_cache(maxsize=64)
def declined_in(text: str, words: frozenset[str]) -> tuple[Declined, ...]:
    """Return which words of a plain text may be names in another case; `words` are all of its words in small letters."""
    found = []
    if not words.isdisjoint(_WITH_GENITIVES):
        found = [Declined(match.start(), match[0], (match[1],)) for match in _GENITIVE.finditer(text)]
    for match in () if text.isascii() else _CYRILLIC.finditer(text):
        cases = ((match[0][:-length], _CASES.get(match[0][-length:], ())) for length in (1, 2))
        names = tuple(f"{stem}{ending}" for stem, endings in cases for ending in endings)
        found.append(Declined(match.start(), match[0], names))
    return tuple(found)


def is_somebodys(role: str) -> bool:
    """Return whether a role is "her brother", and does not say whose."""
    return bool(_SOMEBODYS.match(role))


def kin_of(role: str) -> Kin | None:
    """Return whose a role makes somebody, and what; None for one that does not say so with a name, or a role of a family."""
    said = plain(role).strip(" .")
    match = _KIN.fullmatch(said)
    kin = Kin(match["whose"] or match["of"], match["what"] or match["is"]) if match else None
    if kin is None and (other := _KIN_OF_ROLE.fullmatch(said)) and FAMILY.fullmatch(other["what"]):
        kin = Kin(f"the {other['whose']}", other["what"])
    return kin if kin and kin.what.split()[-1] not in _OF_MANY else None


def in_return(what: str, pronoun: str) -> str:
    """Return what somebody of a pronoun is to whoever is `what` to them: a wife's husband; empty where nobody can tell."""
    if what.endswith(_BY_MARRIAGE):
        back = in_return(what.removesuffix(_BY_MARRIAGE), pronoun)
        return f"{back}{_BY_MARRIAGE}" if back else ""
    for those, he, she in _IN_RETURN:
        if what in those:
            if he == she or pronoun:
                return she if pronoun == "she" else he
            # Of nobody it is said more than that they are married: she is his wife.
            return {"wife": he, "widow": he, "husband": she, "widower": she}.get(what, "")
    return ""


def may_be_of(before: str, pronoun: str, names: frozenset[str]) -> bool:
    """Return whether "his" or "her" after a text means whoever has the words of these names, and nobody else.

    The last sentence that names anybody, of it and the one before, names them alone, and no other one is "he" or "she" in it.
    """
    for told in reversed(re.split(r"(?<=[.!?])[\"'”]?\s+", before)[-2:]):
        found = [match for match in _CAPITAL.finditer(told) if match.start() or match[0] not in _BEGINS]
        said = [match for match in found if match[0] != "I"]
        if not said:
            continue
        if any(match[0].removesuffix("'s") not in names for match in said):
            return False
        other = r"\b(?:he|him|his)\b" if pronoun == "his" else r"\b(?:she|her|hers)\b"
        return not re.search(other, told[: said[0].start()], re.IGNORECASE)
    return False
