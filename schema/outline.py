"""Where each turn of a story's outline stands, and each clue to its truth: to come, under way or done.

Both themselves are the brief's, and this is the branch's: a commit holds where they stood after its passage. Who edits them sees
and sets it as a mark before the line, `[done] The boat is found`. A clue is done once a reader has been given it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

TurnStatus = Literal["to come", "under way", "done"]

_STATUSES: tuple[TurnStatus, ...] = get_args(TurnStatus)
_MARK = re.compile(rf"\[({'|'.join(_STATUSES)})\]\s*")


def updated_turns(turns: Sequence[TurnStatus], changes: Mapping[int, TurnStatus], count: int) -> list[TurnStatus]:
    """Return where `count` turns or clues stand after changes by number, from 1; those of none are left out."""
    known = [*turns, *["to come"] * count][:count]
    return [changes.get(number, status) for number, status in enumerate(known, 1)]  # type: ignore[arg-type]


def mark_turns(outline: Sequence[str], turns: Sequence[TurnStatus]) -> list[str]:
    """Return turns or clues with a mark before each that is no longer to come."""
    known = updated_turns(turns, {}, len(outline))
    return [line if status == "to come" else f"[{status}] {line}" for line, status in zip(outline, known, strict=True)]


def read_marks(lines: Sequence[str]) -> tuple[list[str], list[TurnStatus]]:
    """Return the turns or clues that marked lines are, and where they stand: without a mark, to come."""
    found = [_MARK.match(line) for line in lines]
    outline = [line[match.end() :] if match else line for line, match in zip(lines, found, strict=True)]
    return outline, [match[1] if match else "to come" for match in found]  # type: ignore[misc]


def describe_turns(turns: Sequence[TurnStatus]) -> str:
    """Return where turns stand by their numbers, `1 and 2 done; 3 under way; 4 to come`; "" where all are to come."""
    if all(status == "to come" for status in turns):
        return ""
    numbers = {
        status: [str(at) for at, other in enumerate(turns, 1) if other == status] for status in reversed(_STATUSES)
    }
    return "; ".join(f"{_listed(found)} {status}" for status, found in numbers.items() if found)


def describe_clues(clues: Sequence[TurnStatus], step: int, last_step: int) -> str:
    """Return which clues are told before passage `step`, by their numbers, and by when the others are to be planted.

    For example `1 and 2 told; 3 still to plant by passage 5`: the last passage is too late. "" where there are no clues.
    """
    numbers: dict[bool, list[str]] = {True: [], False: []}
    for at, status in enumerate(clues, 1):
        numbers[status == "done"].append(str(at))
    left = "still to plant"
    if last_step > 1:
        left = "never told" if step >= last_step else f"still to plant by passage {last_step - 1}"
    parts = ((numbers[True], "told"), (numbers[False], left))
    return "; ".join(f"{_listed(found)} {what}" for found, what in parts if found)


def _listed(numbers: list[str]) -> str:
    *others, last = numbers
    return f"{', '.join(others)} and {last}" if others else last
