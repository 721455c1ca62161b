"""What model calls cost."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recurrentgpt.schema.errors import BudgetReached
from recurrentgpt.schema.parts import Usage

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.messages.ai import UsageMetadata

CHARACTERS_PER_TOKEN = 4
"""Of English text, for calls whose usage the server never reported."""

MOST_TOKENS = 10**9
"""Most tokens of one call that are believed."""


def total_usage(parts: Iterable[Usage]) -> Usage:
    """Return the sum of several usages; of none, zeros."""
    total = Usage(calls=0, input_tokens=0, cached_tokens=0, output_tokens=0, resamples=0, seconds=0.0)
    for part in parts:
        total = Usage(
            calls=total["calls"] + part["calls"],
            input_tokens=total["input_tokens"] + part["input_tokens"],
            cached_tokens=total["cached_tokens"] + part["cached_tokens"],
            output_tokens=total["output_tokens"] + part["output_tokens"],
            resamples=total["resamples"] + part["resamples"],
            seconds=total["seconds"] + part["seconds"],
        )
    return total


def usage_left(whole: Usage, part: Usage) -> Usage:
    """Return what is left of a usage without a part of it."""
    return Usage(
        calls=whole["calls"] - part["calls"],
        input_tokens=whole["input_tokens"] - part["input_tokens"],
        cached_tokens=whole["cached_tokens"] - part["cached_tokens"],
        output_tokens=whole["output_tokens"] - part["output_tokens"],
        resamples=whole["resamples"] - part["resamples"],
        seconds=round(whole["seconds"] - part["seconds"], 3),
    )


def used_tokens(usage: Usage) -> int:
    """Return the tokens read and written together, as a budget counts them."""
    return usage["input_tokens"] + usage["output_tokens"]


@dataclass
class Tally:
    """What one attempt cost so far."""

    started: float = field(default_factory=time.monotonic)
    characters: int = 0
    """Of the reply."""
    reasoning: int = 0
    """Characters of reasoning, which a server counts among the tokens written."""
    usage: UsageMetadata | None = None
    finish_reason: str = ""


@dataclass
class Meter:
    """Accumulate what calls cost.

    A stream that is cut early reports no usage: its tokens are estimated from the characters sent and received, with
    nothing counted as cached. `estimated` counts such calls. The embedded server tells of the prompt beforehand, so of
    its streams only the words received are estimated.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    resamples: int = 0
    seconds: float = 0.0
    estimated: int = 0
    allowance: int | None = None
    """Most tokens, read and written, that these calls may use together; None for no limit."""
    needed: int = 0
    """What these calls may have used where there is an allowance, the longest reply counted in."""
    finish_reason: str = ""
    """Why the last reply ended: `stop`, `length` (the token limit) or another word of the server's, or empty if it was cut."""

    @property
    def usage(self) -> Usage:
        """Return the costs as the plain dictionary that the state carries."""
        return Usage(
            calls=self.calls,
            input_tokens=self.input_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.output_tokens,
            resamples=self.resamples,
            seconds=round(self.seconds, 3),
        )

    def reserve(self, sent: Sequence[BaseMessage], most: int) -> None:
        """Raise BudgetReached where a call with these messages and a reply of `most` tokens might pass the allowance."""
        if self.allowance is None:
            return
        needed = estimated_tokens(sent) + most
        self.needed = max(self.needed, self.input_tokens + self.output_tokens + needed)
        left = self.allowance - self.input_tokens - self.output_tokens
        if needed > left:
            raise BudgetReached(
                f"The budget of this run leaves {max(0, left):,} tokens to the next call, which may use {needed:,}: go on with a "
                "larger budget, or without one. Every finished passage is kept."
            )

    def add(self, tally: Tally, sent: Sequence[BaseMessage]) -> None:
        """Count one call that sent these messages."""
        self.calls += 1
        self.seconds += time.monotonic() - tally.started
        self.finish_reason = tally.finish_reason
        written = math.ceil((tally.characters + tally.reasoning) / CHARACTERS_PER_TOKEN)
        if tally.usage is None:
            self.estimated += 1
            self.input_tokens += estimated_tokens(sent)
            self.output_tokens += written
            return
        self.input_tokens += _believable(tally.usage["input_tokens"])
        self.output_tokens += _believable(tally.usage["output_tokens"]) or written
        self.cached_tokens += _believable((tally.usage.get("input_token_details") or {}).get("cache_read"))


def _believable(reported: int | None) -> int:
    """Return a number of tokens that a server reported, within what a call can use; no database keeps thirty digits."""
    return min(max(0, int(reported or 0)), MOST_TOKENS)


def estimated_tokens(messages: Sequence[BaseMessage]) -> int:
    """Return about how many tokens messages have."""
    return math.ceil(sum(len(message.text) for message in messages) / CHARACTERS_PER_TOKEN)
