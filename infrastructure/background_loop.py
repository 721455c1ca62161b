"""One background event loop per process, in which the library's coroutines run whoever calls them.

Savers, stores and HTTP clients belong to the loop they were made in; with one loop for all of them, `Story` works the
same from scripts, notebooks, threads and other event loops, and never blocks any of those.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from recurrentgpt.infrastructure.event_loop import new_event_loop

T = TypeVar("T")

PATIENCE, TIMES_TOLD = 10.0, 2
"""Seconds to wait for work that was cancelled, before it is told again, and how often it is told."""

SIGNAL_SECONDS = 0.5
"""How long a signal may wait for its handler while nothing comes."""

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
    begun = _Begun(work)
    try:
        return begun.future.result()
    finally:
        begun.end()


async def acall(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function in the background loop without blocking this one; cancelling this cancels that first."""
    begun = _Begun(work)
    try:
        return await asyncio.wrap_future(begun.future)
    finally:
        if begun.cancel():
            await asyncio.to_thread(begun.end)


def iterate(source: Callable[[], AsyncGenerator[T]]) -> Iterator[T]:
    """Yield what an asynchronous generator yields in the background loop; closing this one cancels that one first."""
    items: queue.SimpleQueue[T | None] = queue.SimpleQueue()
    room, loop = asyncio.Semaphore(AHEAD), _background()
    begun = _Begun(lambda: _pump(source, items.put, room))
    try:
        while (item := _next_of(items)) is not None:
            loop.call_soon_threadsafe(room.release)
            yield item
        begun.future.result()
    finally:
        begun.end()


def _next_of(items: queue.SimpleQueue[T | None]) -> T | None:
    """Return the next item, and let handlers of signals run meanwhile: another thread may take one, which wakes nobody here."""
    while True:
        with suppress(queue.Empty):
            return items.get(timeout=SIGNAL_SECONDS)


async def aiterate(source: Callable[[], AsyncGenerator[T]]) -> AsyncIterator[T]:
    """Yield in this loop what an asynchronous generator yields in the background loop; closing cancels that one first."""
    here = asyncio.get_running_loop()
    items: asyncio.Queue[T | None] = asyncio.Queue()

    def put(item: T | None) -> None:
        with suppress(RuntimeError):  # this loop may be gone by the time the work is
            here.call_soon_threadsafe(items.put_nowait, item)

    room, loop = asyncio.Semaphore(AHEAD), _background()
    begun = _Begun(lambda: _pump(source, put, room))
    try:
        while (item := await items.get()) is not None:
            loop.call_soon_threadsafe(room.release)
            yield item
        await asyncio.wrap_future(begun.future)
    finally:
        # Here and not in the thread, which may have to wait for others.
        if begun.cancel():
            await asyncio.to_thread(begun.end)


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


class _Begun(Generic[T]):
    """Work in the background loop, in a copy of its caller's context, in which LangGraph keeps the run."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.future: Future[T] = Future()
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._let_go, self._told = threading.Event(), 0
        self._loop = _background()
        self._loop.call_soon_threadsafe(self._start)

    def cancel(self) -> bool:
        """Ask the work to end; return whether it had not."""
        if self._let_go.is_set():
            return False
        self._told += 1
        self.future.cancel()
        self._loop.call_soon_threadsafe(self._cancel)
        return True

    def end(self) -> None:
        """Cancel what still runs, and wait until it has let go of what it held."""
        if not self._told:
            self.cancel()
        # A cancellation can be lost in whatever the work waited for, and the work goes on.
        while not self._let_go.wait(PATIENCE) and self._told < TIMES_TOLD:
            self.cancel()

    def _start(self) -> None:
        # In a coroutine of its own, so that what the function itself raises reaches the caller too.
        self._task = self._loop.create_task(self._worked())
        self._task.add_done_callback(self._finish)

    async def _worked(self) -> T:
        return await self._work()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _finish(self, task: asyncio.Task[T]) -> None:
        self._let_go.set()
        error = None if task.cancelled() else task.exception()
        if not self.future.set_running_or_notify_cancel():
            return
        if error is not None:
            self.future.set_exception(error)
        elif task.cancelled():
            self.future.set_exception(asyncio.CancelledError())
        else:
            self.future.set_result(task.result())


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

    loop = new_event_loop()
    alive = loop.create_task(live())
    try:
        while not alive.done():
            # What a task raises to end a program ends the loop, too: it goes on for all others, and who waits for it is told.
            with suppress(KeyboardInterrupt, SystemExit):
                loop.run_until_complete(alive)
        loop.run_until_complete(_cancel_all(asyncio.all_tasks(loop)))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        # Not by asyncio.Runner, which ends the threads of `to_thread` from a new one: from Python 3.12 on none can be started
        # while the interpreter exits, and it has joined those threads by then.
        loop.close()


async def _cancel_all(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _forget() -> None:
    """Forget the loop of the process that this one was forked from: its thread is not here, and its lock may be held for ever."""
    global _lock, _running
    _lock, _running = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# Registered at import, hence run after everything that was opened in the loop has been closed in it.
@atexit.register
def _stop() -> None:
    global _running
    with _lock:
        if _running is not None:
            _running.loop.call_soon_threadsafe(_running.stopping.set)
            _running.thread.join(timeout=10)
        _running = None
