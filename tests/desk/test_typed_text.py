"""Ways to lose what was typed, tried one by one: none does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.desk.conftest import Served, begin, dialogs_closed, has_value, there_are, written
from tests.desk.test_drafts import MINE, button, edit, opened, waits
from tests.desk.test_faults import held_draft
from tests.desk.test_typing_on import commands


@pytest.mark.parametrize("field", ["passage", "own plan", "memory"])
def test_what_was_cancelled_can_be_taken_back(page: Any, desk: Served, field: str) -> None:
    begin(page, desk.address)
    opened(page, field).fill(MINE)
    button(page, "Cancel").click()
    thrown = page.get_by_role("group", name="Thrown away")
    thrown.wait_for()
    page.reload()
    thrown.get_by_role("button", name="Take it back").click()
    label = {"passage": "Text of passage 1", "own plan": "Your plan for the next", "memory": "Short-term memory"}[field]
    has_value(page.get_by_label(label), MINE)
    there_are(thrown, 0)


def test_the_title_and_the_name_of_a_branch_outlive_a_reload(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.get_by_title("Rename").click()
    page.get_by_label("Title", exact=True).fill("The Lamp")
    page.reload()
    written(page, 1)
    has_value(page.get_by_label("Title", exact=True), "The Lamp")
    button(page, "Rename", exact=True).click()
    page.get_by_role("heading", name="The Lamp").wait_for()
    page.keyboard.press("m")
    page.get_by_label("Name of the branch").fill("darker")
    page.keyboard.press("Escape")
    dialogs_closed(page)
    page.reload()
    written(page, 1)
    page.keyboard.press("m")
    has_value(page.get_by_label("Name of the branch"), "darker")


def test_a_plan_that_failed_to_be_written_outlives_another_choice(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    opened(page, "own plan").fill(MINE)
    button(page, "Write from it").click()
    page.get_by_text("This plan is chosen and waits").wait_for()
    (own_desk.home / "refuse").unlink()
    page.locator(".plans .card").nth(1).click()
    written(page, 2)
    button(page, "Go on with it").click()
    has_value(page.get_by_label("Your plan for the next passage"), MINE)


def test_what_is_typed_while_it_writes_is_there_afterwards(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    page.keyboard.press("w")
    page.get_by_label("Your plan for the passage after it").fill(MINE)
    own_desk.hold.unlink()
    written(page, 2)
    has_value(page.get_by_label("Your plan for the next passage"), MINE)


def test_the_choices_of_a_new_story_outlive_a_reload(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_label("mystery").check(force=True)
    page.get_by_text("How it is told").click()
    page.get_by_role("textbox", name="Style").fill("dry")
    page.reload()
    page.get_by_text("How it is told").click()
    has_value(page.get_by_role("textbox", name="Style"), "dry")
    assert page.get_by_label("mystery").is_checked()


def test_a_text_outlives_a_save_that_fails_and_a_way_back(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.route("**/passage", lambda route: route.abort())
    edit(page, 1)
    button(page, "Save", exact=True).click()
    page.get_by_text("The desk does not answer").first.wait_for()
    page.get_by_role("link", name="Stories").click()
    page.get_by_role("heading", name="Your stories").wait_for()
    page.go_back()
    has_value(page.get_by_label("Text of passage 1"), MINE)


@contextmanager
def held(page: Any, address: str) -> Iterator[None]:
    """Hold what a page sends to an address until the block is left."""
    waiting: list[Any] = []
    page.route(address, lambda route: route.continue_() if route.request.method == "GET" else waiting.append(route))
    yield
    while not waiting:
        page.wait_for_timeout(20)
    waiting.pop().continue_()
    page.unroute(address)


@pytest.mark.parametrize("field", ["memory", "long-term entry"])
def test_what_is_typed_while_a_save_is_under_way_stays(page: Any, desk: Served, field: str) -> None:
    begin(page, desk.address)
    area = opened(page, field)
    area.fill(MINE)
    place = page.locator(".writing", has=area)
    with held(page, "**/memory" if field == "memory" else "**/summary"):
        place.get_by_role("button", name="Save").click()
        area.press("End")
        page.keyboard.type(" More.")
    page.wait_for_function(
        'mine => Object.values(localStorage).some(kept => kept.includes(`"base":"${mine}"`))', arg=MINE
    )
    has_value(area, f"{MINE} More.")
    place.get_by_role("button", name="Save").click()
    area.wait_for(state="detached")


def test_what_was_changed_since_is_saved_after_a_save_under_way(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    area = opened(page, "memory")
    area.fill(MINE)
    save = page.locator(".writing", has=area).get_by_role("button", name="Save")
    with held(page, "**/memory"):
        save.click()
        save.click()
        area.press("End")
        page.keyboard.type(" More.")
        save.click()
    area.wait_for(state="detached")
    page.locator(".memory .sentences").get_by_text("More.").wait_for()


def test_a_premise_that_is_typed_on_while_its_story_begins_is_not_lost(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    premise = page.get_by_label("What is it about?")
    premise.fill(MINE)
    with held(page, "**/stories"):
        button(page, "Begin").click()
        premise.fill(f"{MINE} More.")
    written(page, 1)
    page.get_by_role("link", name="Stories").click()
    has_value(premise, f"{MINE} More.")


def test_two_tabs_keep_the_premise_of_each(page: Any, desk: Served) -> None:
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(desk.address)
        tab.get_by_label("What is it about?").wait_for()
    premise = page.get_by_label("What is it about?")
    premise.fill(MINE)
    other.get_by_label("What is it about?").fill("The rain stops.")
    page.wait_for_function("() => Object.values(localStorage).some((kept) => kept.includes('The rain'))")
    page.wait_for_function("() => Object.values(localStorage).some((kept) => kept.includes('Nobody'))")
    has_value(premise, MINE)
    page.close()
    other.reload()
    left = other.get_by_role("group", name="Not saved")
    left.get_by_text(MINE).wait_for()
    left.get_by_role("button", name="Go on with it").click()
    has_value(other.get_by_label("What is it about?"), MINE)
    left.get_by_text("The rain stops.").wait_for()


def test_what_was_left_in_one_tab_outlives_the_editor_of_another(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    other = page.context.new_page()
    other.goto(page.url)
    written(other, 1)
    opened(page, "own plan").fill(MINE)
    page.keyboard.press("Escape")
    page.get_by_text("is not saved").wait_for()
    has_value(opened(other, "own plan"), MINE)
    button(other, "Cancel").click()
    other.get_by_role("group", name="Thrown away").wait_for()


def both_open(page: Any, address: str) -> tuple[Any, Any, Any]:
    """Open the same editor in two tabs, and return the second tab and both editors."""
    begin(page, address)
    other = page.context.new_page()
    other.goto(page.url)
    written(other, 1)
    return other, opened(page, "own plan"), opened(other, "own plan")


def test_what_is_left_in_one_tab_is_shown_where_the_same_editor_is_open_and_empty(page: Any, desk: Served) -> None:
    _, mine, theirs = both_open(page, desk.address)
    mine.fill(MINE)
    page.keyboard.press("Escape")
    has_value(theirs, MINE)


def kept_in(page: Any, text: str) -> None:
    """Wait until a text is kept in the browser as this page sees it."""
    page.wait_for_function("text => Object.values(localStorage).some((kept) => kept.includes(text))", arg=text)


@pytest.mark.parametrize("then", ["types", "closes"])
def test_what_was_typed_in_a_tab_that_went_elsewhere_outlives_the_editor_of_another(
    page: Any, desk: Served, then: str
) -> None:
    other, mine, theirs = both_open(page, desk.address)
    mine.fill(MINE)
    page.get_by_role("link", name="Stories").click()
    page.get_by_role("heading", name="Your stories").wait_for()
    kept_in(other, MINE)
    if then == "types":
        theirs.fill("The rain stops.")
        kept_in(page, "The rain stops.")
    else:
        theirs.press("Escape")
        page.wait_for_function("() => Object.keys(localStorage).some((name) => name.includes('/~'))")
    page.go_back()
    written(page, 1)
    page.get_by_role("group", name="Not saved").get_by_text(MINE).wait_for()
    if then == "types":
        has_value(theirs, "The rain stops.")


@pytest.mark.parametrize("then", ["types", "cancels"])
def test_what_a_tab_that_is_gone_typed_last_outlives_what_another_typed_before(
    page: Any, desk: Served, then: str
) -> None:
    other, mine, theirs = both_open(page, desk.address)
    mine.fill("The rain stops.")
    kept_in(other, "The rain stops.")
    theirs.fill(MINE)
    kept_in(page, MINE)
    other.close()
    if then == "types":
        mine.press("End")
        page.keyboard.type(" And")
        page.get_by_role("group", name="Not saved").get_by_text(MINE).wait_for()
    else:
        button(page, "Cancel").click()
        has_value(page.get_by_label("Your plan for the next passage"), MINE)


def test_a_premise_that_was_left_in_a_tab_outlives_what_is_typed_in_an_older_one(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    premise = page.get_by_label("What is it about?")
    premise.wait_for()
    gone = page.context.new_page()
    gone.goto(desk.address)
    gone.get_by_label("What is it about?").fill(MINE)
    gone.close()
    premise.fill("The rain stops.")
    page.get_by_role("group", name="Not saved").get_by_text(MINE).wait_for()
    page.reload()
    has_value(premise, "The rain stops.")
    page.get_by_role("group", name="Not saved").get_by_text(MINE).wait_for()


def test_what_was_typed_in_a_story_that_was_erased_elsewhere_can_be_copied(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    story = page.url.rpartition("/")[2]
    page.locator(".codex").get_by_text("Add an entry").click()
    page.get_by_label("Name of the entry").fill("Zoltan")
    edit(page, 1)
    api = f"{desk.address}api/stories/{story}"
    assert httpx.put(f"{api}/archived", json={"archived": True}, timeout=60).status_code == 200
    assert httpx.delete(api, timeout=60).status_code == 200
    page.get_by_role("heading", name="Not here").wait_for()
    for text in (MINE, "Zoltan"):
        page.get_by_role("group", name="Not saved").get_by_text(text, exact=True).wait_for()


def test_each_of_two_texts_that_were_cancelled_can_be_taken_back(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    for text in (MINE, "The rain stops."):
        opened(page, "own plan").fill(text)
        button(page, "Cancel").click()
    thrown, own = page.get_by_role("group", name="Thrown away"), page.get_by_label("Your plan for the next")
    thrown.get_by_text("The rain stops.").wait_for()
    thrown.get_by_text("Thrown away before (1)").click()
    thrown.locator("details").get_by_role("button", name="Take it back").click()
    has_value(own, MINE)
    # One that is taken back in its place can be taken back in turn.
    thrown.get_by_role("button", name="Take it back").click()
    has_value(own, "The rain stops.")
    thrown.get_by_text(MINE).wait_for()
    button(thrown, "Let it go").click()
    there_are(thrown, 0)


def test_a_title_that_was_left_by_escape_can_be_taken_back(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    page.get_by_title("Rename").click()
    title = page.get_by_label("Title", exact=True)
    title.fill("The Lamp")
    title.press("Escape")
    there_are(title, 0)
    page.get_by_text("A title was thrown away").wait_for()
    button(page, "Take it back").click()
    has_value(title, "The Lamp")


@pytest.mark.parametrize("field", ["title", "codex", "replace", "settings"])
def test_what_was_typed_in_a_field_of_a_tab_that_is_gone_is_offered(page: Any, desk: Served, field: str) -> None:
    begin(page, desk.address)
    gone = page.context.new_page()
    gone.goto(page.url)
    written(gone, 1)
    theirs, mine = small_field(gone, field), small_field(page, field)
    theirs.fill(MINE)
    mine.fill("The rain stops.")
    gone.wait_for_function("() => Object.values(localStorage).filter((value) => value.includes('base')).length > 1")
    gone.close()
    page.reload()
    offered = page.locator("aside").get_by_role("group", name="Not saved")
    offered.get_by_text(MINE).wait_for()
    offered.get_by_role("button", name="Go on with it").click()
    if field == "codex":
        page.get_by_text("Add an entry").click()
    has_value(mine, MINE)
    offered.get_by_text("The rain stops.").wait_for()


def small_field(page: Any, field: str) -> Any:
    """Open what holds a field of one line, and return the field."""
    match field:
        case "title":
            page.get_by_title("Rename").click()
            return page.get_by_label("Title", exact=True)
        case "codex":
            page.get_by_text("Add an entry").click()
            return page.get_by_label("Name of the entry")
        case "replace":
            page.keyboard.press("/")
            return page.get_by_label("Words to find or replace")
    button(page, "Settings", exact=True).click()
    return page.get_by_role("dialog").get_by_label("Style")


def test_a_form_and_a_premise_that_were_forgotten_can_be_taken_back(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    style = small_field(page, "settings")
    style.fill("dry")
    page.keyboard.press("Escape")
    button(page, "Settings", exact=True).click()
    button(page.get_by_role("dialog"), "Forget it").click()
    has_value(style, "")
    button(page.get_by_role("dialog"), "Take it back").click()
    has_value(style, "dry")
    page.goto(desk.address)
    gone = page.context.new_page()
    gone.goto(desk.address)
    premise = page.get_by_label("What is it about?")
    premise.wait_for()
    gone.get_by_label("What is it about?").fill(MINE)
    gone.close()
    premise.fill("The rain stops.")
    button(page.get_by_role("group", name="Not saved"), "Forget it").click()
    button(page.get_by_role("group", name="Thrown away"), "Take it back").click()
    has_value(premise, MINE)


def test_what_kind_of_line_was_chosen_outlives_a_reload(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    codex = page.locator(".codex")
    codex.get_by_text("Add an entry").click()
    codex.get_by_label("Name of the entry").fill("the saltworks")
    codex.get_by_label("Kind of the entry").select_option("place")
    page.reload()
    codex.get_by_text("Add an entry").click()
    has_value(codex.get_by_label("Kind of the entry"), "place")
    codex.get_by_role("button", name="Add", exact=True).click()
    codex.get_by_text("Elsewhere").click()
    change = codex.locator("summary", has_text="Change the saltworks")
    change.click()
    codex.get_by_label("What is true of the saltworks").select_option("status")
    codex.get_by_label("Status of the saltworks").select_option("lost")
    page.reload()
    codex.get_by_text("Elsewhere").click()
    change.click()
    has_value(codex.get_by_label("Status of the saltworks"), "lost")


def hidden_fields(page: Any) -> Any:
    """Open the settings of a story with what it keeps from its reader, and return the dialog."""
    button(page, "Settings", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Show what is kept from the reader").click()
    dialog.get_by_label("What lies behind the story").wait_for()
    return dialog


def test_a_truth_that_was_typed_and_left_is_stored_with_what_is_typed_later(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    dialog = hidden_fields(page)
    dialog.get_by_label("What lies behind the story").fill(MINE)
    dialog.get_by_label("Clues to it").fill("The lamp is warm.")
    page.keyboard.press("Escape")
    there_are(dialog, 0)
    button(page, "Settings", exact=True).click()
    has_value(dialog.get_by_label("What lies behind the story"), MINE)
    dialog.get_by_label("Style").fill("dry")
    button(dialog, "Save").click()
    dialogs_closed(page)
    page.reload()
    written(page, 1)
    dialog = hidden_fields(page)
    has_value(dialog.get_by_label("What lies behind the story"), MINE)
    has_value(dialog.get_by_label("Clues to it"), "The lamp is warm.")
    has_value(dialog.get_by_label("Style"), "dry")


def test_what_no_save_has_sent_stays_typed(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    dialog = hidden_fields(page)
    dialog.get_by_label("What lies behind the story").fill(MINE)
    page.keyboard.press("Escape")
    page.route("**/hidden", lambda route: route.abort())
    button(page, "Settings", exact=True).click()
    dialog.get_by_label("Style").fill("dry")
    button(dialog, "Save").click()
    there_are(dialog, 0)
    page.unroute("**/hidden")
    button(page, "Settings", exact=True).click()
    has_value(dialog.get_by_label("What lies behind the story"), MINE)
    has_value(dialog.get_by_label("Style"), "dry")


def test_a_plan_that_is_taken_out_stays_beside_one_that_is_typed(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    page.keyboard.press("w")
    own = page.get_by_label("Your plan for the passage after it")
    own.fill(MINE)
    button(page, "Queue it").click()
    page.get_by_label("Plans that wait").wait_for()
    page.keyboard.press("w")
    own.fill("The rain stops.")
    button(page, "Take out plan 1").click()
    left = page.get_by_role("group", name="Not saved")
    left.get_by_text(MINE).wait_for()
    has_value(own, "The rain stops.")
    left.get_by_role("button", name="Go on with it").click()
    has_value(own, MINE)
    left.get_by_text("The rain stops.").wait_for()
    own_desk.hold.unlink()
    written(page, 2)


def test_a_plan_that_waits_outlives_another_choice_beside_one_that_is_typed(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    (own_desk.home / "refuse").touch()
    opened(page, "own plan").fill(MINE)
    button(page, "Write from it").click()
    page.get_by_text("This plan is chosen and waits").wait_for()
    (own_desk.home / "refuse").unlink()
    opened(page, "own plan").fill("The rain stops.")
    page.locator(".plans .card").nth(1).click()
    written(page, 2)
    page.get_by_role("group", name="Not saved").get_by_text(MINE).wait_for()
    has_value(page.get_by_label("Your plan for the next passage"), "The rain stops.")


def test_an_endpoint_that_a_choice_takes_the_place_of_can_be_taken_back(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    button(page, "Model and endpoint").click()
    dialog = page.get_by_role("dialog")
    endpoint, model, key = (dialog.locator(field) for field in ("[name=base_url]", "[name=model]", "[type=password]"))
    endpoint.fill("http://127.0.0.1:9/v1")
    model.fill("my-long-name")
    key.fill("my-key")
    place = dialog.get_by_label("Where the model runs")
    place.select_option(label="Ollama")
    has_value(model, "")
    has_value(key, "")
    dialog.get_by_role("group", name="Thrown away").get_by_role("button", name="Take it back").click()
    has_value(endpoint, "http://127.0.0.1:9/v1")
    has_value(model, "my-long-name")
    # It goes to no address but the one that it was typed for, and nowhere else is it kept.
    has_value(key, "my-key")
    assert not page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}]).includes('my-key')")


def test_small_choices_and_a_query_outlive_a_reload(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_label("play a part in it").check(force=True)
    page.reload()
    page.get_by_label("Who do you play?").wait_for()
    button(page, "Begin").click()
    page.locator(".plans .card").first.click()
    written(page, 1)
    page.get_by_role("link", name="Stories").click()
    page.get_by_label("write a novel").wait_for()
    assert page.get_by_label("write a novel").is_checked()
    page.go_back()
    written(page, 1)
    page.keyboard.press("/")
    page.get_by_role("searchbox").fill("the lamp")
    page.keyboard.press("Escape")
    dialogs_closed(page)
    page.reload()
    written(page, 1)
    page.keyboard.press("/")
    has_value(page.get_by_role("searchbox"), "the lamp")


@pytest.mark.parametrize("field", ["passage", "memory"])
def test_whoever_goes_on_with_a_text_types_in_it(page: Any, desk: Served, field: str) -> None:
    """Where the caret is elsewhere, letters are commands: an A would have another take written."""
    begin(page, desk.address)
    area = opened(page, field)
    area.fill(MINE)
    page.keyboard.press("Escape")
    there_are(area, 0)
    page.evaluate(FOUND)
    button(page, "Go on with it").click()
    has_value(area, MINE)
    if field == "passage":
        page.evaluate("() => found")
    page.keyboard.press("Control+End")
    page.keyboard.type(" Another ship came.")
    has_value(area, f"{MINE} Another ship came.")


@pytest.mark.parametrize("field", ["memory", "plan"])
def test_whoever_goes_on_with_the_page_alone_types_in_an_editor_that_is_in_sight(
    page: Any, desk: Served, field: str
) -> None:
    begin(page, desk.address)
    area = opened(page, field)
    area.fill(MINE)
    page.keyboard.press("Escape")
    there_are(area, 0)
    page.keyboard.press("f")
    page.locator(".desk.focus").wait_for()
    asked = commands(page)
    button(page, "Go on with it").click()
    area.wait_for()
    page.keyboard.press("Control+End")
    page.keyboard.type(" A sail came.")
    has_value(area, f"{MINE} A sail came.")
    assert asked == []


@pytest.mark.parametrize(("key", "label"), [("w", "Your plan for the next passage"), ("e", "Plan 1")])
def test_the_key_of_an_editor_that_stands_open_puts_the_caret_in_it(
    page: Any, desk: Served, key: str, label: str
) -> None:
    begin(page, desk.address)
    page.keyboard.press(key)
    area = page.get_by_label(label, exact=True)
    area.fill(MINE)
    page.reload()
    has_value(area, MINE)
    page.locator(".manuscript").focus()
    page.keyboard.press(key)
    page.keyboard.press("Control+End")
    page.keyboard.type(" Another ship came.")
    has_value(area, f"{MINE} Another ship came.")


def test_an_edit_that_keeps_what_follows_is_given_up_with_its_text_in_hand(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address, 2)
    hold = own_desk.home / "hold-memory"
    hold.touch()
    edit(page, 1)
    button(page, "Keep the 1 later passage").click()
    page.get_by_text("Rewriting the memory").wait_for()
    button(page, "Stop").click()
    page.get_by_text("An edit of passage 1 was interrupted").wait_for()
    hold.unlink()
    page.get_by_text("Its text", exact=True).click()
    page.locator("aside").get_by_text(MINE).wait_for()
    button(page, "Give it up").click()
    there_are(page.get_by_text("An edit of passage 1 was interrupted"), 0)
    waits(page, 1)


def test_an_unsaved_text_is_told_by_the_words_that_were_typed(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    area = opened(page, "passage")
    text = page.locator("article.passage").inner_text()
    area.fill(f"{'The rain fell. ' * 20}{text}")
    page.keyboard.press("Control+End")
    button(page, "Save", exact=True).click()
    written(page, 1)
    there_are(area, 0)
    page.locator("article.passage .prose").dblclick()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Zoltan rows home.")
    page.keyboard.press("Escape")
    page.get_by_role("group", name="Not saved").get_by_text("Zoltan rows home.").wait_for()
    page.keyboard.press("f")
    page.get_by_role("group", name="Not saved").get_by_text("Zoltan rows home.").wait_for()


def test_an_unsaved_text_without_spaces_is_told_by_the_words_that_were_typed(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    edit(page, 1, "夜里下着雨，灯塔的灯一直亮着。" * 20)
    button(page, "Save", exact=True).click()
    written(page, 1)
    page.locator("article.passage .prose").get_by_text("夜里下着雨").wait_for()
    page.locator("article.passage .prose").dblclick()
    page.keyboard.press("Control+End")
    page.keyboard.type("船长独自划船回家。")
    page.keyboard.press("Escape")
    page.get_by_role("group", name="Not saved").get_by_text("船长独自划船回家。").wait_for()


def test_a_text_that_the_server_gives_back_is_told_by_the_words_that_were_typed(
    page: Any, open_page: Callable[..., Any], own_desk: Served
) -> None:
    begin(page, own_desk.address)
    page.locator("article.passage .prose").dblclick()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Zoltan rows home.")
    (own_desk.home / "refuse-memory").touch()
    button(page, "Save", exact=True).click()
    page.get_by_text("It is not saved in the story yet").wait_for()
    # Another browser has it from the server alone.
    other = open_page()
    other.goto(page.url)
    other.get_by_label("Text of passage 1").press("Escape")
    other.get_by_role("group", name="Not saved").get_by_text("Zoltan rows home.").wait_for()


FOUND = """() => {
  window.found = new Promise((over) => {
    const is = () => document.querySelector(".passage.found") && over();
    new MutationObserver(is).observe(document.body, { subtree: true, attributes: true, childList: true });
  });
}"""
"""Promise that a passage is brought to the screen, which is shown for a moment."""
