"""Reloads, lost connections, killed servers and two tabs: the page comes back to the same place by itself."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

from tests.desk.conftest import Served, begin, stop, text_of, there_are, written
from tests.desk.scripted import HELD_AFTER


def held_draft(page: Any, served: Served) -> str:
    """Choose a plan, and return the words with which the model waits."""
    served.hold.touch()
    page.keyboard.press("1")
    words = "[...document.querySelectorAll('.draft p')].flatMap((part) => part.innerText.match(/\\S+/g) ?? [])"
    page.wait_for_function(f"() => {words}.length === {HELD_AFTER - 1}")
    shown: str = page.locator(".draft").inner_text()
    return shown


def test_a_reload_in_the_middle_of_a_passage(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    draft = held_draft(page, own_desk)
    page.reload()
    page.wait_for_function("text => document.querySelector('.draft')?.innerText === text", arg=draft)
    own_desk.hold.unlink()
    written(page, 2)
    assert text_of(page, 2).split()[:20] == draft.removeprefix("2").split()[:20]


def test_a_reload_in_the_middle_of_a_choice(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    plans = page.locator(".plans").inner_text()
    page.reload()
    written(page, 1)
    assert page.locator(".plans").inner_text() == plans


def test_writing_goes_on_when_the_tab_is_closed(open_page: Callable[..., Any], own_desk: Served) -> None:
    page = open_page()
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    address = page.url
    page.close()
    own_desk.hold.unlink()
    fresh = open_page()
    fresh.goto(address)
    written(fresh, 2)


def test_two_tabs_show_the_same(open_page: Callable[..., Any], own_desk: Served) -> None:
    first, second = open_page(), open_page()
    begin(first, own_desk.address)
    second.goto(first.url)
    written(second, 1)
    draft = held_draft(first, own_desk)
    second.wait_for_function("text => document.querySelector('.draft')?.innerText === text", arg=draft)
    there_are(second.locator(".plans"), 0)
    own_desk.hold.unlink()
    written(first, 2)
    written(second, 2)
    assert text_of(first, 2) == text_of(second, 2)
    second.keyboard.press("z")
    first.get_by_text("passage 1", exact=True).wait_for()


def test_a_server_that_is_killed_loses_nothing(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address, 2)
    first, second = text_of(page, 1), text_of(page, 2)
    draft = held_draft(page, own_desk)
    kept = own_desk.home / "desk" / f"{page.url.rpartition('/')[2]}.json"
    while "draft" not in json.loads(kept.read_text()):
        page.wait_for_timeout(50)
    own_desk.end(signal.SIGKILL)
    page.get_by_text("this page comes back by itself").wait_for()
    own_desk.hold.unlink()
    own_desk.start()
    page.get_by_text("this page comes back by itself").wait_for(state="detached")
    page.get_by_text("was interrupted").wait_for()
    assert (text_of(page, 1), text_of(page, 2)) == (first, second)
    assert page.locator(".draft").inner_text() == draft
    page.get_by_role("button", name="Keep these words").click()
    written(page, 3)
    assert text_of(page, 3).split()[:20] == draft.removeprefix("3").split()[:20]


def test_stop_keeps_what_is_there(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    draft = held_draft(page, own_desk)
    stop(page, page.get_by_role("button", name="Stop Esc", exact=True))
    own_desk.hold.unlink()
    written(page, 2)
    assert text_of(page, 2).split()[:20] == draft.removeprefix("2").split()[:20]
    assert page.locator("article.passage").nth(1).inner_text().rstrip().endswith(".")


def test_a_story_that_is_not_there_says_so(page: Any, desk: Served) -> None:
    page.goto(desk.address + "#/story/nothing")
    page.get_by_text("There is no story").wait_for()
    page.get_by_role("link", name="All stories").click()
    page.get_by_role("heading", name="The writing desk").wait_for()
