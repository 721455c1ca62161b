"""Have readers count what rules cannot: `python -m training.blind_readings evaluation.jsonl -o readings`.

Of each context that `training.evaluate` has had written in two ways a sheet shows what the writer was told and both scenes. For
readers who know nothing else there are two folders of sheets, one with the scenes of each in one order and one in the other; a
reader is given sheets of one folder and answers in `readings.jsonl`, a line a sheet, here broken:

    {"folder": 1, "pair": 3, "why": "...", "b": {...},
     "a": {"carried_out": 2, "contradictions": 1, "wrong_speakers": 0}}

carried_out      how many of the plan's clauses, which are numbered, the scene carries out in their order
contradictions   times that the scene contradicts what the writer was told, or what the scene itself has said before
wrong_speakers   lines of speech that their speaker cannot mean, as for being somebody else's or said to themselves

Started again it prints, a row a way, what the readers counted; what the second way has more than the first, as a mean of the
premises with its interval of 95 %; and how the two readings of a scene go together (Pearson's correlation: who counts double
goes together with others perfectly). With --words 150 450 it counts the contexts alone whose scenes both have so many words.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import StatisticsError, correlation, mean

from pydantic import BaseModel, ConfigDict, Field

from training.blind_sheets import Answer, first_is_a, markdown, read_answers, write_sheets
from training.data import Scene
from training.evaluate import Written, read_written
from training.measures import clauses
from training.product import FEWEST_FOR_INTERVAL, RecurrentGPTError, SettingsError, count_words, mean_interval

READINGS = "readings.jsonl"
FIGURES = ["plan carried out", "contradictions", "wrong speakers"]
HEADINGS = ["way", "scenes", "readings", *FIGURES]

Figures = tuple[float, float, float]
"""Of one reading of a scene: the share of the plan's clauses, contradictions, and lines of the wrong speaker."""


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


def counts_by_way(pair: tuple[Written, Written], reading: Reading) -> tuple[Counted, Counted]:
    """Return what a reader counted in the first way's scene, and in the second's."""
    return (reading.a, reading.b) if first_is_a(_name(pair[0].scene), reading.folder) else (reading.b, reading.a)


def table(both: Sequence[tuple[Written, Written]], readings: Sequence[Reading]) -> str:
    """Return what readers counted by way, as a Markdown table: a share of the plans' clauses, and means by scene."""
    rows = [HEADINGS]
    scenes = len({reading.pair for reading in readings})
    asked = sum(len(clauses(both[reading.pair - 1][0].scene.plan)) for reading in readings)
    for at in (0, 1) if readings else ():
        found = [counts_by_way(both[reading.pair - 1], reading)[at] for reading in readings]
        done = sum(one.carried_out for one in found) / max(asked, 1)
        means = [mean(one.contradictions for one in found), mean(one.wrong_speakers for one in found)]
        way = both[0][at].way
        rows.append([way, str(scenes), str(len(readings)), f"{done:.0%}", *(f"{value:.2f}" for value in means)])
    return markdown(rows)


def differences(both: Sequence[tuple[Written, Written]], readings: Sequence[Reading]) -> str:
    """Return what the second way has more than the first, as a Markdown table: the means of premises and their intervals.

    Of fewer than three premises it says nothing.
    """
    more: dict[str, list[Figures]] = {}
    for reading in readings:
        first, second = _figures_by_way(both, reading)
        differs = (second[0] - first[0], second[1] - first[1], second[2] - first[2])
        more.setdefault(both[reading.pair - 1][0].scene.premise, []).append(differs)
    rows = [["", "premises", *FIGURES]]
    if len(more) >= FEWEST_FOR_INTERVAL:
        cells = []
        for at in range(len(FIGURES)):
            of_premises = [mean(found[at] for found in of_one) for of_one in more.values()]
            low, high = mean_interval(of_premises)
            cells.append(f"{mean(of_premises):+.2f} ({low:+.2f} to {high:+.2f})")
        rows.append([f"{both[0][1].way} less {both[0][0].way}", str(len(more)), *cells])
    return markdown(rows)


def likeness(both: Sequence[tuple[Written, Written]], readings: Sequence[Reading]) -> str:
    """Return how the first two readings of each scene go together, as a Markdown table of correlations by way."""
    of_pairs: dict[int, list[tuple[Figures, Figures]]] = {}
    for reading in readings:
        of_pairs.setdefault(reading.pair, []).append(_figures_by_way(both, reading))
    twice = [found[:2] for found in of_pairs.values() if len(found) > 1]
    rows = [["two readings of", "scenes", *FIGURES]]
    for way in (0, 1) if len(twice) > 2 else ():
        cells = [_correlation([(one[way][at], other[way][at]) for one, other in twice]) for at in range(len(FIGURES))]
        rows.append([both[0][way].way, str(len(twice)), *cells])
    return markdown(rows)


def of_words(
    both: Sequence[tuple[Written, Written]], readings: Sequence[Reading], least: int, most: int
) -> list[Reading]:
    """Return the readings of contexts whose scenes both have from `least` to `most` words."""
    fits = [all(least <= count_words(one.scene.passage) <= most for one in pair) for pair in both]
    return [reading for reading in readings if fits[reading.pair - 1]]


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
        if not readings:
            print(
                f"{len(both)} sheets for each of two readers are in {options.output}; they answer in {READINGS} there."
            )
            return 0
        if options.words:
            readings = of_words(both, readings, *options.words)
        if not readings:
            raise SettingsError(
                "No reading is of a context whose scenes both have from LEAST to MOST words: see --words."
            )
        print("\n\n".join(make(both, readings) for make in (table, differences, likeness)))
    except (RecurrentGPTError, OSError) as error:
        print(f"training.blind_readings: {error}", file=sys.stderr)
        return 1
    return 0


def _figures_by_way(both: Sequence[tuple[Written, Written]], reading: Reading) -> tuple[Figures, Figures]:
    pair = both[reading.pair - 1]
    many = max(len(clauses(pair[0].scene.plan)), 1)
    first, second = counts_by_way(pair, reading)
    return _figures(first, many), _figures(second, many)


def _figures(counted: Counted, many: int) -> Figures:
    return counted.carried_out / many, counted.contradictions, counted.wrong_speakers


def _correlation(found: Sequence[tuple[float, float]]) -> str:
    """Return Pearson's correlation of two readings; nothing where one of them is the same everywhere."""
    try:
        return f"{correlation(*zip(*found, strict=True)):.2f}"
    except StatisticsError:
        return ""


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
    parser.add_argument(
        "--words", nargs=2, type=int, metavar=("LEAST", "MOST"), help="count scenes alone that both have so many words"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
