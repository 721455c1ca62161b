"""Other words for a selection: asked for, shown beside the text, taken or left, and never lost or unpaid."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from recurrentgpt.desk.backend.story_jobs import MOST_SUGGESTIONS
from recurrentgpt.schema.errors import ModelRefused, StorageError
from tests.desk.conftest import Client, Served, at_rest, begin, text_of, there_are, written

SELECT = """([number, from, to]) => {
    const text = document.querySelectorAll('article.passage > .prose')[number - 1].querySelector('p').firstChild;
    getSelection().setBaseAndExtent(text, from, text, to);
}"""


def suggestion_of(client: Client, story: str) -> dict[str, Any] | None:
    client.wait(story)
    waiting: list[dict[str, Any]] = client.jobs(story).state.suggestions
    return waiting[-1] if waiting else None


def ask(client: Client, view: dict[str, Any], start: int = 0, end: int = 12, how: str = "shorten") -> Any:
    story = view["id"]
    client.send("POST", f"/stories/{story}/suggestion", {"at": view["head"], "start": start, "end": end, "how": how})
    return suggestion_of(client, story)


def test_a_suggestion_is_compared_word_by_word_and_changes_nothing(client: Client) -> None:
    view = client.begin()
    (text,) = client.texts(view)
    end = text.index(".")
    client.model.replies = lambda messages: text[:end].replace(" ", " quite ", 1)
    found = ask(client, view, 0, end)
    assert found["text"] == text[:end].replace(" ", " quite ", 1)
    assert [(one["kind"], one["after"]) for one in found["changes"] if one["kind"] != "same"] == [("added", "quite ")]
    assert "".join(one["before"] for one in found["changes"]) == text[:end]
    after = client.wait(view["id"])
    assert client.texts(after) == [text]
    assert after["path"] == view["path"]


def test_its_tokens_are_in_the_ledger_of_the_story_and_of_no_branch(client: Client) -> None:
    view = client.begin()
    before = client.get(f"/stories/{view['id']}/usage")
    found = ask(client, view)
    after = client.get(f"/stories/{view['id']}/usage")
    assert after["in_all"]["calls"] == before["in_all"]["calls"] + 1
    assert after["in_all"]["output_tokens"] > before["in_all"]["output_tokens"]
    assert after["calls"] == before["calls"]
    client.send("DELETE", f"/stories/{view['id']}/suggestion?key={found['key']}")
    assert suggestion_of(client, view["id"]) is None
    assert client.get(f"/stories/{view['id']}/usage") == after


def test_a_model_that_fails_is_told_of_beside_the_selection(client: Client) -> None:
    view, works = client.begin(), client.model.replies

    def refuse(messages: list[Any]) -> str:
        raise ModelRefused("The server refused the request with status 401: check OPENAI_API_KEY.")

    client.model.replies = refuse
    found = ask(client, view)
    assert (found["text"], "Model and endpoint" in found["error"]) == ("", True)
    assert client.jobs(view["id"]).state.error == ""
    client.model.replies = works
    again = ask(client, view)
    assert (bool(again["text"]), again["error"], again["take"]) == (True, "", 1)


def test_the_budget_holds_for_it_too(client: Client) -> None:
    view = client.begin()
    client.send("PUT", f"/stories/{view['id']}/settings", {"values": {"budget": 10}})
    calls = len(client.model.calls)
    assert "budget" in ask(client, view)["error"]
    assert len(client.model.calls) == calls


def test_a_part_that_is_none_is_told_of(client: Client) -> None:
    view = client.begin()
    assert "Nothing is selected" in ask(client, view, 0, 100_000)["error"]
    for start, end in ((5, 5), (9, 2)):
        body = {"at": view["head"], "start": start, "end": end, "how": "shorten"}
        status, why = client.refused("POST", f"/stories/{view['id']}/suggestion", body)
        assert (status, "Nothing is selected" in why) == (422, True)


def test_a_suggestion_waits_while_the_story_goes_on_and_is_edited_until_it_is_taken(client: Client) -> None:
    view = client.begin()
    found = ask(client, view)
    client.write(view["id"], number=1)
    assert suggestion_of(client, view["id"]) == found
    edit = {"at": view["head"], "text": "Nobody tends the lamp."}
    client.send("POST", f"/stories/{view['id']}/passage", edit)
    assert suggestion_of(client, view["id"]) == found
    client.send("POST", f"/stories/{view['id']}/passage", {**edit, "text": "She sleeps.", "takes": found["key"]})
    assert suggestion_of(client, view["id"]) is None


def test_no_more_suggestions_are_made_than_can_wait_and_none_is_lost(client: Client) -> None:
    view = client.begin()
    made = [ask(client, view, 0, end)["key"] for end in range(1, MOST_SUGGESTIONS + 1)]
    path, calls = f"/stories/{view['id']}/suggestion", len(client.model.calls)
    another = {"at": view["head"], "start": 0, "end": 30, "how": "shorten"}
    status, why = client.refused("POST", path, another)
    assert (status, "take or leave some of them first" in why) == (422, True)
    assert len(client.model.calls) == calls
    # Others in the place of one that waits are none more.
    client.send("POST", path, {**another, "end": 1, "key": made[0]})
    client.wait(view["id"])
    suggestions = client.jobs(view["id"]).state.suggestions
    assert [one["key"] for one in suggestions] == made
    assert suggestions[0]["take"] == 1
    client.send("DELETE", f"{path}?key={made[1]}")
    assert ask(client, view, 0, 30)["text"]


def test_the_events_that_are_kept_share_what_is_suggested(client: Client) -> None:
    view = client.begin()
    found, jobs = ask(client, view), client.jobs(view["id"])
    for note in ("One.", "Two."):
        client.http.portal.call(lambda note=note: jobs.update(note=note))
    one, two = (event for _, event in list(jobs._events)[-2:])
    assert (one["note"], two["note"]) == ("One.", "Two.")
    assert one["suggestions"] is two["suggestions"]
    assert one["suggestions"] == [found]
    client.send("DELETE", f"/stories/{view['id']}/suggestion?key={found['key']}")
    assert one["suggestions"] == [found]


def test_a_full_disk_lets_go_of_no_suggestion(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    view = client.begin()
    path, keys = f"/stories/{view['id']}", [ask(client, view, 0, end)["key"] for end in (5, 12, 20)]

    def full(*written: object) -> None:
        raise StorageError("There is no room on the disk.")

    with monkeypatch.context() as patch:
        patch.setattr(client.jobs(view["id"]).disk, "write", full)
        assert "no room" in client.refused("DELETE", f"{path}/suggestion", key=keys[1])[1]
        edit = {"at": view["head"], "text": "She sleeps.", "takes": keys[1]}
        assert "no room" in client.refused("POST", f"{path}/passage", edit)[1]
        state = client.jobs(view["id"]).state
        assert [one["key"] for one in state.suggestions] == keys
        last = ask(client, view, 0, 30)
        assert (bool(last["text"]), "no room" in client.jobs(view["id"]).state.note) == (True, True)
    client.send("POST", f"{path}/passage", edit)
    client.wait(view["id"])
    assert [one["key"] for one in client.jobs(view["id"]).state.suggestions] == [keys[0], keys[2], last["key"]]


def select(page: Any, number: int, start: int, end: int) -> Any:
    """Select characters of a passage's first paragraph, and return the toolbar."""
    page.locator("article.passage > .prose").nth(number - 1).locator("p").first.wait_for()
    page.evaluate(SELECT, [number, start, end])
    tools = page.get_by_role("group", name="Work on the selection")
    tools.wait_for()
    return tools


def suggested(page: Any) -> str:
    """Wait for a suggestion and return its words."""
    words = page.get_by_label("Suggested").locator(".selected")
    words.wait_for()
    shown: str = words.inner_text()
    return shown


def in_all(served: Served, page: Any) -> int:
    story = page.url.rpartition("/")[2]
    calls: int = httpx.get(f"{served.address}api/stories/{story}/usage", timeout=60).json()["in_all"]["calls"]
    return calls


def test_words_are_selected_with_the_mouse_and_taken(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    line = at_rest(page.locator("article.passage p").first)
    page.mouse.move(line["x"] + 150, line["y"] + 12)
    page.mouse.down()
    page.mouse.move(line["x"] + 300, line["y"] + 12, steps=4)
    page.mouse.up()
    chosen = page.evaluate("() => getSelection().toString()")
    before = text_of(page, 1)
    assert chosen.strip()
    page.get_by_role("group", name="Work on the selection").get_by_role("button", name="In other words").click()
    words = suggested(page)
    whole = page.get_by_label("As it is").locator(".selected").inner_text()
    assert chosen.strip() in whole
    assert re.search(rf"(?<!\w){re.escape(whole.strip())}(?!\w)", before), "no half of a word"
    assert text_of(page, 1) == before
    page.get_by_role("button", name="Take it").click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    shown = page.locator("article.passage .prose").inner_text()
    assert " ".join(shown.split()).startswith(" ".join((before.partition(whole.strip())[0] + words).split()))
    there_are(page.locator(".suggestion"), 0)


def test_a_suggestion_is_left_and_costs_its_tokens_only(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    before, calls = page.locator(".prose").inner_text(), in_all(desk, page)
    select(page, 1, 0, 20).get_by_role("button", name="Expand").click()
    suggested(page)
    with page.expect_response("**/suggestion"):
        page.get_by_role("button", name="Another", exact=True).click()
    page.locator(".stop").wait_for(state="detached")
    page.reload()
    suggested(page)
    page.get_by_role("button", name="Leave it").click()
    there_are(page.locator(".suggestion"), 0)
    assert page.locator(".prose").inner_text() == before
    assert in_all(desk, page) == calls + 2


@pytest.mark.parametrize("width", [1280, 390])
def test_what_stands_below_a_suggestion_stays_where_it_is_when_that_is_left(
    open_page: Callable[..., Any], desk: Served, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 420})
    begin(page, desk.address, 3)
    select(page, 1, 0, 200).get_by_role("button", name="Expand").click()
    suggested(page)
    page.locator(".stop").wait_for(state="detached")
    leave, after = page.get_by_role("button", name="Leave it"), page.locator("article.passage[aria-label^='Passage 2']")
    leave.evaluate("button => button.scrollIntoView({ block: 'center' })")
    assert page.locator(".suggestion").bounding_box()["y"] < -50
    before = at_rest(after)["y"]
    leave.click()
    there_are(page.locator(".suggestion"), 0)
    assert abs(at_rest(after)["y"] - before) <= 1


def test_the_later_passages_stay_when_words_are_taken(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    second = text_of(page, 2)
    select(page, 1, 0, 20).get_by_role("button", name="Describe").click()
    suggested(page)
    page.get_by_role("button", name="Take it and keep the 1 later passage").click()
    page.locator("article.by-edited").wait_for()
    page.locator(".stop").wait_for(state="detached")
    written(page, 2)
    assert text_of(page, 2) == second


def test_the_story_goes_on_from_where_a_selection_ends(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    first, second = text_of(page, 1), text_of(page, 2)
    middle = first.index(".")
    # The mark that ends the sentence comes with its last word, of which half is enough.
    select(page, 1, 0, middle - 1).get_by_role("button", name="Continue from here").click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    there_are(page.locator("article.passage"), 1)
    assert page.locator("article.passage .prose").inner_text().strip() == first[: middle + 1].strip()
    page.keyboard.press("1")
    written(page, 2)
    assert text_of(page, 1) == first[: middle + 1]
    page.keyboard.press("z")
    there_are(page.locator("article.passage"), 1)
    written(page, 1)
    page.keyboard.press("z")
    page.get_by_text(second).wait_for()
    assert text_of(page, 1) == first


def edited(page: Any, text: str) -> None:
    """Put a text in the place of the first passage."""
    page.locator("article.passage .prose").dblclick()
    page.get_by_label("Text of passage 1").fill(text)
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)


SELECT_FROM_EMPHASIS = """([from, to]) => {
    const [inside, after] = [document.querySelector('.prose em').childNodes[1], document.querySelector('.prose em').nextSibling];
    getSelection().setBaseAndExtent(inside, from, to > 0 ? after : inside, Math.abs(to));
}"""


def test_a_selection_that_begins_inside_an_emphasis_has_all_of_it(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edited(page, "She was *very tired* and cold. Nobody came.")
    page.evaluate(SELECT_FROM_EMPHASIS, [5, len(" and cold")])
    page.get_by_role("group", name="Work on the selection").get_by_role("button", name="Rewrite").click()
    words = suggested(page)
    assert page.get_by_label("As it is").locator(".selected").inner_text() == "*very tired* and cold"
    page.get_by_role("button", name="Take it").click()
    there_are(page.locator(".suggestion"), 0)
    written(page, 1)
    shown = page.locator(".prose").text_content()
    assert "".join(shown.split()) == "".join(f"She was {words}. Nobody came.".split())


def test_the_story_goes_on_from_inside_an_emphasis_which_ends_there(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edited(page, "She was *very tired* and cold. Nobody came.")
    page.evaluate(SELECT_FROM_EMPHASIS, [0, -len("very")])
    page.get_by_role("group", name="Work on the selection").get_by_role("button", name="Continue from here").click()
    page.locator(".prose").get_by_text("tired").wait_for(state="detached")
    assert page.locator(".prose em").text_content() == "*very*"
    assert text_of(page, 1) == "She was *very*"


def test_a_quotation_that_is_not_selected_does_not_come_along(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    said = '"Go," he said. '
    edited(page, f'{said}"Stay," said Mira.')
    select(page, 1, 0, len(said)).get_by_role("button", name="Continue from here").click()
    page.locator(".prose").get_by_text("Stay").wait_for(state="detached")
    assert text_of(page, 1) == said.strip()


def test_from_the_end_of_a_passage_the_story_goes_on_without_a_change(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    end = "() => document.querySelector('article.passage > .prose').querySelectorAll('p')"
    page.evaluate(f"() => getSelection().selectAllChildren([...({end})()].at(-1))")
    tools = page.get_by_role("group", name="Work on the selection")
    calls = in_all(desk, page)
    tools.get_by_role("button", name="Continue from here").click()
    there_are(page.locator("article.passage"), 1)
    there_are(page.locator("article.by-edited"), 0)
    assert in_all(desk, page) == calls
    page.evaluate(f"() => getSelection().selectAllChildren([...({end})()].at(-1))")
    tools.wait_for()
    assert tools.get_by_role("button", name="Continue from here").is_disabled(), "it goes on from there anyway"


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_toolbar_lies_over_nothing_of_the_next_passage(
    open_page: Callable[..., Any], desk: Served, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 860})
    begin(page, desk.address, 2)
    page.evaluate(
        "() => getSelection().selectAllChildren(document.querySelector('article.passage > .prose > p:last-child'))"
    )
    tools = page.get_by_role("group", name="Work on the selection")
    tools.wait_for()
    # At once, for a page that opens may still scroll.
    left, right, bottom, following = page.evaluate(
        """() => {
            const tools = document.querySelector('.selection').getBoundingClientRect();
            const following = document.querySelectorAll('article.passage')[1].getBoundingClientRect();
            return [tools.left, tools.right, tools.bottom, following.top];
        }"""
    )
    assert bottom <= following
    assert 0 <= left < right <= width


def test_a_wrong_key_is_told_of_beside_the_selection_and_a_stop_leaves_nothing(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    before = page.locator(".prose").inner_text()
    refuse = own_desk.home / "refuse"
    refuse.touch()
    select(page, 1, 0, 20).get_by_role("button", name="Rewrite").click()
    page.locator("article .suggestion [role=alert]").get_by_text("status 401").wait_for()
    there_are(page.locator("[role=alert]"), 1)
    refuse.unlink()
    own_desk.hold.touch()
    page.get_by_role("button", name="Try again").click()
    page.locator(".stop").wait_for()
    page.keyboard.press("Escape")
    there_are(page.locator(".stop"), 0)
    there_are(page.locator(".suggestion"), 0)
    own_desk.hold.unlink()
    assert page.locator(".prose").inner_text() == before


def test_a_selection_is_worked_on_by_keyboard(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.get_by_role("button", name="Passage 1: what can be done").press("Enter")
    page.get_by_role("button", name="Select text").press("Enter")
    tools = page.get_by_role("group", name="Work on the selection")
    tools.wait_for()
    selected = "() => getSelection().toString().length"
    whole = page.evaluate(selected)
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_function("whole => getSelection().toString().length < whole", arg=whole)
    for _ in range(9):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "Shorten":
            break
    page.keyboard.press("Enter")
    suggested(page)
    page.wait_for_function("() => document.activeElement?.classList.contains('suggestion')")
    # Until the work has ended its buttons take no focus.
    page.locator(".suggestion button:enabled", has_text="Take it").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("article.by-edited").wait_for()
    written(page, 1)


def test_what_reaches_beyond_one_passage_is_offered_nothing(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    select(page, 1, 0, 20)
    page.evaluate(
        """() => {
            const [one, two] = document.querySelectorAll('article.passage > .prose');
            getSelection().setBaseAndExtent(one.querySelector('p').firstChild, 3, two.querySelector('p').firstChild, 3);
        }"""
    )
    there_are(page.locator(".selection"), 0)


def test_places_are_counted_in_letters_and_marks_of_a_page_are_text(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.locator("article.passage .prose").dblclick()
    text = "\U0001f30a <b>Mira</b> slept.\n\nNobody came & nobody left."
    page.get_by_label("Text of passage 1").fill(text)
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    page.evaluate(
        """() => {
            const text = document.querySelectorAll('article.passage > .prose p')[1].firstChild;
            getSelection().setBaseAndExtent(text, 12, text, 20);
        }"""
    )
    page.get_by_role("button", name="Expand").click()
    suggested(page)
    assert page.get_by_label("As it is").locator(".selected").inner_text() == "& nobody"
    there_are(page.locator(".prose b"), 0)


LAMP = "She was tired. The lamp burned all night. Nobody came."
TIRED, NOBODY = (0, len("She was tired")), (LAMP.index("Nobody"), LAMP.index("Nobody") + len("Nobody came"))
GONE = "It can be taken no more"


def ask_for(page: Any, part: tuple[int, int], how: str = "Rewrite") -> str:
    """Have other words suggested for a part of the first passage, and return them once nothing is at work."""
    before = page.locator(".suggestion").count()
    select(page, 1, *part).get_by_role("button", name=how).click()
    there_are(page.get_by_label("Suggested"), before + 1)
    page.locator(".stop").wait_for(state="detached")
    shown: str = page.get_by_label("Suggested").last.locator(".selected").inner_text()
    return shown


def in_another_window(page: Any, open_page: Callable[..., Any]) -> Any:
    other = open_page()
    other.goto(page.url)
    written(other, 1)
    return other


def has_text(page: Any, text: str) -> None:
    """Wait until the first passage reads so; between two paragraphs the page has no space."""
    page.wait_for_function(
        "text => document.querySelector('article.passage > .prose')?.textContent.replace(/\\s+/g, '') === text",
        arg="".join(text.split()),
    )


def replace_all(page: Any, old: str, new: str) -> None:
    page.keyboard.press("/")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Words to find or replace").fill(old)
    dialog.get_by_label("Words in their place").fill(new)
    dialog.get_by_role("button", name="Replace all").click()
    dialog.get_by_text("Undo takes all of it back as one.").wait_for()
    page.keyboard.press("Escape")


def test_a_suggestion_waits_on_while_another_window_asks_for_one(
    page: Any, open_page: Callable[..., Any], desk: Served
) -> None:
    begin(page, desk.address)
    edited(page, LAMP)
    first = ask_for(page, TIRED)
    other = in_another_window(page, open_page)
    other.get_by_label("Suggested").get_by_text(first).wait_for()
    second = ask_for(other, NOBODY)
    for place in (page, other):
        there_are(place.locator(".suggestion"), 2)
        for words in (first, second):
            place.get_by_label("Suggested").get_by_text(words).wait_for()
    page.locator(".suggestion", has_text=second).get_by_role("button", name="Take it").click()
    there_are(other.locator(".suggestion"), 1)
    has_text(other, LAMP.replace("Nobody came", second))
    other.locator(".suggestion button:enabled", has_text="Take it").click()
    there_are(page.locator(".suggestion"), 0)
    has_text(page, LAMP.replace("Nobody came", second).replace("She was tired", first))


def test_another_suggestion_takes_the_place_of_its_own_and_one_is_left_by_itself(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edited(page, LAMP)
    first, second = ask_for(page, TIRED), ask_for(page, NOBODY)
    page.locator(".suggestion", has_text=first).get_by_role("button", name="Another", exact=True).click()
    page.get_by_label("Suggested").get_by_text(first).wait_for(state="detached")
    page.locator(".stop").wait_for(state="detached")
    there_are(page.get_by_label("Suggested"), 2)
    page.locator(".suggestion", has_text=second).get_by_role("button", name="Leave it").click()
    there_are(page.get_by_label("Suggested"), 1)
    there_are(page.get_by_label("Suggested").get_by_text(second), 0)


def test_a_suggestion_stays_while_another_in_its_place_is_stopped_or_fails(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    words = ask_for(page, (0, 20))
    own_desk.hold.with_name("refuse").touch()
    page.get_by_role("button", name="Another", exact=True).click()
    page.locator(".suggestion [role=alert]").get_by_text("status 401").wait_for()
    own_desk.hold.with_name("refuse").unlink()
    own_desk.hold.touch()
    page.get_by_role("button", name="Try again").click()
    page.locator(".suggestion").get_by_role("button", name="Stop").click()
    page.locator(".stop").wait_for(state="detached")
    page.get_by_label("Suggested").get_by_text(words).wait_for()
    page.get_by_role("button", name="Leave it").click()
    there_are(page.locator(".suggestion"), 0)


def test_words_that_are_replaced_elsewhere_leave_a_suggestion_to_be_taken(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edited(page, LAMP)
    words = ask_for(page, NOBODY)
    replace_all(page, "lamp", "old lantern")
    has_text(page, LAMP.replace("lamp", "old lantern"))
    page.locator(".suggestion button:enabled", has_text="Take it").click()
    there_are(page.locator(".suggestion"), 0)
    has_text(page, LAMP.replace("lamp", "old lantern").replace("Nobody came", words))


def test_a_suggestion_that_fits_no_more_says_so_and_fits_again_when_that_is_undone(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edited(page, LAMP)
    words = ask_for(page, NOBODY)
    replace_all(page, "Nobody", "Somebody")
    page.locator(".suggestion").get_by_text(GONE).wait_for()
    page.get_by_label("Suggested").get_by_text(words).wait_for()
    there_are(page.locator(".suggestion").get_by_role("button"), 1)
    page.keyboard.press("z")
    page.locator(".suggestion button:enabled", has_text="Take it").wait_for()
    there_are(page.get_by_text(GONE), 0)
    replace_all(page, "Nobody", "Somebody")
    page.locator(".suggestion").get_by_text(GONE).wait_for()
    page.get_by_role("button", name="Leave it").click()
    there_are(page.locator(".suggestion"), 0)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (f"It rained. {LAMP}", True),
        (f"It rained. {LAMP} Somebody called.", True),
        (LAMP.replace("Nobody came", "Nobody had come"), False),
    ],
)
def test_a_passage_that_is_edited_in_another_window_keeps_what_fits_it(
    page: Any, open_page: Callable[..., Any], desk: Served, text: str, fits: bool
) -> None:
    begin(page, desk.address)
    edited(page, LAMP)
    words = ask_for(page, NOBODY)
    other = in_another_window(page, open_page)
    edited(other, text)
    has_text(page, text)
    if fits:
        page.locator(".suggestion button:enabled", has_text="Take it").click()
        has_text(page, text.replace("Nobody came", words, 1))
    else:
        page.locator(".suggestion").get_by_text(GONE).wait_for()
        there_are(page.get_by_role("button", name="Take it"), 0)


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        ("She stood by the light. Nobody came.", "light", "She stood by the lighthouse. Nobody came."),
        ("She met Ann. Nobody came.", "met Ann", "She met Anna. Nobody came."),
        ("light fell on the sea.", "light", "Moonlight fell on the sea."),
        ("The lamp burned. The lamp fell.", "The lamp", "It rained. The lamp burned. The lamp fell. Ann came."),
    ],
)
def test_what_a_suggestion_was_for_is_neither_half_a_word_nor_a_guess(
    page: Any, desk: Served, before: str, words: str, after: str
) -> None:
    begin(page, desk.address)
    edited(page, before)
    suggested_for(page, before, words)
    edited(page, after)
    has_text(page, after)
    page.locator(".suggestion").get_by_text(GONE).wait_for()
    there_are(page.get_by_role("button", name="Take it"), 0)


THIRD = "article.passage[aria-label^='Passage 3']"
READS = f"""() => [document.querySelector("{THIRD}").getBoundingClientRect().top, document.activeElement.className]"""


@pytest.mark.parametrize("loads", [False, True], ids=["it is asked for elsewhere", "the page is loaded"])
def test_a_suggestion_fetches_nobody_who_reads_elsewhere(
    page: Any, open_page: Callable[..., Any], desk: Served, loads: bool
) -> None:
    begin(page, desk.address, 3)
    if loads:
        ask_for(page, (0, 20))
    reader = open_page(viewport={"width": 1280, "height": 420})
    reader.goto(page.url)
    written(reader, 3)
    if loads:
        reader.get_by_label("Suggested").wait_for(state="attached")
    third = reader.locator(THIRD)
    at_rest(third)
    third.evaluate("element => element.scrollIntoView({ block: 'start' })")
    at_rest(third)
    place, _ = reader.evaluate(READS)
    if loads:
        reader.reload()
    else:
        ask_for(page, (0, 20))
    reader.get_by_label("Suggested").wait_for(state="attached")
    at_rest(third)
    there, focused = reader.evaluate(READS)
    assert abs(there - place) <= 1
    assert "suggestion" not in focused


def suggested_for(page: Any, text: str, words: str) -> str:
    """Have other words suggested for the last of these in the first passage."""
    start = text.rindex(words)
    return ask_for(page, (start, start + len(words)))


def test_a_suggestion_outlives_a_server_that_is_killed(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    edited(page, LAMP)
    first, second = ask_for(page, TIRED), ask_for(page, NOBODY)
    # Once that is answered, it is on the disk.
    with page.expect_response("**/suggestion?key=*"):
        page.locator(".suggestion", has_text=first).get_by_role("button", name="Leave it").click()
    own_desk.end(signal.SIGKILL)
    own_desk.start()
    page.reload()
    assert suggested(page) == second
    page.locator(".suggestion button:enabled", has_text="Take it").click()
    has_text(page, LAMP.replace("Nobody came", second))
    there_are(page.locator(".suggestion"), 0)
