"""Read shares out of `usage`, as model servers report it."""

from __future__ import annotations

from recurrentgpt.schema.state import Usage


def uncached_share(usage: Usage) -> float:
    """Return the share of prompt tokens that no prefix cache held, 0 to 1."""
    if not usage["input_tokens"]:
        return 0.0
    return 1 - usage["cached_tokens"] / usage["input_tokens"]
