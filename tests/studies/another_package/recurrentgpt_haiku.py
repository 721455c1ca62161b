"""Another package: a system that writes passage after passage from the premise alone, and a measure that counts questions."""

from typing import Any

from langgraph.graph import END, START

from recurrentgpt.studies.baselines.baseline_state import (
    BaselineState,
    append_passage,
    baseline_graph,
    is_unfinished,
    open_novel,
)
from recurrentgpt.studies.baselines.runtime import StudyRun, study_node
from recurrentgpt.studies.baselines.system import Builder, Cost, System, linear_cost
from recurrentgpt.studies.baselines.write_prose import system_turns, write_prose
from recurrentgpt.studies.measures.measure import Measure
from recurrentgpt.studies.study_context import pace


async def begin(state: Any, run: StudyRun) -> dict[str, Any]:
    """Open the novel without a plan."""
    return await open_novel(state, run, [], [])


async def write(state: Any, run: StudyRun) -> dict[str, Any]:
    """Write and append one passage."""
    now = pace(state["words"], run.settings.target_words)
    header = {"genre": state["genre"], "premise": state["premise"], "item": "", "words": now.aim, "finale": now.finale}
    turns = system_turns(run, "rolling", "next", tail="", **header)
    passage = await write_prose(state, run, turns, now)
    kept = await append_passage({**state, "passage": passage}, run, tail=0, ending=now.finale == "last")
    return {"passage": passage, **kept}


def build() -> Builder:
    """Return the system's graph."""
    return (
        baseline_graph(BaselineState)
        .add_node("begin", study_node(begin))
        .add_node("keep", study_node(write, name="keep"))
        .add_edge(START, "begin")
        .add_edge("begin", "keep")
        .add_conditional_edges("keep", lambda state: "keep" if is_unfinished(state) else END, ["keep", END])
    )


SYSTEM = System(
    name="outline_free",
    description="passage after passage from the premise alone",
    build=build,
    cost=linear_cost(Cost(3.5, 500, 1500)),
)
MEASURE = Measure(
    name="questions",
    description="Questions: how many sentences of a novel ask something.",
    columns=("questions",),
    compute=lambda novel, system: {"questions": novel["text"].count("?")},
)
