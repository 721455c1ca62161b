"""The graphs as a host meets them: without a saver, inside another graph, drawn, and with any context."""

import asyncio
import runpy
import threading
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from typing_extensions import TypedDict

from recurrentgpt.graph.story import build_step_graph, build_story_graph, graph, one_step
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.context import Context, resolve_context
from recurrentgpt.schema.errors import SettingsError, StoryNotFound
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_answers

ROOT = Path(__file__).parents[2]


class HostState(TypedDict, total=False):
    premise: str
    passage: str
    story: str


@dataclass
class HostContext:
    steps: int = 9
    user: str = "somebody else's field"


@pytest.fixture
def environment(monkeypatch):
    """Give a model by the environment, as a host without a context of ours has it."""
    with FaultyServer(text=story_answers) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RECURRENTGPT_MODEL", "gpt-scripted")
        yield server


def host(inner, schema=None):
    builder = StateGraph(HostState, context_schema=schema)
    builder.add_node("story", inner).add_edge(START, "story")
    return builder.compile(checkpointer=InMemorySaver(), store=InMemoryStore())


@pytest.mark.parametrize(
    ("schema", "context"),
    [(None, None), (HostContext, HostContext()), (dict, {"user": "somebody", "steps": 0}), (Context, Context())],
    ids=["none", "dataclass", "dict", "ours"],
)
async def test_it_runs_inside_a_host_with_any_context(environment, schema, context):
    outer = host(graph, schema)
    config = {"configurable": {"thread_id": "host"}}
    result = await outer.ainvoke({"premise": "Mira tends a lamp."}, config, context=context)
    question = result["__interrupt__"][0].value
    assert question["step"] == 1
    result = await outer.ainvoke(Command(resume=2), config, context=context)
    assert result["__interrupt__"][0].value["step"] == 2
    result = await outer.ainvoke(Command(resume={"action": "end"}), config, context=context)
    assert result["story"] == question["story"]
    assert result["passage"] != question["passage"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_graph_with_a_store_of_its_own_runs_inside_a_host_without_one(context, way):
    """LangGraph gives an inner graph its host's runtime, with no store where the host has none."""
    own, theirs = InMemoryStore(), InMemoryStore()
    inner = deepcopy_of_config(build_story_graph(store=own))
    config = {"configurable": {"thread_id": "host"}}
    for store, written in ((None, own), (theirs, theirs)):
        builder = StateGraph(HostState, context_schema=Context).add_node("story", inner).add_edge(START, "story")
        outer = builder.compile(checkpointer=InMemorySaver(), store=store)
        given, settings = {"premise": "Hanne tends a lamp."}, context(selector="simulator", steps=1)
        if way == "ainvoke":
            result = await outer.ainvoke(given, config, context=settings)
        else:
            result = await asyncio.to_thread(outer.invoke, given, config, context=settings)
        kept = {part for namespace in written.list_namespaces(limit=1000) for part in namespace}
        assert result["passage"]
        assert result["story"] in kept


def deepcopy_of_config(compiled):
    """Return a graph as Aegra runs it: with a deep copy of its config."""
    return compiled.copy(update={"config": deepcopy(compiled.config)})


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_deepagents_takes_a_graph_with_a_store_of_its_own_as_a_subagent(model, way):
    deepagents = pytest.importorskip("deepagents")
    subagents = pytest.importorskip("deepagents.middleware.subagents")
    inner = build_story_graph(
        store=InMemoryStore(),
        defaults={"model": model, "embeddings": HashEmbeddings(), "selector": "simulator", "steps": 1},
    )
    task = {"description": "A lighthouse that must stay dark.", "subagent_type": "teller"}

    class Calling(GenericFakeChatModel):
        def bind_tools(self, tools, **options):
            return self

    calls = AIMessage("", tool_calls=[{"name": "task", "args": task, "id": "1"}])
    host = deepagents.create_deep_agent(
        Calling(messages=iter([calls, AIMessage("done")])),
        subagents=[subagents.CompiledSubAgent(name="teller", description="Tells stories.", runnable=inner)],
        checkpointer=InMemorySaver(),
    )
    given, config = {"messages": [HumanMessage("Tell me a story.")]}, {"configurable": {"thread_id": "host"}}
    if way == "ainvoke":
        result = await host.ainvoke(given, config)
    else:
        result = await asyncio.to_thread(host.invoke, given, config)
    (told,) = [message.text for message in result["messages"] if message.type == "tool"]
    assert len(told) > 100


@pytest.mark.parametrize("given", [None, HostContext(), object(), 7])
def test_a_context_that_is_not_ours_means_the_defaults(given):
    assert resolve_context(given) == Context()


def test_a_mapping_gives_the_fields_it_has():
    assert resolve_context({"steps": 4, "user": "x", "language": None}) == Context(steps=4)


@pytest.mark.parametrize(
    "wrong",
    [{"steps": -1}, {"last_step": -1}, {"plans": 0}, {"plans": 10}, {"top_k": -1}, {"min_words": 10},
     {"min_words": 300, "max_words": 200}, {"new_character": 1.5}, {"plans": "three"},
     {"timeout": float("nan")}, {"language": 3}, {"top_k": 2.5}, {"ending": "maybe"}, {"selector": []}],
)  # fmt: skip
def test_a_setting_out_of_range_is_one_sentence(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        Context(**wrong)


def test_a_name_that_is_no_setting_gets_the_nearest():
    with pytest.raises(SettingsError, match="did you mean steps"):
        Context(stepz=3)
    with pytest.raises(SettingsError, match="the settings are "):
        Context(zzz=3)


def test_a_numeral_is_its_number():
    """Forms and environments know only text."""
    assert Context(plans="4", timeout="2.5").plans == 4
    assert resolve_context({"plans": "4"}) == Context(plans=4)


def test_every_context_field_is_described():
    import dataclasses

    assert all(field.metadata.get("description") for field in dataclasses.fields(Context))


@pytest.mark.parametrize("inner", [graph, one_step])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_without_a_store_it_says_so(inner, way, context):
    config = {"configurable": {"thread_id": "t"}}
    given, missing = {"premise": "x"}, r"compile it, or the graph that it runs in, with store="
    if way == "ainvoke":
        with pytest.raises(SettingsError, match=missing):
            await inner.ainvoke(given, config, context=context())
    else:
        with pytest.raises(SettingsError, match=missing):
            inner.invoke(given, config, context=context())


def test_exported_graphs_carry_no_saver_and_a_high_limit():
    for exported in (graph, one_step):
        assert exported.checkpointer is None
        assert exported.store is None
        assert exported.config["recursion_limit"] == 1_000_000


async def test_the_step_graph_writes_one_passage_a_call(context, model):
    store = InMemoryStore()
    step = build_step_graph(store=store)
    first = await step.ainvoke({"premise": "Mira tends a lamp."}, context=context())
    assert (first["step"], first["status"]) == (1, "choosing")
    plan = first["candidate_plans"][2]
    second = await step.ainvoke({"story": first["story"], "plan": plan}, context=context())
    assert (second["step"], second["plan"]) == (2, plan)
    calls = len(model.calls)
    again = await step.ainvoke({"story": first["story"]}, context=context())
    assert (again["step"], again["passage"]) == (2, second["passage"])
    assert len(model.calls) == calls, "without a plan there is nothing to write"
    fork = await step.ainvoke({"story": first["story"], "head": first["head"], "plan": "Bo hides."}, context=context())
    assert fork["step"] == 2
    assert fork["head"] != second["head"]


@pytest.mark.parametrize("plan", ["2", "option 2", "second", 2])
async def test_the_step_graph_understands_a_number_as_a_choice(context, plan):
    step = build_step_graph(store=InMemoryStore())
    first = await step.ainvoke({"premise": "Mira tends a lamp."}, context=context())
    second = await step.ainvoke({"story": first["story"], "plan": plan}, context=context())
    assert (second["step"], second["plan"]) == (2, first["candidate_plans"][1])


async def test_a_plan_that_was_used_is_not_told_to_be_of_no_use(context):
    step = build_step_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    config = {"configurable": {"thread_id": "t"}}
    first = await step.ainvoke({"premise": "Lorcan tends a lamp."}, config, context=context())
    for number in (2, 3):
        plan = first["candidate_plans"][number - 1]
        first = await step.ainvoke({"story": first["story"], "plan": number}, config, context=context())
        assert (first["step"], first["plan"], first["problem"]) == (number, plan, "")


@pytest.mark.parametrize("beside", [{}, {"plan": "2"}, {"plan": 2}, {"premise": " ", "genre": "", "title": None}])
@pytest.mark.parametrize("build", [build_step_graph, build_story_graph])
async def test_the_id_of_no_story_is_refused_and_begins_none(context, model, build, beside):
    store = InMemoryStore()
    built = build(checkpointer=InMemorySaver(), store=store)
    config = {"configurable": {"thread_id": "t"}}
    with pytest.raises(StoryNotFound, match=r"There is no story 'zzz': give the id of one that there is"):
        await built.ainvoke({"story": "zzz", **beside}, config, context=context())
    assert (store.search(()), model.calls) == ([], [])


@pytest.mark.parametrize("beside", [
    {"premise": "Lorcan tends a lamp."}, {"genre": "western"}, {"messages": [("user", "Lorcan tends a lamp.")]},
])  # fmt: skip
async def test_a_new_story_has_the_id_that_a_host_gives_it(context, beside):
    step = build_step_graph(store=InMemoryStore())
    first = await step.ainvoke({"story": "chat-7", **beside}, context=context())
    assert (first["story"], first["step"]) == ("chat-7", 1)


async def test_a_thread_may_name_a_new_story_by_its_own_id(context):
    step = build_step_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    config = {"configurable": {"thread_id": "t"}}
    assert (await step.ainvoke({"story": "t"}, config, context=context()))["step"] == 1


@pytest.mark.parametrize("plan", ["9", "help", {"a": 1}])
async def test_the_step_graph_says_why_it_cannot_use_a_plan_and_writes_nothing(context, model, plan):
    step = build_step_graph(store=InMemoryStore())
    first = await step.ainvoke({"premise": "Mira tends a lamp."}, context=context())
    calls = len(model.calls)
    asked = await step.ainvoke({"story": first["story"], "plan": plan}, context=context())
    assert (asked["step"], len(model.calls)) == (1, calls)
    assert asked["problem"]


@pytest.mark.parametrize("again", [{}, {"story": True}], ids=["thread alone", "with its id"])
async def test_the_step_graph_writes_the_same_plan_twice_in_a_row(context, again):
    step = build_step_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    config = {"configurable": {"thread_id": "t"}}
    first = await step.ainvoke({"premise": "Mira tends a lamp."}, config, context=context())
    story = {"story": first["story"]} if again else {}
    for number in (2, 3):
        result = await step.ainvoke({**story, "plan": "Bo hides."}, config, context=context())
        assert (result["step"], result["plan"]) == (number, "Bo hides.")
    still = await step.ainvoke({"story": first["story"]}, config, context=context())
    assert (still["step"], still["head"]) == (3, result["head"]), "without a plan there is nothing to write"


@pytest.mark.parametrize("field", ["genre", "premise", "title", "plan", "player", "short_term_memory", "messages"])
async def test_null_is_not_given(context, field):
    step = build_step_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    config = {"configurable": {"thread_id": "t"}}
    given = {"premise": "Mira tends a lamp.", field: None}
    assert (await step.ainvoke(given, config, context=context()))["step"] == 1
    reopened = {"head": None, field: None}
    assert (await step.ainvoke(reopened, config, context=context()))["step"] == 1


async def test_an_input_that_is_no_text_is_told_as_it_came(context):
    with pytest.raises(SettingsError, match=r"^The genre is text; it is 7\."):
        await build_step_graph(store=InMemoryStore()).ainvoke({"genre": 7}, context=context())


async def test_a_small_and_a_capable_model_share_a_story(context):
    """Roles may have different models, of different tiers."""
    small, full = ScriptedChatModel(tier="small"), ScriptedChatModel(tier="full")
    store = InMemoryStore()
    built = build_story_graph(store=store)
    mixed = context(model=None, models={"writer": small, "memory": small, "planner": full, "simulator": full})
    mixed.selector, mixed.steps = "simulator", 2
    result = await built.ainvoke({"premise": "Mira tends a lamp."}, context=mixed)
    assert result["step"] == 2
    assert small.calls
    assert full.calls


@pytest.mark.parametrize(("name", "drawn"), [("graph.mmd", graph), ("step-graph.mmd", one_step)])
def test_the_committed_drawing_is_not_stale(name, drawn):
    assert (ROOT / "docs" / name).read_text() == drawn.get_graph().draw_mermaid(), "run: python docs/draw.py"


def test_the_drawing_script_draws_what_is_committed(tmp_path, monkeypatch):
    drawings = runpy.run_path(str(ROOT / "docs" / "draw.py"))["drawings"]()
    assert {path.name for path in drawings} >= {"graph.mmd", "step-graph.mmd"}
    for path, text in drawings.items():
        assert path.read_text() == text


async def test_ainvoke_never_blocks_the_loop_of_its_host(context, model):
    """An embedder that computes does so elsewhere: it waits for this loop to answer, which a blocked loop cannot."""
    here, answers = asyncio.get_running_loop(), []

    class Blocking(HashEmbeddings):
        def embed_documents(self, texts):
            answered = threading.Event()
            here.call_soon_threadsafe(answered.set)
            answers.append(answered.wait(timeout=60))
            return super().embed_documents(texts)

    for tier in ("small", "full"):
        model.tier = tier
        built = build_story_graph(store=InMemoryStore())
        settings = context(embeddings=Blocking(), selector="simulator", steps=2)
        assert (await built.ainvoke({"premise": "Mira tends a lamp."}, context=settings))["step"] == 2
    assert len(answers) > 10
    assert all(answers)
