"""A text for an edit: given in the command, in a file, or typed in the person's editor."""

from __future__ import annotations

import sys
from pathlib import Path

from recurrentgpt.cli import prompt
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StorageError

LONGEST = 1_000_000


def new_text(before: str, about: str, text: str | None, file: str | None) -> str | None:
    """Return the text that is to replace `before`, or None where it is the same.

    Raises SettingsError or BadAnswer for a text that is none, and StorageError for an editor that fails.
    """
    if text is not None and file is not None:
        raise SettingsError("The new text is given as --text or as --file, not as both.")
    if file is not None:
        text = read(file)
    elif text is None:
        if not prompt.editor():
            raise SettingsError(
                f"There is no editor for the {about} here: give the new text with --text or --file, or set EDITOR and run "
                "this at a terminal."
            )
        text = prompt.edited(before, about)
    if not text.strip():
        raise BadAnswer(f"The new {about} is empty; nothing was changed.")
    return None if text.strip() == before.strip() else text.strip()


def read(file: str) -> str:
    """Return the text of a file; - is standard input."""
    if file == "-":
        return sys.stdin.read(LONGEST)
    path = Path(file).expanduser()
    try:
        with path.open(encoding="utf-8-sig") as opened:
            text = opened.read(LONGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"{file} cannot be read: {why}.") from error
    if len(text) > LONGEST:
        raise SettingsError(f"{file} has more than {LONGEST:,} characters; no edit is as long.")
    return text


def keep_draft(story: str, text: str) -> Path:
    """Keep what somebody typed, so that a fault later on cannot lose it, and return where it is."""
    from recurrentgpt.infrastructure.settings import home

    path = home() / "drafts" / f"{story}.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path
