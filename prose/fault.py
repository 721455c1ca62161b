"""What is wrong with a piece of text, and the words that show it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "banned",
    "copying",
    "loop",
    "script",
    "heading",
    "meta",
    "alphabet",
    "code",
    "control",
    "cut",
    "role",
    "narrator",
    "tense",
    "speaker",
]

LINE_SHOWN = 60
"""Most characters of a line that a model is shown as what is wrong."""


@dataclass(frozen=True)
class Fault:
    """Say what is wrong with a piece of text: its kind, and the words that show it."""

    kind: Kind
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


def line_of(text: str, match: re.Match[str]) -> str:
    """Return the beginning of the line in which a pattern was found, as whoever wrote it knows it again."""
    return text[match.start() :].strip().partition("\n")[0][:LINE_SHOWN]
