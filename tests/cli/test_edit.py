"""`edit` and its like, `set`, `rename`, `archive`, `recall`, `import`, `export` and `prompts`."""

from __future__ import annotations

import json
import re

import pytest


def _memory(cli, story):
    return json.loads(cli("memory", story, "--json").out)["short_term_memory"]


@pytest.fixture
def editor(monkeypatch, tmp_path):
    """Give a function that makes a shell command the person's editor, at what passes for a terminal."""

    def become(script):
        path = tmp_path / "editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("EDITOR", str(path))

    monkeypatch.setattr("recurrentgpt.cli.terminal.prompt.at_terminal", lambda: True)
    monkeypatch.setattr("recurrentgpt.cli.terminal.prompt._read_line", lambda *asked: "n")
    monkeypatch.delenv("VISUAL", raising=False)
    return become


def _passages(cli, story):
    return json.loads(cli("show", story, "--json").out)["passages"]


def test_an_edit_reaches_the_next_prompt(cli, story, server):
    assert cli("edit", story, "2", "--text", "Zelda sold the lantern.").code == 0
    since = len(server.requests)
    assert cli("write", story, "--steps", "1").code == 0
    assert "Zelda sold the lantern." in json.dumps(server.requests[since:])
    assert _passages(cli, story)[1]["text"] == "Zelda sold the lantern."


def test_a_part_is_put_in_other_words_and_taken_or_not(cli, story):
    before = _passages(cli, story)
    first, *words = before[1]["text"].split()
    begins, ends = " ".join(words[:4]), " ".join(words[-4:])
    shown = cli("edit", "part", story, "2", f"{begins} ... {ends}", "--how", "expand")
    assert shown.code == 0, shown.err
    assert shown.out.strip()
    assert "--yes takes these words" in shown.err
    assert _passages(cli, story) == before
    taken = cli("edit", "part", story, "2", f"{begins} … {ends}", "--yes", "--json")
    assert taken.code == 0, taken.err
    (suggestion,) = [event for line in taken.out.splitlines() if (event := json.loads(line))["event"] == "suggestion"]
    assert suggestion["step"] == 2
    assert [passage["text"] for passage in _passages(cli, story)] == [
        before[0]["text"],
        f"{first} {suggestion['text']}",
    ]
    for part, said in (("no such words", "is not in the passage"), ("the", "times in the passage")):
        refused = cli("edit", "part", story, "1", part)
        assert (refused.code, said in " ".join(refused.err.split())) == (2, True), refused.err


def test_a_part_in_other_words_is_counted_and_compared(cli, story):
    def usage():
        return json.loads(cli("show", story, "--json").out)["usage"]

    before, calls = _passages(cli, story)[1], usage()["calls"]
    whole = " ".join(before["text"].split())
    shown = cli("edit", "part", story, "2", whole)
    assert "[-" in shown.err
    assert "{+" in shown.err
    assert " 1 call " in shown.err
    taken = cli("edit", "part", story, "2", whole, "--yes", "--json").events
    told = taken[-1]["usage"]["calls"]
    assert taken[-1]["event"] == "done"
    after = _passages(cli, story)[1]
    assert after["usage"]["calls"] == told
    assert usage()["calls"] == calls + told


def test_a_part_is_whole_words(cli, story):
    assert cli("edit", story, "2", "--text", "The heart and the art. 夜は静かで。").code == 0
    for part in ("art", "the", "静か"):
        assert cli("edit", "part", story, "2", part).code == 0
    refused = cli("edit", "part", story, "2", "hear")
    assert "“hear” is not in the passage" in " ".join(refused.err.split())


def test_the_editor_gets_the_text_and_what_it_leaves_is_taken(cli, story, editor):
    before = _passages(cli, story)[0]["text"]
    editor('echo "And nobody saw it." >> "$1"')
    result = cli("edit", story, "1")
    assert result.code == 0, result.err
    assert _passages(cli, story)[0]["text"] == f"{before}\nAnd nobody saw it."


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("exit 0", 0, "it is the same text"),
        ("exit 3", 1, "ended with the code 3"),
        ('> "$1"', 2, "is empty"),
        ('rm "$1"', 1, "is not there any more"),
    ],
)
def test_an_editor_that_leaves_nothing_changes_nothing(cli, story, editor, server, script, code, said):
    editor(script)
    before, since = cli("tree", story, "--json").out, len(server.requests)
    for command in (
        ["edit", story, "1"],
        ["edit", "memory", story],
        ["edit", "plan", story, "1"],
        ["edit", "brief", story],
    ):
        result = cli(*command)
        assert (result.code, said in result.err) == (code, True), result.err
    assert cli("tree", story, "--json").out == before
    assert len(server.requests) == since


def test_an_editor_that_is_missing(cli, story, editor, monkeypatch):
    monkeypatch.setenv("EDITOR", "no-such-editor-here")
    result = cli("edit", story, "1")
    assert result.code == 1
    assert "no-such-editor-here cannot be started" in result.err
    monkeypatch.setenv("EDITOR", "vi 'x")
    assert cli("edit", story, "1").code == 2
    monkeypatch.delenv("EDITOR")
    assert "--text or --file" in cli("edit", story, "1").err


def test_what_was_typed_survives_a_fault(cli, story, server, editor, user_folder):
    editor('echo "A long night of typing." > "$1"')
    server.script = ["401"]
    result = cli("edit", story, "1")
    assert result.code == 1
    draft = user_folder / "drafts" / f"{story}.txt"
    assert draft.read_text() == "A long night of typing.\n"
    assert f"--file {draft}" in result.err
    server.script = ["ok"]
    assert cli("edit", story, "1").code == 0
    assert not draft.exists()


def test_a_replay_says_what_it_costs_and_asks(cli, story, server, editor):
    editor('echo "Another." > "$1"')
    since = len(server.requests)
    result = cli("edit", story, "1", "--replay")
    assert result.code == 0
    assert "The memory is rewritten after 2 passages" in result.err
    assert "Nothing was changed" in result.err
    assert len(server.requests) == since


def test_where_nobody_can_be_asked_a_replay_needs_yes(cli, story, server):
    since = len(server.requests)
    result = cli("edit", story, "1", "--text", "Another.", "--replay")
    assert result.code == 2
    assert "--yes" in result.err
    assert len(server.requests) == since


def test_an_interrupted_replay_goes_on(cli, story, server):
    server.script = ["ok"] * (len(server.requests) + 1) + ["401"]
    stopped = cli("edit", story, "1", "--text", "Another.", "--replay", "--yes")
    assert stopped.code == 1
    assert f"Continue: recurrentgpt edit {story} --resume" in stopped.err
    assert "is unfinished (1 of 2 passages)" in cli("tree", story).err
    server.script = ["ok"]
    resumed = cli("edit", story, "--resume", "--json")
    assert [event["kept"] for event in resumed.events if event["event"] == "replay"] == [True, False]
    assert _passages(cli, story)[0]["text"] == "Another."
    assert cli("edit", story, "--resume").code == 1
    assert cli("edit", story, "--drop").code == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--text", " "], 2),
        (["--text", "x", "--file", "y"], 2),
        (["--file", "nowhere.txt"], 2),
        (["--resume"], 2),
        (["--text", "x" * 200_000], 2),
    ],
)
def test_bad_edits(cli, story, arguments, code):
    before = cli("tree", story, "--json").out
    result = cli("edit", story, "1", *arguments)
    assert result.code == code
    assert result.err.count("Error: ") == 1
    assert cli("tree", story, "--json").out == before
    assert cli("edit", story, "0", "--text", "x").code == 1


def test_what_surrounds_the_passages_is_edited_too(cli, story, tmp_path):
    assert cli("edit", "memory", story, "--file", "-", stdin="One thing.\nAnother.\n").code == 0
    assert _memory(cli, story) == "One thing.\nAnother."
    assert cli("edit", "plan", story, "2", "--text", "They dance.").code == 0
    assert "2  They dance." in cli("choose", story).out
    assert cli("edit", "plan", story, "7", "--text", "They dance.").code == 2
    corrected = cli("edit", "summary", story, "1", "--text", "Zelda owns the key.")
    assert corrected.code == 0
    assert re.search(r"\[-.*-\]\s*\{\+.*Zelda.*\+\}", corrected.out)
    assert "Zelda owns the key." in cli("recall", story, "who owns the key?").out
    file = tmp_path / "brief.md"
    file.write_text("# Genre\nsea story\n\n# Characters\n- Ada: a diver\n")
    brief = json.loads(cli("edit", "brief", story, "--file", str(file), "--json").out)["brief"]
    assert (brief["genre"], brief["characters"]) == ("sea story", ["Ada: a diver"])
    assert brief["outline"]
    assert cli("edit", "brief", story, "--text", "no heading").code == 2


def test_what_is_kept_from_the_reader_is_shown_on_request_alone(cli, story):
    hidden = "# Truth\nZoltan did it.\n\n# Clues\nA feather: passage 2\n\n# Voice\nDry."
    brief = json.loads(cli("edit", "brief", story, "--text", hidden, "--json").out)["brief"]
    assert brief["voice"] == "Dry."
    assert not {"truth", "clues"} & set(brief)
    brief = json.loads(cli("edit", "brief", story, "--text", "# Genre\nmystery", "--truth", "--json").out)["brief"]
    assert (brief["truth"], brief["clues"]) == ("Zoltan did it.", ["A feather: passage 2"])
    for command in (["show", story], ["show", story, "--json"], ["export", story, "-o", "-"]):
        assert "Zoltan did it" not in cli(*command).out


def test_settings_are_shown_and_changed_for_good(cli, story, server):
    changed = json.loads(cli("set", story, "pace=slow", "max-words=600", "note=The dog lives.", "--json").out)[
        "settings"
    ]
    assert (changed["pace"], changed["max_words"], changed["note"]) == ("slow", 600, "The dog lives.")
    assert json.loads(cli("show", story, "--settings", "--json").out)["settings"] == changed
    since = len(server.requests)
    assert cli("write", story, "--steps", "1").code == 0
    assert "The dog lives." in json.dumps(server.requests[since:])
    assert json.loads(cli("set", story, "note=", "--json").out)["settings"]["note"] == ""
    for bad in (["pase=slow"], ["pace=lazy"], ["pace"], []):
        assert cli("set", story, *bad).code == 2
    assert "did you mean pace?" in cli("set", story, "pase=slow").err


def test_a_flag_holds_for_one_run(cli, story, server):
    since = len(server.requests)
    assert cli("write", story, "--steps", "1", "--style", "like a telegram").code == 0
    assert "like a telegram" in json.dumps(server.requests[since:])
    assert json.loads(cli("show", story, "--settings", "--json").out)["settings"]["style"] == ""


def test_a_story_is_renamed_and_put_away(cli, story):
    assert cli("rename", story, "Other").code == 0
    assert cli("archive", "Other").code == 0
    assert story not in cli("stories").out
    assert "Other (archived)" in cli("stories", "--all").out
    assert cli("archive", story, "--undo").code == 0
    assert "(archived)" not in cli("stories", "--all").out
    assert cli("archive", story).code == cli("unarchive", story).code == 0
    assert story in cli("stories").out


def test_a_story_is_erased_after_asking(cli, story):
    refused = cli("erase", story)
    assert refused.code == 2
    assert "for ever? There is nobody here to ask: run it again with --yes." in refused.err
    done = cli("erase", story, "--yes")
    assert (done.code, done.out) == (0, "")
    assert f"({story}) is erased." in done.err
    assert story not in cli("stories", "--all").out
    assert cli("show", story).code == 1


def test_a_budget_stops_between_passages(cli, story):
    result = cli("write", story, "--steps", "50", "--budget-tokens", "20000", "--json")
    assert result.code == 0, result.err
    assert result.events[-1]["stopped"] == "budget"
    assert 0 < result.events[-1]["steps"] < 50
    stopped = cli("write", story, "-i", "--budget-tokens", "20000", stdin="s 50\n").err
    assert "budget" in stopped
    assert f"Continue: recurrentgpt write {story}" in stopped


def test_an_edit_says_what_it_does_not_reach(cli, story):
    told = cli("edit", "brief", story, "--text", "# Characters\nMira: a keeper\nMarek: her brother").err
    assert "You are at passage 2 (" in told
    assert "Nothing" not in told
    assert cli("edit", story, "2", "--text", "Mira and Marek left.").code == 0
    told = cli("edit", story, "2", "--text", "Mira left alone.").err
    assert "still tells of Marek: recurrentgpt edit brief" in told
    assert "is as it was" in cli("edit", story, "2", "--text", "Mira left alone again.").err


def test_a_correction_further_back_says_where_the_story_is_now(cli, story):
    left = f"What followed up to passage 2 stays in the log: `recurrentgpt undo {story}` goes back."
    for what in (("memory", story), ("plan", story, "1")):
        told = cli("edit", *what, "--at", "1", "--text", "Wilma is tired.").err
        assert "You are at passage 1 (" in told
        assert left in told
        assert left not in cli("edit", *what, "--text", "Wilma is rested.").err
        assert cli("undo", story, "2").code == 0
        assert len(json.loads(cli("show", story, "--json").out)["passages"]) == 2


def test_a_name_that_moves_is_said(cli, story):
    cli("name", story, "dark", "2")
    assert "It was the name of passage 2" in cli("name", story, "dark", "1").err


def test_the_former_names_work_until_they_go(cli, story):
    assert "edit-memory" not in cli("--help").out
    result = cli("edit-memory", story, "--text", "One thing.")
    assert result.code == 0, result.err
    assert "is `recurrentgpt edit memory` now, and goes with 0.3.0" in " ".join(result.err.split())
    assert json.loads(cli("memory", story, "--json").out)["short_term_memory"] == "One thing."
    assert cli("edit-plan", story, "2", "--text", "They dance.").code == 0
    assert json.loads(cli("choose", story, "--json").out)["plans"][1] == "They dance."
    assert cli("edit", "passage", story, "1", "--text", "She waits.").code == 0
    assert cli("edit", story, "1", "--text", "She leaves.").code == 0
    assert cli("edit", story, "--help").code == 0
