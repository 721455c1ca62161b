"""The shape of a row of the log, checked where it is read: what a disk has damaged is told as that, and by its story."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from recurrentgpt.schema.errors import StorageError

Shape = TypeVar("Shape")


_ADAPTERS: dict[object, TypeAdapter[Any]] = {}


def fits(shape: type[Any], row: object) -> bool:
    """Tell whether a row has what its shape asks for, each of its kind."""
    adapter = _ADAPTERS.get(shape) or _ADAPTERS.setdefault(shape, TypeAdapter(shape))
    try:
        adapter.validate_python(row, strict=True)
    except ValidationError:
        return False
    return True


def shaped(shape: type[Shape], row: Mapping[str, Any], story: str) -> Shape:
    """Return a row of a story, as it stands; raise StorageError where it is none of this shape."""
    if not fits(shape, row):
        raise damage(story)
    return cast(Shape, row)


def damage(story: str) -> StorageError:
    """Return what tells that the rows of a story are not as they were written."""
    return StorageError(f"Story {story[:60]} is damaged on the disk: `recurrentgpt check` says what is whole.")
