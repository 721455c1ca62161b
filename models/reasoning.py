"""Keep a model's reasoning out of its reply, and a reply within bounds of time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import TypeVar

from recurrentgpt.schema.errors import ModelTooSlow

T = TypeVar("T")

REASONING_TIMEOUTS = 5
"""Timeouts that a model may reason for before its next word of the reply."""

CALL_TIMEOUTS = 20
"""Timeouts that a whole call may take."""

_OPENING = re.compile(r"<think(?:ing)?>")
_CLOSING = re.compile(r"</think(?:ing)?>")
_PERHAPS_A_TAG = re.compile(r"</?[a-z]{0,8}$")


class ThinkTagFilter:
    """Take what stands between `<think>` and `</think>` out of a stream, also where a tag is cut in two."""

    def __init__(self) -> None:
        self.reasoning = 0
        """Characters of reasoning so far."""
        self.unopened = False
        """Whether reasoning ended that never began: a prompt template has written the first tag."""
        self._inside = self._replied = False
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the part of the reply in the next piece; a piece that may be the beginning of a tag waits for the next."""
        self._held += text
        reply = ""
        while match := (_CLOSING if self._inside else _OPENING).search(self._held):
            reply += self._take(match.start())
            self._held = self._held[match.end() - match.start() :]
            self._inside = not self._inside
        waiting = _PERHAPS_A_TAG.search(self._held)
        return self._begin(reply + self._take(waiting.start() if waiting else len(self._held)))

    def close(self) -> str:
        """Return what waited for the rest of a tag that never came."""
        return self._begin(self._take(len(self._held)))

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        if self._inside:
            self.reasoning += len(taken)
            return ""
        self.unopened = self.unopened or _CLOSING.search(taken) is not None
        return taken

    def _begin(self, reply: str) -> str:
        """Return the reply without the empty lines between the reasoning and its first word."""
        if self.reasoning and not self._replied:
            reply = reply.lstrip()
        self._replied = self._replied or bool(reply)
        return reply


class StreamClock:
    """Bound how long a stream is waited for: for anything of use, for reasoning alone, and in all.

    What counts is the time spent waiting for the server, and never the reader's own.
    """

    def __init__(self, model: str, timeout: float | None) -> None:
        self.model, self.timeout = model, timeout
        self._silent = self._reasoning = self._call = 0.0

    async def next(self, chunks: AsyncIterator[T]) -> T | None:
        """Return the next chunk, or None at the end.

        Raises TimeoutError for silence, and ModelTooSlow for what took many times as long.
        """
        if self.timeout is None:
            return await anext(chunks, None)
        now = asyncio.get_running_loop().time
        if self._call >= CALL_TIMEOUTS * self.timeout:
            raise ModelTooSlow(
                f"The reply of {self.model} did not end within {CALL_TIMEOUTS * self.timeout:g} seconds: try again, or raise "
                "the timeout of the run."
            )
        if self._reasoning >= REASONING_TIMEOUTS * self.timeout:
            raise ModelTooSlow(
                f"{self.model} reasoned for too long before it wrote a word: try again, raise the timeout of the run, or take "
                "a model that thinks less."
            )
        if self._silent >= self.timeout:
            raise TimeoutError
        began = now()
        async with asyncio.timeout(self.timeout - self._silent):
            chunk = await anext(chunks, None)
        waited = now() - began
        self._silent, self._reasoning, self._call = (
            self._silent + waited,
            self._reasoning + waited,
            self._call + waited,
        )
        return chunk

    def saw_reply(self) -> None:
        """Start anew to wait for words."""
        self._silent = self._reasoning = 0.0

    def saw_reasoning(self) -> None:
        """Start anew to wait for anything of use."""
        self._silent = 0.0
