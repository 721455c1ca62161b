"""What differs between two passages: the plan, the text by words, and the memory by sentences."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Literal

from recurrentgpt.engine.passage import Passage

Kind = Literal["same", "removed", "added", "changed"]
_KINDS: dict[str, Kind] = {"equal": "same", "delete": "removed", "insert": "added", "replace": "changed"}

EXACT_WORDS = 2000
"""Up to this length frequent words count too; in longer texts difflib would take minutes to heed them."""


@dataclass(frozen=True)
class Change:
    """A run of words that is the same in both texts or not."""

    kind: Kind
    before: str
    after: str


@dataclass(frozen=True)
class Diff:
    """How `b` differs from `a`; the `before` of all changes are the first text, the `after` the second."""

    a: Passage
    b: Passage
    plan: list[Change]
    text: list[Change]
    memory_dropped: list[str]
    memory_added: list[str]

    @classmethod
    def of(cls, a: Passage, b: Passage) -> Diff:
        """Return the difference of two passages."""
        old, new = a.short_term_memory.splitlines(), b.short_term_memory.splitlines()
        return cls(
            a=a,
            b=b,
            plan=changes(a.plan, b.plan),
            text=changes(a.text, b.text),
            memory_dropped=[line for line in old if line not in new],
            memory_added=[line for line in new if line not in old],
        )

    def as_json(self) -> dict[str, object]:
        """Return the difference as plain JSON, with the ids of the passages."""
        return {**asdict(self), "a": self.a.id, "b": self.b.id}


def changes(before: str, after: str) -> list[Change]:
    """Return the runs of words in which two texts agree and differ; every character is in one of them."""
    # A word carries the space behind it, so that the runs put together are the text again.
    old, new = (re.findall(r"^\s+|\S+\s*", text) for text in (before, after))
    first, second = [word.strip() for word in old], [word.strip() for word in new]
    matcher = SequenceMatcher(None, first, second, autojunk=max(len(old), len(new)) > EXACT_WORDS)
    return [Change(_KINDS[tag], "".join(old[i:j]), "".join(new[k:m])) for tag, i, j, k, m in matcher.get_opcodes()]
