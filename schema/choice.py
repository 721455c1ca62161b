"""What happens next, as somebody answered it, and what that changes in a story's state: the one place that applies a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recurrentgpt.schema.state import Choice, State

Action = Literal["choose", "edit", "write", "another_take", "new_plans", "simulator", "end"]
ACTIONS: tuple[Action, ...] = ("choose", "edit", "write", "another_take", "new_plans", "simulator", "end")
PLAN_ACTIONS = ACTIONS[:3]
"""Actions that set the plan of the next passage."""

MOST_PASSAGES = 1000
"""Passages that one answer may leave to the simulator: a slip of the finger must not keep a server busy for ever."""


@dataclass(frozen=True)
class Answer:
    """One usable answer to the question what happens next."""

    action: Action
    index: int | None = None
    """Which of the candidate plans, from 0."""
    plan: str = ""
    passages: int = 1
    """How many passages the simulator shall pilot; 0 for all that are left, of an open-ended story at most `MOST_PASSAGES`."""
    memory: str | None = None
    """The short-term memory as edited by the human, one sentence a line."""


def choose_plan(plan: str, author: str, choice: Choice) -> State:
    """Return what a chosen plan changes in the state: it waits until a passage is written from it."""
    return State(plan=plan, next_plan=plan, plan_author=author, choice=choice, take=0, status="writing")


def let_plan_wait(answer: Answer) -> State:
    """Return what puts an answer's plan into a thread from outside of a run: it waits, whatever was written before."""
    return {**apply_answer(answer), "written_plan": ""}


def apply_answer(answer: Answer, *, take: int = 0) -> State:
    """Return what an answer changes in the state; `take` is how often this timestep was taken so far.

    Where the graph goes from there is for its edges to read from the state, or for a node that routes by the action.
    """
    memory = State() if answer.memory is None else State(short_term_memory=answer.memory)
    match answer.action:
        case "choose" | "edit" | "write":
            author = "model" if answer.action == "choose" else "human"
            choice = Choice(index=answer.index, by="human", why="")
            return {**memory, **choose_plan(answer.plan, author, choice)}
        case "another_take":
            return {**memory, "status": "retaking", "take": take + 1}
        case "new_plans":
            return {**memory, "status": "replanning", "take": take + 1}
        case "simulator":
            return {**memory, "autopilot": answer.passages or MOST_PASSAGES}
        case "end":
            return {**memory, "status": "finished"}
