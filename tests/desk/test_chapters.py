"""Chapters by hand, the contents, and words replaced in a whole branch: on the page, and undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.desk.conftest import Client, Served, begin, has_value, text_of, there_are, written


def test_chapters_and_replacing_through_the_interface(client: Client) -> None:
    view = client.write(client.begin()["id"], number=1)
    path = f"/stories/{view['id']}"
    client.send("PUT", f"{path}/chapter", {"at": "2", "title": "The Storm"})
    assert client.get(f"{path}/chapters") == {"2": "The Storm"}
    page = client.http.get(f"/desk/api{path}/export", params={"format": "md"}).text
    assert "The Storm" in page
    word = client.texts(view)[0].split()[0]
    changed = client.send("POST", f"{path}/replace", {"old": word, "new": "Zoltan"})
    assert changed["passages"] >= 1
    after = client.get(path)
    assert client.texts(after)[0].startswith("Zoltan")
    assert client.get(f"{path}/chapters") == {"2": "The Storm"}
    client.send("POST", f"{path}/undo")
    assert client.texts(client.get(path)) == client.texts(view)
    assert "No passage" in client.refused("POST", f"{path}/replace", {"old": "xyzzy", "new": "plugh"})[1]
    client.send("PUT", f"{path}/chapter", {"at": "2", "title": None})
    assert client.get(f"{path}/chapters") == {}


def test_a_chapter_is_begun_renamed_and_joined_on_the_page(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    page.get_by_role("button", name="Passage 2: what can be done").click()
    title = page.get_by_label("Title of the chapter that begins with passage 2")
    title.fill("The Storm")
    # What is typed is told of where its field is not in sight, and is there again.
    page.reload()
    written(page, 3)
    page.get_by_text("The title of a chapter is not saved: The Storm").wait_for()
    page.get_by_role("button", name="Go on with it").click()
    has_value(title, "The Storm")
    there_are(page.get_by_text("is not saved"), 0)
    page.keyboard.type("y")
    has_value(title, "The Stormy")
    page.keyboard.press("Backspace")
    page.get_by_role("button", name="Begin a chapter").click()
    page.locator("h2.chapter", has_text="The Storm").wait_for()
    page.get_by_role("button", name="Passage 2: what can be done").click()
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    there_are(dialog.locator(".contents > li"), 2)
    dialog.locator("summary").last.click()
    there_are(dialog.locator(".contents > li").last.locator(".sentences li"), 2)
    dialog.get_by_label("Title of the chapter that begins with passage 2").fill("The Calm")
    dialog.get_by_role("button", name="Rename").click()
    dialog.get_by_text("The Calm").wait_for()
    dialog.get_by_role("button", name="Join with the one before").click()
    there_are(dialog.locator(".contents > li"), 1)
    page.keyboard.press("Escape")
    there_are(page.locator("h2.chapter"), 0)
    page.keyboard.press("z")
    page.locator("h2.chapter", has_text="The Calm").wait_for()
    page.keyboard.press("c")
    dialog.locator(".card", has_text="The Calm").click()
    page.locator("article.passage.found[aria-label^='Passage 2']").wait_for()


def test_words_are_replaced_on_the_page_and_undone_as_one(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    before = [text_of(page, 1), text_of(page, 2)]
    word = before[0].split()[0]
    page.keyboard.press("/")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Words to find or replace").fill(word)
    dialog.get_by_label("Words in their place").fill("Zoltan")
    dialog.get_by_role("button", name="Replace all").click()
    dialog.get_by_text("Undo takes all of it back as one.").wait_for()
    page.keyboard.press("Escape")
    page.locator("article.by-edited", has_text="Zoltan").first.wait_for()
    page.keyboard.press("z")
    there_are(page.locator("article.by-edited"), 0)
    page.locator("article.passage .prose").nth(1).wait_for()
    assert [text_of(page, 1), text_of(page, 2)] == before


def test_a_title_that_was_changed_meanwhile_is_not_saved_over_unseen(client: Client) -> None:
    path = f"/stories/{client.write(client.begin()['id'], number=1)['id']}"
    client.send("PUT", f"{path}/chapter", {"at": "2", "title": "The Storm", "seen": None})
    for seen in (None, "", "The Calm"):
        status, why = client.refused("PUT", f"{path}/chapter", {"at": "2", "title": "The Flood", "seen": seen})
        assert (status, "The title of the chapter was changed meanwhile" in why) == (409, True)
    assert client.get(f"{path}/chapters") == {"2": "The Storm"}
    client.send("PUT", f"{path}/chapter", {"at": "2", "title": "The Flood", "seen": "The Storm"})
    client.send("PUT", f"{path}/chapter", {"at": "2", "title": None})
    assert client.get(f"{path}/chapters") == {}


def test_a_chapter_without_a_title_is_not_as_if_there_were_none(client: Client) -> None:
    path = f"/stories/{client.write(client.begin()['id'], number=1)['id']}"
    storm = {"at": "2", "title": "The Storm"}
    assert client.refused("PUT", f"{path}/chapter", {**storm, "seen": ""})[0] == 409
    client.send("PUT", f"{path}/chapter", {"at": "2", "title": "", "seen": None})
    assert client.refused("PUT", f"{path}/chapter", {**storm, "seen": None})[0] == 409
    assert client.get(f"{path}/chapters") == {"2": ""}
    client.send("PUT", f"{path}/chapter", {**storm, "seen": ""})
    assert client.get(f"{path}/chapters") == {"2": "The Storm"}


def test_a_title_that_was_typed_for_a_chapter_that_is_joined_can_be_taken_back(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    form = title_in(page)
    title = form.get_by_role("textbox")
    title.fill("The Storm")
    form.get_by_role("button").first.click()
    page.locator("h2.chapter", has_text="The Storm").wait_for()
    title.fill("The Flood")
    form.get_by_role("button", name="No title").click()
    there_are(page.locator("h2.chapter"), 0)
    has_value(title, "")
    page.keyboard.press("Escape")
    page.get_by_role("group", name="Thrown away").get_by_text("The Flood").wait_for()


def test_why_a_title_was_refused_goes_when_another_is_typed(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    form = title_in(page)
    title, refusal = form.get_by_role("textbox"), page.get_by_role("dialog").get_by_role("alert")
    title.fill("The Storm")
    page.route("**/chapter", lambda route: route.fulfill(status=507, json={"error": "The disk is full."}))
    form.get_by_role("button").first.click()
    refusal.get_by_text("The disk is full.").wait_for()
    page.unroute("**/chapter")
    title.press("End")
    title.press("s")
    there_are(refusal, 0)
    form.get_by_role("button").first.click()
    page.locator("h2.chapter", has_text="The Storms").wait_for()


def title_in(page: Any) -> Any:
    """Open the contents, and return the form of the first chapter's title."""
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    dialog.locator("summary").click()
    return dialog.locator("form")


@pytest.mark.parametrize("choice", ["Go on with mine", "Take this one"])
@pytest.mark.parametrize("knows", [True, False])
def test_who_renames_a_chapter_second_is_told_of_the_first(
    page: Any, open_page: Callable[..., Any], desk: Served, choice: str, knows: bool
) -> None:
    begin(page, desk.address)
    form = title_in(page)
    mine, rename = form.get_by_role("textbox"), form.get_by_role("button").first
    mine.fill("The Storm")
    rename.click()
    heading = page.locator("h2.chapter")
    heading.get_by_text("The Storm").wait_for()
    other = open_page()
    other.goto(page.url)
    written(other, 1)
    other.locator("h2.chapter", has_text="The Storm").wait_for()
    mine.fill("The Flood")
    theirs = title_in(other)
    theirs.get_by_role("textbox").fill("The Calm")
    if not knows:
        page.route("**/chapters", lambda route: route.abort())
    with page.expect_event(
        "requestfinished" if knows else "requestfailed", lambda request: request.url.endswith("/chapters")
    ):
        theirs.get_by_role("button", name="Rename").click()
    other.locator("h2.chapter", has_text="The Calm").wait_for()
    told = page.get_by_role("group", name="Changed meanwhile")
    if not knows:
        page.unroute("**/chapters")
        rename.click()
        page.get_by_role("dialog").get_by_role("alert").get_by_text("was changed meanwhile").wait_for()
    told.get_by_text("The Calm").wait_for()
    assert rename.is_disabled()
    has_value(mine, "The Flood")
    told.get_by_role("button", name=choice).click()
    there_are(told, 0)
    if choice == "Go on with mine":
        rename.click()
        for place in (page, other):
            place.locator("h2.chapter", has_text="The Flood").wait_for()
    else:
        has_value(mine, "The Calm")
        page.keyboard.press("Escape")
        page.get_by_role("group", name="Thrown away").get_by_text("The Flood").wait_for()
