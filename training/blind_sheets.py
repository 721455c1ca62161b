"""Sheets for blind readers: two texts each, A and B, in one folder in one order and in the other the other way round."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from training.product import SettingsError

FOLDERS = (1, 2)


class Answer(BaseModel):
    """What one reader of a folder says of one sheet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Literal[1, 2]
    pair: int = Field(ge=1)
    """The number of the sheet."""
    why: str


A = TypeVar("A", bound=Answer)


def first_is_a(name: str, folder: int) -> bool:
    """Return whether the first way's text is A on a sheet: its name decides it, and each folder the other way round."""
    drawn = hashlib.sha256(name.encode()).digest()[0] % 2
    return drawn == folder % 2


def write_sheets(output: Path, count: int, sheet: Callable[[int, int], str]) -> None:
    """Write so many sheets for each folder's reader; `sheet` gives the text of one by its index, from 0, and the folder."""
    for folder in FOLDERS:
        place = output / f"sheets-{folder}"
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("*.md"):
            old.unlink()
        for index in range(count):
            (place / f"{index + 1:02}.md").write_text(sheet(index, folder), encoding="utf-8")


def read_answers(path: Path, kind: type[A], count: int) -> list[A]:
    """Return the answers in a file of JSON Lines; raise SettingsError for what is none, or is of no sheet of `count`."""
    found = []
    for number, text in enumerate(lines(path), 1):
        try:
            answer = kind.model_validate_json(text)
        except ValidationError as error:
            what = kind.__name__.lower()
            raise SettingsError(f"{path} line {number} is no {what}: {error.errors()[0]['msg']}.") from error
        if answer.pair > count:
            raise SettingsError(f"{path} line {number} is of pair {answer.pair}, and there are {count}.")
        found.append(answer)
    return found


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file that hold something; none where there is no file."""
    if path.exists():
        yield from (text for text in path.read_text(encoding="utf-8").split("\n") if text.strip())


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return a table, its first row the heading."""
    written = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([written[0], "|" + "---|" * len(rows[0]), *written[1:]])
