"""`write`: what it prints, the events, the options, faults and interrupts."""

from __future__ import annotations

import json
import signal

import pytest

from recurrentgpt.models import roles
from recurrentgpt.testing import FaultyServer

from .conftest import reply, wait_for_requests


def _saved(cli, story):
    return json.loads(cli("show", story, "--json").out)


def test_prose_on_stdout_is_the_story(cli, server):
    result = cli("write", "--genre", "fantasy", "--title", "The Glass Bridge", "--steps", "3")
    assert result.code == 0
    saved = _saved(cli, "the glass bridge")
    assert result.out == "\n\n".join(passage["text"] for passage in saved["passages"]) + "\n"
    assert [passage["step"] for passage in saved["passages"]] == [1, 2, 3]
    last = result.err.splitlines()
    assert last[-1] == f"Continue: recurrentgpt write {saved['story']}"
    assert f"The Glass Bridge ({saved['story']})" in last[-2]
    assert "calls" in last[-2]
    for passage in saved["passages"][1:]:
        assert passage["plan"] in result.err


def test_three_steps_are_the_default(cli, server):
    assert cli("write", "--json").events[-1]["steps"] == 3


def test_json_lines_have_exactly_the_promised_shapes(cli, server):
    result = cli("write", "--genre", "horror", "--steps", "2", "--json")
    assert result.code == 0
    events = result.events
    kinds = [event["event"] for event in events]
    assert kinds == ["story", "passage", "memory", "plans", "passage", "memory", "plans", "done"]
    shapes = {
        "story": {"event", "story", "title"},
        "passage": {"event", "story", "id", "parent", "step", "plan", "text", "contradictions"},
        "memory": {"event", "step", "short_term_memory", "dropped", "added", "recalled"},
        "plans": {"event", "step", "plans", "chosen", "plan"},
        "done": {"event", "story", "steps", "usage", "stopped"},
    }
    assert all(set(event) == shapes[event["event"]] for event in events)
    first, second = [event for event in events if event["event"] == "passage"]
    assert first["parent"] is None
    assert second["parent"] == first["id"]
    plans, last = [event for event in events if event["event"] == "plans"]
    assert plans["plan"] == second["plan"]
    assert plans["chosen"] in range(3)
    assert (last["chosen"], last["plan"]) == (None, None)
    assert set(events[-1]["usage"]) == {"calls", "input_tokens", "cached_tokens", "output_tokens"}
    assert events[-1]["steps"] == 2
    assert all(set(entry) == {"id", "step", "score"} for event in events for entry in event.get("recalled", []))


@pytest.mark.parametrize("name", [lambda story: story, lambda story: story[:5], lambda story: "the GLASS bridge"])
def test_a_story_goes_on_by_id_prefix_and_title(cli, story, name):
    result = cli("write", name(story), "--steps", "1", "--json")
    assert result.code == 0
    assert [event["event"] for event in result.events] == ["story", "plans", "passage", "memory", "plans", "done"]
    choice, passage = result.events[1:3]
    assert (choice["step"], passage["step"]) == (2, 3)
    assert passage["plan"] == choice["plan"]


def test_the_second_proposed_plan_is_written(cli, server, story):
    result = cli("write", story, "--plan", "2", "--steps", "1", "--json")
    choice, passage = result.events[1:3]
    assert (choice["event"], choice["chosen"], choice["step"]) == ("plans", 1, 2)
    assert passage["plan"] == choice["plans"][1] == choice["plan"]


def test_an_own_plan_and_memory_reach_the_prompt(cli, server, story, tmp_path):
    memory = tmp_path / "memory.txt"
    memory.write_text("Zelda owns the blue key.\nThe bridge is closed.\n")
    before = len(server.requests)
    result = cli(
        "write",
        story,
        "--plan",
        "Zelda throws the key into the river.",
        "--memory",
        str(memory),
        "--steps",
        "1",
        "--json",
    )
    assert result.code == 0
    prompt = json.dumps(server.requests[before]["messages"])
    assert "Zelda throws the key into the river." in prompt
    assert "Zelda owns the blue key." in prompt


def test_a_premise_tells_genre_and_language(cli, server):
    result = cli("write", "--premise", "Eine Müllerin zählt nachts die Säcke und kommt auf einen zu viel.", "--json")
    assert result.code == 0
    cli("write", "--premise", "A cosy mystery in a village bakery.", "--language", "French", "--steps", "1")
    told = [body["messages"][0]["content"] for body in server.requests]
    assert any("novel, written in German" in prompt for prompt in told)
    assert any("a cosy mystery novel, written in French" in prompt for prompt in told)
    assert not any("written in English" in prompt for prompt in told)


def test_somebodys_own_beginning(cli, server):
    result = cli(
        "write", "--memory", "Ada found the map.", "--plan", "Ada hides the map.", "--title", "Maps", "--steps", "1", "--json"
    )  # fmt: skip
    assert result.events[0]["title"] == "Maps"
    assert result.events[1]["plan"] == "Ada hides the map."


def test_settings_reach_the_model(cli, server, tmp_path):
    result = cli(
        "write", "--steps", "2", "--json", "--language", "French", "--seed", "7", "--plans", "2", "--top-k", "1",
        "--model", "everybody", "--model-for", "writer=poet", "--tier", "full", "--min-words", "100",
        "--max-words", "300", "--new-character", "0", "--timeout", "30", "--ending",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert {body["model"] for body in server.requests} == {"everybody", "poet"}
    assert all(body["model"] == "poet" for body in server.requests if "response_format" not in body)
    assert "French" in json.dumps(server.requests)
    assert all(len(event["plans"]) == 2 for event in result.events if event["event"] == "plans")


def test_all_that_was_chosen_decides_which_server_starts_ahead(cli, server, monkeypatch):
    told = []
    monkeypatch.setattr(roles, "start_ahead", lambda *given: told.append(given))
    cli("config", "set", "tense=present", "language=French")
    cli("write", "--premise", "A lamp goes out.", "--language", "German", "--steps", "1")
    cli("play", "--auto", "1", "--tier", "small")
    (settings, premise), (played, nothing) = told
    assert (settings["language"], settings["tense"], premise) == ("German", "present", "A lamp goes out.")
    assert (played["language"], played["mode"], played["tier"], nothing) == ("French", "fiction", "small", "")


def test_a_flag_beats_the_environment(cli, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert cli("write", "--steps", "1", "--base-url", server.base_url).code == 0


def test_the_command_that_goes_on_keeps_the_settings(cli, server):
    result = cli("write", "--steps", "1", "--model", "a b", "--model-for", "writer=poet", "--top-k", "2")
    assert "--model='a b'" in result.err or "'--model=a b'" in result.err
    assert "--model-for=writer=poet" in result.err
    assert "--top-k" not in result.err, "the story keeps its own settings"
    story = cli("stories", "--json").events[0]["story"]
    assert "--top-k=4" in cli("write", story, "--steps", "1", "--top-k", "4").err


def test_own_prompts_are_used(cli, server, tmp_path):
    assert cli("write", "--prompts", str(tmp_path / "none")).code == 2
    result = cli("write", "--prompts", str(tmp_path), "--steps", "1")
    assert result.code in (0, 1)
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "premise", ["مدينة تحت البحر", "A 🌉 of glass 👩‍🚀", "[bold]not markup[/bold] [red]", "Ein Übermaß"]
)
def test_any_script_is_a_premise(cli, server, premise):
    result = cli("write", "--premise", premise, "--title", premise[:20], "--steps", "1", "--json")
    assert result.code == 0, result.err
    assert premise in "\n".join(message["content"] for body in server.requests for message in body["messages"])
    assert result.events[0]["title"] == premise[:20].strip()
    assert premise[:20].strip() in cli("stories").out


def test_premise_from_standard_input(cli, server):
    result = cli("write", "--premise", "-", "--steps", "1", stdin="A tunnel below the sea.\n")
    assert result.code == 0
    assert "A tunnel below the sea." in json.dumps(server.requests)


@pytest.mark.parametrize("fault", ["cut", "500", "429", "empty", "unfinished", "apology"])
def test_a_passing_fault_leaves_no_trace_in_the_story(cli, server, story, fault):
    server.script = ["ok"] * (len(server.requests) + 1) + [fault, "ok"]
    result = cli("write", story, "--steps", "2", "--json")
    assert result.code == 0, result.err
    assert "sorry" not in result.out
    assert len(_saved(cli, story)["passages"]) == 4


def test_a_lasting_fault_ends_with_a_sentence_and_the_way_on(cli, server, story):
    server.script = ["401"]
    result = cli("write", story, "--steps", "2", "--json")
    assert result.code == 1
    assert result.events[-1]["event"] == "error"
    assert result.err.count("Error: ") == 1
    assert "Traceback" not in result.err
    assert f"Continue: recurrentgpt write {story}" in result.err
    assert "a-key" not in result.out + result.err
    assert len(_saved(cli, story)["passages"]) == 2


def test_the_way_on_goes_to_the_end_that_was_asked_for(cli, server, story):
    server.script = ["401"]
    result = cli("write", story, "--steps", "4", "--ending")
    assert f"Continue: recurrentgpt write {story} --steps=4" in result.err
    server.script = ["ok"]
    assert "--steps=3" in cli("write", story, "--steps", "1").err.splitlines()[-1]
    done = cli("write", story, "--steps=3")
    assert done.err.splitlines()[-1] == f"Continue: recurrentgpt write {story}"
    saved = _saved(cli, story)
    assert len(saved["passages"]) == 6
    assert not saved["passages"][-1].get("plans")


def test_a_wrong_embedder_is_told_before_anything_is_written(cli, server, monkeypatch, tmp_path):
    monkeypatch.setenv("RECURRENTGPT_EMBEDDER", str(tmp_path))
    result = cli("write", "--genre", "fantasy", "--steps", "1")
    assert result.code == 2
    assert f"RECURRENTGPT_EMBEDDER names {tmp_path}, which holds no model" in result.err
    assert server.requests == []


def test_the_embedder_is_fetched_before_the_story_and_not_in_the_middle_of_it(cli, server, monkeypatch):
    monkeypatch.delenv("RECURRENTGPT_EMBEDDER")
    monkeypatch.setattr("recurrentgpt.models.embedded.fetch.SOURCES", [])  # nothing can be fetched here
    result = cli("write", "--genre", "fantasy", "--steps", "1")
    assert result.code == 1
    assert "all-MiniLM-L6-v2" in result.err
    assert server.requests == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_being_stopped_saves_and_says_how_to_go_on(cli, story, server, process, how):
    with FaultyServer("ok", "endless", text=reply) as slow:
        running = process("write", story, "--base-url", slow.base_url, "--steps", "2")
        wait_for_requests(slow, 2)
        running.send_signal(how)
        _, err = running.communicate()
    assert running.returncode == 130
    assert f"Continue: recurrentgpt write {story} --base-url={slow.base_url}" in err
    assert "Traceback" not in err
    assert cli("write", story, "--steps", "1", "--json").code == 0
    steps = [passage["step"] for passage in _saved(cli, story)["passages"]]
    assert steps == list(range(1, len(steps) + 1))


def test_a_reader_that_leaves_is_no_error(process, server):
    with process("write", "--steps", "2") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(5)
        running.stdout.close()
        err = running.stderr.read()
    assert running.returncode == 0
    assert "Error" not in err
    assert "Broken" not in err
    assert "Traceback" not in err


def test_two_writers_of_one_story(cli, story, server, process):
    with FaultyServer("ok", "endless", text=reply) as slow:
        running = process("write", story, "--base-url", slow.base_url, "--steps", "2")
        wait_for_requests(slow, 2)
        result = cli("write", story, "--steps", "1")
        running.send_signal(signal.SIGINT)
        running.communicate()
    assert result.code == 1
    assert "being written by another process" in result.err


def test_what_takes_long_is_told_where_no_status_can_stand(cli, server):
    result = cli("write", "--steps", "1")
    assert "Imagining the story." in result.err.splitlines()
    story = cli("stories", "--json").events[0]["story"]
    assert "Proposing plans." in cli("replan", story).err.splitlines()
    assert "Updating the memory." in cli("edit", story, "1", "--text", "She waits.").err.splitlines()
    assert "Proposing plans." not in cli("replan", story, "--json").err
