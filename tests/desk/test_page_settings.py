"""A room to write in: font, size, width, quotation marks, goals, the page alone, and the language of the text."""

from __future__ import annotations

from typing import Any

import httpx

from recurrentgpt.prose.typography import typographic
from tests.desk.conftest import Served, begin, dialogs_closed, has_value, send, there_are, written

BOOK = "\n\n".join(f"Ines counted lantern number {number} and wrote it down." for number in range(60))
TEXT = "\"Don't,\" she said. 'No.'"


def test_the_page_looks_as_its_reader_wants_and_the_text_stays(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    api = f"{desk.address}api/stories/{page.url.rpartition('/')[2]}"
    httpx.post(f"{api}/passage", json={"at": "1", "text": TEXT}).raise_for_status()
    line = page.locator("article.by-edited .prose p")
    line.wait_for()
    written(page, 1)
    assert page.locator(".leaf").get_attribute("lang") == "en"
    style = "element => [getComputedStyle(element).fontSize, getComputedStyle(element).fontFamily]"
    before = line.evaluate(style)
    page.get_by_role("button", name="Page", exact=True).click()
    page.get_by_label("Size").fill("150")
    page.get_by_label("Font").select_option("sans")
    page.get_by_label("Typographic quotation marks").check()
    page.get_by_label("Words a day").fill("500")
    page.get_by_label("Words in a sitting").fill("300")
    page.keyboard.press("Escape")
    dialogs_closed(page)
    page.reload()
    line.wait_for()
    assert line.inner_text() == "“Don’t,” she said. ‘No.’"
    size, font = line.evaluate(style)
    assert float(size.removesuffix("px")) == 1.5 * float(before[0].removesuffix("px"))
    assert font != before[1]
    page.get_by_text("of 500 words today").wait_for()
    page.get_by_text("of 300 words in this sitting").wait_for()
    # The text is its own, also where it is edited and selected.
    line.dblclick()
    assert page.get_by_label("Text of passage 1").input_value() == TEXT


MEASURED = {
    "He was 5'10\" tall.": "He was 5'10\" tall.",
    '"He\'s 5\' 10", I say," she said.': "“He’s 5' 10\", I say,” she said.",
    "'It's 6'2\" long.'": "‘It’s 6'2\" long.’",
    'She took 5" of it: 3" x 4".': 'She took 5" of it: 3" x 4".',
    "A board of 6' lay there. 'Take it,' he said.": "A board of 6' lay there. ‘Take it,’ he said.",
    '"In 1990", he said. "In 1993"': "“In 1990”, he said. “In 1993”",
    "'Don't; it was 1990'": "‘Don’t; it was 1990’",
    "the 1990's, the '90s'": "the 1990’s, the ’90s’",
    '“A board of 10", he said.': "“A board of 10”, he said.",
}


def test_the_page_leaves_feet_and_inches_as_the_book_does(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.get_by_role("button", name="Page", exact=True).click()
    page.get_by_label("Typographic quotation marks").check()
    page.keyboard.press("Escape")
    dialogs_closed(page)
    page.locator("article.passage .prose").dblclick()
    page.get_by_label("Text of passage 1").fill("\n\n".join(MEASURED))
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    shown = page.locator("article.by-edited .prose p").all_text_contents()
    assert shown == list(MEASURED.values()) == [typographic(text, "en") for text in MEASURED]


def test_focus_leaves_the_page_alone_and_tells_what_is_refused(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.locator(".next h2").wait_for()
    page.keyboard.press("f")
    there_are(page.locator(".plans:visible, .memory:visible, .figures:visible"), 0)
    page.route("**/undo", lambda route: route.fulfill(status=409, json={"error": "This cannot be done now."}))
    page.keyboard.press("z")
    page.get_by_text("This cannot be done now.").wait_for()
    page.get_by_role("button", name="Focus").click()
    page.locator(".plans .card").first.wait_for()
    there_are(page.locator("article.passage"), 1)


def test_focus_is_left_for_no_plan_of_ones_own(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.keyboard.press("f")
    page.keyboard.press("w")
    page.keyboard.type("Ines, from afar, comes home at noon with the map.")
    field = page.get_by_role("textbox", name="Your plan for the next passage")
    has_value(field, "Ines, from afar, comes home at noon with the map.")
    send(page)
    there_are(page.locator("article.passage:not(.draft)"), 2)
    page.get_by_role("button", name="Write my own").wait_for()
    there_are(page.locator(".desk.focus"), 1)
    there_are(page.locator(".plans:visible, .memory:visible"), 0)


def test_in_focus_a_key_that_chooses_shows_the_plans_and_the_next_one_chooses(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.keyboard.press("f")
    # Nobody chooses among plans that are out of sight.
    page.keyboard.press("2")
    page.locator(".plans .card").first.wait_for()
    page.keyboard.press("Escape")
    there_are(page.locator(".plans"), 0)
    there_are(page.locator("article.passage"), 1)
    page.get_by_role("button", name="What happens next?").click()
    plan = page.locator(".plans .card").nth(1).inner_text()
    page.keyboard.press("2")
    there_are(page.locator("article.passage:not(.draft)"), 2)
    page.get_by_role("button", name="What happens next?").wait_for()
    there_are(page.locator(".desk.focus"), 1)
    there_are(page.locator(".plans"), 0)
    page.get_by_role("button", name="Passage 2: what can be done").click()
    there_are(page.locator(".plan-was", has_text=plan.split("\n")[-1]), 1)


def test_the_truth_is_shown_only_where_it_is_asked_for_and_clues_are_ticked_off(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    api = f"{desk.address}api/stories/{page.url.rpartition('/')[2]}"
    written(page, 1)
    outline = httpx.get(api).json()["outline"]
    truth = httpx.get(f"{api}/hidden").json()["truth"]
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_label("Outline, one turn a line").fill("\n".join([f"[done] {outline[0]}", *outline[1:]]))
    there_are(page.get_by_label("What lies behind the story"), 0)
    page.get_by_role("button", name="Show what is kept from the reader").click()
    there_are(page.get_by_text("[done] before a clue"), 1)
    assert page.get_by_label("What lies behind the story").input_value() == truth
    page.get_by_label("Clues to it, one a line").fill("[done] A feather: passage 1\nA song: passage 3")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("dialog").wait_for(state="detached")
    assert httpx.get(f"{api}/hidden").json() == {
        "truth": truth,
        "clues": ["[done] A feather: passage 1", "A song: passage 3"],
    }
    assert httpx.get(api).json()["outline"] == [f"[done] {outline[0]}", *outline[1:]]


def test_a_goal_counts_what_is_written_in_all_stories_and_no_imported_book(page: Any, desk: Served) -> None:
    def words() -> int:
        found: int = httpx.get(f"{desk.address}api/stories/{page.url.rpartition('/')[2]}").json()["words"]
        return found

    begin(page, desk.address)
    page.get_by_role("button", name="Page", exact=True).click()
    page.get_by_label("Words a day").fill("5000")
    page.get_by_label("Words in a sitting").fill("3000")
    page.keyboard.press("Escape")
    first = words()
    page.get_by_text(f"{first:,} of 5,000 words today").wait_for()
    page.get_by_text(f"{first:,} of 3,000 words in this sitting").wait_for()
    page.goto(desk.address)
    page.locator("input[type=file]").set_input_files(
        {"name": "book.txt", "mimeType": "text/plain", "buffer": BOOK.encode()}
    )
    page.get_by_role("button", name="Import it").click()
    page.get_by_text("Ines counted lantern number 59").wait_for()
    page.get_by_text(f"{first:,} of 5,000 words today").wait_for()
    imported = words()
    page.get_by_role("button", name="New plans").click()
    page.locator(".plans .plan").first.wait_for()
    page.keyboard.press("1")
    page.locator("article.passage:not(.draft):not(.by-human)").wait_for()
    page.locator(".plans .plan").first.wait_for()
    while words() == imported:
        page.wait_for_timeout(20)
    both = first + words() - imported
    page.get_by_text(f"{both:,} of 5,000 words today").wait_for()
    page.get_by_text(f"{both:,} of 3,000 words in this sitting").wait_for()


def test_a_story_in_the_making_does_not_begin_from_what_is_changed_now(page: Any, own_desk: Served) -> None:
    hold, refuse = own_desk.home / "hold-memory", own_desk.home / "refuse-memory"
    refuse.touch()
    page.goto(own_desk.address)
    page.get_by_label("What is it about?").fill("A cook finds a map.")
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("there is no credit left").wait_for()
    page.get_by_role("button", name="Settings", exact=True).click()
    begins = page.get_by_text("the story begins from them")
    begins.wait_for()
    refuse.unlink()
    hold.touch()
    httpx.post(f"{own_desk.address}api/stories/{page.url.rpartition('/')[2]}/write", json={}).raise_for_status()
    page.get_by_text("They hold from the next passage on.").wait_for()
    there_are(begins, 0)
    hold.unlink()
