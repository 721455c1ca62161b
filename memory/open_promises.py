"""Which promises and questions a plan bears on, where it does not say them in their own words.

Each is called by a clause that no plan repeats, and is found by whom it names and by what else it says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from recurrentgpt.memory.word_forms import word_forms
from recurrentgpt.schema.codex import Entry, Sign, searched

MOST_BEARING = 3
"""Promises and questions that a writer is told of beside those that a plan names."""

_SAYS_LITTLE = word_forms(
    "i me my you your we us will would shall should can could may might must do does did not never ever no yes who whose whom "
    "what which where when why how if whether than then there here about into out up down after before again back still once "
    "only also just any all some one two every anybody anyone anything nobody nothing somebody someone something everything "
    "be being go goes went gone come came get got give gave given take took taken make made keep kept let leave left put "
    "bring brought tell told say said speak spoke talk ask answer know knew known think thought see saw seen look find found "
    "show want need help wait try use promise swear swore vow question wonder learn happen "
    "man woman people thing way time day night today tomorrow old new good really"
)
"""Words that many a promise, question and plan have, and that say nothing of what it is about."""


def bearing(
    waiting: Sequence[Entry], people: Collection[Sign], plan: str, passage: str, fewest: int = 1
) -> list[Entry]:
    """Return what of all that is `waiting` names one of `people`, and a plan or the last passage bears on, the likeliest first.

    A plan does by the `fewest` words of it beside names, or by calling it what it is: his promise. A passage, which has many more
    words, by half of those.
    """
    names = frozenset(_form(word.casefold()) for sign in people for word in sign.words)
    signs = defaultdict[str, list[Sign]](list)
    for sign in people:
        signs[sign.longest].append(sign)
    asked, told = _forms(plan), _forms(passage)
    called = {kind for kind in ("promise", "question") if _form(kind) in asked}
    found = list[tuple[tuple[int, int, int], Entry]]()
    for entry in reversed(waiting):
        clause = _clause(entry.clause)
        if clause.forms.isdisjoint(names):
            continue
        says, least = clause.says - names, fewest
        if not says:
            says, least = clause.forms - names, fewest + 1  # to come back
        planned, before = len(says & asked), len(says & told)
        if not (entry.kind in called or planned >= least or (before >= least and 2 * before >= len(says))):
            continue
        if whom := sum(
            sign.words <= clause.words for word in signs.keys() & {*clause.words, ""} for sign in signs[word]
        ):
            found.append(((planned + (entry.kind in called), whom, before), entry))
    return [entry for _, entry in sorted(found, key=lambda one: one[0], reverse=True)[:MOST_BEARING]]


class _Clause(NamedTuple):
    """The words of what is promised or asked."""

    words: frozenset[str]
    """As they are written, and in small letters."""
    forms: frozenset[str]
    """Without endings."""
    says: frozenset[str]
    """Those of the forms that say what it is about."""


@lru_cache(maxsize=1024)
def _clause(text: str) -> _Clause:
    read, forms = searched(text), _forms(text)
    return _Clause(read.words | read.small_words, forms, forms - _SAYS_LITTLE)


@lru_cache(maxsize=16384)
def _form(word: str) -> str:
    return next(iter(word_forms(word)), "")


def _forms(text: str) -> frozenset[str]:
    # A text was looked through for names, and most of its words are known from others.
    return frozenset(map(_form, searched(text).small_words)) - {""}
