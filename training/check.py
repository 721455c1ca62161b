"""Check training data before anybody learns from it: `python -m training.check training/data/mended`.

Every fault is one line that names the scene. With --loss the untrained model reads every passage, and those that it finds far
harder than its own drafts are listed: such texts teach a small model a manner without its sense.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean

from training.conversation import KNOWN_MOVES, writing
from training.data import DATA, ENDING_SENTENCES, MEMORY_SENTENCES, Premise, Scene, read_premises, read_scenes
from training.measures import clauses, cliches, measure, new_names, plan_carried_out, vocabulary
from training.product import (
    WRITER,
    RecurrentGPTError,
    count_words,
    fetch,
    find_fault,
    is_balanced,
    last_sentences,
    sentences,
    sha256,
)

FEWEST_WORDS, MOST_WORDS = 180, 360
FEWEST_PLAN_WORDS, MOST_PLAN_WORDS = 8, 65
LEAST_PLAN = 0.5
"""Share of the plan that the words of a passage have to show; the rule misses what is said in other words."""
MOST_WRONG_TENSE = 0.25
REACH = 1.6
"""Nats per token above the mean loss of the model's own drafts from which a text is out of its reach: a first guess, between very
plain scenes (1.0 to 1.3 above) and literary ones (2.3 to 2.6), until trained adapters say more."""

_ASCII = re.compile(r"[^\n\x20-\x7e]")
_SINGLE = re.compile(r"(?:^|[\s(])'(?=[A-Z])[^'\n]{3,}[,.!?]'")
_PRONOUN = re.compile(r"^(?:He|She|It|They|His|Her|Their|Its|This|That|There it)\b")
_TITLE = re.compile(r"^(?:The|Mr\.|Mrs\.|Ms\.|Old|Young|Cousin|Auntie|Uncle|Doctor|Captain|Sergeant|Master) ")
_VAGUE = re.compile(r"\b(?:decides? to|realizes? that|is unable to|tries to find out)\b")


def scene_faults(scene: Scene) -> Iterator[str]:
    """Yield what is wrong with one scene by itself."""
    passage = scene.passage
    if not FEWEST_WORDS <= (length := count_words(passage)) <= MOST_WORDS:
        yield f"the passage has {length} words, not {FEWEST_WORDS} to {MOST_WORDS}"
    if odd := _ASCII.findall("\n".join([passage, scene.summary, *scene.facts, *scene.plans])):
        yield f"characters that a small model should not learn: {' '.join(sorted(set(odd)))}"
    if [paragraph for paragraph in passage.split("\n\n") if not is_balanced(paragraph)]:
        yield "a quotation does not close in its paragraph"
    if "\n" in passage.replace("\n\n", ""):
        yield "paragraphs are parted by one empty line, and there is a single line break"
    if _SINGLE.search(passage):
        yield "speech stands in single quotation marks"
    if fault := find_fault(passage, finale=scene.finale == "last", third_person=scene.mode == "novel"):
        yield f"the guard of the prose refuses it: {fault}"
    if used := cliches(passage):
        yield f"worn phrases: {', '.join(used)}"
    measured = measure(passage, mode=scene.mode, plan=scene.plan, context=context(scene), known=vocabulary([passage]))
    if scene.mode == "novel" and measured.wrong_tense > MOST_WRONG_TENSE:
        yield f"{measured.wrong_tense:.0%} of the verbs that are narrated are in the present tense"
    if measured.repeated > 0.05:
        yield f"{measured.repeated:.0%} of its runs of four words come twice"
    if (done := plan_carried_out(scene.plan, passage)) < LEAST_PLAN and scene.mode == "novel":
        yield f"its words show {done:.0%} of the plan: {'; '.join(clauses(scene.plan))}"
    if scene.source.hand == "mended" and not scene.draft:
        yield "it is said to be mended, and the draft is missing"
    yield from _notes(scene)
    yield from _plans(scene)


def _notes(scene: Scene) -> Iterator[str]:
    if not 8 <= count_words(scene.summary) <= 45 or len(sentences(scene.summary)) != 1:
        yield "the summary is not one sentence of 8 to 45 words"
    if not 2 <= len(scene.facts) <= 4:
        yield f"there are {len(scene.facts)} facts, not 2 to 4"
    for fact in scene.facts:
        if len(sentences(fact)) != 1 or not fact.endswith((".", '."')):
            yield f"a fact is not one sentence: {fact}"
        elif _PRONOUN.match(fact):
            yield f"a fact does not say whom it is about: {fact}"
        elif strangers := new_names(f"x {fact}", [*context(scene), scene.passage]):
            yield f"a fact names {', '.join(strangers)}, whom neither the scene nor what came before it knows"


def _plans(scene: Scene) -> Iterator[str]:
    if len(scene.memory) > MEMORY_SENTENCES:
        yield f"the memory has {len(scene.memory)} sentences, more than {MEMORY_SENTENCES}"
    if len(scene.moves) != len(scene.plans):
        yield f"{len(scene.moves)} moves and {len(scene.plans)} plans"
    if unknown := [move for move in scene.moves if move not in KNOWN_MOVES]:
        yield f"no story has the moves {', '.join(unknown)}"
    if len(set(scene.moves)) != len(scene.moves):
        yield "a move comes twice"
    if (scene.finale == "last") is bool(scene.plans):
        yield "plans follow from every scene but the last"
    for plan in [scene.plan, *scene.plans, *([scene.choice.plan] if scene.choice else [])]:
        if not FEWEST_PLAN_WORDS <= count_words(plan) <= MOST_PLAN_WORDS:
            yield f"a plan has {count_words(plan)} words, not {FEWEST_PLAN_WORDS} to {MOST_PLAN_WORDS}: {plan}"
        if vague := _VAGUE.search(plan):
            yield f"a plan says {vague[0]}, not what is done: {plan}"
    for place, plan in enumerate(scene.plans):
        for other in scene.plans[place + 1 :]:
            if difflib.SequenceMatcher(None, plan.split(), other.split()).ratio() > 0.6:
                yield f"two plans say the same: {other}"
    if scene.choice and scene.choice.index > len(scene.plans):
        yield f"plan {scene.choice.index} is chosen of {len(scene.plans)}"


def story_faults(scenes: Sequence[Scene]) -> Iterator[tuple[Scene, str]]:
    """Yield what does not go on from one scene to the next, in the scenes of one story that follow each other."""
    for before, after in pairwise(scenes):
        if after.step != before.step + 1:
            continue
        if after.ending != (ending := last_sentences(before.passage, ENDING_SENTENCES)):
            yield after, f"the ending is not that of the scene before: {ending}"
        if before.choice and after.plan != before.choice.plan:
            yield after, f"the plan is not the chosen one: {before.choice.plan}"
        if not set(before.facts) & set(after.memory):
            yield after, "the memory holds none of the facts of the scene before"
        for name in ("title", "genre", "premise", "characters", "outline", "mode"):
            if getattr(before, name) != getattr(after, name):
                yield after, f"the {name} is another than in the scene before"


def premise_faults(premise: Premise) -> Iterator[str]:
    """Yield what is wrong with a story that was laid out."""
    names = [character.partition(":")[0].strip() for character in premise.characters]
    if not 2 <= len(names) <= 4 or any(": " not in character for character in premise.characters):
        yield "there are not two to four characters, each `Name: who they are`"
    letters = [_TITLE.sub("", name)[:1] for name in names]
    if len(set(letters)) != len(letters):
        yield f"names begin alike: {', '.join(names)}"
    if not 3 <= len(premise.turns) <= 8:
        yield f"there are {len(premise.turns)} turns, not 3 to 8"
    told = [premise.premise, *premise.characters, *premise.start]
    for number, turn in enumerate(premise.turns, 1):
        if not FEWEST_PLAN_WORDS <= count_words(turn.plan) <= MOST_PLAN_WORDS:
            yield f"turn {number}: the plan has {count_words(turn.plan)} words"
        if vague := _VAGUE.search(turn.plan):
            yield f"turn {number}: the plan says {vague[0]}, not what is done"
        if not 1 <= len(turn.facts) <= 4:
            yield f"turn {number}: there are {len(turn.facts)} facts"
        told.append(turn.plan)
        for fact in turn.facts:
            if _PRONOUN.match(fact) or not fact.endswith("."):
                yield f"turn {number}: a fact is not a sentence that says whom it is about: {fact}"


def context(scene: Scene) -> list[str]:
    """Return all that the writer of a scene was told."""
    return [
        scene.title,
        scene.premise,
        *scene.characters,
        *scene.memory,
        *scene.recalled,
        scene.ending,
        scene.plan,
        *scene.outline,
    ]


def kept(scene: Scene) -> float:
    """Return the share of the draft's words that stand in the mended passage, in their order, 0 to 1."""
    draft, passage = scene.draft.split(), scene.passage.split()
    same = sum(
        block.size for block in difflib.SequenceMatcher(None, draft, passage, autojunk=False).get_matching_blocks()
    )
    return same / max(len(passage), 1)


def faults(scenes: Sequence[Scene], premises: Sequence[Premise], held_out: Sequence[Premise]) -> Iterator[str]:
    """Yield every fault as one line that names its place."""
    stories: dict[str, list[Scene]] = {}
    for scene in scenes:
        stories.setdefault(scene.story, []).append(scene)
        for fault in scene_faults(scene):
            yield f"{scene.story} scene {scene.step}: {fault}"
    for story in stories.values():
        ordered = sorted(story, key=lambda scene: scene.step)
        steps = [scene.step for scene in ordered]
        if len(set(steps)) != len(steps):
            yield f"{ordered[0].story}: a scene comes twice"
        for scene, fault in story_faults(ordered):
            yield f"{scene.story} scene {scene.step}: {fault}"
    for premise in (*premises, *held_out):
        for fault in premise_faults(premise):
            yield f"{premise.story}: {fault}"
    kept_apart = {premise.story for premise in held_out}
    for name in sorted(kept_apart & ({premise.story for premise in premises} | set(stories))):
        yield f"{name}: it is held out, and must not be learnt from"


def losses(scenes: Sequence[Scene], model: Path, scores: Path | None) -> dict[str, float]:
    """Return the untrained model's loss on each passage, in nats per token, by `text_key`; `scores` keeps what was computed."""
    from training.encode import encode, tokenizer
    from training.loss import mean_loss
    from training.weights import load

    found: dict[str, float] = json.loads(scores.read_text()) if scores and scores.exists() else {}
    missing = [scene for scene in scenes if text_key(scene) not in found]
    if missing:
        tokens, base = tokenizer(model), load(model)
        for number, scene in enumerate(missing, 1):
            example = encode(tokens, scene.story, scene.mode, [writing(scene)], 4096)
            found[text_key(scene)] = round(mean_loss(base, [example]), 4)
            print(
                f"{number} of {len(missing)}: {scene.story} scene {scene.step}: {found[text_key(scene)]:.2f}",
                file=sys.stderr,
            )
            if scores:
                scores.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    return found


def text_key(scene: Scene) -> str:
    """Return what tells a passage in its context from all others."""
    return hashlib.sha256(json.dumps([writing(scene).prompt, scene.passage]).encode()).hexdigest()[:16]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names, and fail where anything is wrong."""
    options = _options(arguments)
    try:
        scenes, premises = read_scenes(options.data), read_premises(options.premises)
        found = list(faults(scenes, premises, read_premises(options.held_out)))
        for fault in found:
            print(fault)
        mended = [kept(scene) for scene in scenes if scene.draft]
        print(
            f"{len(scenes)} scenes of {len({scene.story for scene in scenes})} stories, {len(premises)} stories laid out, "
            f"{len(found)} faults."
            + (
                f" {len(mended)} are mended drafts, of whose words {mean(mended):.0%} are the draft's."
                if mended
                else ""
            )
        )
        if options.loss:
            _tell_reach(scenes, options)
    except (RecurrentGPTError, OSError) as error:
        print(f"training.check: {error}", file=sys.stderr)
        return 1
    return 1 if found else 0


def _tell_reach(scenes: Sequence[Scene], options: argparse.Namespace) -> None:
    model = options.model or fetch(WRITER)
    drafts = [scene for scene in read_scenes(options.drafts) if scene.source.finish != "length"]
    found = losses([*scenes, *drafts], model, options.scores)
    own = mean([found[text_key(scene)] for scene in drafts]) if drafts else 0.0
    print(f"Model {sha256(model)[:12]}: {own:.2f} nats per token on {len(drafts)} drafts of its own.")
    for scene in sorted(scenes, key=lambda scene: -found[text_key(scene)]):
        loss = found[text_key(scene)]
        far = "out of reach" if drafts and loss > own + options.reach else "within reach"
        print(f"{loss:.2f} {far}: {scene.story} scene {scene.step}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.check", description="Check training data.")
    parser.add_argument("data", nargs="*", type=Path, default=[DATA / "mended"], help="files or folders of scenes")
    parser.add_argument("--premises", nargs="*", type=Path, default=[DATA / "premises"], help="stories laid out")
    parser.add_argument(
        "--held-out", nargs="*", type=Path, default=[DATA / "heldout"], help="stories that no data may come from"
    )
    parser.add_argument("--loss", action="store_true", help="let the untrained model read every passage (minutes)")
    parser.add_argument(
        "--drafts", nargs="*", type=Path, default=[DATA / "drafts"], help="with --loss: the model's own texts"
    )
    parser.add_argument(
        "--scores", type=Path, help="with --loss: a file that keeps the losses from one run to the next"
    )
    parser.add_argument("--reach", type=float, default=REACH, help=f"nats above its own texts (default {REACH})")
    parser.add_argument("--model", type=Path, help="with --loss: a GGUF file; the embedded writer by default")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
