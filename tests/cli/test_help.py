"""Help: examples come first, and the page in docs is what it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recurrentgpt.cli.docs import render
from recurrentgpt.schema.genres import GENRES

COMMANDS = (
    "write", "play", "choose", "retry", "replan", "stories", "show", "memory", "recall", "tree", "goto", "undo", "redo", "name",
    "diff", "edit",
    "edit passage", "edit memory", "edit plan", "edit summary", "edit brief", "rename", "set", "archive", "unarchive", "erase",
    "import", "export", "prompts", "prompts export", "prompts check", "doctor", "models", "models list", "models pull",
    "models path", "config", "config set", "config get", "config list", "config path", "help",
)  # fmt: skip


def test_settings_are_described_without_what_checks_them():
    # When values are parsed, typer itself loads pydantic.
    script = "import sys, recurrentgpt.cli.app\nprint('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_module_and_command_are_the_same():
    done = subprocess.run([sys.executable, "-m", "recurrentgpt.cli", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0]) == (0, "recurrentgpt")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_examples_come_before_options(cli, command):
    result = cli(*command.split(), "--help")
    assert result.code == 0
    assert 0 < result.out.index("Example") < result.out.index("Options:")
    assert "..." not in result.out.partition("Options:")[2], "a summary is too long for its line"


@pytest.mark.parametrize("command", [[], ["write"], ["models", "pull"]])
def test_help_is_a_command_too(cli, command):
    assert cli("help", *command).out == cli(*command, "--help").out


def test_help_of_no_command_is_bad_usage(cli):
    result = cli("help", "wirte")
    assert result.code == 2
    assert "wirte" in result.err


def test_the_version_has_a_short_option(cli):
    assert cli("-V").out == cli("--version").out != ""


def test_no_arguments_shows_help(cli):
    result = cli()
    assert "Usage: recurrentgpt" in result.out + result.err


def test_every_genre_is_named(cli):
    text = " ".join(cli("write", "--help").out.lower().split())
    assert [genre for genre in GENRES if genre not in text] == []


def test_exit_codes_are_documented(cli):
    text = cli("--help").out
    assert "Exit codes: 0" in text
    assert "130" in text


def test_the_page_in_docs_is_current():
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    assert page.read_text(encoding="utf-8") == render(), "run: python -m recurrentgpt.cli.docs > docs/cli.md"


@pytest.mark.parametrize("command", ["", "write", "config set", "help"])
def test_the_page_in_docs_is_what_a_command_prints(cli, command):
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    text = "\n".join(line.rstrip() for line in cli(*command.split(), "-h").out.rstrip().splitlines())
    assert "-h, --help" in text
    assert f"```text\n{text}\n```" in page


def test_a_shell_completes_commands_and_stories(cli, story, monkeypatch):
    def completed(words: str) -> list[str]:
        environment = {
            "_RECURRENTGPT_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        command = [sys.executable, "-c", "from recurrentgpt.cli import main\nmain()"]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=True)
        return done.stdout.split()

    assert completed("recurrentgpt arch") == ["archive"]
    assert completed(f"recurrentgpt show {story[:3]}") == [story]
    assert completed("recurrentgpt edit pl") == ["plan"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_names_settings_formats_and_genres(cli, story, shell):
    assert cli("name", story, "the dark ending").code == 0
    assert cli("codex", story, "Orsolya", "--add", "person", "--fact", "She keeps the bridge.").code == 0
    # One process for all: each word asks it once more.
    script = """
import io, json, os, sys
from contextlib import redirect_stdout
from recurrentgpt.cli.entry_point import run
for words in json.loads(sys.argv[1]):
    os.environ |= {"_TYPER_COMPLETE_ARGS": words, "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    os.environ["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    with redirect_stdout(io.StringIO()) as out:
        try:
            run([])
        except SystemExit:
            pass
    print(json.dumps(out.getvalue()))
"""
    asked = {
        "show The": "The Glass Bridge",
        f"goto {story} the": "the dark ending",
        f"diff {story} 1 the": "the dark ending",
        "help models pu": "pull",
        f"show {story} --at op": "opening",
        f"set {story} max-w": "max-words=",
        "config set base": "base-url=",
        "config get max-w": "max-words",
        f"export {story} --format ep": "epub",
        "write --genre hor": "horror",
        f"codex {story} Ors": "Orsolya",
        "goto nosuch op": "opening",
    }
    lines = json.dumps([f"recurrentgpt {words}" for words in asked])
    environment = os.environ | {"_RECURRENTGPT_COMPLETE": f"complete_{shell}"}
    command = [sys.executable, "-c", script, lines]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    for (words, expected), line in zip(asked.items(), done.stdout.splitlines(), strict=True):
        wanted = expected.replace(" ", r"\ ") if shell == "bash" else expected
        assert wanted in json.loads(line), words


def test_another_word_for_a_command_is_answered_with_it(cli):
    result = cli("search", "story", "the key")
    assert result.code == 2
    assert "Did you mean 'recall'?" in result.err
