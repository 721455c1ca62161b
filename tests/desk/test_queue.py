"""Steering while it writes: plans that wait, settings of the next passage, and words that are dropped when it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recurrentgpt.desk.backend.memory_change import MemoryChange
from tests.desk.conftest import Client, Served, begin, has_value, send, stop, there_are, written
from tests.desk.test_drafts import edit
from tests.desk.test_faults import held_draft
from tests.desk.test_typing_on import post


def plans_of(client: Client, view: dict[str, Any]) -> list[str]:
    ids = ",".join(entry[0] for entry in view["path"])
    return [passage["plan"] for passage in client.get(f"/stories/{view['id']}/passages", ids=ids)]


def test_plans_that_wait_are_written_in_their_order(client: Client) -> None:
    story = client.begin()["id"]
    for plan in ("Mira dives.", "Mira sinks.", "Mira rises."):
        client.send("POST", f"/stories/{story}/queue", {"plan": plan})
    at = f"/desk/api/stories/{story}/queue"
    client.http.request("DELETE", at, params={"number": 2}, json={"plan": "Mira sinks."}).raise_for_status()
    assert client.jobs(story).state.queue == ["Mira dives.", "Mira rises."]
    view = client.write(story, plan="Mira waits.")
    assert plans_of(client, view)[1:] == ["Mira waits.", "Mira dives.", "Mira rises."]
    assert client.jobs(story).state.queue == []
    client.send("POST", f"/stories/{story}/queue", {"plan": "Mira dives."})
    status, why = client.refused("DELETE", f"/stories/{story}/queue", {"plan": "Mira sinks."}, number="1")
    assert (status, client.jobs(story).state.queue) == (409, ["Mira dives."])
    assert "changed meanwhile" in why
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
    stop(page, page.get_by_role("button", name="Stop and drop the words"))
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


OWN = "Zoltan hides a spoon."
LINE = "It is the last night of October."


def test_a_change_of_the_memory_waits_in_sight_and_the_plan_outlives_it(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    own_desk.hold.touch()
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").fill(OWN)
    page.keyboard.press("Control+Enter")
    page.locator(".busy .drop").wait_for()
    memory = page.locator("section.memory")
    area = memory.get_by_label("Short-term memory")
    waits = memory.get_by_label("Changes of the memory that wait")

    def opened() -> str:
        memory.get_by_role("button", name="Edit").click()
        before: str = area.input_value()
        return before

    first = opened()
    area.fill(f"{first}\n{LINE}")
    page.keyboard.press("Control+Enter")
    waits.get_by_text(LINE).wait_for()
    page.reload()
    waits.get_by_text(LINE).wait_for()
    # Whoever goes on editing has it before them.
    assert opened() == f"{first}\n{LINE}"
    area.fill(f"{first}\n{LINE}\nThe lamp is a lie.")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Take out change 2 of the memory").click()
    there_are(waits.get_by_role("listitem"), 1)
    page.get_by_text("Your memory after passage 1 is not saved").wait_for()
    stop(page, page.get_by_role("button", name="Stop and drop the words"))
    own_desk.hold.unlink()
    memory.locator(".sentences").get_by_text(LINE).wait_for()
    there_are(waits, 0)
    page.get_by_text("This plan is chosen and waits").wait_for()
    page.get_by_text(OWN).wait_for()
    page.get_by_role("button", name="Write it").click()
    written(page, 2)


def test_a_plan_that_waits_is_offered_where_the_text_before_it_is_another(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").fill(OWN)
    page.keyboard.press("Control+Enter")
    page.get_by_text("This plan is chosen and waits").wait_for()
    (own_desk.home / "refuse").unlink()
    edit(page, 1)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("A plan of your own is not saved").wait_for()
    page.get_by_role("button", name="Go on with it").click()
    has_value(page.get_by_label("Your plan for the next passage"), OWN)


def test_a_plan_that_waits_is_in_sight_once_where_an_edit_before_it_fails(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    refused = [own_desk.home / name for name in ("refuse", "refuse-memory")]
    for name in refused:
        name.touch()
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").fill(OWN)
    page.keyboard.press("Control+Enter")
    page.get_by_text("This plan is chosen and waits").wait_for()
    edit(page, 1)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("It is not saved in the story yet").wait_for()
    for name in refused:
        name.unlink()
    page.get_by_text("This plan is chosen and waits").wait_for()
    there_are(page.get_by_text("A plan of your own is not saved"), 0)
    page.get_by_role("button", name="Write it").click()
    written(page, 2)
    there_are(page.get_by_text("A plan of your own is not saved"), 0)


def refused_plan(page: Any, served: Served) -> None:
    """Send a plan of one's own that fails to be written, so that it waits."""
    (served.home / "refuse").touch()
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").fill(OWN)
    send(page)
    page.get_by_text("This plan is chosen and waits").wait_for()
    (served.home / "refuse").unlink()


def test_a_plan_that_waits_outlives_a_way_over_the_map(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address, 2)
    refused_plan(page, own_desk)
    page.keyboard.press("m")
    page.locator(".node:not(.head)", has_text="1").click()
    page.route("**/goto", lambda route: route.fulfill(status=409, json={"error": "This cannot be done now."}))
    page.get_by_role("button", name="Go there").click()
    page.get_by_role("dialog").get_by_text("This cannot be done now.").wait_for()
    page.unroute("**/goto")
    page.get_by_role("button", name="Go there").click()
    page.get_by_role("button", name="Read it").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("A plan of your own is not saved").wait_for()
    page.get_by_role("button", name="Go on with it").click()
    has_value(page.get_by_label("Your plan for the next passage"), OWN)


def test_a_plan_that_waits_outlives_words_that_are_made_a_take(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    (own_desk.home / "refuse-memory").touch()
    stop(page, page.get_by_role("button", name="Stop Esc", exact=True))
    own_desk.hold.unlink()
    page.get_by_text("The writing of passage 2 was interrupted").wait_for()
    (own_desk.home / "refuse-memory").unlink()
    page.locator(".plans .card").nth(1).click()
    written(page, 2)
    page.get_by_text("of an interrupted passage 2 were laid aside").wait_for()
    refused_plan(page, own_desk)
    page.get_by_role("button", name="Make a take of them").click()
    there_are(page.get_by_text("were laid aside"), 0)
    page.get_by_text("A plan of your own is not saved").wait_for()
    page.get_by_role("button", name="Go on with it").click()
    has_value(page.get_by_label("Your plan for the next passage"), OWN)


def test_a_plan_that_was_laid_aside_is_no_longer_offered_once_another_tab_has_written_it(
    page: Any, own_desk: Served
) -> None:
    begin(page, own_desk.address)
    refused_plan(page, own_desk)
    (own_desk.home / "refuse-memory").touch()
    edit(page, 1)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("It is not saved in the story yet").wait_for()
    (own_desk.home / "refuse-memory").unlink()
    page.wait_for_function("own => Object.values(localStorage).some((value) => value.includes(own))", arg=OWN)
    post(page, "write")
    written(page, 2)
    page.wait_for_function("own => !Object.values(localStorage).some((value) => value.includes(own))", arg=OWN)
    left = page.get_by_text("A plan of your own is not saved")
    there_are(left, 0)
    page.reload()
    written(page, 2)
    there_are(left, 0)
    # What is typed once more is another wish, of which no passage comes. Its key would be typed in the passage's open editor.
    page.get_by_role("button", name="Write my own").click()
    page.get_by_label("Your plan for the next passage").fill(OWN)
    page.keyboard.press("Escape")
    left.wait_for()
    page.locator(".plans .card").first.click()
    written(page, 3)
    left.wait_for()


def test_on_a_narrow_screen_words_can_be_dropped(open_page: Callable[..., Any], own_desk: Served) -> None:
    page = open_page(viewport={"width": 390, "height": 780})
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    stop(page, page.get_by_role("button", name="Stop and drop the words"))
    own_desk.hold.unlink()
    page.get_by_text("the words are dropped").wait_for()
    there_are(page.locator("article.passage"), 1)


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
