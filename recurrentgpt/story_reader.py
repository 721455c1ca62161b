"""A story of this machine to be looked at: read from the rows of its log, without LangGraph, a model or the right to write.

`Story` has the same names, and everything that writes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from recurrentgpt.checkpoints.reading import readable
from recurrentgpt.checkpoints.sqlite_faults import STORIES, check_owner, is_there, storage_errors
from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.engine.storybook import StoryBook
from recurrentgpt.infrastructure import settings
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.infrastructure.blocking import Twins
from recurrentgpt.memory.log_reader import LogReader, StoredRow
from recurrentgpt.memory.log_rows import ROOT


class ReadOnlyStory:
    """A story that is only read; each member is documented at `Story`."""

    def __init__(self, reader: StoryReader) -> None:
        self._reader, self._book, self.id = reader, StoryBook(reader), reader.id

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
    passages_of, apassages_of = _twins(StoryReader.passages_of)
    usage_at, ausage_at = _twins(StoryReader.usage_at)
    tree, atree = _twins(StoryReader.tree)
    resolve, aresolve = _twins(StoryReader.resolve)
    names, anames = _twins(StoryReader.names)
    diff, adiff = _twins(StoryReader.diff)
    codex, acodex = _twins(StoryReader.codex)
    codex_history, acodex_history = _twins(StoryReader.codex_history)

    _of_book: Twins[ReadOnlyStory, StoryBook] = Twins(lambda story: story._book)
    book, abook = _of_book(StoryBook.as_book)
    export, aexport = _of_book(StoryBook.export)


@contextmanager
def open_to_read(name: str) -> Iterator[ReadOnlyStory]:
    """Open the user's story of this id, title, or unique beginning of one; raise StoryNotFound for none or several.

    Nothing is written or locked, and checkpoints are not looked at. On a Postgres server the whole engine reads it.
    """
    if settings.resolve("database_url").value:
        from recurrentgpt.library import Library
        from recurrentgpt.story import Story

        with Library.open(read_only=True) as library:
            yield ReadOnlyStory(Story.open(name, library=library).reader)
        return
    with _open_log(settings.home() / STORIES) as log:
        record = call(lambda: log.find_story(name))
        yield ReadOnlyStory(StoryReader(log, record["story"]))


class _LogFile(LogReader):
    """The story log in SQLite's file, read as LangGraph's store keeps it."""

    root = ROOT

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.store, self._connection, self._path = self, connection, path

    async def values(self, namespace: tuple[str, ...], keys: Sequence[str]) -> list[Mapping[str, Any] | None]:
        query = "SELECT key, value FROM store WHERE prefix = ? AND key IN (SELECT value FROM json_each(?))"
        rows = self._rows(query, ".".join(namespace), json.dumps(list(keys)))
        found = {key: json.loads(value) for key, value in rows}
        return [found.get(key) for key in keys]

    async def scan(self, namespace: tuple[str, ...]) -> list[StoredRow]:
        query = "SELECT key, value FROM store WHERE prefix = ? ORDER BY updated_at DESC, rowid"
        rows = self._rows(query, ".".join(namespace))
        return [StoredRow(key, json.loads(value)) for key, value in rows]

    def _rows(self, query: str, *values: str) -> list[tuple[str, str]]:
        with storage_errors(self._path):
            return self._connection.execute(query, values).fetchall()


@contextmanager
def _open_log(path: Path) -> Iterator[LogReader]:
    """Open the log in a file; one that is missing counts as empty. Raises StorageError for one that cannot be read."""
    if not is_there(path):
        with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
            connection.execute("CREATE TABLE store (prefix, key, value, updated_at)")
            yield _LogFile(connection, path)
        return
    # Read in the background loop, whose thread is another.
    with (
        readable(path) as address,
        closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as connection,
    ):
        check_owner(connection, path)
        yield _LogFile(connection, path)
