"""The stories of one place: open it, list them, find one by id, unique prefix or title."""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.types import RetryPolicy

from recurrentgpt.checkpoints import Persistence, open_persistence
from recurrentgpt.graph.rewrite import RewriteGraph, build_rewrite_graph
from recurrentgpt.graph.story import RETRY, Graph, build_story_graph
from recurrentgpt.infrastructure import settings
from recurrentgpt.infrastructure.background_loop import acall, aiterate, call, iterate
from recurrentgpt.infrastructure.lock import writing
from recurrentgpt.memory.chronicle import Chronicle, StoryRecord
from recurrentgpt.schema.errors import StoryNotFound

if TYPE_CHECKING:
    from recurrentgpt.engine.importer import Preview
    from recurrentgpt.schema.events import Event
    from recurrentgpt.story import Story


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
    archived: bool = False


class Library:
    """Savers, store and graph, opened once and shared by the stories that are read and written through them."""

    def __init__(self, persistence: Persistence, *, locks: Path | None = None, retry: RetryPolicy = RETRY) -> None:
        self.persistence = persistence
        self.chronicle = Chronicle(persistence.store)
        self.graph: Graph = build_story_graph(checkpointer=persistence.saver, store=persistence.store, retry=retry)
        self._retry = retry
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

    def rewriting(self, *, plans: bool) -> RewriteGraph:
        """Return the graph that an edit runs for a passage; see `build_rewrite_graph`."""
        return build_rewrite_graph(plans=plans, store=self.persistence.store, retry=self._retry)

    def stories(self, *, archived: bool = False) -> list[StorySummary]:
        """Return every story, the one written last at the end; those put away only with `archived`."""
        return call(lambda: self._stories(archived))

    async def astories(self, *, archived: bool = False) -> list[StorySummary]:
        """Return every story like `stories`, without blocking the event loop."""
        return await acall(lambda: self._stories(archived))

    async def _stories(self, archived: bool) -> list[StorySummary]:
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
                archived=record.get("archived", False),
            )
            for record in await self.chronicle.records()
            if record["story"] in heads and (archived or not record.get("archived"))
        ]
        return sorted(summaries, key=lambda summary: summary.updated)

    def restore(self, path: str | Path) -> Story:
        """Return the story in a JSON export, written to the log bit for bit; raise BookError for a file that is damaged."""
        return call(lambda: self._restore(path))

    async def arestore(self, path: str | Path) -> Story:
        """Restore like `restore`, without blocking the event loop."""
        return await acall(lambda: self._restore(path))

    async def _restore(self, path: str | Path) -> Story:
        from recurrentgpt.engine.archive import restore
        from recurrentgpt.story import Story

        story = await restore(self.chronicle, Path(path).expanduser(), self.locks)  # noqa: ASYNC240 - it reads no disk
        return await Story._open(self, story, {})

    def import_preview(self, path: str | Path, *, copy: str = "", **settings: Any) -> Preview:
        """Return what an import of a book would do and cost; `settings` are those of the story, such as `max_words`."""
        from recurrentgpt.engine.importer import preview

        return preview(Path(path).expanduser(), settings, copy)

    async def aimport_preview(self, path: str | Path, *, copy: str = "", **settings: Any) -> Preview:
        """Return the preview like `import_preview`, without blocking the event loop."""
        return await asyncio.to_thread(self.import_preview, path, copy=copy, **settings)

    def import_book(
        self,
        path: str | Path,
        *,
        genre: str = "",
        title: str = "",
        fast: bool = False,
        copy: str = "",
        **settings: Any,
    ) -> Iterator[Event]:
        """Make a story of a book (.txt, .md, .docx, .epub), and yield what happens; the same file again goes on where it stopped.

        The model writes a summary of each passage and the memory after it; `fast` takes a telling sentence instead and
        calls no model. A book makes one story, and another one for every `copy` that is named. Raises BookError for a file
        that cannot be read.
        """
        return iterate(lambda: self._import(path, settings, copy, genre=genre, title=title, fast=fast))

    def aimport_book(
        self,
        path: str | Path,
        *,
        genre: str = "",
        title: str = "",
        fast: bool = False,
        copy: str = "",
        **settings: Any,
    ) -> AsyncIterator[Event]:
        """Import like `import_book`, without blocking the event loop."""
        return aiterate(lambda: self._import(path, settings, copy, genre=genre, title=title, fast=fast))

    async def _import(
        self, path: str | Path, settings: dict[str, Any], copy: str, **wishes: Any
    ) -> AsyncGenerator[Event]:
        from recurrentgpt.engine.importer import import_source, read_source
        from recurrentgpt.engine.session import Session

        source, context = await asyncio.to_thread(read_source, Path(path).expanduser(), settings, copy)  # noqa: ASYNC240
        async with aclosing(import_source(Session(self, source.id, context, None), source, **wishes)) as events:
            async for event in events:
                yield event

    def erase(self, name: str) -> None:
        """Delete a story for ever, with its branches, memory and checkpoints; raise StoryBusy where it is being written.

        It is named as `find` finds it. What a vector store of the host's own keeps of it is the host's to delete.
        """
        return call(lambda: self._erase(name))

    async def aerase(self, name: str) -> None:
        """Erase like `erase`, without blocking the event loop."""
        return await acall(lambda: self._erase(name))

    async def _erase(self, name: str) -> None:
        story = (await self.find(name))["story"]
        async with writing(self.locks, story):
            # The log last: a story without checkpoints is whole, and checkpoints without a story would never be found.
            await self.persistence.saver.adelete_thread(story)
            await self.chronicle.erase(story)

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
