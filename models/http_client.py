"""An HTTP client that survives a change of event loop, stays at the address it was given, and bounds what it reads."""

from __future__ import annotations

import asyncio
import importlib
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from functools import cache
from typing import Any, cast
from urllib.parse import urlsplit

import openai

from recurrentgpt.infrastructure.cancellation import end_if_cancelled
from recurrentgpt.schema.errors import ModelUnavailable

_AsyncClient = next(base for base in openai.DefaultAsyncHttpxClient.__mro__ if base.__name__ == "AsyncClient")
http: Any = importlib.import_module(_AsyncClient.__module__.partition(".")[0])
"""The HTTP library of the installed OpenAI client: httpx, or its successor httpx2."""

MOST_BYTES = 64_000_000
"""Bytes of one reply: a hundred times the longest, with all that a stream puts around its words."""

MOST_REDIRECTS = 5

_AS_IT_IS = {"accept-encoding": "identity"}
"""No compression: a few bytes of it may stand for any number, which the limit could not see."""


@cache
def trusted_certificates(trust_env: bool) -> ssl.SSLContext:
    """Return what every client of this process checks servers by; reading it takes 20 ms, and each would read it three times."""
    return cast(ssl.SSLContext, http.create_ssl_context(trust_env=trust_env))


def limits_for(address: str | None) -> Any:
    """Return how many connections to an address are made and kept: none is kept where a new one costs nothing.

    llama.cpp's server promises to keep a connection and closes it after each stream: a call that takes it before the close
    has arrived gets no answer, as if the server had died. Over TLS, where a connection costs two round trips, they are kept.
    """
    usual = openai.DEFAULT_CONNECTION_LIMITS
    if urlsplit(address or "").scheme != "http":
        return usual
    return http.Limits(max_connections=usual.max_connections, max_keepalive_connections=0)


class LoopClient(openai.DefaultAsyncHttpxClient):
    """Send each request through a client of the event loop that is running.

    A connection belongs to the loop that opened it, while chat models are cached for the process: a second
    `asyncio.run` would take a dead connection from the pool. Each loop gets its own pool, closed as that loop ends.
    """

    def __init__(self, **options: Any) -> None:
        self._options = {"verify": trusted_certificates(options.get("trust_env", True)), **options}
        super().__init__(**self._options, headers=_AS_IT_IS)
        self._clients: dict[asyncio.AbstractEventLoop, openai.DefaultAsyncHttpxClient] = {}
        self._lifetimes: dict[asyncio.AbstractEventLoop, AsyncGenerator[None]] = {}

    async def send(self, request: Any, **options: Any) -> Any:
        """Send `request` through this loop's own pool of connections.

        A redirect is followed at the same address only, for a prompt goes to nobody who was not named; another is the
        response. Raises ModelUnavailable for a reply that is compressed; reading one that is too long raises it too.
        """
        client = await self._client_of_this_loop()
        request.extensions = {**request.extensions, "trace": _begins}
        options["follow_redirects"] = False
        response = await client.send(request, **options)
        for _ in range(MOST_REDIRECTS):
            following = response.next_request
            if following is None or _origin(following.url) != _origin(request.url):
                break
            await response.aclose()
            response = await client.send(following, **options)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise ModelUnavailable("The server sent a compressed reply, which nobody asked for: check OPENAI_BASE_URL.")
        if not response.is_stream_consumed and isinstance(response.stream, http.AsyncByteStream):
            response.stream = _BoundedStream(response.stream)
        return response

    async def aclose(self) -> None:
        """Close this loop's pool, and the unused one of this object."""
        if lifetime := self._lifetimes.pop(asyncio.get_running_loop(), None):
            await lifetime.aclose()
        await super().aclose()

    async def _client_of_this_loop(self) -> openai.DefaultAsyncHttpxClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            client = self._clients[loop] = openai.DefaultAsyncHttpxClient(**self._options)
            self._lifetimes[loop] = self._close_with_loop(loop, client)
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


class _BoundedStream(http.AsyncByteStream):  # type: ignore[misc]
    """The bytes of a response, up to the limit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for piece in self._stream:
            received += len(piece)
            if received > MOST_BYTES:
                raise ModelUnavailable(f"The server sent more than {MOST_BYTES / 1e6:g} MB for one reply; try again.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _begins(event: str, info: object) -> None:
    """Follow how a request goes: a connection that is made has lost who was cancelled meanwhile."""
    if event.endswith("send_request_headers.started"):
        end_if_cancelled()


def is_loopback(address: str | None) -> bool:
    """Tell whether an address is this machine's own: a proxy for the internet has no route there."""
    return urlsplit(address or "").hostname in ("127.0.0.1", "localhost", "::1")


def _origin(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
