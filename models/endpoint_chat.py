"""The client of every endpoint: OpenAI's, and it reads two things more that servers send.

That is reasoning, which some servers send in fields of their own, and llama.cpp's report on its prompt cache as it begins to
reply: the usual one comes at the end, and never when a stream is cut because the passage is whole.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI


class EndpointChat(ChatOpenAI):
    """Chat with an endpoint; a chunk with reasoning has it in `additional_kwargs["reasoning"]`."""

    reasoning_fields: tuple[str, ...] = ()

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
            # Mistral's way: the content is a list, and its `thinking` is a list again.
            parts = [part.get("thinking") for part in content if isinstance(part, dict)]
            return "".join(
                str(inner.get("text", "")) for part in parts for inner in part or [] if isinstance(inner, dict)
            )
        return next((value for name in self.reasoning_fields if isinstance(value := delta.get(name), str)), "")
