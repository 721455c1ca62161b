"""Where a story goes next: the conditional edges, as pure functions of state and context."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime, get_runtime

from recurrentgpt.graph.context import Context, resolve_context
from recurrentgpt.graph.state import State

Chooser = Literal["select_plan", "simulator"]


def plan_waits(state: State) -> bool:
    """Return whether a plan was given that no passage has been written from yet."""
    return bool(state.get("plan")) and state.get("plan") != state.get("written_plan")


def _context() -> Context:
    # update_state() runs the edges too, outside of any run, and then there is no runtime.
    runtime: Runtime[Any] | None = get_runtime()
    return resolve_context(runtime.context if runtime else None)


def last_step(state: State, context: Context) -> int:
    """Return the passage after which this run ends; 0 for no end."""
    return context.last_step or state.get("until", 0)


def after_opening(
    state: State,
) -> Literal["commit", "propose_plans", "retrieve", "select_plan", "simulator", "__end__"]:
    """Commit a new story's opening; in a reopened one, do what waits there, or let a plan be chosen."""
    if not state.get("head"):
        return "commit"
    if plan_waits(state):
        return "retrieve"
    if state.get("status") == "replanning" or not state.get("candidate_plans"):
        # A story that had ended has no plans to choose from.
        return "propose_plans"
    return after_commit(state)


def after_commit(state: State) -> Literal["retrieve", "select_plan", "simulator", "__end__"]:
    """Stop where the run was asked to, else write the plan that waits (an opening's), else let one be chosen."""
    last = last_step(state, _context())
    if (last and state["step"] >= last) or state.get("status") == "finished":
        return "__end__"
    if plan_waits(state):
        return "retrieve"
    return chooser(state)


def chooser(state: State) -> Chooser:
    """Return who chooses the next plan."""
    piloted = _context().selector == "simulator" or state.get("autopilot", 0)
    return "simulator" if piloted else "select_plan"


def after_one_step(state: State) -> Literal["retrieve", "__end__"]:
    """Write the first plan of a story that was just opened; after a passage, leave the choice to the host."""
    return "retrieve" if plan_waits(state) else "__end__"
