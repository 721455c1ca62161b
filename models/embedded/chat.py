"""The client of the embedded server: OpenAI's, and it hears what the server says of its prompt cache as it begins to reply.

The usual report comes at the end, and never when a stream is cut because the passage is whole.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI


class LlamaChat(ChatOpenAI):
    """Chat with llama.cpp, asked by `return_progress` to tell of the prompt before the reply."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        found = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        progress = chunk.get("prompt_progress")
        if found is not None and progress:
            found.message.usage_metadata = UsageMetadata(  # type: ignore[attr-defined]
                input_tokens=progress["total"],
                output_tokens=0,
                total_tokens=progress["total"],
                input_token_details=InputTokenDetails(cache_read=progress["cache"]),
            )
        return found
