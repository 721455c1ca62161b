"""What each kind of endpoint accepts and how it answers: declared from its documentation, not guessed from its errors.

All of them speak OpenAI's chat completions, each with exceptions. `profile_of` recognises an endpoint by its host, else by
a port that its server listens at, else it is `generic`. To add one, write an entry in `PROFILES`; docs/endpoints.md is
made from it by `python -m docs.endpoints`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

OPENAI_HOST = "api.openai.com"

THINKING_TOKENS = 16_000
"""Tokens that a model which thinks may use for it, beside those of its reply."""

_LLAMA_CPP_SAMPLING = frozenset({
    "dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers", "min_p", "top_k", "top_p",
    "typical_p", "xtc_probability", "xtc_threshold", "presence_penalty", "frequency_penalty", "repeat_penalty", "repeat_last_n",
    "grammar",
})  # fmt: skip
_OPENAI_SAMPLING = frozenset({"top_p", "frequency_penalty", "presence_penalty"})
_VLLM_SAMPLING = frozenset({"min_p", "top_k", "top_p", "presence_penalty", "frequency_penalty"})

SPELLINGS = {"sampling_top_k": ("top_k",), "repetition_penalty": ("repetition_penalty", "repeat_penalty")}
"""What endpoints call a setting of how prose is sampled, where that is not its own name."""

_THINKING_MODELS = (
    "deepseek-r1",
    "deepseek-v4",
    "gpt-oss",
    "magistral",
    "qwen3",
    "qwq",
    "o1",
    "o3",
    "o4-mini",
    "gpt-5",
    "gpt-6",
    "gemini-2.5",
    "gemini-3",
    "glm-4.5",
    "glm-4.6",
    "glm-4.7",
    "glm-5",
    "kimi-k2-thinking",
    "kimi-k2.5",
    "kimi-k2.6",
    "minimax-m2",
)
_OLLAMA_THINKING_MODELS = (*_THINKING_MODELS, "deepseek-v3.1", "gemma4", "nemotron-3")
"""Ollama has every model think that can, also those that others let think only when they are asked to."""


@dataclass(frozen=True)
class EndpointProfile:
    """What an endpoint accepts in a request, and how it answers."""

    name: str
    documentation: str
    """Title of the page that says so."""
    checked: str
    """What the entry was last compared with: a version or a commit, and its date."""
    hosts: tuple[str, ...] = ()
    """Hosts that it answers at, each with its subdomains."""
    ports: tuple[int, ...] = ()
    """Ports that a server of this kind listens at unless it is told otherwise."""
    endings: tuple[str, ...] = ()
    """Endings of the names of the models that are its own at such a port; empty for all."""
    models: tuple[str, ...] = ()
    """Beginnings of the names of the models that it is about; empty for all."""
    structured: Literal["json_schema", "json_object", "none"] = "json_schema"
    """How a reply is held to a form by the server; without `json_schema` the schema is described in the prompt."""
    reply_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the limit of a reply is called."""
    temperature: float | None = 2.0
    """The highest temperature; None where none can be set."""
    seed: str | None = "seed"
    """What the seed is called; None where there is none."""
    stop: bool = True
    """Whether strings can be named that end a reply."""
    sampling: frozenset[str] = frozenset()
    """Further sampling fields that are sent where a kind of call has them."""
    story_sampling: frozenset[str] = _OPENAI_SAMPLING
    """Further sampling fields that a story's own settings may fill."""
    prompt_progress: bool = False
    """Whether to ask for reports on how far the prompt is read (`return_progress`)."""
    stream_usage: bool = True
    """Whether a stream is to be asked for its usage (`stream_options`); others report it unasked."""
    reasoning: tuple[str, ...] = ("reasoning_content", "reasoning")
    """Fields of a streamed delta that hold reasoning, which is no part of the reply."""
    think_tags: bool = True
    """Whether reasoning may stand in the reply itself, between `<think>` and `</think>`."""
    thinking_models: tuple[str, ...] = _THINKING_MODELS
    """Beginnings of the names of models that reason before they answer, for which a reply's limit is raised."""
    context_window: int | None = None
    """Tokens of prompt and reply together; None where it depends on the model."""

    def thinking_tokens(self, model: str) -> int:
        """Return the tokens to allow for reasoning, beside those of the reply."""
        return THINKING_TOKENS if _is_one_of(model, self.thinking_models) else 0


_LLAMA_CPP_README = "llama.cpp: HTTP server, README"
_LLAMA_CPP_CHECKED = "its README at commit 00dc805, common.h at 001d906 (undated copies, after August 2026)"
_OPENAI_CHECKED = "openai-openapi at f85dbe2, openai-python 3.3.1 (August 2026)"
_OLLAMA_CHECKED = "its source and documentation at fb30760, 0.33 (August 2026)"

EMBEDDED = EndpointProfile(
    "embedded",
    _LLAMA_CPP_README,
    _LLAMA_CPP_CHECKED,
    sampling=_LLAMA_CPP_SAMPLING,
    story_sampling=_LLAMA_CPP_SAMPLING,
    prompt_progress=True,
    thinking_models=(),
    context_window=8192,
)
GENERIC = EndpointProfile("generic", "OpenAI: Chat Completions, API reference", _OPENAI_CHECKED)

PROFILES: tuple[EndpointProfile, ...] = (
    EMBEDDED,
    EndpointProfile(
        "openai-reasoning",
        "OpenAI: Reasoning models; Deployment checklist; Chat Completions, API reference",
        _OPENAI_CHECKED,
        hosts=("openai.com", "azure.com"),
        models=("o1", "o3", "o4", "gpt-5", "gpt-6"),
        reply_limit="max_completion_tokens",
        temperature=None,
        stop=False,
        story_sampling=frozenset(),
        reasoning=(),
        think_tags=False,
        thinking_models=("o1", "o3", "o4", "gpt-5", "gpt-6"),
    ),
    EndpointProfile(
        "openai",
        "OpenAI: Chat Completions, API reference",
        _OPENAI_CHECKED,
        hosts=("openai.com", "azure.com"),
        reply_limit="max_completion_tokens",
        reasoning=(),
        think_tags=False,
        thinking_models=(),
    ),
    EndpointProfile(
        "anthropic-4.7",
        "Anthropic: OpenAI SDK compatibility; Migrating to Claude Opus 4.7",
        "these pages (November 2026)",
        hosts=("anthropic.com",),
        models=("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable"),
        structured="none",
        temperature=None,
        seed=None,
        story_sampling=frozenset(),
        reasoning=(),
        think_tags=False,
        thinking_models=(),
    ),
    EndpointProfile(
        "anthropic",
        "Anthropic: OpenAI SDK compatibility",
        "this page (November 2026)",
        hosts=("anthropic.com",),
        structured="none",
        temperature=1.0,
        seed=None,
        story_sampling=frozenset({"top_p"}),
        reasoning=(),
        think_tags=False,
        thinking_models=(),
    ),
    EndpointProfile(
        "gemini",
        "Gemini API: OpenAI compatibility",
        "reports of what it refused: a seed (February 2025), penalties (August 2026); the rest was not found",
        hosts=("googleapis.com",),
        seed=None,
        # A penalty is an unknown name to it, although its own protocol has them.
        story_sampling=frozenset({"top_p"}),
        reasoning=(),
        think_tags=False,
        thinking_models=("gemini-2.5", "gemini-3"),
    ),
    EndpointProfile(
        "deepseek",
        "DeepSeek API: Create Chat Completion; Thinking Mode",
        "these pages (November 2026)",
        hosts=("deepseek.com",),
        structured="json_object",
        # It thinks unless it is told not to, and then heeds neither a temperature nor penalties.
        temperature=None,
        seed=None,
        story_sampling=frozenset({"top_p"}),
        reasoning=("reasoning_content",),
        think_tags=False,
        thinking_models=("deepseek",),
    ),
    EndpointProfile(
        "mistral",
        "Mistral AI: Chat Completion API; Reasoning",
        "its OpenAPI description and documentation 1.7.7 (August 2026)",
        hosts=("mistral.ai",),
        temperature=1.5,
        seed="random_seed",
        stream_usage=False,
        reasoning=("content[thinking]",),
        thinking_models=("magistral",),
    ),
    EndpointProfile(
        "openrouter",
        "OpenRouter: API Reference; Parameters; Structured Outputs; Reasoning Tokens",
        "its OpenAPI description and documentation at c26125a (August 2026)",
        hosts=("openrouter.ai",),
        story_sampling=_VLLM_SAMPLING | {"repetition_penalty"},
        reasoning=("reasoning", "reasoning_content"),
    ),
    EndpointProfile(
        "ollama-cloud",
        "Ollama: OpenAI compatibility; Structured Outputs; Cloud",
        _OLLAMA_CHECKED,
        hosts=("ollama.com",),
        # A server at home hands these models on to it.
        ports=(11434,),
        endings=(":cloud", "-cloud"),
        # It passes over a form without a word.
        structured="none",
        reasoning=("reasoning",),
        thinking_models=_OLLAMA_THINKING_MODELS,
    ),
    EndpointProfile(
        "ollama",
        "Ollama: OpenAI compatibility; Thinking; Context length",
        _OLLAMA_CHECKED,
        ports=(11434,),
        reasoning=("reasoning",),
        thinking_models=_OLLAMA_THINKING_MODELS,
        # On a machine with less than 24 GiB of graphics memory, unless it is told more; what is longer is cut without a word.
        context_window=4096,
    ),
    EndpointProfile(
        "lm-studio",
        "LM Studio: Chat Completions; Structured Output; API Changelog",
        "its documentation at c6854fb, 0.4.1 (April 2026); reports on 0.4.7 to 0.4.23 (September 2026)",
        ports=(1234,),
        story_sampling=_OPENAI_SAMPLING | {"top_k", "repeat_penalty"},
    ),
    EndpointProfile(
        "vllm",
        "vLLM: OpenAI-compatible server; Reasoning outputs; Structured outputs",
        "its source: chat_completion/protocol.py at 002032e, generate/base/protocol.py at 022e555 (undated copies of 2026)",
        ports=(8000,),
        sampling=_VLLM_SAMPLING,
        story_sampling=_VLLM_SAMPLING | {"repetition_penalty"},
        reasoning=("reasoning", "reasoning_content"),
    ),
    EndpointProfile(
        "llama.cpp",
        _LLAMA_CPP_README,
        _LLAMA_CPP_CHECKED,
        # The second was announced in August 2026, and later copies of its README have it.
        ports=(8080, 9931),
        sampling=_LLAMA_CPP_SAMPLING,
        story_sampling=_LLAMA_CPP_SAMPLING,
        reasoning=("reasoning_content",),
    ),
    GENERIC,
)
"""Every known kind of endpoint; of several that fit, the first is taken."""


def profile_of(base_url: str | None, model: str) -> EndpointProfile:
    """Return the profile of the model `model` at an address; no address is OpenAI's."""
    address = urlsplit(base_url or f"https://{OPENAI_HOST}")
    host = (address.hostname or "").lower()
    for profile in PROFILES:
        at_host = any(host == known or host.endswith(f".{known}") for known in profile.hosts)
        at_port = address.port in profile.ports and (not profile.endings or model.lower().endswith(profile.endings))
        if (at_host or at_port) and (not profile.models or _is_one_of(model, profile.models)):
            return profile
    return GENERIC


def profile_named(name: str) -> EndpointProfile:
    """Return the profile of this name, `generic` where there is none."""
    return next((profile for profile in PROFILES if profile.name == name), GENERIC)


def _is_one_of(model: str, beginnings: tuple[str, ...]) -> bool:
    # Routers put the publisher before the name: `deepseek/deepseek-r1`.
    return model.lower().rpartition("/")[2].startswith(beginnings)


def as_table() -> str:
    """Return every profile as rows of Markdown, for docs/endpoints.md."""
    rows = [
        "| profile | known by | structured replies | limit | temperature | seed | stop | further sampling | "
        "sampling of a story | usage of a stream | reasoning | models that think | context | documentation | checked against |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for profile in PROFILES:
        endings = f" with a model …{' or …'.join(profile.endings)}" if profile.endings else ""
        known_by = [*profile.hosts, *(f"port {port}{endings}" for port in profile.ports)]
        models = f", models {', '.join(profile.models)}" if profile.models else ""
        reasoning = [*profile.reasoning, *(["`<think>`"] if profile.think_tags else [])]
        cells = [
            profile.name,
            (", ".join(known_by) or {"embedded": "started by the program"}.get(profile.name, "all others")) + models,
            profile.structured,
            profile.reply_limit,
            "no" if profile.temperature is None else f"to {profile.temperature:g}",
            profile.seed or "no",
            "yes" if profile.stop else "no",
            _fields(profile.sampling),
            _fields(profile.story_sampling),
            "asked for" if profile.stream_usage else "unasked",
            ", ".join(reasoning) or "not sent",
            ", ".join(profile.thinking_models) or "none",
            str(profile.context_window or "the model's"),
            profile.documentation,
            profile.checked,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _fields(names: frozenset[str]) -> str:
    return "all of llama.cpp's" if names == _LLAMA_CPP_SAMPLING else ", ".join(sorted(names)) or "no"
