"""Ask the person at the keyboard, or the pipe that stands in for one."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from recurrentgpt.cli.terminal.console import complain, visible
from recurrentgpt.schema.errors import SettingsError, StorageError


def at_terminal() -> bool:
    """Tell whether a person can edit lines here."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: str, prefill: str = "") -> str:
    """Return one line of an answer; raise EOFError where there are no more.

    On a terminal the answer begins as `prefill` and can be edited. The question never goes into a pipe of prose.
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
    try:
        import readline
    except ImportError:  # Windows has none: the old text is shown, and the answer typed anew
        if prefill:
            sys.stderr.write(f"{visible(prefill)}\n")
        return input(question).strip()
    if prefill:
        readline.set_startup_hook(lambda: readline.insert_text(" ".join(visible(prefill).split())))
    try:
        return input(question).strip()
    finally:
        readline.set_startup_hook(None)


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
