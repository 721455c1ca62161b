"""Read the story log, wherever its rows are: in a LangGraph store, or in a file that is only looked at.

Nothing of LangGraph is imported here or by what stands on it: a command that reads a story starts in a fraction of the
time of one that writes.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast
from weakref import WeakKeyDictionary

from typing_extensions import TypedDict

from recurrentgpt.infrastructure.bounded_cache import BoundedCache
from recurrentgpt.memory.log_rows import is_as_written
from recurrentgpt.memory.row_shapes import Shape, damage, fits, shaped
from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.schema.errors import StorageError, StoryError, StoryNotFound
from recurrentgpt.schema.log import Commit, Head, Link, StoryRecord

REMEMBERED = 256
"""Commits of a store, of all stories, and records of stories, that are remembered as they were last read."""
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


def whole_records(rows: Mapping[str, Mapping[str, Any]]) -> tuple[list[StoryRecord], list[str]]:
    """Return the records of stories, by id, that are whole, oldest first, and the ids of those that are not."""
    whole: list[StoryRecord] = []
    damaged: list[str] = []
    for key, row in rows.items():
        if fits(StoryRecord, row) and row["story"] == key:
            whole.append(_visibly_named(cast(StoryRecord, row)))
        else:
            damaged.append(str(key))
    return sorted(whole, key=lambda record: record["created"]), damaged


def _visibly_named(record: StoryRecord) -> StoryRecord:
    """Return a story with its title as it is seen: earlier versions kept what turns or hides words."""
    if (title := visible_text(record["title"])) == record["title"]:
        return record
    return {**record, "title": title.strip() or record["story"]}


def path_to(head: str, links: Mapping[str, Link]) -> list[str]:
    """Return the ids from the opening to `head`, oldest first.

    Raises StorageError for damage: a head without a link, and a circle.
    """
    path: list[str] = []
    while head:
        if head not in links:
            raise StorageError(
                f"The passage {head[:60]!r} of this story is not there: `recurrentgpt check` says what is whole."
            )
        if len(path) == len(links):
            raise StorageError("The passages of this story lead in a circle: `recurrentgpt check` says what is whole.")
        path.append(head)
        head = links[head]["parent"]
    return path[::-1]


class NameRow(TypedDict):
    """Where a name of a branch stands."""

    name: str
    at: str


class _Links(dict[str, Link]):
    """The links of a story by id, where one that another names and that is not there is damage."""

    def __init__(self, story: str, links: Mapping[str, Link]) -> None:
        super().__init__(links)
        self._story = story

    def __missing__(self, key: str) -> Link:
        raise damage(self._story)


def _checked(row: Mapping[str, Any], story: str) -> Commit:
    """Return a commit as it was read, where it is what its id says."""
    commit = shaped(Commit, row, story)
    if not is_as_written(commit):
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

    @abstractmethod
    async def keep(self, namespace: tuple[str, ...], rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Store rows, by key, that can be worked out of others again; where nothing can be written, they are let go."""

    async def find(self, story: str, commit: str) -> Commit | None:
        """Return one commit, or None where the story has none of that id; raise StorageError for one that is damaged."""
        row = await self.value((*self.root, "commits", story), commit)
        if row is None:
            return None
        found = _checked(row, story)
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

    async def remembered_many(self, story: str, commits: Collection[str]) -> list[Commit]:
        """Return several commits as they were last read here, in the order asked for."""
        known = {commit: self._read.get((*self.root, story, commit)) for commit in commits}
        unread = [commit for commit, found in known.items() if found is None]
        for read in await self.get_many(story, unread) if unread else ():
            known[read["id"]] = read
            self._read.put((*self.root, story, read["id"]), read)
        return [found for commit in commits if (found := known[commit]) is not None]

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

    @property
    def _read_records(self) -> BoundedCache[tuple[str, ...], tuple[float, StoryRecord]]:
        return self.cache("records", REMEMBERED)

    async def get_many(self, story: str, commits: Sequence[str]) -> list[Commit]:
        """Return several commits in the order asked for."""
        found = await self.values((*self.root, "commits", story), commits)
        missing = [commit for commit, value in zip(commits, found, strict=True) if value is None]
        if missing:
            raise StoryError(f"The log of story {story} lacks commit {missing[0]}; restore the database from a backup.")
        return [_checked(value, story) for value in found if value is not None]

    async def latest(self, story: str, head: str, count: int) -> list[Commit]:
        """Return the last `count` commits up to `head`, newest first, as they were last read here."""
        found: list[Commit] = []
        while head and len(found) < count:
            found.append(await self.remembered(story, head))
            head = found[-1]["parent"]
        return found

    async def names(self, story: str) -> dict[str, str]:
        """Return which commit each name of a branch stands at."""
        rows = await self.rows(NameRow, "names", story)
        # Where an old name and a new one look alike, the new one counts: its key is the name as it is seen.
        seen = sorted((visible_text(row["name"]), key, row["at"]) for key, row in rows.items())
        return {name: at for name, _, at in sorted(seen, key=lambda one: one[0].casefold() == one[1]) if name}

    async def head(self, story: str) -> Head | None:
        """Return where the story stands, or None when nothing was committed."""
        head = await self.row_of(Head, "heads", story)
        name = head.get("branch", "") if head else ""
        return head if not head or name.isascii() else {**head, "branch": visible_text(name)}

    async def links(self, story: str) -> dict[str, Link]:
        """Return the links of all commits of a story by id."""
        links = await self.rows(Link, "links", story)
        if any(link["id"] != key for key, link in links.items()):
            raise damage(story)
        return _Links(story, links)

    async def path(self, story: str, head: str) -> list[str]:
        """Return the ids from the opening to `head`, oldest first."""
        return path_to(head, await self.links(story))

    async def record(self, story: str) -> StoryRecord:
        """Return what a story is; raise StoryNotFound where there is none of exactly that id."""
        found = await self.row_of(StoryRecord, "stories", story)
        if found is None:
            raise StoryNotFound(f"There is no story {story!r}; `recurrentgpt stories` lists them.")
        if found["story"] != story:
            raise damage(story)
        record = _visibly_named(found)
        self._remember_record(record)
        return record

    def _remember_record(self, record: StoryRecord) -> None:
        self._read_records.put((*self.root, record["story"]), (time.monotonic(), record))

    async def remembered_record(self, story: str, *, seconds: float = math.inf) -> StoryRecord:
        """Return what a story is as it was last read here, without asking whether it was changed in these `seconds`."""
        read, record = self._read_records.get((*self.root, story)) or (-math.inf, None)
        return record if record and time.monotonic() - read < seconds else await self.record(story)

    async def records(self) -> list[StoryRecord]:
        """Return all stories whose record is whole, oldest first."""
        return (await self._records())[0]

    async def _records(self) -> tuple[list[StoryRecord], list[str]]:
        """Return all stories whose record is whole, oldest first, and the ids of those whose record is damaged."""
        return whole_records({row.key: row.value for row in await self.scan((*self.root, "stories"))})

    async def find_story(self, name: str) -> StoryRecord:
        """Return the story of this id, title, or unique beginning of one; raise StoryNotFound for none or several."""
        wanted = visible_text(name).strip().casefold()
        records, damaged = await self._records()
        tests: list[Callable[[StoryRecord], bool]] = [
            lambda record: record["story"].casefold() == wanted,
            lambda record: record["title"].casefold() == wanted,
            lambda record: record["story"].casefold().startswith(wanted),
            lambda record: record["title"].casefold().startswith(wanted),
        ]
        for answers in tests:
            found = [record for record in records if wanted and answers(record)]
            if len(found) == 1:
                return found[0]
            if found:
                which = ", ".join(f"{record['story']} ({record['title']})" for record in found[:5])
                raise StoryNotFound(f"{len(found)} stories answer to {name!r}: {which}. Name one by its id.")
        if lost := next((key for key in damaged if wanted and key.startswith(wanted)), None):
            raise damage(lost)
        near = [record for record in records if wanted and wanted in record["title"].casefold()]
        meant = f"; did you mean {near[0]['title']!r} ({near[0]['story']})?" if len(near) == 1 else ";"
        unread = f" {len(damaged)} more cannot be read: `recurrentgpt check` says what is whole." if damaged else ""
        raise StoryNotFound(f"There is no story {name!r}{meant} `recurrentgpt stories` lists them.{unread}")

    async def rows(self, shape: type[Shape], table: str, story: str) -> dict[str, Shape]:
        """Return all rows of a table of a story by key; raise StorageError where one has another shape."""
        found = await self.scan((*self.root, table, story))
        return {row.key: shaped(shape, row.value, story) for row in found}

    async def row_of(self, shape: type[Shape], table: str, story: str) -> Shape | None:
        """Return the row that a story has in a table of one row each, None for none; raise StorageError for another shape."""
        value = await self.value((*self.root, table), story)
        return None if value is None else shaped(shape, value, story)

    async def value(self, namespace: tuple[str, ...], key: str) -> Mapping[str, Any] | None:
        """Return the value of one row, or None where there is none."""
        (value,) = await self.values(namespace, [key])
        return value
