"""An edit of the short-term memory that was made while the passage after it was written."""

from __future__ import annotations

from dataclasses import dataclass

from recurrentgpt.nodes.human.answers import check_memory
from recurrentgpt.schema.errors import BadAnswer

MOST_CHANGES = 20
"""Edits of the memory of one story that may wait."""


@dataclass(frozen=True)
class MemoryChange:
    """A memory before and after somebody edited it, one sentence a line."""

    before: str
    after: str

    @classmethod
    def to(cls, text: str, before: str) -> MemoryChange:
        """Return the change to an edited memory; raise BadAnswer where that is none or too long."""
        return cls(before, check_memory(text))

    @property
    def came(self) -> list[str]:
        """The sentences that the edit brought."""
        before = self.before.splitlines()
        return [line for line in self.after.splitlines() if line not in before]

    @property
    def went(self) -> list[str]:
        """The sentences that it took away."""
        after = self.after.splitlines()
        return [line for line in self.before.splitlines() if line not in after]

    def is_made_in(self, memory: str) -> bool:
        """Whether a memory has these changes already."""
        lines = memory.splitlines()
        return all(line in lines for line in self.came) and not any(line in lines for line in self.went)

    def made_in(self, memory: str) -> str:
        """Return a newer memory with the same changes: the sentences that went are gone, those that came stand at its end.

        Where that is more than a memory holds, its oldest sentences make room.
        """
        if memory == self.before:
            return self.after
        now, went = memory.splitlines(), self.went
        lines = [line for line in now if line not in went]
        came = [line for line in self.came if line not in now]
        while lines:
            try:
                return check_memory([*lines, *came])
            except BadAnswer:
                lines = lines[1:]
        return "\n".join(came)
