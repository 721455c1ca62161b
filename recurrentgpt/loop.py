"""One background event loop per process, in which the library's coroutines run whoever calls them.

Savers, stores and HTTP clients belong to the loop they were made in; with one loop for all of them, `Story` works the
same from scripts, notebooks, threads and other event loops, and never blocks any of those.
"""

from __future__ import annotations

import asyncio
import atexit
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, aclosing, suppress
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")

_lock = threading.Lock()
_portal: BlockingPortal | None = None
_manager: AbstractContextManager[BlockingPortal] | None = None
_loop: asyncio.AbstractEventLoop | None = None


def portal() -> BlockingPortal:
    """Return the way into the background loop, starting it at the first call."""
    global _portal, _manager, _loop
    with _lock:
        if _portal is None:
            _manager = start_blocking_portal(name="recurrentgpt")
            _portal = _manager.__enter__()
            _loop = _portal.call(asyncio.get_running_loop)
        return _portal


def call(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function in the background loop and return its result; an interrupt cancels it there first."""
    future, let_go = _begin(work)
    try:
        return future.result()
    finally:
        _cancel(future, let_go)


async def acall(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function in the background loop without blocking this one; cancelling this cancels that first."""
    future, let_go = _begin(work)
    try:
        return await asyncio.wrap_future(future)
    finally:
        if not let_go.is_set():
            await asyncio.to_thread(_cancel, future, let_go)


def iterate(source: Callable[[], AsyncGenerator[T]]) -> Iterator[T]:
    """Yield what an asynchronous generator yields in the background loop; closing this one cancels that one first."""
    items: queue.SimpleQueue[T | None] = queue.SimpleQueue()
    future, let_go = _begin(lambda: _pump(source, items.put))
    try:
        while (item := items.get()) is not None:
            yield item
        future.result()
    finally:
        _cancel(future, let_go)


async def aiterate(source: Callable[[], AsyncGenerator[T]]) -> AsyncIterator[T]:
    """Yield in this loop what an asynchronous generator yields in the background loop; closing cancels that one first."""
    here = asyncio.get_running_loop()
    items: asyncio.Queue[T | None] = asyncio.Queue()

    def put(item: T | None) -> None:
        with suppress(RuntimeError):  # this loop may be gone by the time the work is
            here.call_soon_threadsafe(items.put_nowait, item)

    future, let_go = _begin(lambda: _pump(source, put))
    try:
        while (item := await items.get()) is not None:
            yield item
        await asyncio.wrap_future(future)
    finally:
        if not let_go.is_set():
            await asyncio.to_thread(_cancel, future, let_go)


async def _pump(source: Callable[[], AsyncGenerator[T]], put: Callable[[T | None], None]) -> None:
    try:
        async with aclosing(source()) as found:
            async for item in found:
                put(item)
    finally:
        put(None)


def _begin(work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[Future[T], threading.Event]:
    """Start work in the background loop; the event is set when it has ended, cancelled or not.

    Not by the portal: what it cancels may not await anything while it cleans up, and a rollback has to.
    """
    future: Future[T] = Future()
    let_go = threading.Event()
    loop = _background()

    def finish(task: asyncio.Task[T]) -> None:
        let_go.set()
        error = None if task.cancelled() else task.exception()
        if not future.set_running_or_notify_cancel():
            return
        if error is not None:
            future.set_exception(error)
        elif task.cancelled():
            future.set_exception(asyncio.CancelledError())
        else:
            future.set_result(task.result())

    def start() -> None:
        task = loop.create_task(work())
        task.add_done_callback(finish)
        future.add_done_callback(lambda done: loop.call_soon_threadsafe(task.cancel) if done.cancelled() else None)

    loop.call_soon_threadsafe(start)
    return future, let_go


def _background() -> asyncio.AbstractEventLoop:
    """Return the background loop; waiting for it from within would wait for ever, and is refused."""
    portal()
    assert _loop is not None
    if asyncio._get_running_loop() is _loop:
        raise RuntimeError("This call would block the library's own event loop: use the method that is awaited.")
    return _loop


def _cancel(future: Future[Any], let_go: threading.Event) -> None:
    """Cancel what still runs in the background loop, and wait until it has let go of what it held."""
    if not let_go.is_set():
        future.cancel()
        let_go.wait(timeout=10)


# Registered at import, hence run after everything that was opened in the loop has been closed in it.
@atexit.register
def _stop() -> None:
    global _portal, _manager, _loop
    with _lock:
        if _portal is not None and _manager is not None:
            _portal.call(_portal.stop, True)
            _manager.__exit__(None, None, None)
        _portal = _manager = _loop = None
