"""Cancellations that a library took for its own."""

from __future__ import annotations

import asyncio


def end_if_cancelled() -> None:
    """End the running task where somebody cancelled it and that was lost.

    An HTTP client connects in a scope that it cancels itself once it is there: a cancellation from outside in the same moment is
    taken for that one, and whoever asked for it would wait for the whole reply.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
