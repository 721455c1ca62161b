"""Tell the same stories in two ways: `python -m training.pairs today=none new=teller.gguf@0.5 -o pairs`.

Every premise is told by the product as a newcomer would run it, with the same seed for both ways. The stories are kept as JSON
Lines, and a run that was broken off goes on. For readers who know nothing else there are two folders of sheets, one with the two
texts of each pair in one order and one in the other; a reader is given one folder and answers in `verdicts.jsonl`, a line a pair:
{"folder": 1, "pair": 3, "coherence": "A", "interest": "=", "why": "..."}. The tables say what rules find in each way's passages,
and count what both folders' readers preferred.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from training.blind_sheets import Answer, first_is_a, lines, markdown, read_answers, write_sheets
from training.data import DATA, Mode, Premise, read_premises
from training.known_words import add_options, known_words
from training.measures import measure
from training.product import Library, RecurrentGPTError, SettingsError, Story, mend, stop_servers

STORIES, VERDICTS = "stories.jsonl", "verdicts.jsonl"
CRITERIA = ("coherence", "interest")
BY_RULES = ("wrong_tense", "repeated", "distinct", "joined", "unclosed", "cliches")
"""Those of the rules' figures that need no plan."""


class Told(BaseModel):
    """A story as one way told it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    way: str
    story: str
    seed: int
    mode: Mode
    premise: str
    passages: list[str]
    seconds: float


class Verdict(Answer):
    """What one reader of a folder's sheets says of one pair."""

    coherence: Literal["A", "B", "="]
    interest: Literal["A", "B", "="]


def tell(premise: Premise, way: str, seed: int, passages: int, library: Library, **settings: Any) -> Told:
    """Return a story of so many passages as a newcomer gets it who gives this genre and premise and leaves the choices to it."""
    began = time.monotonic()
    story = Story.new(
        premise.genre,
        premise.premise,
        library=library,
        mode=premise.mode,
        selector="simulator",
        seed=seed,
        **settings,
    )
    texts = [story.step().text for _ in range(passages)]
    return Told(
        way=way,
        story=premise.story,
        seed=seed,
        mode=premise.mode,
        premise=premise.premise,
        passages=texts,
        seconds=round(time.monotonic() - began, 1),
    )


def pairs(stories: Sequence[Told], ways: Sequence[str]) -> list[tuple[Told, Told]]:
    """Return every story that both ways have told, the first way's first, in the order in which they were completed."""
    first, second = ({(told.story, told.seed): told for told in stories if told.way == way} for way in ways)
    return [(told, second[key]) for key, told in first.items() if key in second]


def sheet(pair: tuple[Told, Told], folder: int) -> str:
    """Return what a reader of `folder` is given of a pair."""
    texts = pair if first_is_a(_name(pair), folder) else pair[::-1]
    parts = [f"Premise: {pair[0].premise}"]
    for name, told in zip("AB", texts, strict=True):
        parts += [f"# Text {name}", *told.passages]
    return "\n\n".join(parts) + "\n"


def table(
    both: Sequence[tuple[Told, Told]], ways: Sequence[str], verdicts: Sequence[Verdict], known: Collection[str]
) -> str:
    """Return what the ways cost, what rules find in a passage of theirs, and how often the second one was preferred.

    They are two Markdown tables; a tie counts half.
    """
    rows = [["way", "stories", "words a passage", "words a minute", *(name.replace("_", " ") for name in BY_RULES)]]
    for way, stories in zip(ways, zip(*both, strict=True), strict=False):
        figures = [
            measure(passage, mode=told.mode, plan="", context=[], known=known)
            for told in stories
            for passage in told.passages
        ]
        words = sum(found.words for found in figures)
        minutes = sum(told.seconds for told in stories) / 60
        means = [f"{mean(getattr(found, name) for found in figures):.3f}" for name in BY_RULES]
        rows.append([way, str(len(stories)), f"{words / len(figures):.0f}", f"{words / minutes:.0f}", *means])
    preferred = [["criterion", "verdicts", *ways, "tie", f"{ways[1]} preferred"]]
    for criterion in CRITERIA:
        counts = {"first": 0, "second": 0, "=": 0}
        for verdict in verdicts:
            answer = getattr(verdict, criterion)
            if answer != "=":
                answer = (
                    "first"
                    if (answer == "A") == first_is_a(_name(both[verdict.pair - 1]), verdict.folder)
                    else "second"
                )
            counts[answer] += 1
        share = (counts["second"] + counts["="] / 2) / len(verdicts) if verdicts else 0.0
        preferred.append([criterion, str(len(verdicts)), *map(str, counts.values()), f"{share:.0%}"])
    return "\n\n".join(markdown(lines) for lines in ([rows, preferred] if verdicts else [rows]))


def _name(pair: tuple[Told, Told]) -> str:
    return f"{pair[0].story} {pair[0].seed}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell what has not been told yet, write the sheets, and print the table."""
    options = _options(arguments)
    try:
        ways = dict(_way(text) for text in options.way)
        if len(ways) != 2:
            raise SettingsError("Two ways are compared: name two, such as today=none new=teller.gguf@0.5.")
        stories = _tell_all(options, ways)
        both = pairs(stories, list(ways))
        write_sheets(options.output, len(both), lambda index, folder: sheet(both[index], folder))
        known = known_words(read_premises(options.premises), options)
        print(table(both, list(ways), read_answers(options.output / VERDICTS, Verdict, len(both)), known))
    except (RecurrentGPTError, OSError) as error:
        print(f"training.pairs: {error}", file=sys.stderr)
        return 1
    finally:
        stop_servers()
    return 0


def _tell_all(options: argparse.Namespace, ways: dict[str, str]) -> list[Told]:
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    mend(folder / STORIES)
    stories = [Told.model_validate_json(text) for text in lines(folder / STORIES)]
    done = {(told.way, told.story, told.seed) for told in stories}
    premises = read_premises(options.premises)
    ends = time.monotonic() + 60 * options.minutes
    with Library.open(folder / "home") as library:
        for number in range(options.pairs):
            # Every premise once before any of them a second time.
            again, place = divmod(number, len(premises))
            premise, seed = premises[place], options.seed + again
            for way, adapter in ways.items():
                if (way, premise.story, seed) in done or options.only not in (None, way):
                    continue
                if time.monotonic() > ends:
                    return stories
                told = tell(premise, way, seed, options.passages, library, adapter=adapter)
                stories.append(told)
                with (folder / STORIES).open("a", encoding="utf-8") as file:
                    file.write(told.model_dump_json() + "\n")
                print(f"{way}: {premise.story}, seed {seed}: {told.seconds:.0f} s", file=sys.stderr, flush=True)
    return stories


def _way(text: str) -> tuple[str, str]:
    name, _, adapter = text.partition("=")
    if not (name and adapter):
        raise SettingsError(f"{text!r} is no way to tell: write a name and its adapter, such as new=teller.gguf@0.5.")
    return name, adapter


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.pairs", description="Tell the same stories in two ways, for blind readers."
    )
    parser.add_argument("way", nargs="+", help="two of them: NAME=ADAPTER[@STRENGTH], or NAME=none")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="folder; one that holds stories is gone on with"
    )
    parser.add_argument(
        "--premises", nargs="*", type=Path, default=[DATA / "heldout"], help="stories laid out, held out by default"
    )
    add_options(parser)
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--passages", type=int, default=3, help="of each story")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="NAME", help="tell the stories of this way alone, for now")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no story after so many minutes")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
