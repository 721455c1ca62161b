"""Write a book to a file, in the format that its name asks for."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from recurrentgpt.books.book import Book
from recurrentgpt.infrastructure.entry_points import list_entry_points, load_entry_point
from recurrentgpt.schema.errors import BookError

GROUP = "recurrentgpt.export_formats"
"""Entry points by which other packages add formats: the extension without its dot names a `render(book) -> bytes`."""


class ExportFormat(NamedTuple):
    """A kind of file that a book can be written to."""

    title: str
    module: str
    """Module of this package whose `render` makes the file."""
    suffix: str = ""
    """What the name of a file ends in, where that is not the format's own name."""


PLAY = ".play-html"
"""The format in which a story is played: it holds the passages of all branches."""

FORMATS = {
    ".md": ExportFormat("Markdown", "markdown"),
    ".txt": ExportFormat("plain text", "plain"),
    ".epub": ExportFormat("EPUB 3", "epub"),
    ".docx": ExportFormat("Word document", "docx"),
    ".html": ExportFormat("web page", "html"),
    PLAY: ExportFormat("web page to play", "play_html", ".html"),
}
"""What this package writes, by the extension of the file; `export_formats` adds what other packages write."""


def export_formats() -> dict[str, str]:
    """Return what every format is called, by its extension: those of this package, then those of other packages."""
    formats = {extension: format.title for extension, format in FORMATS.items()}
    for name, package in list_entry_points(GROUP).items():
        formats.setdefault(f".{name}", f"{name}, by {package}")
    return formats


def render_book(book: Book, format: str) -> bytes:
    """Return the file of a book in one of `export_formats`; in this package's, the same book gives the same bytes.

    Raises BookError for an unknown format and for a book without a word, ExtensionError where another package's is broken.
    """
    extension = find_format(format)
    if not any(chapter.paragraphs for chapter in book.chapters):
        raise BookError("There is nothing to export yet: the story has no passage; write one first.")
    if extension in FORMATS:
        render = import_module(f".{FORMATS[extension].module}", __package__).render
    else:
        render = load_entry_point(GROUP, extension[1:])
    return cast(Callable[[Book], bytes], render)(book)


def write_book(book: Book, path: str | Path, format: str | None = None, *, force: bool = False) -> Path:
    """Write a book to a file and return where it is; the format is that of the extension unless one is named.

    The file appears whole or not at all. Raises BookError, also where a file exists and `force` is not given.
    """
    extension = find_format(format or Path(path).suffix)
    return write_file(path, lambda: render_book(book, extension), force=force)


def write_file(path: str | Path, render: Callable[[], bytes], *, force: bool = False) -> Path:
    """Write what `render` returns to a file, whole or not at all, and return where it is; see `write_book`."""
    path = Path(path).expanduser()
    try:
        # A link is written through: what it leads to is the file that the user means.
        target = path.resolve()
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, RuntimeError, ValueError) as error:
        raise BookError(f"{path} cannot be written: {_reason(error)}.") from error
    if mode is not None and stat.S_ISDIR(mode):
        raise BookError(f"{path} is a folder; name a file in it.")
    if mode is not None and not stat.S_ISREG(mode):
        raise BookError(f"{path} is no ordinary file; name another.")
    if mode is not None and not force:
        raise BookError(f"{path} exists; choose another file, or replace it with --force.")
    if not target.parent.is_dir():
        raise BookError(f"There is no folder {path.parent}; make it first, or choose another.")
    _replace(target, render(), path)
    return path


def find_format(given: str) -> str:
    """Return the extension in `export_formats` that `given` names, with or without its dot.

    Raises BookError, which lists them.
    """
    extension = given.casefold()
    extension = extension if extension.startswith(".") else f".{extension}"
    if extension not in (known := export_formats()):
        what = f'"{given}" is not a format' if given else "The file has no extension that names a format"
        raise BookError(f"{what}; a book can be written as {', '.join(known)}.")
    return extension


def file_suffix(given: str) -> str:
    """Return what the name of a file in a format ends in, with its dot.

    Raises BookError for an unknown format.
    """
    extension = find_format(given)
    return (extension in FORMATS and FORMATS[extension].suffix) or extension


def _replace(target: Path, data: bytes, named: Path) -> None:
    partial = target.with_name(f".{os.urandom(6).hex()}.part")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException as error:
        try:
            partial.unlink(missing_ok=True)
        except OSError:
            pass  # The folder cannot be written: there is nothing to remove, and the first error says why.
        if isinstance(error, OSError):
            raise BookError(f"{named} cannot be written: {_reason(error)}.") from error
        raise


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error).rstrip(".")
