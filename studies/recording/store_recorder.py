"""The calls of a novel that a server writes: in the graph's store, until whoever runs the study has fetched them."""

from __future__ import annotations

import secrets
import time
from typing import Any

from langgraph.store.base import GetOp

from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.roles import ROLES
from recurrentgpt.studies.recording.jsonl import to_line
from recurrentgpt.studies.recording.recording import Recorder, RoleModel

_HEADER, _CALL = "0", "1"
"""Beginnings of the keys, in the order of a file."""


class StoreRecorder(Recorder):
    """Put the lines of a recording into the store of a graph, each as soon as its call is over."""

    def __init__(self, log: StoryLog, story: str, roles: dict[str, RoleModel], *, prompts: bool = True) -> None:
        super().__init__(f"The recording of {story}", roles, prompts=prompts)
        self._log, self._place = log, _place(log, story)
        self._waiting: list[tuple[str, dict[str, Any]]] = []

    @classmethod
    async def open(cls, log: StoryLog, story: str, *, prompts: bool = True) -> StoreRecorder:
        """Return the recorder of a story, new or begun before."""
        found = await log.batch([GetOp(_place(log, story), f"{_HEADER}-{role}") for role in ROLES])
        known = [item.value for item in found if item is not None]  # type: ignore[union-attr]
        return cls(log, story, {value["role"]: RoleModel(**value["model"]) for value in known}, prompts=prompts)

    async def flush(self) -> None:
        """Bring to the store what was added, as one batch."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        await self._log.batch([self._log.put(self._place, key, value) for key, value in waiting])

    def _write(self, row: dict[str, Any]) -> None:
        if "format" in row:
            self._waiting.append((f"{_HEADER}-{row['role']}", {**row, "line": to_line(row)}))
            return
        self._waiting.append((f"{_CALL}-{time.time_ns():020d}-{secrets.token_hex(4)}", {"line": to_line(row)}))


async def recorded_lines(log: StoryLog, story: str) -> list[str]:
    """Return the lines of a story's recording, headers first, then the calls as they ended."""
    rows = await log.scan(_place(log, story))
    return [str(row.value["line"]) for row in sorted(rows, key=lambda row: row.key)]


async def delete_lines(log: StoryLog, story: str) -> None:
    """Take a story's recording out of the store, all of it or nothing."""
    place = _place(log, story)
    await log.batch([log.put(place, row.key, None) for row in await log.scan(place)])


def _place(log: StoryLog, story: str) -> tuple[str, ...]:
    return (*log.root, "calls", story)
