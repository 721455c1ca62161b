"""Steering while it writes: plans that wait, settings of the next passage, and words that are dropped when it is stopped."""

from __future__ import annotations

from typing import Any

from recurrentgpt.desk.backend.memory_change import MemoryChange
from tests.desk.conftest import Client, Served, begin, has_value, there_are, written
from tests.desk.test_faults import held_draft


def plans_of(client: Client, view: dict[str, Any]) -> list[str]:
    ids = ",".join(entry[0] for entry in view["path"])
    return [passage["plan"] for passage in client.get(f"/stories/{view['id']}/passages", ids=ids)]


def test_plans_that_wait_are_written_in_their_order(client: Client) -> None:
    story = client.begin()["id"]
    for plan in ("Mira dives.", "Mira sinks.", "Mira rises."):
        client.send("POST", f"/stories/{story}/queue", {"plan": plan})
    client.http.request("DELETE", f"/desk/api/stories/{story}/queue", params={"number": 2}).raise_for_status()
    assert client.jobs(story).state.queue == ["Mira dives.", "Mira rises."]
    view = client.write(story, plan="Mira waits.")
    assert plans_of(client, view)[1:] == ["Mira waits.", "Mira dives.", "Mira rises."]
    assert client.jobs(story).state.queue == []
    assert "some words" in client.refused("POST", f"/stories/{story}/queue", {"plan": " "})[1]


def test_a_queue_a_setting_and_a_stop_that_drops(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    page.keyboard.press("w")
    page.get_by_label("Your plan for the passage after it").fill("Mira dives.")
    page.get_by_role("button", name="Queue it").click()
    page.get_by_label("Plans that wait").get_by_text("Mira dives.").wait_for()
    page.get_by_role("button", name="Settings", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Style").fill("dry")
    dialog.get_by_role("button", name="Save").click()
    there_are(dialog, 0)
    # A desk that is killed keeps what waits.
    page.get_by_role("button", name="Stop and drop the words").click()
    own_desk.hold.unlink()
    page.get_by_text("the words are dropped").wait_for()
    there_are(page.locator("article.passage"), 1)
    page.get_by_text("These plans wait to be written").wait_for()
    own_desk.end()
    own_desk.start()
    page.reload()
    page.get_by_role("button", name="Take out plan 1").click()
    page.get_by_text("A plan of your own is not saved").wait_for()
    page.get_by_role("button", name="Go on with it").click()
    has_value(page.get_by_label("Your plan for the next passage"), "Mira dives.")
    page.get_by_role("button", name="Settings", exact=True).click()
    has_value(dialog.get_by_label("Style"), "dry")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Write from it").click()
    written(page, 2)


def test_a_memory_that_is_edited_while_it_writes_holds_from_the_next_passage_on(client: Client) -> None:
    story = client.begin()["id"]
    before = client.get(f"/stories/{story}")
    lines = before["memory"]["now"]
    (client.model.hold).touch()
    client.send("POST", f"/stories/{story}/write", {"number": 1, "steps": 2})
    edited = [*lines[1:], "The lamp is a lie."]
    client.send("PUT", f"/stories/{story}/memory", {"text": "\n".join(edited), "at": before["head"]})
    client.send(
        "PUT", f"/stories/{story}/memory", {"text": "\n".join([*lines, "Mira knows it."]), "at": before["head"]}
    )
    client.model.hold.unlink()
    view = client.wait(story)
    assert view["step"] == 3
    second = client.get(f"/stories/{story}/memory", at=view["path"][1][0])["now"]
    assert "The lamp is a lie." in second
    assert "Mira knows it." in second
    assert lines[0] not in second
    assert any("The lamp is a lie." in str(call) for call in client.model.calls)


def test_a_memory_change_keeps_what_the_passage_added() -> None:
    change = MemoryChange("Mira tends the lamp.\nIt rains.", "Mira tends the lamp.\nThe lamp is a lie.")
    assert change.made_in("Mira tends the lamp.\nIt rains.\nA ship comes.").splitlines() == [
        "Mira tends the lamp.",
        "A ship comes.",
        "The lamp is a lie.",
    ]
    full = "\n".join(f"Sentence {number} is true." for number in range(20))
    assert change.made_in(full).splitlines() == [*full.splitlines()[1:], "The lamp is a lie."]
