"""How somebody or something looks: many lines, of which a new one takes the place of what was told of the same feature alone.

A feature is the last word of what is said to be so: the eyes of "grey eyes", the scar of "a scar across his chin".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from recurrentgpt.memory.superseded import word_forms
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Entry, Line
from recurrentgpt.schema.names import ANYBODY

MOST_LOOKS, MOST_LOOK_WORDS = 8, 40
"""Lines of one entry that tell how it looks, and their words; the oldest go first, and stay in the commits that said them."""

_BETWEEN = re.compile(r"\s*[,;]\s*(?:and\s+|with\s+|but\s+)?|\s+(?:with|and|but)\s+")
"""What stands between two features."""
_AND = re.compile(r"\s+and\s+")
_AT = (
    "on in at across over above under below beneath behind beside near along around round down up against between through "
    "where"
)
_FURTHER = re.compile(
    rf"\s(?:(?P<at>{'|'.join(_AT.split())})|of|from|by|to|for|like|as|than|that|which|who|whose|when|while|is|are|was|were|has|"
    r"have|had)\s"
)
"""What ends a feature before more is told of it, among it where it is."""
_NOT = frozenset(("no", "not", "never", "without"))


class _Feature(NamedTuple):
    """What one part of a look tells of."""

    words: Sequence[str]
    is_noun: bool
    """Whether other words say how its last one is: "grey eyes", "a beard", and not "tall"."""
    where: frozenset[str]


def with_look(lines: Sequence[Line], look: Line, entry: Entry) -> tuple[Line, ...]:
    """Return the lines of an entry with one more of how it looks, and without what others tell of the same features.

    What says nothing that another one does not say already is left out.
    """
    if any(line.aspect == "look" and _says_all(line.value, look.value, entry) for line in lines):
        return tuple(lines)
    found = list[Line]()
    for line in lines:
        left = _without(line.value, look.value, entry) if line.aspect == "look" else line.value
        if left == line.value:
            found.append(line)
        elif left and not line.text:
            found.append(replace(line, value=left))
    return (*found, look)


def tells_of_same(first: str, second: str, entry: Entry) -> bool:
    """Return whether two looks of an entry tell of any feature both."""
    return _without(first, second, entry) != first


def within_bounds(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return lines without the oldest of those that tell how an entry looks, where these are too many or too long."""
    kept, words = list[Line](), 0
    looks = [line for line in lines if line.aspect == "look"]
    for line in reversed(looks):
        words += count_words(line.value)
        if kept and (len(kept) >= MOST_LOOKS or words > MOST_LOOK_WORDS):
            break
        kept.append(line)
    return lines if len(kept) == len(looks) else tuple(one for one in lines if one.aspect != "look" or one in kept)


def _without(old: str, new: str, entry: Entry) -> str:
    """Return what an older look tells of other features than a new one does."""
    names = " ".join(entry.names)
    told = [_feature(part, names) for part in _parts(new)]
    parts = _parts(old)
    left = [part for part in parts if not any(_are_one(_feature(part, names), one) for one in told)]
    return old if len(left) == len(parts) else ", ".join(left)


@lru_cache(maxsize=1024)
def _parts(look: str) -> tuple[str, ...]:
    """Return the parts of a look that tell of a feature each; in black and white are no two."""
    found, at = list[str](), 0
    for match in _BETWEEN.finditer(look):
        before = look[at : match.start()]
        if before and not (_AND.fullmatch(match[0]) and len(word_forms(before)) < 2):
            found.append(before)
            at = match.end()
    return (*found, look[at:]) if look[at:] else tuple(found)


@lru_cache(maxsize=1024)
def _feature(part: str, names: str) -> _Feature:
    own = word_forms(names)
    # "He has grey eyes" tells of eyes.
    further = next((one for one in _FURTHER.finditer(f"{part} ") if word_forms(part[: one.start()]) - own), None)
    said = tokens(part[: further.start()] if further else part)
    # An old man may be a tall man, too.
    words = [form for word in said if word not in ANYBODY for form in word_forms(word) - own]
    where = word_forms(part[further.end("at") :]) if further and further["at"] else frozenset[str]()
    return _Feature(words, len(said) > 1 and said[-1] not in ANYBODY, where)


def _are_one(first: _Feature, second: _Feature) -> bool:
    if not first.words or not second.words or (first.where and second.where and first.where.isdisjoint(second.where)):
        return False
    if first.words[-1] == second.words[-1]:
        return True
    # Hair gone white is of black hair.
    return any(
        one.is_noun and len(other.words) > 1 and one.words[-1] == other.words[0]
        for one, other in ((first, second), (second, first))
    )


def _says_all(old: str, new: str, entry: Entry) -> bool:
    """Return whether an older look says what a new one does."""
    said, known = _said(new), _said(old)
    own = said - word_forms(" ".join(entry.names))
    return bool(own) and own <= known and said & _NOT == known & _NOT


@lru_cache(maxsize=1024)
def _said(look: str) -> frozenset[str]:
    return word_forms(look.replace("-", " "))
