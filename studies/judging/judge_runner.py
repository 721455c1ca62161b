"""Let the judges of a plan qualify and compare the novels of its run, or be answered from their recorded calls."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from langgraph.types import RetryPolicy

from recurrentgpt.graph.story import RETRY
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.models.calls import Meter
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.schema.errors import ModelRefused, ModelReplyError, ModelUnavailable, RecurrentGPTError
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.pairwise import (
    Pair,
    Prefer,
    Qualification,
    Verdicts,
    failures,
    judge_both_orders,
    pairs,
    qualifications,
    qualify,
    remarks,
    same_family_judges,
    verdict_key,
)
from recurrentgpt.studies.recording.recording import FileRecorder, Recording
from recurrentgpt.studies.recording.recording_models import record_model, replay_model
from recurrentgpt.studies.runs.endpoints import aresolve_judge, has_key
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge, Plan, recordings_folder
from recurrentgpt.studies.runs.schemas import NovelRecord

T = TypeVar("T")


@dataclass(frozen=True)
class _JudgeRun:
    """What all judges of a run have before them, and what is known of them already."""

    folder: RunFolder
    report: Callable[[str], None]
    chats: Mapping[str, Any]
    retry: RetryPolicy
    compared: list[tuple[Pair, NovelRecord, NovelRecord]]
    live: frozenset[str]
    """Judges that are asked although the run is answered from recorded calls."""
    done: set[tuple[str, ...]]
    failed: set[str] = field(default_factory=set)
    """Judges that failed when they were asked last."""


def judge_run(
    folder: RunFolder,
    report: Callable[[str], None],
    *,
    models: Mapping[str, Any] | None = None,
    live: Collection[str] = (),
    retry: RetryPolicy = RETRY,
) -> int:
    """Let every judge of the plan qualify and compare, and return how many could not.

    Verdicts that are there already are not asked for again; a plan with `replay` takes them from the judges' recorded calls,
    except for the judges named in `live`. A judge of the generator's own family is never asked.
    A judge that fails is noted and does not stop the others: the next run asks it again. `models` gives chat models for judges
    by name, for programs and tests.
    """
    with folder.writing_lock():
        return call(lambda: _judge_all(folder, report, models or {}, frozenset(live), retry))


async def _judge_all(
    folder: RunFolder,
    report: Callable[[str], None],
    chats: Mapping[str, Any],
    live: frozenset[str],
    retry: RetryPolicy,
) -> int:
    compared, failed = pairs(folder), 0
    if not compared:
        raise StudyError(f"{folder.path} holds no two finished novels of one premise to compare: run its plan first.")
    done = {verdict_key(row) for row in folder.rows("verdicts.jsonl")}
    before = {row["judge"] for row in failures(folder) if "unit" not in row}
    judging = _JudgeRun(folder, report, chats, retry, compared, live, done, before)
    kin = same_family_judges(folder)
    for judge in folder.plan.judges:
        if judge.model in kin:
            continue
        try:
            await _judge_one(judging, judge)
        except RecurrentGPTError as error:
            failed += 1
            said = _said(error, judge, folder.plan)
            folder.append("judge_failures.jsonl", {"judge": judge.model, "error": said})
            report(f"{judge.model} failed: {said}")
    for remark in remarks(folder):
        report(remark)
    return failed


def _said(error: RecurrentGPTError, judge: Judge, plan: Plan) -> str:
    """Return what to tell of a judge that failed: its key is not the generator's."""
    if judge.api_key_env:
        return str(error).replace("OPENAI_API_KEY", judge.api_key_env)
    if has_key(judge, plan) or not isinstance(error, ModelRefused):
        return str(error)
    return f"{error} It was asked without a key: `api_key_env` in the plan names the variable of a judge's own."


async def _judge_one(judging: _JudgeRun, judge: Judge) -> None:
    folder, report, told = judging.folder, judging.report, qualifications(judging.folder)
    known = {criterion: told[judge.model, criterion] for criterion in folder.plan.judged_criteria}
    wanted = [
        (found, criterion)
        for found in judging.compared
        for criterion in folder.plan.judged_criteria
        if (judge.model, *asdict(found[0]).values(), criterion) not in judging.done
    ]
    lacking = any(one.lacks(_qualifying_novels(judging)) for one in known.values())
    if lacking or any(known[criterion].qualified for _, criterion in wanted):
        model = await _model(judging, judge)
        if model is None:
            return
        known = await _ask(judging, judge, model, known, wanted)
    if judge.model in judging.failed:
        folder.append("judge_failures.jsonl", {"judge": judge.model, "error": ""})
    for criterion, one in known.items():
        if not one.qualified:
            can = one.pairs or one.lacks(_qualifying_novels(judging))
            why = "" if can else "; nobody is named in these novels, of which it has to tell corrupted copies"
            report(
                f"{judge.model} is not qualified to say what is {criterion}: its verdicts on it are not asked for{why}"
            )
    if not any(one.qualified for one in known.values()):
        return
    missing = sum(row["judge"] == judge.model and "unit" in row for row in failures(folder))
    total = len(judging.compared) * sum(one.qualified for one in known.values())
    besides = f"; {missing} of {total} verdicts could not be used" if missing else ""
    report(f"{judge.model} has compared {len(judging.compared)} pairs{besides}")


def _qualifying_novels(judging: _JudgeRun) -> list[NovelRecord]:
    """Return the novels of which a judge is shown corrupted copies: the first system's, then the others'."""
    return [first for _, first, _ in judging.compared] + [second for _, _, second in judging.compared]


async def _model(judging: _JudgeRun, judge: Judge) -> ResolvedModel | None:
    """Return a judge that is recorded or replayed; None for one to be replayed that was never recorded."""
    plan, chat = judging.folder.plan, judging.chats.get(judge.model)
    recordings = recordings_folder(plan) if chat is None and judge.model not in judging.live else None
    if recordings is not None:
        path = recordings / judge.file
        recording = Recording.read(path) if path.exists() else None
        if recording is None or not recording.calls:
            judging.report(
                f"{judge.model} has no recorded calls in {recordings}, and is left out: `recurrentgpt study judge "
                f"{shlex.quote(str(judging.folder.path))} --judge {shlex.quote(judge.model)}` asks it"
            )
            return None
        return replay_model(recording, "judge", 0)
    recorder = FileRecorder(judging.folder.path / "calls" / judge.file, prompts=plan.record_prompts)
    resolved = await aresolve_judge(judge, plan, chat)
    model = record_model(resolved, recorder, "judge", 0)
    judging.folder.note_models({"judge": resolved.name})
    return model


async def _ask(
    judging: _JudgeRun,
    judge: Judge,
    model: ResolvedModel,
    known: Mapping[str, Qualification],
    wanted: list[tuple[tuple[Pair, NovelRecord, NovelRecord], str]],
) -> dict[str, Qualification]:
    """Let a judge qualify by each criterion, as far as it has not, and give the verdicts that are wanted of it."""
    folder, now = judging.folder, dict(known)

    async def prefer(criterion: str, premise: str, first: str, second: str) -> Verdicts:
        return await with_retry(
            lambda: judge_both_orders(model, criterion, premise, first, second, Meter()), judging.retry
        )

    for criterion, one in known.items():
        about = {"judge": judge.model, "criterion": criterion}
        try:
            for specimen in (lacking := one.lacks(_qualifying_novels(judging))):
                one = now[criterion] = await qualify(one, prefer, specimen)
                folder.append("qualification.jsonl", asdict(one))
        except StudyError as error:
            # An answer that was not recorded; by another criterion there may be all.
            folder.append("judge_failures.jsonl", {**about, "error": str(error)})
            continue
        if lacking:
            folder.append("judge_failures.jsonl", {**about, "error": ""})
            told = f"{one.right} of {one.pairs} stories from corrupted copies"
            judging.report(f"{judge.model} told {told}, asked which is {criterion}")
    await _compare(folder, judge, prefer, [one for one in wanted if now[one[1]].qualified])
    return now


async def _compare(
    folder: RunFolder,
    judge: Judge,
    prefer: Prefer,
    wanted: list[tuple[tuple[Pair, NovelRecord, NovelRecord], str]],
) -> None:
    """Write down a judge's verdicts, some at a time; what cannot be used is noted, and a judge that is gone is raised."""
    gate, gone = asyncio.Semaphore(folder.plan.parallel), list[RecurrentGPTError]()

    async def one(pair: Pair, first: NovelRecord, second: NovelRecord, criterion: str) -> None:
        row = {"judge": judge.model, **asdict(pair), "criterion": criterion}
        async with gate:
            if gone:
                return
            try:
                said = await prefer(criterion, first["premise"], first["text"], second["text"])
            except (ModelReplyError, StudyError) as error:
                # A StudyError is an answer that was not recorded.
                folder.append("judge_failures.jsonl", {**row, "error": str(error)})
                return
            except RecurrentGPTError as error:
                gone.append(error)
                return
            folder.append("verdicts.jsonl", {**row, **said.row()})

    await asyncio.gather(*(one(*found, criterion) for found, criterion in wanted))
    if gone:
        raise gone[0]


async def with_retry(work: Callable[[], Awaitable[T]], retry: RetryPolicy) -> T:
    """Return what `work` does, tried again after faults that may pass, as often as a node of a graph would be."""
    pause = retry.initial_interval
    for _ in range(retry.max_attempts - 1):
        try:
            return await work()
        except ModelUnavailable:
            await asyncio.sleep(pause)
            pause = min(pause * retry.backoff_factor, retry.max_interval)
    return await work()
