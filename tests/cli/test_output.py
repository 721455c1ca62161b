"""Standard output that is full, closed or left: a sentence or a quiet end, and what was written is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import COMMAND

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
CLOSED = f"""
import os, sys
os.close(1)
os.execv(sys.executable, [*{COMMAND!r}, *sys.argv[1:]])
"""


@pytest.mark.parametrize(
    "command",
    ["--help", "--version", "stories", "stories --json", "show STORY", "show STORY --json", "memory STORY",
     "export STORY -o -", "config path", "write STORY --steps 1", "write STORY --steps 1 --json"],
)  # fmt: skip
def test_a_full_output_is_a_sentence(story, process, command):
    with FULL.open("w") as full, process(*command.replace("STORY", story).split(), stdout=full) as running:
        _, err = running.communicate()
    assert running.returncode == 1
    assert err.count("Standard output cannot be written (No space left on device)") == 1
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    if command.startswith("write"):
        assert f"Continue: recurrentgpt write {story}" in err


@pytest.mark.parametrize("command", ["--help", "show STORY", "stories --json", "write STORY --steps 1"])
def test_a_closed_output_is_a_sentence(story, command):
    arguments = command.replace("STORY", story).split()
    done = subprocess.run(
        [sys.executable, "-c", CLOSED, *arguments],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 1
    assert "Standard output cannot be written (it is closed)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["show STORY", "tree STORY", "export STORY -o -"])
def test_a_reader_who_has_seen_enough_is_no_fault(story, process, command):
    reading, writing = os.pipe()
    os.close(reading)
    with process(*command.replace("STORY", story).split(), stdout=writing) as running:
        os.close(writing)
        _, err = running.communicate()
    assert (running.returncode, err) == (0, "")


def test_a_full_output_loses_no_passage(cli, story, process):
    with FULL.open("w") as full, process("write", story, "--steps", "1", stdout=full) as running:
        running.communicate()
    assert cli("write", story, "--steps", "1").code == 0
    steps = [passage["step"] for passage in json.loads(cli("show", story, "--json").out)["passages"]]
    assert steps == list(range(1, len(steps) + 1))
