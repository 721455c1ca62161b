"""Keep what the embedded model computed for the fixed beginnings of our prompts, so that the next start need not.

A small model's prompt begins with examples that never change. Reading them takes two cores some twenty seconds, more than
writing a first sentence; llama.cpp can write the result (its KV cache) to a file and load it in milliseconds. It ends the
process at a damaged file, so each file's name holds its checksum, which is compared before llama.cpp sees it.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import hashlib
import json
import logging
import shutil
import time
import uuid
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage

from recurrentgpt.infrastructure import settings

if TYPE_CHECKING:
    import openai

    from recurrentgpt.models.embedded.adapter import Adapter

logger = logging.getLogger(__name__)

MOST_FILES = 8
"""Beginnings kept of one model, 10 to 30 MB each: five kinds of call, and some of another language or mode."""

SLOTS = 2
"""Calls that run side by side: a timestep makes two at once. They save from different slots."""

ABANDONED_SECONDS = 3600.0
"""Age at which an unfinished file is nobody's."""


class Snapshots:
    """The kept beginnings of prompts of one model file, and which of them its running server has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: set[str] = set()

    @classmethod
    def of(cls, model: Path, adapter: Adapter | None = None) -> Snapshots:
        """Return those of a model file and its adapter, as this llama.cpp makes them; delete what an earlier one left."""
        files = [model, adapter.path] if adapter else [model]
        stats = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        identity = json.dumps([stats, adapter.scale if adapter else None, version("xllamacpp")])
        cache = settings.home() / "cache"
        stem = f"{model.stem}+{adapter.path.stem}" if adapter else model.stem
        snapshots = cls(cache / f"{stem}.{hashlib.sha256(identity.encode()).hexdigest()[:12]}")
        for other in cache.glob(f"{glob.escape(stem)}.*"):
            if other != snapshots.folder:
                shutil.rmtree(other, ignore_errors=True)
        return snapshots

    def sound(self) -> list[str]:
        """Return the names of the files that can be loaded, the newest first; delete the others."""
        self._known, names = set(), list[str]()
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
                if len(names) < MOST_FILES and path.name.endswith(f".{_checksum(path)}.kv"):
                    names.append(path.name)
                    self._known.add(path.name.partition(".")[0])
                elif path.suffix == ".kv" or time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                    path.unlink()
        return names

    def clear(self) -> None:
        """Delete every file."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.sound()

    async def keep(self, client: openai.AsyncOpenAI, messages: Sequence[BaseMessage]) -> int:
        """Compute the fixed beginning of `messages` and save it, where it has one that is not kept yet; return its tokens.

        The server has it in memory afterwards, so the call that follows computes only the rest. What cannot be saved
        is computed again at the next start.
        """
        fixed = beginning(messages)
        name = hashlib.sha256(json.dumps(fixed).encode()).hexdigest()[:16]
        if not fixed or name in self._known:
            return 0
        slot, part = len(self._known) % SLOTS, f"{uuid.uuid4().hex}.part"
        self._known.add(name)
        reply: Any = await client.chat.completions.create(
            model="embedded",
            messages=fixed,  # type: ignore[arg-type]
            max_tokens=0,
            extra_body={"id_slot": slot},
        )
        server = str(client.base_url).partition("/v1")[0]
        saved = await _save(client, f"{server}/slots/{slot}?action=save", part)
        # Another call may have come in between and taken the slot.
        computed = int(reply.usage.prompt_tokens)
        whole = saved == computed
        await asyncio.to_thread(self._finish, part, name if whole else "")
        return computed

    def _finish(self, part: str, name: str) -> None:
        path = self.folder / part
        try:
            if name:
                path.rename(self.folder / f"{name}.{_checksum(path)}.kv")
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            logger.info(
                "The beginning of a prompt was not kept (%s); the next start computes it again.", error.strerror
            )


def beginning(messages: Sequence[BaseMessage]) -> list[dict[str, str]]:
    """Return the leading messages that are the same in every call of their kind: those up to the last example."""
    last = max((at for at, message in enumerate(messages) if getattr(message, "example", False)), default=-1)
    roles = {"system": "system", "human": "user", "ai": "assistant"}
    return [{"role": roles[message.type], "content": str(message.text)} for message in messages[: last + 1]]


async def _save(client: openai.AsyncOpenAI, url: str, filename: str) -> int:
    """Let the server write a slot to a file, and return its tokens; 0 when it could not, for a full disk."""
    import openai

    try:
        reply = await client.post(url, body={"filename": filename}, cast_to=dict[str, Any])
    except openai.APIStatusError as error:
        logger.info("The beginning of a prompt was not kept (%s); the next start computes it again.", error.status_code)
        return 0
    return int(reply.get("n_saved", 0))


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
