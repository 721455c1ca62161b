"""The value of a row of the store as SQLite holds it: JSON, deflated where it is long.

A commit and its vectors take half of the disk so. Rows of earlier versions are plain, and stay as they are.
"""

from __future__ import annotations

import json
import zlib

LONG = 1000
"""Bytes from which a value is deflated."""
_PLAIN = b"{"
"""What plain JSON of a row begins with, and nothing that is deflated."""


def deflated(value: bytes) -> bytes:
    """Return JSON as it is written."""
    return zlib.compress(value) if len(value) >= LONG and value[:1] == _PLAIN else value


def text_of(value: object) -> str:
    """Return the JSON text of a value as it was written; raise ValueError for one that cannot be inflated."""
    if isinstance(value, bytes) and value[:1] != _PLAIN:
        try:
            value = zlib.decompress(value)
        except zlib.error as error:
            raise ValueError("What was deflated is damaged.") from error
    return value.decode() if isinstance(value, bytes) else str(value)


def readable_part(value: bytes) -> str:
    """Return what can be inflated of a damaged value: all up to where the damage is, and perhaps some of what is wrong behind."""
    inflater, found = zlib.decompressobj(), b""
    for byte in value:
        try:
            found += inflater.decompress(bytes([byte]))
        except zlib.error:
            break
    return found.decode("utf-8", "replace")


def value_of(value: object) -> dict[str, object]:
    """Return what a row holds; of one that is damaged, nothing, which no row of ours holds.

    So one damaged row hides none of those that are read with it: whoever asks for its shape is told.
    """
    try:
        found = json.loads(text_of(value))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
