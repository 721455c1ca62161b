"""Settings as they are typed and shown at a terminal: NAME=VALUE, each name spelled as its option."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from recurrentgpt.schema.context import SETTINGS, STORY_SETTINGS
from recurrentgpt.schema.errors import SettingsError

Settings: TypeAlias = dict[str, Any]
"""Some fields of `Context`, by their names."""


def option_name(setting: str) -> str:
    """Return the name of a setting as the command line spells it: `max-words`."""
    return setting.replace("_", "-")


def spell_options(text: str) -> str:
    """Return a message with every setting spelled as at the command line; what is in quotes or in a path stays."""
    return _NAMES.sub(lambda found: option_name(found[0]), text)


_NAMES = re.compile(rf"(?<![\w/\\.'\"])(?:{'|'.join(name for name in SETTINGS if '_' in name)})(?![\w/\\'\"]|[.=]\w)")


def nearest_option(given: str, options: Iterable[str], likeness: float = 0.6) -> str:
    """Return the option that a word is most like, whatever its spelling; empty where none is as much like it, of 1."""
    return next(iter(difflib.get_close_matches(option_name(given.casefold()), options, n=1, cutoff=likeness)), "")


def setting_named(given: str, known: Iterable[str], where: str) -> str:
    """Return which of `known` somebody means; raise SettingsError, with the nearest, for what is not spelled as an option.

    `where` is the command that lists them.
    """
    names = {option_name(name): name for name in known}
    if given not in names:
        near = nearest_option(given, names)
        hint = f"did you mean {near}?" if near else f"`recurrentgpt {where}` lists what there is."
        raise SettingsError(f"There is no setting {given!r}; {hint}")
    return names[given]


def split_pair(pair: str) -> tuple[str, str]:
    """Return name and value of NAME=VALUE; raise SettingsError for what is none."""
    name, equals, value = pair.partition("=")
    if not (equals and name.strip()):
        raise SettingsError(f"{pair!r} is not NAME=VALUE, for example pace=slow.")
    return name.strip(), value


def setting_words(names: Iterable[str], begun: str) -> list[tuple[str, str]]:
    """Return what a word may become, begun like this, with what it is: NAME=, or NAME=VALUE where there are few values."""
    words: list[tuple[str, str]] = []
    for name in names:
        setting, word = SETTINGS.get(name), f"{option_name(name)}="
        if setting is not None and setting.choices and begun.startswith(word):
            words += [(f"{word}{choice}", "") for choice in setting.choices]
        else:
            words.append((word, setting.description if setting is not None else ""))
    return words


def parse_settings(pairs: Iterable[str]) -> Settings:
    """Return the settings that pairs of NAME=VALUE change; an empty value is the default.

    Raises SettingsError for what is no pair, and for a name that no story has.
    """
    settings: Settings = {}
    for pair in pairs:
        given, value = split_pair(pair)
        name = setting_named(given, STORY_SETTINGS, "show STORY --settings")
        settings[name] = value if value.strip() else SETTINGS[name].default
    return settings


def setting_rows(settings: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """Return a row of a table for each setting: its name, its value, and what it does."""
    return [(option_name(name), _format_value(value), SETTINGS[name].description) for name, value in settings.items()]


def _format_value(value: object) -> str:
    if value in ("", None):
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
