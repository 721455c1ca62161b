"""Changes of the memory that are saved while a passage is written, just as it ends, or that are left over from one."""

from __future__ import annotations

from pathlib import Path

import pytest

from recurrentgpt.desk.backend.memory_change import MOST_CHANGES, MemoryChange
from recurrentgpt.desk.backend.save_draft import Draft, write_draft
from recurrentgpt.library import Library
from tests.desk.conftest import Client
from tests.desk.test_story_jobs import Table

LINE = "It is the last night of October."


@pytest.fixture
def table(tmp_path: Path, library: Library) -> Table:
    return Table(library, tmp_path)


def test_a_change_that_is_saved_just_as_the_writing_ends_is_made_in_the_new_memory(client: Client) -> None:
    before = client.begin()
    story, memory = before["id"], "\n".join(before["memory"]["now"])
    written = client.write(story, number=1)
    body = {"text": f"{memory}\n{LINE}", "at": before["head"], "seen": before["head"], "before": memory}
    client.send("PUT", f"/stories/{story}/memory", {**body, "steers": True})
    view = client.get(f"/stories/{story}")
    assert view["step"] == 2
    assert view["memory"]["now"] == [*written["memory"]["now"], LINE]


async def test_the_words_of_a_passage_that_failed_follow_the_memory_that_was_changed_meanwhile(table: Table) -> None:
    jobs = await table.begun()
    before = (await jobs.story.apassage()).short_term_memory
    draft = await table.held(jobs)
    await jobs.let_wait("memory_changes", MemoryChange(before, f"{before}\n{LINE}"))
    refuses = table.hold.with_name("refuse-memory")
    refuses.touch()
    table.hold.unlink()
    await jobs.ended()
    refuses.unlink()
    assert "402" in jobs.state.error
    again = await table.made().story_jobs(jobs.story.id)
    assert again.draft is not None
    again.start("keep", write_draft(again.story, again.draft), draft=again.draft)
    await again.ended()
    assert again.state.error == ""
    first, second = await again.story.apassages()
    assert first.short_term_memory.splitlines()[-1] == LINE
    assert second.text.split()[:40] == draft.split()[:40]


@pytest.mark.parametrize("stands", [False, True])
async def test_words_from_before_the_story_went_on_are_laid_aside_unless_they_stand_in_it(
    table: Table, stands: bool
) -> None:
    jobs = await table.begun(2)
    first, second = await jobs.story.apassages()
    words = second.text[:-20] if stands else "The lamp went out. The door"
    jobs.draft = Draft(words, "A lamp goes out.", first.id, 2, first.id)
    jobs.save()
    await jobs.ended()
    again = await table.made().story_jobs(jobs.story.id)
    assert again.draft is None
    assert [draft.text for draft in again.aside] == ([] if stands else [words])


def leave_over(client: Client, story: str, change: MemoryChange) -> None:
    """Let a change wait while nothing is written, as a server does that died in the middle of a passage."""
    client.http.portal.call(client.jobs(story).let_wait, "memory_changes", change)


async def words_come(client: Client, story: str) -> None:
    """Wait until a passage is being written: what waited before is made by then."""
    async for _, event in client.jobs(story).follow(""):
        if event["event"] == "prose":
            return


@pytest.mark.parametrize("seen", [True, False])
def test_a_change_that_is_left_over_waits_no_more_where_it_was_edited_with_the_memory(
    client: Client, seen: bool
) -> None:
    view = client.begin()
    story, before = view["id"], "\n".join(view["memory"]["now"])
    change = MemoryChange(before, f"{before}\n{LINE}")
    leave_over(client, story, change)
    body = {"text": "The lamp is out.", "at": view["head"], "seen": view["head"]}
    client.send("PUT", f"/stories/{story}/memory", {**body, "before": change.after if seen else before})
    assert client.jobs(story).state.memory_changes == ([] if seen else [change])
    path = client.write(story, number=1)["path"]
    after = client.get(f"/stories/{story}/memory", at=path[0][0])["now"]
    assert after == ["The lamp is out."] + ([] if seen else [LINE])


def test_a_change_that_is_left_over_waits_where_an_older_memory_is_edited(client: Client) -> None:
    view = client.write(client.begin()["id"], number=1)
    story, before = view["id"], "\n".join(view["memory"]["now"])
    change = MemoryChange(f"{before}\n{LINE}", before)
    leave_over(client, story, change)
    body = {"text": "The lamp is out.", "at": view["path"][0][0], "before": "The lamp is lit."}
    client.send("PUT", f"/stories/{story}/memory", body)
    assert client.jobs(story).state.memory_changes == [change]


def test_what_changes_nothing_in_the_memory_does_not_wait_and_not_all_can(client: Client) -> None:
    view = client.begin()
    story, lines = view["id"], view["memory"]["now"]
    client.model.hold.touch()
    client.send("POST", f"/stories/{story}/write", {"number": 1})
    client.http.portal.call(words_come, client, story)
    path, body = f"/stories/{story}/memory", {"at": view["head"], "seen": view["head"], "before": "\n".join(lines)}
    client.send("PUT", path, {**body, "text": "\n".join(lines)})
    assert client.jobs(story).state.memory_changes == []
    for number in range(MOST_CHANGES):
        client.send("PUT", path, {**body, "text": "\n".join([*lines, f"Lamp {number} is out."])})
    assert "wait already" in client.refused("PUT", path, {**body, "text": LINE})[1]
    assert len(client.jobs(story).state.memory_changes) == MOST_CHANGES
    client.model.hold.unlink()
    client.wait(story)
