"""What the server knows is on the page too: what was spent, is tried again or is ready, who wrote it, in which language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.desk.conftest import (
    Served,
    at_rest,
    begin,
    dialogs_closed,
    has_value,
    send,
    stop,
    text_of,
    there_are,
    written,
)
from tests.desk.test_drafts import MINE, button, edit, opened
from tests.desk.test_faults import held_draft


def settings_of(page: Any) -> Any:
    """Open the settings of a story, and return the dialog."""
    button(page, "Settings", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.locator("[name=language]").wait_for()
    return dialog


def saved(page: Any, dialog: Any) -> None:
    button(dialog, "Save").click()
    dialogs_closed(page)


def test_what_other_branches_cost_counts_against_the_budget(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    figures = page.locator(".figures")
    figures.get_by_text("tokens").wait_for()
    there_are(figures.get_by_text("on this branch"), 0)
    before = text_of(page, 1)
    page.keyboard.press("a")
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=before)
    figures.get_by_text("on this branch").wait_for()
    dialog = settings_of(page)
    dialog.locator("[name=budget]").fill("100")
    saved(page, dialog)
    figures.get_by_text("of 100 tokens").wait_for()
    page.locator(".plans .card").first.click()
    page.locator(".next .problem").get_by_text("budget").wait_for()
    there_are(page.locator("article.passage"), 1)


def test_a_model_that_failed_and_is_asked_again_is_told_of(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "fail").touch()
    page.keyboard.press("1")
    page.get_by_text("the model failed, asking again (2)").wait_for()
    own_desk.hold.touch()
    (own_desk.home / "fail").unlink()
    page.locator("article.draft p").wait_for()
    there_are(page.get_by_text("asking again"), 0)
    own_desk.hold.unlink()
    written(page, 2)


@contextmanager
def writing_ahead(page: Any) -> Iterator[None]:
    """Have the first plan's passage written ahead, as the form of the machine is told."""

    def ahead(number: str) -> None:
        settings_of(page)
        dialog = page.get_by_role("dialog")
        button(dialog, "Model and endpoint").click()
        dialog.get_by_text("More settings").click()
        dialog.locator("[name=ahead]").fill(number)
        button(dialog, "Save").click()
        dialog.get_by_text("Saved.").wait_for()
        page.keyboard.press("Escape")
        there_are(dialog, 0)

    ahead("1")
    yield
    ahead("")


def test_a_plan_whose_passage_is_written_ahead_says_so(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    cards, ready = page.locator(".plans .card"), page.locator(".plans .ready")
    with writing_ahead(page):
        there_are(ready, 1)
        there_are(cards.nth(0).locator(".ready"), 1)
        # It is thrown away by whatever changes what it was written from, and written anew.
        own_desk.hold.touch()
        opened(page, "memory").fill(MINE)
        button(page.locator(".memory").first, "Save").click()
        page.locator(".memory").first.get_by_text(MINE.split(".")[0]).first.wait_for()
        there_are(ready, 0)
        own_desk.hold.unlink()
        there_are(ready, 1)
        # One that is not ready is written as ever.
        cards.nth(1).click()
        written(page, 2)
        page.get_by_text("0 of 1 choice ready").wait_for()
        there_are(ready, 1)
        own_desk.hold.touch()
        cards.nth(0).click()
        page.get_by_text("passage 3", exact=True).wait_for()
        page.get_by_text("1 of 2 choices ready").wait_for()
        own_desk.hold.unlink()
    there_are(ready, 0)


@pytest.mark.parametrize("embedded", [True, False])
def test_writing_ahead_is_offered_where_it_costs_nothing(page: Any, own_desk: Served, embedded: bool) -> None:
    def settings(route: Any) -> None:
        asked = route.request
        told = httpx.request(asked.method, asked.url, json=asked.post_data_json, timeout=60).json()
        nothing = {"value": None, "source": "default", "variable": ""}
        route.fulfill(json={**told, "in_force": {"model": nothing, "base_url": nothing}})

    if embedded:
        page.route("**/api/settings", settings)
    begin(page, own_desk.address)
    button(page, "Let it write").wait_for()
    offer = page.get_by_label("Write the passage of the first plan while I read")
    if not embedded:
        page.wait_for_load_state("networkidle")
        there_are(offer, 0)
        return
    assert not offer.is_checked()
    offer.check()
    there_are(page.locator(".plans .ready"), 1)
    assert httpx.get(f"{own_desk.address}api/settings", timeout=60).json()["values"]["ahead"] == 1
    offer.uncheck()
    there_are(page.locator(".plans .ready"), 0)


def test_a_note_that_is_given_while_it_writes_holds_from_the_next_passage_on(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    own_desk.hold.touch()
    button(page, "Let it write").click()
    button(page, "Stop and drop the words").wait_for()
    dialog = settings_of(page)
    dialog.locator("[name=note]").fill("More rain.")
    saved(page, dialog)
    page.locator(".stop").wait_for()
    own_desk.hold.unlink()
    written(page, 4)
    page.reload()
    written(page, 4)
    assert settings_of(page).locator("[name=note]").input_value() == "More rain."
    story = page.url.rpartition("/")[2]
    whole = httpx.get(f"{own_desk.address}api/stories/{story}/export?format=json", timeout=60)
    assert "More rain." in whole.text


def test_the_author_stands_where_the_book_opens(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    there_are(page.locator(".opening .author"), 0)
    dialog = settings_of(page)
    dialog.locator("[name=author]").fill("Ada Marsh")
    saved(page, dialog)
    page.locator(".opening .author", has_text="Ada Marsh").wait_for()
    page.reload()
    page.locator(".opening .author", has_text="Ada Marsh").wait_for()


def test_a_german_story_is_marked_as_german(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_text("How it is told").click()
    page.get_by_role("textbox", name="Language").fill("German")
    button(page, "Begin").click()
    written(page, 1)
    leaf = page.locator(".leaf")
    assert leaf.get_attribute("lang") == "de"
    page.wait_for_function("() => getComputedStyle(document.querySelector('.leaf .passage')).hyphens === 'auto'")


def test_the_text_of_an_edit_that_was_interrupted_is_set_in_the_story_s_language(page: Any, own_desk: Served) -> None:
    page.goto(own_desk.address)
    page.get_by_text("How it is told").click()
    page.get_by_role("textbox", name="Language").fill("German")
    button(page, "Begin").click()
    written(page, 1)
    page.keyboard.press("1")
    written(page, 2)
    button(page, "Page", exact=True).click()
    page.get_by_label("quotation marks").check()
    page.keyboard.press("Escape")
    there_are(page.locator("dialog[open]"), 0)
    (own_desk.home / "hold-memory").touch()
    edit(page, 1, '"Wer ist da?", fragte Ines.')
    button(page, "Keep the 1 later passage").click()
    page.get_by_text("Rewriting the memory").wait_for()
    button(page, "Stop").click()
    page.get_by_text("An edit of passage 1 was interrupted").wait_for()
    page.get_by_text("Its text", exact=True).click()
    text = page.locator("aside").get_by_text("„Wer ist da?“, fragte Ines.")
    text.wait_for()
    assert text.evaluate("element => element.closest('[lang]').lang") == "de"


def test_a_story_is_saved_as_a_page_to_read_and_as_one_to_play(page: Any, desk: Served, tmp_path: Path) -> None:
    begin(page, desk.address, 2)
    page.keyboard.press("z")
    written(page, 1)
    page.locator(".plans .card").nth(1).click()
    written(page, 2)
    texts = [text_of(page, 1), text_of(page, 2)]
    button(page, "Export").click()
    files = []
    for name in ("web page .html", "web page to play .html"):
        with page.expect_download() as download:
            button(page, name, exact=True).click()
        files.append(tmp_path / f"{len(files)}.html")
        download.value.save_as(files[-1])
    read, play = (file.read_text(encoding="utf-8") for file in files)
    for text in texts:
        assert text.split(".")[0].split("“")[0][:40] in read
    assert "<script" not in read
    assert "<script" in play
    assert len(play) > len(read)


def test_while_it_writes_the_page_alone_still_has_stop(open_page: Callable[..., Any], own_desk: Served) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    begin(page, own_desk.address)
    button(page, "Focus").click()
    page.locator(".focus").wait_for()
    there_are(page.locator(".plans:visible"), 0)
    button(page, "Focus").click()
    held_draft(page, own_desk)
    button(page, "Focus").click()
    for size in ({"width": 390, "height": 844}, {"width": 1280, "height": 860}):
        page.set_viewport_size(size)
        page.locator(".stage").get_by_text("Writing passage 2").wait_for()
        box = page.locator(".stop").bounding_box()
        assert 0 <= box["y"] <= size["height"] - box["height"]
        assert 0 <= box["x"] <= size["width"] - box["width"]
        there_are(page.locator(".plan-now:visible, .own:visible, .memory:visible"), 0)
    stop(page, page.locator(".stop"))
    own_desk.hold.unlink()
    there_are(page.locator(".plans:visible"), 0)


ON_TOP = """(element, up) => {
    const { left, right, bottom } = element.getBoundingClientRect();
    return document.elementFromPoint((left + right) / 2, bottom - up) === element;
}"""
"""Whether nothing lies over an element, this far above its lower edge."""


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "at work"])
def test_on_a_phone_the_line_that_is_typed_is_in_sight(
    open_page: Callable[..., Any], own_desk: Served, busy: bool
) -> None:
    page = open_page(viewport={"width": 390, "height": 780})
    begin(page, own_desk.address)
    if busy:
        held_draft(page, own_desk)
    page.locator("article.passage:not(.draft) .prose").dblclick()
    area = page.get_by_label("Text of passage 1")
    area.press("Control+End")
    page.keyboard.type("\n\nThe last line, which is as long as the page is wide.")
    at_rest(area)
    assert area.evaluate(ON_TOP, 20)
    cancel = button(page, "Cancel")
    cancel.evaluate("element => element.scrollIntoView({ block: 'nearest' })")
    at_rest(cancel)
    assert cancel.evaluate(ON_TOP, 3)


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_nothing_lies_over_what_queues_a_plan_on_the_page_alone(
    open_page: Callable[..., Any], own_desk: Served, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 780})
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    page.keyboard.press("w")
    page.get_by_label("Your plan for the passage after it").fill("Ines counts the hives at dusk.")
    button(page, "Focus").click()
    page.locator(".desk.focus").wait_for()
    queue = button(page, "Queue it")
    at_rest(queue)
    assert queue.evaluate(ON_TOP, 1)


TOO_LONG = "A keeper of bees counts the hives. " * 400


@pytest.mark.parametrize("size", [(1280, 850), (390, 800)], ids=["desktop", "phone"])
def test_why_no_story_begins_is_said_beside_the_button(
    open_page: Callable[..., Any], desk: Served, size: tuple[int, int]
) -> None:
    page = open_page(viewport={"width": size[0], "height": size[1]})
    page.goto(desk.address)
    page.get_by_label("What is it about?").fill(TOO_LONG)
    button(page, "Begin").click()
    refusal = page.get_by_role("alert")
    refusal.wait_for()
    said, pressed = at_rest(refusal), at_rest(button(page, "Begin"))
    assert 0 <= said["y"] <= size[1] - said["height"]
    assert 0 <= pressed["y"] - said["y"] - said["height"] < 60
    has_value(page.get_by_label("What is it about?"), TOO_LONG)
    page.get_by_label("What is it about?").fill("A keeper of bees counts the hives.")
    button(page, "Begin").click()
    written(page, 1)


def test_on_a_phone_why_nothing_was_written_is_in_sight_and_goes_when_it_is_read(
    open_page: Callable[..., Any], own_desk: Served
) -> None:
    page = open_page(viewport={"width": 390, "height": 800})
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    page.keyboard.press("w")
    page.get_by_role("textbox", name="Your plan for the next passage").fill("Ines counts the hives at dusk.")
    send(page)
    refusal = page.get_by_role("alert")
    refusal.get_by_text("401").wait_for()
    page.evaluate("scrollTo(0, 0)")
    said = at_rest(refusal)
    assert 0 <= said["y"] <= 800 - said["height"]
    refusal.get_by_role("button", name="Dismiss").click()
    there_are(refusal, 0)


def test_a_plan_that_was_refused_in_focus_stays_in_sight(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    page.keyboard.press("f")
    (own_desk.home / "refuse").touch()
    page.keyboard.press("w")
    page.keyboard.type("Ines counts the hives at dusk.")
    send(page)
    page.get_by_role("alert").get_by_text("401").wait_for()
    page.locator(".plan-now").get_by_text("Ines counts the hives at dusk.").wait_for()
    (own_desk.home / "refuse").unlink()
    button(page, "Write it", exact=True).click()
    there_are(page.locator("article.passage:not(.draft)"), 2)
    there_are(page.locator(".desk.focus"), 1)


def test_a_book_in_plain_text_has_no_marks_of_emphasis(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    button(page, "Passage 1: what can be done").click()
    page.get_by_label("Title of the chapter that begins with passage 1").fill("The *Lamp*")
    button(page, "Begin a chapter").click()
    page.locator("h2.chapter").wait_for()
    page.locator("article.passage .prose").dblclick()
    page.get_by_label("Text of passage 1").fill("She was *very tired* and cold.\n\n* * *\n\nNobody came.")
    button(page, "Save", exact=True).click()
    page.locator("article.by-edited em").wait_for()
    written(page, 1)
    button(page, "Export").click()
    with page.expect_download() as download:
        page.locator(".formats button", has_text=".txt").click()
    text = Path(download.value.path()).read_text()
    assert "She was very tired and cold.\n\n* * *\n\nNobody came." in text
    assert "The *Lamp*\n" in text


def pasted(page: Any, field: Any, text: str, *, where: str = "End") -> None:
    """Cut a text out of the premise of the start page, and paste it in a field after another key."""
    premise = page.get_by_label("What is it about?")
    premise.fill(text)
    premise.press("Control+A")
    premise.press("Control+X")
    field.press(where)
    field.press("Control+V")


def test_what_of_a_pasted_text_has_no_room_in_its_field_is_told(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_label("play a part in it").check()
    player, told = page.get_by_label("Who do you play?"), page.get_by_role("alert")
    player.fill("me:")
    pasted(page, player, "x" * 297)
    has_value(player, "me:" + "x" * 297)
    there_are(told, 0)
    player.press("End")
    player.press("Backspace")
    pasted(page, player, "1234")
    has_value(player, "me:" + "x" * 296 + "1")
    told.get_by_text("300 letters have room here: the last 3 of what was put in are left out.").wait_for()
    # No room at all is told, too.
    pasted(page, player, "12")
    told.get_by_text("the last 2 of what was put in are left out").wait_for()
    pasted(page, player, "1")
    told.get_by_text("the last one of what was put in is left out").wait_for()
    described = player.evaluate("field => document.getElementById(field.getAttribute('aria-describedby')).textContent")
    assert "the last one of" in described
    player.press("Backspace")
    there_are(told, 0)
    assert player.get_attribute("aria-describedby") is None
    # What is selected makes room.
    pasted(page, player, "A cook.", where="Control+A")
    has_value(player, "A cook.")
    there_are(told, 0)


def test_in_a_dialog_it_is_told_at_the_field(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    premise = page.get_by_label("What is it about?")
    premise.fill("A cook tends a lamp." + "y" * 400)
    premise.press("Control+A")
    premise.press("Control+C")
    page.get_by_role("button", name="Begin").click()
    written(page, 1)
    page.keyboard.press("/")
    old = page.get_by_role("dialog").get_by_label("Words to find or replace")
    old.press("Control+V")
    told = page.locator(".replace").get_by_text("400 letters have room here: the last 20")
    told.wait_for()
    distance = """(told, name) => {
        const field = document.querySelector(`dialog [aria-label="${name}"]`);
        return told.getBoundingClientRect().top - field.getBoundingClientRect().bottom;
    }"""
    assert -5 <= told.evaluate(distance, "Words to find or replace") < 120


def test_every_field_of_a_bounded_length_tells_it() -> None:
    sources = Path(__file__).parents[2] / "desk" / "web" / "src"
    text = "".join(path.read_text() for path in sources.rglob("*.tsx"))
    # Between the name of a tag and its `maxLength` no other one begins or ends; an arrow is a function.
    tags = re.findall(r"<(\w+)\b((?:=>|[^<>])*?)\bmaxLength\b", text)
    assert [name for name, _ in tags].count("ShortInput") > 10
    assert [name for name, before in tags if name != "ShortInput" and "{...props}" not in before] == []
