"""An HTTP client that survives a change of event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import openai


class LoopClient(openai.DefaultAsyncHttpxClient):
    """Send each request through a client of the event loop that is running.

    A connection belongs to the loop that opened it, while chat models are cached for the process: a second
    `asyncio.run` would take a dead connection from the pool. Each loop gets its own pool, closed as that loop ends.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._options = options
        self._clients: dict[asyncio.AbstractEventLoop, openai.DefaultAsyncHttpxClient] = {}
        self._lifetimes: dict[asyncio.AbstractEventLoop, AsyncGenerator[None]] = {}

    async def send(self, request: Any, **options: Any) -> Any:
        """Send `request` through this loop's own pool of connections."""
        client = await self._of_this_loop()
        return await client.send(request, **options)

    async def aclose(self) -> None:
        """Close this loop's pool, and the unused one of this object."""
        if lifetime := self._lifetimes.pop(asyncio.get_running_loop(), None):
            await lifetime.aclose()
        await super().aclose()

    async def _of_this_loop(self) -> openai.DefaultAsyncHttpxClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            # Loading the certificates reads files, which is not for the loop's own thread.
            made = await asyncio.to_thread(lambda: openai.DefaultAsyncHttpxClient(**self._options))
            if self._clients.setdefault(loop, made) is made:
                self._lifetimes[loop] = self._close_with_loop(loop, made)
                await anext(self._lifetimes[loop])
        return self._clients[loop]

    async def _close_with_loop(
        self, loop: asyncio.AbstractEventLoop, client: openai.DefaultAsyncHttpxClient
    ) -> AsyncGenerator[None]:
        """Close `client` when the loop shuts down its asynchronous generators, the one farewell that a loop gives."""
        try:
            yield
        finally:
            self._clients.pop(loop, None)
            self._lifetimes.pop(loop, None)
            await client.aclose()
