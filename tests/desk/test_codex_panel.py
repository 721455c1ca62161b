"""The codex beside the page: as of the passage in view, corrected by the author, and known under the pointer."""

from __future__ import annotations

import json
import signal
from typing import Any

import httpx
import pytest

from tests.desk.conftest import Client, Served, begin, has_value, there_are, written
from tests.desk.test_faults import held_draft


def names(client: Client, story: str, at: str) -> dict[str, Any]:
    return {entry["name"]: entry for entry in client.get(f"/stories/{story}/codex", at=at)}


def test_an_entry_is_added_corrected_pinned_hidden_merged_and_undone(client: Client) -> None:
    view = client.begin()
    story = view["id"]
    path = f"/stories/{story}/codex"
    client.send("POST", path, {"name": "Zoltan", "kind": "person", "facts": ["Zoltan sold the boat."]})
    client.send("POST", path, {"name": "the boatman", "kind": "person"})
    client.send("PUT", path, {"name": "Zoltan", "pinned": True, "hidden": True, "alias": "Zolly"})
    client.send("PUT", path, {"name": "Zoltan", "merge": "the boatman"})
    client.send("PUT", f"{path}/line", {"name": "Zoltan", "aspect": "status", "value": "dead"})
    head = client.get(f"/stories/{story}")["head"]
    known = names(client, story, head)
    assert "the boatman" not in known
    zoltan = known["Zoltan"]
    assert (zoltan["pinned"], zoltan["hidden"]) == (True, True)
    assert {"Zolly", "the boatman"} <= set(zoltan["names"])
    assert {line["text"] for line in zoltan["lines"]} == {"Zoltan sold the boat.", "Zoltan is dead."}
    history = client.get(f"{path}/history", name="Zoltan", at=head)
    assert [(row["do"], row["said"], row["author"]) for row in history] == [
        ("set", "dead", True),
        ("set", "Zoltan sold the boat.", True),
        ("alias", "Zolly", True),
        ("pin", "", True),
        ("hide", "", True),
        ("merge", "the boatman", True),
    ]
    end = {"name": "Zoltan", "aspect": "fact", "value": "Zoltan sold the boat.", "end": True}
    client.send("PUT", f"{path}/line", end)
    head = client.get(f"/stories/{story}")["head"]
    assert [line["text"] for line in names(client, story, head)["Zoltan"]["lines"]] == ["Zoltan is dead."]
    client.send("POST", f"/stories/{story}/undo")
    client.send("POST", f"/stories/{story}/undo")
    assert [line["text"] for line in names(client, story, "1")["Zoltan"]["lines"]] == ["Zoltan sold the boat."]
    client.http.request("DELETE", f"/desk/api{path}", params={"name": "Zoltan"}).raise_for_status()
    assert "Zoltan" not in names(client, story, "1")


def test_an_entry_is_renamed(client: Client) -> None:
    story = client.begin()["id"]
    path = f"/stories/{story}/codex"
    client.send("POST", path, {"name": "Fetch Pip", "kind": "person"})
    client.send("PUT", path, {"name": "Fetch Pip", "rename": "Pip"})
    assert {"Pip"} == {name for name in names(client, story, client.get(f"/stories/{story}")["head"]) if "Pip" in name}
    assert "needs another name" in client.refused("PUT", path, {"name": "Pip", "rename": "Pip"})[1]


def test_a_line_of_the_authors_is_from_the_author_and_keys_bring_an_entry(client: Client) -> None:
    story = client.begin()["id"]
    path = f"/stories/{story}/codex"
    client.send("POST", path, {"name": "lantern", "kind": "thing", "keys": ["light", "wick"]})
    client.send("PUT", f"{path}/line", {"name": "lantern", "aspect": "place", "value": "in the cellar"})
    head = client.get(f"/stories/{story}")["head"]
    (line,) = names(client, story, head)["lantern"]["lines"]
    assert (line["text"], line["author"]) == ("The lantern is in the cellar.", True)
    book = {"entries": {"0": {"key": ["weir"], "comment": "the Old Weir", "content": "The Old Weir is haunted."}}}

    def send(content: str) -> httpx.Response:
        files = {"file": ("lore.json", content)}
        return client.http.post(f"/desk/api{path}/lorebook", files=files)

    assert send(json.dumps(book)).json()["added"] == ["the Old Weir"]
    head = client.get(f"/stories/{story}")["head"]
    assert "The Old Weir is haunted." in str(names(client, story, head))
    refused = send("no lorebook")
    assert (refused.status_code >= 400, "lore.json" in refused.text, "/tmp" in refused.text) == (True, True, False)


def test_what_is_wrong_is_refused_in_a_sentence(client: Client) -> None:
    path = f"/stories/{client.begin()['id']}/codex"
    assert "no one entry" in client.refused("PUT", path, {"name": "Quirin", "pinned": True})[1]
    client.send("POST", path, {"name": "Zoltan", "kind": "person"})
    line = {"name": "Zoltan", "aspect": "status", "value": "sleepy"}
    assert "The status of a " in client.refused("PUT", f"{path}/line", line)[1]
    assert client.refused("POST", path, {"name": "Zoltan", "kind": "beast"})[0] == 422
    assert "an entry already" in client.refused("POST", path, {"name": "Zoltan", "kind": "person"})[1]
    line = {"name": "Zoltan", "aspect": "holder", "value": "the compass"}
    assert "who is a person" in client.refused("PUT", f"{path}/line", line)[1]
    assert "one entry already" in client.refused("PUT", path, {"name": "Zoltan", "merge": "zoltan"})[1]


def test_a_passage_names_a_thing_and_a_person_by_shorter_names_too(client: Client) -> None:
    view = client.begin()
    path = f"/stories/{view['id']}/codex"
    told = "Father Odo sat down. The old compass shook, and the captain of the Petrel laughed at a lamp."
    client.send("POST", f"/stories/{view['id']}/passage", {"at": view["head"], "text": told})
    client.wait(view["id"])
    for name, kind in (("silver compass", "thing"), ("brass lamp", "thing"), ("Idris Vale", "person")):
        client.send("POST", path, {"name": name, "kind": kind})
    line = {"name": "Idris Vale", "aspect": "role", "value": "captain of the Petrel"}
    client.send("PUT", f"{path}/line", line)
    known = names(client, view["id"], client.get(f"/stories/{view['id']}")["head"])
    assert [known[name]["here"] for name in ("silver compass", "Idris Vale", "brass lamp")] == [True, True, False]
    assert "The old compass" in known["silver compass"]["names"]
    assert "the captain" in known["Idris Vale"]["names"]
    assert known["brass lamp"]["names"] == ["brass lamp"]


def test_a_name_of_a_family_is_shown_of_whom_its_title_means(client: Client) -> None:
    view = client.begin()
    path = f"/stories/{view['id']}/codex"
    told = "Dr. Lisle cut the roses. Mrs. Lisle laughed, and Lisle sat down."
    client.send("POST", f"/stories/{view['id']}/passage", {"at": view["head"], "text": told})
    client.wait(view["id"])
    for name, role in (("Catherine Lisle", "the doctor's wife"), ("Henry Lisle", "a village doctor who limps")):
        client.send("POST", path, {"name": name, "kind": "person"})
        client.send("PUT", f"{path}/line", {"name": name, "aspect": "role", "value": role})
    known = names(client, view["id"], client.get(f"/stories/{view['id']}")["head"])
    assert known["Henry Lisle"]["names"] == ["Henry Lisle", "Henry", "Dr. Lisle"]
    assert known["Catherine Lisle"]["names"] == ["Catherine Lisle", "Catherine", "Mrs. Lisle"]


def test_whoever_plays_is_not_sent_what_is_hidden(client: Client) -> None:
    view = client.begin(play=True, player="Mira the cook")
    path = f"/stories/{view['id']}/codex"
    client.send("POST", path, {"name": "The Murderer", "kind": "person", "facts": ["The Murderer is the priest."]})
    client.send("PUT", path, {"name": "The Murderer", "hidden": True})
    assert "The Murderer" not in names(client, view["id"], "opening")


def test_whoever_plays_is_sent_no_line_that_gives_away_a_hidden_thing_by_its_shorter_name(client: Client) -> None:
    view = client.begin(play=True, player="Mira the cook")
    path = f"/stories/{view['id']}/codex"
    client.send("POST", path, {"name": "silver compass", "kind": "thing", "facts": ["It is cursed."]})
    facts = ["Odo limps.", "Odo stole the compass.", "Odo bought a compass."]
    client.send("POST", path, {"name": "Odo", "kind": "person", "facts": facts})
    client.send("PUT", path, {"name": "silver compass", "hidden": True})
    known = names(client, view["id"], client.get(f"/stories/{view['id']}")["head"])
    assert {line["text"] for line in known["Odo"]["lines"]} == {"Odo limps.", "Odo bought a compass."}


@pytest.mark.parametrize("play", [True, False])
def test_whoever_plays_is_sent_no_line_that_gives_away_what_is_hidden(client: Client, play: bool) -> None:
    view = client.begin(**({"play": True, "player": "Mira the cook"} if play else {}))
    path = f"/stories/{view['id']}/codex"
    client.send("POST", path, {"name": "Father Anselm", "kind": "person", "facts": ["Father Anselm is the strangler."]})
    client.send("POST", path, {"name": "Odo", "kind": "person", "facts": ["Odo limps.", "Odo was seen with Anselm."]})
    client.send("POST", path, {"name": "strangler's cord", "kind": "thing"})
    for name, aspect, value in (
        ("Odo", "unaware", "who rings the bell"),
        ("Odo", "fact", "Odo saw Father Anselm strangle the abbot."),
        ("strangler's cord", "holder", "Father Anselm"),
    ):
        client.send("PUT", f"{path}/line", {"name": name, "aspect": aspect, "value": value})
    client.send("PUT", path, {"name": "Father Anselm", "hidden": True})
    head = client.get(f"/stories/{view['id']}")["head"]
    known = names(client, view["id"], head)
    lines = {line["text"] for line in known["Odo"]["lines"]}
    history = {row["said"] for row in client.get(f"{path}/history", name="Odo", at=head)}
    secrets = {
        "Odo was seen with Anselm.",
        "Odo saw Father Anselm strangle the abbot.",
        "Odo does not know who rings the bell.",
    }
    assert lines == {"Odo limps."} if play else secrets < lines
    assert history == {"Odo limps."} if play else len(history) == 4
    assert ("strangler's cord" in known) is not play
    found = client.get(f"/stories/{view['id']}/search", query="Who saw Father Anselm strangle the abbot?")
    assert ("strangle the abbot" in str(found)) is not play


def test_an_entry_is_made_and_corrected_on_the_page(page: Any, desk: Served) -> None:
    begin(page, desk.address, 2)
    codex = page.locator(".codex")
    codex.get_by_text("Add an entry").click()
    codex.get_by_label("Name of the entry").fill("Zoltan")
    codex.get_by_label("What is true of it").fill("Zoltan sold the boat.")
    codex.get_by_label("Words that bring it to the writer").fill("boatman, oar")
    # What is typed is there again.
    page.reload()
    written(page, 2)
    # The reload has kept the reading place; what is true is corrected at the end.
    page.locator(".manuscript").hover()
    page.mouse.wheel(0, 100_000)
    there_are(codex.get_by_text("As of passage"), 0)
    codex.get_by_text("Add an entry").click()
    has_value(codex.get_by_label("Name of the entry"), "Zoltan")
    codex.get_by_role("button", name="Add", exact=True).click()
    codex.get_by_text("Elsewhere").click()
    codex.get_by_text("Zoltan sold the boat.").first.wait_for()
    has_value(codex.get_by_label("Name of the entry"), "")
    codex.get_by_text("Change Zoltan").click()
    codex.get_by_label("Fact of Zoltan").fill("Zoltan swims.")
    codex.get_by_role("button", name="Set it").first.click()
    codex.locator(".sentences").get_by_text("Zoltan swims.").wait_for()
    codex.get_by_text("from the author, at passage 2").wait_for()
    codex.get_by_text("Import a lorebook").click()
    book = {"entries": {"0": {"key": ["weir"], "comment": "the Old Weir", "content": "The Old Weir is haunted."}}}
    lore = {"name": "lore.json", "mimeType": "application/json", "buffer": json.dumps(book).encode()}
    codex.get_by_label("Lorebook", exact=True).set_input_files(lore)
    codex.get_by_text("Added: the Old Weir.").wait_for()
    codex.get_by_role("button", name="No longer true: Zoltan sold").click()
    there_are(codex.get_by_text("Zoltan sold the boat."), 0)
    codex.get_by_role("button", name="Pin").last.click()
    codex.get_by_text("Zoltan · person · pinned").wait_for()
    codex.get_by_text("History of Zoltan").click()
    codex.get_by_role("button", name="by the author, at passage 2").first.click()
    page.locator("article.passage.found[aria-label^='Passage 2']").wait_for()


def test_a_name_under_the_pointer_tells_what_is_known(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    api = f"{desk.address}api/stories/{page.url.rpartition('/')[2]}"
    httpx.post(f"{api}/passage", json={"at": "1", "text": "Zoltan waits here."}).raise_for_status()
    page.locator("article.by-edited").wait_for()
    written(page, 1)
    entry = {"name": "Zoltan", "kind": "person", "facts": ["Zoltan sold the boat."]}
    httpx.post(f"{api}/codex", json=entry).raise_for_status()
    page.locator(".codex").get_by_text("Zoltan sold the boat.").first.wait_for()
    line = page.locator("article.passage .prose p")
    line.scroll_into_view_if_needed()
    line.hover(position={"x": 55, "y": 15})
    tip = page.locator(".name-tip")
    tip.get_by_text("Zoltan sold the boat.").wait_for()
    page.keyboard.press("Escape")
    there_are(tip, 0)
    assert line.inner_text() == "Zoltan waits here."


def test_the_codex_is_as_of_the_passage_in_view(page: Any, desk: Served) -> None:
    begin(page, desk.address, 4)
    page.locator(".codex").get_by_text("Add an entry").wait_for()
    page.locator(".manuscript").hover()
    page.mouse.wheel(0, -100_000)
    page.locator(".codex").get_by_text("As of passage 1.").wait_for()
    page.mouse.wheel(0, 100_000)
    there_are(page.locator(".codex").get_by_text("As of passage"), 0)


def test_the_time_line_shows_memory_and_codex_as_of_a_passage(page: Any, desk: Served) -> None:
    begin(page, desk.address, 3)
    line = page.get_by_role("slider", name="As of passage")
    line.focus()
    page.keyboard.press("Home")
    page.get_by_role("heading", name="Memory after passage 1").wait_for()
    page.locator(".codex").get_by_text("As of passage 1.").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="Memory after passage 2").wait_for()
    page.get_by_role("button", name="Show it").click()
    page.locator("article.passage[aria-label^='Passage 2']:focus").wait_for()
    line.press("End")
    page.get_by_role("heading", name="Memory after passage 3").wait_for()
    there_are(page.locator(".codex").get_by_text("As of passage"), 0)
    page.get_by_role("button", name="Back to now").click()
    # The page stands at another passage, as of which the codex is shown.
    page.get_by_role("heading", name="Memory of now, after passage 3", exact=True).wait_for()


def test_an_entry_is_typed_while_a_passage_is_written(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    codex = page.locator(".codex")
    codex.get_by_text("Add an entry").click()
    name, fact = page.get_by_label("Name of the entry"), page.get_by_label("What is true of it", exact=True)
    name.fill("Zoltan")
    fact.fill("Zoltan sold the boat.")
    add = codex.get_by_role("button", name="Add", exact=True)
    add.click()
    waits = codex.get_by_label("Changes of the codex that wait")
    waits.get_by_text("Zoltan · person: Zoltan sold the boat.").wait_for()
    # Taken out, it is in hand again.
    waits.get_by_role("button", name="Take out change 1").click()
    there_are(waits, 0)
    has_value(name, "Zoltan")
    has_value(fact, "Zoltan sold the boat.")
    add.click()
    waits.get_by_text("Zoltan · person: Zoltan sold the boat.").wait_for()
    own_desk.end(signal.SIGKILL)
    own_desk.hold.unlink()
    own_desk.start()
    codex.get_by_text("These changes wait for the next passage").wait_for()
    page.get_by_role("button", name="Keep these words").or_(page.locator(".plans .card").first).first.click()
    written(page, 2)
    codex.locator("h3", has_text="Zoltan").wait_for(state="attached")
    there_are(waits, 0)


def change_zoltan(page: Any, address: str, passages: int = 1) -> Any:
    """Begin a story that knows Zoltan, open what changes him, and return the panel."""
    begin(page, address, passages)
    api = f"{address}api/stories/{page.url.rpartition('/')[2]}"
    httpx.post(f"{api}/codex", json={"name": "Zoltan", "kind": "person"}).raise_for_status()
    codex = page.locator(".codex")
    codex.get_by_text("Elsewhere").click()
    codex.get_by_text("Change Zoltan").click()
    return codex


def test_a_line_of_an_entry_that_is_gone_stays_in_sight_when_it_is_taken_out(page: Any, own_desk: Served) -> None:
    codex = change_zoltan(page, own_desk.address)
    held_draft(page, own_desk)
    codex.get_by_role("button", name="Take it out").click()
    waits = codex.get_by_label("Changes of the codex that wait")
    waits.get_by_text("Zoltan · taken out").wait_for()
    codex.get_by_label("What is true of Zoltan").select_option("Role")
    codex.get_by_label("Role of Zoltan").fill("sells boats")
    codex.get_by_role("button", name="Set it").click()
    waits.get_by_text("role: sells boats").wait_for()
    own_desk.hold.unlink()
    written(page, 2)
    there_are(codex.get_by_text("Change Zoltan"), 0)
    waits.get_by_role("button", name="Take out change 1").click()
    offered = page.get_by_role("group", name="Not saved")
    for reloads in (1, 0):
        offered.get_by_text("sells boats").wait_for()
        offered.get_by_role("button", name="Go on with it").click()
        has_value(offered.get_by_role("textbox"), "sells boats")
        if reloads:
            page.reload()
    # Its field is there again with its entry.
    api = f"{own_desk.address}api/stories/{page.url.rpartition('/')[2]}"
    httpx.post(f"{api}/codex", json={"name": "Zoltan", "kind": "person"}).raise_for_status()
    page.locator(".manuscript").hover()
    page.mouse.wheel(0, 100_000)
    field = codex.get_by_label("Role of Zoltan")
    field.wait_for(state="attached")
    offered.get_by_role("button", name="Go on with it").click()
    has_value(field, "sells boats")
    there_are(offered, 0)


def test_a_line_typed_for_an_entry_that_goes_is_offered_until_the_entry_is_back(page: Any, desk: Served) -> None:
    codex = change_zoltan(page, desk.address)
    api = f"{desk.address}api/stories/{page.url.rpartition('/')[2]}"
    # Its is the last entry.
    for entry in httpx.get(f"{api}/codex", params={"at": httpx.get(api).json()["head"]}).json():
        if entry["name"] != "Zoltan":
            httpx.delete(f"{api}/codex", params={"name": entry["name"]}).raise_for_status()
    codex.get_by_label("Fact of Zoltan").fill("Zoltan sells boats.")
    page.locator(".manuscript").focus()
    httpx.delete(f"{api}/codex", params={"name": "Zoltan"}).raise_for_status()
    offered = page.get_by_role("group", name="Not saved")
    has_value(offered.get_by_role("textbox"), "Zoltan sells boats.")
    page.reload()
    has_value(offered.get_by_role("textbox"), "Zoltan sells boats.")
    httpx.post(f"{api}/undo").raise_for_status()
    there_are(offered, 0)
    has_value(codex.get_by_label("Fact of Zoltan"), "Zoltan sells boats.")


def test_what_is_taken_out_is_of_the_kind_that_was_chosen(page: Any, own_desk: Served) -> None:
    codex = change_zoltan(page, own_desk.address)
    codex.get_by_text("Add an entry").click()
    held_draft(page, own_desk)
    kinds = codex.get_by_label("What is true of Zoltan"), codex.get_by_label("Kind of the entry")
    waits = codex.get_by_label("Changes of the codex that wait")
    kinds[0].select_option("Status")
    codex.get_by_label("Status of Zoltan").select_option("dead")
    codex.get_by_role("button", name="Set it").click()
    waits.get_by_text("status: dead").wait_for()
    codex.get_by_label("Name of the entry").fill("lantern")
    kinds[1].select_option("thing")
    codex.get_by_role("button", name="Add", exact=True).click()
    waits.get_by_text("lantern · thing").wait_for()
    kinds[0].select_option("Place")
    kinds[1].select_option("place")
    for left in (1, 0):
        waits.get_by_role("button", name="Take out change 1").click()
        there_are(waits.get_by_role("listitem"), left)
    there_are(waits, 0)
    has_value(codex.get_by_label("Status of Zoltan"), "dead")
    has_value(codex.get_by_label("Name of the entry"), "lantern")
    has_value(kinds[1], "thing")
    # Where another line is in hand by then, that is of its own kind.
    codex.get_by_role("button", name="Set it").click()
    waits.get_by_text("status: dead").wait_for()
    kinds[0].select_option("Place")
    codex.get_by_label("Place of Zoltan").fill("the weir")
    waits.get_by_role("button", name="Take out change 1").click()
    page.get_by_role("group", name="Not saved").get_by_text("dead").wait_for()
    has_value(codex.get_by_label("Place of Zoltan"), "the weir")
    own_desk.hold.unlink()
    written(page, 2)


def test_a_button_that_is_pressed_while_the_desk_works_says_that_its_change_waits(page: Any, own_desk: Served) -> None:
    codex = change_zoltan(page, own_desk.address)
    # A screen reader tells of what comes in a region that it knows already.
    region = codex.get_by_role("status").first.element_handle()
    held_draft(page, own_desk)
    pin = codex.locator(".entry", has_text="Change Zoltan").get_by_role("button", name="Pin")
    pin.click()
    codex.get_by_text("Waits: pinned.", exact=True).wait_for()
    assert region.inner_text().startswith("1 change ")
    pin.click()
    codex.get_by_role("button", name="Hide").last.click()
    codex.get_by_text("Waits: pinned, hidden.", exact=True).wait_for()
    assert region.inner_text().startswith("2 changes ")
    there_are(codex.get_by_label("Changes of the codex that wait").get_by_role("listitem"), 2)
    own_desk.hold.unlink()
    written(page, 2)
    there_are(codex.get_by_text("Waits:"), 0)
    assert region.inner_text() == ""


def test_a_reason_why_a_change_waits_takes_nobody_away_from_the_plans(page: Any, own_desk: Served) -> None:
    begin(page, own_desk.address)
    held_draft(page, own_desk)
    api = f"{own_desk.address}api/stories/{page.url.rpartition('/')[2]}"
    httpx.put(f"{api}/codex", json={"name": "Zoltan", "pinned": True}).raise_for_status()
    own_desk.hold.unlink()
    written(page, 2)
    waits = page.get_by_label("Changes of the codex that wait")
    page.reload()
    waits.get_by_text("no one entry").wait_for()
    # Whatever brings something to the screen has done so by then.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.locator("aside").evaluate("panel => [panel.scrollHeight > panel.clientHeight, panel.scrollTop]") == [
        True,
        0,
    ]
    there_are(waits.get_by_role("alert"), 0)


def test_an_entry_is_renamed_and_answers_to_its_old_name(page: Any, desk: Served) -> None:
    begin(page, desk.address)
    api = f"{desk.address}api/stories/{page.url.rpartition('/')[2]}"
    body = {"name": "Fetch Zoltan", "kind": "person", "facts": ["Fetch Zoltan swims."]}
    httpx.post(f"{api}/codex", json=body).raise_for_status()
    codex = page.locator(".codex")
    codex.get_by_text("Elsewhere").click()
    codex.locator("summary", has_text="Change Fetch Zoltan").click()
    codex.get_by_label("Another name of Fetch Zoltan").fill("Zoltan")
    codex.get_by_role("button", name="Rename").click()
    codex.get_by_role("heading", name="Zoltan · person", exact=True).wait_for()
    there_are(codex.get_by_role("heading", name="Fetch Zoltan"), 0)
