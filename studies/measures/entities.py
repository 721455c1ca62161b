"""Whether people stay who they are: attributes that change, and names that come and are never heard of again.

Rules, not a model: eyes, hair, age, which hand, whose relative. They miss much and invent little, and they are the same for
every system.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from recurrentgpt.nodes.codex_names import NOBODY
from recurrentgpt.prose.sentences import count_words, sentences
from recurrentgpt.schema.names import CALENDAR, EPITHETS, form_of
from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.measures.measure import Measure
from recurrentgpt.studies.runs.schemas import NovelRecord

_COLOURS = "black|brown|blue|green|grey|gray|hazel|amber|red|blond|blonde|white|silver|golden|auburn|dark|fair"
_LETTERS = [chr(code) for code in range(0x530)]
"""Of the Latin, Greek and Cyrillic alphabets."""
_UPPER, _LOWER = "".join(filter(str.isupper, _LETTERS)), "".join(filter(str.islower, _LETTERS))
_WORD = re.compile(rf"\b(?:[{_UPPER}][{_LOWER}]+)+\b")
_NAME = rf"(?P<name>{_WORD.pattern}(?: {_WORD.pattern})?)"
_RULES = (
    ("eyes", re.compile(rf"{_NAME}['’]s (?P<value>{_COLOURS}) eyes")),
    ("eyes", re.compile(rf"{_NAME}['’]s eyes were (?:\w+ )?(?P<value>{_COLOURS})\b")),
    ("eyes", re.compile(rf"(?P<value>{_COLOURS})-eyed {_NAME}")),
    ("hair", re.compile(rf"{_NAME}['’]s (?:\w+ )?(?P<value>{_COLOURS}) hair")),
    ("hair", re.compile(rf"{_NAME}['’]s hair was (?:\w+ )?(?P<value>{_COLOURS})\b")),
    ("hair", re.compile(rf"(?P<value>{_COLOURS})-haired {_NAME}")),
    ("eyes", re.compile(rf"{_NAME} had (?:\w+ )?(?P<value>{_COLOURS}) eyes")),
    ("hair", re.compile(rf"{_NAME} had (?:\w+ )?(?P<value>{_COLOURS}) hair")),
    ("age", re.compile(rf"{_NAME} was (?P<value>[a-z]+(?:-[a-z]+)?|\d+) years old")),
    ("age", re.compile(rf"{_NAME}, (?P<value>\d\d?),")),
    ("eyes", re.compile(rf"{_NAME} [a-z][^.,;:\"“]{{0,50}}? with (?:his |her )?(?:\w+ )?(?P<value>{_COLOURS}) eyes")),
    ("hair", re.compile(rf"{_NAME}(?:,| was| is) (?P<value>{_COLOURS})-haired\b")),
    ("hair", re.compile(rf"{_NAME}(?:,| was) (?P<value>blonde?)\b")),
    ("height", re.compile(rf"{_NAME}(?:, who)? was (?:\w+ )?(?P<value>tall|short)(?= and\b|[.,;]|$)")),
    ("hand", re.compile(rf"{_NAME} was (?P<value>left|right)-handed")),
)
_SAME = {"gray": "grey", "blonde": "blond"}
_WITH_ARTICLE = re.compile(rf"\b(?:[Tt]he|[Aa]n?) ((?:{_WORD.pattern} )?{_WORD.pattern})")
_WHOLE_NAME = re.compile(rf"\b({_WORD.pattern}) (?=({_WORD.pattern}))")
_TITLES = {"Mr", "Mrs", "Ms", "Dr", "Sir", "Lady", "Lord", "Captain", "The", "But", "And", "God"}
_BEFORE_A_NAME = {*map(str.capitalize, EPITHETS), "Big", "Saint"}
_WITHIN = re.compile(rf"(?:[\w,;)]|\b(?:{'|'.join(sorted(_TITLES))})\.)['’]?\s+$|\w[-’']$")
"""What stands before a word that opens neither a sentence nor speech."""
OFTEN = 3
"""Mentions that make somebody a person of the story."""


@dataclass(frozen=True)
class Entities:
    """How well a text keeps its people."""

    names: int
    """Names without an article that are mentioned three times or more, first and last name as one."""
    conflicts: list[str]
    """One sentence each."""
    vanished: list[str]
    """Names of the first half that the second never mentions."""
    sentences: list[str]
    """The sentence of the text that each conflict was found in."""


def entities(text: str) -> Entities:
    """Return who is in the text, which of their attributes change, and who vanishes."""
    conflicts, found_in = list[str](), list[str]()
    values: dict[tuple[str, str], str] = {}
    names = _names(text)
    for sentence in sentences(text):
        for attribute, rule in _RULES:
            for match in rule.finditer(sentence):
                called = list(filter(_may_be_named, match["name"].split()))
                if not called:
                    continue
                # "Later Anna's eyes": a word that only ever opens sentences is no name, if another one may be.
                name = next((word for word in called if word in names), called[-1])
                value = _SAME.get(match["value"], match["value"])
                before = values.setdefault((name, attribute), value)
                if before != value:
                    conflicts.append(f"The {attribute} of {name} is {before}, then {value}.")
                    found_in.append(sentence)
    known = {name: places for name, places in _called(text).items() if len(places) >= OFTEN}
    half = count_words(text) // 2
    vanished = sorted(name for name, places in known.items() if max(places) < half)
    return Entities(len(known), conflicts, vanished, found_in)


def _may_be_named(word: str) -> bool:
    """Tell whether a word with a capital can be what somebody is called: "the Captain", "Mrs" and "But" are nobody's name."""
    return word not in NOBODY and word not in _TITLES and word not in _BEFORE_A_NAME


def _called(text: str) -> dict[str, list[int]]:
    """Return where each name is mentioned that has no article before it, what is one name with a surname behind it as one."""
    mentions = {name: places for name, places in _names(text).items() if name not in NOBODY}
    with_article = Counter(word for match in _WITH_ARTICLE.finditer(text) for word in match[1].split())
    mentions = {name: places for name, places in mentions.items() if 2 * with_article[name] < len(places)}
    for last, first in _first_names(text, mentions).items():
        mentions[first] = sorted({*mentions[first], *mentions.pop(last)})
    return mentions


def _first_names(text: str, names: Collection[str]) -> dict[str, str]:
    """Return the name that each surname stands behind, of names that the text has both."""
    found: dict[str, str] = {}
    for first, last in _WHOLE_NAME.findall(text):
        # Uncle Tom and Uncle Ben are two, and On Monday Anna came.
        is_title = first in _BEFORE_A_NAME or first in CALENDAR or form_of(f"{first} {last}").title
        is_known = first in names and last in names and first not in found and last not in found.values()
        if is_known and first != last and not is_title:
            found.setdefault(last, first)
    return found


def named_in(passages: Sequence[str]) -> list[set[str]]:
    """Return the names in each passage of a text, those of people by the first where a surname stands behind it somewhere."""
    text = "\n\n".join(passages)
    # "Welcome" and "What" open speech all the time; who does nothing else is not counted.
    names = {name for name in _names(text, _opens_sentence_or_speech) if name not in NOBODY}
    firsts = _first_names(text, names)
    return [{firsts.get(word, word) for word in _WORD.findall(passage) if word in names} for passage in passages]


def people_of(text: str) -> list[str]:
    """Return the names without an article that are mentioned OFTEN or more, a whole name as one, the one named most first."""
    known = {name: places for name, places in _called(text).items() if len(places) >= OFTEN}
    return sorted(known, key=lambda name: (-len(known[name]), name))


def names_of(text: str) -> list[str]:
    """Return the names of a text, the one mentioned most first."""
    found = _names(text)
    return sorted(found, key=lambda name: (-len(found[name]), name))


def _opens_sentence(before: str) -> bool:
    return not re.search(r"\w", before)


def _opens_sentence_or_speech(before: str) -> bool:
    return not _WITHIN.search(before)


def _names(text: str, opens: Callable[[str], bool] = _opens_sentence) -> dict[str, list[int]]:
    """Return where each name is mentioned, in words from the start; a capital that only ever opens a sentence is no name."""
    inside: Counter[str] = Counter()
    places: dict[str, list[int]] = defaultdict(list)
    position = 0
    for sentence in sentences(text):
        for match in _WORD.finditer(sentence):
            word = match.group()
            if word in _TITLES:
                continue
            before = sentence[: match.start()]
            places[word].append(position + count_words(before))
            inside[word] += not opens(before)
        position += count_words(sentence)
    return {name: found for name, found in places.items() if inside[name]}


def _compute(novel: NovelRecord, system: System) -> dict[str, float | None]:
    found = entities(novel["text"])
    return {"names": found.names, "conflicts": len(found.conflicts), "vanished": len(found.vanished)}


MEASURE = Measure(
    name="entities",
    description="People: `names` are words with a capital, without an article, that are mentioned three times or more (a first "
    "name and the surname behind it are one; some are places), `conflicts` are eyes, hair, ages and hands that change, and "
    "`vanished` are names of the first half that the second never has. Rules find them, and miss much.",
    columns=("names", "conflicts", "vanished"),
    compute=_compute,
)
