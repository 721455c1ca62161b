"""A whole story without a mouse: single keys, focus, and what a screen reader is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.desk.conftest import Served, begin, has_value, send, text_of, there_are, written

NAME_OF_FOCUS = """(() => {
  const { ariaLabel, labels, textContent } = document.activeElement;
  return ariaLabel || labels?.[0]?.textContent || textContent || "";
})()"""


def tab_to(page: Any, name: str, most: int = 60) -> None:
    """Press Tab until something of this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(NAME_OF_FOCUS).strip().startswith(name):
            return
    raise AssertionError(f"Tab never reaches {name!r}.")


def test_a_whole_story_by_keyboard(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.locator(".genres label").nth(4).wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("Mira tends a lamp.")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    tab_to(page, "Begin")
    page.keyboard.press("Enter")
    written(page, 1)
    page.keyboard.press("2")
    written(page, 2)
    page.keyboard.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type("Mira opens the door.")
    send(page)
    written(page, 3)
    page.keyboard.press("w")
    page.keyboard.type("She goes down to the sea.")
    send(page)
    written(page, 4)
    last = text_of(page, 4)
    page.keyboard.press("a")
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=last)
    page.locator(".stop").wait_for(state="detached")
    written(page, 4)
    page.keyboard.press("z")
    written(page, 3)
    page.keyboard.press("y")
    written(page, 4)
    plans = page.locator(".plans").inner_text()
    page.keyboard.press("n")
    # Work that is done at once may never be seen; its fruit is.
    page.wait_for_function(
        "text => (document.querySelector('.plans')?.innerText ?? text) !== text && !document.querySelector('.stop')",
        arg=plans,
    )
    page.keyboard.press("s")
    written(page, 7)
    page.keyboard.press("m")
    page.wait_for_function("() => document.activeElement?.classList.contains('node')")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.activeElement?.innerText === '5'")
    page.keyboard.press("Enter")
    page.locator(".node.head", has_text="5").wait_for()
    page.keyboard.press("Escape")
    written(page, 5)
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.press("/")
    page.get_by_role("searchbox").wait_for()
    page.keyboard.type("door")
    page.keyboard.press("Enter")
    page.locator("dialog .found-list button").first.wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_chapters_codex_time_line_and_page_by_keyboard(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    page.keyboard.press("c")
    page.get_by_role("dialog").wait_for()
    tab_to(page, "Its scenes, and its title")
    page.keyboard.press("Enter")
    tab_to(page, "Title of the chapter")
    page.keyboard.type("The Lamp")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").locator("bdi", has_text="The Lamp").wait_for()
    page.keyboard.press("Escape")
    page.locator("h2.chapter", has_text="The Lamp").wait_for()

    tab_to(page, "As of passage", most=100)
    page.keyboard.press("Home")
    page.get_by_role("heading", name="Memory after passage 1").wait_for()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    there_are(page.locator("article.passage:focus"), 1)
    # What is true is corrected at the newest passage.
    tab_to(page, "As of passage", most=100)
    page.keyboard.press("End")
    page.get_by_role("heading", name="Memory after passage 3").wait_for()

    tab_to(page, "Add an entry", most=100)
    page.keyboard.press("Enter")
    tab_to(page, "Name of the entry")
    page.keyboard.type("Zoltan")
    tab_to(page, "What is true of it")
    page.keyboard.type("Zoltan sold the boat.")
    page.keyboard.press("Enter")
    # The newest passage, at which the time line stands, has another version now, and whoever types stays there.
    page.locator(".codex .entry").get_by_text("Zoltan sold the boat.").first.wait_for(state="attached")
    there_are(page.get_by_label("What is true of it", exact=True).and_(page.locator(":focus")), 1)
    tab_to(page, "Elsewhere", most=100)
    page.keyboard.press("Enter")
    tab_to(page, "Change Zoltan")
    page.keyboard.press("Enter")
    tab_to(page, "Fact of Zoltan")
    page.keyboard.type("Zoltan swims.")
    page.keyboard.press("Enter")
    page.locator(".codex .sentences").get_by_text("Zoltan swims.").wait_for()

    # In a field a letter is a letter.
    page.keyboard.press("Tab")
    page.keyboard.press("/")
    page.get_by_role("searchbox").wait_for()
    word = text_of(page, 1).split()[0]
    tab_to(page, "Words to find or replace")
    page.keyboard.type(word)
    page.keyboard.press("Tab")
    page.keyboard.type("Zoltan")
    page.keyboard.press("Enter")
    page.get_by_text("Undo takes all of it back as one.").wait_for()
    page.keyboard.press("Escape")

    tab_to(page, "Page", most=100)
    page.keyboard.press("Enter")
    tab_to(page, "Size")
    before = page.locator(".desk").get_attribute("style")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("style => document.querySelector('.desk').getAttribute('style') !== style", arg=before)
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.press("f")
    there_are(page.locator(".plans:visible"), 0)


def test_a_passage_is_edited_by_keyboard(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.locator(".genres label").nth(4).wait_for()
    page.keyboard.press("Tab")
    tab_to(page, "Begin")
    page.keyboard.press("Enter")
    written(page, 1)
    tab_to(page, "Passage 1")
    page.keyboard.press("Enter")
    # Where the menu is not there yet, Tab goes on to the plans, which are edited too.
    page.locator(".passage-menu button:enabled", has_text="Edit").wait_for()
    tab_to(page, "Edit")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type("Nobody tends the lamp.")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    page.get_by_text("Nobody tends the lamp.").wait_for()
    page.locator(".stop").wait_for(state="detached")
    written(page, 1)


def test_keys_are_letters_where_somebody_types_and_can_be_switched_off(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_role("button", name="Begin").click()
    written(page, 1)
    page.keyboard.press("w")
    page.keyboard.type("1 m s a n")
    has_value(page.get_by_label("Your plan"), "1 m s a n")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_label("Single keys work").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("1")
    there_are(page.locator("dialog"), 0)
    there_are(page.locator(".stop"), 0)


def test_a_passage_is_announced_once_and_no_word_is(open_page: Callable[..., Any], desk: Served) -> None:
    page = open_page()
    page.goto(desk.address)
    page.get_by_role("button", name="Begin").click()
    written(page, 1)
    page.evaluate(
        """() => {
            window.said = [];
            const live = [...document.querySelectorAll('[aria-live], [role=status], [role=alert]')];
            const note = (changes) => changes.forEach((change) => window.said.push(change.target.textContent));
            const watch = new MutationObserver(note);
            live.forEach((region) => watch.observe(region, { characterData: true, childList: true, subtree: true }));
        }"""
    )
    page.keyboard.press("1")
    written(page, 2)
    page.wait_for_function("() => window.said.length")
    assert page.evaluate("window.said") == ["Passage 2 is written."]


@pytest.mark.parametrize("key", ["Escape", "m"])
def test_a_closed_dialog_gives_the_focus_back(page: Any, desk: Served, key: str) -> None:
    page.goto(desk.address)
    page.get_by_role("button", name="Begin").click()
    written(page, 1)
    page.get_by_role("button", name="Map").focus()
    page.keyboard.press("Enter")
    page.locator(".node").first.wait_for()
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement?.innerText.startsWith('Map')")
