"""Read a manuscript from a file, in the format that its name says."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import cast

from recurrentgpt.books.book import Manuscript
from recurrentgpt.books.readers.chapters import same_title
from recurrentgpt.infrastructure.entry_points import list_entry_points, load_entry_point
from recurrentgpt.schema.errors import BookError

GROUP = "recurrentgpt.import_formats"
"""Entry points by which other packages add formats: the extension without its dot names a `read(data, name) -> Manuscript`."""

SOURCES = {".txt": "plain", ".md": "markdown", ".markdown": "markdown", ".docx": "docx", ".epub": "epub"}
"""What this package reads, by the extension of the file, and its module that does; `import_formats` adds other packages'."""

MOST_BYTES = 100_000_000
"""Largest file that is opened; text may be a fifth of it (`limits.MOST_TEXT`), the rest is pictures."""


def import_formats() -> list[str]:
    """Return every extension that can be read: those of this package, then those of other packages."""
    return list(dict.fromkeys([*SOURCES, *(f".{name}" for name in list_entry_points(GROUP))]))


def read_book(path: str | Path) -> Manuscript:
    """Return the manuscript in a file; its title is the file's name where the file tells none.

    Nothing outside the file is read, nothing in it is run. Raises BookError, and ExtensionError where the package that
    would read it is broken.
    """
    path = Path(path).expanduser()
    extension = path.suffix.casefold()
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BookError(f"{path} is a folder; name a file.")
        if not stat.S_ISREG(mode):
            raise BookError(f"{path} is no ordinary file; name another.")
        if extension not in (known := import_formats()):
            raise BookError(
                f"{path} has no extension that can be imported; a book can be read from {', '.join(known)}."
            )
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
    if extension in SOURCES:
        read = import_module(f".{SOURCES[extension]}", __package__).read
    else:
        read = load_entry_point(GROUP, extension[1:])
    try:
        manuscript = cast(Callable[[bytes, str], Manuscript], read)(data, path.stem)
    except BookError as error:
        raise BookError(f"{path} {error}") from error
    if not any(chapter.paragraphs for chapter in manuscript.chapters):
        raise BookError(f"{path} holds no text that could be imported.")
    return _without_its_title(manuscript)


def _without_its_title(manuscript: Manuscript) -> Manuscript:
    """Return a manuscript whose only chapter, where the contents call it as the book, has no title of its own."""
    if len(manuscript.chapters) != 1 or same_title(manuscript.chapters[0].title) != same_title(manuscript.title):
        return manuscript
    return replace(manuscript, chapters=[replace(manuscript.chapters[0], title="")])


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error).rstrip(".")
