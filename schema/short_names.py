"""The shorter names by which prose means a thing, or a person by what they are: "the compass" for the only compass.

Whether one alone may be meant, the codex knows; here stands what a shorter name is, and where a text means by it the one that
is known. The first place where a text has its last word says so: "a compass", "another key" or "Tom's knife" bring in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from recurrentgpt.schema.names import (
    ANYBODY,
    CAPITALS,
    DEFINITE_ARTICLES,
    FAMILY,
    PREPOSITIONS,
    RANKS,
    SEVERAL,
    form_of,
    is_somebodys,
    plain,
    without_article,
)

ANOTHER = frozenset((
    "second", "third", "fourth", "other", "another", "new", "spare", "extra", "false", "forged", "fake", "copied",
    "duplicate", "twin", "next", "last", "first", "left", "right", "real", "true", "zweite", "zweiter", "zweites",
    "zweiten", "dritte", "andere", "anderer", "anderes", "anderen", "neue", "neuer", "neues", "neuen", "falsche",
    "falscher", "falsches", "deuxième", "autre", "nouveau", "nouvelle", "faux", "fausse", "segundo", "segunda", "otro",
    "otra", "nuevo", "nueva", "falso", "falsa", "secondo", "seconda", "altro", "altra", "nuovo", "nuova", "outro",
    "outra", "novo", "nova", "tweede", "ander", "nieuwe", "valse",
))  # fmt: skip
"""What makes of a thing another one of its kind."""
_LESS = ANOTHER | {
    "deputy",
    "vice",
    "assistant",
    "under",
    "junior",
    "former",
    "late",
    "retired",
    "acting",
    "future",
    "would-be",
}
"""What makes of somebody another one of their kind, or none at all."""
_POINTERS = frozenset((
    "his", "her", "their", "its", "my", "our", "your", "this", "that", "these", "those", "same", "own", "said", "the",
    "a", "an",
))  # fmt: skip
"""What stands before a thing and is no part of its name."""
QUALITIES = frozenset((
    "old", "small", "little", "big", "large", "great", "heavy", "battered", "worn", "precious", "tiny", "long", "short",
    "broken", "dirty", "dusty", "rusty", "wet", "poor", "dear", "famous",
))  # fmt: skip
"""What may be said of a thing, and tells it apart from hardly any other."""
_ANEW = re.compile(
    r"\b(?:a second|another|one more|an?|some|ein|eine|einen|einem|einer|un|une|una|uno|um|uma|een)\s+", re.IGNORECASE
)
_BETWEEN, _MOST_BETWEEN = re.compile(r"[\w-]+"), 2
"""What may stand between such a word and a name, and how many of it."""

_MOST_ROLE_WORDS, _NEAR = 3, 90
"""Words of a role before that of which it is one; characters before a name in which its article stands."""
_TO_ONE = frozenset(("lover", "fiancé", "fiancée", "betrothed", "partner", "rival", "ally", "mistress", "master"))
"""What somebody is to another one, and to nobody else."""
_POINTS = DEFINITE_ARTICLES | {"this", "that"}
"""What stands before something that is known."""
_OPENING = "\"'“‘„«»(["
_IN_WORD, _WORD_ENDS = re.compile(r"[\w-]"), re.compile(r"(?:e?s)?(?![\w-])")
_IS_ANEW = re.compile(rf"{_ANEW.pattern}$", re.IGNORECASE)
_NAME_BEHIND = re.compile(r" ([\w-]+)")
_TOLD_APART = re.compile(rf"\s(?:(?:of|that|which|who|whose|whom|belonging|from(?= [{CAPITALS}]))\b|[{CAPITALS}])")
"""What says behind a name which of several is meant."""


@lru_cache(maxsize=4096)
def words_of_thing(name: str) -> Sequence[str]:
    """Return the words of a thing's name, without what only points at it."""
    words = plain(without_article(name)).split()
    while len(words) > 1 and words[0].casefold() in _POINTERS:
        words = words[1:]
    return words


def kind_words(words: Sequence[str]) -> Sequence[str]:
    """Return the words that say what something is: those before that of which it is made, or a part."""
    begins = next((at for at, word in enumerate(words) if at and word.casefold() in PREPOSITIONS), len(words))
    return words[:begins]


def head_of(words: Sequence[str]) -> str:
    """Return what a thing is in one word, the last of those that say so; empty for no words."""
    found = kind_words(words)
    return found[-1].casefold() if found else ""


def is_told_anew(words: Sequence[str], passage: str) -> bool:
    """Return whether a passage brings in something of this name as one that was not there before."""
    said, text = [word.casefold() for word in words], plain(passage)
    for match in _ANEW.finditer(text):
        following = text[match.end() : match.end() + 2 * len(" ".join(said)) + 100].casefold().split()
        for start in range(_MOST_BETWEEN + 1):
            *others, last = following[start : start + len(said)] or [""]
            if others == said[:-1] and last.startswith(said[-1]) and not last[len(said[-1]) :][:1].isalnum():
                return True
            if not following[start:] or not _BETWEEN.fullmatch(following[start]):
                break
    return False


@dataclass(frozen=True)
class ShortName:
    """The last word of what somebody or something is, and what may stand around it."""

    head: str
    before: tuple[str, ...]
    """What says more of it: `iron`; any part of it may be said, or left out."""
    behind: str
    """The same behind it: `of the chain-house`."""
    names: frozenset[str] = frozenset()
    """Words of the names of a person, before which a rank is theirs."""
    is_person: bool = False

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in self.before) | QUALITIES

    @cached_property
    def _needed(self) -> frozenset[str]:
        """What has to be said: a spare key is not the key, and a deputy mayor not the mayor."""
        own = {word.casefold() for word in self.before}
        return frozenset(own & (_LESS if self.is_person else ANOTHER))

    def _all_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a text has its word, of one or of several."""
        lower, head, at = text.lower(), self.head.lower(), -1
        # A letter that is two in small letters moves all that follows.
        lower = lower if len(lower) == len(text) else text
        # Letters are found in a fraction of the time that a pattern takes which may begin anywhere.
        while (at := lower.find(head, at + 1)) >= 0:
            if (at == 0 or not _IN_WORD.match(text, at - 1)) and (end := _WORD_ENDS.match(text, at + len(head))):
                yield at, end.end()

    def places_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield from where, without the article, to where a plain text means it by a shorter name.

        None where the first that is told of such a kind is another one. Its whole name counts as one.
        """
        is_known = False
        for start, end in self._all_in(text):
            if self.names and (name := _NAME_BEHIND.match(text, end)) and name[1] in self.names:
                is_known = True
                continue
            begins = self._begins(start, end, text)
            if begins is None and not is_known:
                return
            if begins is not None:
                is_known = True
                yield begins, end

    def _begins(self, start: int, end: int, text: str) -> int | None:
        """Return where it begins, without its article; None for another one."""
        word = text[start:end]
        if word not in (self.head, self.head.lower()) and not (self.is_person and word.lower() == self.head):
            return None
        is_own = bool(self.behind) and (text[end + 1 : end + 1 + len(self.behind)].casefold() == self.behind.casefold())
        if not is_own and _TOLD_APART.match(text, end):
            return None
        whole = " ".join(self.before)
        begins = start - len(whole) - 1
        if (
            whole
            and begins >= 0
            and not self.is_person
            and text.startswith(f"{whole} ", begins)
            and not text[begins - 1 : begins].isalnum()
        ):
            # Father Amos's diary needs no article.
            return None if _IS_ANEW.search(text, max(0, begins - _NEAR), begins) else begins
        said, begins = set[str](), start
        before = text[max(0, start - _NEAR) : start]
        for word in reversed(before.split() if before[-1:].isspace() or before[-1:] == "'" else ()):
            if word.lstrip(_OPENING).casefold() in _POINTS:
                return begins if self._needed <= said else None
            if word.casefold() not in self._said:
                return None
            said.add(word.casefold())
            begins = text.rindex(word, 0, begins)
        return None


_OFFICES = {"physician": "doctor", "surgeon": "doctor", "medic": "doctor", "skipper": "captain", "magistrate": "judge"}
"""By what somebody of a role is addressed, and meant."""
_OF_OFFICES = frozenset(
    ("ship's", "army", "field", "village", "town", "parish", "head", "chief", "old", "young", "local")
)
"""What may stand before such a role and makes no other of it."""


def rank_of(title: str) -> str:
    """Return what somebody of a title is called without their name."""
    return "doctor" if title == "dr" else title


def short_name_of_thing(name: str) -> ShortName | None:
    """Return by what a thing of this name may be meant in fewer words; None where it has but one."""
    words = words_of_thing(name)
    kind = kind_words(words)
    if len(words) < 2 or not kind or not kind[-1][-1:].isalnum():
        return None
    return ShortName(kind[-1], tuple(kind[:-1]), " ".join(words[len(kind) :]))


def short_names_of_person(names: Sequence[str], roles: Sequence[str]) -> list[ShortName]:
    """Return by what somebody of these names and roles may be meant in fewer words: `captain`, of the captain of the Petrel.

    That is a role without what it is of, and the rank before a name; not what everybody may be, nor what one is to another.
    """
    own = frozenset(word for name in names for word in plain(name).split())
    found = [_short_role(role, own) for role in roles]
    titles = [form_of(name).title for name in names]
    offices = [_office(plain(without_article(role)).casefold().split()) for role in roles]
    ranks = [*(rank_of(title) for title in titles if title in RANKS), *filter(None, offices)]
    found += [ShortName(rank, (), "", own, is_person=True) for rank in ranks]
    return [short for short in found if short is not None]


def _office(role: Sequence[str]) -> str:
    """Return by what somebody of a role is addressed: a tree surgeon is no doctor, nor whoever was one."""
    kind = kind_words(role)
    return _OFFICES.get(kind[-1], "") if kind and _OF_OFFICES.issuperset(kind[:-1]) else ""


def _short_role(role: str, names: frozenset[str]) -> ShortName | None:
    words = plain(without_article(role)).split()
    kind = kind_words(words)
    # What says more of a role may be left out, as what it is of: only a deputy mayor is no mayor.
    # The town's mayor is the mayor, and Silas's clerk is whose he is.
    is_named = any("'" in word and not word.islower() for word in kind)
    if len(words) < 2 or not 0 < len(kind) <= _MOST_ROLE_WORDS or "'" in kind[-1] or is_named:
        return None
    head = kind[-1].casefold()
    if head in ANYBODY | SEVERAL | _TO_ONE or FAMILY.fullmatch(head) or is_somebodys(role):
        return None
    return ShortName(head, tuple(kind[:-1]), " ".join(words[len(kind) :]), names, is_person=True)
