"""The user's config file, `config.toml` in the home: what holds where no option and no environment variable says otherwise."""

from __future__ import annotations

import functools
import json
import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from recurrentgpt.schema.errors import SettingsError, StorageError

NAME = "config.toml"

Value = str | int | float | bool


def stored(folder: Path) -> Mapping[str, Value]:
    """Return what the config file of a home holds, by the names of the settings; raise SettingsError for one that is none."""
    path = folder / NAME
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return {}
    return _read(path, changed)


@functools.lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> Mapping[str, Value]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read ({error}): mend it, or delete it.") from error
    for name, value in content.items():
        if not isinstance(value, Value):
            raise SettingsError(f"{name} in {path} is neither a text nor a number nor true or false: mend it.")
    return {name.replace("-", "_"): value for name, value in content.items()}


def store(folder: Path, changes: Mapping[str, Value | None]) -> Path:
    """Write settings to the config file of a home, which appears whole or not at all, and return it; None takes one away."""
    kept = {name: value for name, value in {**stored(folder), **changes}.items() if value is not None}
    lines = [f"{name.replace('_', '-')} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in kept.items()]
    path, part = folder / NAME, folder / f"{NAME}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write("".join(sorted(lines)))
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise StorageError(f"{path} cannot be written: {error.strerror or error}.") from error
    _read.cache_clear()
    return path
