"""The page in a real browser: everything on it that can be clicked."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from tests.desk.conftest import Served, begin, has_value, text_of, there_are, written


@pytest.fixture
def story(page: Any, desk: Served) -> Any:
    """Give a page on which a story of two passages is open."""
    begin(page, desk.address, 2)
    return page


def button(page: Any, name: str | re.Pattern[str], **more: Any) -> Any:
    return page.get_by_role("button", name=name, **more)


def busy_until(page: Any, number: int) -> None:
    page.locator(".stop").wait_for(state="detached")
    written(page, number)


def test_a_card_is_chosen_by_a_click(story: Any) -> None:
    plan = story.locator(".plans .card").nth(1).inner_text()
    story.locator(".plans .card").nth(1).click()
    written(story, 3)
    button(story, "Passage 3: what can be done").click()
    assert plan.split("\n")[-1] in story.locator(".plan-was").inner_text()


WRITTEN_AHEAD = "usage => fetch(usage).then(answer => answer.json()).then(now => now.in_all.calls > now.calls)"


def test_a_passage_that_was_written_ahead_comes_to_the_reader(page: Any, own_desk: Served) -> None:
    kept = httpx.put(f"{own_desk.address}api/settings", json={"values": {"ahead": 1}}, timeout=60)
    assert kept.status_code == 200, kept.text
    begin(page, own_desk.address)
    usage = f"{own_desk.address}api/stories/{page.url.rpartition('/')[2]}/usage"
    page.wait_for_function(WRITTEN_AHEAD, arg=usage)
    # Nobody has scrolled: the end of the first passage is out of sight, and what comes after it too.
    page.set_viewport_size({"width": 1280, "height": 400})
    page.keyboard.press("1")
    written(page, 2)
    page.locator(".figures").get_by_text("1 of 1 choice").wait_for()
    page.wait_for_function(
        "() => document.querySelector(`article[aria-label='Passage 2']`)?.getBoundingClientRect().top < innerHeight / 2"
    )


def test_a_plan_is_edited_and_written_from(story: Any) -> None:
    story.locator(".plan").first.hover()
    button(story, "Edit plan 1").click()
    story.get_by_label("Plan 1", exact=True).fill("Mira opens the door.")
    button(story, "Write from it").click()
    written(story, 3)
    button(story, "Passage 3: what can be done").click()
    assert "Mira opens the door." in story.locator(".plan-was").inner_text()


def test_an_own_plan_is_written_from(story: Any) -> None:
    button(story, "Write my own").click()
    story.get_by_label("Your plan for the next passage").fill("Mira waits for the tide.")
    button(story, "Write from it").click()
    written(story, 3)


def test_another_take_undo_redo_and_new_plans(story: Any) -> None:
    first = text_of(story, 2)
    button(story, "Another take").last.click()
    story.wait_for_function("text => !document.body.innerText.includes(text)", arg=first)
    busy_until(story, 2)
    second = text_of(story, 2)
    assert second != first
    button(story, "Undo").click()
    written(story, 1)
    button(story, "Redo").click()
    story.get_by_text(second).wait_for()
    plan = story.locator("#plan-3").inner_text()
    button(story, "New plans").click()
    story.wait_for_function(
        "text => { const plan = document.querySelector('#plan-3'); return plan && plan.innerText !== text }", arg=plan
    )
    busy_until(story, 2)


def test_it_writes_by_itself(story: Any) -> None:
    story.get_by_label("How many passages").fill("2")
    button(story, "Let it write").click()
    written(story, 4)


def test_a_passage_is_edited_and_the_later_ones_stay(story: Any) -> None:
    second = text_of(story, 2)
    story.locator("article.passage").first.dblclick()
    area = story.get_by_label("Text of passage 1")
    area.fill("Nobody tends the lamp. It burns.")
    assert "stays as it is, on a branch of its own" in story.locator(".follows").inner_text()
    story.locator(".follows").get_by_text("tokens").wait_for()
    button(story, "Keep the 1 later passage").click()
    story.get_by_text("Nobody tends the lamp. It burns.").wait_for()
    busy_until(story, 2)
    story.locator("article.by-edited").wait_for()
    busy_until(story, 2)
    assert text_of(story, 2) == second
    there_are(story.locator("article.by-edited"), 1)
    assert "edited" in story.locator("article.by-edited .number").inner_text()


def test_a_passage_is_edited_and_the_story_goes_on_from_it(story: Any) -> None:
    button(story, "Passage 1: what can be done").click()
    button(story, "Edit", exact=True).first.click()
    story.get_by_label("Text of passage 1").fill("Nobody tends the lamp. It burns.")
    button(story, "Continue from here").click()
    written(story, 1)
    story.get_by_text("Nobody tends the lamp. It burns.").wait_for()
    there_are(story.locator("article.passage"), 1)


def test_who_wrote_what_can_be_switched_off(story: Any) -> None:
    switch = story.get_by_label("Show who wrote what")
    there_are(story.locator(".desk.marks"), 1)
    switch.uncheck()
    there_are(story.locator(".desk.marks"), 0)
    story.reload()
    assert not story.get_by_label("Show who wrote what").is_checked()


def test_the_memory_is_edited_in_place(story: Any) -> None:
    panel = story.locator(".memory")
    panel.get_by_role("button", name="Edit").click()
    panel.get_by_label("Short-term memory").fill("Mira is afraid of the dark.")
    panel.get_by_role("button", name="Save").click()
    panel.get_by_text("Mira is afraid of the dark.").wait_for()


def test_a_long_term_entry_is_edited_in_place(story: Any) -> None:
    button(story, "Passage 1: what can be done").click()
    button(story, "Long-term entry").click()
    story.get_by_label("What the long-term memory holds of passage 1").fill("The lamp went out.")
    button(story, "Save", exact=True).click()
    story.get_by_label("What the long-term memory holds").wait_for(state="detached")
    button(story, "Long-term entry").click()
    has_value(story.get_by_label("What the long-term memory holds of passage 1"), "The lamp went out.")


def test_a_recalled_passage_is_one_click_away(story: Any) -> None:
    story.keyboard.press("1")
    written(story, 3)
    entry = story.locator(".memory .found-list button").first
    entry.wait_for()
    assert re.search(r"likeness -?\d\.\d\d", entry.inner_text())
    number = re.search(r"Passage (\d)", entry.inner_text())
    assert number
    entry.click()
    story.wait_for_function("step => document.activeElement?.ariaLabel?.startsWith(`Passage ${step}`)", arg=number[1])


def test_a_search_leads_to_the_passage(story: Any) -> None:
    words = text_of(story, 1).split(".")[0]
    button(story, "Search").click()
    story.get_by_role("searchbox").fill(words)
    story.get_by_role("searchbox").press("Enter")
    story.locator("dialog .found-list button", has_text="Passage 1").click()
    story.wait_for_function("() => document.activeElement?.ariaLabel?.startsWith('Passage 1')")


def test_the_map_goes_names_and_compares(story: Any) -> None:
    second = text_of(story, 2)
    button(story, "Another take").last.click()
    story.wait_for_function("text => !document.body.innerText.includes(text)", arg=second)
    busy_until(story, 2)
    button(story, "Map").click()
    story.locator(".node").nth(3).wait_for()
    other = story.locator(".node:not(.on)").first
    other.hover()
    assert story.locator(".details .plan-now").inner_text()
    # One click looks at it, and the story stays where it is.
    other.click()
    button(story, "Compare with passage 2, where you are").wait_for()
    there_are(story.locator("article.passage", has_text=second), 0)
    button(story, "Go there").click()
    button(story, "Compare with passage 2, where you were").click()
    story.locator(".sides del").first.wait_for()
    button(story, "Back to the map").click()
    story.get_by_label("Name of the branch").fill("the first take")
    button(story, "Name it").click()
    story.locator(".branch-name", has_text="the first take").wait_for()
    story.get_by_label("Name of the branch").fill("the other take")
    button(story, "Rename it").click()
    story.locator(".branch-name", has_text="the other take").wait_for()
    there_are(story.locator(".branch-name", has_text="the first take"), 0)
    story.locator(".node").first.focus()
    story.get_by_label("Name of the branch").fill("the other take")
    button(story, "Name it").click()
    story.locator("dialog .problem").get_by_text("is the name of passage 2").wait_for()
    story.locator(".node.head").focus()
    button(story, "Take the name away").click()
    there_are(story.locator(".branch-name"), 0)
    button(story, "Read it").click()
    story.get_by_text(second).wait_for()


def test_the_story_is_renamed_and_saved(story: Any) -> None:
    story.locator("h1 button").click()
    story.get_by_label("Title").fill("The Lamp")
    story.get_by_label("Title").press("Enter")
    story.locator("h1", has_text="The Lamp").wait_for()
    button(story, "Export").click()
    with story.expect_download() as saved:
        button(story, "EPUB 3").click()
    assert saved.value.suggested_filename == "The Lamp.epub"


def test_settings_are_kept(story: Any) -> None:
    button(story, "Settings").click()
    story.get_by_label("Plans", exact=False).and_(story.locator("[name=plans]")).fill("5")
    story.locator("[name=note]").fill("Keep it quiet.")
    button(story, "Save").click()
    story.locator("dialog").wait_for(state="detached")
    button(story, "Settings").click()
    has_value(story.locator("[name=note]"), "Keep it quiet.")
    story.keyboard.press("Escape")
    button(story, "New plans").click()
    story.locator(".plans .plan").nth(4).wait_for()


def test_a_manuscript_is_dropped_and_goes_on(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    text = "\n\n".join(
        f"Nadine counted lantern number {number} and went home through the rain." for number in range(60)
    )
    page.locator("input[type=file]").set_input_files(
        {"name": "My book.txt", "mimeType": "text/plain", "buffer": text.encode()}
    )
    page.locator("dialog").get_by_text("My book").wait_for()
    button(page, "Import it").click()
    page.get_by_text("Nadine counted lantern number 0").first.wait_for()
    button(page, "New plans").click()
    page.locator(".plans .plan").first.wait_for()


def test_a_story_to_play_begins_with_a_choice(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_label("play a part in it").check(force=True)
    button(page, "Begin").click()
    page.get_by_role("heading", name="Who are you?").wait_for()
    page.locator(".plans .card").first.wait_for()
    assert len(page.locator(".begins-with").inner_text()) > 20
    button(page, "Be somebody else").click()
    page.get_by_label("Who are you?").last.fill("I am the cook of this ship.")
    button(page, "Begin").click()
    page.get_by_role("heading", name="What do you do?").wait_for()
    page.locator("article.passage").first.wait_for()
    button(page, "Do something else").click()
    page.get_by_role("textbox", name="What do you do?").fill("I bribe the guard.")
    button(page, "Do it").click()
    written(page, 2)


def test_a_story_is_put_away_and_found_again(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    title = page.locator("h1").inner_text()
    page.goto(desk.address)
    button(page, f"Put away {title}").click()
    button(page, re.compile(r"^Show \d+ stor(y|ies) put away$")).click()
    button(page, f"Put back {title}").click()
    page.get_by_role("link", name=title).click()
    written(page, 1)


def test_a_story_is_erased_for_ever_once_it_was_put_away_and_asked_about(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    title, address = page.locator("h1").inner_text(), page.url
    story = address.rpartition("/")[2]
    button(page, "Write my own").click()
    page.get_by_label("Your plan for the next passage").fill("Mira goes home.")
    page.goto(desk.address)
    button(page, f"Put away {title}").wait_for()
    there_are(button(page, f"Erase {title}"), 0)
    button(page, f"Put away {title}").click()
    button(page, re.compile(r"^Show \d+ stor(y|ies) put away$")).click()
    button(page, f"Erase {title}").click()
    button(page, "Keep it").click()
    button(page, f"Erase {title}").click()
    button(page, "Erase it").click()
    page.get_by_role("link", name=title).wait_for(state="detached")
    assert [key for key in page.evaluate("Object.keys(localStorage)") if story in key] == []
    page.goto(address)
    page.get_by_text("There is no story").wait_for()


def test_two_quick_undos_are_two(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    page.keyboard.press("z")
    page.keyboard.press("z")
    written(page, 1)


def test_the_codex_tells_who_is_here_and_where_from(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    story = page.url.rpartition("/")[2]
    first = httpx.get(f"{desk.address}api/stories/{story}").json()["path"][0][0]

    def entry(name: str, here: bool, text: str) -> dict[str, object]:
        line = {"aspect": "fact", "value": "", "text": text, "rests_on": "She lit it.", "passage": first, "step": 1}
        known = {"name": name, "kind": "person", "names": [name], "here": here, "lines": [line]}
        return {**known, "pinned": False, "hidden": False, "player": False}

    # What the codex says of a story is the business of other tests; which names a script's facts come to is chance.
    known = [entry("Mira", True, "Mira keeps the lamp."), entry("Tobias", False, "Tobias sold the boat.")]
    page.route("**/codex?*", lambda route: route.fulfill(json=known))
    page.reload()
    codex = page.locator(".codex")
    codex.get_by_text("Mira keeps the lamp.").first.wait_for()
    assert not codex.get_by_text("Tobias sold the boat.").first.is_visible()
    codex.locator("summary", has_text="Elsewhere").click()
    codex.get_by_role("button", name="Tobias, from passage 1").click()
    page.locator("article.passage.found[aria-label^='Passage 1']").wait_for()


def test_emphasis_is_seen_and_its_asterisks_are_of_the_text(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    story = page.url.rpartition("/")[2]
    text = "She read *Wick Rock* & 2 * 3."
    httpx.post(f"{desk.address}api/stories/{story}/passage", json={"at": "1", "text": text}).raise_for_status()
    said = page.locator("article.by-edited em")
    said.wait_for()
    assert said.text_content() == "*Wick Rock*"
    assert page.locator("article.by-edited > div p").text_content() == text
    assert said.locator(".mark").first.evaluate("mark => mark.getBoundingClientRect().width") == 0
