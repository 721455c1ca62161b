"""The command in a terminal: what a person sees, drawn by a terminal emulator."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import time
from contextlib import contextmanager

import pytest

from recurrentgpt.cli.terminal.screen import wrap
from tests.conftest import NEVER
from tests.warm_process import WarmProcess

from .conftest import wait_for_requests

pyte = pytest.importorskip("pyte", reason="no terminal emulator: pip install pyte")
termios = pytest.importorskip("termios", reason="this system has no terminals of this kind")

ROWS, COLUMNS = 200, 72


class Terminal:
    """A person's terminal with the command running in it."""

    warm: WarmProcess
    """Where commands are started."""

    def __init__(self, *arguments: str, columns: int = COLUMNS, sized: bool = False) -> None:
        self.screen = pyte.Screen(columns, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        environment = os.environ | {"TERM": "xterm-256color"}
        self._file, side = os.openpty()
        if sized:
            # As in a shell: the width is what the terminal says at the time.
            environment.pop("COLUMNS", None)
            termios.tcsetwinsize(side, (ROWS, columns))
        else:
            environment |= {"COLUMNS": str(columns), "LINES": str(ROWS)}
        self._command = self.warm.start("-m", "recurrentgpt", *arguments, env=environment, terminal=side)
        os.close(side)
        self.pid = self._command.pid

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.lines).split())

    def until(self, mark: str, seconds: float = NEVER, count: int = 1) -> None:
        deadline = time.monotonic() + seconds
        while self.text.count(mark) < count:
            assert time.monotonic() < deadline, self.text
            if not self._read():
                break
        assert self.text.count(mark) >= count, self.text

    def resize(self, columns: int) -> None:
        self.screen.resize(ROWS, columns)
        termios.tcsetwinsize(self._file, (ROWS, columns))

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._file)[3] & termios.ECHO)

    def echo(self) -> None:
        settings = termios.tcgetattr(self._file)
        settings[3] |= termios.ECHO
        termios.tcsetattr(self._file, termios.TCSANOW, settings)

    def send(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._file)
        return self._command.wait()

    def _read(self) -> bool:
        if not select.select([self._file], [], [], 1)[0]:
            return True
        try:
            data = os.read(self._file, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self._stream.feed(data)
        return bool(data)


@pytest.fixture(scope="module", autouse=True)
def _warm(warm: WarmProcess) -> None:
    Terminal.warm = warm


def test_a_contradiction_is_shown_below_its_passage(contradicting):
    terminal = Terminal("show", contradicting, columns=40)
    assert terminal.end() == 0, terminal.text
    assert "Bastian Cole walked to the stove and lit it again. [1] Rain" in terminal.text
    first = next(number for number, line in enumerate(terminal.lines) if line.startswith("[1] It says:"))
    assert terminal.lines[first + 1] == "    stove and lit it again."
    assert terminal.lines[first + 2] == "    But: Bastian Cole is dead."
    assert "From passage 1: Bastian Cole fell from the wall" in terminal.text


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_tree_shows_every_name_and_id_however_narrow(story, cli, columns):
    assert cli("retry", story).code == 0
    assert cli("name", story, "the dark ending that nobody in town expected").code == 0
    title, *branches = cli("tree", story).out.splitlines()
    terminal = Terminal("tree", story, columns=columns)
    assert terminal.end() == 0, terminal.text
    shown = terminal.lines[: terminal.lines.index("")]
    # What a branch tells is cut; what is typed to go there is not.
    assert max(map(len, shown)) <= columns
    assert shown == [title, *branches] if columns == 200 else len(shown) >= 1 + len(branches)
    assert shown[2].strip().startswith(("└─", "the dark")), "nothing stands between the lines"
    assert "the dark ending that nobody in town expected" in terminal.text
    tips = {branch["tip"] for branch in json.loads(cli("tree", story, "--json").out)["branches"]}
    assert all(tip[:8] in terminal.text for tip in tips)
    assert terminal.text.count("← here") == 1


@pytest.mark.parametrize("columns", [40, 80])
def test_a_list_of_stories_has_ids_and_titles_however_narrow(story, columns):
    terminal = Terminal("stories", columns=columns)
    assert terminal.end() == 0, terminal.text
    heading, row = terminal.lines[:2]
    assert heading.split()[:2] == ["Story", "Title"]
    assert row.startswith(f"{story}  The Glass Bridge")
    assert ("Written" in heading) == (columns > 40)


@pytest.mark.parametrize("columns", [40, 100])
@pytest.mark.parametrize(
    "command", ["memory STORY", "recall STORY storm", "choose STORY", "goto STORY 1", "context STORY --text"]
)
def test_what_is_read_of_a_story_is_broken_at_words(story, cli, command, columns):
    arguments = command.replace("STORY", story).split()
    terminal = Terminal(*arguments, columns=columns)
    assert terminal.end() == 0, terminal.text
    # A word that is broken stands there in two.
    assert " ".join(cli(*arguments).out.split()) in terminal.text


def test_emphasis_is_italic_at_a_terminal_over_its_lines_and_stays_in_a_pipe(story, cli):
    text = f"She read *{'one and two and ' * 6}three* and said 2 * 3."
    assert cli("edit", "passage", story, "--text", text).code == 0
    assert text in cli("show", story).out
    terminal = Terminal("show", story)
    assert terminal.end() == 0, terminal.text
    assert "three and said 2 * 3." in terminal.text
    screen = terminal.screen
    cells = [screen.buffer[row][column] for row in range(ROWS) for column in range(COLUMNS)]
    said = "".join(cell.data for cell in cells if cell.italics)
    assert said.replace(" ", "") == text.split("*")[1].replace(" ", "")


def test_a_story_is_told_while_it_is_imagined(server):
    server.script = ["stalled"]
    terminal = Terminal("write", "--genre", "fantasy", "--steps", "1")
    deadline = time.monotonic() + NEVER
    # Its title and a sentence of its premise, above what is being done.
    while not re.search(r"[a-z]\. \S imagining the story", terminal.text):
        assert time.monotonic() < deadline, terminal.text
        assert terminal._read(), terminal.text
    terminal.send("\x03")
    terminal.end()


def test_a_turn_at_the_terminal(story, cli):
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    assert "The Glass Bridge" in terminal.text
    terminal.send("e 1\r")
    terminal.until("Plan: ")
    terminal.send("\x15She polishes the [bold]lantern[/bold].\r")
    terminal.until("3 She polishes the [bold]lantern[/bold].")
    terminal.until("Next?", count=2)
    terminal.send("q\r")
    assert terminal.end() == 0, terminal.text
    passage = json.loads(cli("show", story, "--json").out)["passages"][-1]
    assert passage["plan"] == "She polishes the [bold]lantern[/bold]."
    assert " ".join(passage["text"].split()) in terminal.text, "lines of prose were lost"
    assert all(len(line) <= COLUMNS for line in terminal.lines)
    assert "writing passage" not in terminal.text, "the status was left behind"
    assert f"Continue: recurrentgpt write {story} -i" in terminal.text


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
    assert terminal.end() == 0, terminal.text
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


def test_keys_before_the_first_question_answer_nothing(story, cli):
    terminal = Terminal("write", story, "-i")
    terminal.send("2\r3\r")
    terminal.until("Next?")
    terminal.send("u\r")
    terminal.until("Undone: passage 2.")
    terminal.until("Next?", count=2)
    terminal.send("q\r")
    assert terminal.end() == 0, terminal.text
    assert len(json.loads(cli("show", story, "--json").out)["passages"]) == 1


def test_prose_is_as_wide_as_the_terminal_is_now(story, cli):
    terminal = Terminal("write", story, "-i", columns=100, sized=True)
    terminal.until("Next?")
    terminal.resize(50)
    terminal.send("1\r")
    terminal.until("Next?", count=2)
    terminal.send("q\r")
    assert terminal.end() == 0, terminal.text
    text = json.loads(cli("show", story, "--json").out)["passages"][-1]["text"]
    lines, last = wrap(text, 49)
    assert [line for line in [*lines, last] if line not in terminal.lines] == []


def test_what_was_shown_of_a_passage_that_is_asked_for_again_is_said_not_to_count(story, cli, server):
    good = server.answer

    def once_banned(body):
        text = good(body)
        if "response_format" in body or any("It held what" in str(message) for message in body["messages"]):
            return text
        first, *rest = text.split("\n\n")
        return "\n\n".join([first, "It sent Shivers down his back.", *rest])

    server.answer = once_banned
    banned = ("--ban", "shivers down", "--steps", "1")
    terminal = Terminal("write", story, *banned)
    assert terminal.end() == 0, terminal.text
    passage = json.loads(cli("show", story, "--json").out)["passages"][-1]
    first, counts = terminal.text.split(
        "(It held what the author has banned: shivers down. What was shown of this passage above does not count. It "
        "begins again:)"
    )
    assert len(first.split()) > 50, "a stream flows"
    assert " ".join(passage["text"].split()) in counts
    # In a file nothing can be taken back.
    result = cli("write", story, *banned)
    assert result.out == json.loads(cli("show", story, "--json").out)["passages"][-1]["text"] + "\n"


def test_keys_are_silent_from_the_first_progress_on_and_heard_again(story, cli, monkeypatch):
    happened = []

    @contextmanager
    def keys_off():
        happened.append("off")
        yield
        happened.append("on")

    monkeypatch.setattr("recurrentgpt.cli.terminal.prompt.keys_off", keys_off)
    monkeypatch.setattr("recurrentgpt.cli.terminal.screen.Screen.doing", lambda _, what, *__: happened.append(what))
    assert cli("write", story, "-i", stdin="q\n").code == 0
    assert happened == ["off", "opening the stories", "on"]


def test_keys_stay_silent_after_the_shell_has_stopped_the_writing_and_lets_it_go_on(story, cli, server):
    assert cli("choose", story, "1").code == 0
    server.script = [*["ok"] * len(server.requests), "stalled"]
    terminal = Terminal("write", story, "--steps", "1")
    terminal.until("writing passage ")
    assert not terminal.echoes
    os.kill(terminal.pid, signal.SIGSTOP)
    terminal.echo()  # as a shell does that takes the terminal back
    os.kill(terminal.pid, signal.SIGCONT)
    deadline = time.monotonic() + NEVER
    while terminal.echoes:
        assert time.monotonic() < deadline, "the keys are echoed"
        terminal._read()
    terminal.send("\x03")
    terminal.until("Stopped. What of this passage?")
    terminal.send("q\r")
    assert terminal.end() == 130


def test_a_ctrl_c_that_was_answered_is_forgotten(story):
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    for count, answer in enumerate(["x\r", "e\r"], 1):
        terminal.send("\x03")
        terminal.until("Ctrl-C again leaves", count=count)
        terminal.until("Next?", count=2 * count)
        terminal.send(answer)
        if answer == "x\r":
            terminal.until("neither a key nor a plan")
            terminal.until("Next?", count=3)
        else:
            terminal.until("Edit which plan?")
    terminal.send("\x03")
    terminal.until("Ctrl-C again leaves", count=3)
    terminal.until("Next?", count=5)
    terminal.send("q\r")
    assert terminal.end() == 0, terminal.text


def test_ctrl_c_that_drops_typed_words_leaves_nothing_else(story):
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    terminal.send("\x03")
    terminal.until("Ctrl-C again leaves", count=1)
    terminal.until("Next?", count=2)
    terminal.send("Mira sells the boat")
    terminal.until("] Mira")
    terminal.send("\x03")
    terminal.until("Ctrl-C again leaves", count=2)
    terminal.until("Next?", count=3)
    terminal.send("\x03")
    assert terminal.end() == 130, terminal.text


def _adding_to_the_memory(story):
    """Return a terminal at the question of the memory's editor, with a sentence added."""
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    terminal.send("m\r")
    terminal.until("Enter: done]")
    terminal.send("+ The ferry is late.\r")
    terminal.until("8 The ferry is late.")
    terminal.until("Enter: done]", count=2)
    return terminal


def test_ctrl_c_cancels_what_it_is_in_and_twice_leaves(story, cli):
    before = cli("memory", story, "--json").out
    terminal = _adding_to_the_memory(story)
    terminal.send("\x03")
    terminal.until("Ctrl-C again leaves", count=1)
    terminal.until("Next?", count=2)
    terminal.send("\x03")
    assert terminal.end() == 130
    assert "Stopped. Everything written is saved." in terminal.text
    assert cli("memory", story, "--json").out == before


def test_ctrl_c_in_one_sentence_of_the_memory_leaves_the_others_as_they_were_changed(story, cli):
    terminal = _adding_to_the_memory(story)
    terminal.send("1\r")
    terminal.until("Sentence:")
    terminal.send("\x03")
    terminal.until("Enter: done]", count=3)
    terminal.send("\r")
    terminal.until("The memory is saved.")
    terminal.until("Next?", count=2)
    terminal.send("q\r")
    assert terminal.end() == 0
    assert "The ferry is late." in cli("memory", story, "--json").out


def _stop(terminal, server, begin):
    """Let the server say half of the next passage; press Ctrl-C when that is there."""
    server.script = [*["ok"] * len(server.requests), "stalled"]
    begin()
    _stop_half_way(terminal, server)


def _stop_half_way(terminal, server):
    """Press Ctrl-C in the passage of which the server says half."""
    question, last = "Stopped. What of this passage?", "q: leave]"
    asked = terminal.text.count(question)
    terminal.until("writing passage ")
    while not re.search(r"writing passage \d+ · [1-9]\d\d words", terminal.text):
        terminal._read()
    terminal.send("\x03")
    # A key for a question that is not there yet is dropped.
    terminal.until(question, count=asked + 1)
    terminal.until(last, count=asked + 1)
    server.script = ["ok"]


def _stopped(story, cli, server):
    """Return a terminal in which the next passage was stopped in the middle."""
    assert cli("choose", story, "1").code == 0
    server.script = [*["ok"] * len(server.requests), "stalled"]
    terminal = Terminal("write", story, "--steps", "2")
    _stop_half_way(terminal, server)
    return terminal


def test_what_was_stopped_is_kept_to_its_last_whole_sentence(story, cli, server):
    terminal = _stopped(story, cli, server)
    assert "k: keep the whole sentences" in terminal.text
    terminal.send("The ferry comes.\r")  # begins like a key
    terminal.until("Type k, t, g, q.")
    terminal.until("What of this passage?", count=2)
    terminal.send("k\r")
    terminal.until("Continue: recurrentgpt write")
    assert terminal.end() == 0, terminal.text
    _, second, *rest = json.loads(cli("show", story, "--json").out)["passages"]
    (kept,) = rest  # the second of the passages that were asked for is not written
    assert kept["text"].endswith((".", "”", "’"))
    assert len(kept["text"]) < 0.7 * len(second["text"])
    assert kept["summary"]
    assert kept["short_term_memory"] != second["short_term_memory"]
    assert all(sentence in terminal.text for sentence in " ".join(kept["text"].split()).split(". "))
    assert len(json.loads(cli("choose", story, "--json").out)["plans"]) == 3


@pytest.mark.parametrize("key", ["g", "t"])
def test_a_passage_is_shown_to_its_end_before_its_memory_is_made(story, cli, server, key):
    assert cli("choose", story, "1").code == 0
    server.script = [*["ok"] * (len(server.requests) + 1), "stalled"]
    terminal = Terminal("write", story, "--steps", "1")
    terminal.until("updating the memory")
    wait_for_requests(server, len(server.script))
    terminal.send("\x03")
    terminal.until("Stopped. What now? [g: go on, t: throw this passage away and choose again, q: leave]")
    shown = terminal.text
    server.script = ["ok"]
    terminal.send(f"{key}\r")
    assert terminal.end() == 0, terminal.text
    passages = json.loads(cli("show", story, "--json").out)["passages"]
    assert len(passages) == (3 if key == "g" else 2)
    if key == "g":
        *_, last = " ".join(passages[-1]["text"].split()).split(". ")
        assert last in " ".join(shown.split())
        assert "does not count" not in terminal.text


def test_what_was_stopped_is_thrown_away_with_its_plan(story, cli, server):
    before = json.loads(cli("show", story, "--json").out)["passages"]
    terminal = _stopped(story, cli, server)
    terminal.send("t\r")
    assert terminal.end() == 0, terminal.text
    assert json.loads(cli("show", story, "--json").out)["passages"] == before
    assert json.loads(cli("choose", story, "--json").out)["plan"] is None


@pytest.mark.parametrize(
    ("key", "question"), [("k", "What do you do?"), ("g", "What do you do?"), ("t", "Who are you?")]
)
def test_the_first_passage_that_is_played_is_stopped_as_any_other(server, cli, key, question):
    server.script = ["ok", "stalled"]
    terminal = Terminal("play", "--genre", "fantasy", "--title", "Game", "--as", "a thief")
    _stop_half_way(terminal, server)
    terminal.send(f"{key}\r")
    terminal.until(question)
    terminal.until("You? [")
    terminal.send("/quit\r")
    assert terminal.end() == 0, terminal.text
    assert len(json.loads(cli("show", "game", "--json").out)["passages"]) == (key != "t")


def test_what_was_stopped_goes_on_and_a_second_ctrl_c_leaves(story, cli, server):
    terminal = _stopped(story, cli, server)
    assert "g: go on from them" in terminal.text
    asked = len(server.requests)
    terminal.send("g\r")
    terminal.until("Continue: recurrentgpt write")
    assert terminal.end() == 0, terminal.text
    passages = json.loads(cli("show", story, "--json").out)["passages"]
    assert len(passages) == 4, "both that were asked for"
    *_, begun, onwards = server.requests[asked]["messages"]
    assert begun["role"] == "assistant"
    assert len(begun["content"].split()) > 50
    assert onwards["role"] == "user"
    assert passages[2]["text"].startswith(begun["content"])
    assert len(passages[2]["text"]) > len(begun["content"])
    assert all(sentence in terminal.text for sentence in " ".join(passages[2]["text"].split()).split(". "))
    assert "does not count" not in terminal.text
    terminal = _stopped(story, cli, server)
    plan = json.loads(cli("choose", story, "--json").out)["plan"]
    terminal.send("\x03")
    assert terminal.end() == 130
    assert (
        "Stopped. What there was of passage 5 is not kept; everything before it is saved. It is written anew from its plan when "
        "you go on."
    ) in terminal.text
    assert len(json.loads(cli("show", story, "--json").out)["passages"]) == 4
    assert cli("write", story, "--steps", "1").code == 0
    *_, before, last = json.loads(cli("show", story, "--json").out)["passages"]
    assert (last["step"], last["plan"], last["parent"]) == (5, plan, before["id"])


def test_another_take_that_was_stopped_is_kept_beside_the_first(story, cli, server):
    first = json.loads(cli("show", story, "--json").out)["passages"][1]
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    _stop(terminal, server, lambda: terminal.send("a\r"))
    terminal.send("k\r")
    terminal.until("Next?", count=2)
    terminal.send("q\r")
    assert terminal.end() == 0, terminal.text
    assert len(json.loads(cli("tree", story, "--json").out)["passages"]) == 4
    second = json.loads(cli("show", story, "--json").out)["passages"][1]
    assert second["id"] != first["id"]
    assert (second["plan"], second["parent"]) == (first["plan"], first["parent"])


def test_another_take_that_was_stopped_goes_on_and_one_that_was_left_leaves(story, cli, server):
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    _stop(terminal, server, lambda: terminal.send("a\r"))
    asked = len(server.requests)
    terminal.send("g\r")
    terminal.until("Next?", count=2)
    second = json.loads(cli("show", story, "--json").out)["passages"][1]
    assert second["text"].startswith(server.requests[asked]["messages"][-2]["content"])
    _stop(terminal, server, lambda: terminal.send("a\r"))
    terminal.send("q\r")
    assert terminal.end() == 130
    assert "What there was of another take of passage 2 is not kept; everything before it is saved." in terminal.text
    assert len(json.loads(cli("tree", story, "--json").out)["passages"]) == 4


def test_an_answer_is_edited_in_lines_completed_and_taken_up_again(story, cli, server):
    assert cli("name", story, "the dark").code == 0
    terminal = Terminal("write", story, "-i", columns=120)
    terminal.until("Next?")
    terminal.send("o max-w\t")
    terminal.until("o max-words=")
    terminal.send("\x15g the d\t")
    terminal.until("g the dark")
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


def test_ctrl_d_at_a_question_below_goes_back_to_the_one_above(story, cli):
    before = cli("show", story, "--json").out
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    for number, (key, question) in enumerate(
        (("w", "Your plan:"), ("s", "How many passages?"), ("g", "Go to which")), 1
    ):
        terminal.send(f"{key}\r")
        terminal.until(question)
        terminal.send("\x04")
        terminal.until("Nothing was changed.", count=number)
        terminal.until("Next?", count=number + 1)
    terminal.send("\x04")
    assert terminal.end() == 0, terminal.text
    assert cli("show", story, "--json").out == before


def test_what_a_key_does_stands_beside_it_however_long(story):
    terminal = Terminal("write", story, "-i")
    terminal.until("Next?")
    terminal.send("?\r")
    terminal.until("Tab completes")
    lines = [line.rstrip() for line in terminal.lines]
    begun = next(number for number, line in enumerate(lines) if line.startswith("  n "))
    assert lines[begun + 1].startswith("       "), lines[begun : begun + 2]
    terminal.until("Next?", count=2)
    terminal.send("q\r")
    assert terminal.end() == 0
