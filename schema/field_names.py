"""Names that LangGraph drops without a word from an input or an update of a state, though they were meant for a story."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from recurrentgpt.schema.context import SETTINGS
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.state import State, StoryInput, StoryOutput

INPUT = tuple(StoryInput.__annotations__)
STATE = tuple(State.__annotations__)
_NEAR = 0.8
"""Likeness from which on a name is a misspelt one, by `difflib`."""


def refuse_lost_input(names: Iterable[str]) -> None:
    """Raise SettingsError for a name in a run's input that is a setting, a field of the state, or a misspelt field.

    Any other is a front end's own, and what a run returned may be sent back with the next one.
    """
    for name in names:
        if name in INPUT or name in StoryOutput.__annotations__:
            continue
        if name in STATE and name not in SETTINGS:
            raise SettingsError(
                f"`{name}` is a field of the state and not of an input, which has {', '.join(INPUT)}: edit it in the state of a "
                "thread whose story has begun."
            )
        _refuse(name, INPUT, "an input")


def refuse_lost_update(names: Iterable[str]) -> None:
    """Raise SettingsError for a name in an update of the state that is a setting or a misspelt field."""
    for name in names:
        if name not in STATE:
            _refuse(name, STATE, "the state")


def _refuse(name: str, fields: Iterable[str], where: str) -> None:
    if name in SETTINGS:
        raise SettingsError(f"`{name}` is a setting and no field of {where}: give it in the context of a run.")
    if near := difflib.get_close_matches(name, fields, n=1, cutoff=_NEAR):
        raise SettingsError(f"There is no field {name[:60]!r} in {where}; did you mean {near[0]}?")
