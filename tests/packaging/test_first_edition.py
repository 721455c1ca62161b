"""What the first edition left on a disk opens as before: stories, threads, exports, runs, prompts and settings.

The files are in tests/fixtures/first_edition, made by the program of commit d2904b3 (see make.py there), and so is
expected.json: what that program said of them. Whatever fails here is somebody's story that does not open any more.
"""

import dataclasses
import json
import runpy
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from langchain_core.messages import HumanMessage, convert_to_messages
from langgraph.types import Command

from recurrentgpt import Context, Library, Story, build_step_graph, build_story_graph
from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.desk.app import create_app
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_answers
from tests.desk.conftest import HERE, HOST, Client

FIXTURES = Path(__file__).parents[1] / "fixtures" / "first_edition"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))
STORIES, THREADS, DESK, STUDIES = (EXPECTED[name] for name in ("stories", "threads", "desk", "studies"))
NOVEL = STORIES["novel"]
OWN = "Corvin burns the ledger in the kitchen."
OTHER = "Corvin writes the ledger anew, from memory."


@pytest.fixture
def home(user_folder: Path) -> Path:
    """Give the user a copy of the first edition's home."""
    return Path(shutil.copytree(FIXTURES / "home", user_folder))


@pytest.fixture
def library(home: Path) -> Iterator[Library]:
    with Library.open(home) as opened:
        yield opened


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Give a copy for all tests that only read."""
    with Library.open(shutil.copytree(FIXTURES / "home", tmp_path_factory.mktemp("first") / "home")) as opened:
        yield opened


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Give the command as `python -m recurrentgpt` runs it, in this process."""

    def run(*arguments: object) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["recurrentgpt", *map(str, arguments)])
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        capsys.readouterr()
        try:
            with pytest.raises(SystemExit) as left:
                runpy.run_module("recurrentgpt", run_name="__main__")
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        out, err = capsys.readouterr()
        return SimpleNamespace(code=left.value.code, out=out, err=err)

    return run


def opened(library: Library, name: str, **settings: object) -> Story:
    return Story.open(STORIES[name]["id"], library=library, **settings)


def prompts_for_prose(model: ScriptedChatModel) -> list[str]:
    asked = ["\n".join(str(message.text) for message in call) for call in model.calls]
    return [text for text in asked if "JSON schema:" not in text]


def within(found: object, wanted: object) -> object:
    """Return what `found` has of all that `wanted` names, at any depth: a later edition may tell more."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return {name: within(found.get(name), value) for name, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(found, list | tuple) and len(found) == len(wanted):
        return [within(*pair) for pair in zip(found, wanted, strict=True)]
    return found


# Stories

CORRECTED_SUMMARY = "Mira learns who paid for the oil."


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_what_it_was(unchanged, name):
    wanted, story = STORIES[name], opened(unchanged, name)
    pending = story.pending_replay
    # The first edition kept a corrected summary apart, and showed what the model had said.
    corrected = {passage.id: passage.summary for passage in story.passages()} if name == "novel" else {}
    assert (CORRECTED_SUMMARY in corrected.values()) == (name == "novel")
    for passage in wanted["passages"]:
        if corrected.get(passage["id"]) == CORRECTED_SUMMARY:
            passage["summary"] = CORRECTED_SUMMARY
    found = {
        "title": story.title,
        "brief": story.brief,
        "record": story.record,
        "settings": story.settings,
        "head": story.head,
        "memory": story.memory,
        "rationale": story.rationale,
        "plans": story.plans,
        "waiting_plan": story.waiting_plan,
        "usage": story.usage,
        "whole_usage": story.whole_usage,
        "names": story.names(),
        "tree": story.tree().as_json(),
        "path": [passage.id for passage in story.passages()],
        "passages": [dataclasses.asdict(story.passage(passage["id"])) for passage in wanted["passages"]],
        "pending_replay": dataclasses.asdict(pending) if pending else None,
    }
    for key, value in found.items():
        assert within(value, wanted[key]) == wanted[key], key
    assert story.names() == wanted["names"]
    assert len(story.tree().nodes) == len(wanted["passages"])


def test_every_story_is_listed_and_the_archived_one_is_put_away(unchanged):
    listed = [dataclasses.asdict(summary) for summary in unchanged.stories(archived=True)]
    assert within(listed, EXPECTED["listed"]) == EXPECTED["listed"]
    away = {summary["story"] for summary in EXPECTED["listed"]} - {row.story for row in unchanged.stories()}
    assert away == {STORIES["archived"]["id"]}


def test_what_an_old_story_remembers_is_found(unchanged):
    story = opened(unchanged, "novel")
    for passage in story.passages()[:-1]:
        assert story.search(passage.text, k=1)[0].id == passage.id


@pytest.mark.parametrize(
    ("name", "words"),
    [("novel", None), ("stopped before the words", None), ("stopped in the memory", "words")],
)
def test_a_plan_that_waited_is_written_next(library, model, name, words):
    wanted = STORIES[name]
    story = opened(library, name, model=model)
    passage = story.step()
    assert passage.plan == wanted["waiting_plan"]
    assert passage.step == len(wanted["path"]) + 1
    assert story.waiting_plan is None
    assert [found.id for found in story.passages()] == [*wanted["path"], passage.id]
    asked = prompts_for_prose(model)
    if words:
        assert passage.text == wanted[words]
        assert asked == [], "the words were there already"
        return
    assert len(asked) == 1
    assert passage.text not in [old["text"] for old in wanted["passages"]]
    for line in [wanted["waiting_plan"], wanted["brief"]["premise"], *wanted["memory"].splitlines()]:
        assert line in asked[0]


def test_what_was_undone_is_done_again(library):
    story = opened(library, "novel")
    assert story.redo().id == NOVEL["ahead"]
    assert story.undo().id == NOVEL["head"]


@pytest.mark.parametrize("name", NOVEL["names"])
def test_a_branch_is_gone_to_by_its_name_and_takes_it_along(library, model, name):
    story = opened(library, "novel", model=model)
    assert story.goto(name).id == NOVEL["names"][name]
    passage = story.step()
    assert story.names() == {**NOVEL["names"], name: passage.id}
    assert passage.parent == NOVEL["names"][name]


def test_a_story_to_play_goes_on(library, model):
    played, asked = opened(library, "fiction", model=model), opened(library, "asked who to be", model=model)
    for story, name in ((played, "fiction"), (asked, "asked who to be")):
        chosen = story.choose(2)
        assert chosen == STORIES[name]["plans"][1]
        assert (story.step().plan, story.context.mode) == (chosen, "fiction")


def test_a_replay_that_broke_off_is_ended(library, model):
    story, wanted = opened(library, "stopped in a replay", model=model), STORIES["stopped in a replay"]
    replay = wanted["pending_replay"]
    list(story.resume_replay())
    old = {passage["id"]: passage["text"] for passage in wanted["passages"]}
    texts = [passage.text for passage in story.passages()]
    assert texts == [replay["text"], *(old[key] for key in wanted["path"][1:])]
    assert story.pending_replay is None
    assert prompts_for_prose(model) == []
    assert len(model.calls) == replay["total"] - replay["done"] + 1, "a memory for each that was left, and the plans"


def test_an_import_that_broke_off_is_ended(library, model):
    wanted, half = STORIES["imported"], STORIES["half imported"]
    settings = {name: half["settings"][name] for name in ("min_words", "max_words")}
    events = list(library.import_book(FIXTURES / "book.txt", copy="half", model=model, **settings))
    done = [event for event in events if event["event"] == "import"]
    assert [event["kept"] for event in done] == [True] * len(half["path"]) + [False] * 3
    assert [event["id"] for event in done][: len(half["path"])] == half["path"]
    texts = [passage.text for passage in opened(library, "half imported").passages()]
    kept = {passage["id"]: passage["text"] for passage in wanted["passages"]}
    assert texts == [kept[key] for key in wanted["path"]]


# Threads of a host's own graph


@dataclasses.dataclass
class GoesOn:
    """How a thread goes on, and what is to come of it."""

    given: object = None
    plan: str = ""
    """What the first new passage is written from; by default what stood in the thread."""
    passages: int = 1
    written: int | None = None
    """How many of them the model writes; by default all."""
    heard: str = ""
    """What the human said last, as a chat shows it."""


def plan_of(name: str, number: int = 0) -> str:
    values = THREADS[name]["values"]
    return values["candidate_plans"][number - 1] if number else values["plan"]


GO_ON = {
    "waits": GoesOn(Command(resume=3), plan_of("waits", 3), heard=plan_of("waits", 3)),
    "asked-again": GoesOn(Command(resume=1), plan_of("asked-again", 1), heard=plan_of("asked-again", 1)),
    "founded": GoesOn(),
    "opening": GoesOn(),
    "chosen": GoesOn(heard=plan_of("chosen")),
    "words": GoesOn(plan=OWN, heard=OWN),
    "memory": GoesOn(written=0, heard=plan_of("memory")),
    "written": GoesOn(written=0, heard=plan_of("written")),
    "take": GoesOn(),
    "piloted": GoesOn(passages=2),
    "chooses": GoesOn(passages=2),
    "chat": GoesOn({"messages": [HumanMessage("1")]}, plan_of("chat", 1), heard="1"),
    "chat-words": GoesOn(plan=OWN, heard=OWN),
    "one-step": GoesOn({"story": "host-one-step", "plan": OTHER}, OTHER, heard=OTHER),
}


def test_every_thread_is_tried():
    assert GO_ON.keys() == THREADS.keys()


@pytest.mark.parametrize("name", GO_ON)
async def test_a_thread_goes_on_where_it_stood(home, model, name):
    wanted, going = THREADS[name], GO_ON[name]
    async with open_persistence(folder=home) as persistence:
        build = build_step_graph if name == "one-step" else build_story_graph
        graph = build(checkpointer=persistence.saver, store=persistence.store)
        config = {"configurable": {"thread_id": name}}
        state = await graph.aget_state(config)
        assert sorted(task.name for task in state.tasks) == wanted["tasks"]
        asked = [item.value for task in state.tasks for item in task.interrupts]
        assert within(asked, wanted["asked"]) == wanted["asked"]
        selector = "simulator" if name == "chooses" else "human"
        context = Context(model=model, selector=selector, min_words=20, max_words=60, seed=7, new_character=0.0)
        result = await graph.ainvoke(going.given, config, context=context, durability="sync")
    library = await Library.aopen(home)
    passages = await (await Story.aopen(wanted["story"], library=library)).apassages()
    await library.aclose()
    # Another take stands beside the passage that it was asked for.
    before = wanted["texts"][:-1] if name == "take" else wanted["texts"]
    assert [passage.text for passage in passages[: len(before)]] == before
    new = passages[len(before) :]
    assert len(new) == going.passages
    if name == "chooses":
        assert {passage.plan_author for passage in new} == {"simulator"}
    else:
        assert new[0].plan == (going.plan or plan_of(name))
    assert result["passage"] == new[-1].text
    written = going.passages if going.written is None else going.written
    assert len(prompts_for_prose(model)) == written
    if written:
        assert not {passage.text for passage in new} & set(wanted["texts"])
    else:
        assert new[0].text == wanted["values"]["passage"], "the words were there already"
        assert len(model.calls) == len([task for task in wanted["next"] if task != "commit"]), (
            "so was all that was saved"
        )
    *said, told = convert_to_messages(result["messages"])
    assert told.text.startswith(new[-1].text)
    assert [message.text for message in said] == ([going.heard] if going.heard else [])


# Files


def test_an_export_is_restored_bit_for_bit(unchanged, tmp_path):
    export = (FIXTURES / "novel.json").read_bytes()
    again = json.loads(opened(unchanged, "novel").export(tmp_path / "again.json").read_bytes())
    for link in again["links"].values():
        del link["digest"]  # which the second version of the log adds
    assert again == json.loads(export)
    with Library.open(tmp_path / "elsewhere") as library:
        story = library.restore(FIXTURES / "novel.json")
        assert story.export(tmp_path / "restored.json").read_bytes() == export
        assert story.head == NOVEL["head"]
        assert story.redo().id == NOVEL["ahead"]


@pytest.mark.parametrize("name", ["novel.md", "novel.epub"])
def test_a_book_that_was_exported_is_read(library, name):
    *_, done = library.import_book(FIXTURES / name, fast=True)
    story = Story.open(done["story"], library=library)
    text = " ".join(passage.text for passage in story.passages()).split()
    old = {passage["id"]: passage["text"] for passage in NOVEL["passages"]}
    assert text == " ".join(old[key] for key in NOVEL["path"]).split()
    assert story.title == NOVEL["title"]


def test_prompts_that_were_exported_and_changed_are_used(cli, library, model):
    folder = FIXTURES / "prompts"
    checked = cli("prompts", "check", folder)
    assert checked.code == 0, checked.err
    opened(library, "novel", model=model, prompts=str(folder)).step()
    (asked,) = prompts_for_prose(model)
    assert EXPECTED["changed_prompt"] in asked


def test_the_command_line_opens_the_home(cli, home):
    listed = cli("stories", "--json")
    assert {json.loads(line)["story"] for line in listed.out.splitlines()} >= {NOVEL["id"], STORIES["fiction"]["id"]}
    shown = cli("show", "The Lamp", "--json")
    assert [passage["id"] for passage in json.loads(shown.out)["passages"]] == NOVEL["path"]
    assert "EUR" in cli("show", "The Lamp").out, "what it cost, by the prices in the home"


# Studies


@pytest.fixture
def studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a copy of the runs, and an endpoint that writes on."""
    return Path(shutil.copytree(FIXTURES / "studies", tmp_path / "studies"))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    with FaultyServer(text=story_answers) as server:
        for name, value in (("BASE_URL", server.base_url), ("API_KEY", "no-key")):
            monkeypatch.setenv(f"OPENAI_{name}", value)
        monkeypatch.setenv("RECURRENTGPT_MODEL", "scripted")
        yield server


def novels(run: Path) -> dict:
    return {path.stem: json.loads(path.read_text()) for path in (run / "novels").glob("*.json")}


def test_a_finished_run_is_reported(cli, studies, tmp_path):
    reported = cli("study", "report", studies / "finished", "-o", tmp_path / "report")
    assert reported.code == 0, reported.err
    rows = [json.loads(line) for line in (tmp_path / "report" / "measures.jsonl").read_text().splitlines()]
    assert within(rows, STUDIES["measures"]) == STUDIES["measures"]


def test_a_finished_run_is_replayed_from_its_calls(cli, studies):
    plan = (studies / "finished.toml").read_text()
    (studies / "again.toml").write_text(f'replay = "{studies / "finished" / "calls"}"\n{plan}')
    done = cli("study", "run", studies / "again.toml", "-o", studies / "again")
    assert done.code == 0, done.err
    wanted = {key: novel["text"] for key, novel in STUDIES["finished"]["novels"].items()}
    assert {key: novel["text"] for key, novel in novels(studies / "again").items()} == wanted


def test_an_unfinished_run_goes_on_where_it_stopped(cli, studies, endpoint):
    wanted, run = STUDIES["unfinished"], studies / "unfinished"
    done = cli("study", "run", studies / "unfinished.toml", "-o", run, "--yes")
    assert done.code == 0, done.err
    assert "goes on" in done.err
    found = novels(run)
    (kept,), (begun,) = wanted["novels"], set(found) - set(wanted["novels"])
    assert found[kept]["text"] == wanted["novels"][kept]["text"]
    first, second, *_ = [passage["text"] for passage in found[begun]["passages"]]
    assert [first] == wanted["log"][begun]
    assert wanted["last_reply"].startswith(second), "its words were there already"
    again = cli("study", "run", studies / "unfinished.toml", "-o", run)
    assert again.code == 0, "nothing is left to pay for"


# The desk


@pytest.fixture
def desk(library: Library, home: Path, model: ScriptedChatModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("OPENAI_API_KEY", "")  # so that the key which the desk kept is gone again after the test
    app = create_app(library, folder=home / "desk", given={"model": model, **DESK["given"]})
    with TestClient(app, base_url=HOST, client=HERE) as client:
        yield Client(client, model)


@pytest.mark.parametrize("name", [name for name in DESK if "id" in DESK[name]])
def test_the_desk_shows_what_it_kept(desk, name):
    wanted = dict(DESK[name])
    settings = desk.get(f"/stories/{wanted['id']}/settings")["values"]
    assert within(settings, wanted.pop("settings")) == DESK[name]["settings"]
    wanted.pop("draft", None)
    view = desk.get(f"/stories/{wanted['id']}")
    if edit := wanted.pop("pending_edit", None):
        # It kept one; several can wait by now.
        (waiting,) = view["pending_edits"]
        assert within(waiting, edit) == edit
    assert {key: view.get(key) for key in wanted} == wanted


def test_the_desk_has_its_settings_and_its_key(desk):
    machine = desk.get("/settings")
    assert machine["values"] == DESK["machine"]
    assert machine["key"] == "kept"


def test_words_that_broke_off_are_kept_as_a_passage(desk):
    drafted, aside = DESK["drafted"], DESK["aside"]
    (words,) = aside["aside"]
    desk.get(f"/stories/{drafted['id']}")
    desk.send("POST", f"/stories/{drafted['id']}/keep")
    assert desk.texts(desk.wait(drafted["id"]))[-1] == drafted["draft"]
    desk.get(f"/stories/{aside['id']}")
    desk.send("POST", f"/stories/{aside['id']}/keep?key={words['key']}")
    view = desk.wait(aside["id"])
    assert (view["step"], desk.texts(view)[-1]) == (words["step"], words["text"])


def test_a_story_of_which_nothing_was_written_is_begun(desk):
    story = DESK["unopened"]["id"]
    desk.send("POST", f"/stories/{story}/write", {})
    view = desk.wait(story)
    assert (view["title"], view["premise"], view["step"]) == ("Unopened", "Mira tends a lamp.", 1)
