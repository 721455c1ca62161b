"""Plans that wait: on the disk before it is answered, and each written once, whatever is taken out meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.desk.backend.jobs import write_passages
from recurrentgpt.library import Library
from recurrentgpt.schema.errors import StorageError, StoryError
from tests.desk.conftest import Client
from tests.desk.test_story_jobs import Table

PLAN, OTHER = "A spoon is hidden.", "The rain stops."


@pytest.fixture
def table(tmp_path: Path, library: Library) -> Table:
    return Table(library, tmp_path)


def test_a_plan_that_is_not_on_the_disk_does_not_wait(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    story = client.begin()["id"]

    def full(*written: object) -> None:
        raise StorageError("There is no room on the disk.")

    with monkeypatch.context() as patch:
        patch.setattr(client.jobs(story).disk, "write", full)
        why = client.refused("POST", f"/stories/{story}/queue", {"plan": PLAN})[1]
    assert "no room" in why
    assert client.jobs(story).state.queue == []
    client.send("POST", f"/stories/{story}/queue", {"plan": PLAN})
    assert client.jobs(story).state.queue == [PLAN]


async def test_a_plan_that_is_being_chosen_can_be_taken_out_no_more(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = await table.begun()
    choose, chosen = jobs.story.achoose, []

    async def take_out_and_choose(answer: Any) -> str:
        chosen.append(answer["plan"])
        with pytest.raises(StoryError):
            jobs.withdraw("queue", 3 - len(chosen), answer["plan"])
        return await choose(answer)

    monkeypatch.setattr(jobs.story, "achoose", take_out_and_choose)
    # The same plan twice is meant twice.
    await jobs.let_wait("queue", PLAN)
    await jobs.let_wait("queue", PLAN)
    await table.write(jobs, 0)
    assert chosen == [PLAN, PLAN]
    assert [passage.plan for passage in await jobs.story.apassages()][1:] == [PLAN, PLAN]


async def test_a_plan_that_cannot_be_chosen_waits_again(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = await table.begun()

    async def fail(answer: object) -> str:
        await jobs.let_wait("queue", OTHER)
        raise StorageError("There is no room on the disk.")

    monkeypatch.setattr(jobs.story, "achoose", fail)
    await jobs.let_wait("queue", PLAN)
    jobs.start("write", write_passages(jobs, 1), asked=1)
    await jobs.ended()
    assert "no room" in jobs.state.error
    assert jobs.state.queue == [PLAN, OTHER]


def test_a_plan_that_waits_is_replaced_and_nothing_is_written(client: Client) -> None:
    view = client.begin()
    story, refuse = view["id"], client.model.hold.with_name("refuse")
    refuse.touch()
    assert client.write(story, number=2)["waiting_plan"] == view["plans"][1]
    path = f"/stories/{story}/waiting-plan"
    assert client.refused("PUT", path, {"plan": " "})[0] == 422
    client.send("PUT", path, {"number": 2, "plan": PLAN})
    now = client.get(f"/stories/{story}")
    assert (now["waiting_plan"], now["step"], client.jobs(story).state.error) == (PLAN, 1, "")
    client.send("PUT", path, {"plan": OTHER})
    refuse.unlink()
    (_, second) = client.write(story)["path"]
    (passage,) = client.get(f"/stories/{story}/passages", ids=second[0])
    assert (passage["plan"], passage["plan_author"]) == (OTHER, "human")


def test_a_plan_that_waits_is_not_replaced_by_a_page_that_has_not_seen_it(client: Client) -> None:
    view = client.begin()
    path = f"/stories/{view['id']}/waiting-plan"
    client.send("PUT", path, {"plan": PLAN, "seen": ""})
    # Of two pages that both had it in hand, the second has not seen what the first made of it.
    client.send("PUT", path, {"plan": OTHER, "seen": PLAN})
    status, why = client.refused("PUT", path, {"plan": "A door is found.", "seen": PLAN})
    assert (status, "changed meanwhile" in why) == (409, True)
    assert client.get(f"/stories/{view['id']}")["waiting_plan"] == OTHER
    client.write(view["id"])
    assert client.refused("PUT", path, {"plan": "A door is found.", "seen": OTHER})[0] == 409
    assert client.get(f"/stories/{view['id']}")["waiting_plan"] is None
