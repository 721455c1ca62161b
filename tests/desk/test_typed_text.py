"""Ways to lose what was typed, tried one by one: none does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.desk.conftest import Served, begin, has_value, there_are, written
from tests.desk.test_drafts import MINE, button, edit, opened
from tests.desk.test_faults import held_draft


@pytest.mark.parametrize("field", ["passage", "own plan", "memory"])
def test_what_was_cancelled_can_be_taken_back(page: Any, desk: Served, field: str) -> None:
    begin(page, desk.address)
    opened(page, field).fill(MINE)
    button(page, "Cancel").click()
    thrown = page.get_by_role("group", name="Thrown away")
    thrown.wait_for()
    page.reload()
    thrown.get_by_role("button", name="Take it back").click()
    label = {"passage": "Text of passage 1", "own plan": "Your plan for the next", "memory": "Short-term memory"}[field]
    has_value(page.get_by_label(label), MINE)
    there_are(thrown, 0)


def test_the_title_and_the_name_of_a_branch_outlive_a_reload(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.get_by_title("Rename").click()
    page.get_by_label("Title", exact=True).fill("The Lamp")
    page.reload()
    written(page, 1)
    has_value(page.get_by_label("Title", exact=True), "The Lamp")
    button(page, "Rename", exact=True).click()
    page.get_by_role("heading", name="The Lamp").wait_for()
    page.keyboard.press("m")
    page.get_by_label("Name of the branch").fill("darker")
    page.keyboard.press("Escape")
    there_are(page.locator("dialog[open]"), 0)
    page.wait_for_function("() => !history.state?.dialog")
    page.reload()
    written(page, 1)
    page.keyboard.press("m")
    has_value(page.get_by_label("Name of the branch"), "darker")


def test_a_plan_that_failed_to_be_written_outlives_another_choice(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    opened(page, "own plan").fill(MINE)
    button(page, "Write from it").click()
    page.get_by_text("This plan is chosen and waits").wait_for()
    (own_desk.home / "refuse").unlink()
    page.locator(".plans .card").nth(1).click()
    written(page, 2)
    button(page, "Go on with it").click()
    has_value(page.get_by_label("Your plan for the next passage"), MINE)


def test_what_is_typed_while_it_writes_is_there_afterwards(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    page.keyboard.press("w")
    page.get_by_label("Your plan for the passage after it").fill(MINE)
    own_desk.hold.unlink()
    written(page, 2)
    has_value(page.get_by_label("Your plan for the next passage"), MINE)


def test_the_choices_of_a_new_story_outlive_a_reload(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_label("mystery").check(force=True)
    page.get_by_text("How it is told").click()
    page.get_by_role("textbox", name="Style").fill("dry")
    page.reload()
    page.get_by_text("How it is told").click()
    has_value(page.get_by_role("textbox", name="Style"), "dry")
    assert page.get_by_label("mystery").is_checked()


def test_a_text_outlives_a_save_that_fails_and_a_way_back(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.route("**/passage", lambda route: route.abort())
    edit(page, 1)
    button(page, "Save", exact=True).click()
    page.get_by_text("The desk does not answer").first.wait_for()
    page.get_by_role("link", name="Stories").click()
    page.get_by_role("heading", name="Your stories").wait_for()
    page.go_back()
    has_value(page.get_by_label("Text of passage 1"), MINE)
