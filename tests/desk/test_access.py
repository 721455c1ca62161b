"""Every view, in both themes and on a narrow screen, has nothing that axe objects to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.desk.conftest import Served, begin, text_of, there_are, written

VIEWS = (
    "story",
    "menu",
    "edit",
    "selection",
    "suggestion",
    "own plan",
    "unsaved",
    "thrown away",
    "memory",
    "codex",
    "chapter",
    "contents",
    "page",
    "focus",
    "map",
    "search",
    "export",
    "settings",
    "machine",
    "keys",
    "compare",  # last, for it goes to another passage
)


_TO_THE_END = """() => {
    document.querySelector(".manuscript").scrollTo(0, 1e6);
    scrollTo(0, 1e6);
    return [...document.querySelectorAll(".codex summary")].some(one => one.textContent.startsWith("Change"));
}"""
LOOKED_AT = ("story", "codex", "contents", "map", "settings")
"""Views that are laid out otherwise where there is less or more room."""
LOOKS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "forced colours": {"viewport": {"width": 1280, "height": 860}, "forced_colors": "active"},
    "narrow and dark": {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"},
    "enlarged": {"viewport": {"width": 640, "height": 430}},  # 200 % of 1280 px
}


def show(page: Any, view: str) -> None:
    """Bring a view to the page."""
    match view:
        case "menu":
            page.get_by_role("button", name="Passage 1 edited: what can be done").click()
        case "edit":
            page.locator("article.passage p").first.dblclick()
            page.locator(".follows").get_by_text("tokens").wait_for()
        case "selection" | "suggestion":
            page.locator("article.passage .prose").first.evaluate("prose => getSelection().selectAllChildren(prose)")
            tools = page.get_by_role("group", name="Work on the selection")
            tools.wait_for()
            if view == "suggestion":
                tools.get_by_role("button", name="Expand").click()
                page.get_by_role("button", name="Leave it").wait_for()
                page.locator(".stop").wait_for(state="detached")
        case "own plan":
            page.get_by_role("button", name="Write my own").click()
        case "unsaved":
            page.keyboard.press("w")
            page.keyboard.type("She waits.")
            page.keyboard.press("Escape")
            page.get_by_text("A plan of your own is not saved").wait_for()
            page.keyboard.press("w")
            page.locator(".kept").wait_for()
        case "thrown away":
            for plan in ("She waits.", "She runs."):
                page.keyboard.press("w")
                page.get_by_label("Your plan for the next").fill(plan)
                page.get_by_role("button", name="Cancel").click()
            page.get_by_text("Thrown away before").click()
        case "memory":
            page.locator("details summary").first.click()
        case "codex":
            codex = page.locator(".codex")
            # An act lets go of a page that is still looking for its reading place; what is true is corrected at the end.
            codex.get_by_text("Add an entry").click()
            page.wait_for_function(_TO_THE_END)
            codex.get_by_text("Elsewhere").click()
            for what in ("History of", "Change"):
                codex.locator("summary", has_text=what).last.click()
        case "chapter":
            page.get_by_role("button", name="Passage 2: what can be done").click()
            page.get_by_role("button", name="Begin a chapter").click()
            page.locator("h2.chapter").wait_for()
        case "contents":
            page.get_by_role("button", name="Contents").click()
            page.locator("dialog summary").first.click()
            page.locator("dialog .sentences[aria-busy=false]").first.wait_for()
        case "page":
            page.get_by_role("button", name="Page", exact=True).click()
            page.get_by_label("Width of a line").wait_for()
        case "focus":
            page.get_by_role("button", name="Focus").click()
            page.locator(".focus").wait_for()
        case "map":
            page.get_by_role("button", name="Map").click()
            page.locator(".node").nth(2).wait_for()
        case "compare":
            page.get_by_role("button", name="Map").click()
            page.locator(".node:not(.on)").first.click()
            page.get_by_role("button", name="Compare").click()
            page.locator("dialog .sides").wait_for()
        case "search":
            page.get_by_role("button", name="Search").click()
            page.get_by_role("searchbox").fill("lamp")
            page.get_by_role("searchbox").press("Enter")
            page.locator("dialog .found-list li").first.wait_for()
            page.get_by_label("Words to find or replace").fill("the")
            page.get_by_role("button", name="Find", exact=True).click()
            page.get_by_text("places in").wait_for()
        case "export":
            page.get_by_role("button", name="Export").click()
            page.locator(".formats button").first.wait_for()
        case "settings" | "machine":
            page.get_by_role("button", name="Settings").click()
            page.locator("[name=language]").wait_for()
            if view == "machine":
                page.get_by_role("button", name="Model and endpoint").click()
                page.get_by_text("More settings").click()
                page.locator("[name=timeout]").wait_for()
        case "keys":
            page.get_by_role("button", name="Keys").click()


@pytest.fixture
def address(browser: Any, desk: Served) -> str:
    """Give the address of a story with two takes, an edited passage, and a place that no passage names."""
    context = browser.new_context()
    page = context.new_page()
    begin(page, desk.address, 2)
    second = text_of(page, 2)
    page.keyboard.press("a")
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=second)
    page.locator(".stop").wait_for(state="detached")
    page.locator("article.passage").first.dblclick()
    page.get_by_label("Text of passage 1").fill("Nobody tends the lamp. It burns.")
    page.get_by_role("button", name="Keep the").click()
    page.locator("article.by-edited").wait_for()
    page.locator(".stop").wait_for(state="detached")
    found = page.url
    far_away = {"name": "the saltworks", "kind": "place", "facts": ["The saltworks lie behind the northern hills."]}
    codex = f"{desk.address}api/stories/{found.rpartition('/')[2]}/codex"
    httpx.post(codex, json=far_away).raise_for_status()
    context.close()
    return found


@pytest.mark.parametrize("theme", ["light", "dark", "narrow"])
def test_axe_objects_to_nothing(
    open_page: Callable[..., Any], axe: Callable[[Any, str], None], address: str, desk: Served, theme: str
) -> None:
    scheme = "dark" if theme == "dark" else "light"
    size = {"width": 320, "height": 640} if theme == "narrow" else {"width": 1280, "height": 860}
    page = open_page(color_scheme=scheme, viewport=size)
    page.goto(desk.address)
    page.locator(".stories li").first.wait_for()
    axe(page, "start")
    for view in VIEWS:
        page.goto("about:blank")
        page.goto(address)
        written(page, 2) if theme != "narrow" else page.locator(".plans .card").first.wait_for()
        show(page, view)
        axe(page, view)


@pytest.mark.parametrize("look", LOOKS)
def test_axe_objects_to_nothing_however_the_page_is_looked_at(
    open_page: Callable[..., Any], axe: Callable[[Any, str], None], address: str, look: str
) -> None:
    page = open_page(**LOOKS[look])
    width = page.viewport_size["width"]
    for view in LOOKED_AT:
        page.goto("about:blank")
        page.goto(address)
        page.locator(".plans .card").first.wait_for()
        show(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        axe(page, f"{look}, {view}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_objects_to_nothing_in_a_story_that_is_played(
    open_page: Callable[..., Any], axe: Callable[[Any, str], None], desk: Served, theme: str
) -> None:
    page = open_page(color_scheme=theme, viewport={"width": 320, "height": 640})
    page.goto(desk.address)
    page.get_by_label("play a part in it").check(force=True)
    page.get_by_label("Who do you play?").fill("the cook of a whaling ship")
    page.get_by_role("button", name="Begin").click()
    page.locator(".plans .card").first.wait_for()
    axe(page, "played")
    for name in ("Contents", "Search", "Page"):
        page.get_by_role("button", name=name, exact=name == "Page").click()
        page.locator("dialog[open]").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        axe(page, f"played, {name}")
        page.keyboard.press("Escape")
        there_are(page.locator("dialog[open]"), 0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_objects_to_nothing_while_it_writes(
    open_page: Callable[..., Any], axe: Callable[[Any, str], None], own_desk: Served, theme: str
) -> None:
    page = open_page(color_scheme=theme)
    own_desk.hold.touch()
    page.goto(own_desk.address)
    page.get_by_role("button", name="Begin").click()
    page.locator(".draft p").first.wait_for()
    axe(page, "writing")
    if theme == "light":
        own_desk.hold.unlink()
        written(page, 1)
        own_desk.hold.touch()
        page.keyboard.press("1")
        page.get_by_role("button", name="Stop and drop the words").wait_for()
        page.keyboard.press("w")
        page.get_by_label("Your plan for the passage after it").fill("She waits.")
        page.get_by_role("button", name="Queue it").click()
        page.get_by_label("Plans that wait").wait_for()
        axe(page, "queue")
        page.get_by_role("button", name="Take out").click()
    own_desk.hold.unlink()
    written(page, 2 if theme == "light" else 1)


def test_nothing_is_wider_than_a_narrow_screen(open_page: Callable[..., Any], address: str) -> None:
    page = open_page(viewport={"width": 320, "height": 640})
    page.goto(address)
    page.locator(".plans .card").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.locator("#next").scroll_into_view_if_needed()
    plan = page.locator(".plans .card").first.inner_text()
    page.locator(".plans .card").first.click()
    # Work that is done at once may never be seen.
    page.wait_for_function("plan => document.querySelector('.plans .card')?.innerText !== plan", arg=plan)


def test_the_page_is_as_long_with_a_passage_out_of_sight(open_page: Callable[..., Any], address: str) -> None:
    page = open_page(**LOOKS["narrow and dark"])
    page.goto(address)
    page.locator(".plans .card").first.wait_for()
    page.evaluate("document.querySelector('.leaf').style.paddingBottom = '5000px'")
    page.evaluate("scrollTo(0, 0)")
    there_are(page.locator("article.passage .prose"), 2)
    # The codex and the figures beside it come when they come.
    height = page.evaluate("document.querySelector('.leaf').offsetHeight")
    page.mouse.wheel(0, 1e6)  # as a reader does, for a page that was just opened brings its passage to the screen
    # It is brought back where the page is shorter without it, and taken away again where it is longer.
    page.locator(".block:empty").wait_for(state="attached")
    assert page.evaluate("document.querySelector('.leaf').offsetHeight") == height
