"""Whom a prompt's worked examples tell of: a small model lets them walk into stories that do not know them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from langchain_core.messages import BaseMessage

from recurrentgpt.prompts.loader import Prompts

_PERSON = re.compile(r"(?:^- |\")([A-Z][\w'’-]+)(?: [A-Z][\w'’-]+)+: ", re.MULTILINE)
"""A line that says who somebody is, with a first and a last name."""


def fixed_turns(asked: Sequence[BaseMessage]) -> int:
    """Return how many turns a prompt begins with that are its worked examples, the same in every call of its kind."""
    return max((place for place, turn in enumerate(asked, 1) if getattr(turn, "example", False)), default=0)


def strangers(asked: Sequence[BaseMessage], prompts: Prompts, known: Iterable[str] = ()) -> list[str]:
    """Return the first names that stand in a prompt's worked examples, and neither in the rest of it nor in the texts `known`.

    Nobody is a stranger to prompts of somebody's own: their examples may be of the story itself.
    """
    fixed = fixed_turns(asked)
    if prompts.directory or not fixed:
        return []
    own = "\n".join([*(str(turn.text) for turn in asked[fixed:]), *known])
    told = "\n".join(str(turn.text) for turn in asked[:fixed])
    return [name for name in _cast(prompts.mode, prompts.tier) if _names(name, told) and not _names(name, own)]


def walks_in(text: str, names: Iterable[str]) -> str:
    """Return the first of `names` that a text holds; "" where it holds none."""
    return next((name for name in names if _names(name, text)), "")


def _names(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) is not None


@lru_cache(maxsize=8)
def _cast(mode: str, tier: str) -> tuple[str, ...]:
    """Return the first names of the people whom the worked examples of a packaged tier list."""
    return tuple(dict.fromkeys(_PERSON.findall(Prompts(tier, mode=mode).source("write"))))
