"""Files of JSON, an object per line, whose last line a crash may have cut off."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Row = dict[str, Any]
"""One line: an object of JSON."""


class DamagedLine(ValueError):
    """Report the number of a line that is no object of JSON."""

    def __init__(self, number: int) -> None:
        super().__init__(f"line {number}")
        self.number = number


def to_line(row: Row) -> str:
    """Return a row as it stands in a file."""
    return json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()


def append(path: Path, row: Row) -> None:
    """Append a row, at once; what a crash left of the line before is mended first."""
    mend(path)
    # In one piece, for two processes may append to one file.
    with path.open("ab", buffering=0) as file:
        file.write(f"{to_line(row)}\n".encode())


def read(path: Path, *, allow_partial: bool) -> list[Row]:
    """Return the rows of a file; with `allow_partial`, half a line at its end is left out. Raises DamagedLine, and OSError."""
    found: list[Row] = []
    lines = path.read_bytes().split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            if allow_partial and number == len(lines):
                break
            raise DamagedLine(number)
        found.append(row)
    return found


def _row(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def mend(path: Path) -> None:
    """End the last line of a file, where all of it is there but its end, or take away what there is of it."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        if file.read(1) in (b"", b"\n"):
            return
        file.seek(0)
        text = file.read()
        start = text.rfind(b"\n") + 1
        if _row(text[start:]) is None:
            file.truncate(start)
        else:
            file.write(b"\n")
