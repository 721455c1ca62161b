"""Write in one transaction what is asked for at about the same time.

A super-step saves what its tasks wrote and then its checkpoint, and stories side by side save theirs. Each call of the
connection's thread costs a tenth of a millisecond, and each transaction another.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any, cast

import aiosqlite

TURNS = 3
"""Turns of the event loop that a write waits for others: so many are between what a task wrote and the checkpoint after it."""

Write = tuple[str, Sequence[Any]]
"""A statement and its values."""


class GroupCommit:
    """Carry out writes on a connection in their order, all of a group or none; whoever asked waits until they are committed."""

    def __init__(self, conn: aiosqlite.Connection, lock: asyncio.Lock) -> None:
        self._conn, self._lock = conn, lock
        self._group: list[Write] = []
        self._committed: asyncio.Task[None] | None = None

    async def write(self, statement: str, values: Sequence[Any]) -> None:
        """Carry out a statement with those that come with it, and raise what any of them raises."""
        self._group.append((statement, values))
        if self._committed is None:
            self._committed = asyncio.create_task(self._commit())
        # One that is given up must not take the others along.
        await asyncio.shield(self._committed)

    async def _commit(self) -> None:
        for _ in range(TURNS):
            await asyncio.sleep(0)
        async with self._lock:
            group, self._group, self._committed = self._group, [], None
            # A private name: what is public takes one statement a call.
            await cast(Any, self._conn)._execute(_together, cast(Any, self._conn)._conn, group)


def _together(conn: sqlite3.Connection, group: Sequence[Write]) -> None:
    # SQLite writes a single statement whole or not at all without being told.
    if len(group) == 1:
        conn.execute(*group[0])
        return
    conn.execute("BEGIN IMMEDIATE")
    try:
        for write in group:
            conn.execute(*write)
        conn.execute("COMMIT")
    except BaseException:
        conn.rollback()
        raise
