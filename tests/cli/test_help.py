"""Help: it loads nothing heavy, examples come first, and the page in docs is what it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recurrentgpt.cli.docs import render
from recurrentgpt.nodes.open_story import GENRES

HEAVY = (
    "langgraph",
    "langchain_core",
    "openai",
    "torch",
    "faiss",
    "numpy",
    "sentence_transformers",
    "rich",
    "recurrentgpt.story",
)
COMMANDS = (
    "write", "play", "choose", "retry", "replan", "stories", "show", "memory", "recall", "tree", "goto", "undo", "redo", "name",
    "diff", "edit",
    "edit passage", "edit memory", "edit plan", "edit summary", "edit brief", "rename", "set", "archive", "unarchive", "erase",
    "import", "export", "prompts", "prompts export", "prompts check", "doctor", "models", "models list", "models pull",
    "models path", "config", "config set", "config get", "config list", "config path", "help",
)  # fmt: skip


@pytest.mark.parametrize("arguments", [["--help"], ["write", "--help"], ["--version"], ["config", "path"]])
def test_nothing_heavy_is_loaded(arguments):
    script = (
        "import sys\nfrom recurrentgpt.cli.entry_point import run\n"
        f"code = run({arguments})\n"
        f"print([name for name in {HEAVY} if name in sys.modules], code, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[] 0"


def test_settings_are_described_without_what_checks_them():
    # When values are parsed, typer itself loads pydantic.
    script = "import sys, recurrentgpt.cli.app\nprint('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


def test_module_and_command_are_the_same():
    done = subprocess.run(
        [sys.executable, "-m", "recurrentgpt.cli", "--version"], capture_output=True, text=True, timeout=60
    )
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
