"""Ask the person at the keyboard, or the pipe that stands in for one."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from recurrentgpt.cli.terminal.console import complain, visible
from recurrentgpt.schema.errors import SettingsError, StorageError

PASTE_SECONDS = 0.03
"""How soon the next line follows in a paste; nobody types as fast."""


class Ended(KeyboardInterrupt):
    """Somebody ended the command from outside, or closed its terminal: there is nobody to ask."""


def at_terminal() -> bool:
    """Tell whether a person can edit lines here."""
    return sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def keys_off() -> Iterator[None]:
    """Let no key that is pressed meanwhile show, nor answer the next question or the shell; Ctrl-C works as ever."""
    try:
        import termios
    except ImportError:  # Windows has none
        yield
        return
    try:
        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
        in_front = os.tcgetpgrp(keyboard) == os.getpgrp()
    except (OSError, ValueError, termios.error):
        in_front = False
    if not in_front:
        # No terminal, or a job in the background, which may not touch it.
        yield
        return
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)


def _pasted() -> str:
    """Return the lines that come right behind the one that was just answered, as only a paste brings them; empty for none."""
    try:
        keyboard, found = sys.stdin.fileno(), b""
        while select.select([keyboard], [], [], PASTE_SECONDS)[0] and (piece := os.read(keyboard, 65536)):
            found += piece
    except (OSError, ValueError):
        return ""
    return found.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def ask(question: str, prefill: str = "", *, lines: Iterable[str] = (), words: Iterable[str] = ()) -> str:
    """Return one answer, all lines of a paste together; raise EOFError where there are no more.

    On a terminal the answer begins as `prefill` and can be edited; Tab completes it to one of `lines`, and its last word to
    one of `words`. The question never goes into a pipe of prose.
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


def _read_line(question: str, prefill: str, lines: Iterable[str], words: Iterable[str]) -> str:
    from recurrentgpt.cli.terminal.line_reader import read

    return read(question, prefill, lines, words)


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
