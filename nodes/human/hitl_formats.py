"""The question and its answer in the words of chat interfaces: agent-chat-ui's review of actions, and Agent Inbox.

Both show one proposed action and let it be approved, edited, turned down, or answered in words. Ours is to choose the first
plan. Approving it chooses that plan; turning it down asks for other plans, or takes the sentence that comes with it; ignoring
it leaves the choice to the simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recurrentgpt.nodes.human.phrases import is_phrase, refuses, typed_number
from recurrentgpt.schema.errors import BadAnswer

ACTION = "choose_plan"
HOW_TO_ANSWER = (
    "Approve takes plan 1. Edit: give another number, write a plan of your own, or change the memory. Reject asks for "
    "other plans, or takes the sentence that comes with it as the plan. In words: a number, your own plan, or: another "
    "take, new plans, simulator, end."
)
SENTENCE = 3
"""Fewest words of a reason for turning a plan down that is a plan itself."""
_UNCHANGED = object()


def with_inboxes(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the question with what those interfaces read beside our own fields."""
    plans: list[str] = request["candidate_plans"]
    arguments = proposal(request["short_term_memory"])
    problem, numbered = (
        request.get("problem", ""),
        "\n".join(f"{number}. {plan}" for number, plan in enumerate(plans, 1)),
    )
    # Agent Inbox shows this description and nothing else of ours.
    read = [problem, request["passage"], request["question"], numbered, HOW_TO_ANSWER]
    action = {
        "name": ACTION,
        "args": arguments,
        # The same for Agent Inbox, whose main branch reads this name alone, where agent-chat-ui reads the other.
        "arguments": arguments,
        "description": "\n\n".join(filter(None, read)),
    }
    return {
        **request,
        "action_requests": [action],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": ["approve", "edit", "reject", "respond"]}],
    }


def proposal(memory: str) -> Mapping[str, Any]:
    """Return the action that is proposed: the first plan by its number, and the memory as it is.

    Both interfaces make its fields a form: the plan's is empty, for the plans stand above it, and beside another number the
    words of the first would say otherwise.
    """
    return {"number": 1, "plan": "", "short_term_memory": memory}


def unwrapped(raw: object, plans: list[str], memory: str) -> object:
    """Return an answer of those interfaces in our own fields; any other answer as it is. Raises BadAnswer."""
    decisions = raw.get("decisions", _UNCHANGED) if isinstance(raw, Mapping) else raw
    if isinstance(decisions, list | tuple):
        if len(decisions) != 1 or not isinstance(decisions[0], Mapping):
            raise BadAnswer(f"One question has one answer, which is an object; this is {decisions!r:.60}.")
        return _decided(decisions[0], plans, memory)
    if decisions is not _UNCHANGED and decisions is not raw:
        raise BadAnswer("decisions is a list with one decision in it.")
    if isinstance(raw, Mapping) and "type" in raw:
        return _decided(raw, plans, memory)
    return raw


def whole_number(value: object) -> object:
    """Return a number as forms send it, a numeral or 2.0, as the number that it is; anything else as it is."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        number = typed_number(value)
        return (value or None) if number is None else number
    return value


def _decided(decision: Mapping[str, Any], plans: list[str], memory: str) -> object:
    kind, said = decision.get("type"), decision.get("args")
    match kind:
        case "approve" | "accept":
            return 1
        case "reject":
            if isinstance(said, str) and said.strip():
                return said  # A newer Agent Inbox calls its answer in words a rejection.
            # The form wants a message, the one place for words: what is said there of the plans themselves asks for others.
            words = decision.get("message")
            if not isinstance(words, str) or refuses(words):
                return {"action": "new_plans"}
            tells = len(words.split()) >= SENTENCE or words.rstrip().endswith((".", "!"))
            return words if tells or is_phrase(words, plans) else {"action": "new_plans"}
        case "ignore":
            return {"action": "simulator", "passages": 1}
        case "respond" | "response":
            words = decision.get("message", said)
            if not isinstance(words, str):
                raise BadAnswer("An answer in words is text: a number, or a plan of your own.")
            return words
        case "edit":
            edited = decision.get("edited_action", said)
            arguments = (edited.get("args") or edited.get("arguments")) if isinstance(edited, Mapping) else None
            if not isinstance(arguments, Mapping):
                raise BadAnswer("An edited action has args: number, plan and short_term_memory.")
            return _edited(arguments, plans, memory)
    raise BadAnswer(f"There is no decision {kind!r:.60}; approve, edit, reject or respond.")


def _edited(arguments: Mapping[str, Any], plans: list[str], memory: str) -> dict[str, Any]:
    """Return the fields that were changed: a form sends all of them, those of the proposal included."""
    fields = {**arguments, "number": whole_number(arguments.get("number"))}
    if fields["number"] is None:
        del fields["number"]
    plan = fields.get("plan")
    if isinstance(plan, str) and not plan.strip():
        fields.pop("plan")
    elif isinstance(plan, str) and plan.strip() in plans:
        # The text of a plan as it was proposed: it says no more than its number, unless the number says otherwise.
        fields.pop("plan")
        if fields.get("number", 1) == 1:
            fields["number"] = plans.index(plan.strip()) + 1
    elif isinstance(plan, str) and fields.get("number") == 1 and is_phrase(plan, plans):
        # The number is the proposal's, and what was typed is another one, or an action.
        fields.pop("number")
    if fields.get("short_term_memory") == memory:
        fields.pop("short_term_memory")
    elif is_blank(fields.get("short_term_memory")):
        # This form came filled in, so it was emptied: no sentences. In a form that begins empty it says nothing.
        fields["short_term_memory"] = []
    return fields


def is_blank(value: object) -> bool:
    """Return whether a value is text without a word."""
    return isinstance(value, str) and not value.strip()
