"""Break lines at words, by the columns that they take up on a terminal."""

from __future__ import annotations


def wrap(text: str, width: int) -> tuple[list[str], str]:
    """Return the lines that are complete, broken at white space to fit `width` columns, and the begun one."""
    from rich.cells import cell_len

    lines: list[str] = []
    while True:
        line, newline, rest = text.partition("\n")
        if cell_len(line) <= width:
            if not newline:
                return lines, line
            lines.append(line)
            text = rest
            continue
        at = _break(line, width)
        lines.append(line[:at].rstrip(" "))
        text = text[at:].lstrip(" ")


def _break(line: str, width: int) -> int:
    """Return where to break a line that is too long: after its last space that fits, else where it is full."""
    from rich.cells import cell_len

    full = next(at for at in range(len(line), -1, -1) if cell_len(line[:at]) <= width)
    space = line.rfind(" ", 0, full + 1)
    return space + 1 if space > 0 else max(full, 1)
