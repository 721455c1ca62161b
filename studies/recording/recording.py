"""Record every call of a chat model as a line of JSON, and answer from such a file without the model.

One file is one novel (or one judge): a header, then a line per call with the hash of its prompt, its parameters, its reply
and what it cost. A line is written when its call is over, so a process that dies leaves a readable file.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import TypeAdapter, ValidationError

# Pydantic cannot read Python 3.11's own.
from typing_extensions import TypedDict

from recurrentgpt.studies.errors import StudyError, first_error
from recurrentgpt.studies.recording import jsonl

FORMAT, VERSION = "recurrentgpt-calls", 1


@dataclass(frozen=True)
class RoleModel:
    """What a role's model was when its calls were recorded: as much as decides what a prompt looks like."""

    name: str
    tier: str
    embedded: bool
    openai: bool
    profile: str = field(default="", compare=False)
    """Name of its endpoint's profile; recordings from before there were any have none."""


@dataclass(frozen=True)
class Call:
    """One recorded call."""

    key: str
    """Hash of role, messages and parameters."""
    role: str
    step: int
    reply: str
    cuts: list[int]
    """Where the reply was divided as it streamed in: positions in characters, first and last left out."""
    usage: dict[str, int]
    finish_reason: str
    whole: bool
    """Whether the reply ended by itself, and not because its reader had enough or it failed."""
    seconds: float
    failed: bool = False
    """Whether an error ended the reply, or the wait for the rest of it."""

    @property
    def pieces(self) -> list[str]:
        """Return the reply as it streamed in."""
        return [self.reply[start:end] for start, end in pairwise([0, *self.cuts, len(self.reply)])]


class _Header(TypedDict):
    role: str
    model: RoleModel


_CALL: TypeAdapter[Call] = TypeAdapter(Call)
_HEADER: TypeAdapter[_Header] = TypeAdapter(_Header)


def call_key(role: str, messages: Sequence[BaseMessage], parameters: Mapping[str, Any]) -> str:
    """Return the hash by which a call is found again: 24 hexadecimal digits of SHA-256."""
    content = [role, [[message.type, str(message.text)] for message in messages], parameters]
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


class Recorder:
    """What any recorder does; where the lines go is its kind's own affair. Safe to use from several tasks and threads.

    With `prompts` the messages are kept too; without, their hash alone, which is enough to answer the same prompts again.
    `where` is what messages of errors call the recording.
    """

    def __init__(self, where: str, roles: dict[str, RoleModel], *, prompts: bool = True) -> None:
        self.where, self.prompts = where, prompts
        self._lock = threading.Lock()
        self._roles = roles

    @property
    def roles(self) -> dict[str, RoleModel]:
        """Return which model has played which role."""
        return dict(self._roles)

    def add_role(self, role: str, model: RoleModel) -> None:
        """Write down what model plays a role, the first time it does."""
        with self._lock:
            known = self._roles.get(role)
            if known == model:
                return
            if known is not None:
                raise StudyError(
                    f"{self.where} was begun with {known.name} as {role}, and this run has {model.name}: give the plan its "
                    "old model back, or run it into a new folder."
                )
            self._roles[role] = model
            self._write({"format": FORMAT, "version": VERSION, "role": role, "model": model.__dict__})

    def add(self, call: Call, messages: Sequence[BaseMessage], parameters: Mapping[str, Any]) -> None:
        """Append one call."""
        row: dict[str, Any] = {**call.__dict__, "parameters": parameters, "at": datetime.now(UTC).isoformat()}
        if not self.prompts:
            row["parameters"] = {name: value if _short(value) else "..." for name, value in parameters.items()}
        else:
            row["messages"] = [[message.type, str(message.text)] for message in messages]
        with self._lock:
            self._write(row)

    async def flush(self) -> None:
        """Bring to its place what was added."""

    def _write(self, row: dict[str, Any]) -> None:
        raise NotImplementedError


class FileRecorder(Recorder):
    """Append calls to a file, at once; also after a crash."""

    def __init__(self, path: Path, *, prompts: bool = True) -> None:
        super().__init__(str(path), read_roles(path) if path.exists() else {}, prompts=prompts)
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def _write(self, row: dict[str, Any]) -> None:
        jsonl.append(self.path, row)


@dataclass
class Recording:
    """A recording to answer from."""

    path: Path
    roles: dict[str, RoleModel]
    calls: list[Call]
    fields: set[str]
    """Names of all parameters that any call had."""
    seeds: dict[str, Any]
    """Seed of each call by its key: it tells which of a step's calls is which, whatever its prompt says."""
    in_order: bool = False
    """Whether a prompt that was not recorded is answered with the role's next call of that step."""
    outdated: int = 0
    """Calls that were answered so, for the prompts have changed since the recording."""
    _found: dict[str, Call] = field(default_factory=dict)
    _played: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path, *, in_order: bool = False) -> Recording:
        """Read a recording; raise StudyError where it is missing, cut off, or not one of this version."""
        rows = _rows(path)
        roles = _roles(path, rows)
        try:
            calls = [_CALL.validate_python(row) for row in rows if "key" in row]
        except ValidationError as error:
            raise StudyError(
                f"{path} has a call that is damaged, {first_error(error)}: record the novel anew."
            ) from error
        # A process that died in a step made its calls again: the later ones are those that the story went on from.
        fields = {name for row in rows for name in row.get("parameters") or ()}
        seeds = {row["key"]: (row.get("parameters") or {}).get("seed") for row in rows if "key" in row}
        return cls(path, roles, calls, fields, seeds, in_order, _found={call.key: call for call in calls})

    @property
    def seconds(self) -> float:
        """Return how long the calls took, when they were recorded, that have been asked for since."""
        return sum(self._found[key].seconds for key in self._played)

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def find(self, key: str, role: str, step: int, seed: int | None = None) -> Call:
        """Return the call of this key; raise StudyError where none was recorded.

        A recording that is replayed `in_order` takes instead a call of this role and step that nothing has asked for, that of
        this seed or else the next one, and the last one again where more are asked for than there were.
        """
        call = self._found.get(key)
        if call is None and self.in_order:
            made = [call for call in self._found.values() if (call.role, call.step, call.failed) == (role, step, False)]
            left = [call for call in made if call.key not in self._played] or made[-1:]
            same = (call for call in left if seed is not None and self.seeds.get(call.key) == seed)
            call = next(same, left[0] if left else None)
            self.outdated += call is not None
        if call is None:
            raise StudyError(
                f"{self.path.name} holds no answer to the {role}'s prompt at step {step}: prompts, plan or version are not "
                "those of the recording; record it anew with a model (`recurrentgpt study run PLAN --live`)."
            )
        self._played.add(call.key)
        return call


def _short(value: object) -> bool:
    return len(str(value)) <= 40


def model_names(roles: Mapping[str, RoleModel]) -> list[str]:
    """Return the different models that play roles, in alphabetical order."""
    return sorted({role_model.name for role_model in roles.values()})


def recorded_usage(path: Path) -> dict[str, float]:
    """Return what all calls of a recording cost, also those that a crash left behind; nothing where there is none."""
    calls = [row for row in _rows(path, allow_partial=True) if "key" in row] if path.exists() else []
    if not calls:
        return {}
    tokens = {
        f"{kind}_tokens": sum(row["usage"].get(kind, 0) for row in calls) for kind in ("input", "cached", "output")
    }
    return {"calls": len(calls), **tokens, "seconds": round(sum(row["seconds"] for row in calls), 3)}


def recorded_days(paths: Iterable[Path]) -> list[str]:
    """Return the days on which calls of these recordings were made, as `2026-11-22`; nothing of one that cannot be read."""
    days: set[str] = set()
    for path in paths:
        with suppress(StudyError):
            days |= {str(row["at"])[:10] for row in _rows(path, allow_partial=True) if "at" in row}
    return sorted(days)


def read_roles(path: Path) -> dict[str, RoleModel]:
    """Return which model plays which role in a recording."""
    return _roles(path, _rows(path, allow_partial=True))


def _roles(path: Path, rows: list[dict[str, Any]]) -> dict[str, RoleModel]:
    found: dict[str, RoleModel] = {}
    for row in rows:
        if "format" not in row:
            continue
        if row["format"] != FORMAT or row.get("version") != VERSION:
            raise StudyError(f"{path} is a recording of version {row.get('version')}; this program reads {VERSION}.")
        try:
            header = _HEADER.validate_python(row)
        except ValidationError as error:
            raise StudyError(
                f"{path} has a damaged header, {first_error(error)}: copy it again or record it anew."
            ) from error
        found[header["role"]] = header["model"]
    if rows and not found:
        raise StudyError(f"{path} is not a recording of calls: it has no header.")
    return found


def _rows(path: Path, *, allow_partial: bool = False) -> list[dict[str, Any]]:
    """Return the rows of a file; with `allow_partial`, a last line that a crash cut off is left out."""
    try:
        return jsonl.read(path, allow_partial=allow_partial)
    except OSError as error:
        raise StudyError(f"The recording {path} cannot be read ({error}): copy it again or record it anew.") from error
    except jsonl.DamagedLine as error:
        raise StudyError(
            f"The recording {path} is cut off or damaged in line {error.number}: copy it again, or delete it and run the "
            "plan again with its model."
        ) from error
