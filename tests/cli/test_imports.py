"""What a command may load: a budget of modules and not of time, so that a slow machine and a quick one say the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

LOADED = """
import json, sys
from recurrentgpt.cli.entry_point import run
for command in json.loads(sys.argv[1]):
    code = run(command)
    print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
WRITERS = {
    *("langgraph", "langchain_core", "langchain_openai", "langsmith", "openai", "httpx", "requests"),
    *("faiss", "numpy", "torch", "sentence_transformers", "transformers", "xllamacpp", "aiosqlite", "filelock"),
    *("jinja2", "lxml", "docx", "fastapi", "uvicorn", "mcp", "prompt_toolkit"),
    *(f"recurrentgpt.{part}" for part in ("graph", "nodes", "prompts", "studies", "desk", "story", "library")),
    *(f"recurrentgpt.cli.terminal.{part}" for part in ("interactive", "player", "memory_editor", "renderer")),
}
"""What a story is written, recalled and served with: nothing that only reads one needs any of it."""


COMMANDS = (
    "--help", "write --help", "--version", "config path", "config list", "stories", "show STORY", "show STORY --json",
    "show STORY --settings", "tree STORY", "memory STORY", "brief STORY", "codex STORY", "diff STORY 1 2", "export STORY -o -",
    "models list", "check", "restore",
)  # fmt: skip
LIGHT = 4
"""So many of them, the first ones, do without what others draw with."""

MODELS = {
    *("langchain_openai", "openai", "torch", "sentence_transformers", "transformers", "xllamacpp"),
    "recurrentgpt.models.embedded.server",
}


def _run(*commands: list[str]) -> list[tuple[int, list[str]]]:
    """Return the code of each of some commands, one after the other in one process, and the modules that are loaded then."""
    script = [sys.executable, "-c", LOADED, json.dumps(commands)]
    done = subprocess.run(script, capture_output=True, text=True, env=os.environ.copy(), check=False)
    # Beside what commands say to a person.
    return [tuple(json.loads(line)) for line in done.stderr.splitlines() if line.startswith("[")]


def test_what_only_reads_loads_nothing_that_writes(story):
    """Each command finds what those before it have loaded."""
    told = _run(*(command.replace("STORY", story).split() for command in COMMANDS))
    for number, (command, (code, loaded)) in enumerate(zip(COMMANDS, told, strict=True)):
        assert code == 0, command
        unneeded = WRITERS | {"rich"} if number < LIGHT else WRITERS
        assert unneeded.isdisjoint(loaded), (command, unneeded.intersection(loaded))


FILLED = {"jinja2", "recurrentgpt.nodes", "recurrentgpt.prompts"}
"""What a prompt is filled with."""


@pytest.mark.parametrize("endpoint", [True, False], ids=["endpoint", "embedded"])
def test_what_was_told_is_put_together_with_templates_alone(story, monkeypatch, endpoint):
    if not endpoint:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RECURRENTGPT_MODEL"):
            monkeypatch.delenv(name)
    [(code, loaded)] = _run(["context", story])
    assert code == 0
    assert (WRITERS - FILLED).isdisjoint(loaded), (WRITERS - FILLED).intersection(loaded)


SEARCHED = {"numpy", "faiss"}
"""What vectors are compared with."""


def test_a_search_loads_what_compares_vectors_alone(story):
    """Words that are hashed, as in these tests, need no embedding model."""
    [(code, loaded)] = _run(["recall", story, "the key"])
    assert code == 0
    assert (WRITERS - SEARCHED).isdisjoint(loaded), (WRITERS - SEARCHED).intersection(loaded)


def test_a_check_of_the_machine_loads_no_model_that_it_does_not_ask(story):
    """A doctor asks the endpoint."""
    [(code, loaded)] = _run(["doctor"])
    assert code == 0
    assert (MODELS - {"openai"}).isdisjoint(loaded), MODELS.intersection(loaded)
