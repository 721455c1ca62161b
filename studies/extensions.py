"""Systems and measures that other installed packages add by entry points."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, TypeVar

from recurrentgpt.infrastructure.entry_points import list_entry_points, load_entry_point
from recurrentgpt.studies.errors import StudyError


class Named(Protocol):
    """Something that a registry knows by its name."""

    @property
    def name(self) -> str:
        """Return the name."""


T = TypeVar("T", bound=Named)


def load_extensions(group: str, kind: type[T], taken: Collection[str]) -> dict[str, T]:
    """Return by name what other packages declare in an entry point group.

    Raises StudyError where a name is taken by this package, or where the object is no `kind` of that name, and ExtensionError
    where a package cannot be imported or two claim one name.
    """
    found: dict[str, T] = {}
    for name, package in list_entry_points(group).items():
        if name in taken:
            raise StudyError(
                f"The package {package} offers {name!r} as {group}, a name that is taken: rename it there, or remove it."
            )
        loaded = load_entry_point(group, name)
        if not isinstance(loaded, kind) or loaded.name != name:
            raise StudyError(
                f"What the package {package} offers {name!r} as {group} is no {kind.__name__} of that name: update or remove it."
            )
        found[name] = loaded
    return found
