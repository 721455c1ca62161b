"""The story as a chat: the latest exchange, for interfaces that show a list of messages and answer with one."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from recurrentgpt.schema.errors import SettingsError

LONGEST_MESSAGE = 10_000
"""Characters that are kept of a message: more than any premise, plan or passage may have."""

KEPT_MESSAGES = 2
"""What was said last, and what it answers."""


class Message(TypedDict):
    """One message, in the shape that LangChain's interfaces read."""

    id: str
    type: Literal["human", "ai"]
    content: str


def latest_exchange(old: list[Message] | None, new: object) -> list[Message]:
    """Return the last two messages of both; one more of the same speaker takes the place of the one before.

    A reducer: `new` is what a chat sent, one message or a list, as text, dictionaries or LangChain messages.
    """
    kept: list[Message] = []
    for message in [*(old or []), *_plain(new)]:
        if kept and kept[-1]["type"] == message["type"]:
            kept.pop()
        kept.append(message)
    return kept[-KEPT_MESSAGES:]


def unanswered(messages: list[Message] | None) -> str:
    """Return what a human said last and nobody has answered; empty for nothing."""
    return messages[-1]["content"].strip() if messages and messages[-1]["type"] == "human" else ""


def _plain(given: object) -> list[Message]:
    """Return the spoken messages as plain dictionaries, tools' and instructions left out; raise SettingsError for no messages."""
    from langchain_core.messages import BaseMessage, convert_to_messages

    if given is None:
        return []
    items: list[Any] = given if isinstance(given, list) else [given]
    try:
        read: list[BaseMessage] = convert_to_messages(items)
    except (ValueError, NotImplementedError, TypeError, KeyError):
        raise SettingsError("messages is text or a list of chat messages, each with a type and its content.") from None
    return [
        Message(id=message.id or "", type=kind, content=message.text[:LONGEST_MESSAGE])
        for message in read
        if (kind := _speaker(message.type)) is not None
    ]


def _speaker(kind: str) -> Literal["human", "ai"] | None:
    match kind.removesuffix("MessageChunk").lower():
        case "human":
            return "human"
        case "ai":
            return "ai"
    return None
