"""What is declared of endpoints, how they are recognised, and what each is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from docs.endpoints import PAGE, with_table
from recurrentgpt.models.calls import Meter, ask, write_stream
from recurrentgpt.models.decoding import CHOOSE, FACTS, OPEN, PLANS, WRITE
from recurrentgpt.models.embedded.server import CONTEXT
from recurrentgpt.models.profiles import EMBEDDED, PROFILES, THINKING_TOKENS, profile_named, profile_of
from recurrentgpt.models.roles import DescribedModel
from recurrentgpt.nodes.prompt_values import LARGE_WINDOW, PAST_SHARE, past_tokens
from recurrentgpt.schema.context import SAMPLING
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.testing import FaultyServer

from .calling import FACTS as FACTS_REPLY
from .calling import QUESTION, Facts, model_of, scripted


def test_the_documented_table_is_the_registry() -> None:
    assert PAGE.read_text(encoding="utf-8") == with_table(PAGE.read_text(encoding="utf-8"))


def test_every_profile_has_a_name_of_its_own_and_says_where_it_is_documented_and_what_it_was_checked_against() -> None:
    assert len({profile.name for profile in PROFILES}) == len(PROFILES)
    assert all(profile.documentation and profile.checked for profile in PROFILES)


@pytest.mark.parametrize(
    ("base_url", "model", "name"),
    [
        (None, "gpt-4o", "openai"),
        (None, "gpt-5-mini", "openai-reasoning"),
        (None, "gpt-6-luna", "openai-reasoning"),
        ("https://mine.openai.azure.com/openai/v1/", "o3", "openai-reasoning"),
        ("https://api.anthropic.com/v1/", "claude-opus-4-6", "anthropic"),
        ("https://api.anthropic.com/v1/", "claude-sonnet-5-5", "anthropic-4.7"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "gemini-2.5-flash", "gemini"),
        ("https://api.deepseek.com", "deepseek-chat", "deepseek"),
        ("https://api.mistral.ai/v1", "mistral-small", "mistral"),
        ("https://openrouter.ai/api/v1", "openai/gpt-4o", "openrouter"),
        ("http://10.0.0.7:11434/v1", "llama3.2", "ollama"),
        ("https://ollama.com/v1", "gpt-oss:120b", "ollama-cloud"),
        ("http://localhost:11434/v1", "gpt-oss:120b-cloud", "ollama-cloud"),
        ("http://localhost:11434/v1", "glm-5.2:cloud", "ollama-cloud"),
        ("http://localhost:11434/v1", "cloud:8b", "ollama"),
        ("http://localhost:1234/v1", "m", "lm-studio"),
        ("http://localhost:8000/v1", "m", "vllm"),
        ("http://localhost:8080/v1", "m", "llama.cpp"),
        ("http://localhost:9931/v1", "m", "llama.cpp"),
        ("http://localhost:9999/v1", "m", "generic"),
        ("https://notopenai.com/v1", "m", "generic"),
    ],
)
def test_an_endpoint_is_recognised_by_its_address(base_url: str | None, model: str, name: str) -> None:
    assert profile_of(base_url, model).name == name
    assert profile_named(name).name == name


def test_what_we_sample_with_reaches_the_embedded_server() -> None:
    for decoding in (WRITE, FACTS, PLANS, OPEN, CHOOSE):
        assert set(decoding.sampling) <= EMBEDDED.sampling
    assert EMBEDDED.context_window == CONTEXT


async def sent(name: str, model_name: str = "m") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the requests for an object and for prose that an endpoint with this profile gets."""
    with FaultyServer(text=FACTS_REPLY) as server:
        model = replace(model_of(server), profile=profile_named(name), name=model_name)
        await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter(), temperature=1.8, seed=3)
        options: dict[str, Any] = {
            "temperature": 1.8,
            "seed": 3,
            "stop": ["END"],
            "sampling": {"min_p": 0.1, "dry_base": 2},
        }
        assert [piece async for piece in write_stream(model, QUESTION, max_tokens=50, meter=Meter(), **options)]
    structured, prose = server.requests
    return structured, prose


def test_a_server_at_home_has_no_hosts_window() -> None:
    at_home, at_the_host = (
        DescribedModel("full", profile_of(url, "m")) for url in ("http://localhost:11434/v1", "https://ollama.com/v1")
    )
    handed_on = DescribedModel("full", profile_of("http://localhost:11434/v1", "m:cloud"))
    assert past_tokens(at_home) == 4096 // PAST_SHARE
    assert past_tokens(at_the_host) == past_tokens(handed_on) == LARGE_WINDOW // PAST_SHARE


async def test_a_seed_has_the_endpoints_own_name_or_is_not_sent() -> None:
    for name, field in [("generic", "seed"), ("mistral", "random_seed"), ("gemini", None), ("anthropic", None)]:
        _, prose = await sent(name)
        assert {"seed", "random_seed"} & set(prose) == ({field} if field else set())


async def test_a_temperature_is_lowered_to_what_can_be_set() -> None:
    assert [(await sent(name))[1].get("temperature") for name in ("generic", "anthropic", "openai-reasoning")] == [
        1.8,
        1.0,
        None,
    ]


async def test_a_form_is_asked_for_as_the_endpoint_knows_it() -> None:
    kinds, described = [], []
    for name in ("openai", "deepseek", "anthropic", "ollama", "ollama-cloud"):
        structured, _ = await sent(name)
        kinds.append(structured.get("response_format", {}).get("type"))
        described.append("JSON schema:" in structured["messages"][-1]["content"])
    assert kinds == ["json_schema", "json_object", None, "json_schema", None]
    assert described == [False, True, True, False, True]


async def test_a_model_that_thinks_is_given_tokens_for_it() -> None:
    _, prose = await sent("openai-reasoning", "o3-mini")
    assert prose["max_completion_tokens"] == 50 + THINKING_TOKENS
    assert not {"max_tokens", "stop", "temperature"} & set(prose)
    for model in ("deepseek/deepseek-r1", "google/gemini-2.5-pro", "z-ai/glm-5", "minimax/minimax-m2.5"):
        assert (await sent("openrouter", model))[1]["max_tokens"] == 50 + THINKING_TOKENS
    assert (await sent("openrouter", "openai/gpt-4o"))[1]["max_tokens"] == 50
    # Ollama has a model think that can, unless it is told not to; a server of another kind leaves that to the model's template.
    thinking = [(await sent(name, "gemma4:12b"))[1]["max_tokens"] for name in ("ollama", "ollama-cloud", "vllm")]
    assert thinking == [50 + THINKING_TOKENS, 50 + THINKING_TOKENS, 50]


async def test_further_sampling_goes_to_those_who_know_it() -> None:
    known = {name: {"min_p", "dry_base"} & set((await sent(name))[1]) for name in ("llama.cpp", "vllm", "ollama")}
    assert known == {"llama.cpp": {"min_p", "dry_base"}, "vllm": {"min_p"}, "ollama": set()}


@pytest.mark.parametrize(
    ("name", "settings", "fields"),
    [
        ("vllm", {"sampling_top_k": 40, "repetition_penalty": 1.1}, {"top_k": 40, "repetition_penalty": 1.1}),
        ("llama.cpp", {"min_p": 0.1, "repetition_penalty": 1.1}, {"min_p": 0.1, "repeat_penalty": 1.1}),
        ("lm-studio", {"sampling_top_k": 0, "repetition_penalty": 1.1}, {"top_k": 0, "repeat_penalty": 1.1}),
        ("openrouter", {"min_p": 0.1, "presence_penalty": -0.5}, {"min_p": 0.1, "presence_penalty": -0.5}),
        ("openai", {"top_p": 0.9, "frequency_penalty": 0.2}, {"top_p": 0.9, "frequency_penalty": 0.2}),
        ("mistral", {"top_p": 0.9, "presence_penalty": 0.2}, {"top_p": 0.9, "presence_penalty": 0.2}),
        ("gemini", {"temperature": 1.2, "top_p": 0.9}, {"top_p": 0.9}),
        ("ollama", {"top_p": 0.9, "frequency_penalty": 0.2}, {"top_p": 0.9, "frequency_penalty": 0.2}),
        ("anthropic", {"temperature": 0.7, "top_p": 0.9}, {"top_p": 0.9}),
        ("deepseek", {"top_p": 0.95}, {"top_p": 0.95}),
        ("openai-reasoning", {}, {}),
    ],
)
async def test_a_storys_sampling_is_sent_as_the_endpoint_calls_it(
    name: str, settings: dict[str, float], fields: dict[str, float]
) -> None:
    with FaultyServer() as server:
        model = replace(model_of(server), profile=profile_named(name))
        usual = [piece async for piece in write_stream(model, QUESTION, max_tokens=50, meter=Meter())]
        chosen = model.sampling_fields(settings)
        assert usual == [
            piece async for piece in write_stream(model, QUESTION, max_tokens=50, meter=Meter(), chosen=chosen)
        ]
    before, request = server.requests
    assert {field: value for field, value in request.items() if field not in before} == fields


async def test_what_a_story_sets_takes_the_place_of_what_its_kind_of_call_has() -> None:
    with FaultyServer() as server:
        model = replace(model_of(server), profile=EMBEDDED, embedded=True)
        chosen = model.sampling_fields({"min_p": 0.2})
        stream = write_stream(
            model, QUESTION, max_tokens=50, meter=Meter(), sampling={"min_p": 0.08, "top_k": 0}, chosen=chosen
        )
        assert [piece async for piece in stream]
    assert (server.requests[0]["min_p"], server.requests[0]["top_k"]) == (0.2, 0)


def test_the_embedded_model_knows_every_setting_of_sampling() -> None:
    with FaultyServer() as server:
        model = replace(model_of(server), profile=EMBEDDED, embedded=True)
        assert len(model.sampling_fields(dict.fromkeys(SAMPLING, 1.0))) == len(SAMPLING) - 1


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (
            "anthropic",
            {"top_p": 0.9, "min_p": 0.1},
            "takes no min_p, .* of the kind anthropic takes temperature, top_p\\.",
        ),
        ("generic", {"min_p": 0.1, "sampling_top_k": 9}, "takes no min_p and no sampling_top_k"),
        ("openai-reasoning", {"temperature": 0.7}, "takes no temperature, .* takes none of these settings"),
        (
            "anthropic-4.7",
            {"temperature": 0.7, "top_p": 0.9},
            "takes no temperature and no top_p, .* takes none of these settings",
        ),
        ("deepseek", {"temperature": 0.7}, "takes no temperature, .* takes top_p\\."),
        ("ollama", {"repetition_penalty": 1.1}, "takes no repetition_penalty"),
        ("gemini", {"presence_penalty": 0.1}, "takes no presence_penalty"),
        ("lm-studio", {"min_p": 0.1}, "takes no min_p"),
    ],
)
def test_a_storys_sampling_that_an_endpoint_does_not_know_is_refused(
    name: str, settings: dict[str, float], message: str
) -> None:
    with FaultyServer() as server, pytest.raises(SettingsError, match=message):
        replace(model_of(server), profile=profile_named(name)).sampling_fields(settings)


def test_a_chat_model_of_ones_own_takes_what_it_declares() -> None:
    model, _ = scripted()
    assert model.sampling_fields({"temperature": 0.7}) == {}
    with pytest.raises(SettingsError, match="takes no top_p"):
        model.sampling_fields({"top_p": 0.9})
