"""Scenes for readers who count what rules cannot: what they are given, and what their counts come to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from training.blind_readings import READINGS
from training.blind_readings import main as readings_main
from training.evaluate import Written

from .scenes import scene

WAYS = ("none", "teller at 0.7")
CLAUSES = 4
"""Of the plan that all scenes here have."""


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    """Give four contexts that two ways have written, and one that waits for its other half."""
    found = [
        Written(
            way=way,
            scene=scene(step=step, passage=f"{way} wrote {step}."),
            measures={},
            first_try={},
            seconds=1,
            uncached_tokens=1,
        )
        for step in range(1, 5)
        for way in WAYS
    ]
    found.append(found[0].model_copy(update={"scene": scene(step=5)}))
    path = tmp_path / "evaluation.jsonl"
    path.write_text("".join(one.model_dump_json() + "\n" for one in found))
    return path


def run(evaluation: Path, *options: str) -> int:
    return readings_main([str(evaluation), "-o", str(evaluation.parent), *options])


def sheet(evaluation: Path, folder: int, number: int) -> str:
    return (evaluation.parent / f"sheets-{folder}" / f"{number:02}.md").read_text()


def answer(evaluation: Path, readings: Sequence[object]) -> None:
    (evaluation.parent / READINGS).write_text("".join(json.dumps(reading) + "\n" for reading in readings))


def tables(printed: str) -> list[list[list[str]]]:
    """Return the rows of each table, without its headings."""
    return [
        [[cell.strip() for cell in row.strip("|").split("|")] for row in part.splitlines()[2:]]
        for part in printed.strip().split("\n\n")
    ]


def spread(counts: Sequence[tuple[int, int, int]], evaluation: Path, *, premises: int, long: int = 0) -> None:
    """Lay four contexts out, the last `long` of them of twenty words, and answer every sheet in both folders.

    `counts` are the plain way's; the other carries one clause more out, and has less contradictions by the sheet's number. The
    second folder's reader finds the wrong speakers in the opposite order.
    """
    written = [Written.model_validate_json(line) for line in evaluation.read_text().splitlines()][: 2 * len(counts)]
    for index, one in enumerate(written):
        text = one.scene.passage if index // 2 < len(counts) - long else f"{one.scene.passage} {'very long ' * 9}"
        scene = one.scene.model_copy(update={"premise": f"Premise {index // 2 % premises}.", "passage": text})
        written[index] = one.model_copy(update={"scene": scene})
    evaluation.write_text("".join(one.model_dump_json() + "\n" for one in written))
    run(evaluation)
    readings = []
    for folder in (1, 2):
        speakers = [wrong for *_, wrong in counts][:: 1 if folder == 1 else -1]
        for number, ((done, contradictions, _), wrong) in enumerate(zip(counts, speakers, strict=True), start=1):
            text = sheet(evaluation, folder, number)
            plain, worn = counted(done, contradictions, wrong), counted(done + 1, contradictions - number, wrong)
            a, b = (plain, worn) if text.index("none wrote") < text.index("teller at 0.7 wrote") else (worn, plain)
            readings.append({"folder": folder, "pair": number, "a": a, "b": b, "why": "..."})
    answer(evaluation, readings)


def counted(carried_out: int, contradictions: int, wrong_speakers: int) -> dict[str, int]:
    return {"carried_out": carried_out, "contradictions": contradictions, "wrong_speakers": wrong_speakers}


def test_a_reader_sees_what_the_writer_was_told_and_not_who_wrote_what(evaluation: Path) -> None:
    assert run(evaluation) == 0
    text = sheet(evaluation, 1, 1)
    told = scene()
    assert all(part in text for part in (told.premise, *told.characters, *told.memory, told.plan))
    assert f"\n{CLAUSES}. he says that he lost it in the water" in text
    assert f"\n{CLAUSES + 1}." not in text
    assert told.title not in text
    assert not (evaluation.parent / "sheets-1" / "05.md").exists()


def test_each_folder_has_the_scenes_in_the_other_order(evaluation: Path) -> None:
    run(evaluation)
    firsts = []
    for number in range(1, 5):
        one, other = (sheet(evaluation, folder, number) for folder in (1, 2))
        firsts.append(one.index("none wrote") < one.index("teller at 0.7 wrote"))
        assert firsts[-1] == (other.index("none wrote") > other.index("teller at 0.7 wrote"))
    assert set(firsts) == {True, False}


def test_counts_go_to_the_way_that_wrote_the_scene(evaluation: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(evaluation)
    capsys.readouterr()
    readings = []
    for folder in (1, 2):
        for number in (1, 2):
            text = sheet(evaluation, folder, number)
            plain, worn = counted(1, 4, 2), counted(3, 1, 0 if folder == 1 else 1)
            a, b = (plain, worn) if text.index("none wrote") < text.index("teller at 0.7 wrote") else (worn, plain)
            readings.append({"folder": folder, "pair": number, "a": a, "b": b, "why": "..."})
    answer(evaluation, readings)
    assert run(evaluation) == 0
    ways = tables(capsys.readouterr().out)[0]
    assert ways == [[WAYS[0], "2", "4", "25%", "4.00", "2.00"], [WAYS[1], "2", "4", "75%", "1.00", "0.50"]]


def test_premises_are_compared_and_two_readings_of_a_scene(
    evaluation: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spread([(2, 8, 5), (1, 6, 3), (3, 9, 8), (2, 5, 1)], evaluation, premises=4)
    capsys.readouterr()
    assert run(evaluation) == 0
    _, more, alike = tables(capsys.readouterr().out)
    # 1 clause of 4 more in each premise; contradictions 1, 2, 3 and 4 less; Student's interval of four.
    assert more == [
        [f"{WAYS[1]} less {WAYS[0]}", "4", "+0.25 (+0.25 to +0.25)", "-2.50 (-4.55 to -0.45)", "+0.00 (+0.00 to +0.00)"]
    ]
    assert [row[:2] for row in alike] == [[way, "4"] for way in WAYS]
    assert [row[2:] for row in alike] == [["1.00", "1.00", "-0.53"]] * 2


@pytest.mark.parametrize("premises", [1, 2])
def test_of_one_premise_or_two_no_interval_is_told(
    evaluation: Path, capsys: pytest.CaptureFixture[str], premises: int
) -> None:
    spread([(2, 8, 5), (1, 6, 3), (3, 9, 8), (2, 5, 1)], evaluation, premises=premises)
    capsys.readouterr()
    assert run(evaluation) == 0
    assert tables(capsys.readouterr().out)[1] == []


def test_scenes_of_some_length_can_be_counted_alone(evaluation: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spread([(2, 8, 5), (1, 6, 3), (3, 9, 8), (2, 5, 1)], evaluation, premises=4, long=2)
    capsys.readouterr()
    assert run(evaluation, "--words", "1", "10") == 0
    ways = tables(capsys.readouterr().out)[0]
    assert [row[1:3] for row in ways] == [["2", "4"]] * 2
    assert [row[4] for row in ways] == ["7.00", "5.50"]
    assert run(evaluation, "--words", "50", "60") == 1
    assert "No reading is of a context whose scenes both have from LEAST to MOST words" in capsys.readouterr().err
    answer(evaluation, [])
    assert run(evaluation, "--words", "50", "60") == 0, "what nobody has answered is to be answered"


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"pair": 1, "a": counted(9, 0, 0)}, f"pair 1 has more carried out than its {CLAUSES} clauses"),
        ({"pair": 5, "a": counted(1, 0, 0)}, "is of pair 5, and there are 4"),
        ({"pair": 0, "a": counted(1, 0, 0)}, "line 1 is no reading"),
        ({"pair": 1, "a": counted(1, -1, 0)}, "line 1 is no reading"),
    ],
)
def test_a_count_of_nothing_is_refused(
    evaluation: Path, capsys: pytest.CaptureFixture[str], reading: dict[str, object], message: str
) -> None:
    answer(evaluation, [{"folder": 1, "b": counted(0, 0, 0), "why": "", **reading}])
    assert run(evaluation) == 1
    assert message in capsys.readouterr().err


def test_two_ways_are_compared_and_no_other_file_is_read(evaluation: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(evaluation, "--way", "none") == 1
    assert "name two with --way" in capsys.readouterr().err
    assert run(evaluation, "--way", "none", "--way", "other") == 1
    assert "No context has been written both by none and by other" in capsys.readouterr().err
    assert run(evaluation.parent / "none.jsonl") == 1
    assert "There is no file" in capsys.readouterr().err
    evaluation.write_text("{}\n")
    assert run(evaluation) == 1
    assert "line 1 is no scene" in capsys.readouterr().err
