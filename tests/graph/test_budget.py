"""A budget of tokens: the run ends between two passages, and no call is made that might pass it."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from recurrentgpt.graph.story import Graph, build_story_graph
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BudgetReached
from recurrentgpt.testing import ScriptedChatModel

THREAD: Any = {"configurable": {"thread_id": "dear"}}


@pytest.fixture
def graph() -> Graph:
    return build_story_graph(checkpointer=InMemorySaver(), store=InMemoryStore())


def context(model: ScriptedChatModel, **settings: Any) -> Context:
    return Context(model=model, embeddings=HashEmbeddings(), selector="simulator", **settings)


def used(model: ScriptedChatModel, graph: Graph) -> int:
    return int(graph.get_state(THREAD).values["spent"])


def test_a_run_ends_between_two_passages_before_its_budget_is_passed(graph: Graph) -> None:
    free = ScriptedChatModel()
    graph.invoke({}, {"configurable": {"thread_id": "free"}}, context=context(free, steps=4))
    four = graph.get_state({"configurable": {"thread_id": "free"}}).values["spent"]

    model = ScriptedChatModel()
    state = graph.invoke({}, THREAD, context=context(model, steps=100, budget_tokens=3 * four))
    assert 4 < state["step"] < 100
    assert state["status"] == "choosing"
    assert used(model, graph) <= 3 * four


def test_a_call_that_might_pass_the_budget_is_not_made_and_the_story_goes_on_with_a_larger_one(graph: Graph) -> None:
    model = ScriptedChatModel()
    with pytest.raises(BudgetReached, match="larger budget"):
        graph.invoke({}, THREAD, context=context(model, steps=1, budget_tokens=900))
    assert model.calls == []
    state = graph.invoke(None, THREAD, context=context(model, steps=1))
    assert state["step"] == 1


def test_a_budget_that_ends_inside_a_step_keeps_the_passage_in_the_making(graph: Graph) -> None:
    model = ScriptedChatModel()
    budget = 4000
    while True:
        thread: Any = {"configurable": {"thread_id": f"budget {budget}"}}
        before = len(model.calls)
        try:
            graph.invoke({}, thread, context=context(model, steps=1, budget_tokens=budget))
        except BudgetReached:
            if graph.get_state(thread).values.get("passage"):
                break
            budget += 200
            continue
        pytest.fail("no budget ended inside the step")
    written = graph.get_state(thread).values["passage"]
    assert len(model.calls) > before
    state = graph.invoke(None, thread, context=context(model, steps=1))
    assert (state["step"], state["passage"]) == (1, written)
