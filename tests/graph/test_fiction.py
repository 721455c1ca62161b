"""Interactive fiction: the same graph, with the reader as its main character."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from recurrentgpt.graph.story import Graph, build_step_graph, build_story_graph
from recurrentgpt.models.embedded.catalogue import Tier
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.context import Context
from recurrentgpt.testing import ScriptedChatModel, story_replies

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


READER = "Du bist Marta Quill, Revisorin der Hafenbank."
KNOWN = ["Die Bank hat gestern geschlossen.", "Onno Behr hat den Schl\u00fcssel."]
PLANS = ["Du fragst Onno Behr nach dem Schl\u00fcssel.", "Du gehst in den Keller.", "Du schreibst der Aufsicht."]


def in_german(memory: list[str]) -> Callable[[list[BaseMessage]], str]:
    """Return the replies of a model that founds a story in German."""

    def replies(messages: list[BaseMessage]) -> str:
        text = story_replies(messages)
        reply = json.loads(text) if text.startswith("{") else {}
        if "short_term_memory" in reply:
            reply |= {"short_term_memory": memory, "plans": PLANS}
        return json.dumps(reply) if reply else text

    return replies


@pytest.mark.parametrize("player", ["Marta Quill, eine Revisorin", ""])
def test_a_story_in_another_language_is_told_of_its_reader_in_no_english(graph: Graph, player: str) -> None:
    model = ScriptedChatModel(tier="full", replies=in_german([READER, *KNOWN]))
    played = context(model, language="German", selector="simulator", steps=1)
    state = graph.invoke({"genre": "Krimi", "player": player}, THREAD, context=played)
    assert state["step"] == 1
    prompts = asked(model)
    assert not [prompt for prompt in prompts if '"You' in prompt or "You are" in prompt.replace("You are the narr", "")]
    (writing,) = [prompt for prompt in prompts if prompt.endswith("no title, no heading, no comment.")]
    assert f"what has happened so far:\n1. {READER}\n2. {KNOWN[0]}\n3. {KNOWN[1]}\n\n" in writing
    assert not player or f"The reader decides:\n{READER}\n\nTell what" in writing
    assert [prompt for prompt in prompts if "The sentence that says who the reader is stays first.\n" in prompt]
    assert [prompt for prompt in prompts if "sentences, speaks to the reader as the story does, is one act" in prompt]
    chosen = [prompt for prompt in prompts if "sentences that speak to the reader as the choices do, more" in prompt]
    assert bool(chosen) is not bool(player), "whoever has said who to be is asked for nothing before the first passage"


def test_the_reader_of_a_story_in_english_is_you(graph: Graph) -> None:
    model = ScriptedChatModel(tier="full", replies=in_german(["You are Marta Quill, an auditor.", *KNOWN]))
    played = context(model, selector="simulator", steps=2)
    state = graph.invoke({"genre": "mystery", "player": "Marta Quill, an auditor"}, THREAD, context=played)
    assert state["short_term_memory"].splitlines()[0] == "You are Marta Quill, an auditor."
    told = "\n".join(asked(model))
    assert "The reader decides:\nYou are Marta Quill, an auditor. The story begins.\n" in told
    for said in (
        'the first says who the reader is and begins with "You are"\n',
        'one or two sentences each, beginning with "You"; each matters',
        'Each is one or two sentences, begins with "You", is one act',
        'The sentence that begins with "You are" stays first and says who the reader is. ',
        'in one to three sentences that begin with "You", more definite',
    ):
        assert said.rstrip() in told


def test_who_the_reader_is_is_said_where_a_model_has_not_said_it(graph: Graph) -> None:
    model = ScriptedChatModel(tier="full", replies=in_german([]))
    played = context(model, language="German", selector="simulator", steps=1)
    graph.invoke({"genre": "Krimi", "player": "Marta Quill, eine Revisorin"}, THREAD, context=played)
    writing = next(prompt for prompt in asked(model) if prompt.endswith("no title, no heading, no comment."))
    reader = "You are Marta Quill, eine Revisorin."
    assert f"what has happened so far:\n1. {reader}\n\nThe reader decides:\n{reader}\n\nTell" in writing


def test_who_the_reader_is_is_not_forgotten_in_another_language(graph: Graph) -> None:
    long = [f"Onno Behr z\u00e4hlte am {day}. Mai {day} graue Steine." for day in range(1, 31)]
    found, calls = in_german([READER, *KNOWN]), []

    def replies(messages: list[BaseMessage]) -> str:
        text = found(messages)
        reply = json.loads(text) if text.startswith("{") else {}
        if "drop" not in reply:
            return text
        calls.append(reply)
        return json.dumps({**reply, "drop": [], "replace": [], "add": long})

    model = ScriptedChatModel(tier="full", replies=replies)
    played = context(model, language="German", selector="simulator", steps=3)
    state = graph.invoke({"genre": "Krimi", "player": "Marta Quill, eine Revisorin"}, THREAD, context=played)
    assert len(calls) >= 3
    assert len(state["short_term_memory"].splitlines()) == 20
    assert state["short_term_memory"].splitlines()[0] == READER


@pytest.mark.parametrize("given", [
    {"premise": "A haunted hotel in winter."}, {"messages": [("user", "A haunted hotel in winter.")]}, {},
])  # fmt: skip
def test_a_chat_is_asked_who_plays_with_the_people_to_choose_from(graph: Graph, given: dict[str, Any]) -> None:
    model = ScriptedChatModel(tier="full")
    state = graph.invoke(given, THREAD, context=context(model))
    asked_in_chat = state["messages"][-1]
    assert asked_in_chat.type == "ai"
    assert asked_in_chat.text.startswith("Who are you? Choose somebody by number, or say it in a sentence.\n\n1. ")
    assert all(person in asked_in_chat.text for person in state["candidate_plans"])
    assert state["__interrupt__"][0].value["question"] in asked_in_chat.text

    others = graph.invoke(Command(resume="new plans"), THREAD, context=context(model))
    assert others["messages"][-1].text.startswith("Who are you?")
    assert all(person in others["messages"][-1].text for person in others["candidate_plans"])

    state = graph.invoke({"messages": [("user", "2")]}, THREAD, context=context(model))
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert state["messages"][-1].text.startswith(state["passage"])


def test_one_step_of_a_story_to_play_asks_who_plays() -> None:
    model, step = ScriptedChatModel(tier="full"), build_step_graph(store=InMemoryStore())
    state = step.invoke({"premise": "A haunted hotel in winter."}, context=context(model))
    assert state["messages"][-1].text.startswith("Who are you?")


def test_nobody_is_asked_who_plays_where_it_was_said_or_the_simulator_chooses(graph: Graph) -> None:
    model = ScriptedChatModel(tier="full")
    for number, played in enumerate(({"selector": "human"}, {"selector": "simulator", "steps": 1})):
        given = {} if played["selector"] == "simulator" else {"player": "a thief"}
        thread: Any = {"configurable": {"thread_id": str(number)}}
        parts = graph.stream(given, thread, context=context(model, **played), stream_mode="updates")
        said = [part["commit"]["messages"] for part in parts if "messages" in (part.get("commit") or {})]
        assert len(said) == 1, "the passage, and no question before it"


@pytest.mark.parametrize("way", ["chat", "resume"])
@pytest.mark.parametrize("opening", [{}, {"player": "a thief"}], ids=["at the opening", "after a passage"])
def test_end_is_answered_with_one_message_that_the_story_is_kept(
    graph: Graph, opening: dict[str, Any], way: str
) -> None:
    model = ScriptedChatModel(tier="full")
    begun = graph.invoke(opening, THREAD, context=context(model))
    end: Any = {"messages": [("user", "end")]} if way == "chat" else Command(resume="end")
    ended = graph.invoke(end, THREAD, context=context(model))
    assert (ended["status"], ended["step"]) == ("finished", begun["step"])
    assert [(message.type, message.text[:40]) for message in ended["messages"]] == [
        ("human", "end"), ("ai", "Nothing was written: the story is kept a"),
    ]  # fmt: skip
    again = graph.invoke({"messages": [("user", "2")]}, THREAD, context=context(model))
    assert again["step"] == begun["step"] + 1


async def test_a_subagent_asks_who_plays_and_tells_that_the_story_is_kept() -> None:
    deepagents = pytest.importorskip("deepagents")
    model = ScriptedChatModel(tier="full")
    settings = {"mode": "fiction", "model": model, "embeddings": HashEmbeddings()}
    teller = deepagents.CompiledSubAgent(
        name="teller", description="Plays a story.", runnable=build_story_graph(defaults=settings)
    )
    task = {"description": "A haunted hotel in winter.", "subagent_type": "teller"}

    class Calling(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    replies = iter([AIMessage("", tool_calls=[{"name": "task", "args": task, "id": "1"}]), AIMessage("done")])
    host = deepagents.create_deep_agent(
        Calling(messages=replies), subagents=[teller], checkpointer=InMemorySaver(), store=InMemoryStore()
    )
    asked_of = await host.ainvoke({"messages": "Play."}, THREAD)
    assert asked_of["__interrupt__"][0].value["question"].startswith("Who are you?")
    left = await host.ainvoke(Command(resume="end"), THREAD)
    (told,) = [message.text for message in left["messages"] if message.type == "tool"]
    assert told.startswith("Nothing was written: the story is kept as it stands")


@pytest.mark.parametrize(("given", "told"), [({}, "Who are you?"), ({"player": "a thief"}, "")])
def test_a_thread_that_opens_a_story_by_its_id_is_told_where_it_stands(
    graph: Graph, given: dict[str, Any], told: str
) -> None:
    model = ScriptedChatModel(tier="full")
    begun = graph.invoke(given, THREAD, context=context(model))
    other: Any = {"configurable": {"thread_id": "another"}}
    opened = graph.invoke({"story": begun["story"]}, other, context=context(model))
    (message,) = opened["messages"]
    assert message.type == "ai"
    assert message.text.startswith(told or begun["passage"])
    assert all(plan in message.text for plan in begun["candidate_plans"])
    after = graph.invoke(Command(resume=1), other, context=context(model))
    assert [message.type for message in after["messages"]] == ["human", "ai"]
    assert after["messages"][-1].text.startswith(after["passage"])
