"""What a writer typed outlives a failed first call, a second tab and a crowd of tabs, and the page says what is so."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.desk.conftest import Served, at_rest, begin, dialogs_closed, has_value, in_sight, there_are, written
from tests.desk.test_drafts import MINE, button, edit, opened
from tests.desk.test_faults import held_draft

PREMISE = "Mira tends a lamp."


def test_a_failed_first_call_costs_no_premise(page: Any, own_desk: Served) -> None:
    (own_desk.home / "refuse").touch()
    page.goto(own_desk.address)
    page.get_by_label("What is it about?").fill(PREMISE)
    button(page, "Begin").click()
    page.get_by_text("See Settings, Model and endpoint.").wait_for()
    assert page.locator(".begins-with").inner_text() == PREMISE
    button(page, "Model and endpoint").click()
    page.get_by_label("Key of the endpoint").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Stories").click()
    story = page.get_by_role("link", name=PREMISE)
    story.wait_for()
    page.get_by_text("not written yet").first.wait_for()
    has_value(page.get_by_label("What is it about?"), PREMISE)
    (own_desk.home / "refuse").unlink()
    own_desk.end()
    own_desk.start()
    page.reload()
    story.click()
    button(page, "Write the first passage").click()
    written(page, 1)
    page.get_by_role("link", name="Stories").click()
    page.get_by_role("heading", name="Your stories").wait_for()
    has_value(page.get_by_label("What is it about?"), "")


def test_the_premise_of_a_story_that_is_not_opened_is_changed_in_its_settings(page: Any, own_desk: Served) -> None:
    (own_desk.home / "refuse").touch()
    page.goto(own_desk.address)
    page.get_by_label("What is it about?").fill("A ferry sinks.")
    button(page, "Begin").click()
    button(page, "Model and endpoint").wait_for()
    for view in ("Map", "Export"):
        button(page, view).click()
        page.get_by_role("dialog").get_by_text("Nothing of this story is written yet.").wait_for()
        there_are(page.get_by_role("dialog").get_by_role("alert"), 0)
        page.keyboard.press("Escape")
        there_are(page.get_by_role("dialog"), 0)
    button(page, "Settings", exact=True).click()
    premise = page.get_by_role("dialog").get_by_label("Premise").first
    has_value(premise, "A ferry sinks.")
    premise.fill("A cook finds a map.")
    button(page, "Save").click()
    page.locator(".begins-with").get_by_text("A cook finds a map.").wait_for()
    (own_desk.home / "refuse").unlink()
    own_desk.end()
    own_desk.start()
    page.reload()
    page.locator(".begins-with").get_by_text("A cook finds a map.").wait_for()
    button(page, "Write the first passage").click()
    written(page, 1)
    assert page.locator(".premise").inner_text() == "A cook finds a map."


@pytest.mark.parametrize("written_already", [False, True])
def test_a_premise_that_another_tab_saved_meanwhile_is_shown_before_it_is_saved_over(
    page: Any, open_page: Callable[..., Any], own_desk: Served, written_already: bool
) -> None:
    if written_already:
        begin(page, own_desk.address)
    else:
        (own_desk.home / "refuse").touch()
        page.goto(own_desk.address)
        page.get_by_label("What is it about?").fill("A ferry sinks.")
        button(page, "Begin").click()
        page.locator(".begins-with").wait_for()
    other = open_page()
    other.goto(page.url)
    for tab, premise in ((page, "A cook finds a map."), (other, "A dog runs away.")):
        button(tab, "Settings", exact=True).click()
        tab.get_by_role("dialog").get_by_label("Premise").first.fill(premise)
    button(other, "Save").click()
    there_are(other.locator("dialog[open]"), 0)
    changed = page.get_by_role("group", name="Changed meanwhile")
    changed.get_by_text("A dog runs away.").wait_for()
    assert button(page, "Save").is_disabled()
    button(changed, "Go on with mine").click()
    there_are(changed, 0)
    button(page, "Save").click()
    there_are(page.locator("dialog[open]"), 0)
    other.locator(".begins-with, .premise").get_by_text("A cook finds a map.").first.wait_for()


@pytest.mark.parametrize("what", ["summary", "plan"])
def test_what_another_window_saved_meanwhile_is_shown_before_it_is_saved_over(
    page: Any, open_page: Callable[..., Any], desk: Served, what: str
) -> None:
    begin(page, desk.address)
    other = open_page()
    other.goto(page.url)
    written(other, 1)
    mine, theirs = opened(page, what), opened(other, what)
    mine.fill("The cook finds a map.")
    theirs.fill("The dog runs away.")
    save = "Only save it" if what == "plan" else "Save"
    button(other, save, exact=True).click()
    there_are(theirs, 0)
    changed = page.get_by_role("group", name="Changed meanwhile")
    if what == "summary":
        button(page, save, exact=True).click()
    changed.get_by_text("The dog runs away.").wait_for()
    assert button(page, save, exact=True).is_disabled()
    button(changed, "Go on with mine").click()
    there_are(changed, 0)
    button(page, save, exact=True).click()
    there_are(mine, 0)
    if what == "plan":
        other.locator(".plans .card").get_by_text("The cook finds a map.").wait_for()
    opened(other, what)
    has_value(theirs, "The cook finds a map.")


def test_a_setting_that_another_window_saved_meanwhile_is_told_before_it_is_saved_over(
    page: Any, open_page: Callable[..., Any], desk: Served
) -> None:
    begin(page, desk.address)
    other = open_page()
    other.goto(page.url)
    for tab, style in ((page, "dry"), (other, "wordy")):
        button(tab, "Settings", exact=True).click()
        tab.get_by_role("dialog").get_by_label("Style").fill(style)
    button(other, "Save").click()
    there_are(other.locator("dialog[open]"), 0)
    button(page, "Save").click()
    page.get_by_text("Style was changed meanwhile, and reads now: wordy").wait_for()
    button(page, "Save").click()
    there_are(page.locator("dialog[open]"), 0)
    button(other, "Settings", exact=True).click()
    has_value(other.get_by_role("dialog").get_by_label("Style"), "dry")


def test_a_fact_that_is_typed_can_be_taken_back_when_a_status_is_chosen_in_its_place(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    address, _, story = page.url.partition("#/story/")
    httpx.post(f"{address}api/stories/{story}/codex", json={"name": "Zoltan", "kind": "person", "facts": ["He swims."]})
    codex = page.locator(".codex")
    codex.get_by_text("Elsewhere").click()
    codex.locator("summary", has_text="Change Zoltan").click()
    fact, what = codex.get_by_label("Fact of Zoltan"), codex.get_by_label("What is true of Zoltan")
    fact.fill("He limps.")
    what.select_option("Status")
    codex.get_by_label("Status of Zoltan").select_option("dead")
    thrown = page.get_by_role("group", name="Thrown away")
    thrown.get_by_text("He limps.").wait_for()
    what.select_option("Fact")
    button(thrown, "Take it back").click()
    has_value(fact, "He limps.")


def test_what_is_typed_while_the_premise_is_saved_was_changed_by_nobody_else(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    button(page, "Settings", exact=True).click()
    premise = page.get_by_role("dialog").get_by_label("Premise").first
    premise.fill("A cook finds a map.")
    with page.expect_request("**/brief"):
        # It is still being saved as the next word comes.
        page.route("**/brief", lambda route: (premise.press_sequentially(" Alone."), route.continue_())[1])
        button(page, "Save").click()
    there_are(page.locator("dialog[open]"), 0)
    page.locator(".premise").get_by_text("A cook finds a map.").wait_for()
    button(page, "Settings", exact=True).click()
    has_value(premise, "A cook finds a map. Alone.")
    there_are(page.get_by_role("group", name="Changed meanwhile"), 0)
    button(page, "Save").click()
    page.locator(".premise").get_by_text("A cook finds a map. Alone.").wait_for()


def test_settings_that_are_saved_while_it_writes_outlive_the_desk(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    own_desk.hold.touch()
    page.locator(".plans .card").first.click()
    page.locator(".busy .drop").wait_for()
    button(page, "Settings", exact=True).click()
    page.locator("[name=note]").fill("More rain.")
    button(page, "Save").click()
    there_are(page.locator("dialog[open]"), 0)
    own_desk.end(signal.SIGKILL)
    own_desk.hold.unlink()
    own_desk.start()
    page.get_by_role("button", name="Keep these words").or_(page.locator(".plans .card").first).first.wait_for()
    button(page, "Settings", exact=True).click()
    has_value(page.locator("[name=note]"), "More rain.")


def test_a_story_that_was_never_written_can_be_erased(page: Any, own_desk: Served) -> None:
    (own_desk.home / "refuse").touch()
    page.goto(own_desk.address)
    page.get_by_label("What is it about?").fill(PREMISE)
    button(page, "Begin").click()
    button(page, "Model and endpoint").wait_for()
    page.get_by_role("link", name="Stories").click()
    button(page, f"Erase {PREMISE}").click()
    button(page, "Erase it").click()
    there_are(page.get_by_role("link", name=PREMISE), 0)


def test_a_save_in_one_tab_leaves_the_open_editor_of_another(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    mine = opened(page, "memory")
    mine.fill(MINE)
    other = page.context.new_page()
    other.goto(page.url)
    theirs = other.get_by_label("Short-term memory")
    theirs.wait_for()
    has_value(theirs, MINE)
    button(other.locator(".memory"), "Save").click()
    there_are(theirs, 0)
    page.locator(".memory").get_by_text("The next passage is written from it").wait_for()
    page.wait_for_function("() => Object.keys(localStorage).some((key) => key.includes('/memory/'))")
    has_value(mine, MINE)
    mine.press("End")
    page.keyboard.type(" More.")
    page.reload()
    mine.wait_for()
    has_value(mine, f"{MINE} More.")


def test_many_tabs_of_one_desk_all_answer(open_page: Callable[..., Any], desk: Served) -> None:
    first = open_page()
    begin(first, desk.address)
    tabs = [first.context.new_page() for _ in range(7)]
    for tab in tabs:
        tab.goto(first.url)
        written(tab, 1)
    tabs[-1].locator(".plans .card").first.click()
    for tab in (tabs[-1], first, tabs[0]):
        written(tab, 2)


def test_on_a_phone_stop_is_in_sight_while_it_writes(open_page: Callable[..., Any], own_desk: Served) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    begin(page, own_desk.address, 3)
    held_draft(page, own_desk)
    page.evaluate("scrollTo(0, 0)")
    box = at_rest(page.locator(".stop"))
    assert 0 <= box["y"] <= 844 - box["height"]
    own_desk.hold.unlink()
    written(page, 4)


def test_a_problem_is_not_told_of_when_it_is_past(page: Any, own_desk: Served) -> None:
    (own_desk.home / "refuse").touch()
    page.goto(own_desk.address)
    button(page, "Begin").click()
    failed = page.get_by_text("See Settings, Model and endpoint.")
    failed.wait_for()
    button(page, "Settings", exact=True).click()
    page.locator("[name=budget]").fill("900000")
    button(page, "Save").click()
    there_are(failed, 0)
    (own_desk.home / "refuse").unlink()
    page.keyboard.press("Escape")
    button(page, "Write the first passage").click()
    written(page, 1)
    # Another page is at work, of which this one has not heard.
    page.route("**/undo", lambda route: route.fulfill(status=409, json={"error": "The story is being written."}))
    page.keyboard.press("z")
    refused = page.get_by_text("The story is being written.")
    refused.wait_for()
    page.keyboard.press("1")
    written(page, 2)
    there_are(refused, 0)


def test_back_closes_the_map_and_stays_with_the_story(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    story = page.url
    page.keyboard.press("m")
    page.locator(".node.head").wait_for()
    page.go_back()
    there_are(page.locator("dialog[open]"), 0)
    assert page.url == story
    assert page.locator("article.passage").count() == 1
    # A dialog that is closed, or replaced by another, leaves nothing for Back to undo.
    for _ in range(2):
        button(page, "Settings", exact=True).click()
        button(page, "Model and endpoint").click()
        page.locator("[name=base_url]").wait_for()
        page.keyboard.press("Escape")
        dialogs_closed(page)
    page.go_back()
    page.get_by_role("heading", name="Your stories").wait_for()


def test_a_refusal_is_in_sight_where_the_panel_was_scrolled_on(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    edit(page, 1)
    page.evaluate("() => { const panel = document.querySelector('aside'); panel.scrollTop = panel.scrollHeight; }")
    page.get_by_label("Text of passage 1").press("Control+Enter")
    in_sight(page.locator("aside .problem"))


def test_what_was_changed_meanwhile_is_said_where_the_text_is_saved(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    area = edit(page, 1, "Nobody tends the lamp.\n" * 80)
    area.press("Control+Home")
    address, _, story = page.url.partition("#/story/")
    httpx.post(
        f"{address}api/stories/{story}/replace", json={"old": "the", "new": "that"}, timeout=60
    ).raise_for_status()
    see = button(page, "Changed meanwhile: see how")
    in_sight(see)
    see.click()
    in_sight(button(page, "Go on with mine"))


def test_on_a_phone_a_refusal_is_in_sight(open_page: Callable[..., Any], desk: Served) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    begin(page, desk.address, 3)
    page.route("**/goto", lambda route: route.fulfill(status=409, json={"error": "This cannot be done now."}))
    page.get_by_role("button", name="Passage 1: what can be done").click()
    button(page, "Go back to here").click()
    refused = page.locator("aside > .problem")
    refused.wait_for()
    box = at_rest(refused)
    assert 0 <= box["y"] <= 844 - box["height"]


def test_on_a_phone_no_refusal_lies_over_another(open_page: Callable[..., Any], own_desk: Served) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    page.locator(".plans .card").first.click()
    older = page.locator(".next > .problem")
    older.wait_for()
    page.route("**/undo", lambda route: route.fulfill(status=409, json={"error": "This cannot be done now."}))
    page.keyboard.press("z")
    newer = page.locator("aside > .problem")
    newer.wait_for()
    first, second = at_rest(newer), at_rest(older)
    assert 0 <= first["y"] <= 844 - first["height"]
    assert (
        second["y"] + second["height"] <= first["y"] or second["y"] >= first["y"] + first["height"] or second["y"] < 0
    )
    middle = [first["x"] + first["width"] / 2, first["y"] + first["height"] / 2]
    seen = "([x, y]) => document.elementFromPoint(x, y).closest('.problem').innerText"
    assert "This cannot be done now." in page.evaluate(seen, middle)
