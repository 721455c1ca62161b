"""A sentence that contradicts the codex: marked on the page, opened with both sentences, mended or meant so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langchain_core.messages import BaseMessage

from recurrentgpt.models.json_replies import SCHEMA_HEADING
from tests.desk.conftest import Client, Served, begin, there_are, written

DIES = "Mist came over the fields. 🜂 Zoltan fell from the wall and died before anybody reached him. The bread cooled."
FELL = "🜂 Zoltan fell from the wall and died before anybody reached him."
LIT = "Zoltan walked to the stove and *lit* it again."
WALKS = f"Nobody 🜂 spoke.\n\n{LIT} Rain fell on the yard."


def of_newest(client: Client, view: dict[str, Any]) -> list[dict[str, Any]]:
    (passage,) = client.get(f"/stories/{view['id']}/passages", ids=view["head"])
    return passage["contradictions"]


def contradicting(client: Client, **fields: object) -> dict[str, Any]:
    """Begin a story in whose second passage somebody walks who died in the first."""
    usual = client.model.replies

    def replies(messages: list[BaseMessage]) -> str:
        answer = usual(messages)
        if not any(SCHEMA_HEADING in str(message.text) for message in messages):
            return answer
        reply = json.loads(answer)
        if "codex" in reply:
            dead = {"name": "Zoltan", "kind": "person", "change": "set", "aspect": "status", "value": "dead"}
            reply["codex"] = [{**dead, "sentence": FELL}] if DIES in str(messages) else []
        return json.dumps(reply)

    client.model.replies = replies
    story = client.begin(**fields)["id"]
    for number, text in enumerate((DIES, WALKS), 1):
        if number > 1:
            client.write(story)
        client.send("POST", f"/stories/{story}/passage", {"at": str(number), "text": text})
        client.wait(story)
    return client.get(f"/stories/{story}")


def test_a_contradiction_is_sent_with_its_passage_and_may_be_meant_so(client: Client) -> None:
    view = contradicting(client)
    (found,) = of_newest(client, view)
    assert WALKS[found["start"] : found["end"]] == LIT
    assert (found["number"], found["entry"], found["holds"]) == (1, "Zoltan", "Zoltan is dead.")
    assert (found["rests_on"], found["step"], found["passage"]) == (FELL, 1, view["path"][0][0])
    path = f"/stories/{view['id']}/codex/meant"
    assert client.refused("POST", path, {"at": view["head"], "number": 2})[0] == 409
    client.send("POST", path, {"at": view["head"], "number": 1})
    after = client.get(f"/stories/{view['id']}")
    assert (after["step"], of_newest(client, after)) == (2, [])
    lines = {entry["name"]: entry["lines"] for entry in client.get(f"/stories/{view['id']}/codex", at=after["head"])}
    assert [line["text"] for line in lines["Zoltan"]] == ["Zoltan is alive."]
    client.send("POST", f"/stories/{view['id']}/undo")
    assert of_newest(client, client.get(f"/stories/{view['id']}")) == [found]


def test_whoever_plays_is_not_sent_what_contradicts_a_hidden_entry(client: Client) -> None:
    view = contradicting(client, play=True, player="Mira the cook")
    assert of_newest(client, view)
    client.send("PUT", f"/stories/{view['id']}/codex", {"name": "Zoltan", "hidden": True})
    assert of_newest(client, client.get(f"/stories/{view['id']}")) == []


@pytest.mark.parametrize("play", [True, False])
def test_whoever_plays_finds_nothing_that_was_noted_of_a_hidden_entry(client: Client, play: bool) -> None:
    view = contradicting(client, **({"play": True, "player": "Mira the cook"} if play else {}))
    path = f"/stories/{view['id']}"
    poison = "Zoltan poisoned the duke with a needle."
    client.send("PUT", f"{path}/codex/line", {"name": "Zoltan", "aspect": "fact", "value": poison})
    client.send("PUT", f"{path}/codex", {"name": "Zoltan", "hidden": True})

    def found() -> str:
        return json.dumps(client.get(f"{path}/search", query=poison))

    assert (poison in found()) is not play
    history = client.get(f"{path}/codex/history", name="Zoltan", at=client.get(path)["head"])
    assert (poison in json.dumps(history)) is not play
    client.write(view["id"])
    client.write(view["id"])
    for passage in client.get(path)["path"]:
        memory = client.get(f"{path}/memory", at=passage[0])
        assert not play or poison not in json.dumps(memory["recalled"])


def test_a_contradiction_is_meant_so_and_the_later_passages_stay(client: Client) -> None:
    view = contradicting(client)
    client.write(view["id"])
    path = f"/stories/{view['id']}"
    before = client.get(path)
    client.send("POST", f"{path}/codex/meant", {"at": view["head"], "number": 1})
    after = client.get(path)
    assert after["step"] == before["step"] == 3
    assert of_newest(client, {**view, "head": after["path"][1][0]}) == []
    client.send("POST", f"{path}/undo")
    assert client.get(path)["head"] == before["head"]


def marked(page: Any, desk: Served) -> Any:
    """Begin a story on a page whose second passage contradicts the codex, and return the marked sentence."""
    begin(page, desk.address, 2)
    api = f"{desk.address}api/stories/{page.url.rpartition('/')[2]}"
    httpx.post(f"{api}/codex", json={"name": "Zoltan", "kind": "person"}).raise_for_status()
    httpx.put(f"{api}/codex/line", json={"name": "Zoltan", "aspect": "status", "value": "dead"}).raise_for_status()
    page.keyboard.press("1")
    written(page, 3)
    httpx.post(f"{api}/passage", json={"at": "3", "text": WALKS}).raise_for_status()
    mark = page.locator("article.passage .contradicts")
    mark.wait_for()
    page.locator(".stop").wait_for(state="detached")
    return mark


def test_a_sentence_is_marked_and_opened_by_keys_and_meant_so(page: Any, desk: Served) -> None:
    mark = marked(page, desk)
    assert mark.inner_text().replace("*", "") == LIT.replace("*", "")
    assert mark.evaluate("mark => mark.closest('.prose').innerText.replaceAll('*', '')").startswith("Nobody 🜂 spoke.")
    assert mark.evaluate("mark => mark.closest('p').textContent") == WALKS.partition("\n\n")[2]
    mark.focus()
    page.keyboard.press("Enter")
    note = page.get_by_role("region", name="It contradicts the codex")
    note.get_by_text("Zoltan is dead.").wait_for()
    assert mark.get_attribute("aria-expanded") == "true"
    described = page.locator(f"#{mark.get_attribute('aria-describedby')}")
    assert "contradicts the codex" in (described.text_content() or "")
    page.keyboard.press("Enter")
    there_are(note, 0)
    page.keyboard.press("Space")
    note.get_by_role("button", name="Close").click()
    assert mark.evaluate("mark => mark === document.activeElement")
    mark.click()
    note.get_by_role("button", name="It is meant so").click()
    there_are(mark, 0)
    # The codex is that of the passage in sight, which may be the one before.
    for key in ("Home", "End"):
        page.get_by_label("As of passage").press(key)
    page.locator(".codex").get_by_text("Zoltan is alive.").first.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("z")
    mark.wait_for()


def test_from_a_marked_sentence_one_goes_to_the_earlier_passage_and_edits(page: Any, desk: Served) -> None:
    mark = marked(page, desk)
    mark.click()
    note = page.locator(".contradiction")
    note.get_by_role("button", name="Edit the passage").click()
    field = page.get_by_label("Text of passage 3")
    field.wait_for()
    assert (
        field.evaluate("area => area.selectionStart") == WALKS.encode("utf-16-le").index(LIT.encode("utf-16-le")) // 2
    )
    page.keyboard.press("Escape")
    mark.click()
    note.get_by_role("button", name="Go to passage 2").click()
    page.locator("article.passage.found[aria-label^='Passage 2']").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_objects_to_nothing_at_a_marked_sentence(
    open_page: Callable[..., Any], axe: Callable[[Any, str], None], desk: Served, theme: str
) -> None:
    page = open_page(color_scheme=theme)
    mark = marked(page, desk)
    axe(page, "marked")
    mark.click()
    page.locator(".contradiction").wait_for()
    axe(page, "opened")
    page.set_viewport_size({"width": 320, "height": 640})
    axe(page, "opened, narrow")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
