"""When the changes of the codex that wait are made, in which order, and what is beside them meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.desk.backend import story_jobs
from recurrentgpt.desk.backend.asked_change import AskedChange, make_asked_change
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.library import Library
from recurrentgpt.schema.errors import StorageError, StoryError
from recurrentgpt.schema.events import Event
from recurrentgpt.story import Story
from tests.desk.conftest import API, Client
from tests.desk.test_codex_changes import ADDED, FACT, WAITS
from tests.desk.test_codex_panel import names
from tests.desk.test_story_jobs import Table

BOOK = "\n\n".join(f"Ines counted lantern number {number} and wrote it down." for number in range(300))


async def stage_comes(client: Client, story: str, stage: str) -> None:
    """Wait until the work on a story is at this stage."""
    async for _, event in client.jobs(story).follow(""):
        if event["event"] == "state" and event["stage"] == stage:
            return


async def passages_come(client: Client, story: str) -> None:
    """Wait until some passages of an import are in the log."""
    async for _, event in client.jobs(story).follow(""):
        if event["event"] == "state" and event["replay"]:
            return


def waits(client: Client, story: str) -> list[str]:
    return [change["name"] for change in client.jobs(story).state.codex_changes]


def with_an_edit_under_way(client: Client) -> tuple[str, Path]:
    """Return a story of three passages in which an edit of the first keeps the later ones, and the file that holds it."""
    story = client.write(client.begin()["id"], steps=2)["id"]
    hold = client.model.hold.with_name("hold-memory")
    hold.touch()
    client.send("POST", f"/stories/{story}/passage", {"at": "1", "text": "Ines rows home.", "replay": True})
    client.http.portal.call(stage_comes, client, story, "update_memory")
    return story, hold


def with_a_stopped_edit(client: Client) -> tuple[str, Path]:
    """Return the same with the edit stopped."""
    story, hold = with_an_edit_under_way(client)
    client.send("POST", f"/stories/{story}/stop")
    assert client.wait(story)["pending_replay"] is not None
    return story, hold


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_what_is_asked_of_an_edit_that_does_not_end_waits_until_it_does(
    client: Client, fails: bool, later: bool
) -> None:
    story, hold = with_an_edit_under_way(client)
    refuse = client.model.hold.with_name("refuse")
    if not later:
        client.send("POST", f"/stories/{story}/codex", ADDED)
    if fails:
        refuse.touch()
        hold.unlink()
    else:
        client.send("POST", f"/stories/{story}/stop")
    assert client.wait(story)["pending_replay"] is not None
    if later:
        client.send("POST", f"/stories/{story}/codex", ADDED)
    assert waits(client, story) == ["Zoltan"]
    (refuse if fails else hold).unlink()
    client.send("POST", f"/stories/{story}/replay")
    view = client.wait(story)
    assert (client.texts(view)[0], view["step"], view["pending_replay"]) == ("Ines rows home.", 3, None)
    assert [line["text"] for line in names(client, story, view["head"])["Zoltan"]["lines"]] == [FACT]
    assert waits(client, story) == []


def test_what_waits_for_an_edit_that_was_stopped_is_made_when_that_is_given_up(client: Client) -> None:
    story, hold = with_a_stopped_edit(client)
    hold.unlink()
    client.send("POST", f"/stories/{story}/codex", ADDED)
    client.send("DELETE", f"/stories/{story}/replay")
    assert "Zoltan" in names(client, story, client.get(f"/stories/{story}")["head"])
    assert waits(client, story) == []


def test_what_is_asked_during_and_after_an_import_that_is_stopped_waits_until_the_whole_book_is_there(
    client: Client,
) -> None:
    files, hold = {"file": ("book.txt", BOOK)}, client.model.hold.with_name("hold-memory")
    works, stories = client.model.replies, list[str]()

    def reply(messages: list[Any]) -> str:
        # Held from the call after this one on, with some of the passages in the log.
        if stories and client.jobs(stories[0]).state.replay:
            hold.touch()
        answer: str = works(messages)
        return answer

    client.model.replies = reply
    answer = client.http.post(f"{API}/imports/begin", files=files, data={"fast": "false"})
    stories.append(client.answer(answer)["story"])
    story = stories[0]
    client.http.portal.call(passages_come, client, story)
    client.send("POST", f"/stories/{story}/codex", ADDED)
    client.send("POST", f"/stories/{story}/stop")
    stopped = client.wait(story)
    assert 0 < stopped["step"] < client.jobs(story).unfinished_import["total"]
    client.send("POST", f"/stories/{story}/codex", {**ADDED, "name": "Vesna"})
    assert waits(client, story) == ["Zoltan", "Vesna"]
    stories.clear()
    hold.unlink(missing_ok=True)  # it may have been stopped before the call after those
    client.answer(client.http.post(f"{API}/imports/begin", files=files, data={"fast": "false"}))
    view = client.wait(story)
    assert view["unfinished_import"] is None
    assert {"Zoltan", "Vesna"} <= set(names(client, story, view["head"]))


def test_an_import_that_is_stopped_before_it_tells_of_a_passage_in_the_log_is_as_far_as_that(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, works = threading.Event(), Library.aimport_book

    async def stops_short(library: Library, path: Path, **settings: Any) -> AsyncGenerator[Event]:
        async with aclosing(works(library, path, **settings)) as events:
            async for event in events:
                if event["event"] == "import" and event["done"] == 3:
                    told.set()
                    await asyncio.Event().wait()
                yield event

    monkeypatch.setattr(Library, "aimport_book", stops_short)
    answer = client.http.post(f"{API}/imports/begin", files={"file": ("book.txt", BOOK)}, data={"fast": "true"})
    story = client.answer(answer)["story"]
    assert told.wait(60)
    client.send("POST", f"/stories/{story}/stop")
    view = client.wait(story)
    # The engine may have been at the next one.
    assert view["step"] == view["unfinished_import"]["done"] >= 3
    client.send("POST", f"/stories/{story}/codex", ADDED)
    assert waits(client, story) == ["Zoltan"]


@pytest.mark.parametrize("waiting", [True, False])
def test_a_suggestion_stays_at_its_passage_when_the_codex_is_changed(client: Client, waiting: bool) -> None:
    story, hold = client.begin()["id"], client.model.hold.with_name("hold-memory")
    client.send("POST", f"/stories/{story}/codex", ADDED)
    view = client.get(f"/stories/{story}")
    hold.touch()
    client.send("POST", f"/stories/{story}/suggestion", {"at": view["head"], "start": 0, "end": 12, "how": "shorten"})
    if not waiting:
        hold.unlink()
        client.wait(story)
    client.send("PUT", f"/stories/{story}/codex", {"name": "Zoltan", "pinned": True})
    assert waits(client, story) == ["Zoltan"] * waiting
    hold.unlink(missing_ok=True)
    after, found = client.wait(story), client.jobs(story).state.suggestions[0]
    assert names(client, story, after["head"])["Zoltan"]["pinned"] is True
    assert after["head"] != view["head"]
    assert (found["root"], bool(found["text"])) == (after["root"], True)
    assert client.texts(after) == client.texts(view)


def test_words_of_an_interruption_wait_on_when_the_codex_is_changed(client: Client) -> None:
    story = client.begin()["id"]
    refuse = client.model.hold.with_name("refuse-memory")
    refuse.touch()
    client.write(story, number=1)
    refuse.unlink()
    words = client.jobs(story).draft.text
    client.send("POST", f"/stories/{story}/codex", ADDED)
    assert client.get(f"/stories/{story}")["aside"] == []
    client.send("POST", f"/stories/{story}/keep")
    view = client.wait(story)
    assert client.texts(view)[1].split() == words.split()
    assert "Zoltan" in names(client, story, "1")


def test_the_passage_before_kept_words_stays_as_it_was(client: Client) -> None:
    begun = client.begin()
    refuse = client.model.hold.with_name("refuse-memory")
    refuse.touch()
    client.write(begun["id"], number=1)
    refuse.unlink()
    words = client.jobs(begun["id"]).draft.text
    client.send("POST", f"/stories/{begun['id']}/keep")
    view = client.wait(begun["id"])
    first, second = client.texts(view)
    assert first == client.texts(begun)[0]
    assert second.split() == words.split()


def test_what_waits_is_made_behind_the_next_passage_while_a_stopped_edit_is_left_alone(client: Client) -> None:
    story, hold = with_a_stopped_edit(client)
    client.send("POST", f"/stories/{story}/write", {"number": 1})
    client.http.portal.call(stage_comes, client, story, "update_memory")
    client.send("POST", f"/stories/{story}/codex", ADDED)
    hold.unlink()
    view = client.wait(story)
    assert "Zoltan" in names(client, story, view["head"])


REFUSED = AskedChange(do="line", name="Quillon", args={"aspect": "status", "value": "dead"}, problem="")


@pytest.fixture
def table(tmp_path: Path, library: Library) -> Table:
    return Table(library, tmp_path)


async def waiting(table: Table, *changes: AskedChange) -> StoryJobs:
    """Return the jobs of a story where these changes wait."""
    jobs = await table.begun()
    for change in changes:
        await jobs.let_wait("codex_changes", change)
    return jobs


def while_made(monkeypatch: pytest.MonkeyPatch, name: str, then: Callable[[], None]) -> None:
    """Let something happen while the changes of an entry are made."""

    async def make(story: Story, change: AskedChange) -> None:
        if change["name"] == name:
            then()
        await make_asked_change(story, change)

    monkeypatch.setattr(story_jobs, "make_asked_change", make)


async def test_none_is_passed_over_where_another_is_taken_out_meanwhile(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = await waiting(table, REFUSED, WAITS, {**WAITS, "name": "Sandor"})
    while_made(monkeypatch, "Zoltan", lambda: jobs.withdraw("codex_changes", 1, jobs.state.codex_changes[0]))
    await jobs.make_waiting_changes()
    assert jobs.state.codex_changes == []
    assert {"Zoltan", "Sandor"} <= {entry.name for entry in await jobs.story.acodex()}


async def test_one_that_cannot_be_made_now_keeps_its_place(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    later = {**WAITS, "name": "Sandor"}
    jobs = await waiting(table, REFUSED, WAITS, later)

    def fail() -> None:
        jobs.withdraw("codex_changes", 1, jobs.state.codex_changes[0])
        raise StorageError("There is no room on the disk.")

    while_made(monkeypatch, "Zoltan", fail)
    with pytest.raises(StorageError):
        await jobs.make_waiting_changes()
    assert jobs.state.codex_changes == [WAITS, later]


async def test_one_that_is_tried_again_stays_in_sight_and_cannot_be_taken_out_meanwhile(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = await waiting(table, REFUSED)
    await table.write(jobs)
    (refused,) = jobs.state.codex_changes
    assert "Quillon" in refused["problem"]
    told, said = len(jobs._events), list[str]()

    def take_out() -> None:
        with pytest.raises(StoryError) as caught:
            jobs.withdraw("codex_changes", 1, refused)
        said.append(str(caught.value))

    while_made(monkeypatch, "Quillon", take_out)
    await table.write(jobs)
    # Before the passage and behind it.
    assert len(said) == 2
    assert "tried" in said[0]
    states = [event for _, event in list(jobs._events)[told:] if event["event"] == "state"]
    assert [state["codex_changes"] for state in states] == [[refused]] * len(states)
    jobs.withdraw("codex_changes", 1, refused)
    assert jobs.state.codex_changes == []
