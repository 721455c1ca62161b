"""What stands where: verse, numbers, menus, figures and the map, as a reader sees them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchmarks.tree import grow
from recurrentgpt.library import Library
from recurrentgpt.schema.log import Commit
from tests.desk.conftest import Served, at_rest, begin, there_are, written
from tests.warm_process import WarmProcess

VERSE = "The lamp is out.\nThe sea is in.\n\nNobody came."
LINES = (
    "element => Math.round(element.getBoundingClientRect().height / parseFloat(getComputedStyle(element).lineHeight))"
)


def branched(grown: list[Commit]) -> Commit | None:
    """Pick parents of 40 passages in a line, five that leave it after the tenth, and three after the twentieth."""
    return grown[{41: 10, 46: 20}.get(len(grown), -1)] if grown else None


@pytest.fixture(scope="module")
def long_desk(warm: WarmProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a desk with a story of more than a hundred passages, and some of 40 with two branches."""
    served = Served(warm, tmp_path_factory.mktemp("look"))
    with Library.open(served.home) as library:
        grow(library, "long", lambda grown: grown[-1] if grown else None, 120)
        for story in WINDOWS:
            grow(library, story, branched, 48)
    served.start()
    yield served
    served.end()


def test_a_copied_first_line_has_the_space_beside_its_large_initial(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.locator("article.passage .prose").dblclick()
    page.get_by_label("Text of passage 1").fill("A lamp was lit.")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    line = page.locator("article.by-edited p").first
    line.evaluate("line => getSelection().selectAllChildren(line)")
    assert page.evaluate("() => getSelection().toString()") == "A lamp was lit."


def test_lines_of_a_verse_stay_lines(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.locator("article.passage .prose").dblclick()
    page.get_by_label("Text of passage 1").fill(VERSE)
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    assert page.locator("article.by-edited p").first.inner_text() == "The lamp is out.\nThe sea is in."
    by = page.locator("article.by-edited .by")
    assert by.evaluate(LINES) == 1


def test_a_long_number_is_one_number(page: Any, long_desk: Served) -> None:
    page.goto(f"{long_desk.address}#/story/long")
    number = page.get_by_role("button", name="Passage 120: what can be done")
    number.wait_for()
    assert number.inner_text() == "120"
    assert number.evaluate(LINES) == 1


@pytest.mark.parametrize("what", ["menu", "editor", "memory"])
def test_what_is_asked_for_is_in_sight(page: Any, long_desk: Served, what: str) -> None:
    page.goto(f"{long_desk.address}#/story/long")
    number = page.get_by_role("button", name="Passage 118: what can be done")
    number.scroll_into_view_if_needed()
    page.mouse.wheel(0, -1)
    number.click()
    if what == "menu":
        sought = page.locator(".passage-menu")
    elif what == "editor":
        page.get_by_role("button", name="Edit", exact=True).first.click()
        page.get_by_label("Text of passage 118").fill("She walked on. " * 400)
        sought = page.get_by_role("button", name="Continue from here")
    else:
        page.get_by_role("button", name="Memory here").click()
        sought = page.get_by_role("heading", name="Memory after passage 118")
    sought.wait_for()
    box = at_rest(sought)
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 860


def test_what_was_found_is_told_in_a_few_lines(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    found = page.locator(".memory .found-list q").first
    found.wait_for()
    assert 0 < len(found.inner_text()) <= 190


def test_a_narrow_page_shows_words_step_and_tokens(open_page: Callable[..., Any], desk: Served) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    begin(page, desk.address)
    for text in ("passage 1", "tokens", "words"):
        page.locator(".figures").get_by_text(text).wait_for()


def test_the_map_says_one_thing_at_a_time(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    page.keyboard.press("m")
    page.locator(".node.head").wait_for()
    page.locator(".node", has_text="1").hover()
    page.locator(".tip", has_text="Passage 1").wait_for()
    # The pane and its buttons stay with the passage that was chosen.
    assert "Passage 3" in page.locator(".details .where").inner_text()
    page.get_by_role("button", name="Read it").wait_for()


def test_the_map_can_be_made_smaller_and_larger(page: Any, long_desk: Served) -> None:
    page.goto(f"{long_desk.address}#/story/long")
    page.locator(".plans .card").first.wait_for()
    page.keyboard.press("m")
    page.locator(".node.head").wait_for()
    before = at_rest(page.locator(".extent"))["width"]
    page.get_by_role("button", name="Smaller").click()
    page.wait_for_function("width => document.querySelector('.extent').offsetWidth < width", arg=before)
    # Whoever pressed a button stays on it, and presses keys there, too.
    at_rest(page.locator(".extent"))
    there_are(page.get_by_role("button", name="Smaller").and_(page.locator(":focus")), 1)
    page.keyboard.press("+")
    page.wait_for_function("width => document.querySelector('.extent').offsetWidth === width", arg=before)


def test_compared_passages_are_named(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    page.keyboard.press("m")
    page.locator(".node", has_text="1").focus()
    page.get_by_role("button", name="Compare with passage 3, where you are").click()
    page.get_by_role("heading", name="Two passages side by side").wait_for()
    there_are(page.locator(".sides h3"), 2)
    assert page.locator(".sides h3").all_inner_texts() == ["Passage 3, where you are", "Passage 1"]


def test_takes_are_compared_by_words_or_by_whole_sentences(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.locator("article.passage .prose").dblclick()
    page.get_by_label("Text of passage 1").fill("The lamp was lit. Nobody came.")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    page.locator("article.passage .prose").dblclick()
    page.get_by_label("Text of passage 1").fill("The lamp was cold. Nobody came.")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("article.passage .prose").get_by_text("The lamp was cold.").wait_for()
    written(page, 1)
    page.keyboard.press("m")
    page.locator(".node:not(.head)[aria-label^='Passage 1, 6 words']").focus()
    page.get_by_role("button", name="Compare with passage 1, where you are").click()
    there_are(page.locator(".sides .passage del"), 1)
    marked = page.locator(".sides .passage del, .sides .passage ins")
    assert [text.strip() for text in marked.all_text_contents()] == ["cold.", "lit."]
    page.get_by_label("Whole sentences").check()
    page.get_by_text("Sentences that only one of them has").wait_for()
    assert [text.strip() for text in marked.all_text_contents()] == ["The lamp was cold.", "The lamp was lit."]


@pytest.mark.parametrize("size", [(640, 430), (390, 844), (1280, 860)])
def test_nothing_on_the_map_lies_over_another(
    open_page: Callable[..., Any], long_desk: Served, size: tuple[int, int]
) -> None:
    # A window of 1280 by 860 at 200 % has 640 by 430 to show.
    page = open_page(viewport={"width": size[0], "height": size[1]})
    page.goto(f"{long_desk.address}#/story/long")
    page.locator(".plans .card").first.wait_for()
    button = page.get_by_role("button", name="Map")
    button.click()
    page.locator(".node.head").wait_for()
    parts = [at_rest(page.locator(part)) for part in (".dialog-head", ".zoom", ".board", ".details")]
    for above, below in itertools.pairwise(parts):
        assert above["y"] + above["height"] <= below["y"]
    assert parts[2]["height"] >= 150


COLLAPSED = ["·", "9 passages", "10", "9 passages", "20", "21", "22", "23", "19 passages", "40", "4 passages", "15"]
WINDOWS = {"wide": (1280, 860), "enlarged": (640, 430), "phone": (320, 640)}
"""Of them one of 1280 by 860 at 200 % has 640 by 430 to show."""


@pytest.mark.parametrize("window", WINDOWS)
def test_straight_runs_are_collapsed_so_that_the_map_fits_and_open(
    open_page: Callable[..., Any], axe: Callable[[Any, str], None], long_desk: Served, window: str
) -> None:
    width, height = WINDOWS[window]
    page = open_page(viewport={"width": width, "height": height})
    page.goto(f"{long_desk.address}#/story/{window}")
    page.locator(".plans .card").first.wait_for()
    page.keyboard.press("m")
    page.locator(".node.head:focus").wait_for()
    assert sorted(page.locator(".node").all_inner_texts()) == sorted(COLLAPSED)
    hidden = "board => [board.scrollWidth - board.clientWidth, board.scrollHeight - board.clientHeight]"
    assert page.locator(".board").evaluate(hidden) == [0, 0]
    axe(page, f"map, {window}")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    page.locator(".run:focus", has_text="9 passages").wait_for()
    page.get_by_text("Passages 11 to 19").wait_for()
    page.keyboard.press("Enter")
    page.locator(".node:focus", has_text="11").wait_for()
    there_are(page.locator(".run"), 3)
    axe(page, f"map with a run that is open, {window}")
    page.keyboard.press("ArrowRight")
    page.locator(".node:focus", has_text="12").wait_for()
    page.keyboard.press("Enter")
    page.locator(".node.head", has_text="12").wait_for()
    # Where one was stays in sight, and so does all that was opened.
    there_are(page.locator(".node:not(.run)", has_text="23"), 1)
    page.locator(".run", has_text="4 passages").click()
    page.locator(".node:focus", has_text="11").wait_for()
    there_are(page.locator(".run"), 2)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reload_and_back_keep_the_reading_place(open_page: Callable[..., Any], long_desk: Served, width: int) -> None:
    page = open_page(viewport={"width": width, "height": 860})
    page.goto(f"{long_desk.address}#/story/long")
    read = page.get_by_role("button", name="Passage 117: what can be done")
    read.wait_for()
    page.mouse.wheel(0, -1)
    read.scroll_into_view_if_needed()
    page.wait_for_function("() => sessionStorage.getItem('desk.place/long')")
    was = at_rest(read)["y"]
    page.reload()
    near = "was => Math.abs(document.querySelector('[aria-label^=\"Passage 117:\"]')?.getBoundingClientRect().top - was) < 4"
    page.wait_for_function(near, arg=was)
    page.get_by_role("link", name="Stories").click()
    page.get_by_role("heading", name="Your stories").wait_for()
    page.go_back()
    page.wait_for_function(near, arg=was)


def test_forced_colours_tell_where_one_is(open_page: Callable[..., Any], desk: Served) -> None:
    page = open_page(forced_colors="active")
    begin(page, desk.address, 2)
    page.keyboard.press("m")
    page.locator(".node.head").wait_for()
    colour = "element => getComputedStyle(element).backgroundColor"
    there, here = (page.locator(which).first.evaluate(colour) for which in (".node.on:not(.head)", ".node.head"))
    assert there != here


@pytest.mark.parametrize("width", [320, 960, 1280])
def test_a_button_stays_under_the_pointer_while_the_figures_come(
    open_page: Callable[..., Any], desk: Served, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 844})
    begin(page, desk.address)
    waiting: list[Any] = []
    page.route("**/usage", lambda route: waiting.append(route))
    page.reload()
    button = page.get_by_role("button", name="Page", exact=True)
    button.wait_for()
    button.hover()
    while not waiting:
        button.hover()
    page.mouse.down()
    for request in waiting:
        request.continue_()
    page.locator(".figures").get_by_text("tokens").wait_for()
    page.mouse.up()
    page.get_by_label("Width of a line").wait_for()
