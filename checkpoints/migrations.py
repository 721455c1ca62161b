"""Bring a story log of an earlier version to this one, each step in one transaction with the number of its version.

A step is frozen: it repeats the few lines that it needs of how the log is written, so that those may change after it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from recurrentgpt.checkpoints.sqlite_faults import SCHEMA_VERSION, storage_errors


def migrate(path: Path) -> None:
    """Bring the story log in a file to `SCHEMA_VERSION`; killed at any moment, the file is as it was or as it shall be."""
    with storage_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for older in range(version, SCHEMA_VERSION):
            MIGRATIONS[older](connection)
            connection.execute(f"PRAGMA user_version = {older + 1}")
        connection.execute("COMMIT")


def _seal_links(connection: sqlite3.Connection) -> None:
    """Give every link of version 1 that has none the digest of its commit, by which damage to all of the commit is told.

    A commit that is not what its id says gets none, so that `check` goes on calling it damaged.
    """
    if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'store'").fetchone()[0]:
        return  # killed before it had a table
    places = connection.execute("SELECT prefix, key FROM store WHERE prefix LIKE 'recurrentgpt.%'").fetchall()
    for prefix, key in places:
        *root, table, story = prefix.split(".")
        if table != "links" or tuple(root[1:2]) not in ((), ("users",)):
            continue
        commits = ".".join([*root, "commits", story])
        link, commit = _row(connection, prefix, key), _row(connection, commits, key)
        if link is None or commit is None or "digest" in link:
            continue
        if _is_whole(commit, link, _row(connection, commits, str(commit.get("amends", "")))):
            about = {
                "created": commit.get("created"),
                "left": commit.get("left", ""),
                "text": _short(commit["passage"]),
            }
            sealed = {**about, **link, "digest": _digest(json.dumps(commit, ensure_ascii=False, sort_keys=True))}
            value = json.dumps(sealed, ensure_ascii=False, separators=(",", ":")).encode()
            connection.execute("UPDATE store SET value = ? WHERE prefix = ? AND key = ?", (value, prefix, key))


def _row(connection: sqlite3.Connection, prefix: str, key: str) -> dict[str, Any] | None:
    """Return a row of the store; None where there is none, or it is damaged."""
    found = connection.execute("SELECT value FROM store WHERE prefix = ? AND key = ?", (prefix, key)).fetchone()
    try:
        value = json.loads(found[0]) if found else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_whole(commit: Mapping[str, Any], link: Mapping[str, Any], corrected: Mapping[str, Any] | None) -> bool:
    """Tell whether a commit is what its id says; of a corrected version its passage alone can be told."""
    try:
        if commit["amends"]:
            other = _short(corrected["passage"]) if corrected else ""
            return bool(_short(commit["passage"]) == link.get("text", other))
        content = [commit["parent"] or commit["story"], commit["plan"], commit["passage"]]
        if commit.get("overlay"):
            content.append(commit["overlay"])
        return bool(_digest(json.dumps(content, ensure_ascii=False)) == commit["id"])
    except (AttributeError, KeyError, TypeError):
        return False


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _short(passage: str) -> str:
    return hashlib.sha256(passage.encode()).hexdigest()[:8]


def _leave_as_it_is(connection: sqlite3.Connection) -> None:
    """Change nothing: what version 2 wrote is read as it is, and version 3 is for programs that cannot read what follows it."""


MIGRATIONS: Mapping[int, Callable[[sqlite3.Connection], None]] = {1: _seal_links, 2: _leave_as_it_is}
"""What brings a log of this version to the next one."""
