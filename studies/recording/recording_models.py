"""Chat models that record: one what another model says, and one that replays it."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata, add_usage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableConfig
from pydantic import Field

from recurrentgpt.infrastructure.background_loop import call as wait_for
from recurrentgpt.models.meter import CHARACTERS_PER_TOKEN
from recurrentgpt.models.profiles import EMBEDDED, GENERIC, profile_named
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.schema.errors import ModelUnavailable
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.recording.recording import Call, Recorder, Recording, RoleModel, call_key


@dataclass(frozen=True)
class RecordedModel(ResolvedModel):
    """A resolved model that is recorded or replayed; its prompts are those of the model that is, or was, behind it."""

    openai: bool = False

    @property
    def speaks_openai(self) -> bool:
        """Tell whether the model behind is called through langchain-openai."""
        return self.openai


class _RecordedChatModel(BaseChatModel):
    """What both kinds share: the fields that a call may set, and who speaks at which step."""

    model_name: str = "recorded"
    role: str = "writer"
    step: int = 0
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None

    @property
    def _llm_type(self) -> str:
        return "recorded"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        async def whole() -> AIMessageChunk:
            found = AIMessageChunk(content="")
            async for chunk in self._astream(messages, stop, None, **kwargs):
                found = found + cast(AIMessageChunk, chunk.message)
            return found

        said = wait_for(whole)
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(said.text, usage_metadata=said.usage_metadata))]
        )

    def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        raise NotImplementedError


class RecordingChatModel(_RecordedChatModel):
    """Pass every call on to `inner`, and write it to `recorder` when it is over, also when its reader stops early."""

    inner: Any
    recorder: Any = Field(repr=False)

    @property
    def openai_api_base(self) -> str | None:
        """The address of the model behind."""
        return getattr(self.inner, "openai_api_base", None)

    @property
    def openai_api_key(self) -> Any:
        """The key of the model behind, which messages of errors leave out."""
        return getattr(self.inner, "openai_api_key", None)

    @property
    def extra_body(self) -> Any:
        """What the model behind sends with every request."""
        return getattr(self.inner, "extra_body", None)

    @property
    def root_async_client(self) -> Any:
        """The HTTP client of the model behind."""
        return getattr(self.inner, "root_async_client", None)

    async def astream(  # type: ignore[override]
        self,
        input: list[BaseMessage],
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[AIMessageChunk]:
        """Stream the reply; it is recorded when this generator is closed, which LangChain's own would leave to chance."""
        parameters = _parameters(stop, kwargs)
        known = type(self.inner).model_fields
        passed = {name: value for name, value in kwargs.items() if name in known or "openai_api_base" in known}
        began, pieces, usage, reason = time.monotonic(), list[str](), None, ""
        whole = enough = False
        stream = cast("AsyncGenerator[AIMessageChunk]", self.inner.astream(input, config, stop=stop, **passed))
        try:
            async with aclosing(stream) as chunks:
                async for chunk in chunks:
                    if chunk.usage_metadata:
                        usage = _later(usage, chunk.usage_metadata, "openai_api_base" in known)
                    reason = str(chunk.response_metadata.get("finish_reason") or reason)
                    if text := str(chunk.text):
                        pieces.append(text)
                    yield chunk
            whole = True
        except GeneratorExit:
            enough = True
            raise
        finally:
            if whole or pieces:
                seconds = round(time.monotonic() - began, 3)
                failed = not (whole or enough)
                call = _call(self.role, self.step, input, parameters, pieces, usage, reason, whole, seconds, failed)
                recorder = cast(Recorder, self.recorder)
                recorder.add(call, input, parameters)
                await recorder.flush()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async with aclosing(self.astream(messages, stop=stop, **kwargs)) as chunks:
            async for chunk in chunks:
                yield _plain(chunk)


class ReplayChatModel(_RecordedChatModel):
    """Answer every prompt with what `recording` holds for it; a prompt that it does not hold is an error."""

    recording: Any = Field(repr=False)
    openai_api_base: str | None = None
    extra_body: Any = None

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        parameters, recording = _parameters(stop, kwargs), cast(Recording, self.recording)
        key = call_key(self.role, messages, parameters)
        if key not in recording and (unknown := [name for name in parameters if name in _REFUSABLE - recording.fields]):
            # The server of the recording refused this field, and was asked again without it: so it goes here.
            raise _Refusal(f"{unknown[0]} is not supported")
        call = recording.find(key, self.role, self.step, parameters.get("seed"))
        usage = _usage(call.usage)
        if not call.whole and usage:
            # Whoever stops reading where the reader of then stopped hears of the cost beforehand, or never.
            yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage))
            usage = None
        for piece in call.pieces:
            if piece:
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        if call.failed:
            raise ModelUnavailable(f"A call of the {self.role} at step {self.step} failed when it was recorded.")
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=usage, chunk_position="last"),
            generation_info={"finish_reason": call.finish_reason or "stop"},
        )


_REFUSABLE = {"response_format", "temperature", "seed"}


class _Refusal(Exception):
    """A server's answer to a field that it does not know."""

    status_code = 400


def _parameters(stop: list[str] | None, given: dict[str, Any]) -> dict[str, Any]:
    """Return a call's parameters in one form, whatever the endpoint calls them and wherever they travel."""
    flat = {name: value for name, value in given.items() if name != "extra_body"} | (given.get("extra_body") or {})
    if "max_completion_tokens" in flat:
        flat["max_tokens"] = flat.pop("max_completion_tokens")
    return flat | ({"stop": stop} if stop else {})


def record_model(model: ResolvedModel, recorder: Recorder, role: str, step: int) -> ResolvedModel:
    """Return `model` with every call of it recorded."""
    role_model = RoleModel(model.name, model.tier, model.embedded, model.speaks_openai, model.profile.name)
    recorder.add_role(role, role_model)
    chat = RecordingChatModel(inner=model.chat, recorder=recorder, role=role, step=step, model_name=model.name)
    same = {item.name: getattr(model, item.name) for item in dataclasses.fields(ResolvedModel)}
    return RecordedModel(**{**same, "chat": chat}, openai=role_model.openai)


def replay_model(recording: Recording, role: str, step: int) -> ResolvedModel:
    """Return the model that replays what was recorded for a role."""
    if role not in recording.roles:
        raise StudyError(
            f"{recording.path.name} has no calls of the {role}: it belongs to another plan; record it anew."
        )
    role_model = recording.roles[role]
    chat = ReplayChatModel(recording=recording, role=role, step=step, model_name=role_model.name)
    # An older recording has the requests of an endpoint that nothing is known of, with no tokens to think in.
    profile = EMBEDDED if role_model.embedded else dataclasses.replace(GENERIC, thinking_models=())
    return RecordedModel(
        chat,
        role_model.name,
        cast(Any, role_model.tier),
        role_model.embedded,
        profile=profile_named(role_model.profile) if role_model.profile else profile,
        openai=role_model.openai,
    )


def _call(
    role: str,
    step: int,
    messages: list[BaseMessage],
    parameters: dict[str, Any],
    pieces: list[str],
    usage: UsageMetadata | None,
    reason: str,
    whole: bool,
    seconds: float,
    failed: bool,
) -> Call:
    cuts, at = list[int](), 0
    for piece in pieces[:-1]:
        at += len(piece)
        cuts.append(at)
    reply = "".join(pieces)
    key = call_key(role, messages, parameters)
    return Call(key, role, step, reply, cuts, _counted(usage, messages, reply), reason, whole, seconds, failed)


def _counted(usage: UsageMetadata | None, messages: list[BaseMessage], reply: str) -> dict[str, int]:
    """Return what a call cost; what a server never told, as of a stream cut short, is estimated as the meter does it."""
    said = math.ceil(len(reply) / CHARACTERS_PER_TOKEN)
    if usage is None:
        sent = math.ceil(sum(len(message.text) for message in messages) / CHARACTERS_PER_TOKEN)
        return {"input": sent, "output": said, "cached": 0, "estimated": 1}
    cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
    counted = {"input": usage["input_tokens"], "output": usage["output_tokens"] or said, "cached": cached}
    return counted if usage["output_tokens"] else {**counted, "estimated": 1}


def _usage(counted: dict[str, int]) -> UsageMetadata | None:
    if not counted:
        return None
    return UsageMetadata(
        input_tokens=counted["input"],
        output_tokens=counted["output"],
        total_tokens=counted["input"] + counted["output"],
        input_token_details=InputTokenDetails(cache_read=counted["cached"]),
    )


def _later(old: UsageMetadata | None, new: UsageMetadata, running: bool) -> UsageMetadata:
    return new if running else add_usage(old, new)


def _plain(chunk: AIMessageChunk) -> ChatGenerationChunk:
    """Return a chunk without what its own stream added to it, which would be added a second time here."""
    reason = chunk.response_metadata.get("finish_reason")
    message = AIMessageChunk(content=str(chunk.text), usage_metadata=chunk.usage_metadata)
    return ChatGenerationChunk(message=message, generation_info={"finish_reason": reason} if reason else None)
