"""Postgres persistence: the same two halves as SQLite, in one database, over one pool of connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import Op, Result

from recurrentgpt.checkpoints.batching import batching
from recurrentgpt.checkpoints.persistence import Persistence
from recurrentgpt.checkpoints.retention import KEEP, PRUNE_EVERY, Retaining
from recurrentgpt.schema.errors import MissingExtra, SettingsError, StorageError, StoryBusy

try:
    import psycopg
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.rows import DictRow, dict_row
    from psycopg_pool import AsyncConnectionPool

    from recurrentgpt.checkpoints.postgres_faults import storage_errors
except ImportError as error:
    raise MissingExtra(
        "A Postgres address is set, but its driver is not installed; install it with: "
        "pip install 'recurrentgpt[postgres]'"
    ) from error


CONNECT_SECONDS = 5
POOL_SECONDS = 10.0
SETUP_SECONDS = 60.0
_SETUP_LOCK = 0x52475054  # "RGPT"; any number that every process agrees on

Pool = AsyncConnectionPool[psycopg.AsyncConnection[DictRow]]

# The statements mirror those of SQLite: by age within a namespace, then subgraph calls whose root has gone.
_PRUNE_BY_AGE = """
DELETE FROM checkpoints c USING (
    SELECT checkpoint_ns, checkpoint_id,
           row_number() OVER (PARTITION BY checkpoint_ns ORDER BY checkpoint_id COLLATE "C" DESC) AS age
    FROM checkpoints WHERE thread_id = %(thread)s
) aged
WHERE c.thread_id = %(thread)s AND c.checkpoint_ns = aged.checkpoint_ns AND c.checkpoint_id = aged.checkpoint_id
  AND aged.age > %(keep)s
"""
_PRUNE_CALLS = """
DELETE FROM checkpoints
WHERE thread_id = %(thread)s AND strpos(checkpoint_ns, ':') > 0 AND checkpoint_id COLLATE "C" < (
    SELECT min(checkpoint_id COLLATE "C") FROM checkpoints WHERE thread_id = %(thread)s AND checkpoint_ns = ''
)
RETURNING checkpoint_ns
"""
_PRUNE_WRITES = """
DELETE FROM checkpoint_writes w
WHERE thread_id = %(thread)s AND (
    checkpoint_id COLLATE "C" < (
        SELECT min(checkpoint_id COLLATE "C") FROM checkpoints c
        WHERE c.thread_id = %(thread)s AND c.checkpoint_ns = w.checkpoint_ns
    ) OR strpos(checkpoint_ns, ':') > 0 AND checkpoint_id COLLATE "C" < (
        SELECT min(checkpoint_id COLLATE "C") FROM checkpoints WHERE thread_id = %(thread)s AND checkpoint_ns = ''
    )
)
"""
# A version is a zero-padded counter, so what is older than the oldest version in use is in no kept checkpoint, and a
# blob that is saved just before its checkpoint is newer and stays.
_PRUNE_BLOBS = """
DELETE FROM checkpoint_blobs b USING (
    SELECT c.checkpoint_ns, v.key AS channel, min(v.value COLLATE "C") AS oldest
    FROM checkpoints c CROSS JOIN LATERAL jsonb_each_text(c.checkpoint -> 'channel_versions') v
    WHERE c.thread_id = %(thread)s GROUP BY c.checkpoint_ns, v.key
) used
WHERE b.thread_id = %(thread)s AND b.checkpoint_ns = used.checkpoint_ns AND b.channel = used.channel
  AND b.version COLLATE "C" < used.oldest
"""
_PRUNE_CALL_BLOBS = """
DELETE FROM checkpoint_blobs b
WHERE thread_id = %(thread)s AND checkpoint_ns = ANY(%(gone)s) AND NOT EXISTS (
    SELECT 1 FROM checkpoints c WHERE c.thread_id = %(thread)s AND c.checkpoint_ns = b.checkpoint_ns
)
"""


# What is left of a thread is what it was before the runs: of what they wrote on an older checkpoint, only its question stays.
_DELETE_RUNS = (
    """
DELETE FROM checkpoint_writes w USING checkpoints c
WHERE c.metadata ->> 'run_id' = ANY(%(runs)s) AND w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns
  AND (w.checkpoint_id = c.checkpoint_id OR w.checkpoint_id = c.parent_checkpoint_id AND w.channel != '__interrupt__')
""",
    "DELETE FROM checkpoints WHERE metadata ->> 'run_id' = ANY(%(runs)s)",
)
_COPY = (
    """
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
SELECT %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
FROM checkpoints WHERE thread_id = %(source)s ON CONFLICT DO NOTHING
""",
    """
INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
SELECT %(target)s, checkpoint_ns, channel, version, type, blob
FROM checkpoint_blobs WHERE thread_id = %(source)s ON CONFLICT DO NOTHING
""",
    """
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob)
SELECT %(target)s, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
FROM checkpoint_writes WHERE thread_id = %(source)s ON CONFLICT DO NOTHING
""",
)


class RetainingPostgresSaver(Retaining, AsyncPostgresSaver):
    """Save checkpoints and keep only the newest."""

    def __init__(self, pool: Pool, place: str, *, keep: int = KEEP, prune_every: int = PRUNE_EVERY) -> None:
        super().__init__(pool)
        self.place = place
        self.retain(keep, prune_every)

    def faults(self) -> AbstractContextManager[None]:
        """Return what turns the faults of the server into a StorageError."""
        return storage_errors(self.place)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what one task wrote."""
        with storage_errors(self.place):
            await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread's checkpoints, writes and blobs."""
        with storage_errors(self.place):
            await super().adelete_thread(thread_id)

    async def prune_thread(self, thread_id: str) -> None:
        """Delete all but the newest `keep` checkpoints of each namespace of a thread, and what only they used."""
        values: dict[str, Any] = {"thread": thread_id, "keep": self.keep}
        async with self._cursor() as cur, cur.connection.transaction():
            # Two prunes of one thread would deadlock; whoever comes second has nothing left to do.
            await cur.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%(thread)s, 0)) AS mine", values)
            row = await cur.fetchone()
            if row is None or not row["mine"]:
                return
            await cur.execute(_PRUNE_BY_AGE, values)
            await cur.execute(_PRUNE_CALLS, values)
            values["gone"] = sorted({row["checkpoint_ns"] for row in await cur.fetchall()})
            for statement in (_PRUNE_WRITES, _PRUNE_BLOBS, _PRUNE_CALL_BLOBS):
                await cur.execute(statement, values)

    async def prune_to_latest(self, thread_id: str) -> None:
        """Delete all but the newest checkpoint of each namespace of a thread, and what only they used."""
        await AsyncPostgresSaver.aprune(self, [thread_id], strategy="keep_latest")

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what runs saved, so that their threads are as before them."""
        await self._execute(*_DELETE_RUNS, runs=[str(run) for run in run_ids])

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy every checkpoint of a thread, and what belongs to it, to another thread."""
        await self._execute(*_COPY, source=str(source_thread_id), target=str(target_thread_id))

    async def newest_id(self, thread_id: str) -> str | None:
        """Return the greatest id of a thread's checkpoints."""
        async with self._cursor() as cur:
            await cur.execute(
                'SELECT max(checkpoint_id COLLATE "C") AS newest FROM checkpoints WHERE thread_id = %s', (thread_id,)
            )
            row = await cur.fetchone()
        return row["newest"] if row else None

    async def _execute(self, *statements: str, **values: str | list[str]) -> None:
        with storage_errors(self.place):
            async with self._cursor() as cur, cur.connection.transaction():
                for statement in statements:
                    await cur.execute(statement.encode(), values)


class StoryPostgresStore(AsyncPostgresStore):
    """Keep the story log in Postgres; server faults arrive as StorageError."""

    def __init__(self, pool: Pool, place: str) -> None:
        super().__init__(pool)
        self.place = place

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in order."""
        with storage_errors(self.place):
            return await super().abatch(ops)


class StoryLocks:
    """One writer per story among all machines: advisory locks of a connection of their own, gone with the process."""

    def __init__(self, url: str, place: str) -> None:
        self._url, self._place, self._opening = url, place, asyncio.Lock()
        self._conn: psycopg.AsyncConnection[Any] | None = None

    @asynccontextmanager
    async def holding(self, story: str) -> AsyncIterator[None]:
        """Hold the right to write `story`; raise StoryBusy where another machine holds it."""
        with storage_errors(self._place):
            conn = await self._connection()
            cursor = await conn.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, %s))", (story, _SETUP_LOCK))
            row = await cursor.fetchone()
        if not row or not row[0]:
            raise StoryBusy(
                f"Story {story} is being written on another machine: wait until it is done there, and try again."
            )
        try:
            yield
        finally:
            # A connection that has gone has let go of all it held.
            with suppress(psycopg.Error):
                await conn.execute("SELECT pg_advisory_unlock(hashtextextended(%s, %s))", (story, _SETUP_LOCK))

    async def _connection(self) -> psycopg.AsyncConnection[Any]:
        async with self._opening:
            if self._conn is None or self._conn.closed:
                self._conn = await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, connect_timeout=CONNECT_SECONDS
                )
            return self._conn

    async def close(self) -> None:
        """Close the connection, and with it let go of every story."""
        if self._conn is not None:
            await self._conn.close()


@asynccontextmanager
async def open_postgres(url: str) -> AsyncIterator[Persistence]:
    """Open the saver and the store of a Postgres database, creating their tables when they are missing.

    Raises SettingsError for an address that cannot be read and StorageError, within seconds, for a server that
    cannot be used. Neither repeats the password.
    """
    place = _describe(url)
    # Autocommit and these rows are what the saver and the store expect; the check spares a long story the connections
    # that died with a restarted server.
    pool: Pool = AsyncConnectionPool(
        url,
        open=False,
        min_size=1,
        max_size=4,  # the saver uses one at a time, the store one per batch under way; more would wait their turn
        timeout=POOL_SECONDS,
        check=AsyncConnectionPool.check_connection,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": dict_row,
            "connect_timeout": CONNECT_SECONDS,
        },
    )
    try:
        async with AsyncExitStack() as stack:
            with storage_errors(place):
                # A pool retries in the background and logs each failure; one plain connection fails at once and quietly.
                connecting = psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS)
                async with await connecting as conn:
                    await _take_setup_lock(conn, place)
                    await pool.open(wait=True, timeout=POOL_SECONDS)
                    saver = RetainingPostgresSaver(pool, place)
                    store = StoryPostgresStore(pool, place)
                    await stack.enter_async_context(batching(store))
                    await saver.setup()
                    await store.setup()
            locks = StoryLocks(url, place)
            stack.push_async_callback(locks.close)
            yield Persistence(saver, store, place, locks.holding)
    finally:
        await pool.close()


async def _take_setup_lock(conn: psycopg.AsyncConnection[Any], place: str) -> None:
    """Take turns with other processes at making tables; the lock goes when the connection does.

    It asks again and again instead of waiting inside Postgres, since the migrations build indexes concurrently and
    that waits for every open statement: the two waits would be a deadlock.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SETUP_SECONDS
    while True:
        cursor = await conn.execute("SELECT pg_try_advisory_lock(%s)", (_SETUP_LOCK,))
        row = await cursor.fetchone()
        if row and row[0]:
            return
        if loop.time() > deadline:
            raise StorageError(f"{place} cannot be used: another process is still making its tables; end it first.")
        await asyncio.sleep(0.05)


def _describe(url: str) -> str:
    """Return "Postgres at host/dbname" for a URL; raise SettingsError, without quoting it, when it cannot be read."""
    try:
        parts = conninfo_to_dict(url)
        host, port, database = (str(parts.get(key) or "") for key in ("host", "port", "dbname"))
        readable = port.replace(",", "").isdigit() or not port
    except psycopg.ProgrammingError:
        readable, host, port, database = False, "", "", ""
    # A password with a bare "/" or "@" is read as a port, host or database; those must not be shown then.
    if not readable or "@" in host + database:
        raise SettingsError(
            "The database URL cannot be read; write RECURRENTGPT_DATABASE_URL as "
            "postgresql://user:password@host/database, with special characters percent-encoded."
        )
    return f"Postgres at {host or 'localhost'}{port and ':' + port}/{database or parts.get('user') or ''}"
