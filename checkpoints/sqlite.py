"""SQLite persistence: `stories.db`, the story log and the truth, and `checkpoints.db`, which is disposable.

They are two files so that the truth stays small and still while checkpoints churn, and so that checkpoints can be
deleted without a thought.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

import aiosqlite
from filelock import AsyncFileLock
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.base import GetOp, Op, PutOp, Result
from langgraph.store.sqlite.aio import AsyncSqliteStore

# Absolute, as langgraph.json loads this file a second time, outside its package.
from recurrentgpt.checkpoints.backups import copy_before_migration, copy_now_and_then, forget_copies
from recurrentgpt.checkpoints.batching import batching
from recurrentgpt.checkpoints.group_commit import GroupCommit
from recurrentgpt.checkpoints.migrations import migrate
from recurrentgpt.checkpoints.persistence import Persistence
from recurrentgpt.checkpoints.read_only import readable
from recurrentgpt.checkpoints.retention import KEEP, PRUNE_EVERY, Retaining
from recurrentgpt.checkpoints.row_values import deflated, value_of
from recurrentgpt.checkpoints.sqlite_faults import (
    APPLICATION_ID,
    CHECKPOINTS,
    SCHEMA_VERSION,
    STORIES,
    is_there,
    refuse_foreign,
    storage_errors,
)
from recurrentgpt.infrastructure.settings import home
from recurrentgpt.schema.errors import StorageError

BUSY_SECONDS = 15.0
WAL_BYTES = 4 * 1024 * 1024

# One statement each, which SQLite writes whole or not at all: every call of the connection's thread costs a tenth of a
# millisecond, and LangGraph's own saver makes seven of them here.
_PUT = """
INSERT OR REPLACE INTO checkpoints
    (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?)"""
_PUT_WRITES = """
INSERT OR {otherwise} INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value)
VALUES {rows}"""
_DELETE_THREAD = (
    "DELETE FROM checkpoints WHERE thread_id = :thread",
    "DELETE FROM writes WHERE thread_id = :thread",
)
# Checkpoint ids are time-ordered, so age is their order, within and across namespaces.
_PRUNE_BY_AGE = """
DELETE FROM checkpoints WHERE rowid IN (
    SELECT rowid FROM (
        SELECT rowid, row_number() OVER (PARTITION BY checkpoint_ns ORDER BY checkpoint_id DESC) AS age
        FROM checkpoints WHERE thread_id = :thread
    ) WHERE age > :keep
)"""
# Every call of a subgraph is a new namespace with ":" in its name. It goes when its root checkpoint has gone.
_PRUNE_CALLS = """
DELETE FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns LIKE '%:%' AND checkpoint_id < (
    SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = ''
)"""
# By age and not by a missing checkpoint: the writes of a step may be saved just before its checkpoint.
_PRUNE_WRITES = """
DELETE FROM writes WHERE thread_id = :thread AND (
    checkpoint_id < (
        SELECT min(checkpoint_id) FROM checkpoints c
        WHERE c.thread_id = :thread AND c.checkpoint_ns = writes.checkpoint_ns
    ) OR checkpoint_ns LIKE '%:%' AND checkpoint_id < (
        SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = ''
    )
)"""

# What is left of a thread is what it was before the runs: of what they wrote on an older checkpoint, only its question stays.
# Writes are found by the checkpoints of the runs: the other way round, all checkpoints are read once for every write.
_DELETE_RUNS = (
    """
DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (
    SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints
    WHERE json_extract(CAST(metadata AS TEXT), '$.run_id') IN (SELECT value FROM json_each(:runs))
)""",
    """
DELETE FROM writes WHERE channel != '__interrupt__' AND (thread_id, checkpoint_ns, checkpoint_id) IN (
    SELECT thread_id, checkpoint_ns, parent_checkpoint_id FROM checkpoints
    WHERE json_extract(CAST(metadata AS TEXT), '$.run_id') IN (SELECT value FROM json_each(:runs))
)""",
    """
DELETE FROM checkpoints
WHERE json_extract(CAST(metadata AS TEXT), '$.run_id') IN (SELECT value FROM json_each(:runs))""",
)
_COPY = """
INSERT OR REPLACE INTO checkpoints
SELECT :target, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
FROM checkpoints WHERE thread_id = :source"""
_COPY_WRITES = """
INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value)
SELECT :target, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value
FROM writes WHERE thread_id = :source"""
_PRUNE_ORPHANS = """
DELETE FROM writes WHERE thread_id = :thread AND (checkpoint_ns, checkpoint_id) NOT IN (
    SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = :thread
)"""

_begin: ContextVar[str] = ContextVar("_begin", default="BEGIN")
"""How the batch at hand begins its transaction; empty for what needs none: one statement that writes, or reading."""


class RetainingSqliteSaver(Retaining, AsyncSqliteSaver):
    """Save checkpoints, each with all of its rows or with none, and keep only the newest."""

    def __init__(
        self, conn: aiosqlite.Connection, path: Path, *, keep: int = KEEP, prune_every: int = PRUNE_EVERY
    ) -> None:
        super().__init__(conn)
        self.path, self._writes = path, GroupCommit(conn, self.lock)
        self.retain(keep, prune_every)

    def faults(self) -> AbstractContextManager[None]:
        """Return what turns the faults of the disk into a StorageError."""
        return storage_errors(self.path)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint and prune its thread now and then."""
        place = config["configurable"]
        saved = {"thread_id": place["thread_id"], "checkpoint_ns": place["checkpoint_ns"]}
        about = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        names = (str(place["thread_id"]), place["checkpoint_ns"], checkpoint["id"], place.get("checkpoint_id"))
        await self._write(_PUT, [*names, *self.serde.dumps_typed(checkpoint), about])
        await self.pruned_now_and_then(config)
        return RunnableConfig(configurable={**saved, "checkpoint_id": checkpoint["id"]})

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what one task wrote, all of it or nothing."""
        if not writes:
            return
        place = config["configurable"]
        task = (str(place["thread_id"]), str(place["checkpoint_ns"]), str(place["checkpoint_id"]), task_id, task_path)
        rows = [
            (*task, WRITES_IDX_MAP.get(channel, number), channel, *self.serde.dumps_typed(value))
            for number, (channel, value) in enumerate(writes)
        ]
        # What is written again by its channel alone, such as an error or an interrupt, takes the place of what was there.
        otherwise = "REPLACE" if all(channel in WRITES_IDX_MAP for channel, _ in writes) else "IGNORE"
        marks = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
        await self._write(_PUT_WRITES.format(otherwise=otherwise, rows=marks), [value for row in rows for value in row])

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread's checkpoints and writes."""
        await self._execute(*_DELETE_THREAD, thread=str(thread_id))

    async def prune_thread(self, thread_id: str) -> None:
        """Delete all but the newest `keep` checkpoints of each namespace of a thread, and their writes.

        SQLite reuses the freed pages, so the file stops growing; no vacuum is needed.
        """
        await self._execute(_PRUNE_BY_AGE, _PRUNE_CALLS, _PRUNE_WRITES, thread=thread_id, keep=self.keep)

    async def prune_to_latest(self, thread_id: str) -> None:
        """Delete all but the newest checkpoint of each namespace of a thread, and their writes."""
        await self._execute(_PRUNE_BY_AGE, _PRUNE_ORPHANS, thread=thread_id, keep=1)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what runs saved, so that their threads are as before them."""
        await self._execute(*_DELETE_RUNS, runs=json.dumps([str(run) for run in run_ids]))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy every checkpoint of a thread, and its writes, to another thread."""
        await self._execute(_COPY, _COPY_WRITES, source=str(source_thread_id), target=str(target_thread_id))

    async def newest_id(self, thread_id: str) -> str | None:
        """Return the greatest id of a thread's checkpoints."""
        query = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?"
        async with self.lock, self.conn.execute(query, (thread_id,)) as cursor:
            row = await cursor.fetchone()
        return row[0] if row else None

    async def _write(self, statement: str, values: Sequence[Any]) -> None:
        with storage_errors(self.path):
            await self.setup()
            await self._writes.write(statement, values)

    async def _execute(self, *statements: str, **values: str | int) -> None:
        """Carry out statements, all of them or none."""
        with storage_errors(self.path):
            async with self.lock:
                try:
                    await self.conn.execute("BEGIN IMMEDIATE")
                    for statement in statements:
                        await self.conn.execute(statement, values)
                    await self.conn.execute("COMMIT")
                except BaseException:
                    # What a failed or cancelled call left open would lock every other process out.
                    await self.conn.rollback()
                    raise


class StorySqliteStore(AsyncSqliteStore):
    """Keep the story log in SQLite, each batch all or nothing; faults of the disk arrive as StorageError."""

    def __init__(self, conn: aiosqlite.Connection, path: Path) -> None:
        super().__init__(conn, deserializer=value_of)
        self.path = path
        self._file = path.stat().st_ino if path.exists() else 0

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: what is read as each row stands, and what is written all or nothing."""
        ops = list(ops)
        writing = any(isinstance(op, PutOp) for op in ops)
        # LangGraph writes all new rows in one statement; FetchingCursor refuses a second one where there is no transaction.
        single = len(ops) == 1 or all(isinstance(op, PutOp) and op.value is not None for op in ops)
        reading = all(isinstance(op, GetOp) for op in ops)
        token = _begin.set("" if single or reading else "BEGIN IMMEDIATE" if writing else "BEGIN")
        try:
            with storage_errors(self.path):
                if writing and self.path.stat().st_ino != self._file:
                    # A file that was deleted or moved away takes what is written to it, and nobody sees it again.
                    raise StorageError(
                        f"{self.path} was replaced while it was open: end this program, and start it again."
                    )
                return await super().abatch(ops)
        finally:
            _begin.reset(token)

    async def compact(self) -> None:
        """Give the space of what was erased back to the disk, and delete the copies made by themselves, which hold it still."""
        with storage_errors(self.path):
            await asyncio.to_thread(forget_copies, self.path)
            async with self.lock:
                await self.conn.execute("VACUUM")

    @asynccontextmanager
    async def _cursor(self, *, transaction: bool = True) -> AsyncIterator[FetchingCursor]:  # type: ignore[override]
        # The parent commits half a batch after an error, and begins without the write lock: a batch that reads and
        # then writes would fail at once, without waiting, whenever another process had written in between.
        if not self.is_setup:
            await self.setup()
        begin = _begin.get() if transaction else ""
        async with self.lock:
            try:
                if begin:
                    await self.conn.execute(begin)
                yield FetchingCursor(self.conn, alone=transaction and not begin)
                if begin:
                    await self.conn.execute("COMMIT")
            except BaseException:
                await self.conn.rollback()
                raise


class FetchingCursor:
    """A cursor that fetches rows in the same call of the connection's thread that carries out their statement."""

    rowcount = -1

    def __init__(self, conn: aiosqlite.Connection, *, alone: bool = False) -> None:
        self._conn, self._alone, self._wrote = conn, alone, False
        self._rows: list[Any] = []

    async def execute(self, statement: str, values: Iterable[Any] = ()) -> None:
        """Carry out a statement, and fetch its rows; `alone`, it is the only one that may write."""
        if self._alone and not statement.lstrip().startswith("SELECT"):
            if self._wrote:
                raise RuntimeError(
                    "A second statement writes where there is no transaction: half of a batch could be lost."
                )
            self._wrote = True
        stored = [deflated(value) if isinstance(value, bytes) else value for value in values]
        self._rows = list(await self._conn.execute_fetchall(statement, stored))

    async def fetchall(self) -> list[Any]:
        """Return the rows of the last statement."""
        return self._rows


@asynccontextmanager
async def open_sqlite(folder: Path) -> AsyncIterator[Persistence]:
    """Open `stories.db` and `checkpoints.db` in `folder`, creating what is missing.

    Raises StorageError for a folder or file that cannot be used, and leaves it as it was.
    """
    async with _open_store(folder) as opened_store, _open_saver(folder) as opened_saver:
        yield Persistence(opened_saver, opened_store, f"SQLite in {folder}", erased=opened_store.compact)


@asynccontextmanager
async def open_sqlite_to_read(folder: Path) -> AsyncIterator[Persistence]:
    """Open the databases of `folder` to read alone: without a lock, and without a byte written, on a full or read-only disk too.

    One that is missing counts as empty. Raises StorageError for a file that cannot be read.
    """
    stories, checkpoints = folder / STORIES, folder / CHECKPOINTS
    async with _reading(stories) as store_conn:
        store = StorySqliteStore(store_conn, stories)
        async with batching(store), _reading(checkpoints) as saver_conn:
            with storage_errors(stories):
                await store.setup()
            saver = RetainingSqliteSaver(saver_conn, checkpoints)
            # Its own setup would write; a database in memory has no tables yet.
            saver.is_setup = await _number(saver_conn, "SELECT count(*) FROM sqlite_master WHERE name = 'writes'") > 0
            yield Persistence(saver, store, f"SQLite in {folder}, to read")


@asynccontextmanager
async def _reading(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    exists = await asyncio.to_thread(is_there, path)
    with readable(path) if exists else nullcontext("file::memory:") as address, storage_errors(path):
        conn = await aiosqlite.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
        try:
            await _refuse_foreign(conn, path)
            yield conn
        finally:
            await conn.close()


@asynccontextmanager
async def saver() -> AsyncIterator[RetainingSqliteSaver]:
    """Open the checkpoints of the user's folder, for langgraph.json."""
    async with _open_saver(home()) as opened:
        yield opened


@asynccontextmanager
async def store() -> AsyncIterator[StorySqliteStore]:
    """Open the story log of the user's folder, for langgraph.json."""
    async with _open_store(home()) as opened:
        yield opened


@asynccontextmanager
async def _open_saver(folder: Path) -> AsyncIterator[RetainingSqliteSaver]:
    path = folder / CHECKPOINTS
    # NORMAL: a commit is in the system's hands when it returns, so kill -9 cannot lose it. Only a power cut can,
    # and then the log still has every passage.
    async with _connection(path) as conn:
        opened = RetainingSqliteSaver(conn, path)
        async with _prepared(conn, path, synchronous="NORMAL"):
            await opened.setup()
        yield opened


@asynccontextmanager
async def _open_store(folder: Path) -> AsyncIterator[StorySqliteStore]:
    path = folder / STORIES
    # FULL: a passage is a minute of a model or the work of a person, and one flush each is milliseconds.
    async with _connection(path) as conn:
        opened = StorySqliteStore(conn, path)
        async with batching(opened):
            async with _prepared(conn, path, synchronous="FULL"):
                await opened.setup()
            yield opened


@asynccontextmanager
async def _connection(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    with storage_errors(path):
        await asyncio.to_thread(_try_opening, path)
        conn = await aiosqlite.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        yield conn
    finally:
        await conn.close()


def _try_opening(path: Path) -> None:
    """Make the folder and the file, or fail here: in aiosqlite a failure leaves a thread that may outlive the loop."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # For its owner alone; SQLite gives the files beside it the same permissions.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    sqlite3.connect(path).close()


@asynccontextmanager
async def _prepared(
    conn: aiosqlite.Connection, path: Path, *, synchronous: Literal["NORMAL", "FULL"]
) -> AsyncIterator[None]:
    """Check whose database this is, stamp a new one, and hold off other processes while the caller makes its tables."""
    with storage_errors(path):
        # Two processes that start together would both run the store's migrations, and one of them would fail.
        async with AsyncFileLock(path.with_suffix(".lock")):
            version = await _refuse_foreign(conn, path)
            if path.name == STORIES and version:
                if version < SCHEMA_VERSION:
                    await asyncio.to_thread(copy_before_migration, path)
                    await asyncio.to_thread(migrate, path)
                await asyncio.to_thread(copy_now_and_then, path)
            await conn.execute("PRAGMA journal_mode = WAL")
            await conn.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
            await conn.execute(f"PRAGMA synchronous = {synchronous}")
            # What is erased shall not stand in free pages, for ever and for whoever salvages them.
            await conn.execute("PRAGMA secure_delete = ON")
            # Even where nothing changes, taking the write lock finds a read-only file now rather than mid-story.
            await conn.execute("BEGIN IMMEDIATE")
            await conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            await conn.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            await conn.commit()
            yield


async def _refuse_foreign(conn: aiosqlite.Connection, path: Path) -> int:
    """Return the version of a database, 0 for a new one; raise StorageError for one of another program or a newer version."""
    application = await _number(conn, "PRAGMA application_id")
    version = await _number(conn, "PRAGMA user_version")
    is_new = application == 0 and await _number(conn, "SELECT count(*) FROM sqlite_master") == 0
    if not is_new:
        refuse_foreign(application, version, path)
    return version


async def _number(conn: aiosqlite.Connection, query: str) -> int:
    async with conn.execute(query) as cursor:
        row = await cursor.fetchone()
    return int(row[0]) if row else 0
