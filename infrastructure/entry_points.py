"""Find what other installed packages add to this one: formats, study systems, measures."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from recurrentgpt.schema.errors import ExtensionError


def list_entry_points(group: str) -> dict[str, str]:
    """Return the names that other packages declare in an entry point group, each with its package; nothing is imported."""
    return {entry.name: entry.dist.name if entry.dist else "?" for entry in sorted(entry_points(group=group))}


def load_entry_point(group: str, name: str) -> Any:
    """Import and return what is declared under a name of `list_entry_points`.

    Raises ExtensionError where its package cannot be imported, or where two packages claim the name.
    """
    found = sorted(entry_points(group=group, name=name))
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
