"""Keep a model's reasoning out of its reply, and a reply within bounds of time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import TypeVar

from recurrentgpt.infrastructure.cancellation import end_if_cancelled
from recurrentgpt.prose.model_text import CHANNEL_MARK, PERHAPS_A_THOUGHT, THOUGHT_END, THOUGHTS
from recurrentgpt.schema.errors import ModelTooSlow

T = TypeVar("T")

REASONING_TIMEOUTS = 5
"""Timeouts that a model may reason for before its next word of the reply."""

CALL_TIMEOUTS = 20
"""Timeouts that a whole call may take."""


class ThinkTagFilter:
    """Take a model's reasoning (THOUGHTS) out of a stream, also where a mark of it is cut in two; what never ends is no reply."""

    def __init__(self, *, begun: bool = False) -> None:
        self.reasoning = 0
        """Characters of reasoning so far."""
        self.unopened = False
        """Whether reasoning ended that never began."""
        self._closing = THOUGHT_END if begun else None
        """What ends the reasoning that is under way."""
        self._replied = self._channels = False
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the part of the reply in the next piece; a piece that may be the beginning of a tag waits for the next."""
        self._held += text
        reply = ""
        while found := self._next_mark():
            mark, closing = found
            reply += self._take(mark.start())
            self._held = self._held[mark.end() - mark.start() :]
            self._closing = closing
            self._channels = self._channels or mark[0].startswith("<|")
        waiting = PERHAPS_A_THOUGHT.search(self._held)
        return self._begin(reply + self._take(waiting.start() if waiting else len(self._held)))

    def close(self) -> str:
        """Return what waited for the rest of a tag that never came."""
        return self._begin(self._take(len(self._held)))

    def _next_mark(self) -> tuple[re.Match[str], re.Pattern[str] | None] | None:
        """Return the next mark at which reasoning begins or ends, and what ends the reasoning after it, if there is any."""
        if self._closing is not None:
            mark = self._closing.search(self._held)
            return (mark, None) if mark else None
        opened = [(mark, closing) for opening, closing in THOUGHTS if (mark := opening.search(self._held))]
        return min(opened, key=lambda one: one[0].start(), default=None)

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        if self._closing is not None:
            self.reasoning += len(taken)
            return ""
        taken = CHANNEL_MARK.sub("", taken) if self._channels or "<|channel|>" in taken else taken
        self.unopened = self.unopened or THOUGHT_END.search(taken) is not None
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
        end_if_cancelled()
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
