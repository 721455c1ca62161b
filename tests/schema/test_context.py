"""The settings: one source for what Python, the command line and every form show and refuse."""

import math

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.store.memory import InMemoryStore
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from recurrentgpt import Context, SettingsError
from recurrentgpt.graph.context_middleware import RefuseUnknownSettings
from recurrentgpt.graph.story import build_story_graph, novel
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.context import SETTINGS, STORY_SETTINGS
from recurrentgpt.studies.server.app import app as study_app
from recurrentgpt.studies.study_context import StudyContext
from recurrentgpt.testing import ScriptedChatModel, story_replies

PROPERTIES = novel.get_context_jsonschema()["properties"]


def bound(schema, key):
    """Return a bound of a property, also of one that may be left empty."""
    return next((part[key] for part in [schema, *schema.get("anyOf", [])] if key in part), None)


def test_a_form_shows_what_the_field_says():
    # Whoever runs a server's graph waits for what was asked: nothing is written ahead there.
    assert set(PROPERTIES) == {name for name, setting in SETTINGS.items() if setting.scope != "code"} - {"ahead"}
    for name, schema in PROPERTIES.items():
        setting = SETTINGS[name]
        assert schema["description"] == setting.description
        assert schema.get("unit", "") == setting.unit
        assert tuple(schema.get("enum", ())) == setting.choices
        assert bound(schema, "minimum") == setting.minimum
        assert bound(schema, "exclusiveMinimum") == setting.above
        assert bound(schema, "maximum") == setting.maximum
        assert bound(schema, "maxLength") == setting.most_characters


def test_a_form_may_send_back_what_it_was_given():
    empty = {name: schema for name, schema in PROPERTIES.items() if schema["default"] is None}
    assert {"model", "models", "base_url", "seed", "temperature"} <= set(empty)
    assert all({"type": "null"} in schema["anyOf"] for schema in empty.values())
    assert Context(**dict.fromkeys(SETTINGS)) == Context()
    assert Context(**dict.fromkeys(SETTINGS)).given == {}


def test_studio_edits_words_of_prompts_and_models_at_their_nodes():
    shown = {name: schema for name, schema in PROPERTIES.items() if "langgraph_nodes" in schema}
    assert set(shown) == {"style", "note", "model", "models"}
    assert {name for name, schema in shown.items() if schema.get("langgraph_type") == "prompt"} == {"style", "note"}
    assert all(set(schema["langgraph_nodes"]) < set(novel.nodes) for schema in shown.values())


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_words_of_prompts_reach_the_nodes_that_studio_shows_them_at(tier):
    told, asked = {"style": "Like a ledger of salt.", "note": "Keep the bell silent."}, set()
    seen = {name: set() for name in told}

    def replies(messages):
        node = get_config()["metadata"]["langgraph_node"]
        asked.add(node)
        for name, words in told.items():
            if any(words in str(message.content) for message in messages):
                seen[name].add(node)
        return story_replies(messages)

    model = ScriptedChatModel(tier=tier, replies=replies)
    context = Context(model=model, tier=tier, selector="simulator", last_step=2, embeddings=HashEmbeddings(), **told)
    graph = build_story_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    await graph.ainvoke({"premise": "A lighthouse."}, {"configurable": {"thread_id": "t"}}, context=context)
    shown = {name: set(PROPERTIES[name]["langgraph_nodes"]) for name in told}
    if tier == "full":
        # Every later call goes on from the one that writes, and so has its words before it.
        assert all(shown[name] <= seen[name] for name in told)
    else:
        # A small model's opening is dealt to it.
        assert seen == {**shown, "style": {"write"}}
    assert asked <= set(PROPERTIES["model"]["langgraph_nodes"])


def test_a_server_tells_studio_what_every_field_of_the_state_is_and_every_part_of_it():
    for name in novel.stream_channels_list:
        schema = TypeAdapter(novel.channels[name].UpdateType).json_schema()
        assert schema.get("description"), name
        parts = [schema, *schema.get("$defs", {}).values()] if name != "messages" else []
        for part, told in [it for schema in parts for it in schema.get("properties", {}).items()]:
            assert told.get("description"), f"{name}: {part}"


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.kind in (int, float)])
def test_a_number_is_refused_just_outside_its_range(name):
    setting = SETTINGS[name]
    for edge, step in ((setting.minimum, -1), (setting.maximum, 1)):
        if edge is not None:
            assert setting.checked(edge) == edge
            with pytest.raises(SettingsError, match=f"{name} is a"):
                Context(**{name: edge + step})
    if setting.above is not None:
        with pytest.raises(SettingsError, match=f"{name} is a"):
            Context(**{name: setting.above})
    if setting.kind is float:
        with pytest.raises(SettingsError, match=f"{name} is a"):
            Context(**{name: math.nan})


LINES = [name for name, setting in SETTINGS.items() if setting.most_characters and name != "banned"]


@pytest.mark.parametrize("name", LINES)
def test_a_text_is_one_line_of_its_length(name):
    most = SETTINGS[name].most_characters
    assert getattr(Context(**{name: " a \n" + "b" * (most - 2)}), name) == "a " + "b" * (most - 2)
    with pytest.raises(SettingsError, match=f"at most {most} fit"):
        Context(**{name: "b" * (most + 1)})
    with pytest.raises(SettingsError, match="control character"):
        Context(**{name: "a\x07b"})


def test_banned_phrases_are_typed_with_semicolons_or_one_a_line():
    context = Context(banned=" a  testament to;shivers down \n;; A rustle\nshivers down")
    assert context.banned == "a testament to; shivers down; A rustle"
    assert context.banned_phrases == ["a testament to", "shivers down", "A rustle"]
    assert Context(banned=context.banned).banned == context.banned
    assert Context().banned_phrases == []
    with pytest.raises(SettingsError, match="banned has 1,001 characters"):
        Context(banned="b" * 1001)


def test_a_story_keeps_its_own_settings_and_no_address():
    assert {"language", "pace", "min_words", "seed", "temperature", "top_p", "banned"} <= set(STORY_SETTINGS)
    assert not {"model", "base_url", "steps", "budget_tokens", "embeddings"} & set(STORY_SETTINGS)


async def served(path, body, method="POST", context=Context):
    async def echo(request: Request) -> JSONResponse:
        return JSONResponse({"received": await request.json()})

    app = Starlette(routes=[Route("/{path:path}", echo, methods=["POST", "PATCH"])])
    transport = httpx.ASGITransport(RefuseUnknownSettings(app, frozenset({"novel"}), context))
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        return await client.request(method, path, json=body)


@pytest.mark.parametrize("path", ["/threads/t/runs", "/runs/stream", "/runs/wait", "/threads/t/runs/crons"])
async def test_a_server_refuses_an_unknown_setting(path):
    for assistant in ("novel", "5d40e2d5-ac2c-5d38-8d34-7a4b5d1c7f9e"):
        answer = await served(path, {"assistant_id": assistant, "context": {"plnas": 5}})
        assert answer.status_code == 422
        assert "did you mean plans?" in answer.json()["detail"]


async def test_a_server_refuses_an_unknown_setting_however_it_is_given():
    config = {"configurable": {"thread_id": "t", "__x": 1, "langgraph_auth_user": {}, "x-request": "r", "plnas": 5}}
    identity = "5d40e2d5-ac2c-5d38-8d34-7a4b5d1c7f9e"
    for path, body, method in (
        ("/runs/wait", {"assistant_id": "novel", "config": config}, "POST"),
        ("/assistants", {"graph_id": "novel", "context": {"plnas": 5}}, "POST"),
        ("/assistants", {"graph_id": "novel", "config": config}, "POST"),
        (f"/assistants/{identity}", {"context": {"plnas": 5}}, "PATCH"),
    ):
        answer = await served(path, body, method)
        assert (answer.status_code, "did you mean plans?" in answer.json()["detail"]) == (422, True), body


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"premis": "A baker who cannot taste."}, "no field 'premis' in an input; did you mean premise?"),
        ({"stroy": "0123456789ab"}, "did you mean story?"),
        ({"message": ["A baker."]}, "did you mean messages?"),
        ({"brief": {"premise": "A baker who cannot taste."}}, "`brief` is a field of the state and not of an input"),
        ({"premise": "A baker.", "language": "French"}, "`language` is a setting and no field of an input: give"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/threads/t/runs/wait", "/runs/batch"])
async def test_a_server_refuses_an_input_of_which_a_field_would_be_lost(path, given, reason):
    asked = {"assistant_id": "novel", "input": given}
    answer = await served(path, [asked] if path == "/runs/batch" else asked)
    assert (answer.status_code, reason in answer.json()["detail"]) == (422, True), answer.json()


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"mode": "fiction"}, "`mode` is a setting and no field of the state"),
        ([{"title": "The Oven"}, {"length": 10}], "`length` is a setting"),
        ({"passge": "The oven is cold."}, "did you mean passage?"),
    ],
)
async def test_a_server_refuses_an_update_of_which_a_field_would_be_lost(values, reason):
    answer = await served("/threads/t/state", {"values": values})
    assert (answer.status_code, reason in answer.json()["detail"]) == (422, True), answer.json()


async def test_the_server_of_the_studies_knows_the_settings_of_a_study():
    for context, status in ((Context, 422), (StudyContext, 200)):
        answer = await served(
            "/runs/wait", {"assistant_id": "novel", "context": {"target_words": 500}}, context=context
        )
        assert answer.status_code == status
    transport = httpx.ASGITransport(study_app)
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        for name, status in (("target_words", 404), ("target_wrods", 422)):
            answer = await client.post("/runs/wait", json={"assistant_id": "rolling_1024", "context": {name: 500}})
            assert answer.status_code == status, "the app has no paths of its own"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/assistants/search", {"graph_id": "novel", "metadata": {"plnas": 5}}),
        ("/runs/wait", {"assistant_id": "novel", "config": {"configurable": {"thread_id": "t", "plans": 5}}}),
        ("/runs/wait", {"assistant_id": "novel", "config": "odd"}),
        ("/runs/wait", {"assistant_id": "novel", "context": {"plans": 5}, "input": {"premise": "x" * 100_000}}),
        ("/runs/wait", {"assistant_id": "somebody_elses", "context": {"plnas": 5}}),
        ("/runs/wait", {"assistant_id": "novel", "context": None}),
        ("/threads", {"assistant_id": "novel", "context": {"plnas": 5}}),
        ("/runs/batch", [{"assistant_id": "novel"}, "odd"]),
        (
            "/runs/wait",
            {"assistant_id": "novel", "input": {"story": "s", "passage": "sent back", "tools": [], "brief": None}},
        ),
        (
            "/runs/wait",
            {
                "assistant_id": "novel",
                "input": {"language": "a host's own"},
                "config": {"metadata": {"langgraph_node": "story"}},
            },
        ),
        ("/runs/wait", {"assistant_id": "somebody_elses", "input": {"premis": "x"}}),
        (
            "/runs/wait",
            {"assistant_id": "novel", "input": {"messages": [], "history": [1], "thread": "t", "header": 1}},
        ),
        ("/runs/wait", {"assistant_id": "novel", "input": {"premise": "x", "turns": [], "language": ""}}),
        (
            "/runs/wait",
            {"assistant_id": "novel", "input": {"head": "f" * 24, "brief": {"title": "x"}, "turns": ["done"]}},
        ),
        (
            "/runs/wait",
            {"assistant_id": "fe096781-5601-53d2-b2f6-0d3403f7e9ca", "input": {"question": "x", "language": "French"}},
        ),
        ("/threads/t/state", {"values": {"documents": ["x"], "mode": "fast"}}),
        ("/runs/wait", {"assistant_id": "novel", "input": None, "command": {"resume": 1}}),
        ("/threads/t/state", {"values": {"codex": [], "brief": {}, "written_plan": "x"}, "as_node": "commit"}),
        ("/threads/t/state", {"values": [["mode", "fiction"]]}),
        ("/threads/t/state", {"values": None}),
        ("/threads/t/state/checkpoint", {"checkpoint": {}, "values": {"mode": "x"}}),
    ],
)
async def test_a_server_is_given_every_other_request_as_it_was_sent(path, body):
    answer = await served(path, body)
    assert (answer.status_code, answer.json()) == (200, {"received": body})
