"""The folder of a run: its plan and manifest, its novels, its calls, and what failed.

manifest.json     what ran: commit, versions, plan, its premises, models by role, seeds, when
novels/ID.json    one finished novel each, never written twice
stopped/ID.json   a novel that failed, as far as it was written
calls/ID.jsonl    its calls
failures.jsonl    what went wrong, the latest last
stories.db        the story log, for `RECURRENTGPT_HOME=RUN recurrentgpt show ID`
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import ValidationError

from recurrentgpt.schema.errors import StorageError
from recurrentgpt.studies.errors import StudyError, first_error
from recurrentgpt.studies.recording import jsonl
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.runs.plan import FIELD_MEANINGS, Job, Judge, Options, Plan, recordings_folder
from recurrentgpt.studies.runs.provenance import collect_provenance, now
from recurrentgpt.studies.runs.schemas import MANIFEST, NOVEL, ROWS, Manifest, NovelRecord, check_form

FORMAT = 1
NOVEL_FIELDS = ("name", "model", "base_url", "tier", "temperature", "embedder", "guards", "banned")
"""What of a plan decides what a novel is, beside its recordings, length, premise and system's options; the rest may change."""
OWN = ("novels", "calls", "stopped")
"""Folders in that of a run."""
_COMPARED = ("unit", "first", "second", "criterion")
VERDICT = ("judge", *_COMPARED)
"""What a verdict is about, by whom."""
_KEYS = {
    "failures.jsonl": ("novel",),
    "qualification.jsonl": ("judge", "criterion"),
    "verdicts.jsonl": VERDICT,
    "labels.jsonl": ("annotator", *_COMPARED),
    "adherence.jsonl": ("judge", "novel", "step"),
    "recall.jsonl": ("system",),
}
"""What the rows of a file are about; of rows about the same thing the last holds."""
_SAID_BY = {
    "qualification.jsonl": "judge",
    "verdicts.jsonl": "judge",
    "adherence.jsonl": "judge",
    "judge_failures.jsonl": "judge",
    "labels.jsonl": "annotator",
}
"""The files of what readers and judges have said, and which field names them."""


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, plan: Plan) -> RunFolder:
        """Return the folder of a plan, new or to be gone on with; raise StudyError where it holds novels of another plan.

        What does not decide the novels may be new, such as judges, prices and more premises: the manifest then has it.
        """
        folder = cls(path)
        folder.check(plan)
        asked = plan.model_dump(mode="json")
        Plan.model_validate(asked)  # a copy of a plan with other fields was not looked at
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not folder._manifest.exists():
                made = {
                    "format": FORMAT,
                    "run": uuid4().hex,
                    **collect_provenance(),
                    "plan": asked,
                    "premises": _said(plan),
                }
                folder._write(folder._manifest, _text(made))
            elif (known := folder.manifest) != (made := {**known, "plan": asked, "premises": _said(plan, known)}):
                with folder.writing_lock():
                    folder._write(folder._manifest, _text(made))
        except OSError as error:
            raise StorageError(f"Cannot write in {path} ({error.strerror}): check its permissions.") from error
        return folder

    def with_added(self, plan: Plan) -> Plan:
        """Return a plan with the judges and rivals that commands have added to this folder's run, if there is one."""
        if not self.exists:
            return plan
        own, named = self.plan, {judge.model for judge in plan.judges}
        kept = [judge for judge in own.judges if judge.added and judge.model not in named]
        return plan.model_copy(update={"judges": [*plan.judges, *kept], "rivals": {**own.rivals, **plan.rivals}})

    def check(self, plan: Plan) -> None:
        """Raise StudyError where the plan cannot be run into this folder."""
        for rival, path in missing_rivals(plan).items():
            raise StudyError(
                f"The rival {rival} is to be in {path}, where there is no run of a study: run it first, or say where it is "
                "(`rivals` of the plan, or `study judge --rival`)."
            )
        if not self._manifest.exists():
            if self.path.exists() and not self.path.is_dir():
                raise StudyError(f"{self.path} is a file: name a folder.")
            if self.path.exists() and any(self.path.iterdir()):
                raise StudyError(f"{self.path} is not empty and no run of a study: name a new folder.")
            if (recordings := recordings_folder(plan)) and not recordings.is_dir():
                raise StudyError(
                    f"{plan.name} was not recorded with guards {plan.guards}: take others, or a model (`--live`)."
                    if plan.replay == "packaged"
                    else f"There is no folder of recordings {plan.replay}: correct `replay`, or take it out."
                )
            return
        if differs := _difference(self.plan, plan):
            raise StudyError(
                f"{self.path} holds a run of another plan ({differs} differs): name another folder, or restore that plan."
            )
        premises: dict[str, dict[str, str]] = self.manifest.get("premises", {})
        for job in plan.jobs():
            if premises.get(job.genre, {}).get(str(job.number), job.premise) != job.premise:
                raise StudyError(
                    f"The premise of {job.id} is not the one that {self.path} was made of: restore that premise, or run the "
                    "plan into a new folder."
                )
            self.novel(job)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the folder of a run that exists."""
        folder = cls(path)
        if not folder._manifest.exists():
            raise StudyError(f"{path} is no run of a study, it has no manifest: `recurrentgpt study run` makes one.")
        _ = folder.manifest
        return folder

    @property
    def exists(self) -> bool:
        """Tell whether the folder holds a run."""
        return self._manifest.exists()

    @property
    def _manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def manifest(self) -> Manifest:
        """Return what ran; raise StudyError for a manifest of another version."""
        found = _read(self._manifest)
        if found.get("format") != FORMAT:
            raise StudyError(
                f"{self.path} was made by another version of this program (format {found.get('format')}, this one reads "
                f"{FORMAT}): read it with that version, or run the plan into a new folder."
            )
        return cast("Manifest", check_form(self._manifest, found, MANIFEST))

    @property
    def plan(self) -> Plan:
        """Return the plan that ran, with the premises that it ran with."""
        manifest = self.manifest
        premises = {
            genre: {int(number): text for number, text in texts.items()}
            for genre, texts in manifest.get("premises", {}).items()
        }
        try:
            return Plan.model_validate(manifest["plan"]).with_premises(premises)
        except ValidationError as error:
            wrong = first_error(error, FIELD_MEANINGS)
            raise StudyError(
                f"The plan in {self._manifest} cannot be read, {wrong}: read it with the version that wrote it, or restore it."
            ) from error

    @property
    def run(self) -> str:
        """Return what tells this run from all others, also on a server that writes for many."""
        manifest = self.manifest
        return str(manifest.get("run") or f"{manifest['created']} {manifest['machine']}")

    def calls(self, job: Job) -> Path:
        """Return the file of a novel's calls."""
        return self.path / "calls" / f"{job.id}.jsonl"

    def novel(self, job: Job) -> NovelRecord | None:
        """Return a finished novel, or None; raise StudyError for one of another premise, or that is damaged."""
        return self._novel(job, "novels")

    def _novel(self, job: Job, kept: str) -> NovelRecord | None:
        path = self.path / kept / f"{job.id}.json"
        if not path.exists():
            return None
        novel = cast("NovelRecord", check_form(path, _read(path), NOVEL))
        if novel["id"] != job.id or novel["system"] != job.system or novel["unit"] != job.unit:
            raise StudyError(f"{path} holds another novel: restore it, or delete it and run the plan again.")
        if novel["premise"] != job.premise:
            raise StudyError(
                f"{path} was written from another premise than the run has: restore that premise, or delete the file and run "
                "the plan again to have the novel written anew."
            )
        return novel

    def novels(self) -> list[NovelRecord]:
        """Return every finished novel, in the order of the plan."""
        return [novel for job in self.plan.jobs() if (novel := self.novel(job)) is not None]

    def stopped_novels(self) -> list[NovelRecord]:
        """Return every novel that failed and is not finished since, as far as it was written, in the order of the plan."""
        failed = {row["novel"] for row in self.failures()}
        jobs = [job for job in self.plan.jobs() if job.id in failed]
        return [novel for job in jobs if (novel := self._novel(job, "stopped")) is not None]

    def compared_novels(self) -> dict[tuple[str, str], NovelRecord]:
        """Return by system and unit every finished novel, and those of rivals under their names, of the same premises.

        A rival whose run is not there, see `missing_rivals`, has none.
        """
        plan, own, missing = self.plan, self.novels(), missing_rivals(self.plan)
        found = {(novel["system"], novel["unit"]): novel for novel in own}
        premises = {novel["unit"]: novel["premise"] for novel in own}
        for rival, path in plan.rivals.items():
            if rival in missing:
                continue
            other = RunFolder.open(path)
            for novel in other.novels():
                if novel["system"] == other.plan.systems[0] and premises.get(novel["unit"]) == novel["premise"]:
                    found[rival, novel["unit"]] = novel
        return found

    def save_novel(self, job: Job, novel: NovelRecord) -> None:
        """Write a finished novel, at once or not at all."""
        self._write(self.path / "novels" / f"{job.id}.json", _text(novel))

    def save_stopped(self, job: Job, novel: NovelRecord) -> None:
        """Write a novel that failed, as far as it was written."""
        self._write(self.path / "stopped" / f"{job.id}.json", _text(novel))

    def write_calls(self, job: Job, jsonl: Sequence[str]) -> None:
        """Write all calls of a novel that were recorded elsewhere, at once or not at all."""
        self._write(self.calls(job), "".join(f"{line}\n" for line in jsonl))

    def add_failure(self, job: Job, error: str) -> None:
        """Note that a novel could not be finished."""
        self.append("failures.jsonl", {"novel": job.id, "error": error, "at": now()})

    def failures(self) -> list[Row]:
        """Return the last failure of every novel that is not finished."""
        last = {row["novel"]: row for row in self.rows("failures.jsonl")}
        return [last[job.id] for job in self.plan.jobs() if job.id in last and self.novel(job) is None]

    def note_models(self, models: Mapping[str, str]) -> None:
        """Note in the manifest which models have played which roles."""
        manifest = self.manifest
        known: dict[str, list[str]] = manifest.get("models", {})
        met = {role: sorted({*known.get(role, ()), model}) for role, model in models.items()}
        if {**known, **met} != known:
            self._write(self._manifest, _text({**manifest, "models": {**known, **met}}))

    def append(self, name: str, row: Row) -> None:
        """Append a line of JSON to one of the run's files."""
        jsonl.append(self.path / name, row)

    def rows(self, name: str) -> list[Row]:
        """Return the lines of one of the run's files, of several about the same thing the last.

        Half a line at the end, which a crash left, is not one. Raises StudyError for lines that cannot be used.
        """
        path = self.path / name
        if not path.exists():
            return []
        try:
            found = jsonl.read(path, allow_partial=True)
        except OSError as error:
            raise StudyError(f"{path} cannot be read ({error.strerror}): check its permissions.") from error
        except jsonl.DamagedLine as error:
            raise StudyError(f"{path} is damaged in line {error.number}: mend or delete that line.") from error
        last: dict[tuple[str, ...], dict[str, Any]] = {}
        for number, row in enumerate(found):
            check_form(path, row, ROWS[name])
            last[tuple(str(row.get(part, "")) for part in _KEYS.get(name, ())) or (str(number),)] = row
        return list(last.values())

    def speakers(self) -> set[str]:
        """Return the names of all readers and judges who have said something, or are to be asked."""
        said = {str(row[by]) for file, by in _SAID_BY.items() for row in self.rows(file)}
        return said | {judge.model for judge in self.plan.judges}

    def forget(self, name: str) -> int:
        """Delete all that a reader or a judge of this name has said, and the judge; return how many lines that were.

        A judge that the plan's own file names is asked again when that plan is run again.
        """
        deleted = 0
        with self.writing_lock():
            for file, by in _SAID_BY.items():
                rows = self.rows(file)
                kept = [row for row in rows if row[by] != name]
                if len(kept) < len(rows):
                    self._write(self.path / file, "".join(f"{jsonl.to_line(row)}\n" for row in kept))
                    deleted += len(rows) - len(kept)
            own = Judge(model=name).file
            for file in (own, f"adherence-{own}"):
                (self.path / "calls" / file).unlink(missing_ok=True)
            judges = [judge for judge in self.plan.judges if judge.model != name]
            without = self.plan.model_copy(update={"judges": judges}).model_dump(mode="json")
            self._write(self._manifest, _text({**self.manifest, "plan": without}))
        return deleted

    @contextmanager
    def writing_lock(self) -> Iterator[None]:
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


def missing_rivals(plan: Plan) -> dict[str, Path]:
    """Return by name where rivals of a plan are to be whose runs are not there."""
    return {rival: path for rival, path in plan.rivals.items() if not RunFolder(path).exists}


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _read(path: Path) -> Row:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudyError(
            f"{path} cannot be read ({error}): restore it, or delete it and run the plan again."
        ) from error
    if not isinstance(found, dict):
        raise StudyError(f"{path} holds no object: restore it, or delete it and run the plan again.")
    return found


def _said(plan: Plan, known: Mapping[str, Any] = MappingProxyType({})) -> dict[str, dict[str, str]]:
    """Return what a plan's premises say, as a manifest has it, beside what the manifest `known` has already."""
    premises: dict[str, dict[str, str]] = known.get("premises", {})
    asked = {genre: {str(number): text for number, text in plan.chosen_premises(genre)} for genre in plan.genres}
    return {genre: {**premises.get(genre, {}), **asked.get(genre, {})} for genre in {**premises, **asked}}


def _difference(old: Plan, new: Plan) -> str:
    """Return the name of the first field that makes the novels of two plans different ones; empty where none does."""
    for name in NOVEL_FIELDS:
        if getattr(old, name) != getattr(new, name):
            return name
    if _place(old) != _place(new):
        return "replay"
    if any(old.length(genre) != new.length(genre) for genre in old.genres if genre in new.genres):
        return "words"
    known = [name for name in old.systems if name in new.systems]
    usual = Options()
    return "options" if any(old.options.get(name, usual) != new.options.get(name, usual) for name in known) else ""


def _place(plan: Plan) -> str:
    """Return where the recordings of a plan are, for earlier versions kept the path as it was given."""
    return plan.replay if plan.replay in ("", "packaged") else str(Path(plan.replay).resolve())
