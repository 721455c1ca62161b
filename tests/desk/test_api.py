"""The interface of the desk: what can be asked for, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Never

import pytest
from fastapi.testclient import TestClient
from langchain_core.vectorstores import InMemoryVectorStore

from recurrentgpt.desk.app import create_app
from recurrentgpt.desk.backend import service
from recurrentgpt.desk.backend.jobs import write_passages
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings, MiniLM
from recurrentgpt.nodes.open_story import language_of
from recurrentgpt.schema.errors import StorageError
from tests.desk.conftest import API, HERE, HOST, Client
from tests.desk.scripted import paced
from tests.desk.test_memory_changes import words_come


def test_a_story_begins_with_a_passage_and_three_plans(client: Client) -> None:
    story = client.begin()
    assert story["step"] == 1
    assert len(story["plans"]) == 3
    assert story["premise"] == "Mira tends a lamp."
    assert story["words"] == len(client.texts(story)[0].split())
    assert [found["story"] for found in client.get("/stories")["stories"]] == [story["id"]]


def test_a_story_that_was_erased_elsewhere_is_in_no_list(client: Client, library: Library) -> None:
    story = client.begin()["id"]
    library.erase(story)
    assert client.get("/stories")["stories"] == []


def test_the_next_passage_is_written_from_the_plan_that_was_chosen(client: Client) -> None:
    story = client.begin()
    second = client.write(story["id"], number=2)
    own = client.write(story["id"], plan="Mira puts the lamp out and waits.")
    edited = client.write(story["id"], number=1, plan="Mira lights it again.")
    ids = ",".join(entry[0] for entry in edited["path"])
    plans = [passage["plan"] for passage in client.get(f"/stories/{story['id']}/passages", ids=ids)]
    assert plans[1:] == [story["plans"][1], "Mira puts the lamp out and waits.", "Mira lights it again."]
    assert (second["step"], own["step"], edited["step"]) == (2, 3, 4)


def test_it_writes_by_itself_as_often_as_it_is_told(client: Client) -> None:
    story = client.begin()
    assert client.write(story["id"], steps=3)["step"] == 4


def test_another_take_stands_beside_the_first(client: Client) -> None:
    story = client.begin()
    client.send("POST", f"/stories/{story['id']}/retry")
    after = client.wait(story["id"])
    assert after["step"] == 1
    assert after["head"] != story["head"]
    diff = client.get(f"/stories/{story['id']}/diff", a=story["head"], b=after["head"])
    assert "".join(change["before"] for change in diff["text"]) == client.texts(story)[0]


def test_a_corrected_take_is_still_one_take(client: Client) -> None:
    story = client.begin()["id"]
    client.send("POST", f"/stories/{story}/retry")
    taken = client.wait(story)
    client.send("PUT", f"/stories/{story}/memory", {"text": "Mira is afraid of the dark."})
    after = client.get(f"/stories/{story}")
    assert len(taken["takes"]) == len(after["takes"]) == 2
    assert after["head"] in after["takes"]
    assert taken["head"] not in after["takes"]
    assert after["root"] == taken["head"]


def test_undo_and_redo_and_going_there(client: Client) -> None:
    first = client.begin()
    second = client.write(first["id"], number=1)
    client.send("POST", f"/stories/{first['id']}/undo")
    assert client.get(f"/stories/{first['id']}")["head"] == first["head"]
    client.send("POST", f"/stories/{first['id']}/redo")
    assert client.get(f"/stories/{first['id']}")["head"] == second["head"]
    client.send("POST", f"/stories/{first['id']}/goto", {"at": first["head"]})
    assert client.get(f"/stories/{first['id']}")["step"] == 1


def test_an_edited_passage_says_so_and_the_later_ones_can_stay(client: Client) -> None:
    first = client.begin()
    client.write(first["id"], steps=2)
    cost = client.get(f"/stories/{first['id']}/replay-cost", ref="1")
    assert cost["passages"] == 3
    client.send(
        "POST", f"/stories/{first['id']}/passage", {"at": "1", "text": "Nobody tends the lamp.", "replay": True}
    )
    after = client.wait(first["id"])
    assert after["step"] == 3
    assert client.texts(after)[0] == "Nobody tends the lamp."
    assert [entry[2] for entry in after["path"]] == ["edited", "model", "model"]


def test_memory_plans_summary_brief_and_title_are_edited_in_place(client: Client) -> None:
    story = client.begin()["id"]
    client.send("PUT", f"/stories/{story}/memory", {"text": "Mira is afraid of the dark."})
    client.send("PUT", f"/stories/{story}/plans", {"plans": ["She leaves.", "She stays."]})
    client.send("PUT", f"/stories/{story}/summary", {"text": "The lamp went out.", "at": "1"})
    client.send("PUT", f"/stories/{story}/brief", {"premise": "Mira fears a lamp."})
    client.send("PUT", f"/stories/{story}/title", {"title": "The Lamp"})
    after = client.get(f"/stories/{story}")
    assert after["memory"]["now"] == ["Mira is afraid of the dark."]
    assert after["plans"] == ["She leaves.", "She stays."]
    assert (after["premise"], after["title"]) == ("Mira fears a lamp.", "The Lamp")
    assert client.get(f"/stories/{story}/passages", ids=after["head"])[0]["summary"] == "The lamp went out."


def test_the_list_of_stories_tells_the_genre_and_the_premise_as_they_are_now(client: Client) -> None:
    story = client.begin(genre="mystery", premise="Ines tends a lamp.")["id"]
    client.get("/stories")
    client.send("PUT", f"/stories/{story}/brief", {"genre": "western", "premise": "Ines fears a lamp."})
    (line,) = client.get("/stories")["stories"]
    assert (line["genre"], line["premise"]) == ("western", "Ines fears a lamp.")


def test_the_truth_is_shown_to_who_asks_and_edited_with_what_of_it_was_told(client: Client) -> None:
    story = client.begin()["id"]
    before = client.get(f"/stories/{story}/hidden")
    assert before["truth"]
    assert before["truth"] not in json.dumps(client.get(f"/stories/{story}"))
    clues = ["[done] A feather: passage 1", "A song: passage 3"]
    outline = ["[done] The lamp goes out.", "Mira leaves."]
    client.send("PUT", f"/stories/{story}/brief", {"truth": "Bo did it.", "clues": clues, "outline": outline})
    assert client.get(f"/stories/{story}/hidden") == {"truth": "Bo did it.", "clues": clues}
    assert client.get(f"/stories/{story}")["outline"] == outline


def test_recalled_passages_come_with_their_piece_and_score(client: Client) -> None:
    story = client.begin()
    after = client.write(story["id"], steps=3)
    recalled = client.get(f"/stories/{story['id']}/memory", at="4")["recalled"]
    assert recalled
    for entry in recalled:
        codex = client.get(f"/stories/{story['id']}/codex", at=str(entry["step"]))
        facts = [line["text"] for known in codex for line in known["lines"]]
        said = " ".join(" ".join([*client.texts(after), entry["summary"], *facts]).split())
        assert entry["piece"]
        assert " ".join(entry["piece"].split()) in said
    assert all(-1 <= entry["score"] <= 1 and 1 <= entry["step"] < 4 for entry in recalled)


def test_a_recalled_passage_comes_with_its_corrected_summary(client: Client) -> None:
    story = client.begin()["id"]
    client.write(story, steps=2)
    client.send("PUT", f"/stories/{story}/summary", {"at": "1", "text": "Zoltan owes Mira a horse."})
    client.write(story)
    recalled = client.get(f"/stories/{story}/memory", at="4")["recalled"]
    assert {entry["step"]: entry["summary"] for entry in recalled}[1] == "Zoltan owes Mira a horse."


def test_a_search_finds_the_passage_that_says_it(client: Client) -> None:
    story = client.begin()["id"]
    said = "Zebedee polished the brass barometer in his cellar."
    client.send("POST", f"/stories/{story}/passage", {"at": "1", "text": said})
    client.wait(story)
    client.write(story, steps=3)
    found = client.get(f"/stories/{story}/search", query="Zebedee polished the barometer")
    assert found[0]["step"] == 1
    assert found[0]["piece"] == said


def test_the_memory_panel_asks_the_hosts_vector_store(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECURRENTGPT_EMBEDDER")
    monkeypatch.setattr(MiniLM, "embed_query", _no_embedder)
    monkeypatch.setattr(MiniLM, "embed_documents", _no_embedder)
    settings = {"model": paced(tmp_path, 0.0), "vector_store": InMemoryVectorStore(HashEmbeddings()), "seed": 7}
    app = create_app(library, folder=tmp_path / "desk", given=settings)
    with TestClient(app, base_url=HOST, client=HERE) as opened:
        client = Client(opened, settings["model"])
        story = client.begin()["id"]
        head = client.write(story, steps=4)["head"]
        recalled = client.get(f"/stories/{story}/memory", at=head)["recalled"]
    assert recalled
    assert all(entry["piece"] for entry in recalled)


def _no_embedder(*given: object) -> Never:
    raise AssertionError("The packaged embedder was asked.")


def test_the_budget_stops_before_it_is_exceeded(client: Client) -> None:
    story = client.begin()["id"]
    usage = client.get(f"/stories/{story}/usage")
    spent = usage["input_tokens"] + usage["output_tokens"]
    client.send("PUT", f"/stories/{story}/settings", {"values": {"budget": spent + 10}})
    assert client.write(story, steps=5)["step"] == 1
    assert "budget" in client.jobs(story).state.error
    client.send("PUT", f"/stories/{story}/settings", {"values": {"budget": None}})
    assert client.write(story, number=1)["step"] == 2


@pytest.mark.parametrize("format", ["md", "txt", "epub", "docx", "html", "play-html"])
def test_a_story_is_saved_in_every_format(client: Client, format: str) -> None:
    story = client.begin()["id"]
    client.send("PUT", f"/stories/{story}/title", {"title": "Lamp: a/b\\c “d”"})
    answer = client.http.get(f"{API}/stories/{story}/export", params={"format": format})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''Lamp%20")
    assert "/" not in answer.headers["content-disposition"]
    assert answer.headers["content-disposition"].endswith(f".{format.removeprefix('play-')}")
    assert len(answer.content) > 500


def test_a_book_is_saved_with_the_marks_that_its_reader_wants(client: Client) -> None:
    story = client.begin()["id"]
    client.send("POST", f"/stories/{story}/passage", {"at": "1", "text": '"Who is there?" she asked.', "replay": False})
    client.wait(story)
    texts = [
        client.http.get(f"{API}/stories/{story}/export", params={"format": "txt", "quotes": quotes}).text
        for quotes in ("false", "true")
    ]
    assert ['"Who is there?"' in text for text in texts] == [True, False]
    assert ["“Who is there?”" in text for text in texts] == [False, True]


def test_what_is_refused_is_refused_in_one_sentence(client: Client) -> None:
    story = client.begin()["id"]
    path = f"/stories/{story}"
    assert client.refused("GET", "/stories/nothing")[0] == 404
    assert client.refused("GET", "/stories/..%2f..%2fetc")[0] in (404, 422)
    assert client.refused("POST", f"{path}/write", {"number": 9})[0] == 422
    assert client.refused("POST", f"{path}/write", {"number": 0})[0] == 422
    assert client.refused("POST", f"{path}/write", {"plan": " "})[0] == 422
    assert client.refused("POST", f"{path}/write", {"steps": 1000})[0] == 422
    assert client.refused("POST", f"{path}/write", {"nonsense": 1})[0] == 422
    assert client.refused("POST", f"{path}/goto", {"at": "99"})[0] == 404
    assert client.refused("POST", f"{path}/redo")[0] == 409
    assert client.refused("POST", f"{path}/keep")[0] == 409
    assert client.refused("PUT", f"{path}/memory", {"text": "One. " * 30})[0] == 422
    assert client.refused("POST", "/stories", {"settings": {"min_words": 5000}})[0] == 422
    assert client.refused("POST", "/stories", {"settings": {"base_url": "http://x"}})[0] == 422
    status, why = client.refused("GET", f"{path}/export", format="scrivener-project")
    assert (status, "a book can be written as" in why) == (422, True), "a package may add a format of such a name"
    _, why = client.refused("POST", f"{path}/write", {"plan": 5})
    assert why.startswith("plan:")


def test_a_story_without_words_in_its_wish_is_drawn(client: Client) -> None:
    story = client.begin(genre="", premise="")
    assert story["genre"]
    assert story["step"] == 1


def test_a_story_begins_in_its_own_language_and_person(client: Client) -> None:
    story = client.begin(settings={"language": "Latin", "point_of_view": "first"})["id"]
    kept = client.get(f"/stories/{story}/settings")["values"]
    assert (kept["language"], kept["point_of_view"]) == ("Latin", "first")


def test_a_story_begins_in_the_genre_and_the_language_of_its_wish(client: Client) -> None:
    story = client.begin(genre="", premise="A gothic story. In French, please.")
    assert story["genre"] == "gothic"
    assert client.get(f"/stories/{story['id']}/settings")["values"]["language"] == "French"
    client.send("PUT", f"/stories/{story['id']}/settings", {"values": {"plans": 5}})
    assert client.get(f"/stories/{story['id']}/settings")["values"]["language"] == "French"


def test_play_is_a_mode_of_the_same_story(client: Client) -> None:
    assert client.begin(play=True)["mode"] == "fiction"


def test_two_writers_of_one_story_are_told_apart(client: Client) -> None:
    story = client.begin()["id"]
    (client.app.state.desk.disk.folder.parent / "hold").touch()
    client.send("POST", f"/stories/{story}/write", {"number": 1})
    status, why = client.refused("POST", f"/stories/{story}/write", {"number": 2})
    assert status == 409
    assert "stop it" in why
    (client.app.state.desk.disk.folder.parent / "hold").unlink()
    assert client.wait(story)["step"] == 2


def test_the_interface_is_described(client: Client) -> None:
    described = client.get("/openapi.json")
    assert len(described["paths"]) > 25
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    assert all(operation.get("description") for operation in operations)
    assert json.dumps(described)


def used(usage: dict[str, Any]) -> int:
    return int(usage["input_tokens"] + usage["output_tokens"])


def test_other_takes_and_failed_work_are_counted_and_the_budget_is_of_all(client: Client, tmp_path: Path) -> None:
    story = client.begin()["id"]
    once = client.get(f"/stories/{story}/usage")
    assert used(once) == used(once["in_all"])
    for _ in range(2):
        client.send("POST", f"/stories/{story}/retry", {})
        client.wait(story)
    taken = client.get(f"/stories/{story}/usage")
    assert used(taken["in_all"]) > 2 * used(taken) > 0
    assert taken["passages"] == 1
    # The memory fails, when the passage is written and paid for.
    (tmp_path / "refuse-memory").touch()
    client.write(story, number=1)
    assert client.jobs(story).state.error
    failed = client.get(f"/stories/{story}/usage")
    assert used(failed["in_all"]) > used(taken["in_all"])
    assert used(failed) == used(taken)
    # Whoever opens the story again is told the same.
    client.app.state.desk.stories.clear()
    assert client.get(f"/stories/{story}/usage")["in_all"] == failed["in_all"]
    (tmp_path / "refuse-memory").unlink()
    client.write(story)
    done = client.get(f"/stories/{story}/usage")
    # What was paid for before it failed is counted once, with the passage that it came to.
    assert used(done["in_all"]) - used(failed["in_all"]) < used(done) - used(taken)
    client.send("PUT", f"/stories/{story}/settings", {"values": {"budget": used(done["in_all"]) + 10}})
    assert client.write(story, number=1)["step"] == 2
    assert "on all its branches" in client.jobs(story).state.error


MINE, THEIRS = "The lamp was out when Harriet came.", "Rain had put the lamp out before Harriet came."


@pytest.mark.parametrize("replay", [False, True])
def test_an_edit_that_is_stopped_before_it_begins_is_kept(client: Client, replay: bool) -> None:
    story = client.write(client.begin()["id"])["id"]
    first = client.get(f"/stories/{story}")["path"][0][0]
    hold = client.model.hold.with_name("hold-memory")
    hold.touch()
    client.send("POST", f"/stories/{story}/passage", {"at": first, "text": MINE, "replay": replay})
    client.send("POST", f"/stories/{story}/stop")
    view = client.wait(story)
    kept = {edit["text"] for edit in view["pending_edits"]} | {(view["pending_replay"] or {}).get("text")}
    assert MINE in kept


def test_every_edit_that_is_refused_is_kept_until_it_is_saved_or_forgotten(client: Client, tmp_path: Path) -> None:
    story = client.write(client.begin()["id"])["id"]
    first, second = (entry[0] for entry in client.get(f"/stories/{story}")["path"])

    def edited(at: str, text: str, **more: str) -> dict[str, Any]:
        client.send("POST", f"/stories/{story}/passage", {"at": at, "text": text, **more})
        return client.wait(story)

    def pending(view: dict[str, Any]) -> set[tuple[str, str]]:
        return {(edit["seen"], edit["text"]) for edit in view["pending_edits"]}

    (tmp_path / "refuse").touch()
    edited(first, MINE)
    # Refused once more, of another passage, and of the same one on another page.
    assert pending(edited(first, MINE)) == {(first, MINE)}
    edited(second, MINE)
    view = edited(first, THEIRS)
    assert pending(view) == {(first, MINE), (second, MINE), (first, THEIRS)}
    # One that was typed on takes the place of the one that it was made from.
    theirs = next(edit["key"] for edit in view["pending_edits"] if edit["text"] == THEIRS)
    view = edited(first, f"{THEIRS} Nobody minded.", instead=theirs)
    assert pending(view) == {(first, MINE), (second, MINE), (first, f"{THEIRS} Nobody minded.")}
    (tmp_path / "refuse").unlink()
    assert pending(edited(second, MINE)) == {(first, MINE), (first, f"{THEIRS} Nobody minded.")}
    # A new server finds them where the first one left them.
    client.http.portal.call(client.jobs(story).saved)
    client.app.state.desk.stories.clear()
    view = client.get(f"/stories/{story}")
    assert pending(view) == {(first, MINE), (first, f"{THEIRS} Nobody minded.")}
    key = next(edit["key"] for edit in view["pending_edits"] if edit["text"] == MINE)
    client.answer(client.http.delete(f"/desk/api/stories/{story}/passage", params={"key": key}))
    assert pending(client.get(f"/stories/{story}")) == {(first, f"{THEIRS} Nobody minded.")}


def test_an_edit_that_cannot_be_kept_is_refused(client: Client, tmp_path: Path) -> None:
    story = client.begin()["id"]
    at = client.get(f"/stories/{story}")["head"]
    file = tmp_path / "desk" / f"{story}.json"
    kept = file.read_text()
    # Where a folder has its name, no file can be written.
    file.unlink()
    file.mkdir()
    status, why = client.refused("POST", f"/stories/{story}/passage", {"at": at, "text": MINE})
    assert status >= 400
    assert "Cannot write" in why
    view = client.wait(story)
    assert (view["head"], view["pending_edits"]) == (at, [])
    file.rmdir()
    file.write_text(kept)
    client.send("POST", f"/stories/{story}/passage", {"at": at, "text": MINE})
    assert client.texts(client.wait(story)) == [MINE]


def test_a_passage_that_was_changed_meanwhile_is_not_saved_over_unseen(client: Client) -> None:
    story = client.begin()["id"]
    at = client.get(f"/stories/{story}")["head"]
    # What changes elsewhere in it is no other text.
    client.send("PUT", f"/stories/{story}/memory", {"text": "The lamp is out.", "seen": at})
    seen = client.get(f"/stories/{story}")["head"]
    client.send("POST", f"/stories/{story}/passage", {"at": seen, "text": MINE, "seen": at})
    head = client.wait(story)["head"]
    for newest in (seen, head):
        body = {"at": newest, "text": THEIRS, "seen": at}
        status, why = client.refused("POST", f"/stories/{story}/passage", body)
        assert status == 409
        assert "was changed meanwhile" in why
    assert client.texts(client.get(f"/stories/{story}")) == [MINE]
    client.send("POST", f"/stories/{story}/passage", {"at": head, "text": THEIRS, "seen": head})
    assert client.texts(client.wait(story)) == [THEIRS]


@pytest.mark.parametrize("what", ["memory", "summary"])
def test_a_page_that_shows_an_older_version_edits_the_one_that_stands(client: Client, what: str) -> None:
    story = client.begin()["id"]
    shown = client.get(f"/stories/{story}")["head"]
    (old,) = client.get(f"/stories/{story}/passages", ids=shown)
    client.send("PUT", f"/stories/{story}/plans", {"plans": ["She leaves."]})
    seen = old["summary"] if what == "summary" else shown
    client.send("PUT", f"/stories/{story}/{what}", {"at": shown, "seen": seen, "text": MINE})
    after = client.get(f"/stories/{story}")
    (there,) = client.get(f"/stories/{story}/passages", ids=after["head"])
    assert MINE in ("\n".join(after["memory"]["now"]), there["summary"])
    assert after["plans"] == ["She leaves."]


@pytest.mark.parametrize("replay", [False, True])
def test_a_text_that_is_saved_by_an_older_version_stands_behind_what_was_changed_before_it(
    client: Client, replay: bool
) -> None:
    story = client.begin()["id"]
    shown = client.write(story)["head"]
    client.send("POST", f"/stories/{story}/passage", {"at": "1", "text": THEIRS, "replay": True})
    client.wait(story)
    body = {"at": shown, "seen": shown, "text": MINE, "replay": replay}
    client.send("POST", f"/stories/{story}/passage", body)
    assert client.texts(client.wait(story)) == [THEIRS, MINE]


def test_whoever_names_a_version_and_has_seen_none_edits_that_one(client: Client) -> None:
    story = client.begin()["id"]
    first = client.get(f"/stories/{story}")["head"]
    client.send("PUT", f"/stories/{story}/plans", {"plans": ["She leaves."]})
    client.send("PUT", f"/stories/{story}/memory", {"at": first, "text": MINE})
    assert client.get(f"/stories/{story}")["plans"] != ["She leaves."]


def test_a_long_term_entry_that_was_changed_meanwhile_is_not_saved_over_unseen(client: Client) -> None:
    story = client.begin()["id"]
    shown = client.get(f"/stories/{story}")["head"]
    (passage,) = client.get(f"/stories/{story}/passages", ids=shown)
    client.send("PUT", f"/stories/{story}/summary", {"text": MINE, "at": shown, "seen": passage["summary"]})
    for at in (shown, client.get(f"/stories/{story}")["head"]):
        body = {"text": THEIRS, "at": at, "seen": passage["summary"]}
        status, why = client.refused("PUT", f"/stories/{story}/summary", body)
        assert status == 409
        assert "changed meanwhile" in why
    client.send("PUT", f"/stories/{story}/summary", {**body, "seen": MINE})


def test_a_memory_that_was_changed_meanwhile_is_not_saved_over_unseen(client: Client) -> None:
    story = client.begin()["id"]
    at = client.get(f"/stories/{story}")["head"]
    client.send("PUT", f"/stories/{story}/memory", {"text": MINE, "at": at, "seen": at})
    head = client.get(f"/stories/{story}")["head"]
    body = {"text": THEIRS, "at": head, "seen": at}
    status, why = client.refused("PUT", f"/stories/{story}/memory", body)
    assert status == 409
    assert "was changed meanwhile" in why
    # What the same page has saved itself, while somebody typed on, is no change of another one.
    client.send("PUT", f"/stories/{story}/memory", {**body, "saved": MINE})
    assert client.get(f"/stories/{story}")["memory"]["now"] == [THEIRS]


def test_what_was_written_lately_are_passages_by_their_first_version_and_none_that_were_imported(
    client: Client,
) -> None:
    view = client.begin()
    view = client.write(view["id"])
    [(first, _), (_, last)] = view["recent"]
    assert [words for _, words in view["recent"]] == [entry[1] for entry in view["path"]]
    client.send("POST", f"/stories/{view['id']}/passage", {"at": "1", "text": "Ines rows home.", "replay": True})
    assert client.wait(view["id"])["recent"][0] == [first, 3]
    assert client.get(f"/stories/{view['id']}")["recent"][1][1] == last
    book = client.http.post(f"{API}/imports/begin", files={"file": ("book.txt", "Ines rows home. " * 40)}).json()[
        "story"
    ]
    imported = client.wait(book)
    assert (len(imported["path"]) > 0, imported["recent"]) == (True, [])
    client.send("POST", f"/stories/{book}/passage", {"at": "1", "text": "Ines walks home."})
    assert client.wait(book)["recent"] == []


def test_what_the_page_has_a_button_for_is_told_without_a_command(client: Client) -> None:
    view = client.write(client.begin()["id"])
    story = client.jobs(view["id"]).story
    for event in story.edit_passage(1, "Ines rows home.", replay=True):
        if event["event"] == "replay":
            break
    client.send("POST", f"/stories/{view['id']}/passage", {"at": "2", "text": "Ines walks home.", "replay": True})
    client.wait(view["id"])
    said = "The edit of passage 1 is unfinished: go on with it first, or give it up."
    assert client.jobs(view["id"]).state.error == said
    _, lost = client.refused("POST", f"/stories/{view['id']}/goto", {"at": "77"})
    assert ("recurrentgpt" in lost, lost.endswith("the map shows them.")) == (False, True)


def unopened(client: Client, premise: str) -> str:
    """Begin a story whose first call fails, and return its id."""
    refuse = client.model.hold.with_name("refuse")
    refuse.touch()
    story: str = client.send("POST", "/stories", {"genre": "mystery", "premise": premise})["story"]
    assert client.wait(story)["opened"] is False
    refuse.unlink()
    return story


def test_a_story_that_is_not_opened_begins_from_a_premise_that_was_changed(client: Client) -> None:
    story = unopened(client, "A cook finds a map.")
    for path in ("tree", "export?format=md"):
        status, why = client.refused("GET", f"/stories/{story}/{path}")
        assert (status, "Nothing of this story is written yet" in why) == (404, True)
    assert "500 fit" in client.refused("PUT", f"/stories/{story}/brief", {"premise": "map " * 501})[1]
    assert client.refused("PUT", f"/stories/{story}/brief", {"characters": ["Ines"]})[0] == 404
    client.send("PUT", f"/stories/{story}/brief", {"premise": "A ferry sinks.", "genre": "western"})
    before = len(client.model.calls)
    view = client.write(story)
    assert (view["premise"], view["genre"], view["step"]) == ("A ferry sinks.", "western", 1)
    asked = "\n".join(str(message.text) for call in client.model.calls[before:] for message in call)
    assert "A ferry sinks." in asked
    assert "A cook finds a map." not in asked


@pytest.mark.parametrize("chosen", [None, "Latin"])
def test_the_language_follows_a_premise_that_was_changed_unless_it_was_chosen(
    client: Client, chosen: str | None
) -> None:
    story = unopened(client, "Ein Koch findet im Keller eine alte Karte und folgt ihr bis zum Meer.")
    path = f"/stories/{story}/settings"
    assert client.get(path)["values"]["language"] == "German"
    if chosen:
        client.send("PUT", path, {"values": {"language": chosen}})
    french = "Une cuisinière trouve une vieille carte dans la cave et la suit jusqu'à la mer."
    client.send("PUT", f"/stories/{story}/brief", {"premise": french})
    assert client.get(path)["values"]["language"] == (chosen or "French")


@pytest.mark.parametrize("is_saved", [False, True])
def test_a_story_that_begins_while_its_premise_is_changed_begins_from_what_was_answered(
    client: Client, monkeypatch: pytest.MonkeyPatch, is_saved: bool
) -> None:
    story = unopened(client, "A cook finds a map.")
    jobs, begun = client.jobs(story), list[str]()
    write = jobs.disk.write

    async def begin() -> None:
        if not begun:
            begun.append(story)
            jobs.start("write", write_passages(jobs, 1), asked=1)
            await words_come(client, story)

    async def look(premise: str) -> str:
        await begin()
        return await language_of(premise)

    def save(name: str, changes: dict[str, Any]) -> None:
        client.http.portal.call(begin)
        write(name, changes)

    client.model.hold.touch()
    if is_saved:
        monkeypatch.setattr(jobs.disk, "write", save)
    else:
        monkeypatch.setattr(service, "language_of", look)
    answer = client.http.put(f"{API}/stories/{story}/brief", json={"premise": "A ferry sinks."})
    assert (begun, jobs.draft is None) == ([story], False)
    client.model.hold.unlink()
    view = client.wait(story)
    assert (answer.status_code, view["premise"]) == (
        (200, "A ferry sinks.") if is_saved else (409, "A cook finds a map.")
    )
    assert (view["step"], jobs.state.error) == (1, "")


def test_a_premise_that_cannot_be_saved_is_not_taken(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    story = unopened(client, "A cook finds a map.")

    def full(*written: object) -> None:
        raise StorageError("There is no room on the disk.")

    with monkeypatch.context() as patch:
        patch.setattr(client.jobs(story).disk, "write", full)
        assert "no room" in client.refused("PUT", f"/stories/{story}/brief", {"premise": "A ferry sinks."})[1]
    assert client.get(f"/stories/{story}")["premise"] == "A cook finds a map."
    assert client.write(story)["premise"] == "A cook finds a map."
