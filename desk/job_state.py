"""What every page of a story is told about the work in hand."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass
class Doing:
    """What a story's page shows of the work in hand."""

    busy: bool = False
    kind: str = ""
    """`write`, `retry`, `replan`, `edit`, `keep` or `import`."""
    stage: str = ""
    since: float = 0.0
    """When this stage began, in seconds since 1970."""
    step: int = 0
    plan: str = ""
    draft: str = ""
    """The words of the passage in the making, or of one that was interrupted."""
    asked: int = 0
    done: int = 0
    stopping: bool = False
    progress: dict[str, Any] | None = None
    """Bytes `done` of `total` while a model is fetched, and `what` happens."""
    replay: dict[str, int] | None = None
    error: str = ""
    note: str = ""
    revision: int = 0
    """Grows with whatever changes the story: a page that has another number reads it again."""


async def cancelled(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait until it has let go of the story."""
    if task.done():
        return
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
