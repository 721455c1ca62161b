"""A scripted author for trying a plan without a model: it answers every prompt of every system, always in the same way.

Its novels mean nothing. Runs made with it show that a plan, a machine and a folder work, and how many calls a system makes.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.testing import ScriptedChatModel, story_replies

_WORDS = re.compile(r"about (\d+) words")
_NAMES = ("Mira Voss", "Tobias Kell", "Adela Marsh", "Corvin Strand", "Sunniva Hart")


def scripted_author(name: str = "scripted") -> ScriptedChatModel:
    """Return the scripted author as a chat model of the full tier."""
    return ScriptedChatModel(tier="full", model_name=name, replies=author_replies)


def author_replies(messages: list[BaseMessage]) -> str:
    """Answer a prompt of any system: prose of the length asked for, or a JSON object that fits its schema."""
    asked = "\n".join(str(message.text) for message in messages)
    dealer = random.Random(zlib.crc32(asked.encode()))
    plain = story_replies(messages)
    if SCHEMA_HEADING not in asked:
        wanted = [int(number) for number in _WORDS.findall(asked)]
        return _prose(messages, wanted[-1] if wanted else 300)
    reply: dict[str, Any] = json.loads(plain)
    for field, value in reply.items():
        reply[field] = _better(field, value, asked, dealer)
    return json.dumps(reply, ensure_ascii=False)


def _better(field: str, value: Any, asked: str, dealer: random.Random) -> Any:
    """Return what a field means, where a value that fits the schema is not enough."""
    match field:
        case "passage" | "paragraph":
            return _prose([HumanMessage(f"passage {zlib.crc32(asked.encode())}")], 300)
        case "relevance" | "coherence" | "move" | "entering":
            return [dealer.randint(3, 9) for _ in value]
        case "verdicts":
            return [{"known": False, "in_order": True} for _ in value]
        case "numbers":
            return [1] if dealer.random() < 0.5 else []
        case "characters" if value and isinstance(value[0], dict):
            return [{**person, "name": _NAMES[at % 5]} for at, person in enumerate(value)]
        case "leaves":
            return [{**leaf, "characters": dealer.sample(_NAMES[:3], 2)} for leaf in value]
        case "facts" if value and isinstance(value[0], dict):
            told = sentences(asked.partition("From a story:")[2].partition("Note at most")[0])
            return [_fact(dealer.choice(told), dealer) for _ in range(2)] if told else []
        case "verdict":
            return dealer.choice(["A", "B", "tie"])
    return value


def _fact(sentence: str, dealer: random.Random) -> dict[str, str]:
    colour = dealer.choice(["grey", "green", "brown"])
    return {"entity": dealer.choice(_NAMES), "attribute": "hair colour", "value": colour, "quote": sentence.rstrip(".")}


def _prose(messages: list[BaseMessage], words: int) -> str:
    """Return about `words` words in paragraphs."""
    parts: list[str] = []
    while sum(len(part.split()) for part in parts) < words:
        parts += story_replies([*messages, HumanMessage(f"part {len(parts)}")]).split("\n\n")
    kept: list[str] = []
    for part in parts:
        if kept and sum(len(text.split()) for text in kept) + len(part.split()) > 1.1 * words:
            break
        kept.append(part)
    return "\n\n".join(kept)
