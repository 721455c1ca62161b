"""Ask the person at the keyboard, or the pipe that stands in for one."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from recurrentgpt.cli.terminal.console import complain, visible
from recurrentgpt.schema.errors import SettingsError, StorageError

PASTE_SECONDS = 0.03
"""How soon the next line follows in a paste; nobody types as fast."""


def at_terminal() -> bool:
    """Tell whether a person can edit lines here."""
    return sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def keys_off() -> Iterator[None]:
    """Let no key that is pressed meanwhile show, nor answer the next question or the shell; Ctrl-C works as ever."""
    if not _in_front():
        yield
        return
    import termios

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    quiet = [*before]
    quiet[3] &= ~termios.ECHO

    def hush(*_: object) -> None:
        # Also when the shell has stopped the command, set the terminal to its own liking, and lets the command go on.
        if _in_front():
            termios.tcsetattr(keyboard, termios.TCSANOW, quiet)

    hush()
    going_on = signal.signal(signal.SIGCONT, hush)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, going_on)
        if _in_front():
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)


@contextmanager
def ctrl_c_later() -> Iterator[None]:
    """Let Ctrl-C wait for the end of what must not be done by half."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)


def _in_front() -> bool:
    """Tell whether there is a terminal that this command may touch: a job in the background may not."""
    try:
        import termios
    except ImportError:  # Windows has none
        return False
    try:
        termios.tcgetattr(sys.stdin.fileno())
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, termios.error):
        return False


def _forget_keys() -> None:
    """Drop what was typed before a question stood, which cannot have been meant for it."""
    if _in_front():
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _pasted() -> str:
    """Return the lines that come right behind the one that was just answered, as only a paste brings them; empty for none."""
    try:
        keyboard, found = sys.stdin.fileno(), b""
        while select.select([keyboard], [], [], PASTE_SECONDS)[0] and (piece := os.read(keyboard, 65536)):
            found += piece
    except (OSError, ValueError):
        return ""
    return found.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def ask(
    question: str,
    prefill: str = "",
    *,
    lines: Iterable[str] = (),
    words: Callable[[str, str], Iterable[str]] = lambda before, begun: (),
) -> str:
    """Return one answer, all lines of a paste together; raise EOFError where there are no more.

    On a terminal the answer begins as `prefill` and can be edited; Tab completes it to one of `lines`, and its last word to
    one of the `words` for what stands before that word and the word itself. The question never goes into a pipe of prose.
    """
    if not at_terminal():
        sys.stderr.write(question)
        sys.stderr.flush()
        line = sys.stdin.readline()
        # What is typed into a pipe is not echoed, so the next output would stand on the question's line.
        sys.stderr.write("\n")
        if not line:
            raise EOFError
        return line.strip()
    return f"{_read_line(question, visible(prefill).strip(), lines, words)}\n{_pasted()}".strip()


def _read_line(question: str, prefill: str, lines: Iterable[str], words: Callable[[str, str], Iterable[str]]) -> str:
    from recurrentgpt.cli.terminal.line_reader import read

    _forget_keys()
    return read(_folded(question), prefill, lines, words)


def _folded(question: str) -> str:
    """Return a question whose lines break between words, where the terminal is too narrow for them."""
    asked = question.rstrip(" ")
    width = shutil.get_terminal_size().columns - 1
    return "\n".join(textwrap.fill(line, width) for line in asked.split("\n")) + question[len(asked) :]


def editor() -> list[str]:
    """Return the command of the person's editor; empty where there is none."""
    if not at_terminal():
        return []
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise SettingsError(f"EDITOR is no command: {command!r} has an open quotation mark.") from error


def edit(text: str, about: str) -> str | None:
    """Return `text` as edited in the person's editor; None when the editor failed or nothing changed."""
    try:
        changed = edited(text, about)
    except StorageError as error:
        complain(str(error))
        return None
    return None if changed == text.strip() else changed


def edited(text: str, about: str) -> str:
    """Return `text` as edited in the person's editor; raise StorageError when that fails."""
    command = editor()
    with tempfile.TemporaryDirectory(prefix="recurrentgpt-") as folder:
        path = Path(folder) / f"{about}.txt"
        path.write_text(text + "\n", encoding="utf-8")
        try:
            status = subprocess.call([*command, str(path)])  # noqa: S603 - the person's own editor
        except OSError as error:
            why = error.strerror or str(error)
            raise StorageError(f"{command[0]} cannot be started ({why}): set EDITOR to another editor.") from error
        if status:
            raise StorageError(f"{command[0]} ended with the code {status}, so nothing was changed.")
        try:
            return path.read_text(encoding="utf-8-sig", errors="replace").strip()
        except OSError as error:
            raise StorageError(f"What {command[0]} wrote is not there any more, so nothing was changed.") from error
