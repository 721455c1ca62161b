"""The memory beside the page, edited while a passage is written: what is saved there is meant for what that passage leaves."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

from tests.desk.conftest import Served, begin, there_are, written
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
    written(page, 2)
    remembers(page, LINE)
