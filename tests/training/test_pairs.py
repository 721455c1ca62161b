"""Pairs for blind readers: what a reader is given, and what the verdicts come to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel
from training.pairs import STORIES, VERDICTS, Told, tell
from training.pairs import main as pairs_main

from .scenes import premise

WAYS = ["today=none", "new=teller.gguf@0.5"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder of four pairs that have been told, and one story that waits for its other half."""
    told = [
        Told(
            way=way,
            story=f"s{number}",
            seed=0,
            mode="novel",
            premise="A bell.",
            passages=[f"{way} {number}."],
            seconds=6,
        )
        for number in range(4)
        for way in ("today", "new")
    ]
    told.append(told[0].model_copy(update={"story": "alone"}))
    (tmp_path / STORIES).write_text("".join(story.model_dump_json() + "\n" for story in told))
    return tmp_path


def run(folder: Path, *ways: str) -> int:
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {"take": 1, "care": 2}}}))
    words = ["--known", "--dictionary", str(folder / "tokenizer.json")]
    return pairs_main([*(ways or WAYS), "-o", str(folder), "--pairs", "0", *words])


def test_a_story_is_told_by_the_product(tmp_path: Path, model: ScriptedChatModel) -> None:
    with Library.open(tmp_path) as library:
        told = tell(
            premise("held"), "today", 3, 2, library, model=model, embeddings=HashEmbeddings(), new_character=0.0
        )
    assert len(told.passages) == 2
    assert all(told.passages)
    assert (told.way, told.story, told.seed, told.mode) == ("today", "held", 3, "novel")
    asked = "\n".join(str(message.text) for call in model.calls for message in call)
    assert premise("held").premise in asked


def test_each_folder_has_the_texts_in_the_other_order(folder: Path) -> None:
    assert run(folder) == 0
    firsts = []
    for number in range(4):
        one, other = ((folder / f"sheets-{which}" / f"{number + 1:02}.md").read_text() for which in (1, 2))
        for text in (one, other):
            assert text.startswith("Premise: A bell.\n\n# Text A\n\n")
            assert f"today {number}." in text
            assert f"new {number}." in text
        firsts.append(one.index("today") < one.index("new"))
        assert firsts[-1] == (other.index("new") < other.index("today"))
    assert set(firsts) == {True, False}  # neither way is A in all of a folder
    assert not (folder / "sheets-1" / "05.md").exists()


def test_verdicts_are_counted_by_way_and_a_tie_counts_half(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder)
    capsys.readouterr()
    verdicts = []
    for which in (1, 2):
        for number in range(1, 5):
            text = (folder / f"sheets-{which}" / f"{number:02}.md").read_text()
            new = "A" if text.index("new") < text.index("today") else "B"
            interest = "=" if number == 1 else new
            verdicts.append(
                {"folder": which, "pair": number, "coherence": new, "interest": interest, "why": "It holds."}
            )
    verdicts[0]["coherence"] = "A" if verdicts[0]["coherence"] == "B" else "B"
    (folder / VERDICTS).write_text("".join(json.dumps(verdict) + "\n" for verdict in verdicts))
    assert run(folder) == 0
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in capsys.readouterr().out.splitlines()]
    assert ["coherence", "8", "1", "7", "0", "88%"] in rows
    assert ["interest", "8", "0", "6", "2", "88%"] in rows
    assert ["today", "4", "2", "20", *["0.000"] * 2, "1.000", *["0.000"] * 3] in rows


def test_rules_say_what_each_ways_passages_have(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stories = [Told.model_validate_json(line) for line in (folder / STORIES).read_text().splitlines()]
    faulty = 'She says, "Please takecare. A sense of dread.'
    told = [story.model_copy(update={"passages": [faulty]}) if story.way == "today" else story for story in stories]
    (folder / STORIES).write_text("".join(story.model_dump_json() + "\n" for story in told))
    assert run(folder) == 0
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in capsys.readouterr().out.splitlines()]
    today, new = (dict(zip(rows[0], row, strict=True)) for row in rows[2:4])
    found = {"wrong tense": 1, "joined": 1, "unclosed": 1, "cliches": 1}
    assert {name: float(today[name]) for name in found} == found
    assert {name: float(new[name]) for name in found} == dict.fromkeys(found, 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"folder": 1, "pair": 9, "coherence": "A", "interest": "A", "why": ""}', "is of pair 9, and there are 4"),
        ('{"folder": 1, "pair": 1, "coherence": "left", "interest": "A", "why": ""}', "line 1 is no verdict"),
    ],
)
def test_a_verdict_of_nothing_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    (folder / VERDICTS).write_text(line + "\n")
    assert run(folder) == 1
    assert message in capsys.readouterr().err


def test_two_ways_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "today=none") == 1
    assert "name two" in capsys.readouterr().err
    assert run(folder, "today=none", "teller.gguf") == 1
    assert "write a name and its adapter" in capsys.readouterr().err
