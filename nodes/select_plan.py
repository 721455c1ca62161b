"""select_plan: the human's turn. It holds nothing but the interrupt, because a node runs again from its top on every answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphInterrupt
from langgraph.types import Command, interrupt

from recurrentgpt.nodes.human.answers import Answer, answer_schema, parse_answer
from recurrentgpt.nodes.human.hitl_formats import with_inboxes
from recurrentgpt.nodes.routes import chooser
from recurrentgpt.nodes.validate_state import check_state
from recurrentgpt.schema.context import NO_DEFAULTS
from recurrentgpt.schema.errors import BadAnswer
from recurrentgpt.schema.state import Choice, State


def select_plan(state: State, defaults: Mapping[str, Any] = NO_DEFAULTS) -> Command[str]:
    """Ask for the next plan until the answer can be used, and go where it leads; a bad answer is asked again with its reason."""
    check_state(state)
    plans = state["candidate_plans"]
    request = payload(state)
    if problem := state.get("problem"):
        request["problem"] = problem
    while True:
        try:
            raw = interrupt(with_inboxes(request), response_schema=answer_schema(len(plans)))
        except GraphInterrupt:
            # Nobody has answered, and nobody is to be asked: update_state() knows no context, and routes to the human.
            if chooser(state, defaults) == "simulator":
                return Command(goto="simulator")
            raise
        try:
            answer = parse_answer(raw, plans, state["short_term_memory"])
            if answer.action == "another_take" and not state.get("step"):
                raise BadAnswer("There is no passage yet to take again; choose one of the plans, or write your own.")
        except BadAnswer as fault:
            request = {**request, "problem": str(fault)}
        else:
            return _follow(answer, state)


def payload(state: State) -> dict[str, Any]:
    """Return what the human is shown: the passage, the plans, the memory and why it changed, and what was recalled."""
    return {
        "question": "What happens next? Choose a plan by its number, or write your own.",
        "story": state["story"],
        "title": state["title"],
        "step": state.get("step", 0),
        "passage": state.get("passage", ""),
        "candidate_plans": state["candidate_plans"],
        "short_term_memory": state["short_term_memory"],
        "rationale": state.get("rationale", {"dropped": [], "added": []}),
        "recalled": state.get("recalled", []),
    }


def _follow(answer: Answer, state: State) -> Command[str]:
    update: dict[str, Any] = {"problem": ""} if state.get("problem") else {}
    if answer.memory is not None:
        update["short_term_memory"] = answer.memory
    match answer.action:
        case "choose" | "edit" | "write":
            return Command(update=update | chosen(answer), goto="retrieve")
        case "another_take":
            return Command(update=update | {"status": "retaking", "take": state.get("take", 0) + 1}, goto="open_story")
        case "new_plans":
            return Command(update=update | {"take": state.get("take", 0) + 1}, goto="propose_plans")
        case "simulator":
            return Command(update=update | {"autopilot": answer.passages or -1}, goto="simulator")
        case "end":
            return Command(update=update | {"status": "finished"}, goto="commit")


def chosen(answer: Answer) -> dict[str, Any]:
    """Return the state's plan as a human chose, edited or wrote it."""
    author = "model" if answer.action == "choose" else "human"
    choice = Choice(index=answer.index, by="human", why="")
    return {"plan": answer.plan, "plan_author": author, "choice": choice, "take": 0, "status": "writing"}
