"""How somebody or something looks: many lines, of which a new one takes the place of what was told of the same feature alone.

A feature is the last word of what is said to be so: the eyes of "grey eyes", the scar of "a scar across his chin", the hair of
"hair cut to the jaw".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from recurrentgpt.memory.word_forms import SAME, shared_words, word_forms
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Entry, Kind, Line
from recurrentgpt.schema.names import ANYBODY

MOST_LOOKS = 8
"""Looks that passages tell of an entry and that are kept; the oldest go first, and stay in the commits that said them."""

_BETWEEN = re.compile(r"\s*[,;]\s*(?:and\s+|with\s+|but\s+)?|\s+(?:with|and|but)\s+")
"""What stands between two features."""
_AND = re.compile(r"\s+and\s+")
_AT = (
    "on|in|at|across|over|above|under|below|beneath|behind|beside|near|along|around|round|down|up|against|between|through|"
    "where"
)
_HAD = "arm|beard|breast|cheek|chest|ey|fac|finger|foot|hair|hand|head|leg|lip|nos|shoulder|skin|waist"
_DONE = (
    r"gone|turned|grown|cut(?= (?:short|off|close|down|back|to)\b)|(?:shorn|shaven|torn|worn|burnt|broken|swollen|"
    rf"(?!(?:{_HAD})ed\b)(?=[a-z]*(?:[aiouy]|e[a-z]+ed))[a-z]+(?<![eo])ed)(?=\s*$|\s(?:{_AT}|from|by|to|for|like|as|than|since|"
    r"back|off|away|out|short|close|long|loose|once|twice|[a-z]+ly)\b)"
)
"""What was done to a feature, or befell it: no bed, no hand of "left-handed", and no "torn" of a torn coat."""
_FURTHER = re.compile(
    rf"\s(?:(?P<at>{_AT})|(?P<done>{_DONE})|of|from|by|to|for|like|as|than|that|which|who|whose|when|while|is|are|was|were|has|"
    r"have|had|now)(?=\s)"
)
"""What ends a feature before more is told of it, among it where it is."""
_DRESSED = re.compile(r"\b(?:dressed|clad) in\s")
_BY_ADJECTIVE = re.compile(r"-(?=(?:eyed|haired|bearded|faced|shaven)\b)", re.IGNORECASE)
"""Where an adjective names a feature: grey-eyed."""
_ADJECTIVE_LAST = re.compile(
    r"(?<!\w)(?:les?|las?|une?|una|uno|el|il|gli|os|um|uma|del|della|sa|ses|sus?|avec|dans)(?!\w)|(?<![^\W_])[dl]['’]"
)
"""A word of a language in which a noun stands before its adjectives."""
_OTHER_LETTER = re.compile(r"[^\W\d_a-zA-ZäöüßÄÖÜ]")
"""A letter of a language whose features no rule here reads."""
_NOUNS = {"eyed": "eyes", "haired": "hair", "bearded": "beard", "shaven": "beard", "faced": "face"}
_PLURAL = re.compile(r"(?:[^suis'’]s|ux)$")
"""How a plural ends, which stands last in what it tells of: "yeux gris" and "eyes grey" say last how they are."""
_SIDES = frozenset(("left", "right", "linke", "linker", "linkes", "linken", "rechte", "rechter", "rechtes", "rechten"))
_ONE, _WHOSE = frozenset(("a", "an", "one")), frozenset(("no", "the", "his", "her", "their", "its"))
_NOT = frozenset(("no", "not", "never", "without"))
_NO_NOUN = _NOT | frozenset((
    "so", "too", "very", "well", "ill", "half", "more", "less", "longer", "clean", "still", "quite", "rather", "almost", "just",
    "bit", "now", "already", "somewhat", "always", "once",
))  # fmt: skip
"""Words before what was done by which nothing is named: very tired. So do those in -ly."""


class _Feature(NamedTuple):
    """What one part of a look tells of."""

    name: str = ""
    """The last word of what is said to be so, without its ending; empty where no rule tells it."""
    is_noun: bool = True
    """Whether that is a thing that is had: "grey eyes", "a beard", and not "tall"."""
    number: str = ""
    """`one` for "a scar", `many` for "scars", else empty."""
    sides: frozenset[str] = frozenset()
    where: frozenset[str] = frozenset()


def with_look(lines: Sequence[Line], look: Line, entry: Entry) -> tuple[Line, ...]:
    """Return the lines of an entry with one more of how it looks, and without what others tell of the same features.

    What says nothing that another one does not say already is left out.
    """
    if any(line.aspect == "look" and _says_all(line.value, look.value, entry) for line in lines):
        return tuple(lines)
    if _ADJECTIVE_LAST.search(look.rests_on.replace(entry.name, "")):
        return (*lines, look)
    return (*without_features(lines, look, entry), look)


def without_features(lines: Iterable[Line], look: Line, entry: Entry) -> tuple[Line, ...]:
    """Return lines without what those of how an entry looks tell of the features that another look tells of."""
    names = " ".join(entry.names)
    told = [_feature(part, names) for part in _parts(look.value)]

    def is_left(part: str) -> bool:
        feature = _feature(part, names)
        return not any(_are_one(feature, one, entry.kind) for one in told)

    return _cut(lines, is_left)


def without_look(lines: Iterable[Line], said: str, entry: Entry) -> tuple[Line, ...]:
    """Return lines without the parts of looks of an entry that a text names: the eyes alone of "tall, with grey eyes"."""
    names, parts = " ".join(entry.names), _parts(said)

    def is_left(part: str) -> bool:
        feature = _feature(part, names)
        return not any(
            part.casefold() == one.casefold()
            or (
                (not feature.name or feature.name in _said(one))
                and shared_words(_apart(one), _apart(part), entry.names) >= SAME
            )
            for one in parts
        )

    return _cut(lines, is_left)


def is_part_of(line: Line, whole: Line) -> bool:
    """Return whether a line is what is left of a look of the same passage."""
    is_look = line.aspect == whole.aspect == "look"
    return is_look and line.passage == whole.passage and set(_parts(line.value)) < set(_parts(whole.value))


def _cut(lines: Iterable[Line], is_left: Callable[[str], bool]) -> tuple[Line, ...]:
    """Return lines with those parts alone of their looks that are left."""
    found = list[Line]()
    for line in lines:
        parts = _parts(line.value) if line.aspect == "look" else ()
        left = [part for part in parts if is_left(part)]
        if len(left) == len(parts):
            found.append(line)
        elif left:
            found.append(replace(line, value=", ".join(left), text=""))
    return tuple(found)


@lru_cache(maxsize=1024)
def _parts(look: str) -> tuple[str, ...]:
    """Return the parts of a look that tell of a feature each; thin and pale are two, in black and white are none."""
    found, at = list[str](), 0
    matches = list(_BETWEEN.finditer(look))
    for match, following in zip_longest(matches, matches[1:]):
        before, behind = look[at : match.start()], look[match.end() : following.start() if following else None]
        is_and = _AND.fullmatch(match[0])
        # Of a black and white dress, and of a black and white and red one, no colour is told alone.
        are_two = len(before.split()) == len(behind.split()) == 1 and not (following and _AND.fullmatch(following[0]))
        if before and (not is_and or are_two or len(word_forms(before)) > 1):
            found.append(before)
            at = match.end()
    return (*found, look[at:]) if look[at:] else tuple(found)


@lru_cache(maxsize=1024)
def _feature(part: str, names: str) -> _Feature:
    if _ADJECTIVE_LAST.search(part) or _OTHER_LETTER.search(part):
        return _Feature()
    if _DRESSED.search(part):
        return _Feature("dressed")
    own = word_forms(names)
    # "He has grey eyes" tells of eyes.
    ends = (one for one in _FURTHER.finditer(f"{part} ") if _is_named(part[: one.start()], own, one["done"]))
    further = next(ends, None)
    is_done = further is not None and bool(further["done"])
    first = part[: further.start()] if further else part
    said = tokens(_apart(first))
    # An old man may be a tall man, too.
    words = [word for word in said if word not in ANYBODY and not word.endswith("ly") and word_forms(word) - own]
    if not words:
        return _Feature(is_noun=False)
    name, before = words[-1], said[said.index(words[-1]) - 1] if said[0] != words[-1] else ""
    is_had = is_done or len(words) > 1 or before in _ONE or before in _WHOSE
    # Eyes that are closed are grey still.
    plural = name if is_done else before
    is_unclear = plural in words and bool(_PLURAL.search(plural)) and not first.split()[-1][0].isupper()
    at = next(ends, None) if is_done else further
    number = "one" if _ONE.intersection(said) else "many" if _PLURAL.search(name) or name == "eyed" else ""
    return _Feature(
        "" if is_unclear else next(iter(word_forms(_NOUNS.get(name, name)))),
        is_had and said[-1] == name,
        number,
        _SIDES.intersection(tokens(part)),
        word_forms(part[at.end() :]) if at and at["at"] else frozenset(),
    )


def _is_named(said: str, own: frozenset[str], done: str | None) -> bool:
    """Return whether something is named where more is told of it, and not how much it was done."""
    last = said.rsplit(None, 1)[-1].casefold() if said.strip() else ""
    return bool(word_forms(said) - own) and not (done and (last in _NO_NOUN or last.endswith("ly")))


def _are_one(old: _Feature, new: _Feature, kind: Kind) -> bool:
    """Return whether two parts of looks tell of one feature, so that the new one takes the place of the old one."""
    if kind in ("thing", "place") and not old.is_noun and not new.is_noun:
        # A lantern is whole or broken; of people, such words mostly go together.
        return True
    return (
        bool(new.name)
        and old.name == new.name
        and old.sides == new.sides
        and not (old.number and new.number and old.number != new.number)
        and not (old.where and new.where and old.where.isdisjoint(new.where))
    )


def _says_all(old: str, new: str, entry: Entry) -> bool:
    """Return whether an older look says what a new one does, each part in one of the same feature: no hat makes one tall."""
    names, known = " ".join(entry.names), _parts(old)
    said = [part for part in _parts(new) if _said(part) - word_forms(names)]
    return bool(said) and all(any(_says(one, part, names, entry.kind) for one in known) for part in said)


def _says(old: str, new: str, names: str, kind: Kind) -> bool:
    """Return whether a part of an older look says what one of a new one does."""
    known, said = _said(old), _said(new)
    if not said - word_forms(names) <= known or said & _NOT != known & _NOT:
        return False
    feature, other = _feature(old, names), _feature(new, names)
    return known == said or feature.name == other.name or _are_one(feature, other, kind)


@lru_cache(maxsize=1024)
def _said(look: str) -> frozenset[str]:
    return word_forms(look.replace("-", " "))


def _apart(look: str) -> str:
    """Return a look with its adjectives that name a feature taken apart."""
    return _BY_ADJECTIVE.sub(" ", look)
