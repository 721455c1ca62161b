"""Find what other installed packages add to this one: formats, study systems, measures."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any

from recurrentgpt.schema.errors import ExtensionError


def list_entry_points(group: str) -> dict[str, str]:
    """Return the names that other packages declare in an entry point group, each with its package; nothing is imported."""
    return {entry.name: entry.dist.name if entry.dist else "?" for entry in sorted(_declared(group))}


def load_entry_point(group: str, name: str) -> Any:
    """Import and return what is declared under a name of `list_entry_points`.

    Raises ExtensionError where its package cannot be imported, or where two packages claim the name.
    """
    found = sorted(_declared(group).select(name=name))
    packages = " and ".join(sorted({entry.dist.name if entry.dist else "?" for entry in found}))
    if len(found) != 1:
        claim = f"{packages} both offer" if found else "No package offers"
        raise ExtensionError(f"{claim} {name!r} as {group}; keep exactly one of them installed.")
    try:
        return found[0].load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ExtensionError(
            f"The package {packages} offers {name!r} as {group} but cannot be loaded ({reason}); update or remove it."
        ) from error


def _declared(group: str) -> EntryPoints:
    return _read(group, tuple((path, _changed_at(path)) for path in sys.path))


@lru_cache(maxsize=16)
def _read(group: str, folders: tuple[tuple[str, int], ...]) -> EntryPoints:
    """Return a group's entry points in the folders of packages as these are now; reading them takes 5 ms."""
    return entry_points(group=group)


def _changed_at(path: str) -> int:
    """Return when something was last installed into a folder, or removed from it."""
    try:
        return os.stat(path or ".").st_mtime_ns
    except OSError:
        return 0
