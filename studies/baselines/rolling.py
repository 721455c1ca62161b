"""rolling(W): a header and the end of the story so far, as much as a window of W tokens holds; and one_shot, one call for all.

Nothing is summarised, recalled or compared. What has left the window is forgotten.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START
from pydantic import Field, create_model

from recurrentgpt.models.decoding import OPEN
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.studies.baselines.baseline_state import (
    BaselineState,
    append_passage,
    baseline_graph,
    is_unfinished,
    open_novel,
)
from recurrentgpt.studies.baselines.runtime import PROMPTS, StudyRun, study_node
from recurrentgpt.studies.baselines.system import Builder, Cost, System, linear_cost
from recurrentgpt.studies.baselines.text_windows import count_tokens, last_tokens
from recurrentgpt.studies.baselines.write_prose import (
    SAMPLES,
    fill_form,
    system_turns,
    write_prose,
    write_whole,
)
from recurrentgpt.studies.study_context import pace

OUTLINE_ITEMS = 4
TOKENS_PER_1000_WORDS = 1400
"""Tokens by which a window fills in 1,000 words of story, the header included."""
MARGIN = 2
"""Tokens by which a count of parts may be below that of the whole."""


def rolling(window: int | None) -> Builder:
    """Return the graph of rolling(`window` tokens, the header included); None forgets nothing."""

    async def roll(state: BaselineState, run: StudyRun) -> Update:
        steps = pace(state["words"], run.settings.target_words)
        item = current_item(state, run)
        header = {
            "genre": state["genre"],
            "premise": state["premise"],
            "item": item,
            "words": steps.aim,
            "finale": steps.finale,
        }
        turns = system_turns(run, "rolling", "next", tail="...", **header)
        room = None if window is None else window - sum(count_tokens(turn.text) for turn in turns)
        tail = last_tokens(state["tail"], None if room is None else room - MARGIN)
        turns = system_turns(run, "rolling", "next", tail=tail, **header)
        return {"plan": item, "passage": await write_prose(state, run, turns, steps)}

    async def keep_window(state: BaselineState, run: StudyRun) -> Update:
        last = pace(state["words"], run.settings.target_words).finale == "last"
        return await append_passage(state, run, tail=window, ending=last)

    return (
        baseline_graph(BaselineState)
        .add_sequence(
            [
                ("open", study_node(_plan_turns, name="open")),
                ("write", study_node(roll)),
                ("keep", study_node(keep_window)),
            ]
        )
        .add_edge(START, "open")
        .add_conditional_edges("keep", lambda state: "write" if is_unfinished(state) else END, ["write", END])
    )


def one_shot() -> Builder:
    """Return the graph that asks for the whole novel in one call."""

    async def open_unplanned(state: BaselineState, run: StudyRun) -> Update:
        return await open_novel(state, run, [], [])

    async def write_novel(state: BaselineState, run: StudyRun) -> Update:
        target = run.settings.target_words
        # Asked for "a whole novel", a small model refuses.
        small = (await run.model("writer")).tier == "small"
        asked = {"genre": state["genre"], "premise": state["premise"], "words": target, "small": small}
        turns = system_turns(run, "one_shot", "novel", **asked)
        return {"plan": "", "passage": await write_whole(state, run, turns, round(1.1 * target))}

    async def keep_all(state: BaselineState, run: StudyRun) -> Update:
        return {**await append_passage(state, run, tail=0, ending=True), "status": "finished"}

    return (
        baseline_graph(BaselineState)
        .add_sequence(
            [("open", study_node(open_unplanned)), ("write", study_node(write_novel)), ("keep", study_node(keep_all))]
        )
        .add_edge(START, "open")
        .add_edge("keep", END)
    )


async def _plan_turns(state: Any, run: StudyRun) -> Update:
    """Plan the turns of the story, which the header names one at a time."""
    exactly = (list[str], Field(min_length=OUTLINE_ITEMS, max_length=OUTLINE_ITEMS))
    schema: Any = create_model("Outline", outline=exactly)
    turns = system_turns(run, "rolling", "outline", genre=state["genre"], premise=state["premise"], items=OUTLINE_ITEMS)
    seed = run.seed(state, "outline")
    model = await run.model("planner")
    reply = await fill_form(run, model, turns, schema, seed, decoding=OPEN)
    return await open_novel(state, run, [" ".join(item.split()) for item in reply.outline], [])


def current_item(state: BaselineState, run: StudyRun) -> str:
    """Return the item of the outline that the story has reached, by its share of the words."""
    outline = state["outline"]
    return outline[min(len(outline) - 1, len(outline) * state["words"] // run.settings.target_words)]


def _rolling_cost(window: int | None, words: int) -> Cost:
    """Return what a novel costs: its prompts grow with the story until the window is full."""
    thousands = words / 1000
    full = thousands if window is None else min(thousands, window / TOKENS_PER_1000_WORDS)
    prompts = 2000 * full**2 + 4000 * full * (thousands - full)
    return Cost(3.5 * thousands, prompts, 1500 * thousands)


def _rolling_system(name: str, window: int | None, description: str) -> System:
    return System(
        name=name,
        description=description,
        build=lambda: rolling(window),
        cost=lambda words: _rolling_cost(window, words),
        prompts=PROMPTS / "rolling",
        window=window,
        own_guards=frozenset({"loops"}),
        own_samples=SAMPLES["own"],
        watched=True,
        plants_facts=window is not None,
    )


SYSTEMS = (
    _rolling_system("rolling_1024", 1024, "header and the last of the story in 1,024 tokens"),
    _rolling_system("rolling_2048", 2048, "header and the last of the story in 2,048 tokens"),
    _rolling_system("rolling_4096", 4096, "header and the last of the story in 4,096 tokens"),
    _rolling_system("rolling_unlimited", None, "header and the whole story so far"),
    System(
        name="one_shot",
        description="the whole novel in one call",
        build=one_shot,
        cost=linear_cost(Cost(0, 0, 1600), fixed=Cost(1, 110, 0)),
        prompts=PROMPTS / "one_shot",
        paced=False,
    ),
)
