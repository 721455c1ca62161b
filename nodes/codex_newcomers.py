"""Who comes into an English story, and where it takes place: names of a text that the codex does not know yet.

A name alone calls nobody a person: London, Monday and the Petrel are names, too. Somebody is who has a title, speaks, is
introduced, dies, has a face, is given something, or does what no town and no ship does; and is no town who is oftener lived in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from recurrentgpt.nodes.codex_deaths import is_told_dead, may_tell_of_death
from recurrentgpt.nodes.codex_names import NOBODY, is_nobodys, is_told_as_kin
from recurrentgpt.nodes.codex_verbs import ACTS, SPEAKS
from recurrentgpt.schema.codex import Codex, Entry, Line
from recurrentgpt.schema.names import (
    BEFORE_PLACES,
    CALENDAR,
    CAPITALS,
    HE_IS,
    LETTER,
    OFFICE,
    PLACES,
    RELATIVE,
    SHE_IS,
    SOMEBODY,
    TRADE,
    called_as,
    date_before,
    form_of,
    is_anothers,
    is_name_part,
    is_title,
    key_of,
    without_epithets,
)

_WORD = rf"(?:[{CAPITALS}]['’])?[{CAPITALS}]{LETTER}+(?:-{LETTER}+|['’](?!s\b){LETTER}+)*"
# It begins with a set of letters, which is looked for in a fraction of the time that anything else takes.
_NAME = re.compile(
    rf"[{CAPITALS}](?<![\w'’-].)(?:['’][{CAPITALS}])?{LETTER}+(?:-{LETTER}+|['’](?!s\b){LETTER}+)*"
    rf"(?:(?:(?<=\bMr)|(?<=\bMrs)|(?<=\bMs)|(?<=\bDr)|(?<=\bCapt)|(?<=\bProf)|(?<=\bLt)|(?<=\bSgt)|(?<=\bCol))\.)?"
    rf"(?: (?:(?:de|von|van|der|den|du|la|le|di|da|del|ten) ){{0,2}}{_WORD}){{0,3}}",
    re.DOTALL,
)
_SMALL = re.compile(r"(?<![\w'’-])[a-z]+(?![\w'’-])")
"""A word in small letters."""
_SHORTENED = re.compile(r"['’](?:t|ll|d|re|ve|m)$")
_BEGINS = re.compile(r"(?:^|[.!?…:][\"”’)]*\s+|[\"“‘(*_—–]\s*|\n\s*|^\W+)$")
"""What ends before the first word of a sentence, which is in capitals whatever it is."""
_NAMES_A_THING = re.compile(r"\b(?:[Tt]he|[Aa]n?) $")
"""What stands before a ship, an inn or a river, and before nobody."""
_STYLES = frozenset(("Reverend", "Honourable"))
"""What somebody's name has before it behind "the"."""
_SETS_IN = frozenset(("In", "At", "On", "By", "Near", "From", "Outside", "Beyond", "Over"))
"""What a sentence begins with before where it happens."""
_PREPOSITION = r"(?:of|in|at|to|from|for|with|by|near|through|on|into|over|between|behind|beside)"
_GOVERNED = re.compile(rf"\b{_PREPOSITION} $")
"""What ends in a word after which a name is not who does something: the Earl of Marrow nodded."""

_SENTENCE_END = re.compile(r"[.!?\n]")
_ENDS = r"\b(?=[.,;:!?]|$| (?:of|in|at|on|who|from|and|with|for|to|here|now)\b)"
_INTRODUCED = re.compile(
    rf"\b(?:(?:[Mm]y|[Hh]is|[Hh]er) name (?:is|was)|I am|I['’]m|{SOMEBODY},? (?:called|named)|"
    rf"(?:[Hh]is|[Hh]er|[Mm]y|[Yy]our|[Oo]ur|[Tt]heir|\w+['’]s) (?:[a-z]\w* )?{RELATIVE},?|"
    rf"(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]heir) (?:[a-z][\w-]* ){{0,2}}{OFFICE},?(?: (?:is|was)(?: called| named)?)?) $"
)
_DOES = re.compile(rf" (?:(?:is|was|were|has|had|did|can|could|will|would|might|must|never)\b|{ACTS})")
_IS_SOMEBODY = re.compile(
    rf"(?:, who\b|,? (?:(?:is|was|becomes|became) )?(?:now )?(?:the|an?|his|her|their|our|my|{_WORD}['’]s) "
    rf"(?:[a-z][\w-]* ){{0,2}}?(?:{OFFICE}|{TRADE}){_ENDS})"
)
_LIVES = re.compile(
    rf" (?:lives (?:alone|by (?:him|her)self|with )|knows (?:who|that|how|about|where|why|when)\b|owes |wears |limps|works "
    rf"(?:as|for) |"
    rf"(?:is|was) (?:now |very )?(?:blind|deaf|lame|mute|married|unmarried|widowed|engaged|pregnant|ill|afraid|drunk|asleep|in "
    rf"love)\b|"
    rf"(?:has|had) (?:an? |no |the |two |three |red |black |white |grey |long |short ){{1,3}}(?:\w+ )?(?:limp|beard|moustache|"
    rf"hair|{RELATIVE}|"
    r"(?:son|daughter|brother|sister)s)\b|(?:can|could|cannot|can not)(?: not)? (?:swim|read|write|sing|dance|cook|ride|sew)\b)"
)
"""What is told of people alone, and is no deed."""
_SAID_BY = re.compile(rf"(?:\b(?!call(?:ed|s) ){SPEAKS}|[\"”] (?:called|calls)) $")
_SAYS = re.compile(rf" {SPEAKS}\b")
_TO_SOMEBODY = re.compile(
    r"\b(?:thanked|thanks|kissed|kisses|married|marries|greeted|greets|hugged|embraced|begged|helped|mourned|wept for|smiled at|"
    r"nodded to|bowed to|(?:eyes|hands?|face|arms?|shoulders?|voice) of) $"
)
_TO_WHOM = re.compile(r"\b(?:gave|gives|handed|hands|offered|offers|lent|lends|brought|brings|poured|showed|shows) $")
_WHAT = re.compile(r" (?:the|an?|his|her|some|back)\b")
_OF_SOMEBODY = (
    r"(?:head|eyes?|hands?|face|voice|shoulders?|arms?|mouth|hair|lips|fingers?|knees?|cheeks?|throat|wrists?|sleeves?|coat|hat|"
    rf"pockets?|{RELATIVE})\b"
)
_OF_A_BODY = re.compile(
    rf"['’]s? (?:[a-z]\w* )?(?!head\b){_OF_SOMEBODY}| (?:\w+ly )?(?!{_PREPOSITION}\b)[a-z]+ (?:his|her) (?:own )?{_OF_SOMEBODY}"
)
"""Walter's hand, and Walter shook his head; the head of a place is somebody, and so is whoever has her father's post there."""
_OF_PLACES = (
    r"(?:fell|blew|broke|burst|flew|rang|woke|slept|stood|met|made|hung|shone|shook|spread|struck|swept|swung|began|held|fought|"
    r"won|saw|let|did|got|shut|hid|bent|sprang|crept|clung|thought|ground|hit|hurt|waited|passed|sailed|anchored|docked|burned|"
    r"arrived|glittered|glowed|sparkled|gleamed|shimmered|loomed|surrendered|flooded|bustled|started|dawned|changed|moved|rolled|"
    r"creaked|rocked|drifted|echoed|opened|closed|offered|hummed|roared|groaned|celebrated|traded|voted|prospered|"
    r"came (?:into (?:view|sight)|and went|to (?:an? |the )?(?:end|stop|halt|life))|(?:is|was)\b|[a-z]+s)"
)
"""What is told of towns, ships and days as well, or may be no verb."""
_IN = re.compile(
    r"(?:(?<!believed )(?<!believe )(?<!confided )(?<!trust )\b[Ii]n|(?<!ran )(?<!bumped )\b[Ii]nto|\b[Tt]hrough(?:out)?|"
    r"\breached|\breaches|"
    r"\b(?:road|way|train|ferry|boat|coach|ship|bus|journey|church|town|city|village|port|inn|station|streets|mayor|bishop|king|"
    r"queen|lord|duke|people|miles?|north|south|east|west) (?:at|of|to|from|for)|\b(?:the|an?|his|her) \w+ at|"
    r"\b(?:sailed|sails|travell?ed|travels|bound|set out|moved|moves|journeyed|left|leaves) (?:for|to|from)) $"
)
"""What stands before where something is, or where somebody goes."""


_ACTS = re.compile(rf" (?!(?:\w+ly |only |just |then |still |also |now |both )?{_OF_PLACES}\b){ACTS}")


_GOES_ON = re.compile(
    r" (?:\w+ly )?(?:(?:shook|nodded|bowed|lowered) (?P<head>his|her) head|"
    r"(?:rubbed|narrowed|rolled|lowered|cleared|clenched|folded|crossed|shrugged|bit|licked|pursed|kept) "
    r"(?P<own>his|her) (?:own )?(?:eyes|throat|teeth|fists?|jaw|arms|shoulders|lips?|face)|"
    r"(?:took|drew|pulled|brought) (?:[a-z][\w'’-]* ){1,4}?from (?P<worn>his|her) (?:[a-z]+ )?(?:coat|pocket|sleeve|belt))\b|"
    rf"(?!['’])(?![^.!?]*\bhim\b[^.!?]*[.!?] He\b)(?![^.!?]*\bher(?:[,;]? {_PREPOSITION}\b[^.!?]*)?[.!?] She\b)"
    r"[^.!?\n\"“”A-Z]*[.!?] (?P<next>He|She) (?!said|asked)[a-z]"
)
"""What goes on about whoever is named, and about nobody else: with their own head or coat, or in a sentence that names nobody.

"Took her hand" tells of two, and so does "watched him", which he goes on about who is watched.
"""
_KIN_BEFORE = re.compile(rf"\b({'|'.join(sorted(HE_IS | SHE_IS))}),? $")


class Found(NamedTuple):
    """The people and the places of a text that are new in it, those that are named most first."""

    people: list[Entry]
    places: list[str]


class _Mention(NamedTuple):
    """A name where a text has it."""

    name: str
    text: str
    start: int
    end: int
    begins: bool
    """Whether a sentence begins with it."""
    behind: bool = False
    """Whether a sentence begins with a preposition before it."""


def newcomers(passage: str, told: Iterable[str], codex: Codex) -> list[Entry]:
    """Return the people whom a passage, or the sentences that are `told` of it, bring in, and the codex does not know."""
    return find_names([passage, *told], codex).people


def find_names(texts: Sequence[str], codex: Codex) -> Found:
    """Return the people and places that English texts name and the codex does not know.

    Everybody has the longest of their names, and whatever is told under a part of it is told of them. A place is named twice.
    """
    mentions, by_word = dict[str, list[_Mention]](), dict[str, set[str]]()
    told_apart = {
        without_epithets(name): entry.own_names
        for entry in codex.entries.values()
        if entry.has_epithet
        for name in entry.own_names
    }
    for text in texts:
        for mention in _mentions(text, codex, told_apart):
            mentions.setdefault(mention.name, []).append(mention)
            for word in mention.name.split():
                by_word.setdefault(word, set()).add(mention.name)
    _split_settings(mentions, by_word, codex)
    _split_first_words(mentions, by_word, texts, codex)
    candidates = [
        name
        for name, group in mentions.items()
        if _may_be_a_name(name, group) or _is_told_as_a_name(name, group, texts)
    ]
    people, places, found = dict[str, tuple[int, Entry]](), dict[str, int](), Codex()
    said = {name: _pronoun_of(name, mentions, by_word) for name in candidates if len(candidates) > 1}
    # Mr Pryce is Walter Pryce: a title does not make a name longer.
    for name in sorted(candidates, key=lambda name: (-len(form_of(name).words), -len(name), name)):
        meant = found.meant(name)
        # Captain Voss, who is he, is not his sister.
        is_another = meant is not None and (
            {said.get(name), meant.pronoun} == {"he", "she"} or any(is_told_as_kin(name, meant, text) for text in texts)
        )
        if found.answering(key_of(name), None) or (meant is not None and not is_another):
            continue
        if len(mentions[name]) == 1 and _is_anothers(name, codex, found):
            continue
        entry = Entry(name, "person")
        known = _called_by(entry, said.get(name, ""))
        own = Codex({name.casefold(): known})
        near = sorted(set[str]().union(*(by_word[word] for word in name.split())))
        group = [one for other in near if own.meant(other) is known for one in mentions[other]]
        lived_in = sum(map(_is_place, group))
        if _is_somebody(group, entry, 2 * lived_in):
            people[name] = len(group), entry
            found = found.with_entry(None, known)
        elif lived_in and len(group) > 1:
            places[name] = len(group)
    return Found(
        [entry for _, entry in sorted(people.values(), key=lambda one: (-one[0], one[1].name))],
        sorted(places, key=lambda name: (-places[name], name)),
    )


def _called_by(entry: Entry, pronoun: str) -> Entry:
    return replace(entry, lines=(Line("pronouns", pronoun, "", "", "", 0),)) if pronoun else entry


def _pronoun_of(name: str, mentions: Mapping[str, Sequence[_Mention]], by_word: Mapping[str, set[str]]) -> str:
    """Return by which pronoun a text goes on about a name, of `he` and `she`; empty where it does not say."""
    title, words = form_of(name)
    if said := called_as(title):
        return said
    # A surname is a whole family's.
    others = by_word[words[0]] if not title or len(words) > 1 else ()
    names = {name, *(other for other in others if form_of(other).words[0] == words[0])}
    group = [one for other in sorted(names) for one in mentions[other]]
    votes = Counter[str]()
    for one in group:
        if match := _GOES_ON.match(one.text, one.end):
            votes["he" if match[match.lastgroup or 0] in ("his", "He") else "she"] += 1
        if match := _KIN_BEFORE.search(one.text, max(0, one.start - 30), one.start):
            votes["he" if match[1] in HE_IS else "she"] += 2
    (first, most), (_, fewer) = (*votes.most_common(2), ("", 0), ("", 0))[:2]
    return first if most > 2 * fewer else ""


def _split_settings(mentions: dict[str, list[_Mention]], by_word: Mapping[str, set[str]], codex: Codex) -> None:
    """Take where something happens from names behind it: In London Daniel Moss died, if he is known, or named elsewhere."""
    for name in [name for name, group in mentions.items() if " " in name and all(one.behind for one in group)]:
        words = name.split()
        for tail in (" ".join(words[number:]) for number in range(1, len(words))):
            own = codex.find(tail, "person")
            is_known = own is not None and tail in (*own.own_names, own.name.split()[0])
            is_named = " " in tail and any(not one.behind for one in mentions.get(tail, ()))
            if is_known or is_named:
                _cut_before(tail, name, mentions, by_word, stays=is_named)
                break


def _cut_before(
    tail: str, name: str, mentions: dict[str, list[_Mention]], by_word: Mapping[str, set[str]], *, stays: bool
) -> None:
    """Take a name out, for its `tail` where that stays a name."""
    group = mentions.pop(name)
    for word in name.split():
        by_word[word].discard(name)
    if stays:
        found = [one._replace(name=tail, start=one.end - len(tail), begins=False) for one in group]
        mentions.setdefault(tail, []).extend(found)
        for word in tail.split():
            by_word[word].add(tail)


def _split_first_words(
    mentions: dict[str, list[_Mention]], by_word: Mapping[str, set[str]], texts: Sequence[str], codex: Codex
) -> None:
    """Take what a sentence begins with from names behind it: Is Tom back? Fetch Pip.

    That is a word in capitals nowhere else, and in small letters somewhere, or before a name that is whole without it: Tom is
    one where there is Tom Carrick. Mark Hale, who does something, is called Mark although others mark the place.
    """
    small = set[str]()
    for name in [name for name, group in mentions.items() if " " in name and all(one.begins for one in group)]:
        group, (first, behind) = mentions[name], name.split(" ", maxsplit=1)
        others = [one for other in by_word[first] for one in mentions[other]]
        if is_title(first) or not all(one.begins for one in others) or codex.find(first, "person") is not None:
            continue
        alone = [other for other in by_word[behind.split()[0]] if f"{other} ".startswith(f"{behind} ")]
        # No title stands second in a name.
        is_titled, is_known = " " in behind and is_title(behind.split()[0]), codex.meant(behind, "person") is not None
        if not (alone or is_titled or is_known):
            continue
        is_whole = " " in behind or any(other != behind for other in alone)
        small = small or {word for text in texts for word in _SMALL.findall(text)}
        # Of two signs that it is no part of the name one is enough where no sentence tells what such a person does.
        is_word, does = _is_a_word(first.casefold(), small), any(map(_does_something, group))
        if (is_word and is_whole) or ((is_word or is_whole) and not does):
            stays = not is_known and _name_in(behind) == behind
            _cut_before(behind, name, mentions, by_word, stays=stays)


def _is_a_word(word: str, small: Set[str]) -> bool:
    """Return whether a word is one of some in small letters, or one of those is a form of it as a verb: fetched."""
    return not small.isdisjoint((word, *(f"{word.removesuffix('e')}{ending}" for ending in ("es", "ed", "ing"))))


def _does_something(one: _Mention) -> bool:
    """Return whether a sentence tells of somebody who they are or what they do, and does not ask it: Did Tom put it there?"""
    ends = _SENTENCE_END.search(one.text, one.end)
    return not (ends and ends[0] == "?") and bool(
        _DOES.match(one.text, one.end) or _is_told_of_somebody(one, Entry(one.name, "person"))
    )


def _mentions(text: str, codex: Codex, told_apart: Mapping[str, Sequence[str]]) -> Iterator[_Mention]:
    """Yield where a text has names that the codex does not know.

    `told_apart` has the names of whoever has an epithet by those without it.
    """
    known = dict[str, bool]()
    for mention in _names_in(text):
        name = mention.name
        # Young Tom is somebody new where Old Tom is known.
        if name in told_apart and is_anothers(text, mention.start, told_apart[name]):
            name = f"{text[: mention.start].split()[-1]} {name}"
            mention = mention._replace(name=name, start=mention.end - len(name))
        if name not in known:
            meant = None if (own := codex.answering(key_of(name), None)) else codex.meant(name)
            known[name] = bool(own) or (meant is not None and not is_told_as_kin(name, meant, text))
        if not known[name]:
            yield mention


@lru_cache(maxsize=16)
def _names_in(text: str) -> tuple[_Mention, ...]:
    """Return where a text has names: a passage is asked for them before and after its facts are noted."""
    found = list[_Mention]()
    match = _NAME.search(text)
    while match is not None:
        if (behind := date_before(text, match.start(), match.end())) > match.start():
            match = _NAME.match(text, behind) or match
        name = _name_in(match[0])
        start = match.end() - len(name)
        if name and not _NAMES_A_THING.search(text, max(0, start - 5), start):
            begins = start == match.start() and bool(_BEGINS.search(text, max(0, start - 8), start))
            is_behind = text[match.start() : start].strip() in _SETS_IN
            found.append(_Mention(name, text, start, match.end(), begins, is_behind))
        match = _NAME.search(text, match.end())
    return tuple(found)


@lru_cache(maxsize=4096)
def _name_in(said: str) -> str:
    """Return the name at the end of words in capitals, without what a sentence begins with; empty for none."""
    words = said.split()
    while words and (words[0] in _STYLES or (not is_title(words[0]) and not _may_begin_a_name(words[0]))):
        words = words[1:]
    name = " ".join(words)
    is_none = not name or is_nobodys(name) or name.isupper() or bool(_SHORTENED.search(name))
    is_none = is_none or words[-1] in PLACES or words[0] in PLACES | BEFORE_PLACES
    return "" if is_none or (len(words) == 1 and is_title(name)) else name


def _may_begin_a_name(word: str) -> bool:
    return word not in NOBODY and is_name_part(word)


def _may_be_a_name(name: str, group: Sequence[_Mention]) -> bool:
    """Return whether what is in capitals is a name: a word that only begins sentences may be any word."""
    words = name.split()
    return (
        is_title(words[0]) or not all(one.begins for one in group) or (len(words) > 1 and not words[0].endswith("ly"))
    )


def _is_told_as_a_name(name: str, group: Sequence[_Mention], texts: Sequence[str]) -> bool:
    """Return whether a word that only begins sentences owns something in one, and in another says who somebody is.

    Time is a thief, and nobody's name: what is a word of a text in small letters is none.
    """
    owns = any(re.match(r"['’]s? [a-z]", one.text[one.end :]) for one in group)
    is_told = any(_IS_SOMEBODY.match(one.text, one.end) or _LIVES.match(one.text, one.end) for one in group)
    return (
        owns
        and is_told
        and name not in CALENDAR
        and name.casefold() not in _ABSTRACT
        and not any(re.search(rf"\b{re.escape(name.lower())}\b", text) for text in texts)
    )


_ABSTRACT = frozenset((
    "time", "death", "hunger", "hope", "love", "silence", "night", "winter", "summer", "autumn", "spring", "fate",
    "fear", "grief", "fortune", "nature", "truth", "war", "peace", "rain", "snow", "smoke", "memory", "sleep", "money",
    "sorrow", "joy", "youth", "age", "beauty", "power", "darkness", "light", "wind", "fire", "water", "dawn", "dusk",
    "heaven", "god", "mother", "father", "grandmother", "grandfather", "morning", "evening", "today", "tomorrow",
    "yesterday", "mankind", "rumour", "rumor", "legend", "history", "necessity", "whoever", "everybody", "everyone",
    "somebody", "someone", "anybody", "anyone", "nobody",
    "tradition", "gossip", "luck", "chance", "midnight", "noon", "parliament", "government", "justice",
))  # fmt: skip
"""What owns and does things in a manner of speaking, and calls nobody."""


def _is_anothers(name: str, *known: Codex) -> bool:
    """Return whether a name may be the other surname of somebody who is known: of whoever marries, for one."""
    first, *others = name.split()
    return bool(others) and not is_title(first) and any(codex.find(first, "person") is not None for codex in known)


def _is_place(one: _Mention) -> bool:
    return bool(_IN.search(one.text, max(0, one.start - 40), one.start)) and one.text[one.end : one.end + 1] not in (
        "'",
        "’",
    )


def _is_somebody(group: Sequence[_Mention], entry: Entry, against: int) -> bool:
    """Return whether more is told of a name that is told of people alone than speaks `against` it."""
    if is_title(entry.name.split()[0]):
        return True
    score = 0
    for one in group:
        if _is_place(one):
            continue
        score += 3 * _is_told_of_somebody(one, entry) or _acts(one)
        if score > against:
            return True
    return False


def _is_told_of_somebody(one: _Mention, entry: Entry) -> bool:
    before, text, end = one.text[max(0, one.start - 60) : one.start], one.text, one.end
    return bool(
        is_title(one.name.split()[0])
        or _SAID_BY.search(before)
        or _SAYS.match(text, end)
        or _INTRODUCED.search(before)
        or _IS_SOMEBODY.match(text, end)
        or _LIVES.match(text, end)
        or _OF_A_BODY.match(text, end)
        or _TO_SOMEBODY.search(before)
        or (_TO_WHOM.search(before) and _WHAT.match(text, end))
        or _dies(one, entry)
    )


def _acts(one: _Mention) -> bool:
    return bool(_ACTS.match(one.text, one.end)) and not _GOVERNED.search(one.text, max(0, one.start - 9), one.start)


def _dies(one: _Mention, entry: Entry) -> bool:
    begins = max(one.text.rfind(mark, 0, one.start) for mark in (". ", "! ", "? ", "\n", '"', "“")) + 1
    ends = _SENTENCE_END.search(one.text, one.end)
    told = one.text[begins : ends.end() if ends else None]
    return may_tell_of_death(told) and is_told_dead(told, one.start - begins, one.end - begins, entry)
