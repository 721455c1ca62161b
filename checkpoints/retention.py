"""What both savers do beyond LangGraph's: old checkpoints go, ids rise whatever the clock says, runs and threads are managed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.base import id as checkpoint_ids

KEEP = 400
PRUNE_EVERY = 200

if TYPE_CHECKING:
    _Saver = BaseCheckpointSaver[str]
else:
    _Saver = object


class Retaining(_Saver):
    """Keep only the newest checkpoints of each thread and namespace; mixed into a saver of LangGraph, before it.

    Without it 10,000 story steps leave hundreds of megabytes. Faults of the place arrive as StorageError.
    """

    keep = KEEP
    prune_every = PRUNE_EVERY
    _puts: Counter[str]

    def faults(self) -> AbstractContextManager[None]:
        """Return what turns the faults of this saver's place into a StorageError."""
        raise NotImplementedError

    async def prune_thread(self, thread_id: str) -> None:
        """Delete all but the newest `keep` checkpoints of each namespace of a thread, and what only they used."""
        raise NotImplementedError

    async def newest_id(self, thread_id: str) -> str | None:
        """Return the greatest id of a thread's checkpoints, in all namespaces."""
        raise NotImplementedError

    def retain(self, keep: int, prune_every: int) -> None:
        """Set how many checkpoints stay, and after how many puts of a thread the others go."""
        self.keep, self.prune_every, self._puts = keep, prune_every, Counter()

    async def pruned_now_and_then(self, config: RunnableConfig) -> None:
        """Prune a thread at the first put of this process and then every `prune_every` puts; called at each put."""
        thread = str(config["configurable"]["thread_id"])
        # The first put counts too, or a program of a few steps, run again and again, would never prune.
        if self._puts[thread] % self.prune_every == 0:
            await self.prune_thread(thread)
        self._puts[thread] += 1

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint, and prune its thread now and then."""
        with self.faults():
            saved = await super().aput(config, checkpoint, metadata, new_versions)
            await self.pruned_now_and_then(config)
        return saved

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that `config` names, or the thread's newest."""
        with self.faults():
            newest = await self.newest_id(str(config["configurable"]["thread_id"]))
            if newest is not None:
                rise_above(newest)
            return await super().aget_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: Mapping[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, newest first; nothing else can be saved until the last one is taken."""
        with self.faults():
            async for item in super().alist(
                config, filter=dict(filter) if filter else None, before=before, limit=limit
            ):
                yield item

    async def prune_to_latest(self, thread_id: str) -> None:
        """Delete all but the newest checkpoint of each namespace of a thread."""
        raise NotImplementedError

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all checkpoints of threads (`delete`), or all but the newest of each namespace (`keep_latest`)."""
        if isinstance(thread_ids, str):
            raise TypeError("thread_ids is a sequence of thread ids and not one text.")
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"There is no pruning strategy {strategy!r}; keep_latest or delete.")
        for thread_id in thread_ids:
            with self.faults():
                await (self.adelete_thread if strategy == "delete" else self.prune_to_latest)(str(thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Prune as `aprune` does, from another thread than the saver's."""
        self._wait_for(self.aprune(thread_ids, strategy=strategy))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete as `adelete_for_runs` does, from another thread than the saver's."""
        self._wait_for(self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy as `acopy_thread` does, from another thread than the saver's."""
        self._wait_for(self.acopy_thread(source_thread_id, target_thread_id))

    def _wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        loop: asyncio.AbstractEventLoop = self.loop  # type: ignore[attr-defined]
        try:
            here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is loop:
            work.close()
            raise asyncio.InvalidStateError("This call would block the saver's own event loop: await its twin instead.")
        asyncio.run_coroutine_threadsafe(work, loop).result()


def rise_above(checkpoint_id: str) -> None:
    """Let every checkpoint that this process makes from now on have a greater id, also where its clock was set back.

    An id is its time, and the greatest id of a thread is taken for its newest checkpoint.
    """
    if UUID(checkpoint_id).version == 6:
        # A private name: LangGraph keeps ids rising by it, within one process.
        latest = checkpoint_ids._last_v6_timestamp or 0
        setattr(checkpoint_ids, "_last_v6_timestamp", max(latest, checkpoint_ids.UUID(hex=checkpoint_id).time))  # noqa: B010
