"""What a writer can ask for that takes a model's time, as events for a room."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import cast

from recurrentgpt.desk.read_model import Views
from recurrentgpt.desk.save_draft import Draft, DraftEvent
from recurrentgpt.desk.settings_form import BUDGET
from recurrentgpt.desk.story_jobs import Room
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.events import Event
from recurrentgpt.story import Story


async def opening(room: Room, views: Views) -> AsyncGenerator[Event | DraftEvent]:
    """Open a new story: a novel up to its first passage, a story to play up to its first choice."""
    yield {"event": "draft", "draft": Draft("", "", "", 1, "")}
    draft = False
    async with aclosing(cast("AsyncGenerator[Event]", room.story.abegin())) as events:
        async for event in events:
            if (
                not draft
                and event["event"] == "stage"
                and event["node"] == "write"
                and (head := await views.head(room.story))
            ):
                draft = True
                plan = await views.waiting_plan(room.story) or ""
                yield {"event": "draft", "draft": Draft("", plan, head["head"], 1, head["head"])}
            yield event


async def passages(room: Room, views: Views, steps: int) -> AsyncGenerator[Event | DraftEvent]:
    """Write passages one by one, until they are enough, somebody stops it, or the budget is used up."""
    story = room.story
    for number in range(steps):
        await check_budget(room, views)
        head = await views.head(story)
        plan = (await views.waiting_plan(story) or "") if head else ""
        if head is None:
            async for event in opening(room, views):
                yield event
            continue
        yield {"event": "draft", "draft": Draft("", plan, head["head"], head["step"] + 1, head["head"])}
        async with aclosing(cast("AsyncGenerator[Event]", story.astream(1))) as events:
            async for event in events:
                yield event
        if room.stopping and number + 1 < steps:
            return


async def another_take(room: Room, views: Views, at: str | None) -> AsyncGenerator[Event | DraftEvent]:
    """Write a passage once more from its plan."""
    await check_budget(room, views)
    story, head = room.story, await views.head(room.story)
    passage = await story.apassage(at)
    after = passage.parent or await story.aresolve("opening")
    yield {"event": "draft", "draft": Draft("", passage.plan, after, passage.step, head["head"] if head else "")}
    async for event in events_of(room, views, lambda story: story.aretry(at)):
        yield event


async def events_of(room: Room, views: Views, method: Callable[[Story], AsyncIterator[Event]]) -> AsyncGenerator[Event]:
    """Yield the events of a method of `Story` that costs tokens; closing this ends it."""
    await check_budget(room, views)
    async with aclosing(cast("AsyncGenerator[Event]", method(room.story))) as events:
        async for event in events:
            yield event


async def check_budget(room: Room, views: Views) -> None:
    """Raise SettingsError where another passage would cost more tokens than the story may."""
    budget = room.shelf.read(room.story.id).get("settings", {}).get(BUDGET, 0)
    if not budget:
        return
    spent = await views.usage(room)
    tokens, steps = spent["input_tokens"] + spent["output_tokens"], max(1, spent["passages"])
    if tokens + tokens // steps > budget:
        raise SettingsError(
            f"The budget of {budget:,} tokens does not last for another passage: {tokens:,} are used, and a passage takes "
            f"about {tokens // steps:,}. Raise it in the settings to go on."
        )
