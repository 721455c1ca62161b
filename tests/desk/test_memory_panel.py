"""The memory beside the page, edited while a passage is written: what is saved there is meant for what that passage leaves."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.desk.conftest import Served, begin, text_of, there_are, written
from tests.desk.test_faults import held_draft

LINE = "It is the last night of October."


def panel(page: Any) -> Any:
    return page.locator("section.memory")


def add(page: Any, line: str) -> None:
    """Type another line in the memory, not saved yet."""
    panel(page).get_by_role("button", name="Edit").click()
    page.get_by_label("Short-term memory").press("Control+End")
    page.keyboard.type(f"\n{line}")


def save(page: Any) -> None:
    """Save the memory, and wait until the server has answered."""
    with page.expect_response(lambda response: response.url.endswith("/memory") and response.request.method == "PUT"):
        panel(page).get_by_role("button", name="Save").click()


def remembers(page: Any, line: str) -> None:
    """Wait until the memory of the newest passage has this line."""
    panel(page).locator(".sentences").get_by_text(line).wait_for()


def queue_a_plan_and_a_change(page: Any, served: Served) -> None:
    """Have a plan and a change of the memory wait while passage 2 is written."""
    begin(page, served.address)
    held_draft(page, served)
    page.keyboard.press("w")
    page.get_by_label("Your plan for the passage after it").fill("A spoon is hidden.")
    page.get_by_role("button", name="Queue it").click()
    add(page, LINE)
    save(page)


def test_a_memory_that_is_saved_before_the_page_shows_that_the_writing_ended(
    page: Any, open_page: Callable[..., Any], own_desk: Served
) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    add(page, LINE)
    other = open_page()
    other.goto(page.url)
    story = f"**/desk/api/stories/{page.url.rpartition('/')[2]}"
    waiting: list[Any] = []
    page.route(story, lambda route: waiting.append(route))
    own_desk.hold.unlink()
    written(other, 2)
    save(page)
    for route in waiting:
        route.continue_()
    page.unroute(story)
    remembers(page, LINE)
    there_are(page.locator("article.passage"), 2)
    written(page, 2)


@pytest.mark.parametrize("typed", [False, True])
def test_another_take_is_written_while_the_memory_is_edited(page: Any, desk: Served, typed: bool) -> None:
    begin(page, desk.address, 2)
    before = text_of(page, 2)
    panel(page).get_by_role("button", name="Edit", exact=True).click()
    area = page.get_by_label("Short-term memory")
    area.press("Control+End")
    if typed:
        page.keyboard.type(f"\n{LINE}")
    page.get_by_role("button", name="Another take").last.click()
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=before)
    page.locator(".stop").wait_for(state="detached")
    written(page, 2)
    if typed:
        page.get_by_role("group", name="Not saved").get_by_text(LINE).first.wait_for()


def test_a_change_that_was_taken_out_is_put_back_while_it_writes(page: Any, own_desk: Served) -> None:
    queue_a_plan_and_a_change(page, own_desk)
    waits = panel(page).get_by_label("Changes of the memory that wait")
    waits.get_by_role("button", name="Take out change 1").click()
    page.get_by_role("button", name="Go on with it").click()
    area = page.get_by_label("Short-term memory")
    area.press("Control+End")
    page.keyboard.type("\nThe lamp is out.")
    assert page.locator("#memory").inner_text() == "Memory"
    # It stays in hand while the passage that is queued follows the one in the making.
    between = own_desk.home / "hold-memory"
    between.touch()
    own_desk.hold.unlink()
    page.get_by_text("Rewriting the memory").wait_for()
    own_desk.hold.touch()
    between.unlink()
    page.get_by_text("passage 2", exact=True).wait_for()
    page.locator(".busy .drop").wait_for()
    assert area.input_value().endswith(f"{LINE}\nThe lamp is out.")
    save(page)
    waits.get_by_text(LINE).wait_for()
    own_desk.hold.unlink()
    written(page, 3)
    remembers(page, LINE)
    assert page.locator("#memory").inner_text() == "Memory"


def test_the_memory_of_an_older_passage_is_not_saved_while_it_writes(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address, 2)
    page.locator("article.passage[aria-label^='Passage 1'] .number").click()
    page.get_by_role("button", name="Memory here").click()
    page.get_by_role("heading", name="Memory after passage 1").wait_for()
    add(page, LINE)
    own_desk.hold.touch()
    page.locator(".plans .card").first.click()
    page.locator(".busy .drop").wait_for()
    area = page.get_by_label("Short-term memory")
    area.press("Control+Enter")
    # Had it been sent, it would wait before this plan does.
    page.get_by_role("button", name="Plan what comes after it").click()
    page.get_by_label("Your plan for the passage after it").fill("A spoon is hidden.")
    page.get_by_role("button", name="Queue it").click()
    page.get_by_label("Plans that wait").wait_for()
    assert area.input_value().endswith(LINE)
    own_desk.hold.unlink()
    written(page, 4)


def test_what_is_taken_out_leaves_the_focus_on_the_page(page: Any, own_desk: Served) -> None:
    queue_a_plan_and_a_change(page, own_desk)
    for button, heading in (("Take out plan 1", "next"), ("Take out change 1", "memory")):
        page.get_by_role("button", name=button).focus()
        page.keyboard.press("Enter")
        page.wait_for_function("id => document.activeElement.id === id", arg=heading)
        there_are(page.get_by_role("button", name=button), 0)
    own_desk.hold.unlink()
    written(page, 2)


def test_a_change_that_is_left_over_is_told_of_as_such_and_edited_with_the_memory(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    add(page, LINE)
    save(page)
    own_desk.end(signal.SIGKILL)
    own_desk.hold.unlink()
    own_desk.start()
    page.get_by_text("These changes wait for the next passage").wait_for()
    add(page, "The lamp is out.")
    area = page.get_by_label("Short-term memory")
    assert area.input_value().endswith(f"{LINE}\nThe lamp is out.")
    area.fill("Only this is true.")
    save(page)
    remembers(page, "Only this is true.")
    there_are(panel(page).get_by_label("Changes of the memory that wait"), 0)
    page.get_by_role("button", name="Keep these words").or_(page.locator(".plans .card").first).first.click()
    written(page, 2)
    there_are(panel(page).locator(".sentences").get_by_text(LINE), 0)
