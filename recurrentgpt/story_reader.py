"""A story of this machine to be looked at: read from the rows of its log, without LangGraph, a model or the right to write.

`Story` has the same names, and everything that writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from recurrentgpt.checkpoints.read_only import RowReader, open_rows
from recurrentgpt.checkpoints.sqlite_faults import STORIES
from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.engine.search import StorySearch
from recurrentgpt.engine.storybook import StoryBook
from recurrentgpt.infrastructure import settings
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.infrastructure.blocking import Twins
from recurrentgpt.memory.log_reader import LogReader, StoredRow
from recurrentgpt.memory.log_rows import ROOT
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import StorageError

if TYPE_CHECKING:
    from recurrentgpt.engine.refs import Ref
    from recurrentgpt.engine.written_from import PromptPart
    from recurrentgpt.memory.recall import Recall


class ReadOnlyStory:
    """A story that is only read; each member is documented at `Story`."""

    def __init__(self, reader: StoryReader) -> None:
        self._reader, self._book, self.id = reader, StoryBook(reader), reader.id
        self._search = StorySearch(reader, self._recall)

    _twins: Twins[ReadOnlyStory, StoryReader] = Twins(lambda story: story._reader)
    record = _twins.value(StoryReader.record)
    title = _twins.value(StoryReader.title)
    settings = _twins.value(StoryReader.settings)
    brief = _twins.value(StoryReader.brief)
    head = _twins.value(StoryReader.head)
    usage = _twins.value(StoryReader.usage)
    whole_usage = _twins.value(StoryReader.whole_usage)
    pending_replay = _twins.value(StoryReader.pending_replay)
    passage, apassage = _twins(StoryReader.passage)
    passages, apassages = _twins(StoryReader.passages)
    whole_passages, awhole_passages = _twins(StoryReader.whole_passages)
    passages_of, apassages_of = _twins(StoryReader.passages_of)
    usage_at, ausage_at = _twins(StoryReader.usage_at)
    tree, atree = _twins(StoryReader.tree)
    resolve, aresolve = _twins(StoryReader.resolve)
    names, anames = _twins(StoryReader.names)
    diff, adiff = _twins(StoryReader.diff)
    codex, acodex = _twins(StoryReader.codex)
    codex_history, acodex_history = _twins(StoryReader.codex_history)

    def written_from(self, at: Ref | None = None, *, truth: bool = True) -> list[PromptPart] | None:
        """Return what the writer of a passage was told; None where its commit does not keep what was recalled for it."""
        return call(lambda: self._written_from(at, truth=truth))

    async def _written_from(self, at: Ref | None, *, truth: bool) -> list[PromptPart] | None:
        from recurrentgpt.engine.written_from import as_written, is_kept, written_from

        commit, record = await self._reader.commit_at(at), await self._reader.record()
        commit = await as_written(self._reader.log, commit)
        if not is_kept(commit):
            return None
        kept: dict[str, Any] = {name: value for name, value in record["settings"].items() if name in STORY_SETTINGS}
        for_reader = None if truth else await self._reader.codex_at(at)
        return await written_from(self._reader.log, Context(**kept), commit, for_reader=for_reader)

    _of_book: Twins[ReadOnlyStory, StoryBook] = Twins(lambda story: story._book)
    book, abook = _of_book(StoryBook.as_book)
    chapters, achapters = _of_book(StoryBook.chapters)
    export, aexport = _of_book(StoryBook.export)
    _of_search: Twins[ReadOnlyStory, StorySearch] = Twins(lambda story: story._search)
    search, asearch = _of_search(StorySearch.search)

    def _recall(self) -> Recall:
        from recurrentgpt.memory.codex import facts
        from recurrentgpt.memory.recall import Recall
        from recurrentgpt.models.embedders import own_embedder

        return Recall(self._reader.log, own_embedder(), facts)


@contextmanager
def open_to_read(name: str) -> Iterator[ReadOnlyStory]:
    """Open the user's story of this id, title, or unique beginning of one; raise StoryNotFound for none or several.

    Nothing is locked or written but vectors that a search had to make, and checkpoints are not looked at. On a Postgres server
    the whole engine reads it.
    """
    if settings.resolve("database_url").value:
        from recurrentgpt.library import Library
        from recurrentgpt.story import Story

        with Library.open(read_only=True) as library:
            yield ReadOnlyStory(Story.open(name, library=library).reader)
        return
    with open_rows(settings.home() / STORIES) as rows:
        log = _LogFile(rows)
        record = call(lambda: log.find_story(name))
        yield ReadOnlyStory(StoryReader(log, record["story"]))


class _LogFile(LogReader):
    """The story log in SQLite's file, read as LangGraph's store keeps it."""

    root = ROOT

    def __init__(self, rows: RowReader) -> None:
        self.store, self._rows = rows, rows

    async def values(self, namespace: tuple[str, ...], keys: Sequence[str]) -> list[Mapping[str, Any] | None]:
        query = "SELECT key, value FROM store WHERE prefix = ? AND key IN (SELECT value FROM json_each(?))"
        rows = self._rows.select(query, ".".join(namespace), json.dumps(list(keys)))
        found = dict(rows)
        return [found.get(key) for key in keys]

    async def scan(self, namespace: tuple[str, ...]) -> list[StoredRow]:
        query = "SELECT key, value FROM store WHERE prefix = ? ORDER BY updated_at DESC, rowid"
        rows = self._rows.select(query, ".".join(namespace))
        return [StoredRow(key, value) for key, value in rows]

    async def keep(self, namespace: tuple[str, ...], rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Store the rows in the file, which is opened to write for them alone."""
        from recurrentgpt.checkpoints.sqlite import store
        from recurrentgpt.memory.story_log import StoryLog

        with suppress(StorageError):
            async with store() as opened:
                await StoryLog(opened, self.root).keep(namespace, rows)
