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
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

AHEAD = 100
"""Items that an iterator's source may be ahead of a slow reader; then it waits until some of them are taken."""


@dataclass(frozen=True)
class _Background:
    """The running loop, its thread, and the event that ends both."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    stopping: asyncio.Event


_lock = threading.Lock()
_running: _Background | None = None


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
    room, loop = asyncio.Semaphore(AHEAD), _background()
    future, let_go = _begin(lambda: _pump(source, items.put, room))
    try:
        while (item := items.get()) is not None:
            loop.call_soon_threadsafe(room.release)
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

    room, loop = asyncio.Semaphore(AHEAD), _background()
    future, let_go = _begin(lambda: _pump(source, put, room))
    try:
        while (item := await items.get()) is not None:
            loop.call_soon_threadsafe(room.release)
            yield item
        await asyncio.wrap_future(future)
    finally:
        if not let_go.is_set():
            await asyncio.to_thread(_cancel, future, let_go)


async def _pump(
    source: Callable[[], AsyncGenerator[T]], put: Callable[[T | None], None], room: asyncio.Semaphore
) -> None:
    """Put what the source yields, as far as there is room; the None at the end needs none, so no reader waits for ever."""
    try:
        async with aclosing(source()) as found:
            async for item in found:
                await room.acquire()
                put(item)
    finally:
        put(None)


def _begin(work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[Future[T], threading.Event]:
    """Start work in the background loop; the event is set when it has ended, cancelled or not.

    The task runs in a copy of the caller's context, in which LangGraph keeps the run.
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


def _cancel(future: Future[Any], let_go: threading.Event) -> None:
    """Cancel what still runs in the background loop, and wait until it has let go of what it held."""
    if not let_go.is_set():
        future.cancel()
        let_go.wait(timeout=10)


def _background() -> asyncio.AbstractEventLoop:
    """Return the background loop, starting it at the first call; waiting for it from within is refused, as it never ends."""
    global _running
    with _lock:
        if _running is None:
            started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
            thread = threading.Thread(target=_serve, args=(started,), name="recurrentgpt", daemon=True)
            thread.start()
            loop, stopping = started.result()
            _running = _Background(loop, thread, stopping)
        if threading.current_thread() is _running.thread:
            raise RuntimeError("This call would block the library's own event loop: use the method that is awaited.")
        return _running.loop


def _serve(started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    async def live() -> None:
        stopping = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), stopping))
        await stopping.wait()

    # A runner cancels what is left and closes asynchronous generators when it ends.
    with asyncio.Runner() as runner:
        runner.run(live())


# Registered at import, hence run after everything that was opened in the loop has been closed in it.
@atexit.register
def _stop() -> None:
    global _running
    with _lock:
        if _running is not None:
            _running.loop.call_soon_threadsafe(_running.stopping.set)
            _running.thread.join(timeout=10)
        _running = None
