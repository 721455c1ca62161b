"""The story as a chat: the latest exchange, for interfaces that show a list of messages and answer with one."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph.message import add_messages

from recurrentgpt.schema.errors import SettingsError

LONGEST_MESSAGE = 10_000
"""Characters that are kept of a message: more than any premise, plan or passage may have."""

KEPT_MESSAGES = 2
"""What was said last, and what it answers."""

_SPEAKERS = {"human": HumanMessage, "ai": AIMessage}


def latest_exchange(old: object, new: object) -> list[AnyMessage]:
    """Return the last two messages of both; one more of the same speaker takes the place of the one before.

    LangGraph's `add_messages`, bounded: what is new, or in an older checkpoint, is one message or a list, as text, dictionaries
    or messages; ids are given, one that is known replaces. Only what was said stays, tools and instructions do not. Raises
    SettingsError for what are no messages.
    """
    try:
        merged: Any = add_messages(*(cast(Any, [] if given is None else given) for given in (old, new)))
    except (ValueError, NotImplementedError, TypeError, KeyError):
        raise SettingsError("messages is text or a list of chat messages, each with a type and its content.") from None
    kept: list[AnyMessage] = []
    for message in merged:
        speaker = _SPEAKERS.get(message.type)
        if speaker is not None:
            if kept and kept[-1].type == message.type:
                kept.pop()
            kept.append(speaker(message.text[:LONGEST_MESSAGE], id=message.id))
    return kept[-KEPT_MESSAGES:]


def unanswered(messages: object) -> str:
    """Return what a human said last and nobody has answered; empty for nothing."""
    said = latest_exchange(messages, None)
    return said[-1].text.strip() if said and said[-1].type == "human" else ""
