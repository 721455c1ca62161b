"""One background event loop per process, in which the library's coroutines run whoever calls them.

Savers, stores and HTTP clients belong to the loop they were made in; with one loop for all of them, `Story` works the
same from scripts, notebooks, threads and other event loops, and never blocks any of those.
"""

from __future__ import annotations

import asyncio
import atexit
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, aclosing, suppress
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")

_lock = threading.Lock()
_portal: BlockingPortal | None = None
_manager: AbstractContextManager[BlockingPortal] | None = None


def portal() -> BlockingPortal:
    """Return the way into the background loop, starting it at the first call."""
    global _portal, _manager
    with _lock:
        if _portal is None:
            _manager = start_blocking_portal(name="recurrentgpt")
            _portal = _manager.__enter__()
        return _portal


def call(work: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine function in the background loop and return its result; an interrupt cancels it there first."""
    let_go = threading.Event()

    async def run() -> T:
        try:
            return await work()
        finally:
            let_go.set()

    future = portal().start_task_soon(run)
    try:
        return future.result()
    finally:
        if not future.done():
            _cancel(future, let_go)


async def acall(work: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine function in the background loop without blocking this one; cancelling this cancels that first."""
    let_go = threading.Event()

    async def run() -> T:
        try:
            return await work()
        finally:
            let_go.set()

    future = portal().start_task_soon(run)
    try:
        return await asyncio.wrap_future(future)
    finally:
        if not let_go.is_set():
            await asyncio.to_thread(_cancel, future, let_go)


def iterate(source: Callable[[], AsyncGenerator[T]]) -> Iterator[T]:
    """Yield what an asynchronous generator yields in the background loop; closing this one cancels that one first."""
    items: queue.SimpleQueue[T | None] = queue.SimpleQueue()
    let_go = threading.Event()

    async def pump() -> None:
        try:
            async with aclosing(source()) as found:
                async for item in found:
                    items.put(item)
        finally:
            let_go.set()
            items.put(None)

    future = portal().start_task_soon(pump)
    try:
        while (item := items.get()) is not None:
            yield item
        future.result()
    finally:
        if not future.done():
            _cancel(future, let_go)


async def aiterate(source: Callable[[], AsyncGenerator[T]]) -> AsyncIterator[T]:
    """Yield in this loop what an asynchronous generator yields in the background loop."""
    here = asyncio.get_running_loop()
    items: asyncio.Queue[T | None] = asyncio.Queue()
    let_go = threading.Event()

    async def pump() -> None:
        try:
            async with aclosing(source()) as found:
                async for item in found:
                    here.call_soon_threadsafe(items.put_nowait, item)
        finally:
            let_go.set()
            with suppress(RuntimeError):  # the caller's loop may be gone
                here.call_soon_threadsafe(items.put_nowait, None)

    future = portal().start_task_soon(pump)
    try:
        while (item := await items.get()) is not None:
            yield item
        await asyncio.wrap_future(future)
    finally:
        if not let_go.is_set():
            await asyncio.to_thread(_cancel, future, let_go)


def _cancel(future: Future[Any], let_go: threading.Event) -> None:
    """Cancel work in the background loop, and wait until it has let go of what it held."""
    future.cancel()
    let_go.wait(timeout=10)


# Registered at import, hence run after everything that was opened in the loop has been closed in it.
@atexit.register
def _stop() -> None:
    global _portal, _manager
    with _lock:
        if _portal is not None and _manager is not None:
            _portal.call(_portal.stop, True)
            _manager.__exit__(None, None, None)
        _portal = _manager = None
