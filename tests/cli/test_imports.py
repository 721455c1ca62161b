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
        ["export", "STORY", "-o", "-"],
        ["config", "list"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_what_only_reads_loads_nothing_that_writes(story, command):
    arguments = [story if word == "STORY" else word for word in command]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, env=os.environ.copy(), check=False
    )
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    assert WRITERS.isdisjoint(loaded), WRITERS.intersection(loaded)
