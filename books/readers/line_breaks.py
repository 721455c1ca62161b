"""Divide plain text into paragraphs and undo the line breaks that only fill a page."""

from __future__ import annotations

import itertools
import re
import statistics

_FEWEST = 5
"""Line breaks that must be seen before a file is taken as wrapped."""

_NARROW, _WIDE = 45, 100


def divide(text: str) -> list[str]:
    """Return the paragraphs of `text`; a line break that is left in one is meant."""
    lines = [line.rstrip() for line in text.expandtabs(4).split("\n")]
    blocks = _blocks(lines)
    width = _page_width(blocks)
    if width is None:
        if len(blocks) <= 1:
            # Without one blank line, lines are the paragraphs.
            return [line.strip() for line in lines if line.strip()]
        return ["\n".join(line.strip() for line in block) for block in blocks]
    return [_unwrapped(part, width) for block in blocks for part in _indented_parts(block)]


def _blocks(lines: list[str]) -> list[list[str]]:
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _page_width(blocks: list[list[str]]) -> int | None:
    """Return how long a full line is, or None where lines are not wrapped: then their lengths have no common bound."""
    broken = [len(line) for block in blocks for line in block[:-1]]
    if len(broken) < _FEWEST:
        return None
    longest = int(statistics.quantiles(broken, n=50)[-1])
    everything = max(len(line) for block in blocks for line in block)
    if not _NARROW <= longest <= _WIDE or everything > longest * 2.5:
        return None
    full = sum(length > longest * 0.8 for length in broken)
    return longest if full >= len(broken) * 0.5 else None


def _indented_parts(block: list[str]) -> list[list[str]]:
    """Divide a block at indented lines where they are the few: paragraphs may be marked that way alone."""
    indented = [index for index, line in enumerate(block) if line[0].isspace()]
    if not indented or len(indented) * 2 > len(block):
        return [block]
    starts = sorted({0, *indented})
    return [block[start:end] for start, end in zip(starts, [*starts[1:], len(block)], strict=True)]


def _unwrapped(block: list[str], width: int) -> str:
    text = block[0].strip()
    for line, following in itertools.pairwise(block):
        after = following.strip()
        word = after.split(" ", 1)[0]
        # A word that would have fitted was put on the next line for a reason: a verse, an address, a list.
        if len(line) + 1 + len(word) < width * 0.82:
            text += "\n" + after
        elif re.search(r"[^\W\d_]-$", text) and after[0].islower():
            text += after
        else:
            text += " " + after
    return text
