"""What can go wrong with a SQLite file, each as a sentence that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recurrentgpt.schema.errors import StorageError

APPLICATION_ID = 0x52475054  # "RGPT"
SCHEMA_VERSION = 3
"""2: every link has the digest of its commit. 3: long values are deflated. What an older file needs is in `migrations`."""
STORIES = "stories.db"
CHECKPOINTS = "checkpoints.db"

_CLOSED = "no active connection"
"""What aiosqlite says of a connection that was closed."""
_ELSEWHERE = "check the permissions of the file and its folder, or set RECURRENTGPT_HOME to another folder"
_FAULTS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and run again",
    sqlite3.SQLITE_BUSY: "another program holds it locked; end that program and run again",
    sqlite3.SQLITE_LOCKED: "another program holds it locked; end that program and run again",
    sqlite3.SQLITE_READONLY: f"it may not be written; {_ELSEWHERE}",
    sqlite3.SQLITE_PERM: f"access is denied; {_ELSEWHERE}",
    sqlite3.SQLITE_CANTOPEN: f"it cannot be opened; {_ELSEWHERE}",
    sqlite3.SQLITE_IOERR: "the disk reported an error; check the disk, then run again",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database",
}
_NO_ROOM = (sqlite3.SQLITE_IOERR_SHMSIZE,)
"""Errors of the disk that mean that it is full: the journal's index found no room."""
_REMEDIES = {
    STORIES: "restore it from a backup (`recurrentgpt restore`), or save what can be read with `recurrentgpt check --repair`",
    CHECKPOINTS: f"delete it: it holds only steps in flight, the stories are in {STORIES}",
}


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn the faults of disk, file and lock into a StorageError that names `path`; let defects of the code pass."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be used: {error.strerror or error}; {_ELSEWHERE}.") from error
    except (sqlite3.DatabaseError, ValueError) as error:
        # The store's reads wrap what SQLite said in a ValueError; what is no text at all is one itself.
        fault = error.__cause__ if isinstance(error, ValueError) and error.__cause__ else error
        code = _primary(fault)
        if str(error) == _CLOSED:
            raise StorageError(f"{path} was closed: open the library again, and its stories from there.") from error
        if code not in _FAULTS:
            raise
        sentence = f"{path} cannot be used: {_FAULTS[code]}"
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            sentence += f"; {_REMEDIES.get(path.name, _ELSEWHERE)}"
        raise StorageError(f"{sentence}.") from error


def _primary(fault: BaseException | None) -> int:
    """Return the primary code of what SQLite said, which is the low byte of its code; 0 for anything else."""
    code: int = getattr(fault, "sqlite_errorcode", 0)
    if code in _NO_ROOM:
        return sqlite3.SQLITE_FULL
    said = str(fault)
    if isinstance(fault, UnicodeDecodeError) or said.startswith("Could not decode to UTF-8"):
        return sqlite3.SQLITE_CORRUPT
    if isinstance(fault, ValueError) and said.startswith("Invalid isoformat string"):
        return sqlite3.SQLITE_CORRUPT  # when a row was written, which the store reads as a time
    if code == sqlite3.SQLITE_ERROR and said.startswith(("no such table", "no such column")):
        return sqlite3.SQLITE_CORRUPT  # the list of tables itself is damaged
    return code & 0xFF


def is_there(path: Path) -> bool:
    """Tell whether a database is there; raise StorageError where its folder can be none."""
    with storage_errors(path):
        try:
            path.stat()
        except FileNotFoundError:
            return False
    return True


def check_pages(folder: Path) -> None:
    """Raise StorageError where a database of `folder` has damaged pages, which a look at its first rows does not show."""
    for path in (folder / STORIES, folder / CHECKPOINTS):
        check_database(path)


def check_database(path: Path) -> None:
    """Raise StorageError for a file that is missing, no database of ours, or damaged."""
    with storage_errors(path):
        path.stat()
        with closing(sqlite3.connect(path)) as connection:
            if is_unused(connection):
                raise StorageError(f"{path} is empty: no story was ever written to it.")
            check_owner(connection, path)
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                damaged = sqlite3.DatabaseError()
                damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise damaged


def is_unused(connection: sqlite3.Connection) -> bool:
    """Tell whether a database is as SQLite makes it: a file that was left before it was first written is nobody's."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return not application and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def check_owner(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StorageError for a database of another program or of a newer version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    refuse_foreign(application, version, path)


def refuse_foreign(application: int, version: int, path: Path) -> None:
    """Raise StorageError for what no database of ours has in its header."""
    if application != APPLICATION_ID:
        raise StorageError(
            f"{path} is the database of another program; move it away, or set RECURRENTGPT_HOME to another folder."
        )
    if version > SCHEMA_VERSION:
        raise StorageError(
            f"{path} was written by a newer version; upgrade recurrentgpt or set RECURRENTGPT_HOME to another folder."
        )
