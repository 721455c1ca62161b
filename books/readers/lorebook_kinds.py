"""What an entry of a lorebook is: somebody, a place or a thing, by what its file, its name or its English text says.

What an entry is said to be, it is: "a clockmaker", "a tavern on the docks". Behind that comes what a name may tell, then what is
told of people alone. That a text speaks of a sea or a house says nothing: people are born at the one and live in the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple, cast

from recurrentgpt.schema.codex import Kind
from recurrentgpt.schema.names import (
    ANYBODY,
    HE_IS,
    OFFICE,
    RANKS,
    RELATIVE,
    SHE_IS,
    epithets_of,
    is_title,
    parted,
    parts_of,
)
from recurrentgpt.schema.short_names import head_of, words_of_thing

MOST_LETTERS = 300
"""Letters of what an entry is said to be."""


class Judged(NamedTuple):
    """What an entry is, and whether anything says so."""

    kind: Kind
    is_told: bool


_PLACES = (
    r"city|town|village|hamlet|island|isle|kingdom|realm|world|country|county|province|region|district|quarter|river|lake|sea|bay|"
    r"coast|harbou?r|port|mountain|hill|valley|forest|wood|desert|swamp|moor|field|farm|mill|mine|quarry|cave|house|manor|hall|"
    r"castle|palace|tower|fort|fortress|church|chapel|abbey|monastery|cathedral|temple|shrine|graveyard|cemetery|inn|tavern|hotel|"
    r"shop|market|square|street|road|lane|bridge|station|school|academy|university|library|museum|hospital|prison|garden|park|land|"
    r"cellar|cottage|mansion|alley|canyon|dungeon|lighthouse|orphanage|theat(?:re|er)|observatory|"
    r"lagoon|marsh|jungle|wasteland|citadel"
)
_PLACE = re.compile(rf"(?:{_PLACES})", re.IGNORECASE)
"""What a place is, and is called."""
_SAID_PLACE = re.compile(
    rf"(?:{_PLACES}|capital|settlement|outpost|colony|empire|duchy|republic|nation|state|planet|moon|continent|peninsula|plain|"
    r"plateau|pass|cliff|peak|volcano|waterfall|falls|glacier|tundra|oasis|grove|glade|clearing|bog|heath|canal|ruin|crypt|tomb|"
    r"vault|lair|den|camp|base|headquarters|seat|estate|stronghold|keep|gate|labyrinth|maze|dock|quay|wharf|slum|suburb|"
    r"neighbou?rhood|bar|pub|(?:night)?club|caf[eé]|restaurant|bakery|brewery|forge|arena|laboratory|deck|room|chamber|corridor|"
    r"interior|basement|attic|kitchen|bedroom|apartment|home|area|place|location|setting|dimension|plane|underworld|(?:\w+)?land|mile|"
    r"geography|located|situated|inhabited)(?:e?s)?",
    re.IGNORECASE,
)
"""What is said of a place."""
_SURNAMES = re.compile(
    r"hall|hill|lane|fields?|woods?|park|church|lake|moor|forest|castle|temple|mill|house|bridge|valley|garden"
)
"""What a place is, and somebody may be called."""
_SAID_THING = re.compile(
    # What ends as a trade does, and is none.
    r"(?:border|cent(?:er|re)|chapter|cluster|collar|computer|corner|counter|dagger|danger|disaster|door|drawer|elixir|factor|"
    r"fever|finger|floor|flower|fur|hammer|helicopter|exterior|hono(?:r|ur)|ladder|lantern|layer|leather|ledger|letter|lever|"
    r"liquor|locker|matter|meteor|mirror|monster|motor|number|order|other|paper|pepper|poster|powder|power|reactor|"
    r"remainder|reminder|revolver|rumou?r|scepter|sector|shelter|shoulder|silver|slipper|spider|starter|sticker|supper|terror|"
    r"thunder|timber|tractor|tremor|vapor|water|weather|winter|summer|wonder|armou?r|banner|barrier|blaster|charter|cruiser|"
    r"error|freighter|fighter|interceptor|talisman|obsidian|climate|class|\w*glass|ballad|salad|"
    # Things, and what is neither somebody nor a place.
    r"sword|blade|knife|axe|spear|bow|arrow|shield|weapon|gun|rifle|pistol|ring|amulet|necklace|pendant|crown|cloak|mask|book|tome|"
    r"map|scroll|diary|journal|key|potion|poison|drug|drink|wine|herb|plant|tree|root|stone|gem|jewel|crystal|metal|ore|coin|"
    r"currency|money|ship|boat|vessel|car|train|machine|device|engine|instrument|song|poem|game|dish|food|item|object|"
    r"artefact|artifact|relic|equipment|"
    r"festival|holiday|feast|ritual|ceremony|spell|magic|curse|disease|sickness|illness|plague|virus|war|battle|event|language|law|"
    r"treaty|religion|faith|history|lore|concept|technology|creature|animal|species|race|breed|bestiary|"
    r"cult|guild|brotherhood|sisterhood|faction|organi[sz]ation|group|gang|band|crew|company|corporation|(?:mega)?corp|clan|tribe|"
    r"family|dynasty|council|army|fleet|league|alliance|union|party|militia|police|government|agency|society|force|unit|"
    r"made|forged|written|carved|crafted|brewed|woven|minted|invented)(?:e?s)?",
    re.IGNORECASE,
)
"""What is said of a thing, and of what is neither somebody nor a place: a guild, a war, a people."""
_CALLED_SO = re.compile(
    r"animal|creature|curse|danger|disaster|fighter|force|machine|monster|plague|poison|relic|spider|terror|thunder|weapon|wonder",
    re.IGNORECASE,
)
"""What of that somebody may be said to be, too: a monster, a force of nature."""
_ANIMALS = (
    r"dog|hound|terrier|puppy|cat|tomcat|kitten|horse|warhorse|mare|stallion|pony|donkey|mule|goat|pig|wolf|fox|bear|lion|"
    r"lioness|tiger|panther|raven|crow|owl|hawk|falcon|eagle|parrot|rabbit|mouse|rat|monkey|snake|dragon|wyvern|griffin|unicorn|phoenix|"
    r"familiar|pet|steed"
)
_BEINGS = (
    r"human|elf|half-elf|dwarf|gnome|orc|goblin|tiefling|halfling|fairy|vampire|werewolf|demon|devil|succubus|incubus|angel|ghost|"
    r"lich|god|goddess|deity|spirit|android|robot|cyborg|ai|alien|mutant|catgirl|foxgirl|kitsune"
)
"""Of which kind somebody may be who has a name, and whoever has none is a thing."""
_TITLES = (
    r"duke|duchess|earl|marquis|marquess|marchioness|emperor|empress|tsar|sultan|dame|bishop|abbot|prior|elder|magister|archmage|"
    r"priestess|sorceress|grandmother|grandfather|granny|auntie"
)
_SOMEBODY = re.compile(
    rf"(?:{OFFICE}|{'|'.join(sorted(HE_IS | SHE_IS | RANKS | ANYBODY))}|{_TITLES}|{_ANIMALS}|{_BEINGS}|"
    r"knight|squire|mage|witch|warlock|wizard|druid|bard|rogue|assassin|mercenary|merchant|pirate|noble|peasant|slave|"
    r"apprentice|recruit|scholar|genius|prodigy|teen|teenager|adult|veteran|refugee|exile|hero|heroine|villain|rebel|twin|"
    r"successor|bride|groom|fiancé|boyfriend|girlfriend|crush|rival|mentor|ally|classmate|bully|prostitute|courtesan|chef|"
    r"ceo|coroner|medic|scientist|idol|athlete|character|protagonist|antagonist|npc|person|cast|"
    r"born|raised|orphaned|widowed|exiled|retired|aged?|"
    r"(?!(?:clever|bitter|tender|eager|sober|proper|sinister|minor|super|inner|outer|upper|lower|former|n?ever|over|under|after|"
    r"however|n?either|another|together|rather|whether|ultimate)$)(?:\w{2,}(?:er|or)))",
    re.IGNORECASE,
)
"""What is said of somebody, and of nothing else; a comparison ends as a trade does."""
_SEVERAL = re.compile(
    r"(?:men|women|people|folk|children|wolves|thieves|elves|dwarves|mice|(?P<one>\w+?)(?:ie)?s)", re.IGNORECASE
)
"""What is said of several, who are nobody; where nothing says so, a word of one may be what somebody does: cooks, guards."""
_ARE_SEVERAL = re.compile(r"\W*(?:$|[.;:!?\n])|\s(?:who|that|which|whose|of|from)\b")
"""What may stand behind several of a trade, and not behind what somebody does."""
_ALSO_DONE = re.compile(
    r"cook|guard|judge|pilot|captain|nurse|doctor|steward|butcher|tailor|engineer|slave|mentor|rival|exile|rebel|pirate|scout|"
    r"groom|author|tutor|shop|camp|farm|park|mine|ring|house|forge|harbou?r",
    re.IGNORECASE,
)
"""Trades and places that are words of what somebody does, too."""
_ADVERB = re.compile(r"never|always|often|still|sometimes|usually|\w+ly", re.IGNORECASE)
_HOUSE = re.compile(r"(?:[Tt]he )?(?:House|Clan|Tribe|Guild|Order) (?:[Oo]f )?(?:[Tt]he )?[A-Z].*")
"""How families and their like are called."""
_GENERAL = re.compile(
    r"\b(?:(?P<person>characters?|npcs?|people|persons?|cast|protagonists?|villains?|heroes|heroines?|companions)|"
    r"(?P<place>places?|locations?|geography|regions?|areas?|cities|towns)|"
    r"(?P<thing>items?|objects?|things?|artifacts?|weapons?|equipment|factions?|organi[sz]ations?|groups?|guilds?|events?|"
    r"concepts?|species|races?|creatures?|monsters?|bestiary|religions?|technology|vehicles?|ships?))\b",
    re.IGNORECASE,
)
"""What a category or a remark beside a name says of it."""

_WHOSE = r"(?:[\w{}.]+ ){0,2}?[\w{}]+['’]s?"
_BEFORE_NOUN = re.compile(
    r"^(?:(?:once|now|formerly|originally|currently|still|also|just|only) )*"
    rf"(?:(?:an?|the|one of the|his|her|their|its|our|{_WHOSE}) )?",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?=[.;:!?\n\]})(—])|\s(?=(?:of|in|on|at|by|to|for|from|with|without|near|under|over|above|behind|below|beneath|beyond|between|"
    r"around|across|into|through|after|before|against|among|off|outside|inside|where|when|who|whose|that|which|whom|but|or|(?P<than>than)|"
    r"as|(?P<verb>is|was|are|were|has|have|had|lives?|lived|appears?|can|will|must|may))\b)",
    re.IGNORECASE,
)
"""What stands behind what something is said to be."""
_TOLD_OF_IT = re.compile(r"\w+(?:ed|ing|wn|en)|run|held|kept|lost|made|built|set|cut|found|left|hid", re.IGNORECASE)
"""What may stand between that and what it ends with: a tavern run by her."""
_NO_NOUN = re.compile(
    r"(?:[a-z]{3,}(?<!s)(?<!ic)s|.+ (?:an?|the|his|her|its|their|no|every|all|any|it)) .+", re.IGNORECASE
)
"""What tells what somebody does, and is no noun: guards the old temple."""
_TYPE = re.compile(r"^[^\w\n]*(?:type|kind|category)\s*[:(=]\W*([^\n;,\])\"”]+)", re.IGNORECASE | re.MULTILINE)
_SHEET = re.compile(
    r"\b(?:character|age|gender|sex|sexuality|pronouns|personality|mind|occupation|profession|job|hair|eyes|hobbies|likes|"
    r"dislikes|height|clothes|clothing|outfit|birthday|nationality)\s*[:(=]|\b(?:he/him|she/her|they/them)\b",
    re.IGNORECASE,
)
"""What is noted of somebody, and of no place."""
_OF_KIND = re.compile(
    r"(?<!\w )\b(?:(?P<race>race)|species|class)\s?[:(=]\W{0,4}(?P<noun>\w[\w-]*(?: \w[\w-]*){0,4})", re.IGNORECASE
)
"""What is noted of somebody, and of animals and ships as well."""
_PLACE_SHEET = re.compile(
    r"\b(?:(?:population|climate|government|inhabitants|terrain|landmarks|capital)\s*[:(=]|"
    r"population (?:of )?(?:(?:about|around|over|some|nearly) )?\d)",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"\b(?:(?:eyes|hair|beard|moustache|mustache|braids?|freckle[sd]|-eyed|-haired|-skinned|accent|years old|"
    r"year-old)\b|\d\d[,;])",
    re.IGNORECASE,
)
"""What somebody looks like."""
_SAID_OF = re.compile(r"\b(?:(he|she|him|his|her|hers|himself|herself)|its?|itself)\b", re.IGNORECASE)
_NAMED = r"(?<!\bin )(?<!\bfrom )(?<!\bof )(?<!\bat )(?<!\bnear )(?<!\bto )(?<!\bthe )(?<=[\w,;] )[A-Z]\w+"
_OTHERS_BEFORE = re.compile(
    rf"{_NAMED}|^[A-Z]\w+ [a-z]+s\b|"
    rf"\b(?i:{'|'.join(sorted(HE_IS | SHE_IS | RANKS | ANYBODY))}|whoever|who|everyone|everybody|anyone|those)\b"
)
"""Who may be meant by a pronoun behind, and is no place, as it seems."""
_IT = re.compile(r"\b[Ii]ts\b|(?:^|[.!?]\s+)It\b")
"""How it is gone on about what is nobody."""
_SUBJECT = re.compile(r"(?:^|[.!?]\s+)(?:He|She)\b(?! who\b)")
"""How it is gone on about somebody."""
_THEY = re.compile(r"\b[Tt]he(?:y|ir)\b")
_BEGINS_WITH = re.compile(r"(?:(?:and|but) )?(?:he|she)\b(?! who\b)", re.IGNORECASE)
"""How a sentence begins that does so."""
_HANDLED = re.compile(r"\b(?:can|could|may|might|must) (?:\w+ )?it\b|\bit\s*(?:[.,;!?]|$)")
"""What is done with what is nobody."""
_ANY = re.compile(r"\b(?:an?|no|the|any|each|every) (?P<noun>[\w-]+)", re.IGNORECASE)
_DOES_AS_SOMEBODY = (
    r"drinks|walks|wears|speaks|works|(?:secretly )?(?:loves|hates|likes|dislikes)|thinks|believes|knows|wants|fears|limps|"
    r"smiles|laughs|sings|teaches|owns|hunts|trusts|hopes|remembers|writes|reads|says|asks|plays|lives|drives|dreams|studies|owes|"
    r"sells|carries|rules|commands|serves"
)
"""What only somebody does, of a name that a place may have, too."""
_DOES = (
    rf"(?:\w+ly |never |always |often |once |still |now |also )?(?:{_DOES_AS_SOMEBODY}|keeps (?!(?:the|its|out|in|to)\b)|"
    r"guards|judges|pilots|captains|nurses|"
    r"runs (?=an?|the\b)|steals|picks|cooks|bakes|paints|dances|smokes|stammers|swears|sleeps|prefers|"
    r"refuses|enjoys|despises|distrusts|admires|collects|trains|leads|preaches|gambles|lies when|talks|mutters|cheats|"
    r"blames|pretends|suspects|plots|plans|insists|grew up|comes from|came from|hails from|used to|"
    r"(?:has |had )?(?:left|fled|escaped|joined|deserted|betrayed|married|murdered|killed|poisoned|lost (?:his|her|an?|both)|"
    r"studied|learne?[dt]|worked|fought|served|buried|ruled|inherited))\b"
)
"""What somebody does whose name no place has."""
_STATES = (
    r"is|was|has|does|lies|stands|belongs|contains|holds|means|consists|reaches|runs|flows|rises|seems|remains|shines|glows|smells|"
    r"dates|keeps|makes|gives|houses|hangs|opens|borders|"
    r"overlooks|covers|surrounds|separates|leads|slopes|dominates"
)
"""What is told of places and things as well."""
_OF_PLACES_TOO = frozenset(
    ("king", "queen", "prince", "princess", "general", "doctor", "bishop", "abbot", "saint", "duke", "earl")
)
"""Titles that stand in the names of places: King Valley, Doctor Lane."""
_THERE = re.compile(
    r"\b(?:lies|stands|sits|nestle[sd]|located|situated) (?:\w+ )?(?:in|on|at|near|between|beneath|below|above|along|off|beyond|"
    r"by|under|outside|[a-z]+ of|(?:\w+ ){0,2}(?:days?|miles?|hours?|leagues?)\b)\b|"
    r"\b[Ii]ts (?:\w+ )?(?:streets|walls|people|inhabitants|citizens|houses|harbou?r|towers|canals|gates|rooms|"
    r"halls|floors|library|roofs?)\b|(?<!lives )\b(?:there|here)\b(?! (?:is|are|was|were)\b)"
)
"""What is told of a place alone."""


def kind_of(
    name: str, text: str, remarks: Sequence[str], groups: Sequence[str], known: Callable[[str], Kind | None]
) -> Judged:
    """Return what an entry is; a thing where nothing says it, which may be in whose hands it will, and of which all is told.

    `remarks` stand beside the name in the title, `groups` are those that the file has put it in. `known` says what a name is that
    the story has already, which goes before what the text only lets one guess.
    """
    told = _of_file(name, [*remarks, *_TYPE.findall(text)], groups) or _said_to_be(name, text) or _of_name(name, text)
    kind = told or known(name) or _guessed(name, text)
    return Judged(kind or "thing", kind is not None)


def _of_file(name: str, remarks: Sequence[str], groups: Sequence[str]) -> Kind | None:
    for said in (*remarks, *groups):
        found = list(_GENERAL.finditer(re.split(r"\s(?:of|from|in|at|with)\s", said)[0]))
        if found:
            return cast("Kind", found[-1].lastgroup)
    # "(sword)" says so, and "(Anchor inn)" or a group "tavern" where somebody is met.
    nouns = (_noun_kind(name, remark) for remark in remarks if " " not in remark)
    return next((kind for kind in nouns if kind), None)


def _noun_kind(name: str, noun: str) -> Kind | None:
    """Return what a noun says that something of this name is; None for a word that says nothing of it."""
    if _SAID_PLACE.fullmatch(noun):
        return "place"
    if _SAID_THING.fullmatch(noun):
        return "thing"
    if (match := _SEVERAL.fullmatch(noun)) and (match["one"] is None or _SOMEBODY.fullmatch(match["one"])):
        return "thing"
    if not _SOMEBODY.fullmatch(noun):
        return None
    is_common = re.fullmatch(rf"(?:{_ANIMALS}|{_BEINGS})", noun, re.IGNORECASE) and name and not _is_proper(name, noun)
    return "thing" if is_common else "person"


def _is_proper(name: str, noun: str = "") -> bool:
    """Return whether a name may be somebody's, and is no name of a kind: Frost Wolf, of a wolf."""
    words = name.split()
    return (
        bool(words)
        and all(word[0].isupper() for word in words)
        and words[-1].casefold() != noun.casefold()
        and not parted(name).articles
        and not re.search(r"['’]s? ", name)
    )


def _said_to_be(name: str, text: str) -> Kind | None:
    """Return what an entry is said to be where its text begins: a place, of "Vell, the old capital, is"."""
    names = "|".join(map(re.escape, (name, *parts_of(name)))) or r"(?!)"
    begins = re.match(
        rf"\W*(?:(?P<any>an?) |the )?(?:{names})\b(?:\s*\([^)]*\))?(?P<is>,? (?:is|was|are|were)\b|\s*[:—–-]|,|\s*\n)?",
        text,
        re.IGNORECASE,
    )
    if begins and begins["any"] and not _is_place_name(name):
        return "thing"  # an elf is no somebody
    start = begins.end() if begins else 0
    ends = _ENDS.search(text, start)
    # What anybody does is not what the entry is.
    if (begins and not begins["is"]) or (not begins and ends and ends["verb"]):
        return None
    if ends and ends["than"]:
        return None
    said = text[start : ends.start() if ends else start + MOST_LETTERS][:MOST_LETTERS]
    behind = text[start + len(said) :]
    is_label = re.match(r"\s?[:=]", behind)
    if is_label and (re.fullmatch(r"\W*(?:race|species|class)", said, re.IGNORECASE) or _is_sheet(name, text)):
        return None  # a home of a sheet is where somebody lives
    parts = re.split(r",\s*|\s+and\s+", said)
    if not (begins and re.search(r"\w", begins["is"] or "")) and _is_done(parts, text, behind):
        return None
    for part in parts:
        noun = _BEFORE_NOUN.sub("", part.strip(" \"*_'"))
        words = noun.split()
        if _NO_NOUN.fullmatch(noun):
            return None
        if not words:
            continue
        # A city carved in a rock is no carving; a ring is one.
        is_told = len(words) > 1 and _TOLD_OF_IT.fullmatch(words[-1])
        if is_told and (words[-1].endswith("ed") or not _noun_kind(name, words[-1])):
            words = words[:-1]
        noun = words[-1].strip("\"'()[]{}")
        if kind := _noun_kind(name, noun):
            if _CALLED_SO.fullmatch(noun) and not parted(name).articles and _goes_on_about_somebody(text[start:]):
                return "person"
            is_place = kind == "person" and _is_place_name(name) and bool(parted(name).articles)
            return "place" if is_place else kind
    return None


def _is_done(parts: Sequence[str], text: str, behind: str) -> bool:
    """Return whether a text begins with what somebody does, and not with several of a trade: cooks at the inn."""
    words = [part.strip(" \"*_'").split() for part in parts]
    done = [one[:-1] for one in words if one and _is_also_done(one[-1]) and all(map(_ADVERB.fullmatch, one[:-1]))]
    if not done:
        return False
    if any(done) or _SUBJECT.search(text):
        return True
    are_all = all(_noun_kind("", one[-1]) for one in words if one)
    return not _THEY.search(text) and not (are_all and _ARE_SEVERAL.match(behind))


def _is_also_done(word: str) -> bool:
    match = _SEVERAL.fullmatch(word)
    return match is not None and bool(_ALSO_DONE.fullmatch(match["one"] or ""))


def _goes_on_about_somebody(text: str) -> bool:
    """Return whether a text goes on about him or her behind what it begins with, which names nobody else."""
    first, *rest = re.split(r"(?<=[.!?;,])\s+|\n+", text)
    told = takewhile(lambda sentence: any(match[1] for match in _SAID_OF.finditer(sentence)), rest)
    return not re.search(_NAMED, first) and any(map(_BEGINS_WITH.match, told))


def _is_sheet(name: str, text: str) -> bool:
    """Return whether a text is a sheet of somebody; a race is somebody's, a species may be that of a plant or a wolf."""
    if _SHEET.search(text):
        return True
    if not _is_proper(name) or _are_several(name, text):
        return False
    kinds = [(match["race"], _noun_kind(name, match["noun"].split()[-1])) for match in _OF_KIND.finditer(text)]
    return any(kind == "person" or (race and kind is None) for race, kind in kinds)


def _are_several(name: str, text: str) -> bool:
    return name.endswith("s") and bool(re.search(r"\b(?:[Tt]hey|[Tt]heir|are)\b", text))


def _is_place_name(name: str) -> bool:
    """Return whether a name says that it is a place's: Tallow Street, the north tower."""
    head = head_of(words_of_thing(name)) or name
    return bool((_SAID_PLACE if name.islower() else _PLACE).fullmatch(head))


def _of_name(name: str, text: str) -> Kind | None:
    """Return what an entry is by its name; somebody may be called as a place is, of whom it is told what only somebody does."""
    words, told = name.split(), re.escape(name)
    titled = len(words) > 1 and (is_title(words[0]) or bool(re.fullmatch(_TITLES, words[0], re.IGNORECASE)))
    if not _is_place_name(name):
        if _HOUSE.fullmatch(name) and not _THERE.search(text) and not _SUBJECT.search(text):
            return "thing"
        return "person" if titled else None
    head = (head_of(words_of_thing(name)) or name).casefold()
    is_told = (
        (titled and words[0].casefold() not in _OF_PLACES_TOO)
        or (len(words) > 1 and re.search(rf"(?:^|[.!?]\s+)(?<![Tt]he ){told} (?:{_DOES_AS_SOMEBODY})\b", text))
        or _SHEET.search(text)
    )
    # Anna Church is somebody, and so is Captain Hall.
    is_somebody = (is_told and _SURNAMES.fullmatch(head)) or (len(words) > 1 and _SUBJECT.search(text))
    return "person" if is_somebody and not parted(name).articles else "place"


def _guessed(name: str, text: str) -> Kind | None:
    """Return what an entry is by what its text tells of it."""
    if _PLACE_SHEET.search(text) and not re.search(r"\b(?:gender|personality|pronouns)\s*[:(=]", text, re.IGNORECASE):
        return "place"
    if _is_sheet(name, text):
        return "person"
    if _are_several(name, text) or (not _is_proper(name) and re.search(r"['’]s? ", name)):
        return "place" if _THERE.search(text) else "thing"
    if not parted(name).articles and _is_told_of_somebody(name, text):
        return "person"
    if _THERE.search(text) or text.startswith("Where "):
        return "place"
    return "thing" if re.search(r"\b[Ii]ts?\b", text) else None


def _is_told_of_somebody(name: str, text: str) -> bool:
    own, is_proper = "|".join(map(re.escape, (name, *parts_of(name)))) or r"(?!)", _is_proper(name)
    said = [match[1] for match in _SAID_OF.finditer(text)]
    of_whom = [one for one in said if one]
    # "Has not left it in years" is told of somebody as well.
    is_even = 2 * len(of_whom) == len(said) and is_proper and not _IT.search(text)
    if of_whom and (is_even or 2 * len(of_whom) > len(said)):
        without = re.sub(rf"\b(?:{own})\b", "", text)
        told = re.split(r"(?<=[.!?])\s+", without)
        if any(map(_is_its_own, told)) and not _is_handled(told):
            return True
    if not is_proper:
        return False
    does = re.search(rf"(?:^|[.!?;]\s+)(?<![Tt]he )(?:(?:{own}):? )?(?i:{_DOES})", text)
    acts = rf"(?:^|[.!?]\s+)(?<![Tt]he ){re.escape(name)} (?:\w+ly )?(?!(?:{_STATES})\b)[a-z]{{2,}}(?<!s)s\b"
    has = re.search(rf"\b(?:{own})['’]s? (?:[a-z]+ )?(?:face|eyes|hands?|hair|voice|{RELATIVE})\b", text)
    return bool(does or has or (" " in name and re.search(acts, text)) or _BODY.search(text) or epithets_of(name))


def _is_its_own(sentence: str) -> bool:
    """Return whether a sentence says he or she, and has nobody else before who may be meant."""
    match = next((one for one in _SAID_OF.finditer(sentence) if one[1]), None)
    return match is not None and not _OTHERS_BEFORE.search(sentence, 0, match.start())


def _is_handled(told: Sequence[str]) -> bool:
    """Return whether the first sentence that says he, she or it has it in the hands of somebody of whom the rest is told."""
    for sentence in told:
        said = list(_SAID_OF.finditer(sentence))
        if said:
            before = _ANY.finditer(sentence, 0, said[0].start())
            is_so = _HANDLED.search(sentence) and not any(one[1] for one in said)
            return bool(is_so) and any(_SOMEBODY.fullmatch(match["noun"]) for match in before)
    return False
