"""Somebody types letter by letter while the field is taken from under them: every letter is kept, and none is a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.desk.conftest import Served, begin, has_value, in_sight, there_are, written
from tests.desk.test_drafts import MINE, button, edit, opened
from tests.desk.test_faults import held_draft

SENTENCE = "she asks nobody, 1 2 3, about a lantern, and waits for men. "
"""Each key that is a command is among its letters."""
MOST = 60
"""Sentences that are typed before something is held never to happen."""


def typed_until(page: Any, happened: Callable[[], object]) -> str:
    """Type, look after each word whether something has happened, type a sentence more, and return what was typed."""
    typed = ""
    for word in SENTENCE.split(" ") * MOST:
        typed += f"{word} "
        page.keyboard.type(f"{word} ")
        if happened():
            break
    assert happened()
    page.keyboard.type(SENTENCE)
    return typed + SENTENCE


def commands(page: Any) -> list[str]:
    """Return a list of what the page asks the server to change, which grows."""
    asked: list[str] = []
    page.on("request", lambda request: None if request.method == "GET" else asked.append(request.url))
    return asked


def post(page: Any, path: str, **body: object) -> None:
    """Ask for something as another tab would."""
    address, _, story = page.url.partition("#/story/")
    httpx.post(f"{address}api/stories/{story}/{path}", json=body, timeout=60).raise_for_status()


def test_a_plan_is_typed_while_the_passage_before_it_is_finished(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    page.keyboard.press("w")
    page.get_by_label("Your plan for the passage after it").wait_for()
    asked = commands(page)
    page.keyboard.type(SENTENCE)
    own_desk.hold.unlink()
    typed = SENTENCE + typed_until(page, lambda: page.locator(".plans .card").count())
    has_value(page.get_by_label("Your plan for the next passage"), typed)
    assert asked == []


def test_a_plan_is_typed_while_another_tab_has_the_story_written(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    asked = commands(page)
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").wait_for()
    page.keyboard.type(SENTENCE)
    post(page, "write", number=1)
    typed = SENTENCE + typed_until(
        page, lambda: page.get_by_text("passage 2", exact=True).count() and page.locator(".plans .card").count()
    )
    has_value(page.get_by_label("Your plan for the next passage"), typed)
    post(page, "replan")
    page.keyboard.type(SENTENCE)
    page.locator(".stop").wait_for(state="detached")
    has_value(page.get_by_label("Your plan for the next passage"), typed + SENTENCE)
    assert asked == []


@pytest.mark.parametrize("field", ["passage", "plan", "memory", "long-term entry"])
def test_a_text_is_typed_while_another_tab_leaves_its_place(page: Any, own_desk: Served, field: str) -> None:
    begin(page, own_desk.address, 2)
    if field == "long-term entry":
        button(page, "Passage 2: what can be done").click()
        button(page, "Long-term entry").click()
        area = page.get_by_label("What the long-term memory holds of passage 2")
    elif field == "passage":
        page.locator("article.passage[aria-label^='Passage 2'] .prose").dblclick()
        area = page.get_by_label("Text of passage 2")
    else:
        area = opened(page, field)
    area.wait_for()
    area.press("Control+End")
    before = area.input_value()
    asked = commands(page)
    page.keyboard.type(SENTENCE)
    if field == "plan":
        post(page, "write", number=2)
    elif field == "memory":
        post(page, "undo")
    else:
        post(page, "retry")
    adrift = page.get_by_role("group", name="Not saved").locator("textarea")
    typed = SENTENCE + typed_until(page, lambda: adrift.count() and not page.locator(".stop").count())
    has_value(adrift, before + typed)
    assert asked == []
    page.reload()
    page.get_by_role("group", name="Not saved").get_by_text("is not saved").wait_for()
    button(page, "Go on with it").click()
    there_are(page.locator(".writing textarea"), 1)
    has_value(page.locator(".writing textarea"), before + typed)


def test_a_text_that_comes_back_to_its_place_is_typed_on_there(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    page.locator("article.passage[aria-label^='Passage 2'] .prose").dblclick()
    area = page.get_by_label("Text of passage 2")
    area.press("Control+End")
    before = area.input_value()
    page.keyboard.type(SENTENCE)
    post(page, "undo")
    adrift = page.get_by_role("group", name="Not saved").locator("textarea")
    typed = SENTENCE + typed_until(page, adrift.count)
    post(page, "redo")
    typed += typed_until(page, area.count)
    has_value(area, before + typed)
    there_are(adrift, 0)
    written(page, 2)


def test_what_is_typed_after_a_plan_was_sent_is_no_command(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    own_desk.hold.touch()
    opened(page, "own plan").fill("Mira dives.")
    asked = commands(page)
    # At once, as whoever types on does: nobody has seen yet that the field is gone.
    page.evaluate(
        """() => {
            const [field, sent] = [document.activeElement, { bubbles: true }];
            new MutationObserver((_, watch) => {
                if (field.isConnected) return;
                watch.disconnect();
                for (const key of 'and asks') document.body.dispatchEvent(new KeyboardEvent('keydown', { key, ...sent }));
                window.typedOn = true;
            }).observe(document, { childList: true, subtree: true });
        }"""
    )
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => window.typedOn")
    there_are(page.locator("dialog[open]"), 0)
    own_desk.hold.unlink()
    written(page, 2)
    assert [url.rpartition("/")[2] for url in asked] == ["write"]


@pytest.mark.parametrize("field", ["chapter", "codex"])
def test_a_line_is_typed_while_another_tab_leaves_its_place(page: Any, desk: Served, field: str) -> None:
    begin(page, desk.address, 2)
    asked = commands(page)
    if field == "chapter":
        button(page, "Passage 2: what can be done").click()
        page.get_by_label("Title of the chapter that begins with passage 2").click()
    else:
        post(page, "codex", name="Zoltan", kind="person", facts=["Zoltan swims."])
        codex = page.locator(".codex")
        codex.get_by_text("Elsewhere").click()
        codex.locator("summary", has_text="Change Zoltan").click()
        codex.get_by_label("Fact of Zoltan").click()
    page.keyboard.type(SENTENCE)
    post(page, "undo")
    adrift = page.get_by_role("group", name="Not saved").locator("textarea")
    typed = SENTENCE + typed_until(page, adrift.count)
    has_value(adrift, typed)
    assert asked == []


@pytest.mark.parametrize("typed", [SENTENCE, ""])
def test_a_line_is_typed_while_its_entry_is_folded_away(page: Any, desk: Served, typed: str) -> None:
    begin(page, desk.address, 2)
    asked = commands(page)
    post(page, "codex", name="Zoltan", kind="person", facts=["Zoltan swims."])
    codex = page.locator(".codex")
    codex.get_by_text("Elsewhere").click()
    codex.locator("summary", has_text="Change Zoltan").click()
    fact = codex.get_by_label("Fact of Zoltan")
    fact.click()
    page.keyboard.type(typed)
    address, _, story = page.url.partition("#/story/")
    hidden = {"name": "Zoltan", "hidden": True}
    httpx.put(f"{address}api/stories/{story}/codex", json=hidden, timeout=60).raise_for_status()
    codex.get_by_text("Hidden from readers").wait_for()
    in_sight(fact)
    page.wait_for_function("document.activeElement.matches('[aria-label=\"Fact of Zoltan\"]')")
    page.keyboard.type(SENTENCE)
    has_value(fact, typed + SENTENCE)
    assert asked == []


def test_letters_of_a_field_that_vanished_are_no_commands(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    asked = commands(page)
    many = page.get_by_label("How many passages")
    many.press("Control+a")
    page.keyboard.type("1")
    # A field that is no draft's: nothing takes its place.
    page.evaluate("document.querySelector('.auto input').remove()")
    page.keyboard.type("2 asmz")
    assert asked == []
    there_are(page.locator("dialog[open], .stop"), 0)
    # Whoever has seen it gives commands again.
    page.locator("h1").click(position={"x": 1, "y": 1})
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.locator("dialog[open]").wait_for()


def test_a_passage_can_be_edited_while_another_is_written_and_says_that_it_waits(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    own_desk.hold.touch()
    page.keyboard.press("1")
    page.locator("article.draft").wait_for()
    page.locator("article.passage:not(.draft) .prose p").first.dblclick()
    field = page.get_by_label("Text of passage 1")
    field.wait_for()
    field.press("Control+Home")
    page.keyboard.type(SENTENCE)
    assert field.input_value().startswith(SENTENCE)
    in_sight(page.get_by_text("The desk is at work on the story. What you type here is kept"))
    save = page.get_by_role("button", name="Continue from here").or_(
        page.get_by_role("button", name="Save", exact=True)
    )
    assert save.is_disabled()
    own_desk.hold.unlink()
    written(page, 2)
    assert field.input_value().startswith(SENTENCE)
    save.click()
    field.wait_for(state="detached")
    page.locator("article.by-edited").get_by_text(SENTENCE.strip()).wait_for()


def test_what_is_typed_after_a_save_was_refused_goes_on_in_its_editor(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    edit(page, 1).press("Control+Enter")
    page.get_by_text("It is not saved in the story yet").wait_for()
    page.get_by_role("button", name="Contents").focus()
    asked = commands(page)
    page.keyboard.type(SENTENCE)
    has_value(page.get_by_label("Text of passage 1"), MINE + SENTENCE)
    assert asked == []


def test_esc_closes_an_editor_and_stops_no_writing(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    asked = commands(page)
    page.keyboard.press("w")
    area = page.get_by_label("Your plan for the passage after it")
    area.wait_for()
    page.keyboard.type(SENTENCE)
    page.keyboard.press("Escape")
    there_are(area, 0)
    own_desk.hold.unlink()
    written(page, 2)
    assert asked == []


def test_what_is_typed_after_a_refusal_stands_where_the_caret_was(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    area = edit(page, 1)
    area.press("Control+Home")
    page.keyboard.type("So: ")
    area.press("Control+Enter")
    page.get_by_text("It is not saved in the story yet").wait_for()
    page.get_by_role("button", name="Contents").focus()
    page.keyboard.type("then ")
    has_value(page.get_by_label("Text of passage 1"), f"So: then {MINE}")


def test_keys_are_typed_where_the_caret_was_and_are_commands_again_when_that_is_closed(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    area = edit(page, 1)
    area.press("Home")
    page.get_by_role("button", name="Contents").focus()
    page.keyboard.type("So ")
    has_value(area, f"So {MINE}")
    area.press("Escape")
    there_are(area, 0)
    page.keyboard.press("m")
    page.locator("dialog[open]").wait_for()
