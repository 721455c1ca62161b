"""A mapping that is never changed, of which a changed copy shares nearly all with the one before it.

So a value is kept as of every passage of a long story, and what differs between two passages is found without looking at all
of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

PARTS = 256
"""What differs is looked for in those parts that two maps do not share."""

V = TypeVar("V")


class SharedMap(Mapping[str, V]):
    """Values by keys."""

    __slots__ = ("_parts",)
    _parts: tuple[Mapping[str, V], ...]

    def __init__(self, values: Mapping[str, V] | None = None) -> None:
        parts: list[dict[str, V]] = [{} for _ in range(PARTS)] if values else []
        for key, value in (values or {}).items():
            parts[hash(key) % PARTS][key] = value
        self._parts = tuple(parts) or ({},) * PARTS

    def __getitem__(self, key: str) -> V:
        return self._parts[hash(key) % PARTS][key]

    def __iter__(self) -> Iterator[str]:
        return (key for part in self._parts for key in part)

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def changed(self, values: Mapping[str, V | None]) -> SharedMap[V]:
        """Return a map with these values, and without the keys whose value is None."""
        parts = list(self._parts)
        for key, value in values.items():
            part = {**parts[hash(key) % PARTS], key: value}
            parts[hash(key) % PARTS] = {known: own for known, own in part.items() if own is not None}
        changed = SharedMap[V]()
        changed._parts = tuple(parts)
        return changed

    def changed_since(self, other: SharedMap[V]) -> list[str]:
        """Return the keys whose values are others than in `other`, and those that one of the two lacks."""
        parts = [(own, old) for own, old in zip(self._parts, other._parts, strict=True) if own is not old]
        return [key for own, old in parts for key in own.keys() | old.keys() if own.get(key) is not old.get(key)]
