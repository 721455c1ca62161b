"""A text for an edit: given in the command, in a file, or typed in the person's editor."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StorageError

LONGEST = 1_000_000


@dataclass(frozen=True)
class TextInput:
    """Where a new text comes from: the command, a file, or (where both are None) the person's editor."""

    text: str | None = None
    file: str | None = None

    @property
    def typed(self) -> bool:
        """Tell whether a person types the text, who would lose it with a fault."""
        return self.text is None and self.file is None

    def as_options(self) -> list[str]:
        """Return the options that give the same text again; none of a text that was typed."""
        if self.text is not None:
            return [f"--text={self.text}"]
        return [] if self.file is None else ["--file", self.file]

    def replacing(self, before: str, about: str) -> str | None:
        """Return the text that is to replace `before`, or None where it is the same.

        Raises SettingsError or BadAnswer for a text that is none, and StorageError for an editor that fails.
        """
        if self.text is not None and self.file is not None:
            raise SettingsError("The new text is given as --text or as --file, not as both.")
        if self.text is not None:
            text = self.text
        elif self.file is not None:
            text = _read(self.file)
        elif prompt.editor():
            text = prompt.edited(before, about)
        else:
            raise SettingsError(
                f"There is no editor for the {about} here: give the new text with --text or --file, or set EDITOR and run "
                "this at a terminal."
            )
        if not text.strip():
            raise BadAnswer(f"The new {about} is empty; nothing was changed.")
        return None if text.strip() == before.strip() else text.strip()


def _read(file: str) -> str:
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


def save_draft(story: str, text: str) -> Path:
    """Keep what somebody typed, so that a fault later on cannot lose it, and return where it is."""
    from recurrentgpt.infrastructure.settings import home
    from recurrentgpt.infrastructure.unsaved_texts import draft_of_edit

    path = draft_of_edit(home(), story)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path
