"""`play`: choices, free actions, saves, and the commands that begin with a slash."""

from __future__ import annotations

import json

import pytest

from recurrentgpt.cli.terminal.player import COMMANDS, understand
from recurrentgpt.schema.errors import BadAnswer


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("1", ("choose", "1")),
        (" 3 ", ("choose", "3")),
        ("2.", ("choose", "2")),
        ("I bribe the guard", ("act", "I bribe the guard")),
        ("run", ("act", "run")),
        ("undo the knot", ("act", "undo the knot")),
        ("2 guards, I fight both", ("act", "2 guards, I fight both")),
        ("/undo", ("undo", "")),
        ("/undo 2", ("undo", "2")),
        ("/SAVE The Gate", ("save", "The Gate")),
        ("q", ("quit", "")),
        ("M", ("memory", "")),
        ("?", ("help", "")),
        ("跑", ("act", "跑")),
    ],
)
def test_what_a_line_means(line, meant):
    assert understand(line, 3) == meant


@pytest.mark.parametrize("line", ["", "  ", "0", "4", "-1", "u", "/", "/dance", "/sav x"])
def test_a_line_that_means_nothing_says_why(line):
    with pytest.raises(BadAnswer):
        understand(line, 3)


def _passages(cli, story):
    return json.loads(cli("show", story, "--json").out)["passages"]


def _begun(cli, stdin, *options):
    result = cli("play", "--genre", "fantasy", "--title", "Game", *options, stdin=stdin)
    assert result.code == 0, result.err
    return result


def test_who_you_are_is_the_first_choice(cli, server):
    result = _begun(cli, "2\n/quit\n")
    assert result.err.index("Who are you?") < result.err.index("What do you do?")
    (passage,) = _passages(cli, "game")
    assert passage["plan"] in result.err
    assert result.out == passage["text"] + "\n"
    assert "Continue: recurrentgpt play" in result.err
    again = cli("play", "game", stdin="")
    assert "What do you do?" in again.err
    assert "Who are you?" not in again.err


def test_who_you_are_can_be_said(cli, server):
    result = _begun(cli, "/quit\n", "--as", "a reluctant astronaut")
    assert "Who are you?" not in result.err
    assert "You are a reluctant astronaut." in json.dumps(server.requests)
    assert "1  …" not in result.err, "its end was just read"
    assert "1  …" in cli("play", "game", stdin="/quit\n").err


def test_a_story_to_play_is_gone_on_with_by_play(cli, server):
    _begun(cli, "1\n/quit\n")
    for command in (("choose", "game", "1"), ("undo", "game"), ("goto", "game", "1")):
        assert "recurrentgpt play " in (told := cli(*command).err), command
        assert "recurrentgpt write" not in told


def test_a_save_stays_where_it_was_made(cli, server):
    _begun(cli, "1\n/save gate\nI bribe the guard\n/load gate\nI climb the wall\n/choices\n/quit\n")
    played = _passages(cli, "game")
    assert [passage["plan"] for passage in played][1:] == ["I climb the wall"]
    assert played[0]["names"] == ["gate"]
    assert len(json.loads(cli("tree", "game", "--json").out)["branches"]) >= 2


def test_undo_and_redo(cli, server):
    _begun(cli, "1\nI run\n/undo\n/redo\n/undo 1\n/quit\n")
    assert len(_passages(cli, "game")) == 1
    assert cli("redo", "game").code == 0
    assert _passages(cli, "game")[-1]["plan"] == "I run"


def test_bad_commands_are_asked_again(cli, server):
    result = _begun(cli, "/load x\n/undo 99\n/undo no\n/save 12\n9\n/help\n/saves\n/memory\n\n/quit\n")
    assert "Nothing was saved as 'x'" in result.err
    assert "can be undone" in result.err
    assert "no number of passages" in result.err
    assert "would be taken for a passage" in result.err
    assert "There is no choice 9" in result.err
    assert all(f"/{command} " in result.err for command in COMMANDS)
    assert result.out == ""


@pytest.mark.parametrize("command", ["/save", "/load", "/note", "/edit", "/memory\n1"])
def test_a_command_at_a_question_below_the_first_is_no_answer(cli, server, command):
    result = _begun(cli, f"1\n{command}\n/undo\n/quit\n")
    assert "'/undo' is a command" in result.err
    (passage,) = _passages(cli, "game")
    assert (passage["names"], passage["author"]) == ([], "model")


def test_the_simulator_can_play(cli, server):
    result = _begun(cli, "", "--auto", "2", "--json")
    assert [event["step"] for event in result.events if event["event"] == "passage"] == [1, 2]
    assert result.events[-1]["steps"] == 2


def test_a_novel_is_not_played(cli, story):
    result = cli("play", story)
    assert result.code == 2
    assert f"recurrentgpt set {story} mode=fiction" in result.err
    assert cli("set", story, "mode=fiction").code == 0
    assert cli("play", story, stdin="/quit\n").code == 0


@pytest.mark.parametrize("arguments", [["--as", " "], ["x", "--as", "a thief"], ["--auto", "0"], ["--premise", "-"]])
def test_bad_usage(cli, server, arguments):
    result = cli("play", *arguments)
    assert result.code == 2
    assert server.requests == []


def test_a_game_is_read_again(cli, server):
    result = _begun(cli, "/read\n1\n/read\n/quit\n")
    assert "There is no passage yet to read." in result.err
    (passage,) = _passages(cli, "game")
    assert " ".join(passage["text"].split()) in " ".join(result.err.split())


def test_a_game_is_changed_from_within(cli, server):
    result = _begun(
        cli, "1\n/retry\n/takes 1\n/note The door stays shut.\n/settings pace=fast\n/edit\nI wait.\n/quit\n"
    )
    (passage,) = _passages(cli, "game")
    assert passage["text"] == "I wait."
    settings = json.loads(cli("show", "game", "--settings", "--json").out)["settings"]
    assert (settings["note"], settings["pace"]) == ("The door stays shut.", "fast")
    assert "Passage 1 is edited." in result.err


@pytest.mark.parametrize("command", [["play"], ["write", "-i"]])
def test_a_choice_that_was_written_ahead_is_told_at_once(cli, server, monkeypatch, command):
    asked = []

    def read_on(renderer):
        renderer.story.write_ahead(renderer.unspent, wait=True)
        asked.append(len(server.requests))

    monkeypatch.setattr("recurrentgpt.cli.terminal.renderer.Renderer.write_ahead", read_on)
    result = cli(*command, "--genre", "fantasy", "--title", "Game", "--ahead", "1", stdin="1\n2\n")
    assert result.code == 0, result.err
    passages = _passages(cli, "game")
    assert result.out == "\n\n".join(passage["text"] for passage in passages).replace("\n\n\n", "\n\n") + "\n"
    assert "1 of 2 choices ready" in result.err


def test_leaving_while_something_is_written_ahead_leaves_nothing_behind(cli, server):
    result = _begun(cli, "/quit\n", "--ahead", "3")
    assert "ready" not in result.err
    assert _passages(cli, "game") == []
