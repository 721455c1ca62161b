"""The event loop of our own threads, servers and measurements: uvloop's, where there is one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a loop that runs nothing yet: uvloop's, in which a step computes a seventh less; Windows lacks it."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, in a loop of its own."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
