"""What somebody asked of the codex: made at once, or when what the desk is at work on has ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from recurrentgpt.story import Story

MOST_CHANGES = 20
"""Changes of the codex of one story that may wait."""

Do = Literal["add", "line", "alias", "rename", "merge", "pin", "hide", "remove"]


class AskedChange(TypedDict):
    """A change of an entry."""

    do: Do
    name: str
    """The entry's."""
    args: dict[str, Any]
    """What else the method of `Story` takes."""
    problem: str
    """Why it could not be made; empty where nothing is known against it."""


async def make_asked_change(story: Story, change: AskedChange) -> None:
    """Make a change of the codex; nothing may be writing the story."""
    methods: Mapping[Do, Callable[..., Awaitable[object]]] = {
        "add": story.aadd_entry,
        "line": story.aedit_entry,
        "alias": story.aalias_entry,
        "rename": story.arename_entry,
        "merge": story.amerge_entries,
        "pin": story.apin_entry,
        "hide": story.ahide_entry,
        "remove": story.aremove_entry,
    }
    await methods[change["do"]](change["name"], **change["args"])
