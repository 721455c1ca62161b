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
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
WRITERS = {
    *("langgraph", "langchain_core", "langchain_openai", "langsmith", "openai", "httpx", "requests"),
    *("faiss", "numpy", "torch", "sentence_transformers", "aiosqlite", "filelock"),
    *("jinja2", "lxml", "docx", "fastapi", "uvicorn", "mcp", "prompt_toolkit"),
    *(f"recurrentgpt.{part}" for part in ("graph", "nodes", "prompts", "studies", "desk", "story", "library")),
    *(f"recurrentgpt.cli.terminal.{part}" for part in ("interactive", "player", "memory_editor", "renderer")),
}
"""What a story is written, recalled and served with: nothing that only reads one needs any of it."""


def _run(*arguments: str) -> tuple[int, list[str], str]:
    """Return a command's code, the modules that it loaded, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, env=os.environ.copy(), check=False
    )
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    return code, loaded, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["stories"],
        ["show", "STORY"],
        ["show", "STORY", "--json"],
        ["show", "STORY", "--settings"],
        ["tree", "STORY"],
        ["memory", "STORY"],
        ["brief", "STORY"],
        ["codex", "STORY"],
        ["diff", "STORY", "1", "2"],
        ["check"],
        ["restore"],
        ["export", "STORY", "-o", "-"],
        ["config", "list"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_what_only_reads_loads_nothing_that_writes(story, command):
    code, loaded, said = _run(*(story if word == "STORY" else word for word in command))
    assert code == 0, said
    assert WRITERS.isdisjoint(loaded), WRITERS.intersection(loaded)


MODELS = {"langchain_openai", "openai", "torch", "sentence_transformers", "recurrentgpt.models.embedded.server"}


@pytest.mark.parametrize("endpoint", [True, False], ids=["endpoint", "embedded"])
def test_what_was_told_is_put_together_without_a_model(story, monkeypatch, endpoint):
    if not endpoint:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RECURRENTGPT_MODEL"):
            monkeypatch.delenv(name)
    code, loaded, said = _run("context", story)
    assert code == 0, said
    assert MODELS.isdisjoint(loaded), MODELS.intersection(loaded)
