"""The graphs of a story, assembled from the verbs in `recurrentgpt.nodes`: one chain each, like Figure 1 of the paper."""

from __future__ import annotations

from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, RetryPolicy

from recurrentgpt.graph.context import Context
from recurrentgpt.graph.state import State, StoryInput, StoryOutput
from recurrentgpt.models.faults import is_transient
from recurrentgpt.nodes.commit import commit
from recurrentgpt.nodes.open_story import open_story
from recurrentgpt.nodes.propose_plans import propose_plans
from recurrentgpt.nodes.retrieve import retrieve
from recurrentgpt.nodes.routes import after_commit, after_one_step, after_opening
from recurrentgpt.nodes.run import node
from recurrentgpt.nodes.select_plan import select_plan
from recurrentgpt.nodes.simulator import simulator
from recurrentgpt.nodes.update_memory import update_memory
from recurrentgpt.nodes.write import write

Graph = CompiledStateGraph[State, Context, StoryInput, StoryOutput]

RECURSION_LIMIT = 1_000_000
"""LangGraph's own limit of 10,007 super-steps would end a long novel."""

RETRY = RetryPolicy(initial_interval=1.0, backoff_factor=2.0, max_interval=30.0, max_attempts=5, retry_on=is_transient)
"""For faults that may pass (rate limits, time-outs, server errors), in one place; clients do not retry by themselves."""


def build_story_graph(
    *, checkpointer: Checkpointer = None, store: BaseStore | None = None, retry: RetryPolicy = RETRY
) -> Graph:
    """Return the graph that writes a story passage by passage, with a human or a simulator at the choice.

    Without `checkpointer` and `store` the host supplies them; it needs both, the first for the human's turn.
    """
    builder = (
        _parts(retry)
        .add_node(
            "select_plan", select_plan, destinations=("retrieve", "open_story", "propose_plans", "simulator", "commit")
        )
        .add_node("simulator", node(simulator))
        .add_conditional_edges("open_story", after_opening)
        .add_conditional_edges("commit", after_commit)
        .add_edge("simulator", "retrieve")
    )
    return _compile(builder, "recurrentgpt", checkpointer, store)


def build_step_graph(
    *, checkpointer: Checkpointer = None, store: BaseStore | None = None, retry: RetryPolicy = RETRY
) -> Graph:
    """Return the graph of one timestep, for hosts that drive the loop themselves.

    The first call opens the story and writes its first passage; every later one takes `story` and the chosen `plan`.
    """
    builder = (
        _parts(retry)
        .add_conditional_edges(
            "open_story",
            after_opening,
            {
                "commit": "commit",
                "propose_plans": "propose_plans",
                "retrieve": "retrieve",
                "select_plan": "__end__",
                "simulator": "__end__",
                "__end__": "__end__",
            },
        )
        .add_conditional_edges("commit", after_one_step)
    )
    return _compile(builder, "recurrentgpt_step", checkpointer, store)


def _parts(retry: RetryPolicy) -> StateGraph[State, Context, StoryInput, StoryOutput]:
    """Return what both graphs share: the timestep itself."""
    return (
        StateGraph(State, context_schema=Context, input_schema=StoryInput, output_schema=StoryOutput)
        .set_node_defaults(retry_policy=retry)
        .add_node("open_story", node(open_story))
        .add_node("retrieve", node(retrieve))
        .add_node("write", node(write))
        .add_node("update_memory", node(update_memory))
        .add_node("propose_plans", node(propose_plans))
        .add_node("commit", node(commit))
        .add_edge(START, "open_story")
        .add_edge("retrieve", "write")
        .add_edge("write", "update_memory")
        .add_edge("write", "propose_plans")
        .add_edge("update_memory", "commit")
        .add_edge("propose_plans", "commit")
    )


def _compile(
    builder: StateGraph[State, Context, StoryInput, StoryOutput],
    name: str,
    checkpointer: Checkpointer,
    store: BaseStore | None,
) -> Graph:
    graph: Any = builder.compile(checkpointer=checkpointer, store=store, name=name)
    compiled: Graph = graph.with_config({"recursion_limit": RECURSION_LIMIT})
    return compiled


graph = build_story_graph()
"""The main graph without a saver, for langgraph.json and for hosts."""

one_step = build_step_graph()
"""The graph of one timestep, likewise."""
