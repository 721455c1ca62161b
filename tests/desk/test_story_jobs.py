"""Work goes on without a page, and a page that comes back is page_message what it missed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.desk.backend.jobs import write_another_take, write_passages
from recurrentgpt.desk.backend.save_draft import Draft, write_draft
from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.story_jobs import MOST_EVENTS_KEPT, StoryJobs
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.errors import StoryBusy
from recurrentgpt.schema.state import StoryInput
from tests.desk.scripted import paced


class Table:
    """A desk without a server."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library, self.folder, self.hold = library, folder, folder / "hold"
        self.ahead = 0
        self.desk = self.made()

    def made(self) -> Desk:
        """Return a desk as a new process would make it."""
        settings = {"model": paced(self.folder, 0.0), "embeddings": HashEmbeddings(), "new_character": 0.0}
        return Desk(self.library, self.folder / "desk", {**settings, "ahead": self.ahead})

    async def begun(self, steps: int = 1) -> StoryJobs:
        jobs = await self.desk.new_story(StoryInput(premise="Mira tends a lamp."), {})
        await self.write(jobs, steps)
        return jobs

    async def write(self, jobs: StoryJobs, steps: int = 1) -> None:
        jobs.start("write", write_passages(jobs, steps), asked=steps)
        await jobs.ended()
        assert jobs.state.error == ""

    async def held(self, jobs: StoryJobs, kind: str = "write") -> str:
        """Begin to write and return the words with which the model waits."""
        self.hold.touch()
        jobs.start(kind, write_passages(jobs, 1) if kind == "write" else write_another_take(jobs, None), asked=1)
        async for _, event in jobs.follow(""):
            if event["event"] == "prose" and len(jobs.state.draft.split()) > 50:
                return jobs.state.draft
        raise AssertionError("The work ended without words.")

    async def texts(self, jobs: StoryJobs) -> list[str]:
        return [passage.text for passage in await jobs.story.apassages()]


@pytest.fixture
def table(tmp_path: Path, library: Library) -> Table:
    return Table(library, tmp_path)


async def test_nothing_is_to_be_read_again_before_the_passage_that_was_chosen(table: Table) -> None:
    jobs = await table.begun()
    first = len(jobs._events)
    await table.write(jobs)
    events = [event for _, event in list(jobs._events)[first:]]
    passage = next(at for at, event in enumerate(events) if event["event"] == "passage")
    assert len({event["revision"] for event in events[:passage] if event["event"] == "state"}) == 1


async def test_a_page_is_told_what_is_known_of_a_story_in_the_making(table: Table) -> None:
    jobs = await table.desk.new_story(StoryInput(genre="fantasy"), {})
    first = len(jobs._events)
    jobs.start("write", write_passages(jobs, 1))
    await jobs.ended()
    states = [event for _, event in list(jobs._events)[first:] if event["event"] == "state"]
    told = [event["founding"] for event in states if event["stage"] == "open_story" and event["founding"]]
    assert told
    assert told[0] == jobs.story.title
    assert told[-1].startswith(f"{told[0]} - ")
    assert not any(event["founding"] for event in states if event["stage"] != "open_story")


async def test_who_comes_back_gets_what_came_since(table: Table) -> None:
    jobs = await table.desk.new_story(StoryInput(premise="Mira tends a lamp."), {})
    heard: list[tuple[str, Any]] = []

    async def listen(since: str, most: int) -> None:
        async for number, event in jobs.follow(since):
            heard.append((number, event))
            if len(heard) >= most:
                return

    first = asyncio.create_task(listen("", 12))
    jobs.start("write", write_passages(jobs, 1))
    await first
    await jobs.ended()
    last, total = heard[-1][0], jobs._count
    assert heard[0][1]["event"] == "state"
    at = int(last.partition("-")[2])
    await listen(last, 12 + total - at)
    numbers = [int(number.partition("-")[2]) for number, _ in heard]
    assert numbers == list(range(numbers[0], total + 1))
    draft = ""
    for _, event in heard:
        if event["event"] == "state":
            draft = event["draft"]
        elif event["event"] == "prose":
            draft += event["text"]
        elif event["event"] == "passage":
            assert draft.split() == event["text"].split()


@pytest.mark.parametrize("last", ["", "0000-3", "nonsense", "-", "{epoch}-999999", "{epoch}-{huge}"])
async def test_an_unknown_number_is_answered_with_how_things_stand(table: Table, last: str) -> None:
    jobs = await table.begun()
    events = jobs.follow(last.format(epoch=jobs._epoch, huge="9" * 99))
    _, event = await anext(events)
    await events.aclose()
    assert event["event"] == "state"
    assert event["busy"] is False


async def test_what_is_too_long_ago_is_answered_with_how_things_stand(table: Table) -> None:
    jobs = await table.begun()
    for _ in range(MOST_EVENTS_KEPT + 10):
        jobs.publish({"event": "prose", "text": "x"})
    events = jobs.follow(f"{jobs._epoch}-1")
    assert (await anext(events))[1]["event"] == "state"
    await events.aclose()


async def test_stopping_keeps_the_whole_sentences(table: Table) -> None:
    jobs = await table.begun()
    draft = await table.held(jobs)
    jobs.stop()
    table.hold.unlink()
    await jobs.ended()
    texts = await table.texts(jobs)
    assert len(texts) == 2
    assert draft.split()[:40] == texts[1].split()[:40]
    assert len(texts[1].split()) <= len(draft.split()) + 1
    assert texts[1].endswith(".")
    assert len((await jobs.story.apassage()).plans) == 3


async def test_stopping_another_take_keeps_it_beside_the_first(table: Table) -> None:
    jobs = await table.begun(2)
    before, taken = await table.texts(jobs), await jobs.story.apassage()
    draft = await table.held(jobs, "retry")
    jobs.stop()
    table.hold.unlink()
    await jobs.ended()
    assert jobs.state.error == ""
    texts = await table.texts(jobs)
    assert (len(texts), texts[0]) == (2, before[0])
    assert texts[1].split()[:40] == draft.split()[:40]
    after = await jobs.story.apassage()
    assert (after.plan, after.plan_author) == (taken.plan, taken.plan_author)


async def test_the_first_passage_can_be_stopped(table: Table) -> None:
    jobs = await table.desk.new_story(StoryInput(premise="Mira tends a lamp."), {})
    await table.held(jobs)
    jobs.stop()
    table.hold.unlink()
    await jobs.ended()
    assert jobs.state.error == ""
    assert len(await table.texts(jobs)) == 1


async def test_words_outlive_the_server(table: Table) -> None:
    jobs = await table.begun()
    draft = await table.held(jobs)
    jobs.save()
    await table.desk.stop()
    table.hold.unlink()
    fresh = table.desk = table.made()
    again = await fresh.story_jobs(jobs.story.id)
    assert again.draft is not None
    assert again.state.draft.split()[:50] == draft.split()[:50]
    again.start("keep", write_draft(again.story, again.draft), draft=again.draft)
    await again.ended()
    texts = await table.texts(again)
    assert texts[1].split()[:40] == draft.split()[:40]


async def test_a_draft_of_another_place_is_forgotten(table: Table) -> None:
    jobs = await table.begun()
    jobs.draft = Draft("Words.", "A plan.", "elsewhere", 2, "elsewhere")
    jobs.save()
    await jobs.ended()
    again = await table.made().story_jobs(jobs.story.id)
    assert again.draft is None


async def test_a_story_that_was_never_opened_is_found_after_a_restart(table: Table) -> None:
    jobs = await table.desk.new_story(StoryInput(premise="Mira tends a lamp."), {"plans": 2})
    again = await table.made().story_jobs(jobs.story.id)
    await table.write(again)
    assert len((await again.story.apassage()).plans) == 2


async def test_other_work_waits_its_turn(table: Table) -> None:
    jobs = await table.begun()
    await table.held(jobs)
    with pytest.raises(StoryBusy):
        jobs.check_idle()
    jobs.stop()
    jobs.stop()
    table.hold.unlink()
    await jobs.ended()
    jobs.check_idle()


async def ready(jobs: StoryJobs, plan: str) -> None:
    """Wait until the passage of a plan was written ahead."""
    async with asyncio.timeout(60):
        while plan not in await jobs.story.aready_plans():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def read(jobs: StoryJobs, reading: asyncio.Event) -> None:
    """Look at a story until somebody ends it."""
    async for _ in jobs.follow(""):
        reading.set()


async def test_while_somebody_looks_the_next_passage_is_written(table: Table) -> None:
    table.ahead, reading = 1, asyncio.Event()
    table.desk = table.made()
    jobs = await table.begun()
    spent = await jobs.ledger.in_all()
    reader = asyncio.create_task(read(jobs, reading))
    await reading.wait()
    plan = (await jobs.story.asnapshot()).plans[0]
    await ready(jobs, plan)
    everything = await jobs.ledger.in_all()
    assert everything["calls"] > spent["calls"]
    assert await table.texts(jobs) == [(await jobs.story.apassage()).text]
    await jobs.story.achoose(1)
    await table.write(jobs)
    assert (await jobs.story.asnapshot()).ahead == {**(await jobs.story.aahead_tally()), "choices": 1, "ready": 1}
    # What was counted once is counted once.
    await jobs.story.astop_ahead()
    assert (await jobs.ledger.branch())[0]["calls"] == everything["calls"]
    jobs.close()
    await reader


async def test_a_passage_that_is_there_is_not_refused_for_the_budget_that_it_used(table: Table) -> None:
    table.ahead, reading = 1, asyncio.Event()
    table.desk = table.made()
    jobs = await table.begun()
    reader = asyncio.create_task(read(jobs, reading))
    await reading.wait()
    await ready(jobs, (await jobs.story.asnapshot()).plans[0])
    used = await jobs.ledger.in_all()
    budget = used["input_tokens"] + used["output_tokens"] + 1
    await asyncio.to_thread(table.desk.disk.write_settings, jobs.story.id, {"budget": budget})
    await jobs.story.achoose(1)
    await table.write(jobs)
    assert len(await table.texts(jobs)) == 2
    jobs.close()
    await reader
