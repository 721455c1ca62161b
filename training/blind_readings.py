"""Have readers count what rules cannot: `python -m training.blind_readings evaluation.jsonl -o readings`.

Of each context that `training.evaluate` has had written in two ways a sheet shows what the writer was told and both scenes. For
readers who know nothing else there are two folders of sheets, one with the scenes of each in one order and one in the other; a
reader is given sheets of one folder and answers in `readings.jsonl`, a line a sheet, here broken:

    {"folder": 1, "pair": 3, "why": "...", "b": {...},
     "a": {"carried_out": 2, "contradictions": 1, "wrong_speakers": 0}}

carried_out      how many of the plan's clauses, which are numbered, the scene carries out in their order
contradictions   times that the scene contradicts what the writer was told, or what the scene itself has said before
wrong_speakers   lines of speech that their speaker cannot mean, as for being somebody else's or said to themselves

Started again it prints, a row a way, what the readers counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from pydantic import BaseModel, ConfigDict, Field

from training.blind_sheets import Answer, first_is_a, markdown, read_answers, write_sheets
from training.data import Scene
from training.evaluate import Written, read_written
from training.measures import clauses
from training.product import RecurrentGPTError, SettingsError

READINGS = "readings.jsonl"
HEADINGS = ["way", "scenes", "readings", "plan carried out", "contradictions", "wrong speakers"]


class Counted(BaseModel):
    """What a reader counted in one scene."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    carried_out: int = Field(ge=0)
    contradictions: int = Field(ge=0)
    wrong_speakers: int = Field(ge=0)


class Reading(Answer):
    """What one reader counted on one sheet."""

    a: Counted
    b: Counted


def pairs(written: Sequence[Written], ways: tuple[str, str]) -> list[tuple[Written, Written]]:
    """Return the scenes of every context that both ways have written, the first way's first."""
    first, second = (
        {(one.scene.story, one.scene.step): one for one in written if one.way == way and one.scene.passage}
        for way in ways
    )
    return [(one, second[key]) for key, one in first.items() if key in second]


def sheet(pair: tuple[Written, Written], folder: int) -> str:
    """Return what a reader of `folder` is given of a context: what its writer was told, and both scenes."""
    scene = pair[0].scene
    shown = pair if first_is_a(_name(scene), folder) else pair[::-1]
    told = [
        f"A scene of a {scene.genre} {'novel' if scene.mode == 'novel' else 'that its reader plays, told to them'}",
        f"Premise: {scene.premise}",
        "People:\n" + "\n".join(f"* {person}" for person in scene.characters),
        "What is true so far:\n" + "\n".join(f"* {fact}" for fact in scene.memory),
        f"The scene before ended: {scene.ending}" if scene.ending else "It is the first scene.",
        f"The plan of this scene: {scene.plan}",
        "Its clauses:\n" + "\n".join(f"{number}. {clause}" for number, clause in enumerate(clauses(scene.plan), 1)),
    ]
    texts = [part for name, one in zip("AB", shown, strict=True) for part in (f"# Scene {name}", one.scene.passage)]
    return "\n\n".join([*told, *texts]) + "\n"


def table(both: Sequence[tuple[Written, Written]], readings: Sequence[Reading]) -> str:
    """Return what readers counted by way, as a Markdown table: a share of the plans' clauses, and means by scene."""
    counted: dict[str, list[tuple[int, Counted]]] = {one.way: [] for one in both[0]} if both else {}
    asked = [len(clauses(pair[0].scene.plan)) for pair in both]
    for reading in readings:
        pair = both[reading.pair - 1]
        shown = pair if first_is_a(_name(pair[0].scene), reading.folder) else pair[::-1]
        for one, counts in zip(shown, (reading.a, reading.b), strict=True):
            counted[one.way].append((reading.pair, counts))
    rows = [HEADINGS]
    for way, found in counted.items():
        if found:
            done = sum(one.carried_out for _, one in found) / max(sum(asked[pair - 1] for pair, _ in found), 1)
            means = [mean(one.contradictions for _, one in found), mean(one.wrong_speakers for _, one in found)]
            scenes = len({pair for pair, _ in found})
            rows.append([way, str(scenes), str(len(found)), f"{done:.0%}", *(f"{value:.2f}" for value in means)])
    return markdown(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sheets, and print what has been counted on them."""
    options = _options(arguments)
    try:
        written = read_written(options.evaluation)
        ways = options.way or list(dict.fromkeys(one.way for one in written))
        if len(ways) != 2:
            raise SettingsError(
                f"Two ways are compared, and there are {', '.join(ways) or 'none'}: name two with --way."
            )
        both = pairs(written, (ways[0], ways[1]))
        if not both:
            raise SettingsError(f"No context has been written both by {ways[0]} and by {ways[1]}: see --way.")
        write_sheets(options.output, len(both), lambda index, folder: sheet(both[index], folder))
        readings = read_answers(options.output / READINGS, Reading, len(both))
        for reading in readings:
            many = len(clauses(both[reading.pair - 1][0].scene.plan))
            if max(reading.a.carried_out, reading.b.carried_out) > many:
                raise SettingsError(f"A reading of pair {reading.pair} has more carried out than its {many} clauses.")
        print(table(both, readings))
    except RecurrentGPTError as error:
        print(f"training.blind_readings: {error}", file=sys.stderr)
        return 1
    return 0


def _name(scene: Scene) -> str:
    return f"{scene.story} {scene.step}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.blind_readings", description="Lay scenes out for readers who count what rules cannot."
    )
    parser.add_argument("evaluation", nargs="+", type=Path, help="what training.evaluate wrote")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the sheets and of readings.jsonl")
    parser.add_argument(
        "--way", action="append", metavar="NAME", help="one of the two ways, where there are more; given twice"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
