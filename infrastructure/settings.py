"""Settings of the machine: where things are kept and which endpoint is used, each with its source.

A value given in code or as a flag beats the environment, the environment beats the config file, and that beats the default.
Settings of a story are in `recurrentgpt.schema.context`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from recurrentgpt.infrastructure.config_file import stored

OPENAI = "https://api.openai.com/v1"
"""The endpoint of a key without an address."""

SettingSource = Literal["given", "environment", "config file", "default"]


@dataclass(frozen=True)
class MachineSetting:
    """One setting: its environment variable, what it does, and whether its value may be shown."""

    name: str
    variable: str
    description: str
    secret: bool = False


MACHINE_SETTINGS = (
    MachineSetting("home", "RECURRENTGPT_HOME", "Folder of stories, checkpoints and models"),
    MachineSetting(
        "database_url", "RECURRENTGPT_DATABASE_URL", "postgresql:// address that replaces SQLite", secret=True
    ),
    MachineSetting(
        "model", "RECURRENTGPT_MODEL", "Model name, or the path of a GGUF file; the embedded model when unset"
    ),
    MachineSetting(
        "adapter",
        "RECURRENTGPT_ADAPTER",
        "LoRA adapter of the embedded model: storyteller (ours) or a GGUF file, either with @STRENGTH (0 to 2), or none; unset: "
        "ours for the embedded writer in English",
    ),
    MachineSetting("base_url", "OPENAI_BASE_URL", "Address of an OpenAI-compatible endpoint"),
    MachineSetting("api_key", "OPENAI_API_KEY", "Key of that endpoint", secret=True),
    MachineSetting(
        "embedder",
        "RECURRENTGPT_EMBEDDER",
        "Folder of a sentence-transformers model, or hash-256 (words, no meaning); the fetched one when unset",
    ),
)
_BY_NAME = {setting.name: setting for setting in MACHINE_SETTINGS}


@dataclass(frozen=True)
class Resolved:
    """A setting's value and where it came from."""

    setting: MachineSetting
    value: str | None
    source: SettingSource

    @property
    def shown(self) -> str:
        """Return the value as it may be printed: secrets only as set or unset."""
        if self.value is None:
            return "unset"
        return "set (hidden)" if self.setting.secret else self.value


def resolve(name: str, given: str | None = None) -> Resolved:
    """Return setting `name`: given, else the environment's, else the config file's, else the default; empty counts as unset."""
    setting = _BY_NAME[name]
    if given:
        return Resolved(setting, given, "given")
    if from_environment := os.environ.get(setting.variable, "").strip():
        return Resolved(setting, from_environment, "environment")
    if name != "home" and not setting.secret and (kept := stored(home()).get(name)):
        return Resolved(setting, str(kept), "config file")
    default = platformdirs.user_data_dir("recurrentgpt", appauthor=False) if name == "home" else None
    return Resolved(setting, default, "default")


def home() -> Path:
    """Return the folder of the user's stories, checkpoints and models; it may not exist yet."""
    value = resolve("home").value
    assert value is not None
    return Path(value).expanduser()
