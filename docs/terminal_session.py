"""Record a long session at the terminal: python -m docs.terminal_session [-o FILE]; `asciinema play FILE` shows it.

The command line runs in a pseudo-terminal with a scripted model: a novel is written, interrupted, gone back in and edited, then
a story is played. At each moment that has a name, a test looks at the screen.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import select
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pyte

from recurrentgpt.testing import FaultyServer, story_answers

COLUMNS, ROWS, NARROW = 90, 36, 56
PATIENCE = 120
"""Seconds that nothing of the session takes, on any machine."""

LONGEST_PAUSE = 1.5
"""Seconds between two things that happen, in the recording."""

TYPING = 0.04
"""Seconds between two keys, in the recording."""

BANNED = "shivers down"
CTRL_C, CTRL_U = "\x03", "\x15"
NEXT, PLANS = r"Next\?[^]]*\]", r"What happens next\?[\s\S]*Next\?[^]]*\]"
"""The question alone, and with the plans before it."""

YOU, CHOICES = r"You\?[^]]*\]", r"What do you do\?[\s\S]*You\?[^]]*\]"
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>()][0-9A-Z]?)")

Event: TypeAlias = tuple[float, str, str]
"""A line of a recording: when, what (`o` output, `r` another size, `m` a moment with a name), and its text."""


class ScriptedModel(FaultyServer):
    """An endpoint that writes stories, stops in mid-passage when it is told to, and says what is banned when it is."""

    def __init__(self) -> None:
        super().__init__("ok", text=self._reply)
        self.says_banned = False

    def stall(self) -> None:
        """Say nothing more in the middle of the next reply."""
        self.script = [*(["ok"] * len(self.requests)), "stalled"]

    def recover(self) -> None:
        """Answer as ever."""
        self.script = ["ok"]

    def _reply(self, body: Mapping[str, Any]) -> str:
        seed = {"role": "user", "content": f"seed {body.get('seed')}"}
        text = story_answers({**body, "messages": [*body["messages"], seed]})
        if self.says_banned and "response_format" not in body:
            self.says_banned = False
            first, *rest = text.split("\n\n")
            text = "\n\n".join([first, f"It sent {BANNED} her back.", *rest])
        return text


class Terminal:
    """A terminal in which one command after the other runs, and what was to be seen in it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.events: list[Event] = []
        self.environment, self.size = environment, (COLUMNS, ROWS)
        self._time, self._last = 0.0, time.monotonic()
        self._file, self._pid = -1, 0
        self._heard = ""

    @contextmanager
    def running(self, *arguments: str) -> Iterator[None]:
        """Run `recurrentgpt` with these arguments, and wait for its end; raise RuntimeError where it fails."""
        words = " ".join(f'"{it}"' if " " in it else it for it in ("recurrentgpt", *arguments))
        self._add("o", "\x1b[1m$\x1b[0m ")
        for key in words:
            self._add("o", key, TYPING)
        self._add("o", "\r\n")
        self._heard = ""
        self._pid, self._file = pty.fork()
        if not self._pid:
            termios.tcsetwinsize(0, self.size[::-1])
            command = [sys.executable, "-m", "recurrentgpt", *arguments]
            os.execve(sys.executable, command, dict(self.environment))  # noqa: S606 - of our own making
        yield
        while self._read():
            pass
        os.close(self._file)
        if code := os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1]):
            raise RuntimeError(f"`{words}` ended with {code}: {self._heard[-500:]}")

    def run(self, *arguments: str) -> None:
        """Run a command that asks nothing."""
        with self.running(*arguments):
            pass

    def type(self, keys: str, mark: str, moment: str = "") -> None:
        """Press keys, wait until `mark` is to be seen after them, and give the moment a name."""
        self._heard = ""
        os.write(self._file, keys.encode())
        self.until(mark, moment)

    def answer(self, text: str, mark: str, moment: str = "") -> None:
        """Type an answer and end it."""
        self.type(f"{text}\r", mark, moment)

    def until(self, mark: str, moment: str = "") -> None:
        """Wait until what was written since the last key matches `mark`; raise TimeoutError where it never does."""
        deadline = time.monotonic() + PATIENCE
        while not re.search(mark, _ESCAPES.sub("", self._heard)):
            if time.monotonic() > deadline or not self._read():
                raise TimeoutError(f"{mark!r} did not come; the last that did: {self._heard[-500:]!r}")
        if moment:
            # With what belongs to it and is a moment late.
            while select.select([self._file], [], [], 0.3)[0] and self._read():
                pass
            self.name(moment)

    def name(self, moment: str) -> None:
        """Give this moment a name."""
        self._add("m", moment)

    def resize(self, columns: int) -> None:
        """Make the terminal as wide as this."""
        self.size = columns, ROWS
        termios.tcsetwinsize(self._file, self.size[::-1])
        self._heard = ""
        self._add("r", f"{columns}x{ROWS}")
        self.until(NEXT)  # drawn anew

    def _read(self) -> bool:
        if not select.select([self._file], [], [], 1)[0]:
            return True
        try:
            data = os.read(self._file, 65536).decode("utf-8", "replace")
        except OSError:  # how Linux says that the other side is closed
            return False
        self._heard += data
        self._add("o", data)
        return bool(data)

    def _add(self, kind: str, text: str, pause: float | None = None) -> None:
        now = time.monotonic()
        self._time += min(now - self._last, LONGEST_PAUSE) if pause is None else pause
        self._last = now
        self.events.append((round(self._time, 3), kind, text))


def after(words: str) -> str:
    """Return what finds the next question behind these words: the one that was answered is drawn once more, too."""
    return rf"{words}[\s\S]*(?:{NEXT}|{YOU})"


def write_a_novel(terminal: Terminal, model: ScriptedModel) -> None:
    """Choose, paste, interrupt, take again, go back, and change all that can be changed."""
    with terminal.running("write", "-i", "--genre", "mystery", "--title", "The Glass Bridge"):
        terminal.until(PLANS, "plans")
        terminal.answer("2.", PLANS)
        pasted = "She climbs the stairs.\nShe lights the lamp.\nThe ferry comes, and nobody is on it."
        terminal.type(f"\x1b[200~{pasted}\x1b[201~", "nobody is on it", "a pasted plan")
        terminal.answer("", PLANS)
        for answer, moment in (("k", "kept"), ("t", "thrown away"), ("g", "gone on")):
            stop(terminal, model, "1")
            terminal.answer(answer, PLANS, moment)
        terminal.answer("a", PLANS)
        terminal.answer("k", "Go on from which")
        terminal.answer("1", PLANS)
        terminal.answer("u", PLANS, "undone")
        terminal.answer("y", PLANS, "done again")
        terminal.answer("m", r"done\]")
        terminal.answer("+ The ferry is late.", r"\d  The ferry is late\.[\s\S]*done\]", "memory")
        terminal.answer("", after("memory is saved"))
        terminal.answer("e 1", "Plan: ")
        terminal.answer(f"{CTRL_U}She waits for the ferry.", PLANS)
        terminal.answer("n The dog must live.", after("last in the next prompts"))
        terminal.answer("o pace=slow", after("from the next passage on"))
        terminal.answer("b the ferry", after("is now called"))
        terminal.answer("r", PLANS)
        terminal.resize(NARROW)
        terminal.answer("3)", PLANS, "narrow")
        terminal.answer("t", after("← here"), "a narrow tree")
        terminal.resize(COLUMNS)
        stop(terminal, model, "a")
        terminal.answer("g", PLANS)
        terminal.answer("g 2", PLANS)
        terminal.answer("She swims.", PLANS)
        terminal.answer("q", "Continue")


def stop(terminal: Terminal, model: ScriptedModel, answer: str) -> None:
    """Give an answer, and press Ctrl-C in the middle of the passage that follows."""
    model.stall()
    terminal.answer(answer, r"writing passage \d+ · [1-9]\d+ words")
    model.recover()
    terminal.type(CTRL_C, "What of this passage", "stopped")


def look_and_correct(terminal: Terminal) -> None:
    """Read what was written, and correct it, by commands of their own."""
    story = "the glass bridge"
    terminal.run("tree", story)
    terminal.name("tree")
    terminal.run("edit", "plan", story, "2", "--text", "They turn back before the bridge.")
    terminal.run("edit", "memory", story, "--text", "The ferry never came.")
    terminal.run("edit", "summary", story, "1", "--text", "Somebody waits for a ferry.")
    terminal.name("a corrected summary")
    terminal.run("undo", story)
    terminal.run("redo", story)
    terminal.run("codex", story)
    terminal.name("codex")
    terminal.run("show", story, "--at", "1")
    terminal.name("show")


def come_back(terminal: Terminal, model: ScriptedModel) -> None:
    """Resume the novel, meet a phrase that is banned, and let the simulator drive."""
    with terminal.running("write", "the glass bridge", "-i", "--ban", BANNED):
        terminal.until(PLANS, "back again")
        model.says_banned = True
        terminal.answer("1", r"It begins again:\)")
        terminal.name("asked for again")
        terminal.until(PLANS)
        terminal.answer("s 2", PLANS)
        terminal.type(CTRL_C, "Ctrl-C again leaves", "cancelled")
        terminal.answer("q", "Continue")


def play(terminal: Terminal, model: ScriptedModel) -> None:
    """Play a story: choices, free actions, saves, another take."""
    with terminal.running("play", "--genre", "fantasy", "--title", "The Salt Gate"):
        terminal.until(YOU, "who are you")
        terminal.answer("1", CHOICES)
        terminal.answer("I bribe the guard", CHOICES, "an action")
        terminal.answer("/save gate", after("Saved as gate"))
        stop(terminal, model, "I climb over the wall")
        terminal.answer("k", CHOICES)
        terminal.answer("/retry", CHOICES)
        terminal.answer("/undo", CHOICES, "an action undone")
        terminal.answer("/redo", CHOICES)
        terminal.answer("/memory", r"done\]")
        terminal.answer("", YOU)
        terminal.answer("/load gate", CHOICES, "loaded")
        terminal.answer("2", CHOICES)
        terminal.answer("/tree", after("← here"))
        terminal.answer("/quit", "Continue")
    terminal.run("stories")
    terminal.name("stories")


def record() -> list[Event]:
    """Return the events of the whole session."""
    with tempfile.TemporaryDirectory() as home, ScriptedModel() as model:
        ours = ("RECURRENTGPT_", "OPENAI_", "EDITOR", "VISUAL", "COLUMNS", "LINES", "NO_COLOR")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        environment |= {
            "TERM": "xterm-256color", "RECURRENTGPT_HOME": home, "RECURRENTGPT_MODEL": "scripted",
            "RECURRENTGPT_EMBEDDER": "hash-256", "OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "none",
        }  # fmt: skip
        terminal = Terminal(environment)
        write_a_novel(terminal, model)
        look_and_correct(terminal)
        come_back(terminal, model)
        play(terminal, model)
    return terminal.events


def screens(events: list[Event]) -> Iterator[tuple[str, list[str]]]:
    """Yield each moment that has a name, with the lines of the screen as they are then."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    for _, kind, text in events:
        if kind == "r":
            columns, rows = map(int, text.split("x"))
            screen.resize(rows, columns)
        elif kind == "m":
            yield text, [line.rstrip() for line in screen.display]
        else:
            stream.feed(text)


def main() -> None:
    """Write the recording."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("terminal-session.cast"))
    file = options.parse_args().output
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "A session with recurrentgpt"}
    lines = [json.dumps(line, ensure_ascii=False) for line in (header, *record())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
