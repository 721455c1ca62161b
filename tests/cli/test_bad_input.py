"""Bad input: one sentence, the right exit code, no traceback, nothing lost."""

from __future__ import annotations

import re
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


PYTHON = re.compile(
    r"Input should be|Value error|\[Errno|has no attribute|is undefined|NoneType|object\b.*attribute|_words|valid integer"
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["undo", "STORY", "x"], "N is a whole number; it is 'x'."),
        (["undo", "STORY", "0"], "N is 1 or more; it is '0'."),
        (["recall", "STORY", "who", "-k", "101"], "-k is at most 100; it is '101'."),
        (
            ["edit", "part", "STORY", "1", "the", "--how", "frobnicate"],
            "--how is one of rewrite, expand, shorten, describe, rephrase; it is 'frobnicate'.",
        ),
        (["export", "STORY", "-o", "x.md", "--every", "many"], "--every is a whole number; it is 'many'."),
        (["write", "--max-words", "9999"], "max-words is a whole number between 20 and 2,000; it is '9999'."),
        (["set", "STORY", "max-words=60"], "min-words is at most max-words; they are 200 and 60."),
        (["set", "STORY", "bogus=1"], "`recurrentgpt show STORY --settings` lists what there is."),
        (["config", "set", "max-words=many"], "max-words is a whole number between 20 and 2,000; it is 'many'."),
        (["config", "set", "qqq="], "There is no setting 'qqq'; `recurrentgpt config list` lists what there is."),
        (["config", "set", "=5"], "'=5' is not NAME=VALUE, for example pace=slow."),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_is_refused_is_told_without_words_of_python(cli, story, arguments, said):
    result = cli(*(story if word == "STORY" else word for word in arguments))
    error = _is_sentence(result, 2)
    assert error.endswith(said)
    assert not PYTHON.search(error)


def test_a_server_that_is_not_there_is_told_of_without_a_number(cli, story, unused_tcp_port):
    result = cli("write", story, "--steps", "1", "--base-url", f"http://127.0.0.1:{unused_tcp_port}/v1")
    assert "(Connection refused)" in _is_sentence(result, 1)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ brief.titel }}", "uses brief.titel, which is not given here"),
        ("{{ brief['titel'] }}", "uses brief['titel'], which is not given here"),
        ("{{ summaries[7].step }}", "which is not given here"),
        ("{{ brief.title + 1 }}", "cannot be used: what it asks for at line 1 does not fit the values"),
        ("{{ 1 // 0 }}", "cannot be used: what it asks for"),
    ],
)
def test_a_template_that_does_not_fit_is_told_of_without_words_of_python(cli, tmp_path, template, said):
    folder = tmp_path / "prompts"
    assert cli("prompts", "export", str(folder)).code == 0
    path = folder / "novel" / "full" / "write.md"
    path.write_text(template + path.read_text())
    checked = cli("prompts", "check", str(folder)).out
    assert said in checked
    assert not PYTHON.search(checked)


@pytest.mark.parametrize(
    ("prices", "said"),
    [("input = 'much'", "input is a number"), ("input = 1\noutput = 2\nfoo = 3", "foo is no price"), ("= 1", "line 1")],
)
def test_prices_that_are_none_are_told_of_without_words_of_python(cli, story, user_folder, prices, said):
    (user_folder / "prices.toml").write_text(prices)
    result = cli("show", story)
    error = _is_sentence(result, 2)
    assert said in error
    assert not PYTHON.search(error)


@pytest.mark.parametrize(
    "command", ["export STORY -o LONG.md", "export STORY -o LONG/x.md", "backup LONG", "prompts export LONG"]
)
def test_a_name_that_no_file_can_have_is_told_of_without_words_of_python(cli, story, command):
    arguments = [word.replace("STORY", story).replace("LONG", "a" * 5000) for word in command.split()]
    error = _is_sentence(cli(*arguments), 1)
    assert "too long" in error
    assert "Unexpected" not in error
    assert not PYTHON.search(error)


def test_words_to_begin_a_story_from_are_told_where_they_go(cli):
    told = _is_sentence(cli("write", "A lamp that must not go out"), 1)
    assert "`recurrentgpt write --premise 'A lamp that must not go out'`" in told
    assert "goes behind --premise" in cli("write", "A lamp that must not go out", "--genre", "horror").err
