"""What differs between two passages: the plan, the text by words and by sentences, and the memory by sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Literal

from recurrentgpt.engine.passage import Passage
from recurrentgpt.prose.sentences import segments

Kind = Literal["same", "removed", "added", "changed"]
_KINDS: dict[str, Kind] = {"equal": "same", "delete": "removed", "insert": "added", "replace": "changed"}

EXACT_WORDS = 2000
"""Up to this length frequent words count too; in longer texts difflib would take minutes to heed them."""


@dataclass(frozen=True)
class TextChange:
    """A run of words or sentences that is the same in both texts or not."""

    kind: Kind
    before: str
    after: str


@dataclass(frozen=True)
class Diff:
    """How `b` differs from `a`; the `before` of all changes are the first text, the `after` the second."""

    a: Passage
    b: Passage
    plan: list[TextChange]
    text: list[TextChange]
    sentences: list[TextChange]
    """The text again, by whole sentences: those that both have are the same, whatever stands between them."""
    memory_dropped: list[str]
    memory_added: list[str]

    @classmethod
    def of(cls, a: Passage, b: Passage, language: str = "English") -> Diff:
        """Return the difference of two passages."""
        old, new = a.short_term_memory.splitlines(), b.short_term_memory.splitlines()
        return cls(
            a=a,
            b=b,
            plan=changes(a.plan, b.plan),
            text=changes(a.text, b.text),
            sentences=sentence_changes(a.text, b.text, language),
            memory_dropped=[line for line in old if line not in new],
            memory_added=[line for line in new if line not in old],
        )

    def as_json(self) -> dict[str, object]:
        """Return the difference as plain JSON, with the ids of the passages."""
        return {**asdict(self), "a": self.a.id, "b": self.b.id}


def changes(before: str, after: str) -> list[TextChange]:
    """Return the runs of words in which two texts agree and differ; every character is in one of them."""
    # A word carries the space behind it, so that the runs put together are the text again.
    return _runs(*(re.findall(r"^\s+|\S+\s*", text) for text in (before, after)))


def sentence_changes(before: str, after: str, language: str = "English") -> list[TextChange]:
    """Return the runs of sentences in which two texts agree and differ; every character is in one of them."""
    return _runs(segments(before, language), segments(after, language))


def _runs(old: Sequence[str], new: Sequence[str]) -> list[TextChange]:
    """Return the runs in which two sequences agree but for white space, and differ."""
    first, second = ([" ".join(piece.split()) for piece in pieces] for pieces in (old, new))
    matcher = SequenceMatcher(None, first, second, autojunk=max(len(old), len(new)) > EXACT_WORDS)
    return [TextChange(_KINDS[tag], "".join(old[i:j]), "".join(new[k:m])) for tag, i, j, k, m in matcher.get_opcodes()]
