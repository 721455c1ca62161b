"""Changes of the codex that are asked for while the desk is at work on the story: kept, and made when it is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.desk.backend.asked_change import MOST_CHANGES, AskedChange
from recurrentgpt.desk.backend.save_draft import write_draft
from recurrentgpt.library import Library
from recurrentgpt.schema.errors import StorageError
from tests.desk.conftest import Client
from tests.desk.test_codex_panel import names
from tests.desk.test_memory_changes import words_come
from tests.desk.test_story_jobs import Table

FACT = "Zoltan sold the boat."
ADDED: dict[str, Any] = {"name": "Zoltan", "kind": "person", "facts": [FACT]}
WAITS = AskedChange(do="add", name="Zoltan", args={"kind": "person", "facts": [FACT], "keys": []}, problem="")


@pytest.fixture
def table(tmp_path: Path, library: Library) -> Table:
    return Table(library, tmp_path)


@contextmanager
def writing(client: Client) -> Iterator[str]:
    """Begin a story, and have its second passage be written meanwhile."""
    story = client.begin()["id"]
    client.model.hold.touch()
    client.send("POST", f"/stories/{story}/write", {"number": 1})
    client.http.portal.call(words_come, client, story)
    yield story
    client.model.hold.unlink()
    assert client.wait(story)["step"] == 2
    assert client.jobs(story).state.error == ""


def test_what_is_asked_of_the_codex_while_a_passage_is_written_is_made_when_it_is_there(client: Client) -> None:
    with writing(client) as story:
        path = f"/stories/{story}/codex"
        client.send("POST", path, ADDED)
        client.send("POST", path, {"name": "the boatman", "kind": "person"})
        client.send("PUT", path, {"name": "Zoltan", "pinned": True, "alias": "Zolly", "merge": "the boatman"})
        client.send("PUT", f"{path}/line", {"name": "Zoltan", "aspect": "status", "value": "dead"})
        assert client.jobs(story).state.codex_changes[0] == WAITS
        assert [change["do"] for change in client.jobs(story).state.codex_changes] == [
            "add",
            "add",
            "alias",
            "merge",
            "pin",
            "line",
        ]
        assert "Zoltan" not in names(client, story, "1")
    zoltan = names(client, story, "2")["Zoltan"]
    assert {line["text"] for line in zoltan["lines"]} == {FACT, "Zoltan is dead."}
    assert ({"Zolly", "the boatman"} <= set(zoltan["names"]), zoltan["pinned"]) == (True, True)
    assert client.jobs(story).state.codex_changes == []
    assert "codex_changes" not in client.jobs(story).disk.read(story)


def test_what_the_codex_refuses_waits_with_the_reason_and_holds_nothing_up(client: Client) -> None:
    with writing(client) as story:
        path = f"/stories/{story}/codex"
        client.send("PUT", f"{path}/line", {"name": "Gundula", "aspect": "status", "value": "dead"})
        client.send("POST", path, ADDED)
    (refused,) = client.jobs(story).state.codex_changes
    assert "Gundula" in refused["problem"]
    assert client.jobs(story).disk.read(story)["codex_changes"] == [refused]
    assert "Zoltan" in names(client, story, "2")
    assert client.write(story, number=1)["step"] == 3
    other = {**refused, "name": "Zoltan"}
    assert client.refused("DELETE", f"{path}/waiting", other, number="1")[0] == 409
    client.http.request(
        "DELETE", f"/desk/api{path}/waiting", params={"number": 1}, json=dict(refused)
    ).raise_for_status()
    assert client.jobs(story).state.codex_changes == []


def test_what_waits_already_does_not_wait_twice(client: Client) -> None:
    with writing(client) as story:
        path = f"/stories/{story}/codex"
        for pinned in (True, True, False, True):
            client.send("PUT", path, {"name": "Zoltan", "pinned": pinned})
            client.send("PUT", path, {"name": "Sandor", "hidden": True})
        pins = [change["args"] for change in client.jobs(story).state.codex_changes if change["do"] == "pin"]
        # What was taken back in between is asked for anew.
        assert pins == [{"pinned": True}, {"pinned": False}, {"pinned": True}]
        assert len(client.jobs(story).state.codex_changes) == len(pins) + 1
    # The codex knows neither: asked for once more, they are refused once more.
    client.model.hold.touch()
    client.send("POST", f"/stories/{story}/write", {"number": 1})
    client.http.portal.call(words_come, client, story)
    client.send("PUT", path, {"name": "Sandor", "hidden": True})
    assert len(client.jobs(story).state.codex_changes) == len(pins) + 1
    client.model.hold.unlink()
    client.wait(story)


def test_what_is_not_on_the_disk_does_not_wait_and_not_all_can(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with writing(client) as story:
        path = f"/stories/{story}/codex"

        def full(*written: object) -> None:
            raise StorageError("There is no room on the disk.")

        with monkeypatch.context() as patch:
            patch.setattr(client.jobs(story).disk, "write", full)
            assert "no room" in client.refused("POST", path, ADDED)[1]
        assert client.jobs(story).state.codex_changes == []
        for number in range(MOST_CHANGES):
            client.send("POST", path, {**ADDED, "facts": [f"Zoltan has {number} boats."]})
        assert "wait already" in client.refused("POST", path, ADDED)[1]


async def test_what_waits_outlives_the_server_and_the_words_of_the_passage_follow_it(table: Table) -> None:
    jobs = await table.begun()
    draft = await table.held(jobs)
    await jobs.let_wait("codex_changes", WAITS)
    refuses = table.hold.with_name("refuse-memory")
    refuses.touch()
    table.hold.unlink()
    await jobs.ended()
    refuses.unlink()
    assert "402" in jobs.state.error
    assert [entry.name for entry in await jobs.story.acodex("Zoltan")] == ["Zoltan"]
    await jobs.let_wait("codex_changes", {**WAITS, "name": "Sandor"})
    again = await table.made().story_jobs(jobs.story.id)
    assert [change["name"] for change in again.state.codex_changes] == ["Sandor"]
    assert again.draft is not None
    again.start("keep", write_draft(again.story, again.draft), draft=again.draft)
    await again.ended()
    assert again.state.error == ""
    assert [entry.name for entry in await again.story.acodex("Sandor")] == ["Sandor"]
    assert (await again.story.apassages())[1].text.split()[:40] == draft.split()[:40]
