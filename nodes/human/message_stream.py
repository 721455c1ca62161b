"""A passage in LangGraph's stream of messages: only prose, and only what stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import AIMessageChunk

from recurrentgpt.schema.state import State
from recurrentgpt.schema.stream_buffer import StreamBuffer


def message_id(state: State) -> str:
    """Return the id of the message that tells the passage in the making; its stream and its end have the same."""
    return f"{state.get('head') or state.get('story', '')}.{state.get('take', 0)}"


class Speech:
    """Repeat the settled part of a passage in LangGraph's stream of messages, where nothing can be taken back."""

    def __init__(self, emit: Callable[[Mapping[str, Any]], None], state: State) -> None:
        self._emit, self._id = emit, message_id(state)
        self._buffer = StreamBuffer()

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Report an event; of prose, say also what will stay as it is."""
        self._emit(event)
        if self._buffer.apply(event) and (settled := self._buffer.release()):
            self._say(settled)

    def _say(self, text: str) -> None:
        from langgraph.graph.message import push_message

        push_message(AIMessageChunk(content=text, id=self._id), state_key=None)
