"""The graphs of a story, assembled from the verbs in `recurrentgpt.nodes`: one chain each, like Figure 1 of the paper."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import deepcopy
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import NodeBuilder
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, RetryPolicy

from recurrentgpt.models.endpoint_errors import is_silence, is_transient
from recurrentgpt.nodes.commit import commit
from recurrentgpt.nodes.open_story import open_story
from recurrentgpt.nodes.propose_plans import propose_plans
from recurrentgpt.nodes.retrieve import retrieve
from recurrentgpt.nodes.routes import (
    Route,
    after_choice,
    after_commit,
    after_memory,
    after_one_step,
    after_opening,
    after_write,
)
from recurrentgpt.nodes.select_plan import select_plan
from recurrentgpt.nodes.simulator import simulator
from recurrentgpt.nodes.update_memory import update_memory
from recurrentgpt.nodes.write import write
from recurrentgpt.schema.context import GRAPH_DEFAULTS, GRAPH_STORE, NO_DEFAULTS, Context, OwnStore, context_schema
from recurrentgpt.schema.state import State, StoryInput, StoryOutput

Graph = CompiledStateGraph[State, Context, StoryInput, StoryOutput]

RECURSION_LIMIT = 1_000_000
"""LangGraph's own limit of 10,007 super-steps would end a long novel."""

RETRY = RetryPolicy(initial_interval=1.0, backoff_factor=2.0, max_interval=30.0, max_attempts=5, retry_on=is_transient)
"""For faults that may pass (rate limits, time-outs, server errors), in one place; clients do not retry by themselves."""


MOST_SILENCES = 3
"""Tries of a node whose model lets the timeout pass: each may cost a whole prompt."""


def retries(retry: RetryPolicy) -> list[RetryPolicy]:
    """Return how often a node is tried: as `retry` says, and fewer times where the model lets the timeout pass."""
    return [retry._replace(max_attempts=min(MOST_SILENCES, retry.max_attempts), retry_on=is_silence), retry]


def build_story_graph(
    *,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    retry: RetryPolicy = RETRY,
    defaults: Mapping[str, Any] = NO_DEFAULTS,
    name: str = "recurrentgpt",
) -> Graph:
    """Return the graph that writes a story passage by passage, with a human or a simulator at the choice.

    Without `checkpointer` and `store` the host supplies them; it needs both, the first for the human's turn. Inside another
    graph the host's store is taken, and `store` where that has none. `defaults` are settings of `Context` that hold where a run
    says nothing else.
    """
    graph = (
        timestep(retry, defaults)
        .add_node("select_plan", select_plan)
        .add_node("simulator", simulator)
        .add_conditional_edges("open_story", after_opening)
        .add_conditional_edges("commit", after_commit)
        .add_conditional_edges(
            "select_plan",
            Route(after_choice),
            ["commit", "open_story", "propose_plans", "retrieve", "select_plan", "simulator"],
        )
        .add_edge("simulator", "retrieve")
        .compile(checkpointer=checkpointer, store=store, name=name)
    )
    return _bound(graph, defaults)


def build_step_graph(
    *,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    retry: RetryPolicy = RETRY,
    defaults: Mapping[str, Any] = NO_DEFAULTS,
    name: str = "recurrentgpt_step",
) -> Graph:
    """Return the graph of one timestep, for hosts that drive the loop themselves.

    The first call opens the story and writes its first passage; every later one takes `story` and the chosen `plan`. The
    rest is as in `build_story_graph`.
    """
    ways: dict[Hashable, str] = {node: node for node in ("commit", "propose_plans", "retrieve", "update_memory", END)}
    # The choice is the host's.
    ways |= {"select_plan": END, "simulator": END}
    graph = (
        timestep(retry, defaults)
        .add_conditional_edges("open_story", after_opening, ways)
        .add_conditional_edges("commit", after_one_step)
        .compile(checkpointer=checkpointer, store=store, name=name)
    )
    return _bound(graph, defaults)


def timestep(retry: RetryPolicy, defaults: Mapping[str, Any]) -> StateGraph[State, Context, StoryInput, StoryOutput]:
    """Return what both graphs share: Figure 1 of the paper, from the opening to the commit."""
    return (
        StateGraph(State, context_schema=context_schema(defaults), input_schema=StoryInput, output_schema=StoryOutput)
        .set_node_defaults(retry_policy=retries(retry))
        .add_node("open_story", open_story)
        .add_node("retrieve", retrieve)
        .add_node("write", write)
        .add_node("update_memory", update_memory)
        .add_node("propose_plans", propose_plans)
        .add_node("commit", commit)
        .add_edge(START, "open_story")
        .add_edge("retrieve", "write")
        .add_conditional_edges("write", Route(after_write), ["update_memory", "propose_plans"])
        .add_conditional_edges("update_memory", Route(after_memory), ["propose_plans", "commit"])
        .add_edge("propose_plans", "commit")
    )


_SHARED = tuple(name for name in StoryInput.__annotations__ if name != "plan")
"""Fields of a run's input that are fields of the state, too, where somebody may have edited them."""


class _WithWhatStood(Runnable[dict[str, Any], Any]):
    """A run's input, and as `before` what stood in the state's fields that it names."""

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the input with `before`."""
        given = input[START]
        if not isinstance(given, dict):
            return given  # LangGraph's own to refuse
        # A copy: LangGraph gives messages their ids in place, and the input may have been saved by then.
        return {**deepcopy(given), "before": {name: input.get(name) for name in _SHARED if name in given}}

    async def ainvoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Do as `invoke` does."""
        return self.invoke(input)


def _note_what_stood(graph: Graph) -> None:
    """Let the start of a run tell `open_story` what stood where its input writes."""
    start = graph.nodes[START]
    noting = NodeBuilder().subscribe_to(START).read_from(*_SHARED).do(_WithWhatStood())
    # A picture of the graph is drawn without an input.
    built = noting.write_to(before=lambda given: given.get("before") if isinstance(given, dict) else None).build()
    writer: Any = built.writers[0]
    # A tuple like those that it is joined with; an edit of the beginning, which is no input, has none.
    writer.writes = tuple(entry._replace(skip_none=True) for entry in writer.writes)
    graph.nodes[START] = start.copy(
        {"channels": built.channels, "bound": built.bound, "writers": [*start.writers, writer]}
    )


def _bound(graph: Graph, defaults: Mapping[str, Any]) -> Graph:
    """Return the graph with its recursion limit, and with its defaults and its store in its config, where nodes read them."""
    _note_what_stood(graph)
    # A plain dict: Aegra makes a deep copy of the config for each run, and where it cannot, it runs without checkpoints.
    kept: dict[str, Any] = {GRAPH_DEFAULTS: dict(defaults)}
    if isinstance(graph.store, BaseStore):
        kept[GRAPH_STORE] = OwnStore(graph.store)
    return graph.with_config({"recursion_limit": RECURSION_LIMIT, "configurable": kept})


# Without a saver and a store: a server reads them by langgraph.json, a host brings its own. Each has the name that it is served
# by, which is what lists of assistants and agents show.

graph = novel = build_story_graph(name="novel")
"""A novel, with the human's turn after every passage."""

fiction = build_story_graph(defaults={"mode": "fiction"}, name="fiction")
"""Interactive fiction: the same graph, in which the reader acts."""

novel_autonomous = build_story_graph(defaults={"selector": "simulator", "steps": 10}, name="novel_autonomous")
"""A novel that a simulator steers: ten passages unless a run asks for more."""

one_step = build_step_graph(name="one_step")
"""One timestep, for hosts that drive the loop themselves."""
