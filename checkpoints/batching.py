"""End the background task of LangGraph's batching stores, which they leave to the garbage collector."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.store.base.batch import AsyncBatchedBaseStore


@asynccontextmanager
async def batching(store: AsyncBatchedBaseStore) -> AsyncIterator[None]:
    """Let `store` work, and wait for its task to end afterwards.

    Left alone, the task may outlive the loop, and asyncio reports it as destroyed while pending.
    """
    try:
        yield
    finally:
        # A private name, as the class has no close(); the version is pinned by the constraints.
        task = store._task
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
