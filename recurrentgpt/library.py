"""The stories of one place: open it, list them, find one by id, unique prefix or title."""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from langgraph.types import RetryPolicy

from recurrentgpt import settings
from recurrentgpt.checkpoints import Persistence, open_persistence
from recurrentgpt.errors import StoryNotFound
from recurrentgpt.graph.story import RETRY, Graph, build_story_graph
from recurrentgpt.loop import acall, call
from recurrentgpt.memory.chronicle import Chronicle, StoryRecord


@dataclass(frozen=True)
class StorySummary:
    """One line of the list of stories."""

    story: str
    title: str
    genre: str
    step: int
    status: str
    head: str
    updated: str


class Library:
    """Savers, store and graph, opened once and shared by the stories that are read and written through them."""

    def __init__(self, persistence: Persistence, *, locks: Path | None = None, retry: RetryPolicy = RETRY) -> None:
        self.persistence = persistence
        self.chronicle = Chronicle(persistence.store)
        self.graph: Graph = build_story_graph(checkpointer=persistence.saver, store=persistence.store, retry=retry)
        self.locks = locks
        """Folder of one lock file per story, so that two processes do not write the same one; None for no locks."""
        self._stack: AsyncExitStack | None = None

    @classmethod
    def open(
        cls, folder: str | Path | None = None, *, database_url: str | None = None, retry: RetryPolicy = RETRY
    ) -> Library:
        """Open the stories in `folder` (default: the user's own) or behind `database_url`; close with `close()` or `with`.

        `retry` says how often a model's passing faults are tried again, and how long to wait before.
        """
        return call(lambda: cls._open(folder, database_url, retry))

    @classmethod
    async def aopen(
        cls, folder: str | Path | None = None, *, database_url: str | None = None, retry: RetryPolicy = RETRY
    ) -> Library:
        """Open like `open`, without blocking the event loop."""
        return await acall(lambda: cls._open(folder, database_url, retry))

    @classmethod
    async def _open(cls, folder: str | Path | None, database_url: str | None, retry: RetryPolicy) -> Library:
        place = Path(folder).expanduser() if folder else None  # noqa: ASYNC240 - it reads no disk
        stack = AsyncExitStack()
        persistence = await stack.enter_async_context(open_persistence(database_url, place))
        library = cls(persistence, locks=(place or settings.home()) / "locks", retry=retry)
        library._stack = stack
        _open.add(library)
        return library

    def close(self) -> None:
        """Close the databases; a second call does nothing."""
        call(self._close)

    async def aclose(self) -> None:
        """Close like `close`, without blocking the event loop."""
        await acall(self._close)

    async def _close(self) -> None:
        stack, self._stack = self._stack, None
        if stack is None:
            return
        # LangGraph's stores cancel their task only when they are collected, too late for the loop to end it quietly.
        batching: asyncio.Task[None] | None = getattr(self.persistence.store, "_task", None)
        if batching is not None:
            batching.cancel()
            await asyncio.wait([batching])
        await stack.aclose()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def stories(self) -> list[StorySummary]:
        """Return every story, the one written last at the end."""
        return call(self._stories)

    async def astories(self) -> list[StorySummary]:
        """Return every story like `stories`, without blocking the event loop."""
        return await acall(self._stories)

    async def _stories(self) -> list[StorySummary]:
        heads = {row.key: row.value for row in await self.chronicle.scan((*self.chronicle.root, "heads"))}
        summaries = [
            StorySummary(
                story=record["story"],
                title=record["title"],
                genre=record["genre"],
                step=heads[record["story"]]["step"],
                status=heads[record["story"]]["status"],
                head=heads[record["story"]]["head"],
                updated=heads[record["story"]]["updated"],
            )
            for record in await self.chronicle.records()
            if record["story"] in heads
        ]
        return sorted(summaries, key=lambda summary: summary.updated)

    async def find(self, name: str) -> StoryRecord:
        """Return the story of this id, unique prefix of an id, or title; raise StoryNotFound for none or several."""
        wanted = name.strip().casefold()
        records = await self.chronicle.records()
        tests: list[Callable[[StoryRecord], bool]] = [
            lambda record: record["story"] == wanted,
            lambda record: record["title"].casefold() == wanted,
            lambda record: record["story"].startswith(wanted),
            lambda record: record["title"].casefold().startswith(wanted),
        ]
        for fits in tests:
            found = [record for record in records if wanted and fits(record)]
            if len(found) == 1:
                return found[0]
            if found:
                which = ", ".join(f"{record['story']} ({record['title']})" for record in found[:5])
                raise StoryNotFound(f"{len(found)} stories answer to {name!r}: {which}. Name one by its id.")
        raise StoryNotFound(f"There is no story {name!r}; `recurrentgpt stories` lists them.")


_open: weakref.WeakSet[Library] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what was left open, so that no database is abandoned in the middle of a write."""
    for library in list(_open):
        library.close()


_default: dict[tuple[str, str | None], Library] = {}
_default_lock = threading.Lock()


def default_library() -> Library:
    """Return the user's own library, opened at the first call and closed with the process."""
    key = (str(settings.home()), settings.resolve("database_url").value)
    with _default_lock:
        if key not in _default:
            _default[key] = Library.open()
        return _default[key]
