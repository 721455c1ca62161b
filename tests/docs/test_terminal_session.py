"""The recorded session at the terminal: the committed one shows what it should, and its steps still run."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pyte", reason="no terminal emulator: pip install pyte")
pytest.importorskip("pty", reason="this system has no pseudo-terminals")

import itertools

from docs.terminal_session import COLUMNS, NARROW, record, screens

CAST = Path(__file__).parents[2] / "docs" / "terminal-session.cast"
LARGEST = 300_000

SEEN = {
    "plans": ["What happens next?", "Next? [1-3, e, w"],
    "a pasted plan": ["She climbs the stairs.", "She lights the lamp.", "The ferry comes, and nobody is on it."],
    "stopped": ["Stopped. What of this passage?", "t: throw it away", "q: leave"],
    "kept": ["What happens next?", "Next?"],
    "thrown away": ["What happens next?", "Next?"],
    "gone on": ["What happens next?", "Next?"],
    "undone": ["Undone: passage", "What happens next?"],
    "done again": ["Done again: passage", "What happens next?"],
    "memory": ["The ferry is late.", "Enter: done]"],
    "narrow": ["What happens next?", "Next?"],
    "a narrow tree": ["← here", "the ferry"],
    "tree": ["The Glass Bridge", "← here", "the ferry"],
    "a corrected summary": ["{+Somebody waits", "You are at passage"],
    "codex": ["person"],
    "show": ["1 passage ·", "With its other branches"],
    "back again": ["The Glass Bridge", "What happens next?", "Next?"],
    "asked for again": ["It held what the author has banned", "does not count. It begins again:)"],
    "cancelled": ["Nothing was changed; Ctrl-C again leaves."],
    "who are you": ["Who are you?", "You? [1-3"],
    "an action": ["What do you do?", "You? [1-3"],
    "an action undone": ["Undone: passage", "What do you do?"],
    "loaded": ["/load gate", "What do you do?"],
    "stories": ["The Glass Bridge", "The Salt Gate"],
}
"""What the screen shows at each moment that has a name."""


def check(events):
    """Look at every moment of a session."""
    seen = set()
    for moment, lines in screens(events):
        text = " ".join(" ".join(lines).split())
        assert [words for words in SEEN[moment] if words not in text] == [], (moment, lines)
        assert "Traceback" not in text
        assert not re.search(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", text) or moment == "stopped", "a status was left behind"
        assert max(map(len, lines)) <= (NARROW if "narrow" in moment else COLUMNS)
        seen.add(moment)
    assert seen == SEEN.keys()


def test_the_recording_shows_what_it_should():
    assert CAST.stat().st_size < LARGEST
    header, *events = map(json.loads, CAST.read_text(encoding="utf-8").splitlines())
    assert (header["version"], header["width"]) == (2, COLUMNS)
    assert all(later[0] >= earlier[0] for earlier, later in itertools.pairwise(events))
    check(events)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_steps_of_the_recording_still_run():
    check(record())
