"""What chat clients ask of a model on the side: a title of the chat, tags, what to say next, a summary.

Such a request has no field that says so. It is known by its words, or by a chat that is told inside of one message; what is
known of these requests is how Open WebUI, LibreChat, SillyTavern and NextChat send them. Nothing that is asked here changes a
story.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recurrentgpt.story import Passage, StorySnapshot

Kind = Literal["title", "tags", "follow_ups", "queries", "prompt", "text", "tool_calls", "emoji", "summary", "reply"]
"""What is asked for. Most are named as the key of the JSON object in which Open WebUI wants it."""

PLACE = re.compile(r"\(story ([\w-]{1,64}), passage ([0-9a-f]{8,64})\)", re.ASCII)
"""How a reply ends: where its chat stands."""
_JSON_KEY = re.compile(r'"(title|tags|follow_ups|queries|prompt|text|tool_calls)"\s*:')
_TOLD = re.compile(
    r"^[1-9]\. .*\n\s*\(story |^\W{0,3}(user|human|you|assistant|ai)\W{0,3}:", re.IGNORECASE | re.MULTILINE
)
"""What a message that tells a chat has, besides the place: a whole reply, or who says what."""
_HISTORY = re.compile(r"<chat_history>|#+ *Chat History", re.IGNORECASE)
_TASK = "### Task:"
_OF_METADATA: Mapping[str, Kind] = {
    "title_generation": "title",
    "tags_generation": "tags",
    "follow_up_generation": "follow_ups",
    "query_generation": "queries",
    "image_prompt_generation": "prompt",
    "autocomplete_generation": "text",
    "function_calling": "tool_calls",
    "emoji_generation": "emoji",
}
_BY_WORDS: Mapping[str, Kind] = {
    r"[^\n]{0,40}\bconcise\b[^\n]{0,20}\btitle( \([^)]*\))? for (the|a|this) (chat|conversation)\b": "title",
    r"analyze this conversation and provide\b.{0,200}\btitle\b": "title",
    r"your task is to reflect\b.{0,60}\bfacial expression\b.{0,60}\bemoji\b": "emoji",
    r"(ignore previous instructions|pause your roleplay)[.,] (and )?(summari[sz]e|recap)\b": "summary",
    r"(ignore previous instructions|pause your roleplay)[.,] (generate|write|give)\b[^.\n]{0,20}\btitle\b": "title",
    r"ignore previous instructions and provide\b": "prompt",
    r"pause your roleplay and provide\b": "prompt",
    r"ignore previous instructions\. your next response must be formatted as a single comma-delimited list\b": "prompt",
    r"in the next response,? (i want you to provide )?only\b.{0,60}\bcomma[- ](delimi\w+|separated)\b": "prompt",
    r"provide an exhaustive comma-separated list of tags\b": "prompt",
    r"describe the visible scene from the last message\b": "prompt",
    r"write your next reply from the point of view of\b": "reply",
}
"""What the beginning of a request says, whatever the case of its letters and with a bracket before it or not."""
_CHAT = r"\b(chat|conversation|discussion|session|story|novel|role-?play|plot)\b"
_GIVE = r"(generate|write|give|suggest|create|provide|come up with|make|propose|summari[sz]e)\b"
_IN_A_CHAT: Mapping[str, Kind] = {
    rf"{_GIVE}[^.\n]{{0,60}}\btitle\b[^.\n]{{0,40}}{_CHAT}": "title",
    rf"{_GIVE}[^.\n]{{0,20}}{_CHAT}[^.\n]{{0,20}}\b(title|name)\b": "title",
    r"based on the chat history, give this conversation a name\b": "title",
    rf"(briefly )?(summari[sz]e|recap|sum up)\b[^.\n]{{0,20}}({_CHAT}|\bso far\b)": "summary",
    rf"(give|write|provide)\b[^.\n]{{0,30}}\b(summary|recap) of\b[^.\n]{{0,20}}({_CHAT}|\bso far\b)": "summary",
}
"""What is asked in a chat that is a story already; as its first message it might be a premise."""
_POLITE = re.compile(r"\A((now|please|can you|could you|will you),? )*", re.IGNORECASE)
_ROLEPLAY = re.compile(r"(ignore previous instructions|pause your roleplay)\b", re.IGNORECASE)
_NUDGE = re.compile(r"\[?continue (your|the) (last|previous|following) message\b", re.IGNORECASE)
_UNTITLED = "A new story"


class SideTask:
    """A request that is none of a story's reader: what it asks for, whether as JSON, and the passage that its chat stands at."""

    def __init__(self, kind: Kind | None, *, as_json: bool = False, place: tuple[str, str] = ("", "")) -> None:
        self.kind, self.as_json = kind, as_json
        self.story, self.at = place

    def answer(self, stands: StorySnapshot | None, passage: Passage | None) -> str:
        """Return what a story says to it at a passage; where none is known, as little as the client can read."""
        plans = passage.plans if passage else []
        words: dict[Kind, str | list[str]] = {
            "title": (stands.title if stands else "") or _UNTITLED,
            "tags": [(stands.brief["genre"] if stands and stands.brief else "") or "story"],
            "follow_ups": plans,
            "queries": [],
            "prompt": passage.plan if passage else "",
            "text": "",
            "tool_calls": [],
            "emoji": "📖",
            "summary": passage.short_term_memory if passage else "",
            "reply": plans[0] if plans else "",
        }
        assert self.kind is not None
        said = words[self.kind]
        if self.as_json:
            return json.dumps({self.kind: said}, ensure_ascii=False)
        return said if isinstance(said, str) else "\n".join(said)


def side_task(messages: Sequence[tuple[str, str]], metadata: Mapping[str, Any] | None = None) -> SideTask | None:
    """Return what a chat of roles and texts asks for on the side; None for a chat that goes on.

    Its kind is None where it is a task and none of those that are known.
    """
    *before, (role, last) = messages
    last = last.strip()
    places = [place for _, text in messages for place in PLACE.findall(text)]
    place = places[-1] if places else ("", "")
    if any(who == "system" and text.startswith("Available Tools:") and "tool_calls" in text for who, text in before):
        return SideTask("tool_calls", as_json=True, place=place)
    if role == "assistant":
        return None
    asked = _HISTORY.split(last.removeprefix(_TASK).lstrip(), maxsplit=1)[0].removeprefix("[")
    kind = _OF_METADATA.get(str((metadata or {}).get("task", ""))) or _by_words(asked, _BY_WORDS)
    in_a_chat = any(who == "assistant" for who, _ in before)
    if in_a_chat and places:
        kind = kind or _by_words(_POLITE.sub("", asked), _IN_A_CHAT)
    told_inside = role == "user" and not in_a_chat and _TOLD.search(last) and PLACE.search(last)
    if not (kind or told_inside or last.startswith(_TASK) or _ROLEPLAY.match(asked)):
        return None
    key = _JSON_KEY.search(asked) or (_JSON_KEY.search(last) if last.startswith(_TASK) else None)
    if key is not None:
        kind = next(of for of in _OF_METADATA.values() if of == key[1])
    elif kind is None and "title" in asked.casefold():
        kind = "title"
    return SideTask(kind, as_json=key is not None, place=place)


def is_nudge(text: str) -> bool:
    """Tell whether a text asks that the last message be continued, as SillyTavern does whatever the message's role is."""
    return _NUDGE.match(text.lstrip()) is not None


def _by_words(asked: str, known: Mapping[str, Kind]) -> Kind | None:
    return next((of for words, of in known.items() if re.match(words, asked, re.IGNORECASE | re.DOTALL)), None)
