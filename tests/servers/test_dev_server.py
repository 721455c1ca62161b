"""`langgraph dev` with our langgraph.json, as LangGraph Studio meets it: a real process and a fake model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from recurrentgpt import Library, Story

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.real


@pytest.fixture
def server(processes, environment, tmp_path):
    folder = tmp_path / "server"
    folder.mkdir()
    command = processes.dev_server(processes.config(ROOT, folder))
    it = processes.ServerProcess(command, {**environment, **processes.QUIET}, folder)
    it.start()
    yield it
    it.stop()


def files(folder):
    """Return what a server wrote: databases, the development server's own files, its log."""
    models = folder / "models"
    return [path for path in folder.rglob("*") if path.is_file() and models not in path.parents]


async def test_a_story_through_the_sdk(server, playing, writer, environment, user_folder):
    assert server.addresses() == {"127.0.0.1"}
    async with playing.Play(server.url, writer) as play:
        await play.schemas()
        await play.unknown_setting()
        await play.begin()
        await play.choose()
        await play.answer_at_once()
        await play.edit()
        await play.fork()
        await play.crash(server.kill, server.start)
        await play.autonomous()
        await play.one_step()
    await playing.written_remotely(server.url)
    await playing.two_writers(server.url, writer)
    async with playing.Play(server.url, writer) as again:
        again.thread = play.thread
        told = (await again.state())["values"]
    server.stop()
    kept = b"".join(path.read_bytes() for place in (user_folder, server.folder) for path in files(place))
    assert playing.OWN_PLAN.encode() in kept, "this is where everything is"
    assert environment["OPENAI_API_KEY"].encode() not in kept
    with Library.open(user_folder) as library:
        story = Story.open(told["story"], library=library)
        passages = story.passages()
        assert [passage.step for passage in passages] == list(range(1, told["step"] + 1))
        assert story.head == told["head"]
        tree = story.tree()
        shown = [branch for branch in tree.branches if not branch.superseded]
        assert len(shown) == 2, "the fork left the first branch as it was"
        assert {node.amends != "" for node in tree.nodes.values()} == {True, False}, "edits are amendments"


async def test_a_run_without_a_context_goes_on_as_the_story_is_kept(server, playing, writer, user_folder):
    def voice():
        """Return the prompt that the newest passage was asked for with."""
        asked = [playing.asked(body) for body in writer.requests if "response_format" not in body]
        return " ".join(asked[-1].split())

    first_person, premise = "first person and the present tense", "Greta keeps the clocks of a harbour town."
    chosen = {"point_of_view": "first", "tense": "present", "language": None, "model": None}
    async with playing.Play(server.url, writer) as play:
        runs, threads = play.client.runs, play.client.threads
        play.thread = (await threads.create())["thread_id"]
        await runs.wait(play.thread, "novel", input={"premise": premise}, context=chosen)
        assert first_person in voice()
        await play.answer(1)
        assert first_person in voice()
        with Library.open(user_folder) as library:
            Story.open((await play.state())["values"]["story"], library=library).change_settings(tense="past", plans=5)
        assert len((await play.answer(1))["candidate_plans"]) == 5
        assert "first person and the past tense" in voice()
        await runs.wait(play.thread, "novel", command={"resume": 1}, context={"point_of_view": "third"})
        assert "third person and the past tense" in voice()
        played = (await threads.create())["thread_id"]
        begun = await runs.wait(played, "fiction", input={"premise": premise})
        play.thread = (await threads.create())["thread_id"]
        await runs.wait(play.thread, "novel", input={"story": begun["story"]})
        assert (await play.question())["question"].startswith("Who are you?")
        assert (await play.answer(1))["question"].startswith("What do you do?")


async def test_runs_are_rolled_back_and_deleted(server, playing, writer):
    async with playing.Play(server.url, writer) as play:
        await play.begin()
        await play.roll_back("cancel")
        await play.roll_back("another run")
        await play.deleted_run()
        await play.autonomous()


async def test_a_list_of_threads_tells_the_title_of_each_story(server, playing, writer):
    async with playing.Play(server.url, writer) as play:
        await play.begin()
        values = (await play.state())["values"]
        (thread,) = await play.client.threads.search(metadata={"story": values["story"]})
        assert (thread["thread_id"], thread["metadata"]["title"]) == (play.thread, values["title"])
        assert thread["metadata"]["graph_id"] == "novel", "what the server put there stays"
        await play.client.threads.update_state(play.thread, {"title": "A Lamp Renamed"})
        await play.client.runs.wait(play.thread, "novel")
        await play.answer(1)
        assert (await play.client.threads.get(play.thread))["metadata"]["title"] == "A Lamp Renamed"
        other = (await play.client.threads.create())["thread_id"]
        await play.client.runs.wait(other, "novel", input={"story": values["story"]})
        told = (await play.client.threads.get(other))["metadata"]
        assert (told["story"], told["title"]) == (values["story"], "A Lamp Renamed"), "a thread that opens it by its id"


def test_another_agent_is_told_what_it_does_and_has_a_story_written(server):
    """A2A, as langgraph's server offers it: the card, a premise, and an answer to the question of the task."""
    with httpx.Client(base_url=server.url, timeout=120) as agent:
        described = json.loads((ROOT / "langgraph.json").read_text())["graphs"]["novel"]["description"]
        (assistant,) = agent.post("/assistants/search", json={"graph_id": "novel"}).json()
        place = f"/a2a/{assistant['assistant_id']}"
        card = agent.get(f"{place}/.well-known/agent-card.json").json()
        assert (card["name"], card["description"], card["skills"][0]["description"]) == ("novel", described, described)

        def send(text, **task):
            message = {"messageId": text[:8], "role": "ROLE_USER", "parts": [{"text": text}], **task}
            asked = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
            return agent.post(place, json=asked, headers={"Accept": "application/json"}).json()["result"]["task"]

        first = send("A lighthouse that must stay dark.")
        second = send("2", taskId=first["id"], contextId=first["contextId"])
    questions = []
    for task in (first, second):
        assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        (part,) = task["artifacts"][0]["parts"]
        questions.append(part["data"]["value"])
    assert [question["step"] for question in questions] == [1, 2]
    assert questions[0]["candidate_plans"][1] in json.dumps(second["history"], ensure_ascii=False)


def test_the_desk_is_there_too(server, command):
    """It shows what was written through the server, and writes in it without holding it up."""
    command("write", "--steps", "1")
    with httpx.Client(base_url=f"{server.url}/desk/", timeout=60) as desk:
        assert "script-src 'self'" in desk.get("").headers["content-security-policy"]
        (story,) = desk.get("api/stories").json()["stories"]
        assert story["step"] == 1
        place = f"api/stories/{story['story']}"
        with desk.stream("GET", f"{place}/events") as events:
            assert desk.post(f"{place}/write", json={}).is_success
            told = (json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: "))
            for busy in (True, False):
                assert next(event for event in told if event.get("busy") is busy)["error"] == ""
        assert desk.get(place).json()["step"] == 2
        assert desk.get("api/stories", headers={"X-Forwarded-For": "10.0.0.7"}).status_code == 403
    assert "Blocking call" not in server.log.read_text()


def test_a_remote_graph(server):
    """The example for RemoteGraph, against this server."""
    told = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "remote.py"), server.url], capture_output=True, text=True, timeout=120
    )
    assert told.returncode == 0, told.stderr
    title, second = told.stdout.splitlines()
    assert title.endswith("2 plans")
    assert second.startswith("Passage 2 was written from: ")


@pytest.fixture
def command(server, user_folder):
    """Give the command line, at work on this server."""

    def run(*arguments, stdin="", code=0):
        told = subprocess.run(
            [sys.executable, "-m", "recurrentgpt", *arguments, "--remote", server.url],
            input=stdin, capture_output=True, text=True, timeout=120,
            env={**os.environ, "RECURRENTGPT_HOME": str(user_folder / "nowhere")},
        )  # fmt: skip
        assert told.returncode == code, told.stderr
        return told.stdout if code == 0 else told.stderr

    return run


def test_the_command_line(command, user_folder):
    """Everything that takes --remote, as a person types it."""
    events = [
        json.loads(line) for line in command("write", "--genre", "mystery", "--steps", "2", "--json").splitlines()
    ]
    told = events[0]
    assert [event["step"] for event in events if event["event"] == "passage"] == [1, 2]
    first, second = [event["text"] for event in events if event["event"] == "passage"]
    assert told["title"] in command("stories")
    plan = "Agatha swims to the wreck and brings back the bell."
    third = command("write", told["story"][:6], "--plan", plan, "--steps", "1")
    assert third.strip() not in (first, second)
    tree = json.loads(command("tree", told["story"], "--json"))
    assert [node["step"] for node in tree["passages"]] == [0, 1, 2, 3]
    chosen = command("write", told["title"], "--interactive", stdin="a\n2\nq\n")
    assert third.strip() not in chosen
    tree = json.loads(command("tree", told["story"], "--json"))
    assert sorted(node["step"] for node in tree["passages"]) == [0, 1, 2, 3, 3, 4]
    played = command("play", "--as", "a night nurse", stdin="1\nI bribe the guard.\n/quit\n")
    assert len(played.split("\n\n")) > 2
    assert not (user_folder / "nowhere").exists(), "nothing of it is kept here"


def test_reading_and_going_back_from_the_command_line(command, tmp_path):
    lines = command("write", "--genre", "mystery", "--steps", "3", "--json").splitlines()
    events = [json.loads(line) for line in lines]
    story, texts = events[0]["story"], [event["text"] for event in events if event["event"] == "passage"]
    headings, row = command("stories").splitlines()
    assert headings.split("\t") == ["Story", "Title", "Written (UTC)"]
    assert row.split("\t")[:2] == [story, events[0]["title"]]
    shown = json.loads(command("show", story, "--json"))
    assert [passage["text"] for passage in shown["passages"]] == texts
    assert [passage["usage"]["calls"] > 0 for passage in shown["passages"]] == [True] * 3
    assert [text in command("show", story, "--at", "2") for text in texts] == [True, True, False]
    memory = json.loads(command("memory", story, "--json"))
    assert (memory["step"], bool(memory["short_term_memory"])) == (3, True)
    command("export", story, "-o", str(tmp_path / "novel.md"))
    assert all(text in (tmp_path / "novel.md").read_text() for text in texts)
    assert "whole log" in command("export", story, "-o", str(tmp_path / "all.json"), code=2)
    assert command("goto", story, "1").startswith("Passage 1 (")
    assert json.loads(command("memory", story, "--json"))["step"] == 1
    command("write", story, "--steps", "1")
    tree = json.loads(command("tree", story, "--json"))
    assert [node["step"] for node in tree["passages"]] == [0, 1, 2, 2, 3]
    assert "has no passage 77" in command("goto", story, "77", code=1)


def test_what_a_server_cannot_do_is_said(command):
    assert "what it writes with is its own" in command("write", "--base-url", "http://127.0.0.1:9/v1", code=2)
    assert "No stories" in command("tree", "nothing", code=1)
