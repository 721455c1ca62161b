"""Whatever a writer typed or a model wrote is there again after a reload, a stop, an error or a killed server."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.desk.conftest import Served, begin, has_value, stop, text_of, there_are, written
from tests.desk.test_faults import held_draft

MINE = "Nobody tends the lamp. It burns by itself."


def button(page: Any, name: str, **more: Any) -> Any:
    return page.get_by_role("button", name=name, **more)


def edit(page: Any, number: int, text: str = MINE) -> Any:
    """Type another text for a passage, and return its editor."""
    page.locator(f"article.passage[aria-label^='Passage {number}'] .prose").dblclick()
    area = page.get_by_label(f"Text of passage {number}")
    area.fill(text)
    return area


def waits(page: Any, number: int) -> None:
    """Wait until a passage's editor is open with the text that was typed, and says so."""
    area = page.get_by_label(f"Text of passage {number}")
    area.wait_for()
    has_value(area, MINE)
    page.get_by_text("It is not saved in the story yet").wait_for()


@pytest.mark.parametrize("fault", ["stop", "refuse", "kill"])
def test_an_edit_that_was_interrupted_is_offered_again(
    page: Any, open_page: Callable[..., Any], own_desk: Served, fault: str
) -> None:
    begin(page, own_desk.address, 2)
    flag = own_desk.home / ("refuse" if fault == "refuse" else "hold-memory")
    flag.touch()
    edit(page, 2)
    button(page, "Save", exact=True).click()
    if fault == "stop":
        page.get_by_text("Rewriting the memory").wait_for()
        page.keyboard.press("Escape")
    elif fault == "refuse":
        page.get_by_text("See Settings, Model and endpoint.").wait_for()
    else:
        page.get_by_text("Rewriting the memory").wait_for()
        own_desk.end(signal.SIGKILL)
        page.get_by_text("this page comes back by itself").wait_for()
        own_desk.start()
    waits(page, 2)
    # The server has it, not this browser.
    other = open_page()
    other.goto(page.url)
    waits(other, 2)
    flag.unlink()
    button(other, "Save", exact=True).click()
    other.locator("article.by-edited").wait_for()
    page.get_by_label("Text of passage 2").wait_for(state="detached")
    written(page, 2)
    assert text_of(page, 2) == MINE
    page.reload()
    written(page, 2)
    there_are(page.get_by_label("Text of passage 2"), 0)


def in_passage(page: Any, number: int) -> Any:
    """Return the editor of a passage's text in its place."""
    return page.locator("article").get_by_label(f"Text of passage {number}")


def save(page: Any, number: int, name: str) -> None:
    """Save the text of a passage, and wait until its request is answered."""
    with page.expect_response(lambda response: response.url.endswith("/passage")):
        button(page.locator(f"article.passage[aria-label^='Passage {number}']"), name, exact=True).click()


def test_every_edit_that_is_refused_stays(page: Any, open_page: Callable[..., Any], own_desk: Served) -> None:
    begin(page, own_desk.address, 2)
    refused = page.get_by_text("See Settings, Model and endpoint.")
    theirs = "The tide had come in by noon."
    (own_desk.home / "refuse").touch()
    edit(page, 1)
    # Twice the same text, then another passage's: each stands in its editor, and says so.
    for _ in range(2):
        save(page, 1, "Continue from here")
        refused.wait_for()
        waits(page, 1)
        # The next refusal is another one.
        button(page, "Dismiss").click()
    edit(page, 2, theirs)
    save(page, 2, "Save")
    for place in (page, open_page()):
        place.goto(page.url)
        has_value(in_passage(place, 1), MINE)
        has_value(in_passage(place, 2), theirs)
        there_are(place.get_by_text("It is not saved in the story yet"), 2)
        there_are(place.get_by_role("group", name="Not saved"), 2)
    # Once one is saved, the other one is still there.
    (own_desk.home / "refuse").unlink()
    save(page, 2, "Save")
    page.locator("article.by-edited").wait_for()
    written(page, 2)
    has_value(in_passage(page, 1), MINE)
    page.reload()
    has_value(in_passage(page, 1), MINE)
    there_are(in_passage(page, 2), 0)
    page.evaluate("() => localStorage.clear()")
    page.reload()
    waits(page, 1)
    button(page, "Forget this text").click()
    there_are(in_passage(page, 1), 0)
    there_are(place.get_by_label("Text of passage 1"), 0)
    there_are(place.get_by_role("group", name="Not saved"), 0)


def test_a_refused_edit_that_was_forgotten_can_be_taken_back_at_once(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    edit(page, 1)
    save(page, 1, "Save")
    waits(page, 1)
    view = re.compile(r"/api/stories/[^/?]+$")
    # Held until this is taken away.
    page.route(view, lambda route: None)
    with page.expect_request(view):
        button(page, "Forget this text").click()
    # Before the page has read that the server has forgotten it.
    button(page, "Take it back").click()
    has_value(in_passage(page, 1), MINE)
    with page.expect_response(view):
        page.unroute(view)
    # What was answered is drawn.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    has_value(in_passage(page, 1), MINE)
    page.reload()
    waits(page, 1)


def test_a_save_that_was_refused_makes_the_next_one_no_change_of_another(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    mine = edit(page, 1)
    typed_on = f"{MINE} So they say."

    def type_on(route: Any) -> None:
        mine.fill(typed_on)
        route.continue_()

    page.route("**/passage", type_on, times=1)
    save(page, 1, "Save")
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    has_value(mine, typed_on)
    page.route("**/passage", lambda route: route.fulfill(status=409, json={"error": "Not now."}), times=1)
    save(page, 1, "Save")
    page.get_by_text("Not now.").wait_for()
    # It stands as it was saved, and was changed by nobody.
    there_are(page.get_by_role("group", name="Changed meanwhile"), 0)
    save(page, 1, "Save")
    there_are(mine, 0)
    written(page, 1)
    assert text_of(page, 1) == typed_on


def test_two_texts_of_one_passage_that_are_refused_both_stay(
    page: Any, open_page: Callable[..., Any], own_desk: Served
) -> None:
    begin(page, own_desk.address)
    other, theirs = open_page(), "The tide had come in by noon."
    other.goto(page.url)
    written(other, 1)
    (own_desk.home / "refuse").touch()
    edit(page, 1)
    edit(other, 1, theirs)
    save(page, 1, "Save")
    waits(page, 1)
    other.get_by_role("group", name="Not saved").get_by_text(MINE).wait_for()
    save(other, 1, "Save")
    for place in (page, other):
        for text in (MINE, theirs):
            place.get_by_role("group", name="Not saved").get_by_text(text).wait_for()
    page.reload()
    for text in (MINE, theirs):
        page.get_by_role("group", name="Not saved").get_by_text(text).wait_for()


@pytest.mark.parametrize("field", ["passage", "memory"])
def test_who_saves_second_is_told_what_changed_meanwhile(
    page: Any, open_page: Callable[..., Any], desk: Served, field: str
) -> None:
    begin(page, desk.address)
    other, theirs = open_page(), "The tide had come in by noon."
    other.goto(page.url)
    written(other, 1)
    mine = opened(page, field)
    mine.fill(MINE)
    opened(other, field).fill(theirs)
    button(other.locator("article" if field == "passage" else ".memory"), "Save", exact=True).click()
    told = page.get_by_role("group", name="Changed meanwhile")
    told.get_by_text(theirs).wait_for()
    has_value(mine, MINE)
    place = page.locator("article" if field == "passage" else ".memory")
    assert button(place, "Save", exact=True).is_disabled()
    button(told, "Go on with mine").click()
    there_are(told, 0)
    button(place, "Save", exact=True).click()
    there_are(mine, 0)
    place.get_by_text("Nobody tends the lamp").first.wait_for()
    # What was taken the place of is one step back.
    written(page, 1)
    page.keyboard.press("z")
    place.get_by_text(theirs).first.wait_for()


def test_an_open_edit_stays_with_its_take(page: Any, open_page: Callable[..., Any], own_desk: Served) -> None:
    begin(page, own_desk.address, 2)
    first = text_of(page, 2)
    page.keyboard.press("a")
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=first)
    page.locator(".stop").wait_for(state="detached")
    written(page, 2)
    second = text_of(page, 2)
    edit(page, 2)
    other = open_page()
    other.goto(page.url)
    written(other, 2)
    other.locator(".takes button:enabled").click()
    page.get_by_text(first).wait_for()
    in_its_place = page.locator("article").get_by_label("Text of passage 2")
    there_are(in_its_place, 0)
    page.get_by_text("Your text of passage 2 has left the page").wait_for()
    has_value(page.get_by_label("Your text of passage 2"), MINE)
    button(page, "Go on with it").click()
    has_value(in_its_place, MINE)
    button(page, "Forget this text").click()
    page.get_by_text(second).wait_for()


def test_an_open_edit_stays_when_its_writer_looks_elsewhere(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    page.get_by_label("How many passages").fill("24")
    button(page, "Let it write").click()
    written(page, 25)
    page.reload()
    # The reload has kept the reading place, far above; whoever scrolls leaves it.
    page.get_by_role("article").locator("p").first.wait_for()
    page.locator(".manuscript").hover()
    page.mouse.wheel(0, 1_000_000)
    page.get_by_role("article", name="Passage 25", exact=True).locator("p").first.wait_for()
    area = edit(page, 25)
    page.locator(".manuscript").evaluate("element => element.scrollTo(0, 0)")
    page.get_by_role("article", name="Passage 1", exact=True).locator("p").first.wait_for()
    has_value(area, MINE)
    page.keyboard.type("More.")
    assert "More." in area.input_value()


FIELDS = ("premise", "own plan", "plan", "passage", "memory", "long-term entry")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("way", ["reload", "elsewhere"])
def test_what_was_typed_is_there_again(page: Any, desk: Served, field: str, way: str) -> None:
    if field == "premise":
        page.goto(desk.address)
    else:
        begin(page, desk.address)
    area = opened(page, field)
    area.fill(MINE)
    if way == "reload":
        page.reload()
    else:
        home = page.url
        page.goto(f"{desk.address}#/{'story/nothing' if field == 'premise' else ''}")
        page.get_by_role("heading", name="Not here" if field == "premise" else "The writing desk").wait_for()
        page.goto(home)
    area.wait_for()
    has_value(area, MINE)
    page.locator(".kept").wait_for()


def opened(page: Any, field: str) -> Any:
    """Open the editor of a field, and return it."""
    match field:
        case "premise":
            return page.get_by_label("What is it about?")
        case "own plan":
            page.keyboard.press("w")
            return page.get_by_label("Your plan for the next passage")
        case "plan":
            page.keyboard.press("e")
            return page.get_by_label("Plan 1", exact=True)
        case "passage":
            return edit(page, 1)
        case "memory":
            page.locator(".memory").get_by_role("button", name="Edit").click()
            return page.get_by_label("Short-term memory")
    menu = button(page, "Passage 1: what can be done")
    if menu.get_attribute("aria-expanded") == "false":
        menu.click()
    button(page, "Long-term entry").click()
    return page.get_by_label("What the long-term memory holds of passage 1")


def test_a_text_left_by_escape_is_offered_again(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edit(page, 1)
    page.keyboard.press("Escape")
    page.get_by_text("Your text of passage 1 is not saved").wait_for()
    button(page, "Go on with it").click()
    waits(page, 1)
    button(page, "Forget this text").click()
    page.reload()
    written(page, 1)
    there_are(page.locator(".kept"), 0)
    there_are(page.get_by_text("is not saved"), 0)


def test_a_memory_edit_outlives_the_next_passage(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    opened(page, "memory").fill(MINE)
    page.locator(".plans .card").first.click()
    written(page, 2)
    page.get_by_text("Your memory after passage 1 is not saved").wait_for()
    button(page, "Go on with it").click()
    page.get_by_role("heading", name="Memory after passage 1").wait_for()
    has_value(page.get_by_label("Short-term memory"), MINE)


def test_a_passage_edit_outlives_undo(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    edit(page, 2)
    button(page, "Undo").click()
    written(page, 1)
    button(page, "Go on with it").click()
    waits(page, 2)
    written(page, 2)


def test_a_text_is_forgotten_once_it_is_stored(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edit(page, 1)
    button(page, "Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    # The page hears of the edit before it hears that its request was taken.
    page.wait_for_function("() => !Object.keys(localStorage).some(key => key.startsWith('desk.draft'))")


def test_words_of_an_interruption_are_laid_aside_and_kept(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    draft = held_draft(page, own_desk)
    (own_desk.home / "refuse").touch()
    stop(page, page.get_by_role("button", name="Stop Esc", exact=True))
    own_desk.hold.unlink()
    page.get_by_text("was interrupted").wait_for()
    (own_desk.home / "refuse").unlink()
    page.locator(".plans .card").nth(1).click()
    written(page, 2)
    other = text_of(page, 2)
    page.reload()
    page.get_by_text("of an interrupted passage 2 were laid aside").wait_for()
    button(page, "Make a take of them").click()
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=other)
    page.locator(".stop").wait_for(state="detached")
    written(page, 2)
    assert text_of(page, 2).split()[:20] == draft.removeprefix("2").split()[:20]
    there_are(page.get_by_text("were laid aside"), 0)
    there_are(page.locator(".takes button"), 2)


def test_a_text_that_looks_like_a_script_is_only_text(page: Any, desk: Served, tmp_path: Path) -> None:
    begin(page, desk.address)
    hostile = '"}<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>'
    edit(page, 1, hostile)
    page.keyboard.press("Escape")
    page.get_by_text("<script>").first.wait_for()
    page.reload()
    area = page.get_by_label("Text of passage 1")
    area.wait_for()
    has_value(area, hostile)
    assert page.evaluate("window.hacked") is None


def test_two_tabs_with_the_same_editor_keep_what_was_typed_in_each(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    other = page.context.new_page()
    other.goto(page.url)
    written(other, 1)
    mine, theirs = opened(page, "own plan"), opened(other, "own plan")
    mine.fill(MINE)
    theirs.fill("The rain stops.")
    theirs.press("End")
    has_value(mine, MINE)
    has_value(theirs, "The rain stops.")


def test_what_was_typed_in_a_tab_that_is_gone_is_offered_beside_the_text_of_another(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    gone = page.context.new_page()
    gone.goto(page.url)
    written(gone, 1)
    theirs, mine = opened(gone, "own plan"), opened(page, "own plan")
    theirs.fill(MINE)
    mine.fill("The rain stops.")
    gone.wait_for_function("() => Object.values(localStorage).filter((value) => value.includes('base')).length > 1")
    gone.close()
    page.reload()
    has_value(mine, "The rain stops.")
    page.get_by_text(MINE).wait_for()
    button(page, "Go on with it").click()
    has_value(mine, MINE)
    page.get_by_role("group", name="Not saved").get_by_text("The rain stops.").wait_for()
    page.reload()
    has_value(mine, MINE)
    page.get_by_role("group", name="Not saved").get_by_text("The rain stops.").wait_for()
    button(page, "Forget it").click()
    there_are(page.get_by_role("group", name="Not saved"), 0)
    has_value(mine, MINE)


def test_the_premise_stands_above_the_first_words_and_moves_nothing(page: Any, own_desk: Served) -> None:
    own_desk.hold.touch()
    page.goto(own_desk.address)
    page.get_by_label("What is it about?").fill("Mira tends a lamp.")
    button(page, "Begin").click()
    page.locator("article.draft").wait_for()
    assert page.locator(".opening .premise").inner_text() == "Mira tends a lamp."
    own_desk.hold.unlink()
    written(page, 1)


def test_settings_that_were_refused_or_left_are_found_again(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    refusal = {"error": "The disk is full."}
    page.route(
        "**/settings",
        lambda route: route.fulfill(status=507, json=refusal) if route.request.method == "PUT" else route.continue_(),
    )
    button(page, "Settings", exact=True).click()
    dialog, premise = page.get_by_role("dialog"), page.get_by_role("textbox", name="Premise", exact=True)
    premise.fill(MINE)
    dialog.get_by_label("Style").fill("dry")
    button(dialog, "Save").click()
    dialog.get_by_role("alert").wait_for()
    page.keyboard.press("Escape")
    own_desk.hold.unlink()
    written(page, 2)
    page.unroute("**/settings")
    page.reload()
    written(page, 2)
    button(page, "Settings").click()
    has_value(premise, MINE)
    has_value(dialog.get_by_label("Style"), "dry")
    button(dialog, "Save").click()
    there_are(dialog, 0)
    button(page, "Settings").click()
    dialog.get_by_label("Style").wait_for()
    has_value(premise, MINE)
    there_are(dialog.get_by_text("not saved yet"), 0)


COMES_TO_DISK = """text => new Promise((done) => {
    const request = indexedDB.open("desk.texts");
    const look = () => {
        const all = request.result.transaction("texts").objectStore("texts").getAll();
        all.onsuccess = () => (all.result.some((kept) => kept.includes(text)) ? done() : requestAnimationFrame(look));
    };
    request.onsuccess = look;
})"""
"""Look until a text is in what outlives the browser."""


def kill(profile: Path) -> None:
    """Kill the browser of a profile, as a lack of memory would."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            options = (process / "cmdline").read_bytes().split(b"\0")
            # Those that serve its pages go with it.
            if f"--user-data-dir={profile}".encode() in options and not any(o.startswith(b"--type=") for o in options):
                os.kill(int(process.name), signal.SIGKILL)


def test_what_was_typed_outlives_a_browser_that_dies(browser: Any, own_desk: Served, tmp_path: Path) -> None:
    profile, plan = tmp_path / "profile", "Harriet finds the lamp unlit, and nobody on the rock."
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))

    def opened_browser() -> tuple[Any, Any]:
        context = browser.browser_type.launch_persistent_context(
            profile, executable_path=path, args=["--no-sandbox"], reduced_motion="reduce"
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        return context, page

    context, page = opened_browser()
    begin(page, own_desk.address)
    story = page.url
    opened(page, "memory").fill("Nobody tends the lamp.")
    page.locator(".memory").get_by_role("button", name="Save").click()
    there_are(page.get_by_label("Short-term memory"), 0)
    opened(page, "own plan").press_sequentially(plan)
    edit(page, 1)
    for text in (MINE, plan):
        page.evaluate(COMES_TO_DISK, text)
    kill(profile)
    with suppress(Exception):
        context.close()
    context, page = opened_browser()
    page.goto(story)
    has_value(in_passage(page, 1), MINE)
    has_value(page.get_by_label("Your plan for the next passage"), plan)
    # What was stored before is not typed once more.
    there_are(page.get_by_label("Short-term memory"), 0)
    # What is thrown away now is not there again.
    button(page, "Forget this text").click()
    there_are(in_passage(page, 1), 0)
    page.reload()
    has_value(page.get_by_label("Your plan for the next passage"), plan)
    there_are(in_passage(page, 1), 0)
    context.close()


SLOW_DISK = """() => {
    const open = indexedDB.open.bind(indexedDB);
    indexedDB.open = (...what) => {
        const request = open(...what);
        const slow = { get result() { return request.result; } };
        request.onupgradeneeded = () => slow.onupgradeneeded?.();
        request.onsuccess = () => {
            window.diskAnswers = () => {
                indexedDB.open = open;
                slow.onsuccess();
            };
        };
        return slow;
    };
}"""
"""Let a page's own texts be read from the disk only when the test says so."""


def test_what_comes_late_from_a_slow_disk_stands_beside_what_is_typed_meanwhile(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    before, since = "Harriet finds the lamp unlit.", "Harriet rows home in the dark."
    opened(page, "own plan").fill(before)
    edit(page, 1)
    for text in (MINE, before):
        page.evaluate(COMES_TO_DISK, text)
    # As after a browser died: localStorage was not written down.
    page.evaluate("() => localStorage.clear()")
    page.add_init_script(f"({SLOW_DISK})()")
    page.reload()
    written(page, 1)
    opened(page, "own plan").fill(since)
    page.evaluate("() => window.diskAnswers()")
    has_value(in_passage(page, 1), MINE)
    offered = page.locator("aside").get_by_role("group", name="Not saved")
    offered.get_by_text(before).wait_for()
    has_value(page.get_by_label("Your plan for the next passage"), since)
    page.evaluate(COMES_TO_DISK, since)
    # It is on the disk, too, under a name of its own.
    page.evaluate("() => localStorage.clear()")
    page.reload()
    written(page, 1)
    page.evaluate("() => window.diskAnswers()")
    has_value(in_passage(page, 1), MINE)
    offered.get_by_text(before).wait_for()


FAILS_ONCE = """text => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (value, ...name) {
        if (String(value).includes(text)) {
            IDBObjectStore.prototype.put = put;
            queueMicrotask(() => this.transaction.abort());
        }
        return put.call(this, value, ...name);
    };
}"""
"""Let the next write of a text to the disk fail."""


def test_a_text_whose_write_to_the_disk_failed_is_written_again(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.evaluate(FAILS_ONCE, MINE)
    opened(page, "own plan").fill(MINE)
    page.evaluate(COMES_TO_DISK, MINE)
    assert "abort" not in page.evaluate("() => IDBObjectStore.prototype.put.toString()"), "it failed once"
