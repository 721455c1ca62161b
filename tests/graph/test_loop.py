"""The loop under `invoke` and `ainvoke`, both tiers, human and simulator, over every kind of persistence."""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from recurrentgpt.schema.state import State, StoryOutput

pytestmark = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_simulator_writes_as_many_passages_as_asked_for(player, model, tier, way):
    model.tier = tier
    it = player(way, selector="simulator", steps=3)
    result = await it.begin()
    assert result["step"] == 3
    assert set(result) == set(StoryOutput.__annotations__)
    path = await it.log.get_many(result["story"], await it.log.path(result["story"], result["head"]))
    assert [commit["step"] for commit in path] == [0, 1, 2, 3]
    assert [commit["plan_author"] for commit in path] == ["", "model", "simulator", "simulator"]
    assert len({commit["passage"] for commit in path}) == 4
    assert path[-1]["passage"] == result["passage"]
    assert len(await it.links()) == 4
    assert (await it.graph.aget_state(it.config)).next == ()


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_human_is_asked_after_each_passage(in_memory, model, tier, way):
    model.tier = tier
    it = in_memory(way)
    question = await it.begin()
    assert question["step"] == 1
    assert question["passage"] == (await it.state())["passage"]
    assert len(question["candidate_plans"]) == 3
    second = await it.answer(2)
    assert second["step"] == 2
    state = await it.state()
    assert state["plan"] == state["written_plan"] == question["candidate_plans"][1]
    assert state["choice"] == {"index": 1, "by": "human", "why": ""}
    assert second["question"] == question["question"]


async def test_the_run_of_a_human_ends_after_its_steps(in_memory, way):
    it = in_memory(way, steps=2)
    await it.begin()
    result = await it.answer(1)
    assert result["step"] == 2
    assert "question" not in result
    again = await it.run({"story": result["story"]})
    assert it.question(again)["step"] == 2, "the next run asks first, then writes"


async def test_state_is_plain_json(in_memory, way):
    it = in_memory(way, selector="simulator", steps=2)
    await it.begin()
    snapshot = await it.graph.aget_state(it.config)
    values = {name: value for name, value in snapshot.values.items() if name != "messages"}
    assert json.loads(json.dumps(values)) == values
    assert [type(message) for message in snapshot.values["messages"]] == [HumanMessage, AIMessage][-1:]
    assert set(snapshot.values) <= set(State.__annotations__)


async def test_what_is_not_input_does_not_enter_the_state(in_memory, way):
    it = in_memory(way, selector="simulator", steps=1)
    result = await it.begin(passage="A smuggled passage.", step=41, messages=["Remember the lamp."], usage={"x": {}})
    assert result["step"] == 1
    state = await it.state()
    assert "smuggled" not in json.dumps(state, default=str)
    assert [message.type for message in state["messages"]] == ["human", "ai"], "the latest exchange, and no more"
