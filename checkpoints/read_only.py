"""Read a database of stories where nothing can be written, and where it is damaged: no lock, no journal, no index is needed."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from recurrentgpt.checkpoints.row_values import readable_part, text_of, value_of
from recurrentgpt.checkpoints.sqlite_faults import check_owner, is_there, is_unused, storage_errors
from recurrentgpt.schema.errors import StorageError

_LEAF = 0x0D
_COLUMNS = 3  # namespace, key and value come first
_FRAME = 24


@dataclass(frozen=True)
class Row:
    """One row of the store, its value as JSON text."""

    namespace: tuple[str, ...]
    key: str
    value: str


@contextmanager
def readable(path: Path) -> Iterator[str]:
    """Yield the address of a database for SQLite to read, also where nothing may be written beside it; see storage_errors."""
    # What the reader does meanwhile is not the database's: a pipe that breaks says nothing about it.
    with ExitStack() as copies:
        with storage_errors(path):
            address = _address(path, copies)
        yield address


def _address(path: Path, copies: ExitStack) -> str:
    path.stat()
    address, log = path.absolute().as_uri(), _journal(path)
    if _opens(f"{address}?mode=ro"):
        return f"{address}?mode=ro"
    if not log.exists() or not log.stat().st_size:
        return f"{address}?mode=ro&immutable=1"
    # What was written last is in the journal, which SQLite reads only where it may write an index of it.
    folder = Path(copies.enter_context(TemporaryDirectory(prefix="recurrentgpt-")))
    for file in (path, log):
        shutil.copyfile(file, folder / file.name)
    return (folder / path.name).as_uri()


def _opens(address: str) -> bool:
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        return False
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return True  # damaged, and readable as far as it goes
    return True


class RowReader:
    """The rows of a store, in a file that is only looked at."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def select(self, query: str, *values: str) -> list[tuple[str, dict[str, object]]]:
        """Return the keys and values that a query finds; raise StorageError where the file cannot be read."""
        with storage_errors(self._path):
            return [(key, value_of(value)) for key, value in self._connection.execute(query, values)]


@contextmanager
def open_rows(path: Path) -> Iterator[RowReader]:
    """Open the rows of a store, for any thread. A file that is missing, or was left before its first table, counts as empty.

    Raises StorageError for one that cannot be read, or is not ours.
    """
    with ExitStack() as stack:
        there = is_there(path)
        address = stack.enter_context(readable(path)) if there else "file::memory:"
        with storage_errors(path):
            connection = stack.enter_context(closing(sqlite3.connect(address, uri=True, check_same_thread=False)))
            if there and not is_unused(connection):
                check_owner(connection, path)
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'store'").fetchone():
                connection.execute("CREATE TEMP TABLE store (prefix, key, value, updated_at)")
        yield RowReader(connection, path)


def read_rows(path: Path) -> tuple[list[Row], str]:
    """Return every row of a store that can be read, and what SQLite says is wrong with the file; empty for nothing.

    Raises StorageError where the file cannot be read at all.
    """
    try:
        with readable(path) as address, closing(sqlite3.connect(address, uri=True)) as connection:
            if is_unused(connection):
                return [], "it is empty: nothing was written to it yet, or all was lost"
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found == "ok":
                rows = connection.execute("SELECT prefix, key, value FROM store").fetchall()
                if all(isinstance(name, str) for row in rows for name in row[:2]):
                    return [_row(*row) for row in rows], ""
                found = "a row's name is no text"  # no query finds it
    except (sqlite3.DatabaseError, UnicodeDecodeError, StorageError) as error:
        if isinstance(error.__cause__, OSError):
            raise
        found = str(error.__cause__ or error)
    with storage_errors(path):
        return carve(path), str(found)


def carve(path: Path) -> list[Row]:
    """Return the rows that stand in the file's pages, whatever became of the tree that leads to them.

    Of several versions of a row the one written last counts. A format of SQLite's own: sqlite.org/fileformat2.html.
    """
    pages = _pages(path)
    free = _free(pages)
    found: dict[tuple[str, str], tuple[int, bytes]] = {}
    for number, page in pages.items():
        if number in free:
            continue
        for rowid, columns in _cells(page, 100 if number == 1 else 0, pages):
            held = [column for column in columns[:_COLUMNS] if column is not None]
            if len(held) < _COLUMNS:
                continue
            prefix, key = (name.decode("utf-8", "replace") for name in held[:2])
            if prefix in ("table", "index"):
                continue  # of SQLite's own list of what there is
            if rowid >= found.get((prefix, key), (-1, ""))[0]:
                found[prefix, key] = (rowid, held[2])
    return [_row(prefix, key, value) for (prefix, key), (_, value) in found.items()]


def _row(prefix: str, key: str, value: object) -> Row:
    # A damaged row may hold a number, or nothing, where SQLite's own check finds no fault.
    try:
        text = text_of(value)
    except ValueError:
        text = readable_part(value) or value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
    return Row(tuple(prefix.split(".")), key, text)


def _journal(path: Path) -> Path:
    return Path(f"{path}-wal")


def _pages(path: Path) -> dict[int, bytes]:
    """Return the pages of a database by number, with those of its journal that were committed in their place."""
    content = path.read_bytes()
    (size,) = struct.unpack_from(">H", content, 16) if len(content) > 18 else (0,)
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        size = 4096  # SQLite's own, where the header is damaged
    pages = {at // size + 1: content[at : at + size] for at in range(0, len(content), size)}
    log = _journal(path).read_bytes() if _journal(path).exists() else b""
    waiting: dict[int, bytes] = {}
    for at in range(32, len(log) - _FRAME - size + 1, _FRAME + size):
        number, commits = struct.unpack_from(">II", log, at)
        if log[at + 8 : at + 16] != log[16:24]:
            break  # of an earlier round of the journal
        waiting[number] = log[at + _FRAME : at + _FRAME + size]
        if commits:
            pages |= waiting
            waiting = {}
    return pages


def _free(pages: dict[int, bytes]) -> set[int]:
    """Return the numbers of the pages that hold nothing any more, as far as their list can be followed."""
    free: set[int] = set()
    (trunk,) = struct.unpack_from(">I", pages[1], 32) if len(pages.get(1, b"")) > 36 else (0,)
    while trunk in pages and trunk not in free:
        page = pages[trunk]
        free.add(trunk)
        trunk, count = struct.unpack_from(">II", page)
        if count * 4 > len(page) - 8:
            break
        free |= set(struct.unpack_from(f">{count}I", page, 8))
    return free


def _cells(page: bytes, start: int, pages: dict[int, bytes]) -> Iterator[tuple[int, list[bytes | None]]]:
    """Yield the id and the columns of each row in a leaf of a table; a row that is damaged is left out."""
    if len(page) < start + 8 or page[start] != _LEAF:
        return
    (count,) = struct.unpack_from(">H", page, start + 3)
    if start + 8 + 2 * count > len(page):
        return
    for at in struct.unpack_from(f">{count}H", page, start + 8):
        try:
            length, at = _varint(page, at)
            rowid, at = _varint(page, at)
            yield rowid, _columns(_payload(page, at, length, pages))
        except (IndexError, KeyError, ValueError, struct.error):
            continue


def _payload(page: bytes, at: int, length: int, pages: dict[int, bytes]) -> bytes:
    """Return what a cell holds, with what runs over into other pages."""
    size = len(page)
    if length <= size - 35:
        return page[at : at + length]
    least = (size - 12) * 32 // 255 - 23
    local = least + (length - least) % (size - 4)
    local = local if local <= size - 35 else least
    parts, (following,) = [page[at : at + local]], struct.unpack_from(">I", page, at + local)
    left, seen = length - local, set[int]()
    while left > 0:
        if following in seen:
            raise ValueError("the pages of a row lead in a circle")
        seen.add(following)
        part = pages[following][4 : 4 + left]
        (following,) = struct.unpack_from(">I", pages[following])
        parts.append(part)
        left -= size - 4
    return b"".join(parts)


def _columns(payload: bytes) -> list[bytes | None]:
    """Return the first columns of a record: the bytes of texts and blobs, anything else as None."""
    end, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < end and len(kinds) < _COLUMNS:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    columns: list[bytes | None] = []
    for kind in kinds:
        length = (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind]
        if end + length > len(payload):
            raise ValueError("a row ends before its last column")
        content = payload[end : end + length]
        columns.append(content if kind >= 12 else None)
        end += length
    return columns


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for byte_at in range(at, at + 8):
        value = (value << 7) | (data[byte_at] & 0x7F)
        if data[byte_at] < 0x80:
            return value, byte_at + 1
    return (value << 8) | data[at + 8], at + 9
