"""Chapters by hand, the contents, and words replaced in a whole branch: on the page, and undone."""

from __future__ import annotations

from typing import Any

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
