"""`tree`, `goto`, `undo`, `redo`, `name`, `diff`, `choose`, `retry` and `replan`."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len

from recurrentgpt.cli.terminal.tree_drawing import MOST, draw_tree
from recurrentgpt.engine.tree import Tree


def _link(id: str, parent: str, step: int, created: str = "") -> dict:
    return {"id": id, "parent": parent, "amends": "", "step": step, "words": 300, "author": "model", "created": created,
            "text": id}  # fmt: skip


def _tree(links: list, head: str, names: dict[str, str] | None = None) -> Tree:
    return Tree("story", "A Title", head, links, names)


def _id(number: int) -> str:
    return f"{number * 2654435761 % 16**24:024x}"[::-1]


def test_every_branch_hangs_where_it_left():
    links = [_link(_id(n), _id(n - 1) if n else "", n, f"{n:03}") for n in range(5)]
    links += [_link(_id(10), _id(2), 3, "010"), _link(_id(11), _id(10), 4, "011"), _link(_id(12), _id(10), 4, "012")]
    lines = draw_tree(_tree(links, _id(3), {"the end": _id(12)}))
    assert [line.stem + line.text.partition(" · ")[0] for line in lines] == [
        "1-4",
        "└─ from 2: 3-4",
        "   └─ from 3: 4",
    ]
    assert lines[0].text.startswith(f"1-4 · ← here, at 3 ({_id(3)[:8]}) · ")
    assert "the end" in lines[1].text


def test_two_hundred_takes_are_bounded_and_all_can_be_drawn():
    links = [_link(_id(0), "", 0), *(_link(_id(n), _id(0), 1, f"{n:03}") for n in range(1, 202))]
    tree = _tree(links, _id(1), {"kept": _id(7)})
    lines = draw_tree(tree)
    assert len(lines) == MOST + 1
    assert lines[-1].text == f"… {201 - MOST} more; --all draws them"
    assert any("kept" in line.text for line in lines)
    assert len(draw_tree(tree, everything=True)) == 201


@pytest.mark.parametrize("everything", [True, False])
def test_forks_of_forks_do_not_run_out_of_the_page(everything):
    links = [_link(_id(0), "", 0, "0000")]
    for n in range(1, 1500, 2):
        links += [_link(_id(take), _id(max(n - 2, 0)), n // 2 + 1, f"{take:04}") for take in (n, n + 1)]
    lines = draw_tree(_tree(links, _id(2)), everything=everything)
    assert len(lines) > 1
    assert max(len(line.stem) for line in lines) <= 3 * 14


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_line_takes_the_rows_that_it_needs(width):
    links = [_link(_id(0), "", 0, "000")]
    for n in range(1, 40, 2):
        links += [_link(_id(take), _id(max(n - 2, 0)), n // 2 + 1, f"{take:03}") for take in (n, n + 1)]
    name = "the dark ending, 在夜里 · that nobody expected"
    lines = draw_tree(_tree(links, _id(39), {name: _id(38)}), everything=True)
    for line in lines:
        rows = line.rows(width)
        assert all(cell_len(stem + text) <= width for stem, text in rows)
        # Nothing is lost but separators at the ends of rows.
        assert [word for _, text in rows for word in text.split() if word != "·"] == [
            word for word in line.text.split() if word != "·"
        ]


def test_the_tree_of_a_story(cli, story):
    assert cli("retry", story).code == 0
    assert cli("name", story, "other").code == 0
    text = cli("tree", story).out
    assert text.startswith("The Glass Bridge\n1-2 · ← here · ")
    assert " · other\n└─ from 1: 2 · " in text
    as_json = json.loads(cli("tree", story, "--json").out)
    assert len(as_json["branches"]) == 2
    assert cli("tree", story, "--mermaid").out.startswith("flowchart TD\n")
    assert cli("tree", story, "--mermaid", "--json").code == 2


def test_moves_tell_where_the_story_stands(cli, story):
    assert cli("goto", story, "1").out.startswith("Passage 1 (")
    assert cli("redo", story).out.startswith("Passage 2 (")
    assert cli("undo", story, "2").out.startswith("The opening (")
    for command in (["undo", story, "9"], ["redo", story, "9"], ["goto", story, "nowhere"], ["goto", story, "ffff99"]):
        result = cli(*command)
        assert result.code == 1
        assert result.err.count("Error: ") == 1
        assert result.out == ""


def test_names(cli, story):
    assert cli("name", story, "dark ending", "1").out.startswith("dark ending: Passage 1 (")
    assert cli("goto", story, "Dark Ending").out.startswith("Passage 1 (")
    assert cli("name", story, "dark ending", "1", "--remove").code == 2
    assert cli("name", story, "dark ending", "--remove").code == 0
    assert cli("name", story, "dark ending", "--remove").code == 1
    assert cli("name", story, "3").code == 2


def test_a_passage_of_another_story_is_a_sentence(cli, story):
    other = cli("write", "--steps", "1", "--json").events[1]["id"]
    for command in ("goto", "retry", "replan", "diff", "edit summary"):
        more = {"diff": ["1"], "edit summary": ["--text", "x"]}.get(command, [])
        result = cli(*command.split(), story, other, *more)
        assert result.code == 1
        assert "This story has no passage" in result.err
        assert "Continue" not in result.err


def test_a_diff_can_be_read_without_colour(cli, story):
    old = json.loads(cli("show", story, "--json").out)["head"]
    cli("edit", story, "2", "--text", "One two three.")
    new = json.loads(cli("show", story, "--json").out)["head"]
    text = cli("diff", story, old, new).out
    assert "[-" in text
    assert "{+One two three.+}" in text
    found = json.loads(cli("diff", story, old, new, "--json").out)
    assert "".join(change["after"] for change in found["text"]) == "One two three."
    assert "The same, word for word." in cli("diff", story, old, old).out


def test_a_choice_is_made_at_an_earlier_passage(cli, story):
    plans = cli("choose", story, "--at", "1").out.splitlines()
    assert [line[0] for line in plans] == ["1", "2", "3"]
    assert cli("choose", story, "They turn back.", "--at", "1").out == "They turn back.\n"
    assert "Chosen already: They turn back." in cli("choose", story).err
    assert cli("write", story, "--steps", "1").code == 0
    assert json.loads(cli("show", story, "--json").out)["passages"][1]["plan"] == "They turn back."
    assert cli("choose", story, "9").code == 2
    assert cli("choose", story, " ").code == 2


def test_new_plans_are_printed(cli, story):
    before = cli("choose", story).out
    after = cli("replan", story)
    assert after.code == 0
    assert len(after.out.splitlines()) == 3
    assert after.out == cli("choose", story).out != before


def test_any_branch_can_be_read(cli, story):
    first = json.loads(cli("show", story, "--json").out)
    assert cli("retry", story).code == 0
    again = json.loads(cli("show", story, "--at", first["head"], "--json").out)
    assert again.pop("whole")["calls"] > first.pop("whole")["calls"] == first["usage"]["calls"]
    assert again == first
    assert "With its other branches: 11 calls" in cli("show", story).out


def test_undo_says_what_it_took_back(cli, story):
    again = f"`recurrentgpt redo {story}` does it again."
    assert cli("edit", "memory", story, "--text", "Wilma is tired.").code == 0
    assert cli("codex", story, "Zoltan", "--add", "person").code == 0
    assert f"Taken back: the last correction of the branch. {again}" in cli("undo", story).err
    assert f"Taken back: what was edited of the memory of passage 2. {again}" in cli("undo", story).err
    assert f"Taken back: passage 2. {again}" in cli("undo", story).err
    assert cli("write", story, "--steps", "2").code == 0
    assert f"Taken back: passages 2 to 3. {again}" in cli("undo", story, "2").err
    assert "Taken back" not in cli("undo", story, "--json").err


def test_undo_of_an_earlier_edit_says_which_passage_was_edited(cli, story):
    assert cli("edit", "passage", story, "1", "--text", "The quay was empty.").code == 0
    assert "Taken back: what was changed of passage 1. " in cli("undo", story).err
    assert cli("edit", "passage", story, "1", "--text", "The quay was empty.", "--replay", "--yes").code == 0
    assert "Taken back: what was changed of passage 1 and after it. " in cli("undo", story).err
