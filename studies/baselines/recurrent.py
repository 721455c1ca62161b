"""recurrentgpt as it is, its simulator as pilot, and the variants of the paper's Table 2.

The graph is the engine's, of the engine's verbs. What a study adds is a length to end at; what a variant takes away is said in
`recurrentgpt.studies.baselines.variants`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph

from recurrentgpt.nodes.commit import commit
from recurrentgpt.nodes.open_story import open_story
from recurrentgpt.nodes.prompt_messages import write_turns
from recurrentgpt.nodes.propose_plans import propose_plans
from recurrentgpt.nodes.retrieve import retrieve
from recurrentgpt.nodes.routes import Route, after_memory, after_write, waiting_plan
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.nodes.simulator import simulator
from recurrentgpt.nodes.update_memory import update_memory
from recurrentgpt.nodes.write import plans_to_come, write, written
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.studies.baselines.baseline_state import NovelInput, NovelOutput, RecurrentState, is_unfinished
from recurrentgpt.studies.baselines.runtime import StudyRun, StudyVerb, study_node
from recurrentgpt.studies.baselines.system import Builder
from recurrentgpt.studies.baselines.write_prose import require_prose, write_in_one_piece
from recurrentgpt.studies.study_context import MOST_ENDINGS, Pace, StudyContext, is_full, pace

Templates = Callable[[Prompts], Prompts]


def recurrentgpt(
    *,
    opening: StudyVerb = open_story,
    recall: StudyVerb = retrieve,
    writing: StudyVerb | None = None,
    remember: StudyVerb = update_memory,
    choose: StudyVerb = simulator,
    templates: Templates | None = None,
    past: bool = True,
) -> Builder:
    """Return the graph of recurrentgpt; a variant gives its own verb for what it does otherwise.

    Without `past` no prompt has a line for every earlier passage, which a capable model's has where they fit.
    """
    seen: Callable[[StudyVerb], StudyVerb] = (lambda verb: verb) if past else without_past
    return (
        _builder(opening, recall, templates, seen(choose))
        .add_node("write", study_node(seen(writing or paced_write), name="write", templates=templates))
        .add_node(
            "update_memory", study_node(seen(paced(remember, going_on)), name="update_memory", templates=templates)
        )
        .add_node("propose_plans", study_node(seen(paced_plans), name="propose_plans", templates=templates))
        .add_edge("retrieve", "write")
        .add_conditional_edges("write", Route(after_write), ["update_memory", "propose_plans"])
        .add_conditional_edges("update_memory", Route(after_memory), ["propose_plans", "commit"])
        .add_edge("propose_plans", "commit")
    )


def without_past(verb: StudyVerb) -> StudyVerb:
    """Return a verb whose prompts have the last passage and what is recalled, and no line for every earlier one."""

    async def forgetful(state: Any, run: StudyRun) -> Update:
        run.forget_past()
        return await verb(state, run)

    return forgetful


def single_call(step: StudyVerb) -> Builder:
    """Return the graph whose one `step` writes the passage, the memory and the plans together."""
    return (
        _builder(open_story, retrieve, None, simulator)
        .add_node("step", study_node(step, name="step"))
        .add_edge("retrieve", "step")
        .add_edge("step", "commit")
    )


def _builder(opening: StudyVerb, recall: StudyVerb, templates: Templates | None, choose: StudyVerb) -> Builder:
    """Return what all have in common: the opening, the log and the choice."""
    return (
        StateGraph(RecurrentState, context_schema=StudyContext, input_schema=NovelInput, output_schema=NovelOutput)
        .add_node("open_story", study_node(counted(opening), name="open_story", templates=templates))
        .add_node("retrieve", study_node(recall, name="retrieve"))
        .add_node("commit", study_node(counted_commit, name="commit"))
        .add_node("simulator", study_node(paced(choose), name="simulator", templates=templates))
        .add_edge(START, "open_story")
        .add_conditional_edges("open_story", lambda state: "commit" if not state.get("head") else _next(state), _WAYS)
        .add_conditional_edges("commit", _next, _WAYS)
        .add_edge("simulator", "retrieve")
    )


_WAYS = ["commit", "retrieve", "simulator", END]


def _next(state: Any) -> str:
    if not is_unfinished(state):
        return END
    return "retrieve" if waiting_plan(state) else "simulator"


def counted(opening: StudyVerb) -> StudyVerb:
    """Return a verb that opens the novel, or finds the place of one whose checkpoints are gone, and knows its words."""

    async def opened(state: Any, run: StudyRun) -> Update:
        update = await opening(state, run)
        words = 0
        if update.get("head"):
            links = await run.log.links(update["story"])
            words = sum(links[commit]["words"] for commit in await run.log.path(update["story"], update["head"]))
        return {**update, "words": words, "endings": 0}

    return opened


def next_pace(state: Any, run: StudyRun) -> Pace:
    """Return the pace of the passage to write."""
    bounds = (run.context.min_words, run.context.max_words)
    return pace(state["words"], run.settings.target_words, passage=sum(bounds) // 2, bounds=bounds)


async def paced_write(state: Any, run: StudyRun) -> Update:
    """Write the next passage at the novel's pace."""
    now = next_pace(state, run)
    run.paced(now, state["step"] + 1)
    try:
        update = await (write_in_one_call if run.settings.guards == "none" else write)(state, run)
    except ModelReplyError:
        # With shared guards no system fails for what its model writes: it comes as another system's does in one piece.
        if run.settings.guards != "shared":
            raise
        update = await write_in_one_call(state, run)
    return {**update, "passage": require_prose(update["passage"], run), "pace": [now.least, now.most, now.left]}


async def write_in_one_call(state: Any, run: StudyRun) -> Update:
    """Write the next passage from the engine's prompt as other systems write theirs: in one piece."""
    turns = await write_turns(state, run, await run.model("writer"))
    passage = await write_in_one_piece(state, run, turns, next_pace(state, run))
    return {**await plans_to_come(run), **written(state, passage, state["plan"], [])}


def written_at(state: Any, run: StudyRun) -> Pace:
    """Return the pace that the newest passage was written at."""
    return Pace(*state["pace"])


def going_on(state: Any, run: StudyRun) -> Pace:
    """Return the pace of the newest passage; one that was to be the last, and left the novel too short, is not."""
    least, most, left = state["pace"]
    return Pace(least, most, 2 if left == 1 and not ends(state, run) else left)


def paced(verb: StudyVerb, pace_of: Callable[[Any, StudyRun], Pace] = written_at) -> StudyVerb:
    """Return a verb that sees the pace its passage was written at, so that a prompt goes on where the last one ended."""

    async def at_pace(state: Any, run: StudyRun) -> Update:
        if "pace" in state:
            run.paced(pace_of(state, run), state["step"])
        return await verb(state, run)

    return at_pace


async def paced_plans(state: Any, run: StudyRun) -> Update:
    """Propose plans, or end the novel when the passage that was to be its last made it long enough."""
    run.paced(going_on(state, run), state["step"])
    return {**await propose_plans(state, run), "endings": state["endings"] + (state["pace"][2] == 1)}


def ends(state: Any, run: StudyRun) -> bool:
    """Tell whether the passage just written, asked to be the last, is."""
    words = state["words"] + count_words(state["passage"])
    return is_full(words, run.settings.target_words) or state["endings"] >= MOST_ENDINGS


async def counted_commit(state: Any, run: StudyRun) -> Update:
    """Append the step to the log and count its words."""
    update = await commit(state, run)
    new = state["step"] > 0
    return {**update, "words": state["words"] + (count_words(state["passage"]) if new else 0)}
