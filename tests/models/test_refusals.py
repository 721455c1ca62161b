"""Which fields an endpoint refuses: declared first, and learnt only from a retry that succeeds."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import SystemMessage

from recurrentgpt import testing_server
from recurrentgpt.models.calls import Meter, ask, write_stream
from recurrentgpt.models.endpoint_errors import refused_fields
from recurrentgpt.models.profiles import THINKING_TOKENS, profile_named
from recurrentgpt.nodes.prompt_values import PAST_SHARE, past_tokens
from recurrentgpt.schema.errors import ModelRefused
from recurrentgpt.testing import FaultyServer
from recurrentgpt.testing_server import Behaviour

from .calling import FACTS, QUESTION, Facts, model_of, written


async def test_a_filter_that_names_fields_turns_none_of_them_off() -> None:
    with FaultyServer("filter", "ok", text=FACTS) as server:
        model = model_of(server)
        with pytest.raises(ModelRefused, match="content policy"):
            await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter(), temperature=0.5, seed=3)
        assert await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter(), temperature=0.5, seed=3)
    assert [{"response_format", "seed", "temperature"} <= set(request) for request in server.requests] == [True, True]


async def test_a_refusal_that_the_retry_meets_too_is_raised_as_it_was_and_forgotten() -> None:
    with FaultyServer("no temperature", "filter", "ok") as server:
        model = model_of(server)
        with pytest.raises(ModelRefused, match="'temperature' does not support"):
            await written(model, Meter(), temperature=0.2)
        assert await written(model, Meter(), temperature=0.2) == "TELL ME A FACT"
    assert ["temperature" in request for request in server.requests] == [True, False, True]


async def test_a_form_whose_simpler_ones_help_as_little_is_raised_as_it_was_and_forgotten() -> None:
    with FaultyServer("no schema", "no schema", "404", "ok", text=FACTS) as server:
        model = model_of(server)
        with pytest.raises(ModelRefused, match="'response_format' of this type"):
            await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter())
        assert model.seen.refused == set()
        assert await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter())
    forms = [request.get("response_format", {}).get("type") for request in server.requests]
    assert forms == ["json_schema", "json_object", None, "json_schema"]


async def test_a_field_that_was_refused_is_remembered_for_this_endpoint_alone_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with FaultyServer("no temperature") as server, FaultyServer() as other, caplog.at_level(logging.WARNING):
        for _ in range(2):
            await written(model_of(server), Meter(), temperature=0.2)
        await written(model_of(other), Meter(), temperature=0.2)
        said = [record.getMessage() for record in caplog.records if "temperature" in record.getMessage()]
        assert len(said) == 1
        assert server.base_url in said[0]
    assert ["temperature" in request for request in server.requests] == [True, False, False]
    assert "temperature" in other.requests[0]


async def test_a_field_that_somebody_asked_for_is_not_left_out() -> None:
    with FaultyServer("no temperature") as server, pytest.raises(ModelRefused, match="'temperature' does not support"):
        await written(model_of(server), Meter(), chosen={"temperature": 0.2})
    assert len(server.requests) == 1


@pytest.mark.parametrize("behaviour", ["no stream_options", "no system role"])
async def test_what_a_request_can_go_without_beside_its_fields_is_left_out_where_it_is_refused(
    behaviour: Behaviour,
) -> None:
    with FaultyServer(behaviour) as server:
        model = model_of(server)
        for _ in range(2):
            pieces = [
                piece
                async for piece in write_stream(
                    model, [SystemMessage("You write."), *QUESTION], max_tokens=50, meter=Meter()
                )
            ]
            assert "TELL ME A FACT" in "".join(pieces)
    assert len(server.requests) == 3
    if behaviour == "no system role":
        roles = [[message["role"] for message in request["messages"]] for request in server.requests]
        assert roles == [["system", "user"], ["user"], ["user"]]
        assert server.requests[1]["messages"][0]["content"] == "You write.\n\nTell me a fact"


@pytest.mark.parametrize("script", [("few tokens",), ("long thinking", "too long", "long thinking")])
async def test_tokens_to_think_with_are_asked_for_once_where_they_are_refused(script: tuple[Behaviour, ...]) -> None:
    with FaultyServer(*script) as server:
        for _ in range(2):
            with pytest.raises(ModelRefused, match="spent all of 50 tokens"):
                await written(model_of(server), Meter())
    assert [request.get("max_tokens") for request in server.requests] == [50, 50 + THINKING_TOKENS, 50]


FIELDS = ("min_p", "dry_base", "max_tokens", "temperature", "seed", "response_format")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"error": {"message": "This response_format type is unavailable now"}}, {"response_format"}),
        (
            {
                "error": {
                    "message": "Provider returned error",
                    "metadata": {"raw": '{"message":"[DeepSeek] This response_format type is unavailable now"}'},
                }
            },
            {"response_format"},
        ),
        ({"error": "'response_format.type' must be 'json_schema' or 'text'"}, {"response_format"}),
        (
            {"error": {"message": "Invalid value: 'json_schema'. Supported values are: 'json_object' and 'text'."}},
            {"response_format"},
        ),
        ({"error": {"message": "Json mode is not supported for this model."}}, {"response_format"}),
        (
            {
                "detail": [
                    {
                        "type": "literal_error",
                        "loc": ["body", "response_format", "type"],
                        "msg": "Input should be 'text' or 'json_object'",
                        "input": "json_schema",
                    }
                ]
            },
            {"response_format"},
        ),
        (
            {
                "detail": [
                    {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}
                    for name in ("min_p", "dry_base")
                ]
            },
            {"min_p", "dry_base"},
        ),
        (
            {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}},
            {"max_tokens"},
        ),
        ({"error": {"message": "temperature must be between 0 and 1"}}, set()),
        ({"error": {"message": "seed should be an integer"}}, set()),
        ({"error": {"message": "This model is unavailable now."}}, set()),
        ({"error": {"message": "Cannot use response_format here."}}, {"response_format"}),
        ({"error": {"message": "Bad request: json_schema"}}, {"response_format"}),
        ({"error": {"message": "The schema of the reply has a pattern."}}, {"response_format"}),
        ({"error": {"message": "The content filter was triggered by a schema."}}, set()),
    ],
)
def test_a_refusal_is_read_as_servers_word_it(body: dict[str, Any], fields: set[str]) -> None:
    response = httpx.Response(400, request=httpx.Request("POST", "http://localhost/v1/chat/completions"))
    error = openai.BadRequestError(f"Error code: 400 - {body}", response=response, body=body)
    assert refused_fields(error, FIELDS) == fields


async def test_tokens_to_think_with_that_another_call_had_no_room_for_are_asked_for_once() -> None:
    with FaultyServer("half thought", "few tokens", "ok", text=FACTS) as server:
        model, meter = model_of(server), Meter()
        await written(model, meter)
        assert await written(model, meter) == FACTS
        assert await written(model, meter) == FACTS
    limits = [body["max_tokens"] for body in server.requests]
    assert limits == [50, 50 + THINKING_TOKENS, 50, 50]


async def test_a_model_whose_name_says_that_it_thinks_has_fewer_tokens_for_it_where_so_many_are_refused() -> None:
    with FaultyServer("small cap", text=FACTS) as server:
        model = replace(model_of(server), name="qwen3:8b", profile=profile_named("vllm"))
        for _ in range(2):
            assert await written(model, Meter()) == FACTS
    fewer = 50 + THINKING_TOKENS // 4
    assert [request["max_tokens"] for request in server.requests] == [50 + THINKING_TOKENS, fewer, fewer]


async def test_a_model_that_thinks_keeps_its_tokens_where_the_limit_has_another_name() -> None:
    with FaultyServer("no max_tokens", text=FACTS) as server:
        model = replace(model_of(server), name="gpt-5.6-sol")
        assert await written(model, Meter()) == FACTS
    limits = [(request.get("max_tokens"), request.get("max_completion_tokens")) for request in server.requests]
    assert limits == [(50 + THINKING_TOKENS, None), (None, 50 + THINKING_TOKENS)]


async def test_a_prompt_that_leaves_few_tokens_to_think_with_takes_none_from_the_next_call() -> None:
    with FaultyServer("too long", "too long", "ok", "ok", text=FACTS) as server:
        model = replace(model_of(server), name="qwen3:8b", profile=profile_named("vllm"))
        for _ in range(2):
            assert await written(model, Meter()) == FACTS
    limits = [request["max_tokens"] - 50 for request in server.requests]
    assert limits == [THINKING_TOKENS, THINKING_TOKENS // 4, 0, THINKING_TOKENS]


@pytest.mark.parametrize("script", [("too long",), ("too long", "too long", "long thinking")])
async def test_a_prompt_that_leaves_too_few_tokens_is_refused_after_three_requests(
    script: tuple[Behaviour, ...],
) -> None:
    with FaultyServer(*script) as server:
        model = replace(model_of(server), name="qwen3:8b", profile=profile_named("vllm"))
        with pytest.raises(ModelRefused, match=r"longer than qwen3:8b can read|spent all"):
            await written(model, Meter())
    assert len(server.requests) == 3


async def test_a_form_that_ends_with_the_reasoning_is_left_out_from_then_on() -> None:
    with FaultyServer("form in reasoning", text=FACTS) as server:
        model = replace(model_of(server), profile=profile_named("lm-studio"))
        for _ in range(2):
            assert (await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter())).facts == ["The lamp went out."]
    forms = [request.get("response_format", {}).get("type") for request in server.requests]
    assert forms == ["json_schema", "json_object", None, None]
    assert "JSON schema:" in server.requests[-1]["messages"][-1]["content"]


async def test_a_window_that_holds_no_usual_limit_is_asked_for_shorter_replies() -> None:
    with FaultyServer("small window", text=FACTS) as server:
        assert await written(model_of(server), Meter(), max_tokens=4000) == FACTS
    assert [request["max_tokens"] for request in server.requests] == [4000, 2000, 1000]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            "This model's maximum context length is 4096 tokens. However, you requested 6839 tokens (2839 in the messages, "
            "4000 in the completion).",
            1257,
        ),
        (
            "'max_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 466 "
            "input tokens (4000 > 4096 - 466).",
            3630,
        ),
        ("This model's maximum context length is 4096 tokens.", None),
    ],
)
async def test_a_refusal_may_say_how_much_room_is_left(said: str, left: int | None, monkeypatch: Any) -> None:
    monkeypatch.setitem(testing_server._MESSAGES, "too long", said)
    with FaultyServer("too long", "ok", text=FACTS) as server:
        model = model_of(server)
        assert await written(model, Meter(), max_tokens=4000) == FACTS
        assert past_tokens(model) == 4096 // PAST_SHARE, "what the window holds is known from now on"
        assert await written(model, Meter(), max_tokens=5000) == FACTS
    question = len("Tell me a fact") // 4 + 1
    assert [request["max_tokens"] for request in server.requests] == [4000, left or 2000, 4096 - question]


async def test_a_prompt_that_leaves_no_room_for_a_short_reply_is_refused_as_too_long() -> None:
    with FaultyServer("too long") as server, pytest.raises(ModelRefused, match="longer than m can read"):
        await written(model_of(server), Meter(), max_tokens=4000)
    assert [request["max_tokens"] for request in server.requests] == [4000, 2000, 1000, 500]
