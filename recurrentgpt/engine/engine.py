"""What stories are read and written with: the log, the graphs of a timestep and of an edit, and the locks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore
from langgraph.types import RetryPolicy

from recurrentgpt.graph.rewrite import build_rewrite_graph
from recurrentgpt.graph.story import RETRY, build_story_graph
from recurrentgpt.infrastructure.lock import writing
from recurrentgpt.infrastructure.unsaved_texts import delete_unsaved
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.log import StoryRecord

logger = logging.getLogger(__name__)


async def end_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait until they have ended; one that ends already is not cancelled again: it has costs to tell."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        if not task.cancelling():
            task.cancel()
    if running:
        await asyncio.wait(running)


class Engine:
    """A saver, a store and the graphs over them, made once for all stories that are kept there.

    Used in the event loop in which its databases were opened. `retry` says how often a model's passing faults are tried
    again; `description` says where the stories are and carries no secret; `holding` and `erased` are those
    of `Persistence`.
    """

    def __init__(
        self,
        saver: BaseCheckpointSaver[Any],
        store: BaseStore,
        *,
        locks: Path | None = None,
        retry: RetryPolicy = RETRY,
        description: str = "",
        holding: Callable[[str], AbstractAsyncContextManager[None]] | None = None,
        erased: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.saver, self.retry, self.description = saver, retry, description
        self._holding, self._erased = holding, erased
        self.log = StoryLog(store)
        self.graph = build_story_graph(checkpointer=saver, store=store, retry=retry)
        self.rewrite_graph = partial(build_rewrite_graph, store=store, retry=retry)
        """Makes the graph that an edit runs for a passage; see `build_rewrite_graph`."""
        self.locks = locks
        """Folder of one lock file per story, so that two processes do not write the same one; None for no locks."""
        self.resources = AsyncExitStack()
        """What `close` lets go of."""
        self._aside: set[asyncio.Task[None]] = set()
        self._asked = 0

    def begin_aside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin work that nobody waits for; it ends as soon as the machine is needed for what somebody asked."""
        task = asyncio.create_task(work)
        self._aside.add(task)
        task.add_done_callback(self._ended_aside)
        return task

    def _ended_aside(self, task: asyncio.Task[None]) -> None:
        self._aside.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Nobody asked for it, so nobody is told but who reads the log.
            logger.warning("Work that nobody waited for failed: %s: %s", type(error).__name__, error)

    async def end_aside(self) -> None:
        """End the work that nobody waits for, of every story, and return when it has let go of the machine."""
        await end_tasks(self._aside)

    @property
    def asked(self) -> bool:
        """Whether somebody waits for work on any story."""
        return bool(self._asked)

    @asynccontextmanager
    async def foreground(self) -> AsyncIterator[None]:
        """Have the machine for what somebody waits for: what nobody waits for ends first."""
        self._asked += 1
        try:
            await self.end_aside()
            yield
        finally:
            self._asked -= 1

    @asynccontextmanager
    async def writing(self, story: str) -> AsyncIterator[None]:
        """Hold the right to write a story; raise StoryBusy where another process, object or machine holds it."""
        holding = self._holding(story) if self._holding else nullcontext()
        async with self.foreground(), writing(self.locks, story), holding:
            yield

    async def find(self, name: str) -> StoryRecord:
        """Return the story of this id, title, or unique beginning of one; raise StoryNotFound for none or several."""
        return await self.log.find_story(name)

    async def erase(self, story: str) -> None:
        """Delete every row and checkpoint of a story, and what was typed for it; raise StoryBusy where it is being written."""
        async with self.writing(story):
            # The log last: a story without checkpoints is whole, and checkpoints without a story would never be found.
            await self.saver.adelete_thread(story)
            await self.log.erase(story)
            if self._erased is not None:
                await self._erased()
            if self.locks is not None:
                await asyncio.to_thread(delete_unsaved, self.locks.parent, story)

    async def close(self) -> None:
        """Close the databases; a second call does nothing."""
        await self.end_aside()
        await self.resources.aclose()
