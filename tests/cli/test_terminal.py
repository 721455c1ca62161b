"""The command in a terminal: what a person sees, drawn by a terminal emulator."""

from __future__ import annotations

import json
import os
import select
import sys
import time

import pytest

from .conftest import PROCESS, wait_for_requests

pyte = pytest.importorskip("pyte", reason="no terminal emulator: pip install pyte")
pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

ROWS, COLUMNS = 200, 72


class Terminal:
    """A person's terminal with the command running in it."""

    def __init__(self, *arguments: str, columns: int = COLUMNS) -> None:
        self.screen = pyte.Screen(columns, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self.pid, self._file = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(ROWS))
            os.execv(sys.executable, [sys.executable, "-c", PROCESS, *arguments])

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.lines).split())

    def until(self, mark: str, seconds: float = 60, count: int = 1) -> None:
        deadline = time.monotonic() + seconds
        while self.text.count(mark) < count:
            assert time.monotonic() < deadline, self.text
            if not self._read():
                break
        assert self.text.count(mark) >= count, self.text

    def send(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._file)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        if not select.select([self._file], [], [], 1)[0]:
            return True
        try:
            data = os.read(self._file, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self._stream.feed(data)
        return bool(data)


FORKS = pytest.mark.filterwarnings("ignore:.*forkpty.*:DeprecationWarning", "ignore:.*fork.*:DeprecationWarning")


@FORKS
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_tree_is_one_line_a_branch(story, cli, columns):
    assert cli("retry", story).code == 0
    assert cli("name", story, "the dark ending that nobody in town expected").code == 0
    title, *branches = cli("tree", story).out.splitlines()
    terminal = Terminal("tree", story, columns=columns)
    assert terminal.end() == 0
    # At 200 columns all of it fits; nothing is between the lines, and what does not fit is cut.
    fitting = [line if len(line) <= columns else line[: columns - 1] + "…" for line in branches]
    assert terminal.lines[: len(branches) + 2] == [title, *(line.rstrip() for line in fitting), ""]
    assert any(line.endswith("…") for line in fitting) == (columns < 200)


@FORKS
def test_a_turn_at_the_terminal(story, cli):
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    assert "The Glass Bridge" in terminal.text
    terminal.send("e 1\r")
    terminal.until("Plan: ")
    terminal.send("\x15She polishes the [bold]lantern[/bold].\r")
    terminal.until("3 She polishes the [bold]lantern[/bold].")
    deadline = time.monotonic() + 60
    while terminal.text.count("Next?") < 2 and time.monotonic() < deadline:
        terminal._read()
    terminal.send("q\r")
    assert terminal.end() == 0
    passage = json.loads(cli("show", story, "--json").out)["passages"][-1]
    assert passage["plan"] == "She polishes the [bold]lantern[/bold]."
    assert " ".join(passage["text"].split()) in terminal.text, "lines of prose were lost"
    assert all(len(line) <= COLUMNS for line in terminal.lines)
    assert "writing passage" not in terminal.text, "the status was left behind"
    assert f"Continue: recurrentgpt write {story} -i" in terminal.text


@FORKS
def test_a_paste_is_one_answer_and_keys_pressed_meanwhile_are_none(story, cli, server):
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    asked = len(server.requests)
    # As it arrives where a terminal marks no paste: four lines at once. Then keys while it writes.
    terminal.send("She climbs the stairs.\nShe lights the lamp.\nShe waits.\nThe ferry comes.\n")
    wait_for_requests(server, asked + 1)
    terminal.send("2\r3\rq\r")
    terminal.until("Next?", count=2)
    assert terminal.text.count("Next?") == 2
    terminal.send("q\r")
    assert terminal.end() == 0
    passages = json.loads(cli("show", story, "--json").out)["passages"]
    assert len(passages) == 3
    assert passages[-1]["plan"].split() == [
        "She",
        "climbs",
        "the",
        "stairs.",
        "She",
        "lights",
        "the",
        "lamp.",
        "She",
        "waits.",
        "The",
        "ferry",
        "comes.",
    ]


@FORKS
def test_ctrl_c_cancels_what_it_is_in_and_twice_leaves(story, cli):
    before = cli("memory", story, "--json").out
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    terminal.send("m\r")
    terminal.until("Enter: done]")
    terminal.send("+ The ferry is late.\r")
    terminal.until("8 The ferry is late.")
    terminal.until("Enter: done]", count=2)
    terminal.send("\x03")
    terminal.until("Ctrl-C again leaves", count=1)
    terminal.until("Next?", count=2)
    terminal.send("\x03")
    assert terminal.end() == 130
    assert cli("memory", story, "--json").out == before
