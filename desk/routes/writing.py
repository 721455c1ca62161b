"""Routes that write: begin, choose, go on, another take, stop; and the moves in the tree."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from recurrentgpt.desk.backend import read_model
from recurrentgpt.desk.backend.dependencies import DeskDep, IdleJobsDep, JobsDep
from recurrentgpt.desk.backend.jobs import within_budget, write_another_take, write_passages
from recurrentgpt.desk.backend.save_draft import write_draft
from recurrentgpt.desk.backend.schemas import (
    ERROR_RESPONSES,
    Changed,
    Count,
    JobStarted,
    LongText,
    Ref,
    RequestBody,
    ShortText,
)
from recurrentgpt.desk.backend.settings_form import checked_settings
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.schema.errors import BadAnswer, StoryError
from recurrentgpt.schema.state import StoryInput

router = APIRouter(tags=["writing"], responses=ERROR_RESPONSES)
MOST_QUEUED = 20


WordsKey = Annotated[
    ShortText, Query(description="Words that were set aside; those of the passage that was interrupted last when empty")
]


class NewStory(RequestBody):
    """What a new story begins from; all may be empty. `player` is who plays, where it is played."""

    genre: ShortText = ""
    premise: LongText = ""
    title: ShortText = ""
    play: bool = False
    player: ShortText = ""
    settings: dict[str, Any] = Field(default_factory=dict)


class WriteBody(RequestBody):
    """What to write: the plan of this number, or this plan; without either the one that waits, else the model chooses."""

    number: Annotated[int, Field(ge=1, le=9)] | None = None
    plan: LongText | None = None
    at: Ref | None = None
    steps: Count = 1


class WaitingPlan(RequestBody):
    """A plan that waits to be written; with a number it is made from the plan of that number."""

    number: Annotated[int, Field(ge=1, le=9)] | None = None
    plan: LongText
    at: Ref | None = None
    seen: LongText | None = None
    """The plan in whose place it comes, as the page shows it; empty where none waits."""


class PlanBody(RequestBody):
    """A plan."""

    plan: LongText


class AtBody(RequestBody):
    """A passage; the newest when empty."""

    at: Ref | None = None


class NameBody(RequestBody):
    """The name of a branch."""

    name: ShortText
    at: Ref | None = None


@router.post("/stories")
async def begin(desk: DeskDep, body: NewStory) -> JobStarted:
    """Begin a story: a novel with its first passage, a story to play with its first choice."""
    player = {"player": body.player} if body.play and body.player.strip() else {}
    opening = StoryInput(genre=body.genre, premise=body.premise, title=body.title, **player)  # type: ignore[typeddict-item]
    own = checked_settings(body.settings, machine=False)
    jobs = await desk.new_story(opening, {**own, **({"mode": "fiction"} if body.play else {})})
    jobs.start("write", write_passages(jobs, 1), asked=1)
    return JobStarted(story=jobs.story.id)


@router.post("/stories/{story}/write")
async def write(jobs: IdleJobsDep, body: WriteBody) -> JobStarted:
    """Write passages."""
    if body.number is not None or body.plan is not None:
        await _choose(jobs, body)
    elif body.at is not None:
        raise BadAnswer("To write after another passage, choose one of its plans or give your own.")
    jobs.start("write", write_passages(jobs, body.steps), asked=body.steps)
    return JobStarted(story=jobs.story.id)


@router.put("/stories/{story}/waiting-plan")
async def edit_waiting_plan(jobs: IdleJobsDep, body: WaitingPlan) -> Changed:
    """Let another plan wait in the place of the one that was chosen, and write nothing yet."""
    waits = (await jobs.story.asnapshot()).waiting_plan or ""
    if body.seen is not None and not read_model.is_same(body.seen, waits):
        raise StoryError(
            "The plan that waits was changed meanwhile: look at it, then save yours. Nothing of either is lost."
        )
    await _choose(jobs, body)
    return moved(jobs)


@router.post("/stories/{story}/retry")
async def retry(jobs: IdleJobsDep, body: AtBody) -> JobStarted:
    """Write a passage once more from the same plan; the log keeps both."""
    if (await jobs.story.apassage(body.at)).step == 0:
        raise StoryError("The opening has no passage to write once more; ask for new plans instead.")
    jobs.start("retry", write_another_take(jobs, body.at), asked=1)
    return JobStarted(story=jobs.story.id)


@router.post("/stories/{story}/replan")
async def replan(jobs: IdleJobsDep, body: AtBody) -> JobStarted:
    """Propose other plans."""
    await jobs.story.apassage(body.at)
    jobs.start("replan", within_budget(jobs, lambda story: story.areplan(body.at)))
    return JobStarted(story=jobs.story.id)


@router.post("/stories/{story}/stop")
async def stop(jobs: JobsDep, drop: bool = False) -> Changed:
    """End the writing and keep the whole sentences that are there, or `drop` them; a second time, end at once."""
    jobs.stop(drop=drop)
    return Changed()


@router.post("/stories/{story}/queue")
async def queue(jobs: JobsDep, body: PlanBody) -> Changed:
    """Let a plan wait to be written after the passage in the making."""
    if not body.plan.strip():
        raise BadAnswer("A plan needs some words.")
    if len(jobs.state.queue) >= MOST_QUEUED:
        raise BadAnswer(f"{MOST_QUEUED} plans wait already; let some of them be written first.")
    await jobs.let_wait("queue", body.plan)
    return Changed()


@router.delete("/stories/{story}/queue")
async def unqueue(jobs: JobsDep, number: Annotated[int, Query(ge=1)], body: PlanBody) -> Changed:
    """Take a plan, the one of this number, out of those that wait."""
    jobs.withdraw("queue", number, body.plan)
    return Changed()


@router.post("/stories/{story}/keep")
async def keep_draft(jobs: IdleJobsDep, key: WordsKey = "") -> JobStarted:
    """Make a passage of the words that an interruption left."""
    if key:
        draft = jobs.take_aside(key)
        jobs.lay_aside()
    elif jobs.draft is not None and jobs.draft.whole_sentences:
        draft = jobs.draft
    else:
        raise StoryError("There is no whole sentence to keep.")
    jobs.start("keep", write_draft(jobs.story, draft), draft=draft)
    return JobStarted(story=jobs.story.id)


@router.post("/stories/{story}/drop")
async def drop_draft(jobs: IdleJobsDep, key: WordsKey = "") -> Changed:
    """Forget the words that an interruption left; their plan still waits."""
    if key:
        jobs.take_aside(key)
    jobs.show_draft(jobs.draft if key else None)
    return Changed()


@router.post("/stories/{story}/undo")
async def undo(jobs: IdleJobsDep) -> Changed:
    """Take back what was done last; nothing leaves the log."""
    await jobs.story.aundo()
    return moved(jobs)


@router.post("/stories/{story}/redo")
async def redo(jobs: IdleJobsDep) -> Changed:
    """Do again what was undone last."""
    await jobs.story.aredo()
    return moved(jobs)


@router.post("/stories/{story}/goto")
async def goto(jobs: IdleJobsDep, body: AtBody) -> Changed:
    """Go to a passage; what is written next follows it."""
    if body.at is None:
        raise BadAnswer("Say where to go.")
    await jobs.story.agoto(body.at)
    return moved(jobs)


@router.post("/stories/{story}/names")
async def name(jobs: IdleJobsDep, body: NameBody) -> Changed:
    """Give a branch a name."""
    await jobs.story.aname_branch(body.name, body.at)
    return moved(jobs)


@router.delete("/stories/{story}/names")
async def remove_name(jobs: IdleJobsDep, name: Annotated[ShortText, Query()]) -> Changed:
    """Take a branch's name away; its passages stay."""
    await jobs.story.aremove_name(name)
    return moved(jobs)


async def _choose(jobs: StoryJobs, body: WriteBody | WaitingPlan) -> None:
    if body.plan is None:
        answer: object = body.number
    elif body.number is None:
        answer = {"action": "write", "plan": body.plan}
    else:
        answer = {"action": "edit", "number": body.number, "plan": body.plan}
    await jobs.story.achoose(answer, at=body.at)


def moved(jobs: StoryJobs) -> Changed:
    """Tell every page that the story has changed; a draft belonged to where it stood before."""
    jobs.lay_aside()
    jobs.show_draft(None)
    return Changed()
