"""After which passage a run ends, and with which the story does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import StateError

if TYPE_CHECKING:
    from recurrentgpt.schema.state import State


def last_step(state: State, context: Context) -> int:
    """Return the passage after which this run ends; 0 for no end."""
    until = state.get("until", 0)
    if not isinstance(until, int):
        # An update of the state runs the edges, before any node has looked at it.
        raise StateError("The state's `until` cannot be used: it is the number of a passage, 0 for no end.")
    return context.last_step or until


def final_step(state: State, context: Context, step: int) -> int:
    """Return the passage with which the story ends, as passage `step` is told; 0 for an open end.

    A story that goes on after its last passage is open again.
    """
    if context.length and step <= context.length:
        return context.length
    return last_step(state, context) if context.ending else 0
