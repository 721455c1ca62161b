"""What goes to the terminal: errors, notes, tables and JSON, never interpreted as markup."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recurrentgpt.cli.terminal.wrapping import wrap
from recurrentgpt.prose.model_text import HIDDEN
from recurrentgpt.schema.errors import StorageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style

# C0 without tab and newline, DEL, C1: what could move the cursor, change colours or retitle the window; and what shows other
# words than there are.
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{HIDDEN}]")


def visible(text: str) -> str:
    """Return `text` without control characters other than newline and tab."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return `text` on one line, without control characters."""
    return " ".join(visible(text).split())


def console(*, stderr: bool = True) -> Console:
    """Return a console that prints text as it is; NO_COLOR and width come from the environment."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def complain(message: str) -> None:
    """Print an error in one line on standard error."""
    print(f"Error: {one_line(message)}", file=sys.stderr, flush=True)  # noqa: T201


def note(message: str, style: str | Style = "dim") -> None:
    """Print a remark on standard error."""
    screen = console()
    # A file or a pipe gets each remark on one line.
    screen.print(visible(message), style=style, soft_wrap=not screen.is_terminal)


def emit(text: str) -> None:
    """Write text to standard output, at once; raise BrokenPipeError where nobody reads it any more, else StorageError."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(error) from error


def unwritable(error: OSError) -> StorageError:
    """Return what to tell about standard output that cannot be written."""
    why = error.strerror or "it is closed"
    return StorageError(f"Standard output cannot be written ({why}): send it to a place that takes it, and run again.")


def print_json(value: Mapping[str, Any]) -> None:
    """Print one line of JSON on standard output, at once."""
    line = _CONTROLS.sub(_escaped, json.dumps(value, ensure_ascii=False))
    # Half a surrogate pair is a legal Python string and no legal text.
    emit(line.encode("utf-8", "replace").decode() + "\n")


def _escaped(control: re.Match[str]) -> str:
    """Return a control character as JSON writes it in letters: the same text, which no terminal obeys."""
    return json.dumps(control[0])[1:-1]


def print_text(text: str) -> None:
    """Print text on standard output; a terminal gets no control characters."""
    emit((visible(text) if sys.stdout.isatty() else text) + "\n")


def print_lines(text: str) -> None:
    """Print lines on standard output; at a terminal, broken at words, and their rest below where their words begin."""
    screen = console(stderr=False)
    if not screen.is_terminal:
        print_text(text)
        return
    shown: list[str] = []
    for line in visible(text).split("\n"):
        mark = _MARK.match(line)
        under = " " * (mark.end() if mark else 0)
        lines, last = wrap(line[len(under) :], max(screen.width - len(under), NARROW))
        first, *rest = [*lines, last]
        shown += [line[: len(under)] + first, *(under + row for row in rest)]
    emit("\n".join(shown) + "\n")


_MARK = re.compile(r" *(?:\d+ {2}|[-+] |\[\d+\] )?")
"""What stands before the words of a line: its indent, and a number or a bullet."""


NARROW = 12
"""Fewest columns in which a cell that is cut still says something."""


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    uncut: Sequence[int] = (0,),
    spare: Sequence[int] = (),
) -> None:
    """Print a table on standard output, of which a pipe gets all.

    On a terminal, columns in `uncut` are never cut, and those in `spare` are left out, the first one first, where it is too
    narrow for all.
    """
    from rich.cells import cell_len
    from rich.table import Table

    screen = console(stderr=False)
    if not screen.is_terminal:
        for row in (headings, *rows):
            print_text("\t".join(one_line(cell) for cell in row))
        return
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    widths = [width if number in uncut else min(width, NARROW) for number, width in enumerate(widths)]
    shown = list(range(len(headings)))
    for number in spare:
        if sum(widths[at] + 2 for at in shown) - 2 > screen.width:
            shown.remove(number)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number in shown:
        table.add_column(headings[number], no_wrap=number in uncut, overflow="fold")
    for row in rows:
        table.add_row(*(one_line(row[number]) for number in shown))
    screen.print(table)


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")
