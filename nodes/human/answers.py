"""What a human may answer when asked for the next plan, in any of the shapes that people and interfaces use."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from recurrentgpt.nodes.human.hitl_formats import is_blank, unwrapped, whole_number
from recurrentgpt.nodes.human.phrases import (
    NO_WORDS,
    agreed,
    changed_plan,
    names_plan_or_action,
    typed_action,
    understand,
    without_number,
)
from recurrentgpt.prose.model_text import control_character, visible_line
from recurrentgpt.prose.sentences import count_words, sentences
from recurrentgpt.schema.choice import ACTIONS, MOST_PASSAGES, PLAN_ACTIONS, Action, Answer
from recurrentgpt.schema.errors import BadAnswer
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS

MOST_PLAN_WORDS = 400
LONG_WORD = 12
"""Characters a word may take up on average: text without spaces is bounded too."""
MOST_PLAN_CHARACTERS = MOST_PLAN_WORDS * LONG_WORD
_JSON = ("{", "[{")


def answer_schema(plans: int) -> dict[str, object]:
    """Return the JSON Schema of an answer, from which Studio draws its form."""
    return {
        "title": "Your turn",
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": list(ACTIONS),
                "default": "choose",
                "description": "choose a plan, edit one, write your own, ask for another take of this passage or for "
                "new plans, let the simulator drive, or end the story",
            },
            "number": {
                "type": "integer",
                "minimum": 1,
                "maximum": plans,
                "description": "Which plan to choose or edit",
            },
            "plan": {"type": "string", "description": "The edited plan, or your own"},
            "passages": {
                "type": "integer",
                "minimum": 0,
                "maximum": MOST_PASSAGES,
                "description": "How many passages the simulator writes; 0 for all that are left, at most 1,000",
            },
            "short_term_memory": {"type": "string", "description": "The memory as it should be, one sentence a line"},
        },
    }


def parse_answer(raw: object, plans: list[str], memory: str = "", *, played: bool = False, asked: str = "") -> Answer:
    """Return what `raw` means; raise BadAnswer with a reason that can be shown when it means nothing.

    A number in any of the ways people write one ("2", "#2", "option 2", "the second one") chooses that plan; `another take`,
    `new plans`, `simulator` and `end` are what they say; a sentence is an own plan; an object, also as JSON text, has the
    fields of `answer_schema`, or is the decision of a chat interface (see `hitl_formats`), in which the given `memory` counts
    as unchanged. What is typed in the field of a plan means what it means alone; in a story that is `played`, words under
    `write` are what the player does. `asked` is the reason with which the answer before was asked back: a yes to it means what
    it offered.
    """
    raw = _agreed(unwrapped(raw, plans, memory), asked, plans)
    if isinstance(raw, bool) or raw is None:
        raise BadAnswer(f"Answer with a number from 1 to {len(plans)} or with a plan of your own.")
    if isinstance(raw, int):
        return Answer("choose", index=_index(raw, plans), plan=plans[_index(raw, plans)])
    if isinstance(raw, str):
        return _from_text(raw.strip(), plans, memory, played=played)
    if isinstance(raw, Mapping):
        return _from_fields(raw, plans, played=played)
    raise BadAnswer(f"An answer is a number, a plan in your own words, or an object; it is {raw!r:.60}.")


def _agreed(raw: object, asked: str, plans: list[str]) -> object:
    """Return an answer with what was offered in the place of a yes, also of one in the field of a plan."""
    said = raw.get("plan") if isinstance(raw, Mapping) else raw
    meant = agreed(said, asked, plans) if isinstance(said, str) else None
    if meant is None:
        return raw
    return {**raw, "plan": str(meant)} if isinstance(raw, Mapping) else str(meant)


def _from_text(text: str, plans: list[str], memory: str, *, played: bool) -> Answer:
    text = _unfenced(text)
    if text.startswith(_JSON):
        return parse_answer(_json(text), plans, memory, played=played)
    return _from_words(text, plans, played=played)


def _from_words(text: str, plans: list[str], *, played: bool) -> Answer:
    if changed := changed_plan(text, plans):
        number, plan = changed
        return Answer("edit", index=_index(number, plans), plan=check_plan(plan))
    said = understand(text, plans, played=played)
    if isinstance(said, int):
        return Answer("choose", index=_index(said, plans), plan=plans[_index(said, plans)])
    if said is not None:
        return Answer(said)
    return Answer("write", plan=check_plan(without_number(text, plans)))


def _unfenced(text: str) -> str:
    return re.sub(r"^```(?:json)?\s*(.*?)\s*```$", r"\1", text, flags=re.DOTALL)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadAnswer(
            "This looks like JSON and cannot be read as such: answer with a number or a sentence."
        ) from None


def is_played(mode: str, step: int) -> bool:
    """Return whether answers are what a player does: until they have said who they are, after the opening, nobody plays."""
    return mode == "fiction" and step > 0


def check_memory(text: object) -> str:
    """Return an edited memory, one sentence a line; raise BadAnswer beyond its ceilings."""
    if isinstance(text, list):
        text = "\n".join(map(str, text))
    if not isinstance(text, str):
        raise BadAnswer("The short-term memory is text, one sentence a line.")
    if odd := control_character(text):
        raise BadAnswer(f"The short-term memory holds the control character {odd!r}; take it out.")
    if len(text) > MEMORY_WORDS * LONG_WORD:
        raise BadAnswer(
            f"The short-term memory has at most {MEMORY_WORDS * LONG_WORD:,} characters; this one has {len(text):,}."
        )
    lines = [line.strip() for part in text.splitlines() for line in sentences(part) if line.strip()]
    memory = "\n".join(lines)
    if len(lines) > MEMORY_SENTENCES or count_words(memory) > MEMORY_WORDS:
        raise BadAnswer(
            f"The short-term memory holds at most {MEMORY_SENTENCES} sentences and {MEMORY_WORDS} words; this one has "
            f"{len(lines)} sentences and {count_words(memory)} words."
        )
    return memory


def _from_fields(fields: Mapping[str, Any], plans: list[str], *, played: bool) -> Answer:
    memory = fields.get("short_term_memory")
    memory = None if memory is None or is_blank(memory) else check_memory(memory)
    number, plan = whole_number(fields.get("number")), fields.get("plan") or ""
    if isinstance(plan, str):
        plan = plan.strip()
    if number is None and not plan and not fields.get("action"):
        if memory is not None:
            raise BadAnswer("With the memory goes a choice: add the number of a plan, or a plan of your own.")
        others = ", ".join(map(str, fields.keys() - {"number", "plan", "action", "short_term_memory"}))
        raise BadAnswer(
            "An answer in fields has a number, a plan or an action"
            + (f"; this one has {others:.60}." if others else "; this one has none of them.")
        )
    action = fields.get("action") or _implied_action(number, plan)
    if isinstance(action, str):
        action = typed_action(action) or action
    if action not in ACTIONS:
        raise BadAnswer(f"There is no action {action!r:.60}; the actions are {', '.join(ACTIONS)}.")
    if plan:
        typed = _typed_plan(plan, plans, verbatim=played and action == "write", played=played)
        action, number, plan = _reconcile(action, number, typed)
    if action == "write":
        return Answer("write", plan=check_plan(plan), memory=memory)
    if action in ("choose", "edit"):
        index = _index(1 if number is None and action == "edit" and len(plans) == 1 else number, plans)
        chosen = plans[index] if action == "choose" else check_plan(plan)
        return Answer(action, index=index, plan=chosen, memory=memory)
    passages = 1 if fields.get("passages") is None else whole_number(fields["passages"])
    if not isinstance(passages, int) or isinstance(passages, bool) or not 0 <= passages <= MOST_PASSAGES:
        raise BadAnswer(f"passages is a whole number from 0 to {MOST_PASSAGES}.")
    return Answer(action, passages=passages, memory=memory)


def _typed_plan(plan: object, plans: list[str], *, verbatim: bool, played: bool) -> Answer:
    """Return what a field for a plan means: what it would mean as the whole answer, or its words where they are `verbatim`."""
    text = _unfenced(plan) if isinstance(plan, str) else ""
    if text.startswith(_JSON):
        raise BadAnswer("A plan is a sentence, and this one is JSON: give its fields as those of the answer.")
    if not text or (verbatim and not names_plan_or_action(text)):
        return Answer("write", plan=check_plan(plan))
    return _from_words(text, plans, played=played)


def _reconcile(action: Action, number: object, typed: Answer) -> tuple[Action, object, str]:
    """Return the action, number and plan of a form with a plan; raise BadAnswer where they contradict each other."""
    named = action.replace("_", " ")
    if action not in PLAN_ACTIONS and typed.action != action:
        raise BadAnswer(f"Did you mean `{named}`, or the plan that you wrote? Leave one of them out.")
    # A form that says `write` means what was typed, whatever number was left in it.
    number = None if action == "write" else number
    if typed.index is not None:
        if number not in (None, typed.index + 1):
            raise BadAnswer(
                f"Did you mean plan {number}, or plan {typed.index + 1}? Answer with one of the two numbers."
            )
        return "choose", typed.index + 1, ""
    if typed.action != "write":
        if number is not None:
            said = typed.action.replace("_", " ")
            raise BadAnswer(f"Did you mean plan {number}, or `{said}`? Leave one of them out.")
        return typed.action, None, ""
    if action == "choose" and number is not None:
        raise BadAnswer(
            f"Did you mean plan {number} as it is, or the plan that you wrote? Leave out the plan, or the number; to change plan "
            f"{number}, the action is `edit`."
        )
    return ("write" if action == "choose" else action), number, typed.plan


def _implied_action(number: object, plan: object) -> Action:
    if number is not None:
        return "edit" if plan else "choose"
    return "write"


def _index(number: object, plans: list[str]) -> int:
    if not plans:
        raise BadAnswer("There are no plans to choose from; write your own, or ask for new plans.")
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(plans):
        this = "none was given" if number is None else f"this was {number!r:.60}"
        raise BadAnswer(f"Choose a number from 1 to {len(plans)}; {this}.")
    return number - 1


def check_plan(text: object) -> str:
    """Return a plan as it is kept and shown, as one paragraph; raise BadAnswer for one that no prompt should carry."""
    if not isinstance(text, str):
        raise BadAnswer(f"A plan is text; it is {text!r:.60}.")
    if odd := control_character(text):
        raise BadAnswer(f"The plan holds the control character {odd!r}; take it out.")
    if len(text) > MOST_PLAN_CHARACTERS:
        raise BadAnswer(f"A plan has at most {MOST_PLAN_CHARACTERS:,} characters; this one has {len(text):,}.")
    if count_words(text) > MOST_PLAN_WORDS:
        raise BadAnswer(f"A plan has at most {MOST_PLAN_WORDS} words; this one has {count_words(text)}.")
    plan = visible_line(text)
    if not plan:
        raise BadAnswer(NO_WORDS)
    return plan
