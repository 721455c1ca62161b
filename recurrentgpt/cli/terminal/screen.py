"""Standard output and, below its last line, a status on standard error: prose scrolls by while the status stays.

On a terminal whole lines are printed for good and the line in the making is part of the live status, so that neither
disturbs the other. A pipe gets the text as it is, piece by piece.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import console, emit, visible
from recurrentgpt.cli.terminal.wrapping import wrap

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

WIDEST = 100
"""Columns of a line of prose; longer ones are hard to read."""


_EMPHASIS = re.compile(r"(?P<opens>(?<![\w*])\*(?=[^\s*]))|(?<=[^\s*])\*(?![\w*])")
_ITALIC, _UPRIGHT = "\x1b[3m", "\x1b[23m"


class Italics:
    """Show in italics, line by line, what a passage has between asterisks, which may go on over the lines of a paragraph."""

    def __init__(self) -> None:
        self._on = False

    def line(self, text: str) -> str:
        """Return the next line for a terminal."""
        self._on = self._on and bool(text.strip())
        shown = (_ITALIC if self._on else "") + _EMPHASIS.sub(self._mark, text)
        return shown + (_UPRIGHT if self._on else "")

    def _mark(self, found: re.Match[str]) -> str:
        if bool(found["opens"]) == self._on:
            return found[0]
        self._on = not self._on
        return _ITALIC if self._on else _UPRIGHT


class Screen:
    """Where prose, remarks and status meet; use it as a context manager."""

    def __init__(self) -> None:
        self.remarks: Console = console()
        self.animated = self.remarks.is_terminal and not self.remarks.is_dumb_terminal
        self.terminal = sys.stdout.isatty()
        self.watched = self.terminal and self.remarks.is_terminal
        """Whether one person reads both, the prose and what is said about it."""
        self._wrapped = self.animated and self.terminal
        self._line = ""
        self._italics = Italics()
        self._doing, self._since = "", 0.0
        self._about = ""
        self._words: Callable[[], int] = lambda: 0
        self._fetch: tuple[int, int, str] | None = None
        self._fetched = ""
        self._live: Live | None = None

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *exception: object) -> None:
        self.rest()

    def doing(self, what: str, words: Callable[[], int] | None = None) -> None:
        """Show what is being done, since when, and how many words there are."""
        self._doing, self._since, self._about = what, time.monotonic(), ""
        self._words = words or (lambda: 0)
        self._resume()

    def about(self, text: str) -> None:
        """Show above the status what is known of the work so far, until something else is done."""
        self._about = visible(text)

    def rest(self) -> None:
        """Take the status away and end the line in the making."""
        self._doing = self._about = ""
        self._pause()
        if self._line:
            emit(self._italics.line(self._line) + "\n")
            self._line = ""

    def put(self, text: str) -> None:
        """Print a piece of prose."""
        if self.terminal:
            text = visible(text)
        if not self._wrapped:
            emit(text)
            return
        self._line += text
        # As wide as the terminal is now.
        lines, self._line = wrap(self._line, min(self.remarks.width - 1, WIDEST))
        if lines:
            self._pause()
            emit("".join(f"{self._italics.line(line)}\n" for line in lines))
            self._resume()

    def remark(self, text: RenderableType, style: str = "dim", *, cut: bool = False) -> None:
        """Print something on standard error that is no part of the story; with `cut`, a terminal shows what fits on a line."""
        self.rest_line()
        cut = cut and self.animated
        self.remarks.print(
            visible(text) if isinstance(text, str) else text,
            style=style,
            soft_wrap=not self.animated,
            no_wrap=cut or None,
            overflow="ellipsis" if cut else None,
        )
        self._resume()

    def rest_line(self) -> None:
        """End the line in the making, and leave the status off until the next piece."""
        doing = self._doing
        self.rest()
        self._doing = doing

    def fetching(self, done: int, total: int, what: str) -> None:
        """Show a download: a bar on a terminal, else one line for each thing that is done. Called from other threads."""
        if not total:
            return  # a model is loaded: the stage says enough
        self._fetch = (done, total, what) if done < total or "verifying" in what else None
        # Behind a comma stand numbers that change.
        if not self.animated and (about := what.partition(",")[0]) != self._fetched:
            self._fetched = about
            self.remarks.print(f"{what} ({total / 1e6:,.0f} MB)", soft_wrap=True)

    def _pause(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            with prompt.ctrl_c_later():
                live.stop()

    def _resume(self) -> None:
        if not (self.animated and self._doing) or self._live is not None:
            return
        from rich.live import Live

        # A new one each time: a stopped one would begin by clearing the lines above that it once stood on.
        live = Live(
            console=self.remarks,
            get_renderable=self._status,
            transient=True,
            refresh_per_second=5,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="visible",
        )
        with prompt.ctrl_c_later():
            live.start()
            self._live = live

    def _status(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = [Text(self._line)] if self._line else []
        if self._about:
            lines, rest = wrap(self._about, min(self.remarks.width - 1, WIDEST))
            parts.append(Text("\n".join([*lines, rest]), style="dim"))
        if self._fetch is not None:
            parts.append(self._bar(*self._fetch))
        elif self._doing:
            words = f" · {count} words" if (count := self._words()) else ""
            seconds = f" · {time.monotonic() - self._since:.0f} s"
            turning = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[int(time.monotonic() * 5) % 10]
            if not self.remarks.encoding.startswith("utf"):
                turning, words, seconds = "*", words.replace("·", "-"), seconds.replace("·", "-")
            status = f"{turning} {self._doing}{words}{seconds}"
            parts.append(Text(status, style="dim cyan", no_wrap=True, overflow="ellipsis"))
        return Group(*parts)

    @staticmethod
    def _bar(done: int, total: int, what: str) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        row = Table.grid(padding=(0, 1))
        megabytes = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        row.add_row(Text(what, style="dim cyan"), ProgressBar(total, done, width=30), Text(megabytes, style="dim"))
        return row
