"""Settings as they are typed and shown at a terminal: NAME=VALUE, each name spelled as its option."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from recurrentgpt.schema.context import SETTINGS, STORY_SETTINGS
from recurrentgpt.schema.errors import SettingsError

Settings: TypeAlias = dict[str, Any]
"""Some fields of `Context`, by their names."""


def option_name(setting: str) -> str:
    """Return the name of a setting as the command line spells it: `max-words`."""
    return setting.replace("_", "-")


def parse_settings(pairs: Iterable[str]) -> Settings:
    """Return the settings that pairs of NAME=VALUE change; an empty value is the default.

    Raises SettingsError for what is no pair, and for a name that no story has.
    """
    names = {option_name(name): name for name in STORY_SETTINGS}
    settings: Settings = {}
    for pair in pairs:
        given, equals, value = pair.partition("=")
        name = option_name(given.strip())
        if not equals:
            raise SettingsError(f"{pair!r} is not NAME=VALUE, for example pace=slow.")
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
            raise SettingsError(f"A story has no setting {given.strip()!r}; {hint}")
        settings[names[name]] = value if value.strip() else SETTINGS[names[name]].default
    return settings


def setting_rows(settings: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """Return a row of a table for each setting: its name, its value, and what it does."""
    return [(option_name(name), _shown(value), SETTINGS[name].description) for name, value in settings.items()]


def _shown(value: object) -> str:
    if value in ("", None):
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
