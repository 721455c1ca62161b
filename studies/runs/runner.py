"""Run a plan: every novel on its own thread of checkpoints, some at a time, each gone on with where it stopped."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import RetryPolicy, StateSnapshot

from recurrentgpt.checkpoints import Persistence, open_persistence
from recurrentgpt.graph.story import RECURSION_LIMIT, RETRY
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.memory.story_log import Commit, StoryLog
from recurrentgpt.models.embedded.server import side_by_side
from recurrentgpt.models.meter import total_usage
from recurrentgpt.prose.emphasis import plain
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import RecurrentGPTError
from recurrentgpt.schema.state import Usage
from recurrentgpt.studies.baselines.catalogue import find_system
from recurrentgpt.studies.errors import RunStopped, StudyError
from recurrentgpt.studies.recording.recording import FileRecorder, Recording, RoleModel, model_names, recorded_usage
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Job, Options, Plan, recordings_folder, replays_in_order
from recurrentgpt.studies.runs.schemas import NovelRecord, PassageRecord, PassageUsage, WrittenNovel
from recurrentgpt.studies.study_context import StudyContext


@dataclass(frozen=True)
class Progress:
    """What has just happened to one novel."""

    job: Job
    what: str
    words: int
    done: int
    total: int


Report = Callable[[Progress], None]
Notify = Callable[..., None]
"""Called with what happened to a novel, and how many words it has."""
Write = Callable[[Job, Notify], Awaitable[NovelRecord]]
"""Writes one novel into the run's folder and returns it, or raises what keeps it from being finished."""


@dataclass(frozen=True)
class Outcome:
    """What became of a run."""

    finished: int
    kept: int
    """Novels that were finished before, and were not written again."""
    failed: int


def run(folder: RunFolder, report: Report, *, model: Any = None, retry: RetryPolicy = RETRY) -> Outcome:
    """Write every novel of the folder's plan that is not finished; a failure ends its own novel and no other.

    `model` is a chat model to use in place of the plan's, for programs and tests.
    """
    with side_by_side(folder.plan.parallel), folder.writing_lock():
        return call(lambda: _run(folder, report, model, retry))


async def _run(folder: RunFolder, report: Report, model: Any, retry: RetryPolicy) -> Outcome:
    async with open_persistence(folder=folder.path) as persistence:

        async def write(job: Job, notify: Notify) -> NovelRecord:
            return await _write(folder, job, persistence, notify, model, retry)

        return await write_novels(folder, report, write)


async def write_novels(folder: RunFolder, report: Report, write: Write) -> Outcome:
    """Have `write` write every novel of the folder's plan that is not finished, some at a time.

    What it raises ends its own novel and no other, except for RunStopped, which is raised once the others have stopped too.
    """
    jobs = list(folder.plan.jobs())
    open_jobs = [job for job in jobs if folder.novel(job) is None]
    gate, finished, failed = asyncio.Semaphore(folder.plan.parallel), 0, 0
    stopped: list[RunStopped] = []

    async def one(job: Job) -> None:
        nonlocal finished, failed
        async with gate:
            if stopped:
                return

            def notify(what: str, words: int = 0) -> None:
                report(Progress(job, what, words, len(jobs) - len(open_jobs) + finished, len(jobs)))

            try:
                novel = await write(job, notify)
                finished += 1
                notify("finished", novel["words"])
            except RunStopped as error:
                stopped.append(error)
            except Exception as error:
                if (task := asyncio.current_task()) and task.cancelling():
                    # Whatever a novel says that is told to stop, it has not failed.
                    raise asyncio.CancelledError from error
                failed += 1
                known = isinstance(error, RecurrentGPTError)
                folder.add_failure(job, str(error) if known else f"Unexpected {type(error).__name__}: {error}")
                notify(f"failed: {error}")

    await asyncio.gather(*(one(job) for job in open_jobs))
    if stopped:
        raise stopped[0]
    return Outcome(finished, len(jobs) - len(open_jobs), failed)


async def _write(
    folder: RunFolder, job: Job, persistence: Persistence, notify: Notify, model: Any, retry: RetryPolicy
) -> NovelRecord:
    graph = (
        find_system(job.system)
        .build()
        .set_node_defaults(retry_policy=retry)
        .compile(checkpointer=persistence.saver, store=persistence.store, name=job.system)
    )
    config: RunnableConfig = {"configurable": {"thread_id": job.id}, "recursion_limit": RECURSION_LIMIT}
    settings = novel_context(folder, job, model)
    snapshot, log = await graph.aget_state(config), StoryLog(persistence.store)
    if lost := await _restart_reason(job, snapshot.values, log):
        notify(f"{lost}, and it is begun anew")
        await persistence.saver.adelete_thread(job.id)
        await log.erase(job.id)
        snapshot = await graph.aget_state(config)
    if snapshot.values.get("status") != "finished" or snapshot.tasks:
        given = None if snapshot.tasks else {"story": job.id, "genre": job.genre, "premise": job.premise}
        notify("goes on" if snapshot.tasks else "begins", snapshot.values.get("words", 0))
        stream = graph.astream(given, config, context=settings, stream_mode="updates", durability="sync")
        try:
            async for update in stream:
                notify_passage(update, notify)
        except Exception:
            stopped = await graph.aget_state(config)
            asked = settings.recorder or settings.recording
            await _keep_stopped(folder, job, stopped, log, model_names(asked.roles if asked else {}))
            raise
        snapshot = await graph.aget_state(config)
    found = await read_novel(job.id, snapshot.values["head"], log)
    if (recording := settings.recording) is None:
        # The log knows of the last try of each step; what a crash left behind was paid for too.
        spent = recorded_usage(folder.calls(job))
        return save_novel(folder, job, found, settings.recorder.roles, spent)
    if recording.outdated:
        notify(f"{recording.outdated} prompts have changed since the recording, and got the next replies that it has")
    # Of its own time a replay has nothing to say; of the recording's it knows the sum, and not which passage took what.
    passages = [{**part, "usage": {**part["usage"], "seconds": None}} for part in found["passages"]]
    spent = {"seconds": round(recording.seconds, 3)}
    timed = WrittenNovel(usage=found["usage"], passages=cast("list[PassageRecord]", passages))
    return save_novel(folder, job, timed, recording.roles, spent, outdated=recording.outdated)


async def _keep_stopped(
    folder: RunFolder, job: Job, snapshot: StateSnapshot, log: StoryLog, models: Sequence[str]
) -> None:
    """Keep a novel that cannot go on as far as it was written, for its measures; it goes on when the plan is run again."""
    if head := snapshot.values.get("head"):
        found = await read_novel(job.id, head, log)
        usage = cast("Usage", {**found["usage"], **recorded_usage(folder.calls(job))})
        if found["passages"]:
            folder.save_stopped(job, novel_record(job, {**found, "usage": usage}, models=models))


async def _restart_reason(job: Job, state: Mapping[str, Any], log: StoryLog) -> str:
    """Return why a novel that was begun cannot be gone on with; empty where it can."""
    if state.get("premise", job.premise) != job.premise:
        return "it was begun from another premise"
    head = state.get("head")
    return "stories.db does not have what was written of it" if head and await log.find(job.id, head) is None else ""


def notify_passage(update: Mapping[str, Any], notify: Notify) -> None:
    """Tell of the passage that an update of a graph appended to the log, if it did."""
    for name, change in update.items():
        if name in ("keep", "commit") and change and change.get("words"):
            notify(f"passage {change.get('step', '')}".strip(), change["words"])


def novel_context(folder: RunFolder, job: Job, model: Any = None) -> StudyContext:
    """Return the settings of one novel that is written here."""
    plan = folder.plan
    recordings = recordings_folder(plan)
    recording = None
    if recordings is not None and model is None:
        path = recordings / f"{job.id}.jsonl"
        if not path.exists():
            raise StudyError(
                f"There is no recording {path}: record the plan with its model first, or take `replay` out."
            )
        # What comes with the program shows that a run works, also to whoever changes its prompts; a study of one's own
        # is answered by the very calls that it recorded, or not at all.
        recording = Recording.read(path, in_order=replays_in_order(plan))
    return StudyContext(
        **{**novel_settings(plan, job), **({} if model is None else {"model": model})},
        recorder=None if recording else FileRecorder(folder.calls(job), prompts=plan.record_prompts),
        recording=recording,
    )


def novel_settings(plan: Plan, job: Job) -> Mapping[str, Any]:
    """Return what a plan says of one novel, as JSON can hold it; its seed is the same for all systems of a premise."""
    return {
        "model": plan.model or None,
        "base_url": plan.base_url,
        "tier": plan.tier,
        "temperature": plan.temperature,
        "embedder": plan.embedder,
        "mode": find_system(job.system).mode,
        "guards": plan.guards,
        "banned": plan.banned,
        "seed": zlib.crc32(f"{plan.name}/{job.unit}".encode()),
        "target_words": job.words,
        **plan.options.get(job.system, Options()).model_dump(),
    }


async def read_novel(story: str, head: str, log: StoryLog) -> WrittenNovel:
    """Return what the log has of a novel: its passages, what each cost, and what all did with the opening."""
    return written_novel(await log.get_many(story, await log.path(story, head)))


def written_novel(commits: Sequence[Commit]) -> WrittenNovel:
    """Return what the commits of a novel, from its opening on, tell of it."""
    offered = {commit["id"]: commit["candidate_plans"] for commit in commits}
    passages = [
        PassageRecord(
            step=commit["step"],
            plan=commit["plan"],
            text=plain(commit["passage"]),  # Systems that strip all markup are read beside it.
            words=count_words(commit["passage"]),
            summary=commit["summary"],
            short_term_memory=commit["short_term_memory"],
            plans=len(commit["candidate_plans"]),
            offered=offered.get(commit["parent"], []),
            recalled=[entry["step"] for entry in commit["recalled"]],
            usage=cast("PassageUsage", commit["usage"]),
        )
        for commit in commits
        if commit["step"]
    ]
    return WrittenNovel(usage=total_usage([commit["usage"] for commit in commits]), passages=passages)


def save_novel(
    folder: RunFolder,
    job: Job,
    found: WrittenNovel,
    roles: Mapping[str, RoleModel],
    spent: Mapping[str, float],
    *,
    outdated: int = 0,
) -> NovelRecord:
    """Save a finished novel in its run's folder, note there which models played which roles, and return it.

    `spent` is what its recording knows better than its log: calls, tokens and seconds, as far as they are given.
    """
    folder.note_models({role: model.name for role, model in roles.items()})
    usage = cast("Usage", {**found["usage"], **spent})
    novel = novel_record(job, {**found, "usage": usage}, models=model_names(roles), outdated=outdated)
    folder.save_novel(job, novel)
    return novel


def novel_record(job: Job, found: WrittenNovel, *, models: Sequence[str] = (), outdated: int = 0) -> NovelRecord:
    """Return a finished novel as its file has it."""
    passages = found["passages"]
    return NovelRecord(
        id=job.id,
        system=job.system,
        genre=job.genre,
        number=job.number,
        seed=job.seed,
        unit=job.unit,
        premise=job.premise,
        target=job.words,
        words=sum(passage["words"] for passage in passages),
        usage=found["usage"],
        text="\n\n".join(passage["text"] for passage in passages),
        passages=passages,
        models=list(models),
        outdated=outdated,
    )
