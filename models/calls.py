"""Call a chat model: the only place that does.

Both calls stream, so that "the model said nothing for too long" is noticed by the token and not by the whole reply.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast, overload

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import add_usage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from recurrentgpt.models.endpoint_errors import (
    is_context_overflow,
    is_transient,
    refused_fields,
    refuses_limit,
    room_left,
    translate,
    window_told,
)
from recurrentgpt.models.json_replies import JsonObject, JsonSchema, describe, is_foreign, json_schema, read
from recurrentgpt.models.meter import Meter, Tally, estimated_tokens, total_usage, used_tokens
from recurrentgpt.models.profiles import THINKING_TOKENS
from recurrentgpt.models.reasoning import StreamClock, ThinkTagFilter
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.prose.joined_words import split_joined_words
from recurrentgpt.prose.model_text import VisibleStream, without_tokens, without_turns
from recurrentgpt.prose.sentences import words
from recurrentgpt.schema.errors import (
    BudgetReached,
    ModelRefused,
    ModelReplyError,
    ModelTooSlow,
    ModelUnavailable,
    ReasoningShown,
)

__all__ = ["Meter", "ask", "is_transient", "total_usage", "used_tokens", "write_stream"]

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)
Problem = str | None | Awaitable[str | None]
"""What is wrong with a reply, in a sentence for the model, or None; it may be waited for."""
Check = Callable[[Any], Problem]

LONGEST_TOKEN = 12
"""Characters a token may take up on average, before a reply counts as longer than its limit."""

_ENDINGS = ("finish_reason", "stop_reason", "done_reason")
"""Where LangChain's clients say why a reply ended: OpenAI's and most others, Anthropic's, Ollama's."""
_LIMITS = ("length", "model_length", "max_tokens", "max_output_tokens")
"""What they call it, and Mistral and Gemini, where it met a limit."""

USAGE, SYSTEM_ROLE = "stream_options", "system role"
"""What a request may go without beside its fields: being told its tokens, and a message of the system's own."""

SHORTEST_LIMIT, SHORTEST_REPLY = 500, 100
"""Fewest tokens that a reply is asked for with where a window is too small for its usual limit: at a guess, and as it says."""

SHOWN_REPLY = 4000
"""Most characters that a repair shows of a reply which met its limit; one that ended by itself is shown whole."""


@dataclass
class _Request:
    """What is asked for beside the messages; None leaves it to the server."""

    max_tokens: int
    temperature: float | None = None
    seed: int | None = None
    stop: Sequence[str] | None = None
    sampling: Mapping[str, Any] | None = None
    schema: JsonSchema | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    described: bool = False
    """Whether the schema is told in words too, to a server that may not hold its model to it."""


async def write_stream(
    model: ResolvedModel,
    messages: Sequence[BaseMessage],
    *,
    max_tokens: int,
    meter: Meter,
    temperature: float | None = None,
    sampling: Mapping[str, Any] | None = None,
    chosen: Mapping[str, Any] | None = None,
    seed: int | None = None,
    stop: Sequence[str] | None = None,
) -> AsyncGenerator[str]:
    """Yield the reply in pieces as they arrive; `aclose()` ends the call at the server too.

    `sampling` holds further fields (`dry_multiplier`, `min_p`, ...), of which the endpoint gets those that its profile
    names; `chosen` those that somebody asked for, which are sent as they are or not at all: a refusal of one is an error.
    A model's reasoning is no part of the reply. Raises ModelUnavailable for faults that may pass (a cut, empty or
    endless reply among them), ModelRefused for the others.
    """
    request = _Request(max_tokens, temperature, seed, stop, sampling, chosen=chosen or {})
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
    chosen: Mapping[str, Any] | None = None,
    check: Callable[[M], Problem] | None = None,
    insist: bool = True,
    second_seed: int | None = None,
    hear: Callable[[str], None] | None = None,
) -> M: ...


@overload
async def ask(
    model: ResolvedModel,
    messages: Sequence[BaseMessage],
    schema: JsonSchema,
    *,
    max_tokens: int,
    meter: Meter,
    temperature: float | None = None,
    seed: int | None = None,
    sampling: Mapping[str, Any] | None = None,
    chosen: Mapping[str, Any] | None = None,
    check: Callable[[JsonObject], Problem] | None = None,
    insist: bool = True,
    second_seed: int | None = None,
    hear: Callable[[str], None] | None = None,
) -> JsonObject: ...


async def ask(
    model: ResolvedModel,
    messages: Sequence[BaseMessage],
    schema: type[BaseModel] | JsonSchema,
    *,
    max_tokens: int,
    meter: Meter,
    temperature: float | None = None,
    seed: int | None = None,
    sampling: Mapping[str, Any] | None = None,
    chosen: Mapping[str, Any] | None = None,
    check: Check | None = None,
    insist: bool = True,
    second_seed: int | None = None,
    hear: Callable[[str], None] | None = None,
) -> Any:
    """Return a reply that fits `schema` (a Pydantic class or a JSON schema) and that `check` has nothing against.

    A server that knows JSON schemas is held to this one; another finds it in the last message. An unusable reply is
    shown back once, with what is wrong, and one that no such server would have let pass with the schema in words. Raises
    ModelReplyError after that, and what `write_stream` raises. Without `insist`, a second reply that fits the schema is
    returned whatever `check` says. With `second_seed` a second reply is asked for by that, and the model is not shown its
    first one. `hear` is told each reply as far as it has come.
    """
    request = _Request(max_tokens, temperature, seed, None, sampling, json_schema(schema), chosen or {})
    conversation, problem, misfit = list(messages), "", False
    for repairing in (False, True):
        meter.resamples += repairing
        reply = ""
        async for piece in _pieces(model, conversation, request, meter):
            reply += piece
            if hear is not None:
                hear(reply)
        if model.tier == "small":
            reply = split_joined_words(reply, _words_of(messages))
        parsed, problem = read(reply, schema)
        if misfit and not problem:
            # In words it was understood: a server that leaves out what it does not know holds nobody to a form.
            model.seen.ignores_schemas = True
        whole = meter.finish_reason != "length"
        if problem and whole and not model.embedded and is_foreign(reply, request.schema or {}):
            request, misfit = replace(request, described=True), True
        if not problem and check is not None and (insist or not repairing):
            found = check(parsed)
            problem = (await found if isinstance(found, Awaitable) else found) or ""
        if not problem:
            return parsed
        if not whole:
            problem += " It was cut off at the token limit: be shorter."
        if second_seed is not None:
            request = replace(request, seed=second_seed)
            continue
        conversation = [
            *messages,
            AIMessage(without_turns(reply)[: None if whole else SHOWN_REPLY]),
            HumanMessage(f"That reply cannot be used. {problem} Reply again, with the corrected JSON object alone."),
        ]
    raise ModelReplyError(
        f"{model.name} gave no usable answer in two tries ({problem[:200].rstrip(' .')}): try again, or "
        "use a more capable model. What was written is safe."
    )


def _words_of(messages: Sequence[BaseMessage]) -> frozenset[str]:
    """Return the words that a model is told, in small letters."""
    return frozenset(word for message in messages for word in words(str(message.content).lower()))


async def _pieces(
    model: ResolvedModel, messages: list[BaseMessage], request: _Request, meter: Meter
) -> AsyncGenerator[str]:
    """Yield one reply, asked for again without a field that the endpoint's error calls unsupported.

    The field is remembered where that helps. Where it does not, the first error is the one that is raised. So are the tokens
    that a model needs which thinks against its name, that its endpoint refuses them, and how many it allows at most.
    """
    # A brief, a memory or a note may come from elsewhere: nothing of it begins another turn.
    messages = [_without_tokens(message) for message in messages]
    known, usual = model.thinking_tokens, model.profile.thinking_tokens(model.name)
    left_out, first, thinking, capped, limit = set[str](), None, known, False, request.max_tokens
    if (window := model.seen.context_window) and not thinking:
        # It was refused once for what it has no room for: asking for that again would be, too.
        limit = min(limit, max(window - estimated_tokens(messages), SHORTEST_REPLY))
    while True:
        without = model.seen.refused | left_out
        fields, stop = _fields(model, request, without, limit + thinking)
        try:
            async with aclosing(_attempt(model, messages, request, fields, stop, meter, thinking, without)) as pieces:
                async for piece in pieces:
                    _remember(model, left_out, thinking if capped or thinking > usual else None)
                    yield piece
            return
        except Exception as error:
            model.seen.context_window = window_told(error) or model.seen.context_window
            # Our own server knows every field: what it refuses is a fault of ours, and goes without a schema in no other call.
            asked_again = model.speaks_openai and not model.embedded
            beside = {USAGE: model.profile.stream_usage, SYSTEM_ROLE: messages[0].type == "system"}
            spare = [
                *(name for name in fields if name not in request.chosen),
                *(["stop"] if stop else []),
                *(name for name, is_sent in beside.items() if is_sent and name not in without),
            ]
            if thinking > usual and refuses_limit(error):
                # With fewer tokens it took the field.
                model.seen.thinking_tokens, refused = 0, set()
                if thinking == known:
                    # They were learnt from another call, which had room for them.
                    thinking = usual
                    continue
            elif isinstance(error, _FormInReasoning) and asked_again:
                refused = {"response_format"}
            else:
                refused = refused_fields(error, spare) if asked_again else set()
            first = first or error
            if "response_format" in refused and _form(fields) == "json_schema":
                # It may know the simpler form, whether its refusal says so or not.
                refused = refused - {"response_format"} | {"json_schema"}
            if refused:
                left_out |= refused
                continue
            if 0 < thinking <= usual and asked_again and refuses_limit(error):
                # A window is too small for this prompt, a cap for every one.
                capped = not is_context_overflow(error)
                thinking = thinking // 4 if thinking == THINKING_TOKENS else 0
                continue
            if not thinking and asked_again and refuses_limit(error):
                # A window holds the prompt and the limit together, which is more than most replies need.
                room = room_left(error)
                if room and SHORTEST_REPLY <= room < limit:
                    limit = room
                    continue
                if not room and limit // 2 >= SHORTEST_LIMIT:
                    limit //= 2
                    continue
            unforeseen = not usual and not thinking and model.seen.thinking_tokens is None
            if isinstance(error, _ThoughtOnly) and asked_again and unforeseen:
                # Its name did not say that it thinks.
                thinking = THINKING_TOKENS
                continue
            fault = translate(error, model)
            if first is not error and not isinstance(
                fault, (ModelUnavailable, ModelTooSlow, BudgetReached, _ThoughtOnly)
            ):
                error, fault = first, translate(first, model)
            if fault is None:
                raise error from None
            # The client leaves the rest of the stream to the frames of its exception: it ends here, and not at some collection.
            traceback.clear_frames(error.__traceback__)
            # The client's exception quotes the response and knows the request's headers: it is not shown.
            raise fault from None


def _without_tokens(message: BaseMessage) -> BaseMessage:
    text = message.content
    if not isinstance(text, str) or (cleaned := without_tokens(text)) == text:
        return message
    return message.model_copy(update={"content": cleaned})


def _without_system(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Return a conversation of which the first human message says what the system's did."""
    if [message.type for message in messages[:2]] != ["system", "human"]:
        return messages
    system, first, *others = messages
    return [HumanMessage(f"{system.text}\n\n{first.text}"), *others]


class _ThoughtOnly(ModelRefused):
    """A reply that met its limit before its first word."""


class _FormInReasoning(ModelUnavailable):
    """A reply that ended with its reasoning, which the server may have held to the form in place of the reply."""


def _remember(model: ResolvedModel, left_out: set[str], thinking: int | None) -> None:
    """Keep what an endpoint was seen to refuse, and what was learnt of the tokens to think with, now that it has answered."""
    for name in sorted(left_out - model.seen.refused):
        logger.warning("%s at %s does not support %r; it is left out from now on.", model.name, model.base_url, name)
    model.seen.refused.update(left_out)
    model.seen.silences = 0
    if thinking is not None:
        model.seen.thinking_tokens = thinking


def _form(fields: Mapping[str, Any]) -> str:
    """Return how a request holds its reply to a form; "" where it does not."""
    return str(fields.get("response_format", {}).get("type", ""))


async def _attempt(
    model: ResolvedModel,
    messages: list[BaseMessage],
    request: _Request,
    fields: dict[str, Any],
    stop: list[str] | None,
    meter: Meter,
    thinking: int,
    without: Collection[str],
) -> AsyncGenerator[str]:
    from langgraph.constants import TAG_NOSTREAM

    if SYSTEM_ROLE in without:
        messages = _without_system(messages)
    told = request.described or model.seen.ignores_schemas or _form(fields) != "json_schema"
    sent = describe(messages, request.schema) if request.schema is not None and told else messages
    limit = request.max_tokens + thinking
    meter.reserve(sent, limit)
    if model.snapshots is not None:
        meter.input_tokens += await model.snapshots.keep(cast("Any", model.chat).root_async_client, messages)
    arguments: dict[str, Any] = fields
    if model.speaks_openai:
        # In the body as they are: langchain-openai renames some, and would parse a reply to a schema itself.
        arguments = {"extra_body": {**(getattr(model.chat, "extra_body", None) or {}), **fields}}
        if USAGE in without:
            arguments["stream_usage"] = False
    # No model's own words in LangGraph's stream of messages: what a reader sees there is the story as it stays.
    tally, ended, runaway, config = Tally(), False, False, RunnableConfig(tags=[TAG_NOSTREAM])
    clock, seen = StreamClock(model.name, model.timeout), VisibleStream()
    # A reply in a form is read from where its last reasoning ended.
    begun = model.seen.begins_reasoning and request.schema is None
    tags = ThinkTagFilter(begun=begun)
    stream = cast("AsyncGenerator[AIMessageChunk]", model.chat.astream(sent, config, stop=stop, **arguments))
    try:
        async with aclosing(stream) as chunks:
            while chunk := await clock.next(chunks):
                if usage := chunk.usage_metadata:
                    # OpenAI's way is one report at the end, or a running total; other clients report in portions.
                    tally.usage = usage if model.speaks_openai else add_usage(tally.usage, usage)
                    if model.embedded:
                        clock.saw_reply()  # a long prompt is read with reports on how far it is
                if reason := next(filter(None, map(chunk.response_metadata.get, _ENDINGS)), None):
                    tally.finish_reason = "length" if str(reason).lower() in _LIMITS else str(reason)
                reasoned = tags.reasoning
                said = seen.feed(str(chunk.text))
                text = tags.feed(said) if model.profile.think_tags else said
                reasoned = tags.reasoning - reasoned + len(chunk.additional_kwargs.get("reasoning", ""))
                if reasoned:
                    tally.reasoning += reasoned
                    clock.saw_reasoning()
                if tags.unopened and request.schema is None:
                    model.seen.begins_reasoning = True
                    raise ReasoningShown(
                        f"{model.name} sent its reasoning as if it were the story: try again, it is left out from now on. Its "
                        "server can keep the two apart (vLLM: --reasoning-parser, llama.cpp: --reasoning-format)."
                    )
                if text:
                    if not text.isspace():
                        clock.saw_reply()
                    tally.characters += len(text)
                    yield text
                if (
                    tally.characters > request.max_tokens * LONGEST_TOKEN
                    or tally.reasoning > (request.max_tokens + THINKING_TOKENS) * LONGEST_TOKEN
                ):
                    # A server that heeds no limit: nobody needs more than was asked for.
                    tally.finish_reason, runaway = "length", True
                    break
        if rest := tags.close():
            tally.characters += len(rest)
            yield rest
        ended = True
    finally:
        if ended or tally.characters:
            meter.add(tally, sent)
    asked_for_room = thinking or model.embedded or model.seen.thinking_tokens is not None
    if tally.reasoning and tally.characters and tally.finish_reason == "length" and not (runaway or asked_for_room):
        # Its name did not say that it thinks, and what that leaves of a reply is too little: later ones have room for both.
        model.seen.thinking_tokens = THINKING_TOKENS
    if model.speaks_openai and not tally.finish_reason:
        raise ModelUnavailable(f"The reply of {model.name} was cut off on its way; try again.")
    if tally.characters == 0:
        if begun and tally.finish_reason != "length":
            # A reply that was taken for reasoning to its end may have been none.
            model.seen.begins_reasoning = False
        if tally.finish_reason == "length":
            raise (ModelRefused if runaway else _ThoughtOnly)(
                f"{model.name} spent all of {limit} tokens before it wrote a word: take a model that thinks less."
            )
        swallowed = tally.reasoning and _form(fields)
        raise (_FormInReasoning if swallowed else ModelUnavailable)(f"{model.name} sent an empty reply; try again.")


def _fields(
    model: ResolvedModel, request: _Request, left_out: set[str], limit: int
) -> tuple[dict[str, Any], list[str] | None]:
    """Return the fields of a request as the endpoint calls them, without those left out, and the strings that end a reply."""
    profile, stop = model.profile, list(request.stop) if request.stop else None
    if not model.speaks_openai:
        wanted = {"max_tokens": request.max_tokens, "temperature": request.temperature, "seed": request.seed}
        known = type(model.chat).model_fields
        usual = {name: value for name, value in wanted.items() if value is not None and name in known}
        return {**usual, **request.chosen}, stop
    fields: dict[str, Any] = {
        name: value for name, value in (request.sampling or {}).items() if name in profile.sampling
    }
    if profile.prompt_progress:
        fields["return_progress"] = True
    names = sorted(
        ("max_tokens", "max_completion_tokens"), key=lambda name: (name in left_out, name != profile.reply_limit)
    )
    fields[names[0]] = limit
    if request.temperature is not None and profile.temperature is not None:
        fields["temperature"] = min(request.temperature, profile.temperature)
    if request.seed is not None and profile.seed is not None:
        fields[profile.seed] = request.seed
    form = "json_object" if "json_schema" in left_out and profile.structured == "json_schema" else profile.structured
    if request.schema is not None and form == "json_schema":
        schema = {"name": "reply", "schema": request.schema, "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema is not None and form == "json_object":
        fields["response_format"] = {"type": "json_object"}
    kept = {name: value for name, value in fields.items() if name not in left_out}
    return {**kept, **request.chosen}, stop if profile.stop and "stop" not in left_out else None
