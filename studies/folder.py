"""The folder of a run: its plan and manifest, its novels, its calls, and what failed.

manifest.json     what ran: commit, versions, plan, models, seeds, when
novels/ID.json    one finished novel each, never written twice
calls/ID.jsonl    its calls
failures.jsonl    what went wrong, the latest last
stories.db        the story log, for `RECURRENTGPT_HOME=RUN recurrentgpt show ID`
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock, Timeout

from recurrentgpt.errors import StorageError
from recurrentgpt.studies.faults import StudyError
from recurrentgpt.studies.plan import Job, Plan

FORMAT = 1
_PACKAGES = ("recurrentgpt", "langgraph", "langchain-core", "langchain-openai", "numpy", "sentence-transformers")


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, plan: Plan) -> RunFolder:
        """Return the folder of a plan, new or to be gone on with; raise StudyError where it holds another plan's run."""
        folder = cls(path)
        asked = plan.model_dump(mode="json")
        if folder._manifest.exists():
            if (known := folder.manifest["plan"]) != asked:
                differs = next(name for name in {**asked, **known} if asked.get(name) != known.get(name))
                raise StudyError(
                    f"{path} holds a run of another plan ({differs} differs): name another folder, or restore that plan."
                )
            return folder
        if path.exists() and any(path.iterdir()):
            raise StudyError(f"{path} is not empty and no run of a study: name a new folder.")
        try:
            path.mkdir(parents=True, exist_ok=True)
            made = {"format": FORMAT, "run": uuid4().hex, **_surroundings(), "plan": asked}
            folder._write(folder._manifest, _text(made))
        except OSError as error:
            raise StorageError(f"Cannot write in {path} ({error.strerror}): check its permissions.") from error
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the folder of a run that exists."""
        folder = cls(path)
        if not folder._manifest.exists():
            raise StudyError(f"{path} is no run of a study, it has no manifest: `recurrentgpt study run` makes one.")
        _ = folder.manifest
        return folder

    @property
    def _manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def manifest(self) -> dict[str, Any]:
        """Return what ran; raise StudyError for a manifest of another version."""
        found = _read(self._manifest)
        if found.get("format") != FORMAT:
            raise StudyError(
                f"{self.path} was made by another version of this program (format {found.get('format')}, this one reads "
                f"{FORMAT}): read it with that version, or run the plan into a new folder."
            )
        return found

    @property
    def plan(self) -> Plan:
        """Return the plan that ran."""
        return Plan.model_validate(self.manifest["plan"])

    @property
    def run(self) -> str:
        """Return what tells this run from all others, also on a server that writes for many."""
        manifest = self.manifest
        return str(manifest.get("run") or f"{manifest['created']} {manifest['machine']}")

    def calls(self, job: Job) -> Path:
        """Return the file of a novel's calls."""
        return self.path / "calls" / f"{job.id}.jsonl"

    def novel(self, job: Job) -> dict[str, Any] | None:
        """Return a finished novel, or None."""
        path = self.path / "novels" / f"{job.id}.json"
        return _read(path) if path.exists() else None

    def novels(self) -> list[dict[str, Any]]:
        """Return every finished novel, in the order of the plan."""
        return [novel for job in self.plan.jobs() if (novel := self.novel(job)) is not None]

    def finish(self, job: Job, novel: dict[str, Any]) -> None:
        """Write a finished novel, at once or not at all."""
        self._write(self.path / "novels" / f"{job.id}.json", _text(novel))

    def write_calls(self, job: Job, lines: Sequence[str]) -> None:
        """Write all calls of a novel that were recorded elsewhere, at once or not at all."""
        self._write(self.calls(job), "".join(f"{line}\n" for line in lines))

    def fail(self, job: Job, error: str) -> None:
        """Note that a novel could not be finished."""
        self.append("failures.jsonl", {"novel": job.id, "error": error, "at": _now()})

    def failures(self) -> list[dict[str, Any]]:
        """Return the last failure of every novel that is not finished."""
        last = {row["novel"]: row for row in self.rows("failures.jsonl")}
        return [last[job.id] for job in self.plan.jobs() if job.id in last and self.novel(job) is None]

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Append a line of JSON to one of the run's files."""
        with (self.path / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of one of the run's files; half a line at its end, which a crash left, is not one."""
        path = self.path / name
        if not path.exists():
            return []
        found: list[dict[str, Any]] = []
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    found.append(json.loads(line))
            except ValueError as error:
                if number == len(lines):
                    break
                raise StudyError(f"{path} is damaged in line {number}: mend or delete that line.") from error
        return found

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the right to write in this folder."""
        lock = FileLock(self.path / "run.lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise StudyError(f"{self.path} is being written by another process: wait for it, or stop it.") from error
        try:
            yield
        finally:
            lock.release()

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudyError(
            f"{path} cannot be read ({error}): restore it, or delete it and run the plan again."
        ) from error
    if not isinstance(found, dict):
        raise StudyError(f"{path} holds no object: restore it, or delete it and run the plan again.")
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _surroundings() -> dict[str, Any]:
    """Return where and with what the run began."""
    versions: dict[str, str] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"created": _now(), "commit": _commit(), "versions": versions, "machine": platform.platform()}


def _commit() -> str:
    """Return the commit of the source that runs, with + for changes; empty outside of a repository."""
    here = Path(__file__).resolve().parent
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],  # noqa: S607
            cwd=here,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
