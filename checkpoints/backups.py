"""Copies of the story log, made by SQLite's own backup while others may write, checked, and a few of them kept."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from recurrentgpt.checkpoints.read_only import readable
from recurrentgpt.checkpoints.sqlite_faults import CHECKPOINTS, check_database, storage_errors
from recurrentgpt.schema.errors import StorageError

FOLDER = "backups"
KEPT = 5
"""Copies made by themselves that are kept; those that somebody asked for are never deleted."""
EVERY_SECONDS = 24 * 3600
ROOM = 1 << 18
"""Bytes that an erasure takes for a moment beside those of the database itself."""
_DAILY, _OLDER = "daily-", "version-"

log = logging.getLogger(__name__)


def copy_database(source: Path, target: Path) -> None:
    """Copy a database to a file, which appears whole and checked or not at all; raise StorageError for one that is damaged."""
    part = target.with_name(f"{target.name}.part")
    with storage_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with storage_errors(source), readable(source) as address:
            with closing(sqlite3.connect(address, uri=True)) as old, closing(sqlite3.connect(part)) as new:
                old.backup(new)
                new.execute("PRAGMA journal_mode = DELETE")
            check_database(part)
        with storage_errors(target):
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def new_copy(database: Path, kind: str = "") -> Path:
    """Return the file for a copy that is made now, beside the others of this database."""
    return database.parent / FOLDER / f"{kind}{database.stem}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"


def copies(database: Path) -> list[Path]:
    """Return the copies of a database, the newest last."""
    return sorted(
        (database.parent / FOLDER).glob(f"*{database.stem}-*.db"), key=lambda path: path.name.rpartition("-")[2]
    )


def copy_now_and_then(database: Path) -> None:
    """Keep a good copy of the last days in use; what keeps one from being made is logged, and hinders nobody from writing."""
    known = _copies(database, _DAILY)
    try:
        if known and time.time() - known[-1].stat().st_mtime < EVERY_SECONDS:
            return
        if shutil.disk_usage(database.parent).free < 4 * database.stat().st_size:
            return
        _keep_copy(database, _DAILY)
    except (StorageError, OSError) as error:
        log.warning("No copy of %s was made: %s", database, error)


def copy_before_migration(database: Path) -> None:
    """Keep a good copy of a database of an earlier version; raise StorageError where that cannot be done."""
    with storage_errors(database):
        _keep_copy(database, _OLDER)


def forget_copies(database: Path) -> None:
    """Delete the copies that were made by themselves: they hold what was erased since."""
    for path in (*_copies(database, _DAILY), *_copies(database, _OLDER)):
        path.unlink(missing_ok=True)


def make_room(database: Path) -> None:
    """Delete what an erasure can do without, where the disk has not the room that it needs for a moment.

    First the copies made by themselves, which it forgets anyway; then, unless a program has them open, the checkpoints: the
    story log opens every story at its last passage without them.
    """
    with storage_errors(database):
        if not database.exists():
            return
        needed = database.stat().st_size + ROOM
        if shutil.disk_usage(database.parent).free < needed:
            forget_copies(database)
        if shutil.disk_usage(database.parent).free < needed:
            _delete_unused(database.with_name(CHECKPOINTS))


def _delete_unused(database: Path) -> None:
    """Delete a database that no program has open."""
    if not database.exists():
        return
    with closing(sqlite3.connect(database, timeout=0)) as held:
        try:
            # Before anything is read: so it asks for no file beside it, and is refused where somebody else has it open.
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error:
            return
        for suffix in ("", "-wal", "-shm"):
            Path(f"{database}{suffix}").unlink(missing_ok=True)


def _copies(database: Path, kind: str) -> list[Path]:
    return [path for path in copies(database) if path.name.startswith(kind)]


def _keep_copy(database: Path, kind: str) -> None:
    """Make a copy, and delete the older ones beyond `KEPT`; the caller holds the lock of the database."""
    for part in (database.parent / FOLDER).glob(f"{kind}*.part"):
        part.unlink(missing_ok=True)  # of somebody who was killed while copying
    copy_database(database, new_copy(database, kind))
    for old in _copies(database, kind)[:-KEPT]:
        old.unlink(missing_ok=True)


def replace_database(database: Path, source: Path) -> Path | None:
    """Put a copy in the place of a database, and return where the one that was there is kept; None where there was none.

    The caller holds the lock of the database. Raises StorageError for a copy that is damaged, and changes nothing then.
    """
    check_database(source)
    with storage_errors(source), readable(source) as address, closing(sqlite3.connect(address, uri=True)) as copy:
        if not copy.execute("SELECT count(*) FROM sqlite_master WHERE name = 'store'").fetchone()[0]:
            raise StorageError(f"{source} holds no stories: choose a copy of {database.name}.")
    fresh = database.with_name(f"{database.name}.new")
    copy_database(source, fresh)
    with storage_errors(database):
        kept = None
        if database.exists():
            # As it is, journal and all: it may be damaged, and then nothing else can be done with it.
            kept = new_copy(database, "replaced-")
            kept.parent.mkdir(exist_ok=True)
            for suffix in ("", "-wal"):
                if (old := Path(f"{database}{suffix}")).exists():
                    old.replace(Path(f"{kept}{suffix}"))
            Path(f"{database}-shm").unlink(missing_ok=True)
        fresh.replace(database)
    return kept
