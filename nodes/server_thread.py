"""Name a server's thread after its story, so that lists of threads, such as Studio's, can be read.

A thread's metadata are the server's, and no field of a state or a run leads there. LangGraph's server takes them from a
graph that runs in it by the SDK's client without an address, which reaches the server's own routes within the process.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

logger = logging.getLogger(__name__)


def thread_of(config: Mapping[str, Any]) -> str:
    """Return the id of the thread in which LangGraph's server runs this graph; empty elsewhere, and within another graph."""
    about = config.get("configurable", {})
    served = "langgraph_api.server" in sys.modules and "assistant_id" in about
    return str(about.get("thread_id", "")) if served and "|" not in about.get("checkpoint_ns", "") else ""


async def name_thread(thread: str, story: str, title: str) -> None:
    """Keep a story's id and title in the metadata of the server's thread; what else they hold stays."""
    import httpx
    from langgraph_sdk import get_client

    try:
        async with get_client() as client:
            await client.threads.update(thread, metadata={"story": story, "title": title})
    except httpx.HTTPError as error:
        # A list that is harder to read is no reason to end a story; the thread of a stateless run may be gone.
        logger.warning("The server's thread %s was not named after its story: %s", thread, type(error).__name__)
