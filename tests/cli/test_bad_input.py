"""Bad input: one sentence, the right exit code, no traceback, nothing lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from recurrentgpt.checkpoints.sqlite_faults import APPLICATION_ID


def _is_sentence(result, code):
    assert result.code == code, result
    assert "Traceback" not in result.err
    errors = [line for line in result.err.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert code == 2 or errors[0].endswith(".")
    return errors[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--premise", ""],
        ["--premise", "  \n"],
        ["--steps", "0"],
        ["--steps", "-3"],
        ["--plans", "50"],
        ["--top-k", "-1"],
        ["--new-character", "2"],
        ["--memory", "nowhere.txt"],
        ["--model-for", "cook=x"],
        ["--model-for", "writer"],
        ["--tier", "huge"],
        ["--premise", "-", "-i"],
        ["--min-words", "500"],
        ["--plan", "2"],
        ["--language", " "],
        ["--language", "x" * 100],
        ["some story", "--genre", "horror"],
        [""],
    ],
)
def test_bad_usage(cli, server, arguments):
    result = cli("write", *arguments)
    _is_sentence(result, 2)
    assert result.out == ""
    assert server.requests == []
    as_json = cli("write", *arguments, "--json")
    assert as_json.code == 2
    (event,) = as_json.events
    assert event["event"] == "error"
    assert event["message"]


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        (["--plans", "50"], "plans=50"),
        (["--plans=many"], "plans=many"),
        (["--temperature", "3"], "temperature=3"),
        (["--pace", "q"], "pace=q"),
        (["--min-words", "3"], "min-words=3"),
    ],
)
def test_an_option_refuses_a_value_in_the_words_of_set(cli, story, option, setting):
    assert _is_sentence(cli("write", *option), 2) == _is_sentence(cli("set", story, setting), 2)


@pytest.mark.parametrize(
    ("premise", "word"),
    [
        ("a" * 1_000_000, "at most"),
        ("many words " * 100_000, "at most"),
        ("bell \x07 and \x1b[31m", "control character"),
    ],
)
def test_a_premise_that_no_prompt_should_carry(cli, server, premise, word):
    result = cli("write", "--premise", premise, "--json")
    assert word in _is_sentence(result, 2)
    assert result.events == [{"event": "error", "message": result.err.strip().removeprefix("Error: ")}]
    assert "\x1b" not in result.err
    assert server.requests == []


def test_an_address_that_is_none_is_bad_usage(cli, server):
    assert "http://" in _is_sentence(cli("write", "--base-url", "notaurl"), 2)


def test_a_plan_that_is_not_there_is_bad_usage(cli, story, server):
    before = len(server.requests)
    result = cli("write", story, "--plan", "7")
    assert "from 1 to 3" in _is_sentence(result, 2)
    assert "Continue" not in result.err
    assert len(server.requests) == before


def test_a_number_needs_plans_to_choose_from(cli, server):
    assert "a new story has none yet" in " ".join(cli("write", "--plan", "2").err.split())


def test_where_no_story_was_begun_none_is_to_be_continued(cli, server):
    server.script = ["401"]
    result = cli("write")
    _is_sentence(result, 1)
    assert "check OPENAI_API_KEY" in result.err
    assert "Continue:" not in result.err
    server.script = ["apology"] * 50
    result = cli("write")
    assert "run the same command to try again" in result.err
    assert "Continue:" not in result.err


def test_a_home_that_cannot_be_a_folder(cli, server, monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    monkeypatch.setenv("RECURRENTGPT_HOME", str(file / "below"))
    for command in (["stories"], ["write", "--premise", "A bridge."], ["show", "x"]):
        assert "RECURRENTGPT_HOME" in _is_sentence(cli(*command), 1)


def test_a_corrupt_database(cli, server, user_folder):
    user_folder.mkdir()
    (user_folder / "stories.db").write_bytes(b"no database at all" * 100)
    for command in (["stories"], ["show", "A bridge"], ["write", "--premise", "A bridge."]):
        assert "stories.db" in _is_sentence(cli(*command), 1)
    assert (user_folder / "stories.db").read_bytes() == b"no database at all" * 100


def test_a_database_that_was_left_before_its_first_table_has_no_stories(cli, user_folder):
    user_folder.mkdir()
    with closing(sqlite3.connect(user_folder / "stories.db")) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    assert "There are no stories yet" in cli("stories").err
    assert "There is no story" in _is_sentence(cli("show", "A bridge"), 1)


def test_a_database_of_a_newer_version(cli, story, user_folder):
    with sqlite3.connect(user_folder / "stories.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert "newer version" in _is_sentence(cli("show", story), 1)


def test_an_unexpected_error_is_a_sentence_too(cli, monkeypatch):
    def fail(name):
        raise KeyError("surprise")

    monkeypatch.setattr("recurrentgpt.infrastructure.settings.resolve", fail)
    result = cli("config", "show")
    assert "RECURRENTGPT_DEBUG=1" in _is_sentence(result, 1)
    monkeypatch.setenv("RECURRENTGPT_DEBUG", "1")
    assert "Traceback" in cli("config", "show").err
