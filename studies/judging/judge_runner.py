"""Let the judges of a plan qualify and compare the novels of its run, or be answered from their recorded calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from langgraph.types import RetryPolicy

from recurrentgpt.graph.story import RETRY
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.models.calls import Meter
from recurrentgpt.models.roles import ResolvedModel, aresolve_model
from recurrentgpt.schema.errors import ModelRefused, ModelReplyError, ModelUnavailable, RecurrentGPTError
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.pairwise import (
    Pair,
    Prefer,
    Qualification,
    failures,
    judge_both_orders,
    pairs,
    qualify,
    remarks,
    verdict_key,
)
from recurrentgpt.studies.recording.recording import FileRecorder, Recording
from recurrentgpt.studies.recording.recording_models import record_model, replay_model
from recurrentgpt.studies.runs.endpoints import has_key, judge_model
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge, Plan
from recurrentgpt.studies.runs.runner import recordings_folder
from recurrentgpt.studies.runs.schemas import NovelRecord
from recurrentgpt.studies.study_context import StudyContext

T = TypeVar("T")


@dataclass(frozen=True)
class _JudgeRun:
    """What all judges of a run have before them, and what is known of them already."""

    folder: RunFolder
    report: Callable[[str], None]
    chats: Mapping[str, Any]
    retry: RetryPolicy
    compared: list[tuple[Pair, NovelRecord, NovelRecord]]
    known: dict[str, Qualification]
    done: set[tuple[str, ...]]
    failed: set[str] = field(default_factory=set)
    """Judges that failed when they were asked last."""


def judge_run(
    folder: RunFolder,
    report: Callable[[str], None],
    *,
    models: Mapping[str, Any] | None = None,
    retry: RetryPolicy = RETRY,
) -> int:
    """Let every judge of the plan qualify and compare, and return how many could not.

    Verdicts that are there already are not asked for again; a plan with `replay` takes them from the judges' recorded calls.
    A judge that fails is noted and does not stop the others: the next run asks it again. `models` gives chat models for judges
    by name, for programs and tests.
    """
    with folder.writing_lock():
        return call(lambda: _judge_all(folder, report, models or {}, retry))


async def _judge_all(
    folder: RunFolder, report: Callable[[str], None], chats: Mapping[str, Any], retry: RetryPolicy
) -> int:
    compared, failed = pairs(folder), 0
    if not compared:
        raise StudyError(f"{folder.path} holds no two finished novels of one premise to compare: run its plan first.")
    known = {row["judge"]: Qualification.of(row) for row in folder.rows("qualification.jsonl")}
    done = {verdict_key(row) for row in folder.rows("verdicts.jsonl")}
    before = {row["judge"] for row in failures(folder) if "unit" not in row}
    judging = _JudgeRun(folder, report, chats, retry, compared, known, done, before)
    for judge in folder.plan.judges:
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
    folder, report = judging.folder, judging.report
    wanted = [
        (found, criterion)
        for found in judging.compared
        for criterion in folder.plan.criteria
        if (judge.model, *asdict(found[0]).values(), criterion) not in judging.done
    ]
    known = judging.known.get(judge.model, Qualification(judge.model, 0, 0, {}))
    if known.lacks(first for _, first, _ in judging.compared) or (known.qualified and wanted):
        model = await _model(judging, judge)
        if model is None:
            return
        known = await _ask(judging, judge, model, known, wanted)
    if judge.model in judging.failed:
        folder.append("judge_failures.jsonl", {"judge": judge.model, "error": ""})
    if not known.qualified:
        report(f"{judge.model} is not qualified: its verdicts are not asked for")
        return
    missing = sum(row["judge"] == judge.model and "unit" in row for row in failures(folder))
    total = len(judging.compared) * len(folder.plan.criteria)
    besides = f"; {missing} of {total} verdicts could not be used" if missing else ""
    report(f"{judge.model} has compared {len(judging.compared)} pairs{besides}")


async def _model(judging: _JudgeRun, judge: Judge) -> ResolvedModel | None:
    """Return a judge that is recorded or replayed; None for one to be replayed that was never recorded."""
    plan, chat = judging.folder.plan, judging.chats.get(judge.model)
    recordings = recordings_folder(plan) if chat is None else None
    if recordings is not None:
        path = recordings / judge.file
        recording = Recording.read(path) if path.exists() else None
        if recording is None or not recording.calls:
            judging.report(
                f"{judge.model} has no recorded calls in {recordings}, and is left out: take `replay` out of the plan, or "
                "run it with --live, to ask it"
            )
            return None
        return replay_model(recording, "judge", 0)
    recorder = FileRecorder(judging.folder.path / "calls" / judge.file, prompts=plan.record_prompts)
    if chat is not None:
        resolved = await aresolve_model("judge", StudyContext(models={"judge": chat}))
    else:
        resolved = await asyncio.to_thread(judge_model, judge, plan)
    model = record_model(resolved, recorder, "judge", 0)
    judging.folder.note_models({"judge": resolved.name})
    return model


async def _ask(
    judging: _JudgeRun,
    judge: Judge,
    model: ResolvedModel,
    known: Qualification,
    wanted: list[tuple[tuple[Pair, NovelRecord, NovelRecord], str]],
) -> Qualification:
    """Let a judge qualify, as far as the novels allow and it has not, and give the verdicts that are wanted of it."""
    folder = judging.folder

    async def prefer(criterion: str, premise: str, first: str, second: str) -> float:
        return await _with_retry(
            lambda: judge_both_orders(model, criterion, premise, first, second, Meter()), judging.retry
        )

    if lacking := known.lacks(first for _, first, _ in judging.compared):
        for novel in lacking:
            known = await qualify(known, prefer, novel)
            folder.append("qualification.jsonl", asdict(known))
        judging.report(f"{judge.model} told {known.right} of {known.pairs} stories from corrupted copies")
    if known.qualified:
        await _compare(folder, judge, prefer, wanted)
    return known


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
                preference = await prefer(criterion, first["premise"], first["text"], second["text"])
            except (ModelReplyError, StudyError) as error:
                # A StudyError is an answer that was not recorded.
                folder.append("judge_failures.jsonl", {**row, "error": str(error)})
                return
            except RecurrentGPTError as error:
                gone.append(error)
                return
            folder.append("verdicts.jsonl", {**row, "preference": preference})

    await asyncio.gather(*(one(*found, criterion) for found, criterion in wanted))
    if gone:
        raise gone[0]


async def _with_retry(work: Callable[[], Awaitable[T]], retry: RetryPolicy) -> T:
    """Return what `work` does, tried again after faults that may pass, as often as a node of a graph would be."""
    pause = retry.initial_interval
    for _ in range(retry.max_attempts - 1):
        try:
            return await work()
        except ModelUnavailable:
            await asyncio.sleep(pause)
            pause = min(pause * retry.backoff_factor, retry.max_interval)
    return await work()
