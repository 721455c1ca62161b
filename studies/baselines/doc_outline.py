"""DOC's outline: main events, each divided into events of its own, filtered, and each leaf with its place and people."""

from __future__ import annotations

import math
from typing import Any, NotRequired

from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

from recurrentgpt.models.decoding import CHOOSE
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.prose.shared_runs import overlap
from recurrentgpt.studies.baselines.baseline_state import open_novel
from recurrentgpt.studies.baselines.planning import plan
from recurrentgpt.studies.baselines.runtime import StudyRun
from recurrentgpt.studies.baselines.text_windows import first_tokens
from recurrentgpt.studies.baselines.write_prose import fill_form, system_turns

FEWEST_LEAVES, MOST_LEAVES = 9, 16
FEWEST_MAIN = 3
FEWEST_CHILDREN, MOST_CHILDREN = 2, 5
WORDS_PER_LEAF = 300
PUBLISHED_WORDS_PER_LEAF = 120
"""With an outline of three levels, whose leaves are many and short."""
MOST_OVERLAP = 0.6
"""Share of word pairs from which one event repeats another. Events are compared with events, never with prose."""
TRIES = 2
LATELY_TOKENS = 64


class Leaf(TypedDict):
    """One event that is written out."""

    event: str
    parent: int
    """Number of the main event that it belongs to."""
    setting: str
    characters: list[str]
    part: NotRequired[str]
    """In an outline of three levels, the event between the main one and this."""


class Verdict(BaseModel):
    """What a filter says of one proposed event."""

    known: bool
    in_order: bool


class Details(BaseModel):
    """Where a leaf happens, and with whom."""

    setting: str
    characters: list[str]


def leaves_wanted(target: int) -> int:
    """Return how many leaves an outline has: about one per 300 words, 9 to 16."""
    return min(MOST_LEAVES, max(FEWEST_LEAVES, round(target / WORDS_PER_LEAF)))


def published_branches(target: int) -> tuple[int, int]:
    """Return how many main events an outline of three levels has, and how many events each of them and of its parts."""
    wanted = target / PUBLISHED_WORDS_PER_LEAF
    main = min(MOST_CHILDREN, max(FEWEST_CHILDREN, round(wanted ** (1 / 3))))
    return main, min(MOST_CHILDREN, max(FEWEST_CHILDREN, round((wanted / main) ** 0.5)))


async def outline(state: Any, run: StudyRun) -> Update:
    """Plan the main events."""
    target = run.settings.target_words
    count = published_branches(target)[0] if run.settings.published else 3 if leaves_wanted(target) <= 10 else 4
    return {"outline": await _events(state, run, [], "", "", count, min(count, FEWEST_MAIN), "main")}


async def divide(state: Any, run: StudyRun) -> Update:
    """Divide every main event into leaves, level by level and in order, and give each its place and people."""
    main, target, published = state["outline"], run.settings.target_words, run.settings.published
    above = list(enumerate(main))
    if published:
        children = published_branches(target)[1]
        fewest = max(FEWEST_CHILDREN, children - 1)
        above = await _parts(state, run, children, fewest)
    else:
        children = min(MOST_CHILDREN, max(FEWEST_CHILDREN, round(leaves_wanted(target) / len(main))))
        fewest = min(children, math.ceil(FEWEST_LEAVES / len(main)))
    leaves: list[Leaf] = []
    for at, (number, event) in enumerate(above):
        earlier = [*(text for _, text in above[:at]), *(leaf["event"] for leaf in leaves)]
        after = above[at + 1][1] if at + 1 < len(above) else ""
        events = await _events(state, run, earlier, event, after, children, fewest, str(at))
        details = await _details(state, run, events, at)
        for text, found in zip(events, details, strict=True):
            place = " ".join(found.setting.split())
            leaf = Leaf(event=text, parent=number, setting=place, characters=found.characters)
            leaves.append(Leaf(**leaf, part=event) if published else leaf)
    people = [f"{person['name']}: {person['portrait']}" for person in state["characters"]]
    return await open_novel(
        state, run, main, people, leaves=leaves, leaf=0, leaf_best=None, in_leaf=0, leaf_words=0, leaf_text=""
    )


async def _parts(state: Any, run: StudyRun, children: int, fewest: int) -> list[tuple[int, str]]:
    """Return the events of the level between main events and leaves, each with the number of its main event."""
    main, parts = state["outline"], list[tuple[int, str]]()
    for number, event in enumerate(main):
        earlier = [*main[:number], *(text for _, text in parts)]
        after = main[number + 1] if number + 1 < len(main) else ""
        events = await _events(state, run, earlier, event, after, children, fewest, f"part {number}")
        parts += [(number, text) for text in events]
    return parts


async def _events(
    state: Any, run: StudyRun, earlier: list[str], parent: str, after: str, count: int, fewest: int, purpose: str
) -> list[str]:
    """Return `count` events, or fewer where too few pass the filter twice.

    Where less than `fewest` do, those that come first of the others stay too: a novel of two events cannot have its length.
    """
    schema: Any = create_model("Events", events=(list[str], Field(min_length=count, max_length=count)))
    best: list[str] = []
    proposed: list[str] = []
    for trial in range(TRIES):
        reply = await plan(
            state,
            run,
            "outline",
            schema,
            system="doc",
            purpose=f"{purpose} {trial}",
            setting=state["setting"],
            characters=state["characters"],
            earlier=earlier,
            parent=parent,
            after=after,
            count=count,
        )
        events = [" ".join(event.split()) for event in reply.events if event.strip()]
        passed = await _filtered(state, run, earlier, parent, events, f"{purpose} {trial}")
        if not trial or len(passed) > len(best):
            proposed, best = events, passed
        if len(best) == count:
            break
    spare = fewest - len(best)
    kept: list[str] = []
    for number, event in enumerate(proposed):
        if event in best and event not in proposed[:number]:
            kept.append(event)
        elif spare > 0:
            kept.append(event)
            spare -= 1
    return kept


async def _filtered(
    state: Any, run: StudyRun, earlier: list[str], parent: str, events: list[str], purpose: str
) -> list[str]:
    """Return the events that are new, in order, and say something else than those before them."""
    size = (list[Verdict], Field(min_length=len(events), max_length=len(events)))
    schema: Any = create_model("Verdicts", verdicts=size)
    model = await run.model("judge")
    turns = system_turns(run, "doc", "filter", earlier=earlier or ["(nothing yet)"], parent=parent, events=events)
    seed = run.seed(state, "filter", purpose)
    reply = await fill_form(run, model, turns, schema, seed, decoding=CHOOSE)
    passed: list[str] = []
    for event, verdict in zip(events, reply.verdicts, strict=True):
        repeats = any(overlap(event, other) > MOST_OVERLAP for other in [*earlier, *passed])
        if verdict.in_order and not verdict.known and not repeats:
            passed.append(event)
    return passed


async def _details(state: Any, run: StudyRun, events: list[str], number: int) -> list[Details]:
    size = (list[Details], Field(min_length=len(events), max_length=len(events)))
    schema: Any = create_model("Leaves", leaves=size)
    more = {"setting": state["setting"], "characters": state["characters"], "events": events}
    reply = await plan(state, run, "leaves", schema, system="doc", purpose=str(number), **more)
    names = {person["name"].casefold(): person["name"] for person in state["characters"]}
    found: list[Details] = []
    for details in reply.leaves:
        known = [names[name.strip().casefold()] for name in details.characters if name.strip().casefold() in names]
        found.append(Details(setting=details.setting, characters=list(dict.fromkeys(known))))
    return found


def people_at(characters: list[dict[str, str]], leaves: list[Leaf], at: int) -> list[str]:
    """Return the leaf's characters as described up to it: the portrait, and what has happened to them lately.

    A leaf that names nobody has the main character.
    """
    names = leaves[at]["characters"] or [characters[0]["name"]]
    found: list[str] = []
    for person in characters:
        if person["name"] not in names:
            continue
        before = [leaf["event"] for leaf in leaves[:at] if person["name"] in leaf["characters"]]
        lately = first_tokens(" ".join(before[-2:]), LATELY_TOKENS)
        found.append(f"{person['name']}: {person['portrait']}" + (f" Lately: {lately}" if lately else ""))
    return found


def collapsed(outline: list[str], leaves: list[Leaf], at: int) -> list[str]:
    """Return the outline up to a leaf: what is over by its main event, or its part of three levels, and else by its leaves."""
    parent, part = leaves[at]["parent"], leaves[at].get("part")
    before = [leaf for leaf in leaves[:at] if leaf["parent"] == parent]
    over = dict.fromkeys(leaf["part"] for leaf in before if "part" in leaf and leaf["part"] != part)
    return [*outline[:parent], *over, *(leaf["event"] for leaf in before if leaf.get("part") == part)]


def movement(leaves: list[Leaf], at: int) -> str:
    """Return how the story moves to a leaf's place; empty where it stays or begins."""
    if not at or leaves[at - 1]["setting"].casefold() == leaves[at]["setting"].casefold():
        return ""
    return f"The story moves from {leaves[at - 1]['setting']} to {leaves[at]['setting']}."


def entering(leaves: list[Leaf], at: int) -> list[str]:
    """Return the names of those who come in with a leaf."""
    before = set(leaves[at - 1]["characters"]) if at else set()
    return [name for name in leaves[at]["characters"] if name not in before]
