"""Make lines of data out of the short form that people write: `python -m training.compose scenes mine.txt -o mine.jsonl`.

Stories are laid out like this (`compose premises`; the letter after the name is n for a novel, f for a story to play):

    @ tide-book n mystery | The Tide Book
    P Nora Teague keeps the tide book of a harbour. Somebody has cut a page out of it.
    C Nora Teague: keeper of the tide book, who wants to know who cut out the page
    C Simon Rudd: a clerk, who wants to leave town
    M What is true at the start. / And this.
    T The plan of the first scene, one or two sentences. >> What is true after it. / And this.

Scenes are written like this (`compose scenes`), a story's scenes in order. The context comes from the story as it was laid out,
the draft from the file of drafts where a seed is named, and the chosen plan is the next scene's:

    # tide-book 1 0
    The passage, a paragraph a line.
    S: the summary in one sentence
    F: a fact / another fact; left out where those laid out hold
    R: the summary of a scene further back that bears on this one, where the writer is shown it again
    P clue: a plan for that move
    C 1 why the first plan is the best
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.data import DATA, ChosenPlan, Premise, Scene, Source, Turn, line, read_premises, read_scenes
from training.product import RecurrentGPTError, SettingsError

_PLAN = re.compile(r"P (\w+): (.+)")
_CHOICE = re.compile(r"C (\d) (.+)")


def premises(text: str) -> Iterator[Premise]:
    """Yield the stories laid out in `text`; raise SettingsError with the line that has no known form."""
    for block in re.split(r"^(?=@ )", text, flags=re.MULTILINE):
        if not block.strip():
            continue
        found: dict[str, Any] = {"characters": [], "turns": [], "start": [], "premise": ""}
        for written in filter(None, map(str.strip, block.splitlines())):
            tag, _, rest = written.partition(" ")
            if tag == "@" and (head := re.fullmatch(r"(\S+) ([nf]) ([^|]+) \| (.+)", rest)):
                found |= {"story": head[1], "genre": head[3], "title": head[4]}
                found["mode"] = "fiction" if head[2] == "f" else "novel"
            elif tag == "P":
                found["premise"] = rest
            elif tag == "C" and ": " in rest:
                found["characters"].append(rest)
            elif tag == "M":
                found["start"] = rest.split(" / ")
            elif tag == "T" and " >> " in rest:
                plan, facts = rest.split(" >> ")
                found["turns"].append(Turn(plan=plan.strip(), facts=facts.strip().split(" / ")))
            else:
                raise SettingsError(f"This line has none of the forms of a story laid out: {written[:80]}")
        yield Premise(**found)


def scenes(
    text: str, stories: Iterable[Premise], drafts: Mapping[tuple[str, int, int | None], Scene]
) -> Iterator[Scene]:
    """Yield the scenes written in `text`; raise SettingsError where a story, a draft or the scene before is missing."""
    laid_out = {story.story: story for story in stories}
    done: dict[tuple[str, int], Scene] = {}
    for block in re.split(r"^# ", text, flags=re.MULTILINE)[1:]:
        first, *rest = filter(None, map(str.strip, block.splitlines()))
        head = re.fullmatch(r"(\S+) (\d+)(?: (\d+))?", first)
        if head is None or head[1] not in laid_out or int(head[2]) not in range(1, len(laid_out[head[1]].turns) + 1):
            raise SettingsError(f"No scene of a story laid out is called {first!r}: write `# STORY STEP [SEED]`.")
        story, step = laid_out[head[1]], int(head[2])
        if step > 1 and (story.story, step - 1) not in done:
            raise SettingsError(f"{first}: write the scene before it first, in the same file.")
        context = story.context(step, done.get((story.story, step - 1)))
        scene = context.model_copy(update={"facts": story.turns[step - 1].facts, **_written(rest, story, step)})
        if head[3] is not None:
            draft = drafts.get((story.story, step, int(head[3])))
            if draft is None:
                raise SettingsError(f"{first}: there is no draft of this seed.")
            source = draft.source.model_copy(update={"hand": "mended"})
            scene = scene.model_copy(update={"draft": draft.passage, "source": source})
        done[story.story, step] = scene
        yield scene


def _written(lines: Sequence[str], story: Premise, step: int) -> dict[str, Any]:
    """Return the fields of a scene that its lines give."""
    found: dict[str, Any] = {"source": Source(hand="written")}
    paragraphs, recalled, moves, plans = list[str](), list[str](), list[str](), list[str]()
    for written in lines:
        if written.startswith("S: "):
            found["summary"] = written.removeprefix("S: ")
        elif written.startswith("F: "):
            found["facts"] = written.removeprefix("F: ").split(" / ")
        elif written.startswith("R: "):
            recalled.append(written.removeprefix("R: "))
        elif plan := _PLAN.fullmatch(written):
            moves.append(plan[1])
            plans.append(plan[2])
        elif chosen := _CHOICE.fullmatch(written):
            if step == len(story.turns):
                raise SettingsError(f"{story.story} scene {step} is the last one: nothing is chosen after it.")
            found["choice"] = ChosenPlan(index=int(chosen[1]), why=chosen[2], plan=story.turns[step].plan)
        else:
            paragraphs.append(written)
    return {**found, "passage": "\n\n".join(paragraphs), "recalled": recalled, "moves": moves, "plans": plans}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compose as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m training.compose", description="Make lines of data out of a short form."
    )
    parser.add_argument("kind", choices=("premises", "scenes"))
    parser.add_argument("text", type=Path, help="the short form")
    parser.add_argument("-o", "--output", type=Path, required=True, help="JSON Lines; a file that exists is replaced")
    parser.add_argument(
        "--premises", nargs="*", type=Path, default=[DATA / "premises"], help="the stories that scenes belong to"
    )
    parser.add_argument("--drafts", nargs="*", type=Path, default=[DATA / "drafts"], help="the drafts that scenes mend")
    options = parser.parse_args(arguments)
    try:
        text = options.text.read_text(encoding="utf-8")
        if options.kind == "premises":
            made: list[Premise] | list[Scene] = list(premises(text))
        else:
            drafts = {scene.key: scene for scene in read_scenes(options.drafts)}
            made = list(scenes(text, read_premises(options.premises), drafts))
        options.output.write_text("".join(line(record) for record in made), encoding="utf-8")
    except (RecurrentGPTError, OSError) as error:
        print(f"training.compose: {error}", file=sys.stderr)
        return 1
    print(f"{len(made)} lines written to {options.output}; python -m training.check says whether they are sound.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
