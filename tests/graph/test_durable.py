"""Choices and steps in flight over every kind of persistence."""

import asyncio
import json

import pytest

from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.graph.story import build_story_graph

EDIT = "Zoltan owes Mira a horse."


async def test_a_choice_made_later_in_another_graph_object_goes_on_from_it(player, persistence):
    it = player()
    question = await it.begin()
    it.graph = build_story_graph(checkpointer=persistence.saver, store=persistence.store)
    (interrupt,) = (await it.graph.aget_state(it.config)).interrupts
    assert interrupt.value == question
    second = await it.answer({"number": 2, "short_term_memory": EDIT})
    assert second["step"] == 2
    state = await it.state()
    assert state["plan"] == question["candidate_plans"][1]
    assert state["previous_memory"] == EDIT


async def test_two_takes_and_an_edit_are_siblings_in_the_log(player):
    it = player()
    await it.begin()
    await it.answer({"action": "another_take"})
    await it.answer({"action": "new_plans", "short_term_memory": EDIT})
    await it.answer(1)
    state = await it.state()
    path = await it.log.get_many(state["story"], await it.log.path(state["story"], state["head"]))
    assert [commit["step"] for commit in path] == [0, 1, 2]
    assert path[1]["short_term_memory"] == EDIT
    links = await it.links()
    assert sorted(link["step"] for link in links.values()) == [0, 1, 1, 1, 2]
    assert {link["parent"] for link in links.values() if link["step"] == 1} == {path[0]["id"]}
    assert (await it.log.head(state["story"]))["head"] == state["head"]


async def test_a_long_story_keeps_its_state_and_its_prompts_small(in_memory, model):
    # A list of earlier passages as long as a window holds would go on growing behind the sixtieth.
    it = in_memory(selector="simulator", steps=60, plans=2, min_words=20, max_words=40, past_tokens=500)
    assert (await it.begin())["step"] == 60
    states = [snapshot async for snapshot in it.graph.aget_state_history(it.config) if snapshot.next == ("simulator",)]
    sizes = [len(json.dumps(snapshot.values, default=str)) for snapshot in reversed(states)]
    assert len(sizes) == 59
    assert max(sizes[30:]) < 1.2 * max(sizes[10:30])
    prompts = [sum(len(message.text) for message in call) for call in model.calls]
    assert max(prompts[120:]) < 1.2 * max(prompts[40:120])


CHILD = """
import asyncio, json, sys
from pathlib import Path
from langgraph.types import Command
from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.schema.context import Context
from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel

async def main():
    context = Context(model=ScriptedChatModel(), embeddings=HashEmbeddings())
    config = json.loads(sys.argv[2])
    async with open_persistence(folder=Path(sys.argv[1])) as place:
        graph = build_story_graph(checkpointer=place.saver, store=place.store)
        (asked,) = (await graph.aget_state(config)).interrupts
        await graph.ainvoke(Command(resume=2), config, context=context)
        values = (await graph.aget_state(config)).values
        print(json.dumps([asked.value, {name: values[name] for name in values if name != "messages"}]))

asyncio.run(main())
"""


async def test_a_choice_that_was_left_open_is_there_in_a_new_process(user_folder, context, play, warm):
    async with open_persistence(folder=user_folder) as here:
        it = play(build_story_graph(checkpointer=here.saver, store=here.store), context(), here.store)
        question = await it.begin()
        before = await it.state()
    done = await asyncio.to_thread(warm.run, "-c", CHILD, str(user_folder), json.dumps(it.config))
    assert done.returncode == 0, done.stderr
    asked, state = json.loads(done.stdout)
    assert asked == question
    assert (state["step"], state["plan"]) == (2, question["candidate_plans"][1])
    assert state["previous_passage"] == before["passage"]


async def test_a_node_that_changes_a_checkpoint_in_place_is_found(in_memory, monkeypatch):
    it = in_memory()
    await it.begin()
    retrieve = it.graph.nodes["retrieve"].bound

    spoilt = retrieve.verb
    monkeypatch.setattr(retrieve, "verb", lambda state, runtime: _spoil(spoilt, state, runtime))
    with pytest.raises(AssertionError, match="in place"):
        await it.answer(1)


async def _spoil(verb, state, runtime):
    state["rationale"]["added"].append({"sentence": "It was always so.", "why": "spoilt"})
    return await verb(state, runtime)


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_step_in_which_plans_were_asked_for_beside_the_memory_ends_as_it_began(in_memory, model, tier):
    model.tier = tier
    it = in_memory()
    await it.begin()
    before = await it.state()
    there = {
        "passage": "Mira rowed out. The lamp was lit before she came back.",
        "step": before["step"] + 1,
        "written_plan": "Mira rows out.",
        "plan": "Mira rows out.",
        "next_plan": "",
        "previous_passage": before["passage"],
        "previous_memory": before["short_term_memory"],
        "status": "writing",
    }
    await it.graph.aupdate_state(it.config, there, as_node="write")
    snapshot = await it.graph.aget_state(it.config)
    assert sorted(task.name for task in snapshot.tasks) == ["propose_plans", "update_memory"]
    commits = len(await it.links())
    await it.run(None)
    after = await it.state()
    assert (after["step"], after["passage"]) == (2, there["passage"])
    assert after["candidate_plans"] != before["candidate_plans"]
    assert len(await it.links()) == commits + 1
    assert (await it.graph.aget_state(it.config)).next == ("select_plan",)
