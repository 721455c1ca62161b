"""The client of every endpoint: OpenAI's, and it reads two things more that servers send.

That is reasoning, which some servers send in fields of their own, and llama.cpp's report on its prompt cache as it begins to
reply: the usual one comes at the end, and never when a stream is cut because the passage is whole. And a stream that is
cut ends there and then.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Self, cast

from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, AsyncStream
from pydantic import model_validator


class EndpointChat(ChatOpenAI):
    """Chat with an endpoint; a chunk with reasoning has it in `additional_kwargs["reasoning"]`."""

    reasoning_fields: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _end_streams(self) -> Self:
        """Have every stream of the client end with its `async with`."""
        self.async_client = _Completions(self.async_client, self.root_async_client)
        return self

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        found = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if found is None:
            return None
        if reasoning := self._reasoning(chunk):
            found.message.additional_kwargs["reasoning"] = reasoning
        if progress := chunk.get("prompt_progress"):
            found.message.usage_metadata = UsageMetadata(  # type: ignore[attr-defined]
                input_tokens=progress["total"],
                output_tokens=0,
                total_tokens=progress["total"],
                input_token_details=InputTokenDetails(cache_read=progress["cache"]),
            )
        return found

    def _reasoning(self, chunk: dict[str, Any]) -> str:
        delta = (chunk.get("choices") or [{}])[0].get("delta") or {}
        if isinstance(content := delta.get("content"), list):
            # Mistral's way: the content is a list, and its `thinking` is a list again; others have it as a text.
            thoughts = [part.get("thinking") for part in content if isinstance(part, dict)]
            parts = [part for thought in thoughts for part in (thought if isinstance(thought, list) else [thought])]
            return "".join(str(part.get("text", "")) if isinstance(part, dict) else str(part or "") for part in parts)
        # A server that has two names for it may send one of them empty.
        return next(
            (value for name in self.reasoning_fields if isinstance(value := delta.get(name), str) and value), ""
        )


class _Completions:
    """The client's own completions, but for streams: what goes out and comes in is plain JSON, as it stands.

    The client copies each request through its types and makes an object of each piece, a tenth of what a step computes. And of a
    stream that is left before its end it closes the connection and leaves the generators waiting in a circle, until the garbage
    collector finds them in whatever thread it runs in, beside the loop that they belong to.
    """

    def __init__(self, completions: Any, client: AsyncOpenAI) -> None:
        self._completions, self._client = completions, client

    async def create(self, **request: Any) -> Any:
        if not request.get("stream"):
            return await self._completions.create(**request)
        more = request.pop("extra_body", None)
        options: Any = {"extra_json": more} if more else {}
        stream = await self._client.post(
            "/chat/completions",
            body=request,
            options=options,
            cast_to=cast("type[dict[str, Any]]", object),
            stream=True,
            stream_cls=AsyncStream[object],
        )
        return _ending(stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)


@asynccontextmanager
async def _ending(stream: AsyncStream[Any]) -> AsyncGenerator[AsyncGenerator[dict[str, Any]]]:
    async with stream, aclosing(cast("AsyncGenerator[Any]", stream._iterator)), aclosing(_chunks(stream)) as chunks:
        yield chunks


async def _chunks(stream: AsyncStream[Any]) -> AsyncGenerator[dict[str, Any]]:
    """Yield the chunks as they came, each choice with its delta; what is no chunk is left out."""
    async for chunk in stream:
        if isinstance(chunk, dict):
            choices = chunk.get("choices")
            known = [it for it in choices if isinstance(it, dict)] if isinstance(choices, list) else []
            yield {**chunk, "choices": [{"delta": None, **choice} for choice in known]}
