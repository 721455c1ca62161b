"""Where stories are kept: an engine over the databases of a folder or a server, and the user's own, opened once."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from contextlib import AsyncExitStack
from pathlib import Path

from langgraph.store.base import BaseStore
from langgraph.types import RetryPolicy

from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.engine.engine import Engine
from recurrentgpt.graph.story import RETRY
from recurrentgpt.infrastructure import settings
from recurrentgpt.infrastructure.background_loop import call


async def open_engine(
    folder: str | Path | None = None,
    *,
    database_url: str | None = None,
    retry: RetryPolicy = RETRY,
    read_only: bool = False,
) -> Engine:
    """Open the stories in `folder` (default: the user's own) or behind `database_url`, with `read_only` to read alone."""
    place = Path(folder).expanduser() if folder else None  # noqa: ASYNC240 - it reads no disk
    async with AsyncExitStack() as stack:
        persistence = await stack.enter_async_context(open_persistence(database_url, place, read_only=read_only))
        stack.push_async_callback(_end_batching, persistence.store)
        engine = Engine(
            persistence.saver,
            persistence.store,
            locks=(place or settings.home()) / "locks",
            retry=retry,
            description=persistence.description,
            holding=persistence.holding,
            erased=persistence.erased,
        )
        engine.resources = stack.pop_all()
    _open.add(engine)
    return engine


async def _end_batching(store: BaseStore) -> None:
    """End the task of a store: LangGraph's cancel it only when they are collected, too late for the loop to end it quietly."""
    batching: asyncio.Task[None] | None = getattr(store, "_task", None)
    if batching is not None:
        batching.cancel()
        await asyncio.wait([batching])


_open: weakref.WeakSet[Engine] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what was left open, so that no database is abandoned in the middle of a write."""
    for engine in list(_open):
        call(engine.close)


_default: dict[tuple[str, str | None], Engine] = {}
_default_lock = threading.Lock()


def _forget() -> None:
    """Forget the engines of the process that this one was forked from: the threads of their databases are not here."""
    global _default_lock
    _default_lock = threading.Lock()
    _default.clear()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def default_engine() -> Engine:
    """Return the engine of the user's own stories, opened at the first call and closed with the process."""
    key = (str(settings.home()), settings.resolve("database_url").value)
    with _default_lock:
        if key not in _default:
            _default[key] = call(open_engine)
        return _default[key]
