"""Read a manuscript from a file, in the format that its name says."""

from __future__ import annotations

import stat
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from recurrentgpt.books.book import Manuscript
from recurrentgpt.schema.errors import BookError

SOURCES = {".txt": "plain", ".md": "markdown", ".markdown": "markdown", ".docx": "docx", ".epub": "epub"}
"""What can be read, by the extension of the file, and the module of this package that reads it."""

MOST_BYTES = 100_000_000
"""Largest file that is opened; text may be a fifth of it (`limits.MOST_TEXT`), the rest is pictures."""


def read_book(path: str | Path) -> Manuscript:
    """Return the manuscript in a file; its title is the file's name where the file tells none.

    Nothing outside the file is read, nothing in it is run. Raises BookError.
    """
    path = Path(path).expanduser()
    module = SOURCES.get(path.suffix.casefold())
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BookError(f"{path} is a folder; name a file.")
        if not stat.S_ISREG(mode):
            raise BookError(f"{path} is no ordinary file; name another.")
        if module is None:
            known = ", ".join(SOURCES)
            raise BookError(f"{path} has no extension that can be imported; a book can be read from {known}.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise BookError(f"There is no file {path}.") from error
    except (OSError, ValueError) as error:
        raise BookError(f"{path} cannot be read: {_reason(error)}.") from error
    if len(data) > MOST_BYTES:
        raise BookError(f"{path} is larger than {MOST_BYTES // 1_000_000} MB; split it and import the parts.")
    if not data.strip():
        raise BookError(f"{path} is empty.")
    read = cast(Callable[[bytes, str], Manuscript], import_module(f".{module}", __package__).read)
    try:
        manuscript = read(data, path.stem)
    except BookError as error:
        raise BookError(f"{path} {error}") from error
    if not any(chapter.paragraphs for chapter in manuscript.chapters):
        raise BookError(f"{path} holds no text that could be imported.")
    return manuscript


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error).rstrip(".")
