"""What readers' other tools have: an editor that opens where one clicked, exact search, stories told apart, small windows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.desk.conftest import Client, Served, at_rest, begin, has_value, there_are, written
from tests.desk.test_drafts import MINE, button, opened


@pytest.mark.parametrize("width", [1280, 390])
def test_an_editor_opens_with_the_caret_where_one_clicked_and_no_line_moves(
    open_page: Callable[..., Any], desk: Served, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 800})
    begin(page, desk.address, 2)
    line = page.get_by_role("article", name="Passage 2", exact=True).locator(".prose p").nth(2)
    # In the middle: at the lower edge of a phone's page the editor's buttons come over it.
    line.evaluate("line => line.scrollIntoView({block: 'center'})")
    at_rest(line)
    # Where it is and what stands there in one, for the page that was just opened may still move.
    x, y, at = line.evaluate(
        """line => {
            line.scrollIntoView({ block: 'center' });
            const box = line.getBoundingClientRect();
            const [x, y] = [box.x + 90, box.bottom - 20];
            const { offsetNode, offset } = document.caretPositionFromPoint(x, y);
            const found = offsetNode.parentElement.closest('[data-from]');
            return [x, y, Number(found.dataset.from) + offset];
        }"""
    )
    page.mouse.dblclick(x, y)
    area = page.get_by_label("Text of passage 2")
    area.wait_for()
    assert area.evaluate("area => area.selectionStart") == at
    # The letter that stands under the pointer now is of the same line: lines of the two hold other words.
    shown = page.evaluate("([x, y]) => document.caretPositionFromPoint(x, y).offset", [x, y])
    assert abs(shown - at) < 70
    page.keyboard.type("here")
    assert area.input_value()[at : at + 4] == "here"


def test_the_memory_is_edited_while_it_writes(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    own_desk.hold.touch()
    page.get_by_label("How many passages").fill("40")  # more than are written before it is held again
    button(page, "Let it write").click()
    page.get_by_text("Stopping keeps the whole sentences").wait_for()
    memory = opened(page, "memory")
    kept = memory.input_value()
    memory.fill(f"{kept}\nThe lamp is a lie.")
    # Passages are finished meanwhile: the text stays where it is typed.
    own_desk.hold.unlink()
    page.get_by_text(re.compile(r"^passage (?!1$)\d+$")).first.wait_for()
    own_desk.hold.touch()
    has_value(memory, f"{kept}\nThe lamp is a lie.")
    button(page.locator(".memory").first, "Save").click()
    own_desk.hold.unlink()
    page.locator(".memory").first.get_by_text("The lamp is a lie.").wait_for()


def test_words_are_found_letter_by_letter(client: Client) -> None:
    view = client.begin()
    text = client.texts(client.write(view["id"], number=1))[1]
    word = max(text.split(), key=len).strip(".,")
    texts = client.texts(client.get(f"/stories/{view['id']}"))
    found = client.get(f"/stories/{view['id']}/words", words=word)
    assert [one["step"] for one in found] == [at for at, text in enumerate(texts, 1) if word in text]
    assert all(word in one["piece"] for one in found)
    assert client.get(f"/stories/{view['id']}/words", words="qqq[") == []
    inside = client.get(f"/stories/{view['id']}/words", words=word[1:-1])
    assert [one for one in inside if f" {word[1:-1]} " not in one["piece"]] == []
    assert client.get(f"/stories/{view['id']}/words", words=word[1:-1], whole_words="false")


def test_words_that_are_found_lead_to_their_passage(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    word = page.locator("article.passage .prose").first.inner_text().split()[3].strip(".,")
    page.keyboard.press("/")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Words to find or replace").fill(word)
    button(dialog, "Find").click()
    dialog.get_by_role("status").get_by_text("passage").wait_for()
    dialog.locator(".found-list .card").first.click()
    there_are(dialog, 0)
    page.locator("article.passage.found").wait_for()
    page.keyboard.press("/")
    has_value(dialog.get_by_label("Words to find or replace"), word)
    dialog.get_by_label("Words to find or replace").fill("qqq")
    button(dialog, "Find").click()
    dialog.get_by_text("No passage of this branch has these words").wait_for()


def test_whoever_comes_back_sees_their_stories_first_and_tells_them_apart(page: Any, own_desk: Served) -> None:
    page.goto(own_desk.address)
    page.get_by_label("What is it about?").wait_for()
    there_are(page.get_by_role("heading", name="Your stories"), 0)
    begin(page, own_desk.address)
    words = page.locator(".figures span").first.inner_text()
    page.get_by_role("link", name="Stories").click()
    line = page.locator(".stories li").first
    line.get_by_text("Mira tends a lamp.").wait_for()
    line.get_by_text(f"{words} in 1 passage").wait_for()
    assert at_rest(line)["y"] < at_rest(page.get_by_label("What is it about?"))["y"]


@pytest.mark.parametrize("width", [320, 390])
def test_what_is_scrolled_to_stands_below_the_bar(open_page: Callable[..., Any], desk: Served, width: int) -> None:
    page = open_page(viewport={"width": width, "height": 640})
    begin(page, desk.address)
    # Goals are two figures more in the bar.
    page.evaluate("""() => localStorage.setItem('desk.page', '{"daily": 5000, "sitting": 5000}')""")
    page.reload()
    page.get_by_text("in this sitting").wait_for()
    page.get_by_text("tokens").first.wait_for()
    # A page that was loaded brings its last passage to the screen, until somebody acts.
    page.mouse.wheel(0, 1)
    at_rest(page.locator("#next"))
    page.evaluate("document.getElementById('next').scrollIntoView()")
    bar = at_rest(page.locator(".bar"))
    assert at_rest(page.locator("#next"))["y"] >= bar["y"] + bar["height"]


def test_no_dialog_is_wider_than_a_small_phone(open_page: Callable[..., Any], desk: Served) -> None:
    page = open_page(viewport={"width": 320, "height": 640})
    begin(page, desk.address)
    for name in ("Contents", "Map", "Search", "Export", "Settings", "Page", "Keys"):
        page.get_by_role("button", name=name, exact=True).or_(page.get_by_role("button", name=f"{name} ")).first.click()
        dialog = page.locator("dialog[open]")
        dialog.wait_for()
        close = at_rest(dialog.locator(".dialog-head button"))
        assert close["height"] < 44, name
        assert dialog.evaluate("dialog => dialog.scrollWidth - dialog.clientWidth") <= 0, name
        page.keyboard.press("Escape")
        there_are(dialog, 0)


def test_settings_are_saved_from_where_one_is(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    button(page, "Settings", exact=True).click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_label("Style").fill("dry")
    whole, save = at_rest(dialog), at_rest(dialog.get_by_role("button", name="Save"))
    assert save["y"] + save["height"] <= whole["y"] + whole["height"]
    button(dialog, "Save").click()
    there_are(dialog, 0)


def test_forced_colours_tell_what_is_switched_on(open_page: Callable[..., Any], desk: Served) -> None:
    page = open_page(forced_colors="active")
    begin(page, desk.address)
    focus = page.get_by_role("button", name="Focus")
    off = focus.evaluate("button => getComputedStyle(button).outline")
    focus.click()
    page.locator(".focus").wait_for()
    page.locator("h1").hover()
    page.evaluate("document.activeElement.blur()")
    assert focus.evaluate("button => getComputedStyle(button).outline") != off


def test_an_opening_quotation_mark_hangs_in_the_margin(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    opened(page, "passage").fill(f'{MINE * 9}\n\nShe waits.\n\n"Who is there?"')
    button(page, "Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    left = [
        page.locator("article .prose p")
        .nth(number)
        .evaluate(
            """paragraph => {
                const range = document.createRange();
                range.setStart(paragraph.firstChild, paragraph.textContent[0] === '"' ? 1 : 0);
                range.setEnd(paragraph.firstChild, 2);
                return range.getBoundingClientRect().left;
            }"""
        )
        for number in (1, 2)
    ]
    assert abs(left[0] - left[1]) < 3


def test_a_desk_that_did_not_answer_is_told_of_until_it_does(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.context.set_offline(True)
    opened(page, "own plan").fill(MINE)
    button(page, "Write from it").click()
    silent = page.locator("aside > .problem")
    silent.get_by_text("The desk does not answer").wait_for()
    page.context.set_offline(False)
    there_are(silent, 0)
    has_value(page.get_by_label("Your plan for the next passage"), MINE)
    button(page, "Write from it").click()
    written(page, 2)


def test_what_happens_in_a_chapter_is_on_the_page_once_it_is_asked_for(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    summary = dialog.get_by_text("Its scenes, and its title")
    summary.wait_for()
    there_are(dialog.locator(".sentences"), 0)
    summary.click()
    there_are(dialog.locator(".sentences li"), 2)


def test_a_scene_is_gone_to_from_the_contents(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    button(page, "Contents").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Its scenes, and its title").click()
    scene = dialog.locator(".sentences li").nth(1).get_by_role("button")
    assert scene.inner_text().startswith("2. ")
    scene.click()
    there_are(dialog, 0)
    there_are(page.locator("article.passage:focus").get_by_role("button", name="Passage 2: what can be done"), 1)
