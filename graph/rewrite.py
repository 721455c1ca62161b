"""What an edit needs of a timestep: the memory rewritten from a passage that is there already, and new plans if wanted."""

from __future__ import annotations

from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import RetryPolicy

from recurrentgpt.graph.story import RETRY, retries
from recurrentgpt.nodes.propose_plans import propose_plans
from recurrentgpt.nodes.update_memory import update_memory
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.state import State

RewriteGraph = CompiledStateGraph[State, Context, State, State]


def build_rewrite_graph(*, plans: bool, store: BaseStore | None = None, retry: RetryPolicy = RETRY) -> RewriteGraph:
    """Return the graph that rewrites the memory from the state's passage and, with `plans`, proposes what comes next.

    It writes nothing: the caller appends what comes back. The nodes are those of a timestep.
    """
    builder = (
        StateGraph(State, context_schema=Context)
        .set_node_defaults(retry_policy=retries(retry))
        .add_node("update_memory", update_memory)
        .add_edge(START, "update_memory")
    )
    if plans:
        builder.add_node("propose_plans", propose_plans).add_edge("update_memory", "propose_plans")
    graph: Any = builder.compile(store=store, name="recurrentgpt_rewrite")
    rewrite: RewriteGraph = graph
    return rewrite
