"""Routes that edit: a passage, the memory, a long-term entry, plans, the brief, the title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from recurrentgpt.desk.backend.dependencies import DeskDep, IdleJobsDep, JobsDep
from recurrentgpt.desk.backend.jobs import suggest, within_budget
from recurrentgpt.desk.backend.memory_change import MOST_CHANGES, MemoryChange
from recurrentgpt.desk.backend.read_model import is_same
from recurrentgpt.desk.backend.save_draft import Edit
from recurrentgpt.desk.backend.schemas import (
    ERROR_RESPONSES,
    LONGEST_TEXT,
    Changed,
    JobStarted,
    LongText,
    Ref,
    RequestBody,
    ShortText,
)
from recurrentgpt.desk.backend.seen_version import check_seen, standing_version
from recurrentgpt.desk.backend.story_jobs import MOST_SUGGESTIONS
from recurrentgpt.desk.routes.writing import moved
from recurrentgpt.schema.errors import BadAnswer, StorageError, StoryBusy, StoryError
from recurrentgpt.schema.parts import Rework

router = APIRouter(tags=["editing"], responses=ERROR_RESPONSES)


class PassageText(RequestBody):
    """Another text for a passage; with `replay` the later passages are kept and the memory rewritten for each.

    `seen` is the version that was edited: where the passage reads otherwise by now, and not as the page itself has `saved` it
    last, the text is refused. `instead` is the key of a pending edit that this one was made from, `takes` that of a suggestion.
    """

    at: Ref
    text: LongText
    replay: bool = False
    seen: Ref | None = None
    saved: LongText = ""
    instead: ShortText = ""
    takes: ShortText = ""


class Selection(RequestBody):
    """Some characters of a passage, from `start` up to `end`, and what to do with them.

    What is suggested has this key, made anew where it is empty, and comes in the place of the suggestion that has it already.
    """

    at: Ref
    start: Annotated[int, Field(ge=0, le=LONGEST_TEXT)]
    end: Annotated[int, Field(ge=0, le=LONGEST_TEXT)]
    how: Rework
    key: ShortText = ""


class TextBody(RequestBody):
    """A text that replaces another one, at a passage or at the newest."""

    text: LongText
    at: Ref | None = None


class MemoryBody(TextBody):
    """Another memory; refused where that of the version that was edited, `seen`, was changed meanwhile.

    It may read as the page itself has `saved` it last. `before` is what the edit began from, where that is not the version's:
    other edits may wait already. `steers` says that it is meant for what the passage in the making leaves, though that may be
    written by now.
    """

    seen: Ref | None = None
    saved: LongText = ""
    before: LongText | None = None
    steers: bool = False


class ChangeBody(RequestBody):
    """An edit of the memory that waits."""

    before: LongText
    after: LongText


class SummaryBody(TextBody):
    """Another long-term entry; refused where the one that was `seen` was changed meanwhile."""

    seen: LongText | None = None


class PlansBody(RequestBody):
    """The plans to choose from; refused where those that were `seen` were changed meanwhile."""

    plans: Annotated[list[LongText], Field(max_length=9)]
    at: Ref | None = None
    seen: Annotated[list[LongText], Field(max_length=9)] | None = None


class BriefBody(RequestBody):
    """What every prompt holds; what is absent stays as it is."""

    premise: LongText | None = None
    genre: ShortText | None = None
    characters: Annotated[list[ShortText], Field(max_length=50)] | None = None
    outline: Annotated[list[ShortText], Field(max_length=50)] | None = None
    truth: LongText | None = None
    clues: Annotated[list[ShortText], Field(max_length=50)] | None = None


class ChapterBody(RequestBody):
    """The title of the chapter that begins with a passage; None where none does, and empty for its number.

    It is refused where something else was `seen` than what stands there: a title, an empty one, or None for no chapter.
    """

    at: Ref
    title: ShortText | None
    seen: ShortText | None = None


class Replace(RequestBody):
    """Words, and those that take their place in the whole branch."""

    old: ShortText
    new: ShortText
    whole_words: bool = True


class Replaced(Changed):
    """How many passages were changed."""

    passages: int


class TitleBody(RequestBody):
    """A title."""

    title: ShortText


class Archived(RequestBody):
    """Whether the story is put away from the list."""

    archived: bool


@router.post("/stories/{story}/passage")
async def passage(jobs: IdleJobsDep, body: PassageText) -> JobStarted:
    """Give a passage another text, with the memory rewritten from it. Until it is in the log, the desk keeps the text."""
    at = await standing_version(jobs.story, body.at, seen=body.seen)
    await check_seen(jobs.story, at, body.seen, "passage", saved=body.saved)
    jobs.check_idle()
    # First the text, then the job: one that fails at once must not be told of before this is answered, for the page lets go
    # of the text when it is.
    before, edit = jobs.edits, Edit(at, body.text)
    replaced = [one for one in before if one.key == body.instead or (one.at, one.text) == (at, body.text)]
    jobs.edits = [*(one for one in before if one not in replaced), edit]
    taken = jobs.take_out_suggestion(body.takes)
    jobs.save()
    try:
        if failure := await jobs.saved():
            raise failure
        jobs.start_edit(
            edit.key,
            within_budget(jobs, lambda story: story.aedit_passage(at, body.text, replay=body.replay)),
        )
    except (StoryBusy, StorageError):
        jobs.edits = [*(one for one in jobs.edits if one is not edit), *replaced]
        jobs.put_back_suggestion(taken)
        jobs.save()
        raise
    return JobStarted(story=jobs.story.id)


@router.delete("/stories/{story}/passage")
async def drop_edit(jobs: JobsDep, key: Annotated[ShortText, Query()]) -> Changed:
    """Forget the text of an edit that was interrupted; those of others stay."""
    jobs.forget_edit(key)
    if jobs.busy:
        jobs.save()
        jobs.story_changed()
    else:
        jobs.show_draft(jobs.draft)
    return Changed()


@router.post("/stories/{story}/suggestion")
async def suggestion(jobs: IdleJobsDep, body: Selection) -> JobStarted:
    """Ask for other words for a selection. They are in the events, and in the story when the passage is edited."""
    if body.start >= body.end:
        raise BadAnswer("Nothing is selected.")
    at = await jobs.story.aresolve(body.at)
    waiting = jobs.state.suggestions
    if len(waiting) >= MOST_SUGGESTIONS and body.key not in [one["key"] for one in waiting]:
        raise BadAnswer(
            f"{MOST_SUGGESTIONS} suggestions wait already, on all branches of this story: take or leave some of them first."
        )
    jobs.start("rework", suggest(jobs, at, body.start, body.end, body.how, body.key), draft=jobs.draft)
    jobs.work_on_suggestion(body.key)
    return JobStarted(story=jobs.story.id)


@router.delete("/stories/{story}/suggestion")
async def leave_suggestion(jobs: JobsDep, key: Annotated[ShortText, Query()]) -> Changed:
    """Forget what was suggested for a selection; while other words are made for it, stop that, and keep what was there before."""
    if any(one["key"] == key and one["working"] for one in jobs.state.suggestions):
        jobs.stop()
    else:
        await jobs.drop_suggestion(key)
    return Changed()


@router.post("/stories/{story}/replay")
async def resume_replay(jobs: IdleJobsDep) -> JobStarted:
    """Go on with an edit that was interrupted."""
    replay = await jobs.story.apending_replay()
    if replay is None:
        raise StoryError("No replay of this story is unfinished.")
    key = next((edit.key for edit in jobs.edits if is_same(edit.text, replay.text)), "")
    jobs.start_edit(key, within_budget(jobs, lambda story: story.aresume_replay()))
    return JobStarted(story=jobs.story.id)


@router.delete("/stories/{story}/replay")
async def drop_replay(jobs: IdleJobsDep) -> Changed:
    """Give up an edit that was interrupted. What it wrote stays in the log, and its text is kept as that of any other edit."""
    replay = await jobs.story.apending_replay()
    if replay is not None and not any(is_same(edit.text, replay.text) for edit in jobs.edits):
        # It was begun elsewhere, as at a terminal.
        jobs.edits = [*jobs.edits, Edit(replay.ref, replay.text)]
    jobs.save()
    if failure := await jobs.saved():
        raise failure
    await jobs.story.adrop_replay()
    try:
        # They waited for the edit to go on.
        await jobs.make_waiting_changes()
    finally:
        # It is given up, whatever becomes of them.
        moved(jobs)
    return Changed()


@router.put("/stories/{story}/memory")
async def memory(jobs: JobsDep, body: MemoryBody) -> Changed:
    """Replace the short-term memory; while passages are written, from the one after that in the making."""
    if body.steers or (jobs.busy and jobs.state.kind == "write"):
        before = (await jobs.story.apassage(body.at)).short_term_memory if body.before is None else body.before
        change = MemoryChange.to(body.text, before)
        if is_same(body.text, before):
            return Changed()
        if jobs.busy and not (change.came or change.went):
            raise BadAnswer("Only the order of the lines is another: that can be saved when the passage is there.")
        if jobs.busy and jobs.state.kind == "write":
            if len(jobs.state.memory_changes) >= MOST_CHANGES:
                raise BadAnswer(f"{MOST_CHANGES} changes of the memory wait already; take some of them out first.")
            await jobs.let_wait("memory_changes", change)
            return Changed()
        if body.steers:
            # The writing ended before the page showed that it did: at the passage that was edited the new one would be left.
            jobs.check_idle()
            await jobs.make_memory_change(change)
            return Changed()
    jobs.check_idle()
    at = await standing_version(jobs.story, body.at, seen=body.seen)
    await check_seen(jobs.story, at, body.seen, "short_term_memory", saved=body.saved)
    await jobs.edit_memory(body.text, at, body.before)
    return moved(jobs)


@router.delete("/stories/{story}/memory")
async def withdraw_memory(jobs: JobsDep, number: Annotated[int, Query(ge=1)], body: ChangeBody) -> Changed:
    """Take an edit of the memory, the one of this number, out of those that wait for the passage in the making."""
    jobs.withdraw("memory_changes", number, MemoryChange(body.before, body.after))
    return Changed()


def _check_seen(what: str, seen: Sequence[str], now: Sequence[str]) -> None:
    """Raise StoryError where what was edited reads otherwise now."""
    if len(seen) != len(now) or not all(map(is_same, seen, now)):
        raise StoryError(
            f"{what} changed meanwhile: look at what stands there now, then save yours. Nothing of either is lost."
        )


@router.put("/stories/{story}/plans")
async def plans(jobs: IdleJobsDep, body: PlansBody) -> Changed:
    """Replace the plans to choose from."""
    at = await standing_version(jobs.story, body.at, seen=body.seen)
    if body.seen is not None:
        _check_seen("The plans were", body.seen, (await jobs.story.apassage(at)).plans)
    await jobs.story.aedit_plans(body.plans, at)
    return moved(jobs)


@router.put("/stories/{story}/summary")
async def summary(jobs: IdleJobsDep, body: SummaryBody) -> Changed:
    """Replace what the long-term memory holds of a passage."""
    at = await standing_version(jobs.story, body.at, seen=body.seen)
    if body.seen is not None:
        _check_seen("The long-term entry was", [body.seen], [(await jobs.story.apassage(at)).summary])
    await jobs.story.aedit_summary(at, body.text)
    return moved(jobs)


@router.put("/stories/{story}/brief")
async def brief(desk: DeskDep, jobs: IdleJobsDep, body: BriefBody) -> Changed:
    """Replace parts of what every prompt holds; of a story of which nothing is written, what it is to begin from."""
    changes = body.model_dump(exclude_none=True)
    if await desk.change_opening(jobs, changes):
        return Changed()
    await jobs.story.aedit_brief(**changes)
    return moved(jobs)


@router.put("/stories/{story}/chapter")
async def chapter(jobs: IdleJobsDep, body: ChapterBody) -> Changed:
    """Let a chapter begin with a passage, give it another title, or make it one with what stands before."""
    if "seen" in body.model_fields_set:
        stands = (await jobs.story.achapters()).get((await jobs.story.apassage(body.at)).step)
        seen, there = ([] if title is None else [title] for title in (body.seen, stands))
        _check_seen("The title of the chapter was", seen, there)
    await jobs.story.aedit_chapter(body.at, body.title)
    return moved(jobs)


@router.post("/stories/{story}/replace")
async def replace(jobs: IdleJobsDep, body: Replace) -> Replaced:
    """Replace words in the whole branch, with all that was made from its passages; undone as one."""
    passages = await jobs.story.areplace(body.old, body.new, whole_words=body.whole_words)
    moved(jobs)
    return Replaced(passages=passages)


@router.put("/stories/{story}/title")
async def title(jobs: IdleJobsDep, body: TitleBody) -> Changed:
    """Give the story another title."""
    await jobs.story.arename(body.title)
    return moved(jobs)


@router.delete("/stories/{story}")
async def erase(desk: DeskDep, jobs: IdleJobsDep) -> Changed:
    """Delete the story for ever, with its branches and its memory."""
    await desk.erase(jobs)
    return Changed()


@router.put("/stories/{story}/archived")
async def archived(jobs: IdleJobsDep, body: Archived) -> Changed:
    """Put the story away from the list, or back."""
    await (jobs.story.aarchive() if body.archived else jobs.story.aunarchive())
    return moved(jobs)
