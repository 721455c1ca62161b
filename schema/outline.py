"""Where each turn of a story's outline stands: to come, under way or done.

The outline itself is the brief's, and this is the branch's: a commit holds where the turns stood after its passage. Who edits
the outline sees and sets it as a mark before the turn, `[done] The boat is found`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

TurnStatus = Literal["to come", "under way", "done"]

_STATUSES: tuple[TurnStatus, ...] = get_args(TurnStatus)
_MARK = re.compile(rf"\[({'|'.join(_STATUSES)})\]\s*")


def updated_turns(turns: Sequence[TurnStatus], changes: Mapping[int, TurnStatus], count: int) -> list[TurnStatus]:
    """Return where the `count` turns of an outline stand after changes by number, from 1; those of no turn are left out."""
    known = [*turns, *["to come"] * count][:count]
    return [changes.get(number, status) for number, status in enumerate(known, 1)]  # type: ignore[arg-type]


def mark_turns(outline: Sequence[str], turns: Sequence[TurnStatus]) -> list[str]:
    """Return an outline with a mark before each turn that is no longer to come."""
    known = updated_turns(turns, {}, len(outline))
    return [line if status == "to come" else f"[{status}] {line}" for line, status in zip(outline, known, strict=True)]


def read_marks(lines: Sequence[str]) -> tuple[list[str], list[TurnStatus]]:
    """Return the outline that marked lines are, and where its turns stand: without a mark, to come."""
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


def _listed(numbers: list[str]) -> str:
    *others, last = numbers
    return f"{', '.join(others)} and {last}" if others else last
