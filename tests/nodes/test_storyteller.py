"""What a small model that wears an adapter is asked: the conversation that it was taught, which grows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

import recurrentgpt.nodes.runtime as surroundings
from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.models.embedded.adapter import Adapter
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.roles import ResolvedModel, Role, aresolve_model
from recurrentgpt.nodes.reply_schemas import taught_reply
from recurrentgpt.nodes.small.seed_ideas import deal_names
from recurrentgpt.schema.context import Context
from recurrentgpt.testing import ScriptedChatModel, story_replies
from training.data import DATA, read_premises


@pytest.fixture(autouse=True)
def worn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every model wear an adapter."""

    async def resolve(role: Role, context: Context) -> ResolvedModel:
        return replace(await aresolve_model(role, context), adapter=Adapter(Path("teller.gguf")))

    monkeypatch.setattr(surroundings, "aresolve_model", resolve)


@pytest.fixture
def model(model: ScriptedChatModel) -> ScriptedChatModel:
    """Give a small scripted model."""
    model.tier = "small"
    return model


def said(call: list[Any]) -> list[str]:
    return [str(turn.text) for turn in call]


@pytest.mark.parametrize("mode", ["novel", "fiction"])
async def test_every_call_of_a_step_goes_on_from_the_passage(write: Any, model: ScriptedChatModel, mode: str) -> None:
    commits = await write(steps=2, mode=mode)
    calls = [said(call) for call in model.calls]
    written = {commit["passage"] for commit in commits[1:]}
    first, second = commits[1]["passage"], commits[2]["passage"]
    after = [call for call in calls if len(call) > 2 and call[2] in written]
    notes = [call for call in after if call[3].startswith("Note what happened in this scene")]
    assert [call[2] for call in notes] == [first, second]
    (choosing,) = [call for call in after if call[3].startswith(("Plans for the next", "Choices of the reader"))]
    assert choosing[:3] == notes[0][:3], "one conversation, so that a server reads only what is new"
    assert all(plan in choosing[3] for plan in commits[1]["candidate_plans"])
    planning = [call for call in after if " ways" in call[3] or "choices" in call[3]]
    assert [call[:3] for call in planning] == [call[:3] for call in notes]
    assert all(first not in turn for call in after if call[2] == first for turn in (call[0], call[1], call[3]))


async def test_its_plans_wait_for_the_notes(model: ScriptedChatModel) -> None:
    graph = build_story_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    context = Context(model=model, embeddings=HashEmbeddings(), selector="simulator", steps=1, min_words=100)
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    given = {"genre": "thriller", "premise": "Mira tends a lamp."}
    await graph.ainvoke(given, config, context=context, interrupt_after=["write"])
    assert (await graph.aget_state(config)).next == ("update_memory",)
    await graph.ainvoke(None, config, context=context)
    notes, plans = (said(call) for call in model.calls[-2:])
    assert notes[3].startswith("Note what happened in this scene")
    assert "Plan the next scene" in plans[3], "one after the other, so that nothing is read twice"


@pytest.mark.parametrize("told_again", [1, 3])
async def test_no_plan_is_chosen_that_tells_again_what_was_planned(model: ScriptedChatModel, told_again: int) -> None:
    graph = build_story_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    context = Context(model=model, embeddings=HashEmbeddings(), selector="simulator", steps=2, min_words=100)
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    given = {"genre": "thriller", "premise": "Mira tends a lamp."}
    await graph.ainvoke(given, config, context=context, interrupt_before=["simulator"])
    state = (await graph.aget_state(config)).values
    assert state["step"] == 1
    again = f"{state['plan']} Then the rain comes down on the roof."
    plans = [again] * told_again + ["The ferry sinks at noon.", "A stranger asks for bread."][: 3 - told_again]
    await graph.aupdate_state(config, {"candidate_plans": plans})
    await graph.ainvoke(None, config, context=context)
    (choosing,) = [said(call)[3] for call in model.calls if len(call) > 3 and "Plans for the next" in said(call)[3]]
    assert (again in choosing) is (told_again == 3), "where all do, one of them it is"
    assert ("The ferry sinks at noon." in choosing) is (told_again == 1)


@pytest.mark.parametrize(("settings", "stands"), [({}, False), ({"tense": "present"}, True)])
async def test_a_scene_that_slips_into_the_present_is_written_anew(
    write: Any, model: ScriptedChatModel, settings: dict[str, str], stands: bool
) -> None:
    slips = iter(["Clara walks to the door.\n\n"])

    def replies(messages: list[BaseMessage]) -> str:
        slip = next(slips, "") if "Write this scene" in str(messages[-1].text) else ""
        return slip + story_replies(messages)

    model.replies = replies
    scene = (await write(steps=1, **settings))[1]["passage"]
    assert scene
    assert ("Clara walks" in scene) is stands


async def test_what_stands_in_the_present_is_not_taken_back(
    model: ScriptedChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(role: Role, context: Context) -> ResolvedModel:
        # One that goes on from a reply that has begun.
        return replace(await aresolve_model(role, context), adapter=Adapter(Path("teller.gguf")), embedded=True)

    monkeypatch.setattr(surroundings, "aresolve_model", resolve)
    begun = "Clara opened the door. Otto waits in the rain. She went in and took the lamp."
    graph = build_story_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    context = Context(model=model, embeddings=HashEmbeddings(), selector="simulator", steps=1, min_words=100)
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    given = {"genre": "thriller", "premise": "Mira tends a lamp."}
    await graph.ainvoke(given, config, context=context, interrupt_before=["write"])
    there = await graph.aupdate_state(config, {"begun": begun}, as_node="retrieve")
    result = await graph.ainvoke(None, there, context=context)
    assert result["passage"].startswith(begun)


async def test_nothing_is_told_twice(write: Any, model: ScriptedChatModel) -> None:
    await write(steps=1)
    (asked,) = [said(call)[1] for call in model.calls if "Write this scene" in str(call[-1].text)]
    listed = [line.rstrip(".") for line in asked.splitlines() if line.startswith("- ")]
    assert len(listed) == len(set(listed)) > 1, "who people are is no news"


async def test_a_novel_is_founded_as_it_was_taught(write: Any, model: ScriptedChatModel) -> None:
    opening, first = await write(steps=1)
    asked = said(model.calls[0])[-1]
    assert asked.startswith("Invent a thriller novel: its title, a premise")
    assert "It is about this: Mira tends a lamp." in asked
    assert opening["candidate_plans"] == [first["plan"]], "the plan of the first scene comes with the outline"
    assert ": " in opening["short_term_memory"], "people and who they are"


async def test_whom_a_premise_names_are_who_it_says(write: Any, model: ScriptedChatModel) -> None:
    people = [
        {"name": "Liezl Varn", "who": "a surveyor, who cannot draw"},
        {"name": "Jesper", "who": "who cannot swim"},
    ]
    plan = "Liezl Varn unrolls the map, and Jesper reads it aloud."
    founded = {"title": "The Map", "premise": plan, "characters": people, "outline": [plan] * 3, "plan": plan}

    def replies(messages: list[BaseMessage]) -> str:
        return json.dumps(founded) if "Invent a" in str(messages[-1].text) else story_replies(messages)

    model.replies = replies
    opening, first = await write({"genre": "fantasy", "premise": "Surveyor Liesl Varn finds a map."}, steps=1)
    assert opening["short_term_memory"].splitlines()[:2] == ["Liesl Varn: a surveyor.", "Jesper: who cannot swim."]
    assert first["plan"] == plan.replace("Liezl", "Liesl")


async def test_people_are_dealt_where_a_premise_names_none(write: Any, model: ScriptedChatModel) -> None:
    await write({"genre": "thriller", "premise": "a lamp goes out"}, steps=1)
    (people,) = [line for line in said(model.calls[0])[-1].splitlines() if line.startswith("People: ")]
    dealt = people.removeprefix("People: ").split(", ")
    form = taught_reply(dealt).model_json_schema()["properties"]["characters"]
    bound = [person["properties"]["name"]["pattern"] for person in form["prefixItems"]]
    assert bound == [f"^{name}$" for name in dealt]
    assert len(dealt) == 3


async def test_who_plays_begins_with_the_first_scene(write: Any, model: ScriptedChatModel) -> None:
    opening, first = await write({"genre": "horror", "player": "Ilse Brandt"}, steps=1, mode="fiction")
    assert "The reader is Ilse Brandt." in said(model.calls[0])[-1]
    assert first["plan"].startswith("You are Ilse Brandt. ")
    assert "The story begins." not in first["plan"]
    assert opening["candidate_plans"] == [first["plan"]]


async def test_a_reader_is_dealt_where_nothing_is_said(write: Any, model: ScriptedChatModel) -> None:
    opening = (await write({"genre": "horror"}, steps=1, mode="fiction"))[0]
    assert len(opening["candidate_plans"]) == 3
    assert all(plan.startswith("You are ") for plan in opening["candidate_plans"])
    begins = {plan.partition(". ")[2] for plan in opening["candidate_plans"]}
    assert len(begins) == 1, "whoever it is, the first scene is the same"


async def test_who_plays_is_whom_the_premise_names(write: Any) -> None:
    opening = (await write({"genre": "horror", "premise": "You are Mira Voss, a smuggler."}, steps=1, mode="fiction"))[
        0
    ]
    assert [plan.partition(". ")[0] for plan in opening["candidate_plans"]] == ["You are Mira Voss"]


async def test_no_name_of_a_premise_is_dealt_to_who_plays(write: Any) -> None:
    told = " ".join(name.split()[0] for name in deal_names("any", 30)[:25])
    opening = (await write({"genre": "horror", "premise": f"{told} are lost."}, steps=1, mode="fiction"))[0]
    dealt = [plan.split()[2] for plan in opening["candidate_plans"]]
    assert len(dealt) == 3
    assert not set(dealt) & set(told.split())


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ({"premise": "Mira tends a lamp."}, {"language": "German"}),
        ({"short_term_memory": "Mira tends a lamp."}, {}),
        ({"short_term_memory": "You are Marta.", "premise": "A lamp goes out."}, {"mode": "fiction"}),
    ],
)
async def test_what_it_was_not_taught_to_found_is_dealt(
    write: Any, model: ScriptedChatModel, given: dict[str, str], settings: dict[str, str]
) -> None:
    opening = (await write({"genre": "thriller", **given}, steps=1, **settings))[0]
    assert "and the plan of the first scene" not in said(model.calls[0])[-1]
    assert opening["short_term_memory"].startswith(given.get("short_term_memory", ""))
    assert not any(plan.startswith("You are ") for plan in opening["candidate_plans"])


def test_the_form_of_a_founding_allows_what_was_taught() -> None:
    form = taught_reply().model_json_schema()
    patterns = {name: form["properties"][name] for name in ("title", "premise", "plan")}
    who = form["$defs"]["Person"]["properties"]["who"]["pattern"]
    outline = form["properties"]["outline"]["items"]["pattern"]
    refused = [
        text
        for story in read_premises([DATA / "premises"])
        for pattern, texts in (
            (patterns["title"]["pattern"], [story.title]),
            (patterns["premise"]["pattern"], [story.premise]),
            (patterns["plan"]["pattern"], [story.turns[0].plan]),
            (who, [person.partition(": ")[2] for person in story.characters]),
            (outline, story.outline),
        )
        for text in texts
        if not re.fullmatch(pattern, text)
    ]
    assert len(refused) < 80, f"of some 3,300 texts: {refused[:9]}"
