"""The value of a row of the store as SQLite holds it: JSON, deflated where it is long.

A commit and its vectors take half of the disk so. Rows of earlier versions are plain, and stay as they are.
"""

from __future__ import annotations

import json
import zlib

from recurrentgpt.schema.errors import StorageError

DAMAGED = "What was stored is damaged on the disk: `recurrentgpt check` says what is whole."

LONG = 1000
"""Bytes from which a value is deflated."""
_PLAIN = b"{"
"""What plain JSON of a row begins with, and nothing that is deflated."""


def deflated(value: bytes) -> bytes:
    """Return JSON as it is written."""
    return zlib.compress(value) if len(value) >= LONG and value[:1] == _PLAIN else value


def text_of(value: object) -> str:
    """Return the JSON text of a value as it was written; raise StorageError for one that cannot be inflated."""
    if isinstance(value, bytes) and value[:1] != _PLAIN:
        try:
            value = zlib.decompress(value)
        except zlib.error as error:
            raise StorageError(DAMAGED) from error
    return value.decode() if isinstance(value, bytes) else str(value)


def value_of(value: object) -> dict[str, object]:
    """Return what a row holds; raise StorageError for one that is no JSON."""
    try:
        found: dict[str, object] = json.loads(text_of(value))
    except ValueError as error:
        raise StorageError(DAMAGED) from error
    return found
