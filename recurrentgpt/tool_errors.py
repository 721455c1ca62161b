"""What a failure says to a model that has tools and no shell."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from recurrentgpt.schema.errors import RecurrentGPTError, StoryBusy

_COMMAND = re.compile(r"`recurrentgpt (\w+)[^`]*`")
_OF_A_SHELL = re.compile(r"`recurrentgpt |(?<!\w)--[a-z]")


def without_commands(problem: RecurrentGPTError, tools: Mapping[str, str], elsewhere: str) -> str:
    """Return what a failure says to somebody who has `tools`, named by the commands that they stand for, and no shell.

    From the first command on that has no tool, advice is left out, and `elsewhere` says who can follow it.
    """
    if isinstance(problem, StoryBusy):
        return "This story is being written at this moment, by somebody else: wait until it is done, then try again."
    said = _COMMAND.sub(
        lambda found: f"the tool {tools[found[1]]}" if found[1] in tools else found[0],
        str(problem),
    )
    if _OF_A_SHELL.search(said) is None:
        return said
    parts = re.split(r"(?<=[.:;!?]) ", said)
    kept = list(itertools.takewhile(lambda part: _OF_A_SHELL.search(part) is None, parts))
    happened = " ".join(kept).rstrip(".:; ") or "This could not be done"
    return f"{happened}. {elsewhere}"
