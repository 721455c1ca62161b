"""What a writer can ask for that takes a model's time: each yields the events of a job."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import cast

from recurrentgpt.desk.backend.job_state import Difference, Suggestion, SuggestionEvent
from recurrentgpt.desk.backend.read_model import root_of
from recurrentgpt.desk.backend.save_draft import Draft, DraftEvent
from recurrentgpt.desk.backend.settings_form import BUDGET, page_message
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.engine.diff import changes
from recurrentgpt.models.calls import used_tokens
from recurrentgpt.prose.emphasis import uncut
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.events import Event
from recurrentgpt.story import Story


async def begin_story(jobs: StoryJobs) -> AsyncGenerator[Event | DraftEvent]:
    """Open a new story: a novel up to its first passage, a story to play up to its first choice."""
    yield {"event": "draft", "draft": Draft("", "", "", 1, "")}
    drafted = False
    async for event in _events(jobs.story.abegin()):
        if not drafted and event["event"] == "stage" and event["node"] == "write":
            now = await jobs.story.asnapshot()
            drafted = bool(now.head)
            if drafted:
                yield {"event": "draft", "draft": Draft("", now.waiting_plan or "", now.head, 1, now.head)}
        yield event


async def write_passages(jobs: StoryJobs, steps: int) -> AsyncGenerator[Event | DraftEvent]:
    """Write passages one by one, and then what is queued, until they are enough, it is stopped, or the budget is used up."""
    done = 0
    while done < steps or jobs.state.queue:
        if jobs.stopping:
            return
        await jobs.record_unrecorded()
        await jobs.make_waiting_changes()
        now = await jobs.story.asnapshot()
        # What is ready costs nothing; without a budget nobody waits for the log to say whether it is.
        if budget_of(jobs) and (now.waiting_plan is None or now.waiting_plan not in await jobs.story.aready_plans()):
            await check_budget(jobs)
        if not now.head:
            async for opened in begin_story(jobs):
                yield opened
            done += 1
            continue
        if jobs.state.queue and (done or not now.waiting_plan):
            await jobs.choose_queued_plan()
            now = await jobs.story.asnapshot()
        done += 1
        yield {"event": "draft", "draft": Draft("", now.waiting_plan or "", now.head, now.step + 1, now.head)}
        async for event in _events(jobs.story.astream(1)):
            yield event


async def write_another_take(jobs: StoryJobs, at: str | None) -> AsyncGenerator[Event | DraftEvent]:
    """Write a passage once more from its plan."""
    await check_budget(jobs)
    story, now = jobs.story, await jobs.story.asnapshot()
    passage = await story.apassage(at)
    after = passage.parent or await story.aresolve("opening")
    yield {"event": "draft", "draft": Draft("", passage.plan, after, passage.step, now.head)}
    async for event in _events(story.aretry(at)):
        yield event


async def suggest(
    jobs: StoryJobs, at: str, start: int, end: int, how: str, key: str = ""
) -> AsyncGenerator[SuggestionEvent]:
    """Suggest other words for a part of a passage, or others once more in the place of the suggestion of this key."""
    text, root = (await jobs.story.apassage(at)).text, await root_of(jobs.story, at)
    if 0 <= start < end:
        part = uncut(text, slice(start, end))
        start, end = part.start, part.stop
    waiting = jobs.state.suggestions
    last = next((one for one in waiting if one["key"] == key), None)
    same = [one for one in waiting if one is last or (one["at"], one["start"], one["end"]) == (at, start, end)]
    asked = Suggestion(
        key=key or secrets.token_hex(8),
        at=at,
        root=root,
        start=start,
        end=end,
        how=how,
        take=max((one["take"] + 1 for one in same), default=0),
        text="",
        changes=[],
        error="",
        working=True,
    )
    if last and "".join(change["before"] for change in last["changes"]) == text[start:end]:
        asked = {**asked, "text": last["text"], "changes": last["changes"]}
    yield {"event": "suggestion", "suggestion": asked}
    await check_budget(jobs)
    other = await jobs.story.arework(at, start, end, how, take=asked["take"])
    found = [Difference(kind=one.kind, before=one.before, after=one.after) for one in changes(text[start:end], other)]
    yield {"event": "suggestion", "suggestion": {**asked, "text": other, "changes": found, "working": False}}
    if failure := await jobs.saved():
        jobs.update(note=page_message(failure))


async def within_budget(jobs: StoryJobs, method: Callable[[Story], AsyncIterator[Event]]) -> AsyncGenerator[Event]:
    """Yield the events of a method of `Story` that costs tokens; closing this ends it."""
    await check_budget(jobs)
    async for event in _events(method(jobs.story)):
        yield event


async def _events(source: AsyncIterator[Event]) -> AsyncGenerator[Event]:
    async with aclosing(cast("AsyncGenerator[Event]", source)) as events:
        async for event in events:
            yield event


def budget_of(jobs: StoryJobs) -> int:
    """Return how many tokens a story may cost; 0 for no limit."""
    budget: int = jobs.disk.settings(jobs.story.id).get(BUDGET, 0) or 0
    return budget


async def check_budget(jobs: StoryJobs) -> None:
    """Raise SettingsError where another passage would cost more tokens than the story may."""
    budget = budget_of(jobs)
    if not budget:
        return
    branch, passages = await jobs.ledger.branch()
    tokens, each = used_tokens(await jobs.ledger.in_all()), used_tokens(branch) // max(1, passages)
    if tokens + each > budget:
        raise SettingsError(
            f"The budget of {budget:,} tokens does not last for another passage: {tokens:,} are used on all its "
            f"branches, and a passage takes about {each:,}. Raise it in the settings to go on."
        )
