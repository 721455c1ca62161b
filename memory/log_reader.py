"""Read the story log, wherever its rows are: in a LangGraph store, or in a file that is only looked at.

Nothing of LangGraph is imported here or by what stands on it: a command that reads a story starts in a fraction of the
time of one that writes.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from recurrentgpt.infrastructure.bounded_cache import BoundedCache
from recurrentgpt.memory.log_rows import is_as_written
from recurrentgpt.schema.errors import StorageError, StoryError, StoryNotFound
from recurrentgpt.schema.log import Commit, Head, Link, StoryRecord

Found = TypeVar("Found", Commit, "Commit | None")

REMEMBERED = 256
"""Commits of a store, of all stories, that are remembered as they were last read."""
_CACHES: WeakKeyDictionary[object, dict[Hashable, BoundedCache[tuple[str, ...], Any]]] = WeakKeyDictionary()
_CACHES_LOCK = threading.Lock()


class LogRow(Protocol):
    """A row of the log: LangGraph's `SearchItem` is one."""

    @property
    def key(self) -> str:
        """Its name among those of its namespace."""

    @property
    def value(self) -> Mapping[str, Any]:
        """What it holds."""


class StoredRow(NamedTuple):
    """A row of the log as a file holds it."""

    key: str
    value: Mapping[str, Any]


def path_to(head: str, links: Mapping[str, Link]) -> list[str]:
    """Return the ids from the opening to `head`, oldest first; raise StoryNotFound for one without a link."""
    path: list[str] = []
    while head:
        if head not in links:
            raise StoryNotFound(f"This story has no passage {head[:60]!r}.")
        path.append(head)
        head = links[head]["parent"]
    return path[::-1]


def _checked(commit: Found) -> Found:
    """Return a commit as it was read, where it is what its id says."""
    if commit is not None and not is_as_written(commit):
        raise StorageError(
            f"Passage {commit['step']} of story {commit['story']} is damaged on the disk: `recurrentgpt check` says what is "
            "whole."
        )
    return commit


class LogReader(ABC):
    """Read the log of stories below `root`; `memory.story_log` says which rows there are.

    `store` is what holds the rows: what is worked out of them is remembered for it.
    """

    store: object
    root: tuple[str, ...]

    @abstractmethod
    async def values(self, namespace: tuple[str, ...], keys: Sequence[str]) -> Sequence[Mapping[str, Any] | None]:
        """Return the values of rows in the order asked for, None for one that is not there."""

    @abstractmethod
    async def scan(self, namespace: tuple[str, ...]) -> Sequence[LogRow]:
        """Return every row of exactly this namespace."""

    async def find(self, story: str, commit: str) -> Commit | None:
        """Return one commit, or None where the story has none of that id; raise StorageError for one that is damaged."""
        found = _checked(cast("Commit | None", await self.value((*self.root, "commits", story), commit)))
        if found is not None:
            self._read.put((*self.root, story, commit), found)
        return found

    async def get(self, story: str, commit: str) -> Commit:
        """Return one commit; raise StoryNotFound where the story has none of that id."""
        found = await self.find(story, commit)
        if found is None:
            raise StoryNotFound(f"Story {story} has no passage {commit!r}; `recurrentgpt show {story}` lists them.")
        return found

    async def remembered(self, story: str, commit: str) -> Commit:
        """Return one commit as it was last read here, without asking whether it is still there."""
        return self._read.get((*self.root, story, commit)) or await self.get(story, commit)

    def cache(self, owner: Hashable, most: int) -> BoundedCache[tuple[str, ...], Any]:
        """Return what `owner` has worked out of this store, `most` values, by keys that begin with the root and a story."""
        with _CACHES_LOCK:
            return _CACHES.setdefault(self.store, {}).setdefault(owner, BoundedCache(most))

    def forget(self, story: str) -> None:
        """Forget what was read of a story and worked out of it: another one may begin under its id."""
        begin = (*self.root, story)
        with _CACHES_LOCK:
            caches = list(_CACHES.get(self.store, {}).values())
        for cache in caches:
            cache.drop(lambda key: key[: len(begin)] == begin)

    @property
    def _read(self) -> BoundedCache[tuple[str, ...], Commit]:
        return self.cache("commits", REMEMBERED)

    async def get_many(self, story: str, commits: Sequence[str]) -> list[Commit]:
        """Return several commits in the order asked for."""
        found = await self.values((*self.root, "commits", story), commits)
        missing = [commit for commit, value in zip(commits, found, strict=True) if value is None]
        if missing:
            raise StoryError(f"The log of story {story} lacks commit {missing[0]}; restore the database from a backup.")
        return [_checked(cast(Commit, value)) for value in found]

    async def latest(self, story: str, head: str, count: int) -> list[Commit]:
        """Return the last `count` commits up to `head`, newest first, as they were last read here."""
        found: list[Commit] = []
        while head and len(found) < count:
            found.append(await self.remembered(story, head))
            head = found[-1]["parent"]
        return found

    async def names(self, story: str) -> dict[str, str]:
        """Return which commit each name of a branch stands at."""
        rows = await self.scan((*self.root, "names", story))
        return {str(row.value["name"]): str(row.value["at"]) for row in rows}

    async def head(self, story: str) -> Head | None:
        """Return where the story stands, or None when nothing was committed."""
        return cast("Head | None", await self.value((*self.root, "heads"), story))

    async def links(self, story: str) -> dict[str, Link]:
        """Return the links of all commits of a story by id."""
        rows = await self.scan((*self.root, "links", story))
        return {row.key: cast(Link, row.value) for row in rows}

    async def path(self, story: str, head: str) -> list[str]:
        """Return the ids from the opening to `head`, oldest first."""
        return path_to(head, await self.links(story))

    async def record(self, story: str) -> StoryRecord:
        """Return what a story is; raise StoryNotFound where there is none of exactly that id."""
        value = await self.value((*self.root, "stories"), story)
        if value is None:
            raise StoryNotFound(f"There is no story {story!r}; `recurrentgpt stories` lists them.")
        return cast(StoryRecord, value)

    async def records(self) -> list[StoryRecord]:
        """Return all stories, oldest first."""
        rows = await self.scan((*self.root, "stories"))
        return sorted((cast(StoryRecord, row.value) for row in rows), key=lambda record: record["created"])

    async def find_story(self, name: str) -> StoryRecord:
        """Return the story of this id, title, or unique beginning of one; raise StoryNotFound for none or several."""
        wanted = name.strip().casefold()
        records = await self.records()
        tests: list[Callable[[StoryRecord], bool]] = [
            lambda record: record["story"].casefold() == wanted,
            lambda record: record["title"].casefold() == wanted,
            lambda record: record["story"].casefold().startswith(wanted),
            lambda record: record["title"].casefold().startswith(wanted),
        ]
        for fits in tests:
            found = [record for record in records if wanted and fits(record)]
            if len(found) == 1:
                return found[0]
            if found:
                which = ", ".join(f"{record['story']} ({record['title']})" for record in found[:5])
                raise StoryNotFound(f"{len(found)} stories answer to {name!r}: {which}. Name one by its id.")
        near = [record for record in records if wanted and wanted in record["title"].casefold()]
        if len(near) == 1:
            meant = f"{near[0]['title']!r} ({near[0]['story']})"
            raise StoryNotFound(f"There is no story {name!r}; did you mean {meant}? `recurrentgpt stories` lists them.")
        raise StoryNotFound(f"There is no story {name!r}; `recurrentgpt stories` lists them.")

    async def value(self, namespace: tuple[str, ...], key: str) -> Mapping[str, Any] | None:
        """Return the value of one row, or None where there is none."""
        (value,) = await self.values(namespace, [key])
        return value
