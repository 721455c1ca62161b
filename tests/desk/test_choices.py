"""Choosing what happens next: takes side by side, plans in hand, and who plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.desk.conftest import Served, at_rest, begin, has_value, send, text_of, there_are, written


def button(page: Any, name: str, **more: Any) -> Any:
    return page.get_by_role("button", name=name, **more)


def test_the_take_before_is_one_click_away(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    first = text_of(page, 2)
    there_are(page.locator(".takes"), 0)
    page.keyboard.press("a")
    page.locator(".takes").wait_for()
    page.locator(".stop").wait_for(state="detached")
    second = text_of(page, 2)
    assert second != first
    # Which is the earlier of two takes of one second nobody knows; of the two buttons one leads to the other take.
    page.locator(".takes button:enabled").click()
    page.get_by_text(first).wait_for()
    page.locator(".takes button:enabled").click()
    page.get_by_text(second).wait_for()


def test_a_plan_is_edited_at_its_end_and_escape_goes_back_to_it(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.locator(".plans .card").nth(1).focus()
    plan = page.locator(".plans .card").nth(1).locator("span").last.inner_text()
    page.keyboard.press("e")
    page.keyboard.type(" She runs.")
    has_value(page.get_by_label("Plan 2", exact=True), f"{plan} She runs.")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement?.id === 'plan-2'")


def test_a_plan_that_waits_is_edited_as_a_proposed_one_is(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").fill("A spoon is hidden.")
    send(page)
    page.get_by_text("This plan is chosen and waits.").wait_for()
    editor = page.get_by_label("The plan that waits", exact=True)
    button(page, "Edit the plan that waits").click()
    page.keyboard.type(" She runs.")
    has_value(editor, "A spoon is hidden. She runs.")
    page.reload()
    has_value(editor, "A spoon is hidden. She runs.")
    button(page, "Only save it").click()
    page.locator(".plan-now").get_by_text("A spoon is hidden. She runs.").wait_for()
    there_are(editor, 0)
    button(page, "Edit the plan that waits").click()
    page.keyboard.type(" It rains.")
    (own_desk.home / "refuse").unlink()
    send(page)
    written(page, 2)
    page.locator("article.passage[aria-label^='Passage 2'] .number").click()
    page.locator(".plan-was").get_by_text("A spoon is hidden. She runs. It rains.").wait_for()
    # What it was before is no text that somebody lost.
    there_are(page.get_by_role("group", name="Not saved"), 0)


def test_an_edit_of_a_plan_that_waits_is_found_again_when_that_is_gone(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    page.keyboard.press("1")
    button(page, "Edit the plan that waits").click()
    page.keyboard.type(" She runs.")
    page.keyboard.press("Escape")
    (own_desk.home / "refuse").unlink()
    button(page, "Write it").click()
    written(page, 2)
    page.get_by_role("group", name="Not saved").get_by_role("button", name="Go on with it").click()
    editor = page.get_by_label("The plan that waits", exact=True)
    # The story goes back to where the plan waited, first.
    editor.wait_for()
    page.wait_for_function("() => document.activeElement.matches('.writing textarea')")
    page.keyboard.type(" It rains.")
    assert editor.input_value().endswith(" She runs. It rains.")
    button(page, "Write from it").click()
    written(page, 2)
    page.locator("article.passage[aria-label^='Passage 2'] .number").click()
    page.locator(".plan-was").get_by_text("She runs. It rains.").wait_for()


@pytest.mark.parametrize("choice", ["Go on with mine", "Take this one"])
def test_who_saves_a_plan_that_waits_second_is_told_what_it_became_meanwhile(
    page: Any, open_page: Callable[..., Any], own_desk: Served, choice: str
) -> None:
    mine, theirs = "A spoon is hidden. She runs.", "The rain stops."
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").fill("A spoon is hidden.")
    send(page)
    other = open_page()
    other.goto(page.url)
    for place, text in ((page, mine), (other, theirs)):
        button(place, "Edit the plan that waits").click()
        place.get_by_label("The plan that waits", exact=True).fill(text)
    button(other, "Only save it").click()
    told = page.get_by_role("group", name="Changed meanwhile")
    told.get_by_text(theirs).wait_for()
    editor = page.get_by_label("The plan that waits", exact=True)
    has_value(editor, mine)
    assert button(page, "Only save it").is_disabled()
    assert button(page, "Write from it").is_disabled()
    # It is no way around them.
    editor.press("Control+Enter")
    button(told, choice).click()
    there_are(told, 0)
    if choice == "Go on with mine":
        button(page, "Only save it").click()
        there_are(told, 0)
    else:
        page.get_by_role("group", name="Thrown away").get_by_text(mine).wait_for()
    there_are(editor, 0)
    page.locator(".plan-now").get_by_text(mine if choice == "Go on with mine" else theirs).wait_for()


def test_a_second_click_is_no_second_wish(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.locator(".plans .card").first.dblclick()
    written(page, 2)
    there_are(page.locator(".problem"), 0)


def test_whoever_says_who_they_are_begins_at_once(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_label("play a part in it").check(force=True)
    page.get_by_label("Who do you play?").fill("the cook of a whaling ship")
    button(page, "Begin").click()
    page.get_by_role("heading", name="What do you do?").wait_for()
    written(page, 1)
    page.get_by_text("the cook of a whaling ship").first.wait_for()


def test_what_a_player_did_stands_before_its_passage_and_is_no_part_of_it(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_label("play a part in it").check(force=True)
    page.get_by_role("button", name="Begin").click()
    page.locator(".plans .card").first.wait_for()
    page.keyboard.press("w")
    page.get_by_label("Who are you?").last.fill("I am the cook.")
    send(page)
    written(page, 1)
    page.keyboard.press("w")
    page.get_by_role("textbox", name="What do you do?").fill("I bribe the <b>guard</b>.")
    send(page)
    written(page, 2)
    page.reload()
    written(page, 2)
    done = page.locator("article.passage > .did")
    there_are(done, 2)
    assert done.all_text_contents() == ["Who you are: I am the cook.", "You did: I bribe the <b>guard</b>."]
    there_are(page.locator(".deed"), 1)
    assert "bribe" not in page.locator("article.passage .prose").last.inner_text()


def test_plans_of_a_novel_stand_in_no_manuscript(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    there_are(page.locator(".did"), 0)


def test_on_a_phone_the_choices_of_a_player_are_one_press_away(open_page: Callable[..., Any], desk: Served) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    page.goto(desk.address)
    page.get_by_label("play a part in it").check(force=True)
    button(page, "Begin").click()
    page.locator(".plans .card").first.click()
    written(page, 1)
    page.evaluate("scrollTo(0, 0)")
    reach = page.locator(".reach")
    reach.wait_for()
    box = at_rest(reach)
    assert 0 <= box["y"] <= 844 - box["height"]
    reach.click()
    reach.wait_for(state="detached")
    first = at_rest(page.locator(".plans .card").first)
    assert 0 <= first["y"] <= 844


def look(page: Any, state: str) -> None:
    """Make a page believe that its tab is hidden, or visible."""
    page.evaluate(
        """(state) => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def test_a_choice_made_before_the_page_knows_how_things_stand_is_not_refused(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    other = page.context.new_page()
    other.goto(page.url)
    written(other, 1)
    look(page, "hidden")
    own_desk.hold.touch()
    other.keyboard.press("2")
    other.locator(".stop").wait_for()
    waiting: list[Any] = []
    refused: list[str] = []

    def hold(route: Any) -> None:
        waiting.append(route)

    def note(response: Any) -> None:
        if response.status == 409:
            refused.append(response.url)

    page.route("**/events**", hold)
    page.on("response", note)
    look(page, "visible")
    page.keyboard.press("1")
    while not waiting:
        page.wait_for_timeout(10)
    for route in waiting:
        route.continue_()
    page.locator(".stop").wait_for()
    own_desk.hold.unlink()
    written(page, 2)
    assert refused == []
