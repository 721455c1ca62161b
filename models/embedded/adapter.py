"""A LoRA adapter beside a model of the embedded server."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from recurrentgpt.infrastructure import settings
from recurrentgpt.schema.errors import SettingsError

NONE = "none"
"""The setting of a model that wears no adapter."""

STRONGEST = 2.0

STORYTELLER = Path(__file__).with_name("storyteller.gguf")
"""The packaged adapter, which the embedded writer wears unless something else is set; `storyteller` names it, too."""

STRENGTH = 0.7
"""Of the packaged adapter where none is named: blind readers found its stories more coherent than at 1."""

_STRENGTH = re.compile(r"(.+)@(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter that a model wears: a GGUF file, and the strength it is applied with."""

    path: Path
    scale: float = 1.0

    @classmethod
    def read(cls, setting: str) -> Adapter:
        """Return the adapter that `PATH`, `PATH@STRENGTH` or `storyteller` names; raise SettingsError where it names none."""
        named = _STRENGTH.fullmatch(setting)
        given = named[1] if named else setting
        path, usual = (STORYTELLER, STRENGTH) if given == STORYTELLER.stem else (Path(given).expanduser(), 1.0)
        scale = float(named[2]) if named else usual
        if scale > STRONGEST:
            raise SettingsError(f"An adapter's strength is 0 to {STRONGEST:g}, not {scale:g}: {setting!r}.")
        if not path.is_file():
            raise SettingsError(
                f"There is no adapter {path}: name a GGUF file, storyteller or none with --adapter or RECURRENTGPT_ADAPTER."
            )
        return cls(path, scale)

    def trained_for(self) -> str:
        """Return the SHA-256 of the model file that it was trained for, as the manifest beside it says; "" without one."""
        return self._told("settings", "base")

    def checksum(self) -> str:
        """Return the SHA-256 that the file itself must have, as the manifest beside it says; "" without one."""
        return self._told("sha256")

    def _told(self, *keys: str) -> str:
        try:
            told = json.loads(self.path.with_suffix(".json").read_text(encoding="utf-8"))
            for key in keys:
                told = told[key]
            return str(told)
        except (OSError, ValueError, KeyError, TypeError):
            return ""


PACKAGED = Adapter(STORYTELLER, STRENGTH)
"""The packaged adapter as it is worn."""


def adapter_in_force(given: str | None, *, own: bool = True) -> Adapter | None:
    """Return the adapter that the embedded model wears: the given one, else the environment's, else the packaged one.

    The last is worn by our `own` writer alone, for it was trained on that file.
    """
    setting = settings.resolve("adapter", given).value
    if setting is None:
        return PACKAGED if own else None
    return None if setting == NONE else Adapter.read(setting)
