"""re3: plan setting, people and outline; draft several continuations of each item, take the best, edit what it contradicts."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from langgraph.graph import END, START
from pydantic import Field, create_model

from recurrentgpt.memory.nearness import embedded
from recurrentgpt.models.embeddings import default_embeddings
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.studies.baselines.baseline_state import baseline_graph, is_unfinished, open_novel
from recurrentgpt.studies.baselines.drafts import PassageGoal, drafts, score_drafts
from recurrentgpt.studies.baselines.planning import (
    PlannedState,
    append_and_keep_tail,
    characters,
    plan,
    setting,
    summarise,
)
from recurrentgpt.studies.baselines.re3_facts import (
    Fact,
    confirm_contradictions,
    described,
    edit_passage,
    extract_facts,
    find_conflicts,
    merge_facts,
)
from recurrentgpt.studies.baselines.runtime import PROMPTS, StudyRun, study_node
from recurrentgpt.studies.baselines.strip_markup import strip_markup
from recurrentgpt.studies.baselines.system import Builder, Cost, System, linear_cost
from recurrentgpt.studies.baselines.text_windows import WORDS_PER_TOKEN, count_tokens
from recurrentgpt.studies.baselines.write_prose import as_said, own_text, system_turns, without_repetition
from recurrentgpt.studies.study_context import Pace, pace

CANDIDATES = 10
"""As published."""
PASSAGE_TOKENS = 256
PASSAGE_WORDS = round(PASSAGE_TOKENS * WORDS_PER_TOKEN)
PER_ITEM = 4
FEWEST_ITEMS = 3
ENTITY_TOKENS = 128


class Re3State(PlannedState, total=False):
    """The state of re3."""

    facts: list[Fact]


def re3() -> Builder:
    """Return the graph of re3."""
    return (
        baseline_graph(Re3State)
        .add_sequence(
            [study_node(verb) for verb in (setting, characters, outline, summarise, draft, rerank, edit, keep)]
        )
        .add_edge(START, "setting")
        .add_conditional_edges("keep", lambda state: "summarise" if is_unfinished(state) else END, ["summarise", END])
    )


def items(target: int) -> int:
    """Return how many items an outline has: three, and more for a novel that three times four passages do not fill."""
    return max(FEWEST_ITEMS, round(target / (PER_ITEM * PASSAGE_WORDS)))


def per_item(target: int) -> int:
    """Return how many passages are drafted per item of the outline: four, and fewer for a short novel."""
    return min(PER_ITEM, max(1, round(target / (items(target) * PASSAGE_WORDS))))


async def outline(state: Any, run: StudyRun) -> Update:
    """Plan the plot, and open the novel."""
    count = items(run.settings.target_words)
    schema: Any = create_model("Outline", outline=(list[str], Field(min_length=count, max_length=count)))
    reply = await plan(
        state, run, "outline", schema, setting=state["setting"], characters=state["characters"], items=count
    )
    people = [f"{person['name']}: {person['portrait']}" for person in state["characters"]]
    turns = [" ".join(item.split()) for item in reply.outline]
    return await open_novel(state, run, turns, people, facts=[])


async def draft(state: Any, run: StudyRun) -> Update:
    """Draft the next passage several times from one prompt."""
    now, at = _pace(state, run), _item(state, run)
    turns = system_turns(
        run,
        "re3",
        "draft",
        genre=state["genre"],
        premise="" if state["step"] else state["premise"],
        entities=await _entities(state, run, state["outline"][at]) if state["step"] else _planned(state),
        previous=state["outline"][:at],
        summary=state["summary"],
        item=state["outline"][at],
        tail=state["tail"],
        words=now.aim,
        finale=now.finale,
    )
    count = run.settings.candidates or CANDIDATES
    return {"plan": state["outline"][at], "drafts": await drafts(state, run, turns, count, now, ("draft",))}


async def rerank(state: Any, run: StudyRun) -> Update:
    """Take the draft with the best score; of equals, the first."""
    found = state["drafts"]
    graded = await score_drafts(state, run, PassageGoal(state["plan"], state["tail"]), found, "rerank")
    best = max(range(len(found)), key=lambda number: graded[number])
    return {"passage": strip_markup(found[best], run.context.language), "best": round(graded[best], 4)}


async def edit(state: Any, run: StudyRun) -> Update:
    """Put right what the passage contradicts, and learn what it states; the first passage has nothing to contradict."""
    passage, known = state["passage"], state["facts"]
    new = await extract_facts(state, run, passage)
    if state["step"] and (wrong := await confirm_contradictions(state, run, find_conflicts(known, new))):
        now = _pace(state, run)
        edited = as_said(await edit_passage(state, run, passage, wrong), now.most, run)
        passage = own_text(await without_repetition(edited, state, run, now.least), run) or passage
    return {"passage": passage, "facts": merge_facts(known, new)}


async def keep(state: Any, run: StudyRun) -> Update:
    """Append the passage; the novel ends with the last item, or up to three passages later."""
    return await append_and_keep_tail(state, run, ending=_pace(state, run).finale == "last")


def _pace(state: Any, run: StudyRun) -> Pace:
    """Return the pace of the next passage: what is left of the words, divided among what is left of the passages."""
    target = run.settings.target_words
    left = items(target) * per_item(target) - state["step"]
    if left > 1:
        aim = max(60, (target - state["words"]) / left)
        return Pace(round(0.8 * aim), round(1.15 * aim), left)
    return pace(state["words"], target, passage=max(PASSAGE_WORDS, target - state["words"]))


def _item(state: Any, run: StudyRun) -> int:
    return int(min(len(state["outline"]) - 1, state["step"] // per_item(run.settings.target_words)))


def _planned(state: Any) -> list[str]:
    """Return the descriptions of everybody in the plan, and of the setting."""
    people = [f"{person['name']}: {person['portrait']}" for person in state["characters"]]
    return [*people, f"Setting: {state['setting']}"]


async def _entities(state: Any, run: StudyRun, item: str) -> list[str]:
    """Return descriptions that bear on an item, at most 128 tokens: who is named in it first, the rest by likeness to it.

    They are of the plan's people and setting, and of whoever and whatever was met on the way.
    """
    known = [*_planned(state), *described(state["facts"], without=[person["name"] for person in state["characters"]])]
    vectors = await asyncio.to_thread(embedded, run.context.embeddings or default_embeddings(), [item, *known])
    alike = (vectors[1:] @ vectors[0]).tolist()
    named = {*re.findall(r"\w+", item)} - {"the", "The"}

    def worth(number: int) -> tuple[bool, float]:
        name = known[number].split(":")[0]
        return any(part in named for part in re.findall(r"\w+", name) if len(part) > 2), alike[number]

    chosen: list[str] = []
    room = ENTITY_TOKENS
    for number in sorted(range(len(known)), key=worth, reverse=True):
        size = count_tokens(known[number])
        if size <= room:
            chosen.append(known[number])
            room -= size
    return chosen


SYSTEM = System(
    name="re3",
    description="plan, draft, rewrite and edit (Re3)",
    build=re3,
    cost=linear_cost(Cost(82, 48000, 15800)),
    prompts=PROMPTS / "re3",
    drafts=CANDIDATES,
    paced=False,
    watched=True,
)
