"""What the desk keeps beside the stories: settings, the key of an endpoint, and drafts of passages in the making."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, cast

from typing_extensions import TypedDict

from recurrentgpt.desk.backend.asked_change import AskedChange
from recurrentgpt.desk.backend.job_state import Progress, Suggestion
from recurrentgpt.schema.errors import SettingsError, StorageError
from recurrentgpt.schema.state import StoryInput, Usage

MACHINE = "desk"
"""The name under which is kept what holds for every story."""
LONGEST_KEY = 500
_KEY = "OPENAI_API_KEY"


class Saved(TypedDict, total=False):
    """What one file holds: settings and the key of the machine, or all that a story has beside its log."""

    settings: Mapping[str, Any]
    api_key: str
    opening: StoryInput
    """What a story that is not in the log yet is to begin from."""
    draft: Mapping[str, Any]
    """The words of the passage in the making; see `Draft`."""
    aside: list[Mapping[str, Any]]
    edits: list[Mapping[str, str]]
    """The texts of edits that are not in the log; see `Edit`."""
    edit: Mapping[str, str]
    """The only one of them that an earlier desk kept."""
    unread: Progress
    """How far an import came that was stopped."""
    memory_changes: list[Mapping[str, str]]
    """Edits of the memory that wait for the passage in the making."""
    codex_changes: list[AskedChange]
    """Changes of the codex that wait for it."""
    unrecorded: dict[str, Any]
    """Settings that were changed meanwhile, which the story's own record has when it is there."""
    suggestions: list[Suggestion]
    """What is suggested for selections, and neither taken nor left."""
    queue: list[str]
    """Plans that wait to be written one after the other."""
    shown: list[str]
    """What chats of the endpoint were shown of a first reply before it was stopped; see `stopped_chats`."""
    user: str
    """Who began it at the endpoint, as their client names them, in a chat of that one message."""
    uncommitted: Usage
    """What calls have cost that no commit holds; see `Ledger`."""


class DiskStore:
    """One JSON file for the machine and one per story, readable by their owner alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment_key = os.environ.get(_KEY)
        self._lock = Lock()

    def read(self, name: str) -> Saved:
        """Return what is kept under a name; nothing where there is nothing, or nothing that can be read."""
        return _read(self._path(name))

    def write(self, name: str, changes: Mapping[str, Any]) -> None:
        """Merge changes into what is kept under a name; None takes an entry away. Not for an event loop."""
        with self._lock:
            value = {key: entry for key, entry in {**self.read(name), **changes}.items() if entry is not None}
            path = self._path(name)
            partial = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(value, file, ensure_ascii=False)
                os.replace(partial, path)
            except OSError as error:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
                raise StorageError(
                    f"Cannot write in {self.folder} ({error.strerror}): check its permissions."
                ) from error

    def remove(self, name: str) -> None:
        """Take away all that is kept under a name. Not for an event loop."""
        with self._lock, suppress(FileNotFoundError):
            self._path(name).unlink()

    def settings(self, name: str = MACHINE) -> Mapping[str, Any]:
        """Return the settings of a story, or of the machine."""
        return self.read(name).get("settings", {})

    def write_settings(self, name: str, settings: Mapping[str, Any]) -> None:
        """Replace the settings that are kept under a name; None is no choice. Not for an event loop."""
        self.write(name, {"settings": {key: value for key, value in settings.items() if value is not None}})

    def openings(self) -> list[tuple[StoryInput, float]]:
        """Return what each story that is not in the log yet is to begin from, and since when. Not for an event loop."""
        found = []
        for path in self.folder.glob("[!.]*.json"):
            with suppress(OSError):
                if opening := _read(path).get("opening"):
                    found.append((opening, path.stat().st_mtime))
        return found

    # The key of the endpoint

    def apply_key(self) -> None:
        """Give the kept key to the models of this process; without one, the environment's own holds again."""
        key = self.read(MACHINE).get("api_key") or self._environment_key
        if key:
            os.environ[_KEY] = key
        else:
            os.environ.pop(_KEY, None)

    def write_key(self, key: str) -> None:
        """Keep a key, or forget it when it is empty."""
        self.write(MACHINE, {"api_key": checked_key(key) or None})
        self.apply_key()

    @property
    def key_source(self) -> str:
        """Where the key comes from: `kept`, `environment` or nowhere; never the key."""
        if self.read(MACHINE).get("api_key"):
            return "kept"
        return "environment" if self._environment_key else ""

    def _path(self, name: str) -> Path:
        return self.folder / f"{re.sub(r'[^0-9A-Za-z_-]', '_', name)[:64]}.json"


def checked_key(key: str) -> str:
    """Return a key without white space around it; raise SettingsError for one that cannot be sent."""
    key = key.strip()
    if len(key) > LONGEST_KEY or (key and not (key.isascii() and key.isprintable())):
        raise SettingsError(f"A key is at most {LONGEST_KEY} plain characters; look at it again.")
    return key


def _read(path: Path) -> Saved:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast(Saved, found) if isinstance(found, dict) else {}
