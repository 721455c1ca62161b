"""Parts for other people's agents, in the packages that those are made with."""

import json

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from recurrentgpt import Library, SettingsError, Story
from recurrentgpt.agent_tasks import asked_answer, asked_story
from recurrentgpt.agents import as_agent, as_subagent, as_tools
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.nodes.human.answers import parse_answer
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
    start, go_on, _ = as_tools(**parts)
    first = start.invoke({"premise": "A lighthouse that must stay dark."})
    second = go_on.invoke({"story": first["story"], "plan": "2"})
    assert (first["step"], second["step"], len(second["plans"])) == (1, 2, 3)
    told = Story.open(first["story"], library=parts["library"])
    assert [passage.plan for passage in told.passages()][1] == first["plans"][1]
    third = go_on.invoke({"story": first["story"], "plan": OWN})
    assert (third["step"], told.passage().plan) == (3, OWN)


@pytest.mark.parametrize("premise", ["hi", "Hello!", "help", "2", "list my stories", "thanks"])
async def test_what_begins_no_story_in_a_chat_begins_none_by_a_tool(parts, premise):
    start, *_ = as_tools(**parts)
    told = await start.ainvoke({"premise": premise, "genre": "horror"})
    assert told.startswith("Nothing was written, for this tells nothing of a story")
    assert (parts["library"].stories(), parts["model"].calls) == ([], [])


@pytest.mark.parametrize("premise", ["Dracula", "Who killed the mayor?", "Write a story", "Autopilot"])
async def test_what_begins_a_story_in_a_chat_begins_one_by_a_tool(parts, premise):
    start, *_ = as_tools(**parts)
    told = await start.ainvoke({"premise": premise})
    assert told["step"] == 1
    assert (await parts["library"].find(told["story"]))["premise"] == premise


@pytest.mark.parametrize(
    "premise",
    ["", " ", "any", "random", "Whatever you like.", "no preference", "Surprise me!", "you choose", "Up to you."],
)
async def test_a_premise_that_may_be_anything_is_made_up(parts, premise):
    start, *_ = as_tools(**parts)
    for genre in ("", "horror"):
        told = await start.ainvoke({"premise": premise, "genre": genre})
        assert told["step"] == 1
        assert (await parts["library"].find(told["story"]))["premise"] not in ("", premise)
    asked = "\n".join(str(message.text) for call in parts["model"].calls for message in call)
    assert premise not in asked or premise in ("", " ", "any")


@pytest.mark.parametrize(
    ("premise", "genre"), [("1984", ""), ("1984", "horror"), ("The End", "horror"), ("Undo", "noir")]
)
async def test_a_title_for_a_premise_begins_a_story(parts, premise, genre):
    start, *_ = as_tools(**parts)
    assert (await start.ainvoke({"premise": premise, "genre": genre}))["step"] == 1


@pytest.mark.parametrize("ask", [False, True])
async def test_a_tool_leads_a_story_to_its_close(parts, ask):
    start, _, finish = as_tools(ask=ask, **parts)
    first = await start.ainvoke({"premise": "A chess player in Riga stops in the middle of a game."})
    last = await finish.ainvoke({"story": first["story"], "passages": 2})
    assert last["step"] == 3
    assert Story.open(first["story"], library=parts["library"]).settings["length"] == 3
    assert "passages: " in finish.invoke({"story": first["story"], "passages": 9})
    assert finish.invoke({"story": "nowhere"}).startswith("There is no story 'nowhere'.")


@pytest.mark.parametrize("words", ["finish the story", "Conclude the story.", "write the ending", "end"])
async def test_a_tool_that_is_told_to_end_says_how_an_ending_is_had(parts, words):
    start, go_on, _ = as_tools(**parts)
    first = await start.ainvoke({"premise": "A chess player in Riga stops in the middle of a game."})
    told = await go_on.ainvoke({"story": first["story"], "plan": words})
    assert told.endswith("To have its ending written, say in a sentence how it ends.")
    assert [line.step for line in parts["library"].stories()] == [1]


async def test_tools_are_awaited_and_tell_a_model_what_is_wrong(parts):
    start, go_on, _ = as_tools(**parts)
    first = await start.ainvoke({"genre": "western"})
    assert "from 1 to 3" in await go_on.ainvoke({"story": first["story"], "plan": "9"})
    lost = await go_on.ainvoke({"story": "nowhere", "plan": "1"})
    assert lost == "There is no story 'nowhere'. Give the id that a reply names, or begin a story."
    assert (await go_on.ainvoke({"story": first["story"], "plan": "another take"}))["step"] == 1


def test_a_plan_is_named_by_a_number_as_well_as_by_text(parts):
    start, go_on, _ = as_tools(**parts)
    first = start.invoke({"premise": "A chess player in Riga stops in the middle of a game."})
    second = go_on.invoke({"story": first["story"], "plan": 2})
    assert second["step"] == 2
    assert Story.open(first["story"], library=parts["library"]).passage().plan == first["plans"][1]
    assert go_on.tool_call_schema.model_json_schema()["properties"]["plan"]["anyOf"] == [
        {"type": "string"}, {"type": "integer"},
    ]  # fmt: skip


async def test_wrong_arguments_are_told_in_a_sentence(parts):
    go_on = as_tools(**parts)[1]
    told = "continue_story cannot use these arguments. plan: Field required."
    assert go_on.invoke({"story": ID}) == await go_on.ainvoke({"story": ID}) == told
    assert "plan: This is true or false, and no number." in go_on.invoke({"story": ID, "plan": True})


async def test_an_argument_that_a_tool_does_not_have_is_refused(parts):
    start, go_on, _ = as_tools(**parts)
    told = "start_story has no argument 'chapters': it takes premise, genre"
    given = {"premise": "A ship of glass.", "chapters": "German"}
    assert start.invoke(given).startswith(told)
    assert (await start.ainvoke(given)).startswith(told)
    assert "no argument 'story_id': it takes story, plan." in go_on.invoke({"story_id": ID, "story": ID, "plan": "1"})
    assert "no argument 'plan': it takes story." in as_tools(ask=True, **parts)[1].invoke({"story": ID, "plan": "1"})
    assert not parts["library"].stories()


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
    lost = (await agent.ainvoke({"messages": "Story 000000000000: 2"}))["messages"][-1].text
    assert lost == "There is no story '000000000000'. Give the id that a reply names, or begin a story."


async def test_a_mistyped_id_is_told_once_and_the_thread_keeps_its_story(parts):
    agent, messages = as_agent(**parts), []

    async def says(text):
        messages[:] = (await agent.ainvoke({"messages": [*messages, HumanMessage(text)]}))["messages"]
        return messages[-1].text

    await says("A chess player in Riga stops in the middle of a game.")
    (line,) = parts["library"].stories()
    assert (await says("Story 12345678abcd: 2")).startswith("There is no story '12345678abcd'")
    # A supervisor that hands over once more in the same turn says nothing else.
    messages.append(AIMessage("Once more.", name="supervisor"))
    assert (await agent.ainvoke({"messages": messages}))["messages"][-1].text.startswith("There is no story")
    story = await Story.aopen(line.story, library=parts["library"])
    assert f"Story {line.story}: passage 2" in await says("2")
    assert (await story.apassage()).plan == (await story.apassage(1)).plans[1]
    assert f"Story {line.story}: passage 3" in await says("The chess player goes home.")


async def test_a_thread_that_began_with_a_mistyped_id_may_begin_a_story(parts):
    agent = as_agent(**parts)
    lost = (await agent.ainvoke({"messages": "Story 12345678abcd: 2"}))["messages"]
    premise = "A chess player in Riga stops in the middle of a game."
    await agent.ainvoke({"messages": [*lost, HumanMessage(premise)]})
    (line,) = parts["library"].stories()
    assert line.step == 1


ID = "0123456789ab"
PLANS = ["The tower freezes.", "Oswin sings.", "Edda leaves."]


@pytest.mark.parametrize("task", [
    "Continue story {} with plan 2.", "Continue story {} using option 2", "For story {}, choose plan 2",
    "Please continue story {} with plan 2", "Story ID: {}. Choose plan 2.", "story_id={} plan=2", "Story {}: plan 2, please",
    "Story ID: {}\nPlan: 2", "story_id: {}, plan: 2", '{{"story_id": "{}", "plan": "2"}}', '{{"story": "{}", "number": 2}}',
    "Continue the story with ID {} by choosing plan 2. Write the next passage.", "STORY {}: 2", "{}: 2",
    "Please continue the story (ID: {}) using plan number 2 and return the next passage along with new plans.",
    "Write the next passage of story {} following plan 2.", "For story {}, proceed with option 2.",
    "Use plan 2 to continue story {}", "Take the second plan and continue story {}.", "Choose plan 2 for story `{}`.",
    "Continue {} with plan 2", 'Continue the story "The Lamp" (story {}) with plan 2.', "Story {} - plan 2",
    "Continue the story 'The Lamp' (id: {}). Use plan 2.", "Using story {}, write passage 3 with plan 2",
    "I would like to go with the second plan in story {}", "The user picked plan 2 for story {}.",
    "For the story with id {}, the user chose plan 2. Write the next passage.", "Continue story {}. Selected plan: 2",
    "Task: continue story {}\nPlan number: 2\nReturn: the passage and plans", "Story {}: Oswin sings.",
    "Please write the next passage of the story with the id {}, choosing plan 2.", "Go on with story {}: 2",
    "now take plan 2", "Continue with plan 2", "Use option 2.", "plan 2 and write the next passage",
])  # fmt: skip
def test_a_plan_is_chosen_however_a_task_says_it(task):
    answer = parse_answer(asked_answer(task.format(ID), PLANS), PLANS)
    assert (answer.action, answer.index) == ("choose", 1)
    assert asked_story(task.format(ID)) == (ID if "{}" in task else None)


@pytest.mark.parametrize(("task", "action", "plan"), [
    ("In story {}, Mira dies.", "write", "Mira dies."),
    ("Continue story {} with Mira dying.", "write", "Mira dying."),
    ("Write the next passage of story {}, in which Mira dies.", "write", "Mira dies."),
    ("Story {}. What happens next: Mira dies. Return the passage and the plans.", "write", "Mira dies."),
    ("Story {}: Write a letter to Edda.", "write", "Write a letter to Edda."),
    ("Write a letter to the bishop.", "write", "Write a letter to the bishop."),
    ("What if Mira dies?", "write", "What if Mira dies?"),
    ("Then the storm breaks.", "write", "Then the storm breaks."),
    ("Continue story {} with plan 2. Keep the tone dark.", "edit", "Oswin sings. Keep the tone dark."),
    ("Continue with story {}", "simulator", ""), ("Go on with story {}.", "simulator", ""), ("Continue", "simulator", ""),
    ("Write the next passage of story {} and return it.", "simulator", ""), ('{{"story": "{}"}}', "simulator", ""),
    ("Retry the last passage of story {}", "another_take", ""), ("Story {}: another take", "another_take", ""),
    ("Give new plans for story {}", "new_plans", ""), ("Propose other plans for story {}.", "new_plans", ""),
])  # fmt: skip
def test_what_a_task_says_of_the_story_alone_is_its_answer(task, action, plan):
    answer = parse_answer(asked_answer(task.format(ID), PLANS), PLANS)
    assert (answer.action, answer.plan) == (action, plan)


@pytest.mark.parametrize("said", [
    "Thanks, that is all.", "Thank you very much!", "Read me story {} again", "Show me the plans of story {}", "Story {}: yes",
    "Summarize story {}", "What happened so far in story {}?", "Who is Mira?", "Take one",
])  # fmt: skip
async def test_thanks_questions_and_doubtful_words_write_nothing_and_are_asked_back(parts, said):
    agent = as_agent(**parts)
    begun = (await agent.ainvoke({"messages": "A lamp."}))["messages"]
    (line,) = parts["library"].stories()
    again = await agent.ainvoke({"messages": [*begun, HumanMessage(said.format(line.story))]})
    story = await Story.aopen(line.story, library=parts["library"])
    assert (await story.apassage()).step == 1
    reply = again["messages"][-1].text
    assert reply.startswith(("Nothing was written", "Did you mean plan 1?"))
    assert f"Story {story.id}: passage 1" in reply
    assert all(plan in reply for plan in story.plans)
    await agent.ainvoke({"messages": [*again["messages"], HumanMessage("now take plan 2")]})
    assert (await story.apassage()).plan == (await story.apassage(1)).plans[1]


@pytest.mark.parametrize("said", ["Write another story, about a whale.", "Please tell me a new story about a whale."])
async def test_another_story_on_the_same_thread_is_another_story(parts, said):
    agent = as_agent(**parts)
    begun = (await agent.ainvoke({"messages": "A lamp."}))["messages"]
    begun = (await agent.ainvoke({"messages": [*begun, HumanMessage(said)]}))["messages"]
    assert [line.step for line in parts["library"].stories()] == [1, 1]
    await agent.ainvoke({"messages": [*begun, HumanMessage("2")]})
    assert [line.step for line in parts["library"].stories()] == [1, 2], "the thread goes on with the newer one"


async def test_a_message_that_was_answered_is_no_answer_to_the_next_plans(parts):
    agent = as_agent(**parts)
    begun = (await agent.ainvoke({"messages": "Write another story, about a whale."}))["messages"]
    await agent.ainvoke({"messages": [*begun, AIMessage("Once more.", name="supervisor")]})
    (line,) = parts["library"].stories()
    assert line.step == 2
    story = await Story.aopen(line.story, library=parts["library"])
    assert "whale" not in (await story.apassage()).plan


async def test_whoever_cannot_ask_a_person_says_so(parts):
    agent = as_agent(ask=True, **parts)
    begun = (await agent.ainvoke({"messages": "A lamp."}))["messages"]
    reply = (await agent.ainvoke({"messages": [*begun, HumanMessage("go on")]}))["messages"][-1]
    assert (reply.type, "needs a graph with a checkpointer" in reply.text) == ("ai", True)
    (line,) = parts["library"].stories()
    tool = as_tools(ask=True, **parts)[1]
    assert "needs a graph with a checkpointer" in await tool.ainvoke({"story": line.story})
    assert "needs a graph with a checkpointer" in tool.invoke({"story": line.story})


async def test_an_agent_asks_a_person_through_its_host(parts):
    host = StateGraph(MessagesState).add_node("teller", as_agent(ask=True, **parts)).add_edge(START, "teller")
    graph = host.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"messages": "A lamp."}, config)
    assert (await graph.ainvoke({"messages": "go on"}, config))["__interrupt__"]
    await graph.ainvoke(Command(resume="2"), config)
    (line,) = parts["library"].stories()
    assert line.step == 2


async def test_yes_to_the_plan_that_an_agent_asked_about_chooses_it(parts):
    agent = as_agent(**parts)
    said = []
    for words in ("A lamp.", "how about 2", "Yes."):
        said = (await agent.ainvoke({"messages": [*said, HumanMessage(words)]}))["messages"]
    (line,) = parts["library"].stories()
    story = await Story.aopen(line.story, library=parts["library"])
    assert (await story.apassage()).plan == (await story.apassage(1)).plans[1]


@pytest.mark.parametrize("task", [
    "go on with the story", "Continue the story with plan 2 and return the passage.", "Write the next passage.", "plan 2",
    "Please continue the story with Lorcan finding the key.", "The user picked plan 2.", "What happened so far in the story?",
    "hi", "Hello! Who are you?", "list my stories", "Continue the story: Lorcan opens the door.", "Next chapter: 2",
])  # fmt: skip
async def test_a_task_that_means_a_story_and_names_none_begins_none(parts, task):
    reply = (await as_agent(**parts).ainvoke({"messages": task}))["messages"][-1].text
    assert reply.startswith("Nothing was written, for this names no story.")
    assert not parts["library"].stories()


@pytest.mark.parametrize("task", [
    "Please write the first passage and return it.", "Write a letter to the bishop.", "A short novel in which Lorcan sails.",
    "A man must continue the story of his father.", "Continue the story of Sherlock Holmes after his fall.",
    "Write this story: two sisters run a bakery.", "Write this story. Two sisters run a bakery.",
    "The next part of town is ruled by cats.",
])  # fmt: skip
async def test_a_task_that_tells_of_a_story_begins_it(parts, task):
    await as_agent(**parts).ainvoke({"messages": task})
    assert [line.step for line in parts["library"].stories()] == [1]


async def test_a_person_who_ends_is_asked_no_more(parts):
    host = StateGraph(MessagesState).add_node("teller", as_agent(ask=True, **parts)).add_edge(START, "teller")
    graph = host.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"messages": "A lamp."}, config)
    await graph.ainvoke({"messages": "go on"}, config)
    asked = await graph.ainvoke(Command(resume="stop"), config)
    assert "to end the story" in asked["__interrupt__"][0].value["problem"]
    left = await graph.ainvoke(Command(resume="end"), config)
    assert "__interrupt__" not in left
    assert left["messages"][-1].text.startswith("Nothing was written: the story is kept as it stands")
    assert [line.step for line in parts["library"].stories()] == [1]


async def test_tools_of_a_story_to_play_ask_who_plays(parts):
    start, go_on, _ = as_tools(mode="fiction", **parts)
    assert "who the player is" in start.description
    begun = await start.ainvoke({"premise": "A haunted hotel."})
    assert (begun["step"], begun["passage"]) == (0, "")
    assert begun["question"] == "Who are you? Choose somebody by number, or say it in a sentence."
    first = await go_on.ainvoke({"story": begun["story"], "plan": 2})
    assert (first["step"], first["question"]) == (1, "What do you do? Choose by number, or say it in a sentence.")
    novel = await as_tools(**parts)[0].ainvoke({"premise": "A lamp."})
    assert novel["question"].startswith("What happens next?")


async def test_an_agent_of_a_story_to_play_asks_who_plays(parts):
    agent = as_agent(mode="fiction", **parts)
    begun = (await agent.ainvoke({"messages": "A haunted hotel."}))["messages"]
    (line,) = parts["library"].stories()
    story = await Story.aopen(line.story, library=parts["library"])
    people = (await story.apassage()).plans
    asked, *offers = begun[-1].text.split("\n")
    assert asked == (
        f"Story {story.id}: {line.title}. Who are you? Choose somebody by number, or say it in a sentence."
    )
    assert offers == ["", *(f"{number}. {who}" for number, who in enumerate(people, 1))]
    begun = (await agent.ainvoke({"messages": [*begun, HumanMessage("2")]}))["messages"]
    assert (await story.apassage()).plan == people[1]
    assert f"Story {story.id}: passage 1 of {line.title}. What do you do? Choose by number" in begun[-1].text
