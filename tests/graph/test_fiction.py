"""Interactive fiction: the same graph, with the reader as its main character."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from recurrentgpt.graph.story import Graph, build_story_graph
from recurrentgpt.models.embedded.catalogue import Tier
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.context import Context
from recurrentgpt.testing import ScriptedChatModel

THREAD: Any = {"configurable": {"thread_id": "play"}}


@pytest.fixture
def graph() -> Graph:
    return build_story_graph(checkpointer=InMemorySaver(), store=InMemoryStore())


def context(model: ScriptedChatModel, **settings: Any) -> Context:
    return Context(mode="fiction", model=model, embeddings=HashEmbeddings(), **settings)


def asked(model: ScriptedChatModel) -> list[str]:
    return ["\n".join(str(message.text) for message in call) for call in model.calls]


@pytest.fixture(params=["full", "small"])
def tier(request: pytest.FixtureRequest) -> Tier:
    return request.param


def test_whoever_plays_is_first_asked_who_to_be(graph: Graph, tier: Tier) -> None:
    model = ScriptedChatModel(tier=tier)
    state = graph.invoke({"genre": "horror"}, THREAD, context=context(model))
    (request,) = state["__interrupt__"]
    assert request.value["step"] == 0
    assert len(request.value["candidate_plans"]) == 3
    assert len(model.calls) == 1, "nothing is written before the reader has chosen"

    own = "You are Mara Voss, a smuggler. You owe the harbour master a boat."
    state = graph.invoke(Command(resume=own), THREAD, context=context(model))
    assert (state["step"], state["plan"]) == (1, own)
    assert state["short_term_memory"].splitlines()[0] == "You are Mara Voss, a smuggler."


def test_who_the_reader_is_can_be_said_at_the_start_and_is_never_forgotten(graph: Graph, tier: Tier) -> None:
    model = ScriptedChatModel(tier=tier)
    played = context(model, selector="simulator", steps=25)
    state = graph.invoke({"genre": "horror", "player": "a reluctant astronaut"}, THREAD, context=played)
    assert state["step"] == 25
    assert state["short_term_memory"].splitlines()[0] == "You are a reluctant astronaut."
    writing = [prompt for prompt in asked(model) if "The reader decides:" in prompt]
    assert len(writing) >= 25
    assert all("You are a reluctant astronaut." in prompt for prompt in writing)


def test_a_free_action_is_taken_as_it_is(graph: Graph, tier: Tier) -> None:
    model = ScriptedChatModel(tier=tier)
    graph.invoke({"player": "a thief"}, THREAD, context=context(model))
    before = len(model.calls)
    graph.invoke(Command(resume="I bribe the guard with my mother's ring."), THREAD, context=context(model))
    assert "I bribe the guard with my mother's ring." in asked(model)[before]


def test_it_is_told_to_you_in_the_present_unless_asked_otherwise(graph: Graph, tier: Tier) -> None:
    model = ScriptedChatModel(tier=tier)
    graph.invoke({"player": "a thief"}, THREAD, context=context(model))
    assert all("in the second person and the present tense" in prompt.replace("\n", " ") for prompt in asked(model))
    other = ScriptedChatModel(tier=tier)
    told = context(other, point_of_view="first", tense="past")
    graph.invoke({"player": "a thief"}, {"configurable": {"thread_id": "other"}}, context=told)
    assert all("in the first person and the past tense" in prompt.replace("\n", " ") for prompt in asked(other))


def test_a_story_to_play_can_go_on_from_ones_own_beginning(graph: Graph, tier: Tier) -> None:
    model = ScriptedChatModel(tier=tier)
    given = {"short_term_memory": "You are Ada, a diver.\nThe bell rang under the sea."}
    state = graph.invoke(given, THREAD, context=context(model))
    assert state["step"] == 1
    assert "You are Ada, a diver." in state["short_term_memory"]


def test_style_pace_and_note_reach_what_is_written_and_planned(graph: Graph, tier: Tier) -> None:
    wishes = {"style": "spare, like a telegram", "note": "The dog must live.", "pace": "fast"}
    for mode in ("novel", "fiction"):
        model = ScriptedChatModel(tier=tier)
        told = Context(mode=mode, model=model, selector="simulator", steps=2, **wishes)
        graph.invoke({"player": "a thief"}, {"configurable": {"thread_id": mode}}, context=told)
        writing = [
            prompt for prompt in asked(model) if "spare, like a telegram" in prompt and "Several things" in prompt
        ]
        assert len(writing) >= 2
        planning = [prompt for prompt in asked(model) if "The dog must live." in prompt]
        assert len(planning) > len(writing)
