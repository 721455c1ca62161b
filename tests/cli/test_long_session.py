"""One long session at the command line: write, go back, choose again, edit with replay, undo, play, export, restore."""

from __future__ import annotations

import json
import re

import pytest

from recurrentgpt.testing import FaultyServer

from .conftest import Cli


def _shown(cli: Cli, story: str, *options: str):
    result = cli("show", story, "--json", *options)
    assert result.code == 0, result.err
    return json.loads(result.out)


def _tree(cli: Cli, story: str):
    return json.loads(cli("tree", story, "--json").out)


def _prompts(server: FaultyServer, since: int) -> str:
    """Return everything that was sent to the model since the request of this number."""
    bodies = server.requests[since:]
    return "\n".join(str(message["content"]) for body in bodies for message in body["messages"])


def _foreign(prompts: str, tree, texts: dict[str, str], tip: str) -> list[str]:
    """Return the passages of which a sentence stands in the prompts, though they are no ancestors of `tip`."""
    parents = {passage["id"]: passage["parent"] for passage in tree["passages"]}
    own = set()
    while tip:
        own.add(tip)
        tip = parents[tip]
    kept = "\n".join(texts.get(id, "") for id in own)
    found = []
    for id, text in texts.items():
        sentences = [part for part in re.split(r"(?<=[.])\s+", text) if len(part) > 30 and part not in kept]
        if id not in own and any(sentence in prompts for sentence in sentences):
            found.append(id)
    return found


def _texts(cli: Cli, story: str) -> dict[str, str]:
    """Return every passage of every branch, with its summary."""
    tips = {branch["tip"] for branch in _tree(cli, story)["branches"]}
    return {
        passage["id"]: f"{passage['text']}\n{passage['summary']}"
        for tip in tips
        for passage in _shown(cli, story, "--at", tip)["passages"]
    }


def _ok(result):
    assert result.code == 0, result.err
    return result


@pytest.mark.long
def test_a_whole_session(cli: Cli, server: FaultyServer, tmp_path, monkeypatch) -> None:
    def told(since: int, story: str) -> list[str]:
        """Return what the prompts since then told of other branches than the one on which the story stands now."""
        tree = _tree(cli, story)
        return _foreign(_prompts(server, since), tree, _texts(cli, story), tree["head"])

    # Write six passages, go back to the third, choose another plan, and write three.
    story = _ok(cli("write", "--title", "Session", "--steps", "6", "--json")).events[0]["story"]
    six = _shown(cli, story)["passages"]
    _ok(cli("name", story, "first"))
    assert json.loads(_ok(cli("goto", story, "3", "--json")).out)["step"] == 3
    offered = json.loads(_ok(cli("choose", story, "--json")).out)["plans"]
    other = next(number for number, plan in enumerate(offered, 1) if plan != six[3]["plan"])
    _ok(cli("choose", story, str(other)))
    since = len(server.requests)
    _ok(cli("write", story, "--steps", "3"))
    second = _shown(cli, story)["passages"]
    assert [passage["id"] for passage in second[:3]] == [passage["id"] for passage in six[:3]]
    assert second[3]["plan"] == offered[other - 1]
    assert len(second) == 6
    assert told(since, story) == []

    # Edit passage 2, with the later ones kept upon it; undo, redo.
    before, since = _shown(cli, story)["head"], len(server.requests)
    edit = _ok(cli("edit", story, "2", "--text", "Zelda sold the lantern to a diver.", "--replay", "--yes", "--json"))
    assert [event["done"] for event in edit.events if event["event"] == "replay"] == [1, 2, 3, 4, 5]
    replayed = _shown(cli, story)["passages"]
    assert replayed[1]["text"] == "Zelda sold the lantern to a diver."
    assert [passage["text"] for passage in replayed[2:]] == [passage["text"] for passage in second[2:]]
    assert told(since, story) == []
    after = _shown(cli, story)["head"]
    assert json.loads(_ok(cli("undo", story, "--json")).out)["head"] == before
    assert json.loads(_ok(cli("redo", story, "--json")).out)["head"] == after

    # Play four passages, two of them free actions, in a story to play and on the same shelf.
    since = len(server.requests)
    answers = "1\nI bribe the guard\n2\n/save gate\nI climb over the wall\n/quit\n"
    played = _ok(cli("play", "--genre", "fantasy", "--title", "Played", "--json", stdin=answers))
    game = played.events[0]["story"]
    turns = _shown(cli, game)["passages"]
    assert [turns[at]["plan"] for at in (1, 3)] == ["I bribe the guard", "I climb over the wall"]
    assert len(turns) == 4
    assert "I bribe the guard" in _prompts(server, since)
    assert told(since, game) == []

    # Every branch can be read to its end.
    tree, texts = _tree(cli, story), _texts(cli, story)
    assert set(texts) == {passage["id"] for passage in tree["passages"] if passage["step"]}
    assert all(texts.values())
    assert [passage["text"] for passage in _shown(cli, story, "--at", "first")["passages"]] == [
        passage["text"] for passage in six
    ]

    # Every format; the JSON restores the whole tree, in another home, bit for bit.
    for extension in ("md", "txt", "epub", "docx", "html", "json"):
        _ok(cli("export", story, "-o", str(tmp_path / f"novel.{extension}")))
        assert (tmp_path / f"novel.{extension}").stat().st_size > 1000
    monkeypatch.setenv("RECURRENTGPT_HOME", str(tmp_path / "elsewhere"))
    assert _ok(cli("import", str(tmp_path / "novel.json"))).out.strip() == story
    assert _tree(cli, story) == tree
    assert _texts(cli, story) == texts
    _ok(cli("export", story, "-o", str(tmp_path / "again.json")))
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "novel.json").read_bytes()
    _ok(cli("write", story, "--steps", "1"))
