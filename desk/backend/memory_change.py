"""An edit of the short-term memory that was made while the passage after it was written."""

from __future__ import annotations

from dataclasses import dataclass

from recurrentgpt.nodes.human.answers import check_memory
from recurrentgpt.schema.errors import BadAnswer


@dataclass(frozen=True)
class MemoryChange:
    """A memory before and after somebody edited it, one sentence a line."""

    before: str
    after: str

    @classmethod
    def to(cls, text: str, before: str) -> MemoryChange:
        """Return the change to an edited memory; raise BadAnswer where that is none or too long."""
        return cls(before, check_memory(text))

    def made_in(self, memory: str) -> str:
        """Return a newer memory with the same changes: the sentences that went are gone, those that came stand at its end.

        Where that is more than a memory holds, its oldest sentences make room.
        """
        if memory == self.before:
            return self.after
        before, after, now = (text.splitlines() for text in (self.before, self.after, memory))
        lines = [line for line in now if line in after or line not in before]
        came = [line for line in after if line not in before and line not in now]
        while lines:
            try:
                return check_memory([*lines, *came])
            except BadAnswer:
                lines = lines[1:]
        return "\n".join(came)
