"""The stories of one place: list them, bring books and exports in, erase what is not wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

from langgraph.types import RetryPolicy

from recurrentgpt.checkpoints.persistence import Persistence
from recurrentgpt.engine import importer, story_export
from recurrentgpt.engine.engine import Engine
from recurrentgpt.graph.story import RETRY
from recurrentgpt.infrastructure.background_loop import acall, call
from recurrentgpt.infrastructure.blocking import Twins
from recurrentgpt.infrastructure.deprecation import warn_renamed
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.log import StoryRecord
from recurrentgpt.storage import default_engine, open_engine
from recurrentgpt.story import AsyncStory, Story
from recurrentgpt.story_list import StorySummary as StorySummary
from recurrentgpt.story_list import summarize


class Library:
    """The stories that one engine keeps; `Story.open` opens one of them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def open(
        cls,
        folder: str | Path | None = None,
        *,
        database_url: str | None = None,
        retry: RetryPolicy = RETRY,
        read_only: bool = False,
    ) -> Library:
        """Open the stories in `folder` (default: the user's own) or behind `database_url`; close with `close()` or `with`.

        `retry` says how often a model's passing faults are tried again, and how long to wait before. With `read_only` nothing
        of a folder is written or locked, so that it reads on a full disk too.
        """
        return cls(call(lambda: open_engine(folder, database_url=database_url, retry=retry, read_only=read_only)))

    @classmethod
    async def aopen(
        cls,
        folder: str | Path | None = None,
        *,
        database_url: str | None = None,
        retry: RetryPolicy = RETRY,
        read_only: bool = False,
    ) -> Library:
        """Open like `open`, without blocking the event loop."""
        return cls(
            await acall(lambda: open_engine(folder, database_url=database_url, retry=retry, read_only=read_only))
        )

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    _twins: Twins[Library, Library] = Twins(lambda library: library)

    async def _close(self) -> None:
        """Close the databases; a second call does nothing."""
        await self.engine.close()

    close, aclose = _twins(_close)

    async def _stories(self, *, archived: bool = False) -> list[StorySummary]:
        """Return every story, the one written last at the end; those put away only with `archived`.

        A story of which a row is damaged has the status `damaged`.
        """
        log = self.engine.log
        heads, records = [
            {row.key: row.value for row in await log.scan((*log.root, table))} for table in ("heads", "stories")
        ]
        return summarize(records, heads, archived=archived)

    stories, astories = _twins(_stories)

    async def find(self, name: str) -> StoryRecord:
        """Return the story of this id, title, or unique beginning of one; raise StoryNotFound for none or several."""
        return await self.engine.find(name)

    async def _restore(
        self,
        path: str | Path,
        *,
        copy: str = "",
        on_left_out: Callable[[Mapping[str, int]], None] = lambda left_out: None,
    ) -> Story:
        """Return the story in a JSON export, written to the log bit for bit; raise BookError for a file that is damaged.

        With a `copy`, which goes into its title, it is another story beside the one that may be here. What prompts repeat of
        it passes the gate of what a model says; `on_left_out` is told how much that took out, by kind: sentences that tell a
        model what to do (`orders`), and texts that held marks of chats or reasoning (`marked`), what nobody sees (`hidden`),
        or nothing else (`emptied`).
        """
        path = Path(path).expanduser()  # noqa: ASYNC240 - it reads no disk
        story, left_out = await story_export.restore(self.engine, path, copy=copy)
        on_left_out(left_out.counts())
        return Story(self.engine, story, (await AsyncStory.open(story, library=self)).context)

    restore, arestore = _twins(_restore)

    def import_preview(self, path: str | Path, *, copy: str = "", **settings: Any) -> importer.Preview:
        """Return what an import of a book would do and cost; `settings` are those of the story, such as `max_words`."""
        return importer.preview(Path(path).expanduser(), settings, copy)

    async def aimport_preview(self, path: str | Path, *, copy: str = "", **settings: Any) -> importer.Preview:
        """Return the preview like `import_preview`, without blocking the event loop."""
        return await asyncio.to_thread(self.import_preview, path, copy=copy, **settings)

    def _import_book(
        self,
        /,
        path: str | Path,
        *,
        genre: str = "",
        title: str = "",
        fast: bool = False,
        copy: str = "",
        **settings: Any,
    ) -> AsyncGenerator[Event]:
        """Make a story of a book (.txt, .md, .docx, .epub), and yield what happens; the same file again goes on where it stopped.

        The model writes a summary of each passage and the memory after it; `fast` takes a telling sentence instead and
        calls no model. A book makes one story, and another one for every `copy` that is named. Raises BookError for a file
        that cannot be read.
        """
        path = Path(path).expanduser()
        return importer.import_book(self.engine, path, settings, genre=genre, title=title, fast=fast, copy=copy)

    import_book, aimport_book = _twins(_import_book)

    async def _erase(self, name: str) -> None:
        """Delete a story for ever, with its branches, memory and checkpoints; raise StoryBusy where it is being written.

        It is named as `find` finds it. What a vector store of the host's own keeps of it is the host's to delete.
        """
        await self.engine.erase((await self.find(name))["story"])

    erase, aerase = _twins(_erase)

    # Deprecated names

    @property
    def persistence(self) -> Persistence:
        """Saver and store; deprecated, the engine has them."""
        warn_renamed("Library.persistence", "Library.engine.saver and Library.engine.log.store")
        return Persistence(self.engine.saver, self.engine.log.store, self.engine.description)

    @property
    def chronicle(self) -> StoryLog:
        """The story log; deprecated, the engine has it."""
        warn_renamed("Library.chronicle", "Library.engine.log")
        return self.engine.log

    @property
    def locks(self) -> Path | None:
        """The folder of locks; deprecated, the engine has it."""
        warn_renamed("Library.locks", "Library.engine.locks")
        return self.engine.locks


def default_library() -> Library:
    """Return the user's own library, opened at the first call and closed with the process."""
    return Library(default_engine())
