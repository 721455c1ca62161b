"""Parts for other people's agents, in the packages that those are made with."""

import json

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from recurrentgpt import Library, SettingsError, Story
from recurrentgpt.agents import as_agent, as_subagent, as_tools
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel

OWN = "Mira lets the last boat go by and keeps the lamp dark."


@pytest.fixture
def parts(tmp_path):
    """Give a library and the settings of stories in it."""
    with Library.open(tmp_path / "stories") as library:
        yield {"library": library, "model": ScriptedChatModel(), "embeddings": HashEmbeddings()}


class Calling(GenericFakeChatModel):
    """A model that calls tools as it is told."""

    def bind_tools(self, tools, **options):
        return self


def calls(*planned):
    """Return a model that calls these tools in turn, then says that it is done; an argument may be a function."""

    def replies():
        for number, (name, arguments) in enumerate(planned):
            args = arguments() if callable(arguments) else arguments
            yield AIMessage("", tool_calls=[{"name": name, "args": args, "id": str(number)}])
        yield AIMessage("done")

    return Calling(messages=replies())


def test_tools_write_as_their_caller_chooses(parts):
    start, go_on = as_tools(**parts)
    first = start.invoke({"premise": "A lighthouse that must stay dark."})
    second = go_on.invoke({"story": first["story"], "plan": "2"})
    assert (first["step"], second["step"], len(second["plans"])) == (1, 2, 3)
    told = Story.open(first["story"], library=parts["library"])
    assert [passage.plan for passage in told.passages()][1] == first["plans"][1]
    third = go_on.invoke({"story": first["story"], "plan": OWN})
    assert (third["step"], told.passage().plan) == (3, OWN)


async def test_tools_are_awaited_and_tell_a_model_what_is_wrong(parts):
    start, go_on = as_tools(**parts)
    first = await start.ainvoke({"genre": "western"})
    assert "from 1 to 3" in await go_on.ainvoke({"story": first["story"], "plan": "9"})
    assert "nowhere" in await go_on.ainvoke({"story": "nowhere", "plan": "1"})
    assert (await go_on.ainvoke({"story": first["story"], "plan": "another take"}))["step"] == 1


def test_tools_describe_their_parameters(parts):
    for tool in (*as_tools(**parts), *as_tools(ask=True, **parts)):
        assert all(field["description"] for field in tool.tool_call_schema.model_json_schema()["properties"].values())
    assert list(as_tools(ask=True, **parts)[1].args) == ["story"]
    with pytest.raises(SettingsError, match="plans"):
        as_tools(plans=99)


async def test_a_tool_asks_a_person_through_create_agent(parts):
    agents = pytest.importorskip("langchain.agents")
    story = Story.new(premise="A lamp.", **parts)
    story.step()
    agent = agents.create_agent(
        calls(("continue_story", {"story": story.id})), as_tools(ask=True, **parts), checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "1"}}
    result = await agent.ainvoke({"messages": "Go on."}, config)
    asked = result["__interrupt__"][0].value
    assert (asked["story"], asked["candidate_plans"]) == (story.id, story.plans)
    result = await agent.ainvoke(Command(resume="9"), config)
    assert "from 1 to 3" in result["__interrupt__"][0].value["problem"]
    result = await agent.ainvoke(Command(resume={"decisions": [{"type": "edit", "edited_action": {
        "name": "choose_plan", "args": {"number": 3}}}]}), config)  # fmt: skip
    written = json.loads(next(message.content for message in result["messages"] if message.type == "tool"))
    assert (written["step"], story.passage().plan) == (2, asked["candidate_plans"][2])


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_deepagents_gives_it_its_work_and_goes_on(parts, way):
    deepagents = pytest.importorskip("deepagents")
    found = []

    def again():
        return {"description": f"Story {found[0].id}: 2", "subagent_type": "storyteller"}

    class Model(Calling):
        def _generate(self, messages, *args, **options):
            found[:] = [Story.open(line.story, library=parts["library"]) for line in parts["library"].stories()]
            return super()._generate(messages, *args, **options)

    begin = {"description": "A lighthouse that must stay dark.", "subagent_type": "storyteller"}
    model = Model(messages=calls(("task", begin), ("task", again)).messages)
    host = deepagents.create_deep_agent(model, subagents=[as_subagent(**parts)])
    asked = {"messages": [HumanMessage("Tell me a story.")]}
    result = await host.ainvoke(asked) if way == "ainvoke" else host.invoke(asked)
    told = [message.text for message in result["messages"] if message.type == "tool"]
    (story,) = found
    first, second = story.passages()
    assert told[0].startswith(first.text)
    assert told[1].startswith(second.text)
    assert second.plan == first.plans[1]


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")  # langgraph-supervisor is made with it
async def test_a_supervisor_hands_over_to_it_turn_by_turn(parts):
    supervisors = pytest.importorskip("langgraph_supervisor")
    hand_over = ("transfer_to_storyteller", {})
    model = Calling(messages=iter([*calls(hand_over).messages, *calls(hand_over).messages]))
    host = supervisors.create_supervisor([as_agent(**parts)], model=model).compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    await host.ainvoke({"messages": "A lighthouse that must stay dark."}, config)
    result = await host.ainvoke({"messages": OWN}, config)
    (line,) = parts["library"].stories()
    assert line.step == 2
    told = Story.open(line.story, library=parts["library"]).passage()
    assert told.plan == OWN
    assert any(message.text.startswith(told.text) for message in result["messages"] if message.name == "storyteller")


async def test_an_agent_says_what_it_cannot_use(parts):
    agent = as_agent(**parts)
    begun = await agent.ainvoke({"messages": "A lamp."})
    again = await agent.ainvoke({"messages": [*begun["messages"], HumanMessage("9")]})
    assert "from 1 to 3" in again["messages"][-1].text
    assert (await agent.ainvoke({"messages": "Story 000000000000: 2"}))["messages"][-1].text
