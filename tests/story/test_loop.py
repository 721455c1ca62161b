"""The bridge to the background loop: whoever stops waiting there waits until the work has let go of what it held."""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from recurrentgpt.infrastructure import background_loop as loop


class Work:
    """Something that holds a thing, works for ever, and takes a while to let go."""

    def __init__(self):
        self.started, self.freed = threading.Event(), False

    async def _let_go(self):
        for _ in range(10_000):
            await asyncio.sleep(0)
        self.freed = True

    async def run(self):
        try:
            self.started.set()
            await asyncio.Event().wait()
        finally:
            await self._let_go()

    async def items(self):
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            await self._let_go()


def test_results_and_errors_come_through():
    async def fine():
        return threading.current_thread().name

    async def wrong():
        raise ValueError("no")

    assert loop.call(fine) != threading.current_thread().name
    with pytest.raises(ValueError, match="no"):
        loop.call(wrong)


def test_a_function_that_fails_before_it_waits_tells_whoever_called():
    with pytest.raises(RuntimeError, match="own event loop"):
        loop.call(lambda: loop.call(asyncio.sleep))


def test_items_and_errors_come_through_in_order():
    async def numbers():
        yield 0
        yield 1
        raise ValueError("no")

    stream = loop.iterate(numbers)
    assert [next(stream), next(stream)] == [0, 1]
    with pytest.raises(ValueError, match="no"):
        next(stream)


async def test_awaited_items_and_errors_come_through_in_order():
    async def numbers():
        yield 0
        yield 1
        raise ValueError("no")

    found = []
    stream = loop.aiterate(numbers)
    found.append(await anext(stream))
    found.append(await anext(stream))
    with pytest.raises(ValueError, match="no"):
        await anext(stream)
    assert found == [0, 1]


def test_closing_waits():
    work = Work()
    stream = loop.iterate(work.items)
    assert next(stream) == 1
    stream.close()
    assert work.freed


async def test_closing_an_awaited_one_waits():
    work = Work()
    stream = loop.aiterate(work.items)
    assert await anext(stream) == 1
    await stream.aclose()
    assert work.freed


async def test_cancelling_waits():
    work = Work()
    task = asyncio.create_task(loop.acall(work.run))
    await asyncio.to_thread(work.started.wait)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert work.freed


async def test_cancelling_the_reader_of_a_stream_waits():
    work = Work()
    first = asyncio.Event()

    async def read():
        async with contextlib.aclosing(loop.aiterate(work.items)) as stream:
            async for _ in stream:
                first.set()

    task = asyncio.create_task(read())
    await first.wait()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert work.freed


def test_work_that_loses_a_cancellation_is_told_again(monkeypatch):
    monkeypatch.setattr(loop, "PATIENCE", 0.05)
    told = []

    async def deaf():
        while len(told) < 2:
            yield len(told)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append("once")
        raise asyncio.CancelledError

    stream = loop.iterate(deaf)
    assert next(stream) == 0
    stream.close()
    assert told == ["once", "once"]


async def test_work_is_cancelled_while_every_thread_waits_for_something():
    here, busy, gone = asyncio.get_running_loop(), threading.Event(), asyncio.Event()

    async def items():
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            here.call_soon_threadsafe(gone.set)

    here.set_default_executor(ThreadPoolExecutor(1))
    waiting = asyncio.create_task(asyncio.to_thread(busy.wait))
    stream = loop.aiterate(items)
    assert await anext(stream) == 1
    closing = asyncio.create_task(stream.aclose())
    await gone.wait()
    busy.set()
    await asyncio.gather(waiting, closing)


class Counter:
    """A source that is quicker than its reader, and remembers how far it came."""

    def __init__(self, most=10 * loop.AHEAD):
        self.most, self.made, self.closed = most, 0, False
        self.ahead = threading.Event()

    async def items(self):
        try:
            for number in range(self.most):
                self.made += 1
                if self.made > loop.AHEAD:
                    # Whatever could still run before the source waits has run after so many turns.
                    asyncio.get_running_loop().call_soon(self._later, 100)
                yield number
        finally:
            self.closed = True

    def _later(self, turns):
        if turns:
            asyncio.get_running_loop().call_soon(self._later, turns - 1)
        else:
            self.ahead.set()


def test_a_slow_reader_holds_the_source_back():
    source = Counter()
    stream = loop.iterate(source.items)
    first = next(stream)
    assert source.ahead.wait(10)
    assert source.made <= loop.AHEAD + 2
    assert [first, *stream] == list(range(source.most))


def test_closing_a_stream_that_is_held_back_ends_it():
    source = Counter()
    stream = loop.iterate(source.items)
    next(stream)
    assert source.ahead.wait(10)
    stream.close()
    assert source.closed
    assert source.made < source.most


async def test_a_slow_awaiting_reader_holds_the_source_back():
    source = Counter()
    stream = loop.aiterate(source.items)
    first = await anext(stream)
    assert await asyncio.to_thread(source.ahead.wait, 10)
    assert source.made <= loop.AHEAD + 2
    assert [first, *[item async for item in stream]] == list(range(source.most))


async def test_closing_an_awaited_stream_that_is_held_back_ends_it():
    source = Counter()
    stream = loop.aiterate(source.items)
    await anext(stream)
    assert await asyncio.to_thread(source.ahead.wait, 10)
    await stream.aclose()
    assert source.closed
    assert source.made < source.most


@pytest.mark.parametrize("ends", [SystemExit, KeyboardInterrupt])
def test_what_ends_a_program_reaches_who_waits_for_it_and_ends_no_other_work(ends):
    async def spent():
        raise ends("the budget is spent")

    async def within():
        return await asyncio.get_running_loop().create_task(spent())

    async def answer():
        return 7

    for work in (spent, within):
        with pytest.raises(ends, match="the budget is spent"):
            loop.call(work)
        assert loop.call(answer) == 7


_FORKED = """
import os
from recurrentgpt.infrastructure import background_loop as loop

async def answer():
    return 7

loop.call(answer)
child = os.fork()
if child == 0:
    os._exit(loop.call(answer))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), loop.call(answer))
"""


_FORKED_AND_WROTE = """
import os, sys
from recurrentgpt import Story
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel

def write(folder):
    with Library.open(folder) as library:
        told = {"model": ScriptedChatModel(), "embeddings": HashEmbeddings()}
        story = Story.new("mystery", "Mira tends a lamp.", library=library, selector="simulator", **told)
        return len([story.step() for _ in range(3)])

write(sys.argv[1] + "/parent")
child = os.fork()
if child == 0:
    os._exit(write(sys.argv[1] + "/child"))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


_FORKED_WITH_THE_USERS_OWN_STORIES = """
import os, sys
os.environ["RECURRENTGPT_HOME"] = sys.argv[1]
from recurrentgpt import Story
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel

def write():
    story = Story.new("mystery", "Mira tends a lamp.", model=ScriptedChatModel(), embeddings=HashEmbeddings())
    return story.step().step

write()
child = os.fork()
if child == 0:
    os._exit(write())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    ("script", "said"),
    [(_FORKED, "7 7"), (_FORKED_AND_WROTE, "3"), (_FORKED_WITH_THE_USERS_OWN_STORIES, "1")],
    ids=["loop", "recall", "library"],
)
def test_a_process_that_was_forked_has_a_loop_and_threads_of_its_own(tmp_path, script, said):
    """As workers of a server have that loads the application once and forks."""
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == f"{said}\n", done.stderr


_ENDS_AS_FROM_PYTHON_3_12 = """
import asyncio, atexit, threading
from recurrentgpt.infrastructure import background_loop

def refuse(*_):
    raise RuntimeError("can't create new thread at interpreter shutdown")

# Handlers run in the order last in, first out: this one before the loop's own.
atexit.register(lambda: setattr(threading.Thread, "start", refuse))

async def work():
    asyncio.get_running_loop().create_task(asyncio.Event().wait())
    return await asyncio.to_thread(lambda: 7)

print(background_loop.call(work))
"""


def test_a_program_ends_without_a_word_where_no_thread_can_be_started_any_more():
    command = [sys.executable, "-X", "dev", "-c", _ENDS_AS_FROM_PYTHON_3_12]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr) == ("7\n", "")
