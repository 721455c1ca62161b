"""What happens next, as somebody answered it, and what that changes in a story's state: the one place that applies a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recurrentgpt.schema.state import Choice, State

Action = Literal["choose", "edit", "write", "another_take", "new_plans", "simulator", "end"]
ACTIONS: tuple[Action, ...] = ("choose", "edit", "write", "another_take", "new_plans", "simulator", "end")
PLAN_ACTIONS = ACTIONS[:3]
"""Actions that set the plan of the next passage."""


@dataclass(frozen=True)
class Answer:
    """One usable answer to the question what happens next."""

    action: Action
    index: int | None = None
    """Which of the candidate plans, from 0."""
    plan: str = ""
    passages: int = 1
    """How many passages the simulator shall pilot; 0 for all that are left."""
    memory: str | None = None
    """The short-term memory as edited by the human, one sentence a line."""


def apply_answer(answer: Answer, *, take: int = 0) -> State:
    """Return what an answer changes in the state; `take` is how often this timestep was taken so far.

    Where the graph goes from there is for its edges to read from the state, or for a node that routes by the action.
    """
    update: State = {} if answer.memory is None else {"short_term_memory": answer.memory}
    match answer.action:
        case "choose" | "edit" | "write":
            update["plan"] = answer.plan
            update["plan_author"] = "model" if answer.action == "choose" else "human"
            update["choice"] = Choice(index=answer.index, by="human", why="")
            update["take"] = 0
            update["status"] = "writing"
        case "another_take":
            update["status"], update["take"] = "retaking", take + 1
        case "new_plans":
            update["status"], update["take"] = "replanning", take + 1
        case "simulator":
            update["autopilot"] = answer.passages or -1
        case "end":
            update["status"] = "finished"
    return update
