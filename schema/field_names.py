"""Names that LangGraph drops without a word from an input or an update of a state, though they were meant for a story."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from recurrentgpt.schema.context import SETTINGS
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.state import State, StoryInput, StoryOutput

INPUT = tuple(StoryInput.__annotations__)
STATE = tuple(State.__annotations__)
_NEAR = 0.85
"""Likeness from which on a name that begins alike is a misspelt one, by `difflib`."""
_WHOLE = frozenset(("head", "brief"))
"""Fields that nobody sends but with a whole state, as it was read."""


def refuse_lost_input(names: Iterable[str]) -> None:
    """Raise SettingsError for a name in a run's input that is a setting, a field of the state, or a misspelt field.

    Any other is a front end's own; what a run returned, and a state as it was read, may be sent back with the next one.
    """
    given = list(names)
    if _WHOLE.issubset(given):
        return
    for name in given:
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


def is_of_another_graph(names: Iterable[str]) -> bool:
    """Tell whether a name is none of ours, nor like one: where nobody says which graph is meant, it is not a story's."""
    return any(name not in {*STATE, *INPUT, *SETTINGS} and not _meant(name, (*INPUT, *STATE)) for name in names)


def _meant(name: str, fields: Iterable[str]) -> str:
    if swapped := next((field for field in fields if sorted(field) == sorted(name)), ""):
        return swapped
    near = difflib.get_close_matches(name, [field for field in fields if field[0] == name[:1]], n=1, cutoff=_NEAR)
    return near[0] if near else ""


def _refuse(name: str, fields: Iterable[str], where: str) -> None:
    if name in SETTINGS:
        raise SettingsError(f"`{name}` is a setting and no field of {where}: give it in the context of a run.")
    if meant := _meant(name, fields):
        raise SettingsError(f"There is no field {name[:60]!r} in {where}; did you mean {meant}?")
