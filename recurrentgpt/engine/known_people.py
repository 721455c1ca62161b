"""Whether somebody whom a lorebook tells of under another form of a name is who the story knows."""

from __future__ import annotations

import re
from collections.abc import Collection

from recurrentgpt.schema.codex import Entry
from recurrentgpt.schema.names import OF_HER, OF_HIM, OFFICE, RANKS, SOMEBODY, form_of, without_epithets

_SOVEREIGN = frozenset(("king", "queen", "prince", "princess", "count", "countess", "baron", "baroness"))
"""Titles of whom it is known that they have them."""
_RANKED = RANKS | {"lord", "lady"}
"""Titles that say what somebody is, and whoever is something else has none of them."""
_MAY_HAVE_RANK = frozenset(("soldier", "sailor", "officer", "guard", "leader"))
_TRADE = re.compile(rf"(?!{SOMEBODY}$){OFFICE}")
_SECOND_NAMES = frozenset((
    "maria", "marie", "mary", "anna", "anne", "ann", "mae", "lou", "louise", "luise", "luisa", "jane", "jean", "jo", "kate",
    "katherine", "catherine", "elizabeth", "elisabeth", "beth", "sophia", "sophie", "christine", "christina", "claire", "clara",
    "margaret", "magdalena", "victoria", "alice", "emily", "ellen", "helen", "helena", "isabel", "isabella", "eva", "irene",
    "julia", "laura", "lucia", "lena", "lynn", "carmen", "teresa", "theresa", "therese", "charlotte", "belle", "ella",
    "peter", "joseph", "josef", "carlos", "luis", "antonio", "manuel", "pierre", "jacques", "claude", "karl", "hans", "franz",
    "friedrich", "wilhelm", "johann", "john", "william", "edward", "robert", "david", "joe", "bob",
))  # fmt: skip
"""First names, in small letters, that stand behind others and are hardly ever surnames."""


def may_be_known(person: Entry, name: str, others: Collection[str]) -> bool:
    """Return whether a name that a codex finds somebody by is theirs: a mayor is no king, and Anna Maria may be another Anna.

    Whoever is one of the `others`, by their names, has a first name that may be a second one.
    """
    title, words = form_of(without_epithets(name))
    forms = [form_of(without_epithets(own)).words for own in person.own_names]
    if title and not _may_have(person, title) and not (len(words) > 1 and words in forms):
        return False
    known = [form for form in forms if form[:1] == words[:1]]
    is_longer = len(words) > 1 and bool(known) and all(len(form) == 1 for form in known)
    return not (is_longer and (words[1].casefold() in _SECOND_NAMES or any(_begins(one, words[1]) for one in others)))


def _begins(name: str, word: str) -> bool:
    title, words = form_of(name)
    return words[:1] == (word,) and (len(words) > 1 or not title)


def _may_have(person: Entry, title: str) -> bool:
    if title in _SOVEREIGN:
        return person.has_rank(title)
    if title in (OF_HER | OF_HIM) - _RANKED or title not in _RANKED | {"dr"} or person.has_rank(title):
        return True
    trades = {kind for kind in person.kinds if kind in RANKS or _TRADE.fullmatch(kind)}
    return trades <= _MAY_HAVE_RANK
