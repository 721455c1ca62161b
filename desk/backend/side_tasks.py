"""What chat clients ask of a model on the side: a title of the chat, tags, what to say next, a summary.

Such a request has no field that says so. It is known by its words, or by a chat that is told inside of one message; what is
known of these requests is how Open WebUI, LibreChat and SillyTavern send them. Nothing that is asked here changes a story.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recurrentgpt.story import StorySnapshot

Kind = Literal["title", "tags", "follow_ups", "queries", "prompt", "text", "tool_calls", "emoji", "summary", "reply"]
"""What is asked for. Most are named as the key of the JSON object in which Open WebUI wants it."""

PLACE = re.compile(r"\(story ([\w-]{1,64}), passage ([0-9a-f]{8,64})\)", re.ASCII)
"""How a reply ends: where its chat stands."""
_JSON_KEY = re.compile(r'"(title|tags|follow_ups|queries|prompt|text|tool_calls)"\s*:')
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
    r"ignore previous instructions\. summari[sz]e\b": "summary",
    r"\[pause your roleplay\. summari[sz]e\b": "summary",
    r"\[write your next reply from the point of view of\b": "reply",
}
"""What the beginning of a request says, whatever the case of its letters."""
_UNTITLED = "A new story"


class SideTask:
    """A request that is none of a story's reader: what it asks for, whether as JSON, and the story that it tells of."""

    def __init__(self, kind: Kind | None, *, as_json: bool = False, story: str = "") -> None:
        self.kind, self.as_json, self.story = kind, as_json, story

    def answer(self, stands: StorySnapshot | None) -> str:
        """Return what a story says to it; where none is known, as little as the client can read."""
        plans = list(stands.plans) if stands else []
        passage = stands.passage if stands else None
        words: dict[Kind, str | list[str]] = {
            "title": (stands.title if stands else "") or _UNTITLED,
            "tags": [(stands.brief["genre"] if stands and stands.brief else "") or "story"],
            "follow_ups": plans,
            "queries": [],
            "prompt": passage.plan if passage else "",
            "text": "",
            "tool_calls": [],
            "emoji": "📖",
            "summary": stands.memory if stands else "",
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
    story = places[-1][0] if places else ""
    if any(who == "system" and text.startswith("Available Tools:") and "tool_calls" in text for who, text in before):
        return SideTask("tool_calls", as_json=True, story=story)
    if role == "assistant":
        return None
    asked = _HISTORY.split(last.removeprefix(_TASK).lstrip(), maxsplit=1)[0]
    kind = _OF_METADATA.get(str((metadata or {}).get("task", "")))
    found = (of for words, of in _BY_WORDS.items() if re.match(words, asked, re.IGNORECASE | re.DOTALL))
    kind = kind or next(found, None)
    told_inside = role == "user" and PLACE.search(last) and not any(who == "assistant" for who, _ in before)
    if not (kind or told_inside or last.startswith(_TASK)):
        return None
    key = _JSON_KEY.search(asked) or (_JSON_KEY.search(last) if last.startswith(_TASK) else None)
    if key is not None:
        kind = next(of for of in _OF_METADATA.values() if of == key[1])
    elif kind is None and "title" in asked.casefold():
        kind = "title"
    return SideTask(kind, as_json=key is not None, story=story)
