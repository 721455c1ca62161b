"""What the commits of a path amount to, one after the other: worked out once, and gone on with from passage to passage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from recurrentgpt.infrastructure.bounded_cache import BoundedCache
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.schema.log import Commit

KEPT = 64
"""Heads, of all stories, whose value is kept."""
WALK = 64
"""Commits that are read one by one before the whole path is."""
AT_ONCE = 500

T = TypeVar("T")


class PathFold(Generic[T]):
    """A value as of a commit: `add(value, commit, given)` over its path from the opening on, beginning with `empty`.

    `given` is what else it depends on, the same for the whole path. It is kept for the newest commits that were asked for, and
    made from the nearest one that is kept. No value is changed.
    """

    def __init__(self, empty: T, add: Callable[[T, Commit, tuple[str, ...]], T]) -> None:
        self._empty, self._add = empty, add

    async def at(self, log: LogReader, story: str, head: str, given: tuple[str, ...] = ()) -> T:
        """Return the value after the commit `head`; of no commit, the empty one."""
        root = (*log.root, story, *given)
        kept: BoundedCache[tuple[str, ...], T] = log.cache(self, KEPT)
        missing: list[Commit] = []
        at, value = head, self._empty
        while at and len(missing) < WALK:
            if (found := kept.get((*root, at))) is not None:
                value = found
                break
            missing.append(await log.remembered(story, at))
            at = missing[-1]["parent"]
        else:
            # Cold: what is further back is read in pages, and nothing of it is kept.
            older: list[str] = []
            for key in reversed(await log.path(story, at) if at else []):
                if (found := kept.get((*root, key))) is not None:
                    value = found
                    break
                older.append(key)
            older.reverse()
            for first in range(0, len(older), AT_ONCE):
                for commit in await log.get_many(story, older[first : first + AT_ONCE]):
                    value = self._add(value, commit, given)
        for commit in missing[::-1]:
            value = self._add(value, commit, given)
        if head:
            kept.put((*root, head), value)
        return value
