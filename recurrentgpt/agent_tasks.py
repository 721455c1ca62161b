"""What another agent asks a storyteller for, as models and people phrase tasks: which story, and the answer for its next passage.

A model writes its task as a sentence ("Please continue story 0123456789ab with plan 2 and return the passage."). What names the
story and what goes without saying is taken off; what is left is for `nodes.human` to understand, as if somebody had typed it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recurrentgpt.nodes.human.phrases import LONGEST_PHRASE, is_phrase, understand
from recurrentgpt.schema.errors import BadAnswer

GO_ON = "simulator"
"""The answer to a request that wants a passage and says nothing of what happens in it."""
_ID = r"(?P<id>[0-9a-f]{12})"
_QUOTED = r"[\"“'‘][^\"”\n]{1,80}[\"”'’]"
_NAMED = (
    rf"(?:\bstory(?:\s+(?:called|titled|named))?(?:\s+{_QUOTED},?)?[\s_-]*|\b(?=id\b))\(?\s*"
    rf"(?:(?:story|with|whose|of|the|ids?|is)(?![a-z])[\s_]*){{0,5}}[\s:=#\"'`(\[]*{_ID}\b[\"'`)\]]*"
)
_BARE = r"[`\"'(\[]*\b(?P<bare>(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{12})\b[`\"')\]]*"
_WRITE = r"(?:continue|resume|go\s+on|carry\s+on|proceed|keep\s+going|go\s+ahead|move\s+on|extend|advance|write|produce|generate)"
_PASSAGE = r"(?:passage|part|chapter|scene|section|step|turn)s?"
# What is looked for anywhere in a text repeats nothing without a bound: a long text would be gone over at every word of it.
_BEFORE = (
    r"(?:\b(?:please|now|then|and|to|can you|could you|would you|i want you to|i(?:'d| would) like you to)[\s,]+){0,4}"
    rf"(?:\b{_WRITE}\s+)?(?:\b(?:the|a|another|one\s+more)\s+(?:next\s+|new\s+|more\s+)?{_PASSAGE}\s+)?"
    r"(?:\b(?:with|on|in|for|of|from|to|using|within)\s+)?(?:\b(?:the|this|that|my|our|your|existing|same)\s+){0,3}"
)
_NAMING = re.compile(rf"{_BEFORE}(?:{_NAMED}|{_BARE})[\s:,.;)–—-]*", re.IGNORECASE)
_NAMING_PLAINLY = re.compile(_NAMED, re.IGNORECASE)

_SAYING = (
    r"please|then|now|and|also|next|new|full|complete|entire|whole|resulting|updated|proposed|exact|"
    r"verbatim|current|latest|last|previous|passage|passages|part|parts|chapter|chapters|scene|scenes|"
    r"text|plan|plans|option|options|story|stories|id|ids|result|results|output|the|its|a|an|all|"
    r"both|me|us|back|only|with|for|of|to|from|in|it|that|this|as|is|are|one|number|after|along|"
    r"together|so|far|again|out|aloud|word|by|once|more|ok|okay|yes|great|everything|following|"
    r"accordingly|what|happened|happens|you|can|could|would|will"
)
_WRITES = f"{_WRITE}|compose|draft|create|make"
_READS = (
    r"read|show|display|repeat|print|recite|recap|summari[sz]e|list|return|give|send|share|tell|provide|"
    r"report|include|reply|respond"
)
_GOES_WITHOUT_SAYING = re.compile(
    rf"(?:task|request|instructions?)|(?:(?:{_SAYING})[\s,]+)*(?:{_WRITES}|{_READS})\b"
    rf"(?:[\s,:]+(?:{_SAYING}|{_WRITES}|{_READS})\b)*",
    re.IGNORECASE,
)
_A_PLAN = re.compile(r"\b(?:plan|option|choice)\b", re.IGNORECASE)
_TAIL = re.compile(
    rf"[\s,;]+(?:and|to|then|for|as|in)\b(?:[\s,]+(?:{_SAYING}|{_WRITES}|{_READS})\b){{1,24}}\W*$", re.IGNORECASE
)
_WRITING = re.compile(rf"\b(?:{_WRITES})\b", re.IGNORECASE)
_LABEL = (
    r"(?:(?:the|my|your|own|new|selected|chosen|next)[\s_]+)*"
    r"(?:plan|option|choice|answer|action|number|what\s+happens(?:\s+next)?)[\s_]*"
    r"(?:id|number|is|to\s+(?:use|follow|take))?\s*[:=]+\s*"
)
_JOINING = re.compile(
    rf"(?:(?:with|using|by|where|in\s+which|so\s+that|such\s+that|and)\b\s*|{_LABEL})+", re.IGNORECASE
)
_CHOOSING = re.compile(
    r"(?:\b(?:please|now|then|ok|okay|so|"
    r"(?:write|writing|continuing|producing)(?:\s+(?:the|next|story|(?:passage|chapter|part)(?:\s+[0-9]+)?)\b)+|"
    rf"{_WRITE}|use|using|follow(?:ing)?|apply|execute|try|go|with|by|via|from|based on|according to|and|"
    r"choosing|taking|picking|selecting|"
    r"(?:choose|pick|select|take)(?=\s+(?:the\s+)?(?:plan|option|choice)\b)|"
    r"(?:give|propose|suggest|offer|make|create|get|ask for)(?:\s+(?:me|us|some|three|for))*|"
    r"(?:the\s+)?(?:user|person|reader|player|human|i|we|they|he|she)\s+(?:has\s+|have\s+)?(?:chose|chosen|picked|selected|took|"
    r"chooses|picks|selects|takes|prefers|wants?|would\s+like|said|says)(?:\s+to\s+(?:go|take|choose|use|pick|follow|see))?"
    r")\b[\s,:]*|"
    rf"{_LABEL})+",
    re.IGNORECASE,
)
_OF_THIS = re.compile(
    r"\s+(?:of\s+)?(?:(?:the|this|that|last|latest|current|newest|same)\s+){0,3}passage\W*$", re.IGNORECASE
)
_NUMBER_OF = re.compile(r"\b(plan|option|choice)\s+(?:number|no\.?|nr\.?|id)\s*(?=[#\w])", re.IGNORECASE)
_THANKS = re.compile(
    r"(?=.*\b(?:thanks|thank you|thx|cheers|bye|goodbye|all|enough|done|finished)\b)"
    r"(?:(?:ok|okay|great|perfect|nice|good|wonderful|lovely|thanks|thank|thx|cheers|you|very|much|so|a|lot|many|that|this|it|is|"
    r"was|will|be|all|enough|for|now|today|we|i|am|are|done|finished|bye|goodbye|see|later|no|more|the|your|help|story|"
    r"['’](?:s|re|m|ll))\b[\s,.!]*)+",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?:who|what|where|when|why|how|which)(?:['’]s)?\s(?!(?:if|about)\b)[^.!]*\?", re.IGNORECASE)
_ANOTHER = re.compile(
    r"(?:(?:please|now|ok|okay|then|great|thanks|can you|could you)[\s,.!]+)*"
    r"(?:(?:write|begin|start|create|make)(?: me| us)?|tell (?:me|us)|let['’]s (?:write|begin|start)) "
    r"(?:another|a new|a different|a second) (?:\w+ ){0,2}(?:story|novel|tale)\b",
    re.IGNORECASE,
)
NOT_AN_ANSWER = (
    "Nothing was written: a passage is written from the number of a plan, or from what happens next in a sentence."
)


def named_story(text: str) -> str | None:
    """Return the id of the story that a text names last, in words that leave no doubt; None for none."""
    found = _NAMING_PLAINLY.findall(_tidy(text))
    return found[-1].lower() if found else None


def asked_story(task: str) -> str | None:
    """Return the id of the story that a task names, also by nothing but its id or as a field of JSON; None for none."""
    fields = _fields(task)
    if fields is not None:
        return next((value for name, value in fields.items() if name in _STORY and isinstance(value, str)), None)
    found = _NAMING.search(_tidy(task))
    return (found["id"] or found["bare"]).lower() if found else None


def begins_another(task: str) -> bool:
    """Tell whether a task asks for a story beside those that there are, and names none."""
    return _ANOTHER.match(task.strip()) is not None and asked_story(task) is None


def asked_answer(task: str, plans: Sequence[str]) -> object:
    """Return the answer in a task that goes on with a story; raise BadAnswer, which asks back, where there is none in it."""
    if (fields := _fields(task)) is not None:
        said = {name: value for name, value in fields.items() if name not in _STORY}
        return said["plan"] if list(said) == ["plan"] else said or GO_ON
    task, named = _tidy(task), asked_story(task) is not None
    text = _NAMING.sub(lambda it: "\n" if "\n" in it[0] else " ", task) if named else task
    text = text.strip(" \t\n,:;–—-") if named else text.strip()
    if named and not re.search(r"\w", text):
        return GO_ON
    parts = [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if re.search(r"\w", part)]
    kept = [part.strip() for part in parts if not _GOES_WITHOUT_SAYING.fullmatch(part.strip(" .!?:;,*-"))]
    choices = [text, *_choices(kept[0] if len(kept) == 1 else text)]
    if (chosen := next((it for it in choices if _plain(it, plans) is not None), None)) is not None:
        return chosen
    if (
        (len(text) <= LONGEST_PHRASE and _THANKS.fullmatch(text))
        or _QUESTION.fullmatch(text)
        or (parts and not kept and not _WRITING.search(task))
    ):
        raise BadAnswer(NOT_AN_ANSWER)
    if parts and not kept:
        return GO_ON
    if (doubtful := next((it for it in choices if is_phrase(it, plans)), None)) is not None:
        return doubtful
    if len(kept) > 1 and (wished := _with_wishes(kept, plans)) is not None:
        return wished
    plan = " ".join(kept) if len(kept) < len(parts) else text
    joining = _JOINING.match(plan) if named else None
    return plan[joining.end() :] if joining else plan


def _choices(text: str) -> Iterator[str]:
    """Yield what may be the choice in a sentence, with less and less around it."""
    text = _OF_THIS.sub("", _TAIL.sub("", text))
    yield text
    if found := _CHOOSING.match(text):
        text = text[found.end() :]
    yield re.sub(r"[\"“'](\d+)[\"”']", r"\1", _NUMBER_OF.sub(r"\1 ", text))


def _with_wishes(parts: Sequence[str], plans: Sequence[str]) -> object:
    """Return the plan that the first of these sentences chooses, edited by what the others wish for; None where none is."""
    for choice in _choices(parts[0]) if _A_PLAN.search(parts[0]) else ():
        number = _plain(choice, plans)
        if isinstance(number, int) and 1 <= number <= len(plans):
            return {"action": "edit", "number": number, "plan": " ".join((plans[number - 1], *parts[1:]))}
    return None


def _plain(text: str, plans: Sequence[str]) -> int | str | None:
    """Return the number or the action that a text is beyond doubt; None for none."""
    try:
        return understand(text, plans)
    except BadAnswer:
        return None


def _tidy(text: str) -> str:
    """Return a text without runs of blanks, over which patterns would go again and again."""
    return re.sub(r"\n\s*", "\n", re.sub(r"[^\S\n]+", " ", text)).strip()


_STORY = ("story", "story_id", "id")


def _fields(task: str) -> Mapping[str, Any] | None:
    if not task.lstrip().startswith("{"):
        return None
    try:
        fields = json.loads(task)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) and fields.keys() & set(_STORY) else None
