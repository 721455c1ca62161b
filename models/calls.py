"""Call a chat model: the only place that does.

Both calls stream, so that "the model said nothing for too long" is noticed by the token and not by the whole reply.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar, cast, overload
from urllib.parse import urlsplit

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import add_usage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from recurrentgpt.models.endpoint_errors import is_context_overflow, is_transient, status_of, translate
from recurrentgpt.models.json_replies import describe, json_schema, read
from recurrentgpt.models.meter import Meter, Tally, total_usage, used_tokens
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.schema.errors import ModelRefused, ModelReplyError, ModelUnavailable

__all__ = ["Meter", "ask", "is_transient", "total_usage", "used_tokens", "write_stream"]

M = TypeVar("M", bound=BaseModel)
Check = Callable[[Any], str | None]
"""Return what is wrong with a reply, in a sentence for the model, or None."""

LONGEST_TOKEN = 12
"""Characters a token may take up on average, before a reply counts as longer than its limit."""

SHOWN_REPLY = 4000
"""Most characters of an unusable reply that a repair shows to the model again."""


@dataclass
class _Request:
    """What is asked for beside the messages; None leaves it to the server."""

    max_tokens: int
    temperature: float | None = None
    seed: int | None = None
    stop: Sequence[str] | None = None
    sampling: Mapping[str, Any] | None = None
    schema: dict[str, Any] | None = None


async def write_stream(
    model: ResolvedModel,
    messages: Sequence[BaseMessage],
    *,
    max_tokens: int,
    meter: Meter,
    temperature: float | None = None,
    sampling: Mapping[str, Any] | None = None,
    seed: int | None = None,
    stop: Sequence[str] | None = None,
) -> AsyncGenerator[str]:
    """Yield the reply in pieces as they arrive; `aclose()` ends the call at the server too.

    `sampling` holds llama.cpp's own fields (`dry_multiplier`, `min_p`, ...) and reaches the embedded server only. Raises
    ModelUnavailable for faults that may pass (a cut or empty reply among them), ModelRefused for the others.
    """
    request = _Request(max_tokens, temperature, seed, stop, sampling)
    async with aclosing(_pieces(model, list(messages), request, meter)) as pieces:
        async for piece in pieces:
            yield piece


@overload
async def ask(
    model: ResolvedModel,
    messages: Sequence[BaseMessage],
    schema: type[M],
    *,
    max_tokens: int,
    meter: Meter,
    temperature: float | None = None,
    seed: int | None = None,
    sampling: Mapping[str, Any] | None = None,
    check: Callable[[M], str | None] | None = None,
    insist: bool = True,
) -> M: ...


@overload
async def ask(
    model: ResolvedModel,
    messages: Sequence[BaseMessage],
    schema: dict[str, Any],
    *,
    max_tokens: int,
    meter: Meter,
    temperature: float | None = None,
    seed: int | None = None,
    sampling: Mapping[str, Any] | None = None,
    check: Callable[[dict[str, Any]], str | None] | None = None,
    insist: bool = True,
) -> dict[str, Any]: ...


async def ask(
    model: ResolvedModel,
    messages: Sequence[BaseMessage],
    schema: type[BaseModel] | dict[str, Any],
    *,
    max_tokens: int,
    meter: Meter,
    temperature: float | None = None,
    seed: int | None = None,
    sampling: Mapping[str, Any] | None = None,
    check: Check | None = None,
    insist: bool = True,
) -> Any:
    """Return a reply that fits `schema` (a Pydantic class or a JSON schema) and that `check` has nothing against.

    A server that knows JSON schemas is held to this one; another finds it in the last message. An unusable reply is
    shown back once, with what is wrong. Raises ModelReplyError after that, and what `write_stream` raises. Without
    `insist`, a second reply that fits the schema is returned whatever `check` says.
    """
    request = _Request(max_tokens, temperature, seed, None, sampling, json_schema(schema))
    conversation, problem = list(messages), ""
    for repairing in (False, True):
        meter.resamples += repairing
        reply = "".join([piece async for piece in _pieces(model, conversation, request, meter)])
        parsed, problem = read(reply, schema)
        if not problem and check is not None and (insist or not repairing):
            problem = check(parsed) or ""
        if not problem:
            return parsed
        if meter.finish_reason == "length":
            problem += " It was cut off at the token limit: be shorter."
        conversation = [
            *messages,
            AIMessage(reply[:SHOWN_REPLY]),
            HumanMessage(f"That reply cannot be used. {problem} Reply again, with the corrected JSON object alone."),
        ]
    raise ModelReplyError(
        f"{model.name} gave no usable answer in two tries ({problem[:200].rstrip(' .')}): try again, or "
        "use a more capable model. What was written is safe."
    )


async def _pieces(
    model: ResolvedModel, messages: list[BaseMessage], request: _Request, meter: Meter
) -> AsyncGenerator[str]:
    """Yield one reply. A field that the server does not know is left out, for this call and every later one."""
    rejected = _REJECTED.setdefault((getattr(model.chat, "openai_api_base", None), model.name), set())
    while True:
        try:
            async with aclosing(_attempt(model, messages, request, meter, frozenset(rejected))) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except Exception as error:
            # Our own server knows every field: what it refuses is a fault of ours, and goes without a schema in no other call.
            field_name = _rejected_field(error) if model.speaks_openai and not model.embedded else None
            if field_name is not None and field_name not in rejected:
                rejected.add(field_name)
                continue
            if (fault := translate(error, model)) is None:
                raise
            # The client's exception quotes the response and knows the request's headers: it is not shown.
            raise fault from None


async def _attempt(
    model: ResolvedModel, messages: list[BaseMessage], request: _Request, meter: Meter, rejected: frozenset[str]
) -> AsyncGenerator[str]:
    from langgraph.constants import TAG_NOSTREAM

    arguments, native = _arguments(model, request, rejected)
    sent = messages if native or request.schema is None else describe(messages, request.schema)
    meter.reserve(sent, request.max_tokens)
    if model.snapshots is not None:
        meter.input_tokens += await model.snapshots.keep(cast("Any", model.chat).root_async_client, messages)
    # No model's own words in LangGraph's stream of messages: what a reader sees there is the story as it stays.
    tally, whole, config = Tally(), False, RunnableConfig(tags=[TAG_NOSTREAM])
    stop = list(request.stop) if request.stop else None
    stream = cast("AsyncGenerator[AIMessageChunk]", model.chat.astream(sent, config, stop=stop, **arguments))
    try:
        async with aclosing(stream) as chunks:
            async for chunk in chunks:
                if usage := chunk.usage_metadata:
                    # OpenAI's way is one report at the end, or a running total; other clients report in portions.
                    tally.usage = usage if model.speaks_openai else add_usage(tally.usage, usage)
                if reason := chunk.response_metadata.get("finish_reason"):
                    tally.finish_reason = str(reason)
                if text := str(chunk.text):
                    tally.characters += len(text)
                    yield text
                if tally.characters > request.max_tokens * LONGEST_TOKEN:
                    # A server that heeds no limit: nobody needs more than was asked for.
                    tally.finish_reason = "length"
                    break
        whole = True
    finally:
        if whole or tally.characters:
            meter.add(tally, sent)
    if model.speaks_openai and not tally.finish_reason:
        raise ModelUnavailable(f"The reply of {model.name} was cut off on its way; try again.")
    if tally.characters == 0:
        if tally.finish_reason == "length":
            raise ModelRefused(
                f"{model.name} spent all of {request.max_tokens} tokens before it wrote a word: take a model that thinks less."
            )
        raise ModelUnavailable(f"{model.name} sent an empty reply; try again.")


def _arguments(model: ResolvedModel, request: _Request, rejected: frozenset[str]) -> tuple[dict[str, Any], bool]:
    """Return the call's keyword arguments, and whether the server itself holds the reply to the schema."""
    wanted = {"max_tokens": request.max_tokens, "temperature": request.temperature, "seed": request.seed}
    arguments = {name: value for name, value in wanted.items() if value is not None and name not in rejected}
    if not model.speaks_openai:
        known = type(model.chat).model_fields
        return {name: value for name, value in arguments.items() if name in known}, False
    extra: dict[str, Any] = dict(getattr(model.chat, "extra_body", None) or {})
    if model.embedded:
        extra.update(request.sampling or {})
        extra["return_progress"] = True
    if not _wants_new_limit(getattr(model.chat, "openai_api_base", None)) and "max_tokens" in arguments:
        extra["max_tokens"] = arguments.pop("max_tokens")
    elif "max_tokens" in rejected:
        arguments["max_completion_tokens"] = request.max_tokens
    native = request.schema is not None and "response_format" not in rejected
    if native:
        # As an extra field, since langchain-openai would otherwise parse the reply itself, with errors of its own.
        extra["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": request.schema, "strict": True},
        }
    return (arguments | {"extra_body": extra} if extra else arguments), native


def _wants_new_limit(base_url: str | None) -> bool:
    """Tell whether the limit is called `max_completion_tokens`: at OpenAI it is, many compatible servers ignore that name."""
    host = urlsplit(base_url or "").hostname or "api.openai.com"
    return host.endswith(("openai.com", "azure.com"))


_REJECTED: dict[tuple[str | None, str], set[str]] = {}
"""Fields that a server has refused, per endpoint and model, so that each is offered only once in a process."""

_REJECTION = (
    ("max_tokens", re.compile(r"max_completion_tokens")),
    ("response_format", re.compile(r"response_format|json_schema|schema|grammar")),
    ("temperature", re.compile(r"temperature")),
    ("seed", re.compile(r"\bseed\b")),
)


def _rejected_field(error: Exception) -> str | None:
    if status_of(error) not in (400, 422) or is_context_overflow(error):
        return None
    words = str(error).lower()
    return next((name for name, sign in _REJECTION if sign.search(words)), None)
