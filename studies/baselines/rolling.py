"""rolling(W): a header and the end of the story so far, as much as a window of W tokens holds; and one_shot, one call for all.

Nothing is summarised, recalled or compared. What has left the window is forgotten.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from pydantic import Field, create_model

from recurrentgpt.studies.baselines.baseline_state import Draft, NovelInput, NovelOutput, begin, goes_on, keep
from recurrentgpt.studies.baselines.prose import asked, filled, prose, raw, readable
from recurrentgpt.studies.baselines.runtime import StudyRun, study_node
from recurrentgpt.studies.baselines.text_windows import count_tokens, last_tokens
from recurrentgpt.studies.study_context import StudyContext, pace

OUTLINE_ITEMS = 4
MARGIN = 2
"""Tokens by which a count of parts may be below that of the whole."""

Builder = StateGraph[Any, StudyContext, Any, Any]


def builder(state: type[Any]) -> Builder:
    """Return an empty graph of a baseline."""
    return StateGraph(state, context_schema=StudyContext, input_schema=NovelInput, output_schema=NovelOutput)


def rolling(window: int | None) -> Builder:
    """Return the graph of rolling(`window` tokens, the header included); None forgets nothing."""

    async def roll(state: Draft, run: StudyRun) -> dict[str, Any]:
        steps = pace(state["words"], run.settings.target_words)
        item = current_item(state, run)
        header = {
            "genre": state["genre"],
            "premise": state["premise"],
            "item": item,
            "words": steps.aim,
            "finale": steps.finale,
        }
        turns = asked(run, "rolling", "next", tail="...", **header)
        room = None if window is None else window - sum(count_tokens(turn.text) for turn in turns)
        tail = last_tokens(state["tail"], None if room is None else room - MARGIN)
        turns = asked(run, "rolling", "next", tail=tail, **header)
        return {"plan": item, "passage": await prose(state, run, turns, steps)}

    async def keep_window(state: Draft, run: StudyRun) -> dict[str, Any]:
        last = pace(state["words"], run.settings.target_words).finale == "last"
        return await keep(state, run, tail=window, ending=last)

    return (
        builder(Draft)
        .add_node("open", study_node(_open))
        .add_node("write", study_node(roll))
        .add_node("keep", study_node(keep_window))
        .add_edge(START, "open")
        .add_edge("open", "write")
        .add_edge("write", "keep")
        .add_conditional_edges("keep", lambda state: "write" if goes_on(state) else END, ["write", END])
    )


def one_shot() -> Builder:
    """Return the graph that asks for the whole novel in one call."""

    async def open_unplanned(state: Draft, run: StudyRun) -> dict[str, Any]:
        return await begin(state, run, [], [])

    async def write_whole(state: Draft, run: StudyRun) -> dict[str, Any]:
        target = run.settings.target_words
        turns = asked(run, "one_shot", "novel", genre=state["genre"], premise=state["premise"], words=target)
        novel = await raw(state, run, turns, round(1.1 * target), purpose=("write", 0))
        return {"plan": "", "passage": readable(novel, run)}

    async def keep_all(state: Draft, run: StudyRun) -> dict[str, Any]:
        return {**await keep(state, run, tail=0, ending=True), "status": "finished"}

    return (
        builder(Draft)
        .add_node("open", study_node(open_unplanned))
        .add_node("write", study_node(write_whole))
        .add_node("keep", study_node(keep_all))
        .add_edge(START, "open")
        .add_edge("open", "write")
        .add_edge("write", "keep")
        .add_edge("keep", END)
    )


async def _open(state: Any, run: StudyRun) -> dict[str, Any]:
    """Plan the turns of the story, which the header names one at a time."""
    exactly = (list[str], Field(min_length=OUTLINE_ITEMS, max_length=OUTLINE_ITEMS))
    schema: Any = create_model("Outline", outline=exactly)
    turns = asked(run, "rolling", "outline", genre=state["genre"], premise=state["premise"], items=OUTLINE_ITEMS)
    seed = run.seed(state, "outline")
    model = await run.model("planner")
    reply = await filled(run, model, turns, schema, seed)
    return await begin(state, run, [" ".join(item.split()) for item in reply.outline], [])


def current_item(state: Draft, run: StudyRun) -> str:
    """Return the item of the outline that the story has reached, by its share of the words."""
    outline = state["outline"]
    return outline[min(len(outline) - 1, len(outline) * state["words"] // run.settings.target_words)]
