"""What both savers do about checkpoints that nobody needs any more, and about faults of the place where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

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
