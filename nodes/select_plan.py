"""select_plan: the human's turn. It holds nothing but the interrupt, because a node runs again from its top on every answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import interrupt

from recurrentgpt.nodes.human.answers import answer_schema, is_played, parse_answer
from recurrentgpt.nodes.human.chat import asked_words
from recurrentgpt.nodes.human.hitl_formats import with_inboxes
from recurrentgpt.nodes.routes import plan_in_hand
from recurrentgpt.nodes.runtime import Node, StoryRuntime, Update
from recurrentgpt.nodes.validate_state import ONLY_AT_FIRST, check_state, refuse
from recurrentgpt.schema.choice import Answer, apply_answer
from recurrentgpt.schema.errors import BadAnswer
from recurrentgpt.schema.state import State


class HumanTurn(Node):
    """A verb that makes nothing itself: it costs nothing, and is no stage of a step."""

    async def work(self, state: State, runtime: StoryRuntime) -> Update:
        """Run the verb with the settings that the story keeps by now: they may be changed while it waits."""
        await runtime.tell_as_kept(state, seconds=0)
        return await self.verb(state, runtime)


@HumanTurn
async def select_plan(state: State, runtime: StoryRuntime) -> Update:
    """Ask for the next plan until an answer can be used, and return what it changes; a bad one is asked again with its reason."""
    check_state(state)
    if state.get("player"):
        refuse({"player": f"`player` {ONLY_AT_FIRST}"})
    mode, problem = runtime.context.mode, state.get("problem", "")
    while True:
        raw = interrupt(
            question(state, problem, played=mode == "fiction"),
            response_schema=answer_schema(len(state["candidate_plans"])),
        )
        try:
            answer = _parsed(raw, state, problem, played=is_played(mode, state.get("step", 0)))
        except BadAnswer as fault:
            problem = str(fault)
        else:
            return {"plan": plan_in_hand(state), "problem": "", **apply_answer(answer, take=state.get("take", 0))}


def _parsed(raw: object, state: State, problem: str, *, played: bool) -> Answer:
    plans, memory = state["candidate_plans"], state["short_term_memory"]
    answer = parse_answer(raw, plans, memory, played=played, asked=problem)
    if answer.action == "another_take" and not state.get("step"):
        raise BadAnswer("There is no passage yet to take again; choose one of the plans, or write your own.")
    return answer


def question(state: State, problem: str = "", *, played: bool = False) -> Mapping[str, Any]:
    """Return what the human is shown: the passage, the plans, the memory and why it changed, and what was recalled.

    A story that is `played` asks first who plays, and then what they do.
    """
    shown = {
        "question": asked_words(state.get("step", 0), played=played),
        "story": state["story"],
        "title": state["title"],
        "step": state.get("step", 0),
        "passage": state.get("passage", ""),
        "candidate_plans": state["candidate_plans"],
        "short_term_memory": state["short_term_memory"],
        "rationale": state.get("rationale", {"dropped": [], "added": []}),
        "recalled": state.get("recalled", []),
    }
    return with_inboxes({**shown, "problem": problem} if problem else shown)
