"""The command in a terminal: what a person sees, drawn by a terminal emulator."""

from __future__ import annotations

import json
import os
import re
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
def test_emphasis_is_italic_at_a_terminal_over_its_lines_and_stays_in_a_pipe(story, cli):
    text = f"She read *{'one and two and ' * 6}three* and said 2 * 3."
    assert cli("edit", "passage", story, "--text", text).code == 0
    assert text in cli("show", story).out
    terminal = Terminal("show", story)
    assert terminal.end() == 0
    assert "three and said 2 * 3." in terminal.text
    screen = terminal.screen
    cells = [screen.buffer[row][column] for row in range(ROWS) for column in range(COLUMNS)]
    said = "".join(cell.data for cell in cells if cell.italics)
    assert said.replace(" ", "") == text.split("*")[1].replace(" ", "")


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


def _stop(terminal, server, begin):
    """Let the server say half of the next passage; press Ctrl-C when that is there."""
    server.script = [*["ok"] * len(server.requests), "stalled"]
    begin()
    terminal.until("writing passage ")
    while not re.search(r"writing passage \d+ · [1-9]\d+ words", terminal.text):
        terminal._read()
    terminal.send("\x03")
    terminal.until("Stopped. What of this passage?")
    server.script = ["ok"]


def _stopped(story, cli, server):
    """Return a terminal in which the next passage was stopped in the middle."""
    assert cli("choose", story, "1").code == 0
    server.script = [*["ok"] * len(server.requests), "stalled"]
    terminal = Terminal("write", story, "--steps", "2")
    _stop(terminal, server, lambda: None)
    return terminal


@FORKS
def test_what_was_stopped_is_kept_to_its_last_whole_sentence(story, cli, server):
    terminal = _stopped(story, cli, server)
    assert "k: keep the whole sentences" in terminal.text
    terminal.send("x\r")
    terminal.until("Type k, t, g, q.")
    terminal.send("k\r")
    terminal.until("Continue: recurrentgpt write")
    assert terminal.end() == 0
    _, second, *rest = json.loads(cli("show", story, "--json").out)["passages"]
    (kept,) = rest  # the second of the passages that were asked for is not written
    assert kept["text"].endswith((".", "”", "’"))
    assert len(kept["text"]) < 0.7 * len(second["text"])
    assert kept["summary"]
    assert kept["short_term_memory"] != second["short_term_memory"]
    assert all(sentence in terminal.text for sentence in " ".join(kept["text"].split()).split(". "))
    assert len(json.loads(cli("choose", story, "--json").out)["plans"]) == 3


@FORKS
def test_what_was_stopped_is_thrown_away_with_its_plan(story, cli, server):
    before = json.loads(cli("show", story, "--json").out)["passages"]
    terminal = _stopped(story, cli, server)
    terminal.send("t\r")
    assert terminal.end() == 0
    assert json.loads(cli("show", story, "--json").out)["passages"] == before
    assert json.loads(cli("choose", story, "--json").out)["plan"] is None


@FORKS
def test_what_was_stopped_goes_on_and_a_second_ctrl_c_leaves(story, cli, server):
    terminal = _stopped(story, cli, server)
    terminal.send("g\r")
    terminal.until("Continue: recurrentgpt write")
    assert terminal.end() == 0
    assert len(json.loads(cli("show", story, "--json").out)["passages"]) == 4
    terminal = _stopped(story, cli, server)
    terminal.send("\x03")
    assert terminal.end() == 130
    assert len(json.loads(cli("show", story, "--json").out)["passages"]) == 4


@FORKS
def test_another_take_that_was_stopped_is_kept_beside_the_first(story, cli, server):
    first = json.loads(cli("show", story, "--json").out)["passages"][1]
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    _stop(terminal, server, lambda: terminal.send("a\r"))
    terminal.send("k\r")
    terminal.until("Next?", count=2)
    terminal.send("q\r")
    assert terminal.end() == 0
    assert len(json.loads(cli("tree", story, "--json").out)["passages"]) == 4
    second = json.loads(cli("show", story, "--json").out)["passages"][1]
    assert second["id"] != first["id"]
    assert (second["plan"], second["parent"]) == (first["plan"], first["parent"])


@FORKS
def test_an_answer_is_edited_in_lines_completed_and_taken_up_again(story, cli, server):
    assert cli("name", story, "the dark ending").code == 0
    terminal = Terminal("write", story, "-i", columns=120)
    terminal.until("Next?")
    terminal.send("g the d\t")
    terminal.until("g the dark ending")
    terminal.send("\r")
    terminal.until("Next?", count=2)
    terminal.send("\x1b[200~She waits.\nNobody\x1b[201~")
    terminal.until("Nobody")
    terminal.send(" comes.\x1b\rThe lamp goes out.\x15\r")
    terminal.until("Next?", count=3)
    terminal.send("\x1b[A")
    terminal.until("Nobody comes.", count=3)  # as it was typed, above its passage, and brought back
    terminal.send("\x03\x03")
    assert terminal.end() == 130
    last = json.loads(cli("show", story, "--json").out)["passages"][-1]
    assert last["plan"].split() == ["She", "waits.", "Nobody", "comes."]
