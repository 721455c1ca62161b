"""Where a story goes next: the conditional edges, as pure functions of state and context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, Protocol, TypeVar

from langgraph.runtime import Runtime, get_runtime

from recurrentgpt.schema.context import NO_DEFAULTS, Context, resolve_context
from recurrentgpt.schema.state import State

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Chooser = Literal["select_plan", "simulator"]


class Route(Protocol[T_co]):
    """Tell from the state alone where to go; LangGraph names the argument."""

    def __call__(self, state: State) -> T_co:
        """Return the name of the next node, or a command that says it."""


def plan_waits(state: State) -> bool:
    """Return whether a plan was given that no passage has been written from yet."""
    return bool(state.get("plan")) and state.get("plan") != state.get("written_plan")


def _context(defaults: Mapping[str, Any]) -> Context:
    # update_state() runs the edges too, outside of any run, and then there is no runtime.
    runtime: Runtime[Any] | None = get_runtime()
    return resolve_context(runtime.context if runtime else None, defaults)


def last_step(state: State, context: Context) -> int:
    """Return the passage after which this run ends; 0 for no end."""
    return context.last_step or state.get("until", 0)


def after_opening(
    state: State, defaults: Mapping[str, Any] = NO_DEFAULTS
) -> Literal["commit", "propose_plans", "retrieve", "select_plan", "simulator", "__end__"]:
    """Commit a new story's opening; in a reopened one, do what waits there, or let a plan be chosen.

    An end that a chat asked for is committed too.
    """
    if not state.get("head") or state.get("status") == "finished":
        return "commit"
    if plan_waits(state):
        return "retrieve"
    if state.get("status") == "replanning" or not state.get("candidate_plans"):
        # A story that had ended has no plans to choose from.
        return "propose_plans"
    return after_commit(state, defaults)


def after_commit(
    state: State, defaults: Mapping[str, Any] = NO_DEFAULTS
) -> Literal["retrieve", "select_plan", "simulator", "__end__"]:
    """Stop where the run was asked to, else write the plan that waits (an opening's), else let one be chosen."""
    context = _context(defaults)
    last = last_step(state, context)
    if (last and state["step"] >= last) or state.get("status") == "finished" or budget_is_used(state, context):
        return "__end__"
    if plan_waits(state):
        return "retrieve"
    return chooser(state, defaults)


def budget_is_used(state: State, context: Context) -> bool:
    """Return whether another timestep may pass the run's budget: one twice as dear as the dearest so far.

    Or one as dear as its longest replies would have made it, for a call is only made where there is room for such a reply.
    """
    dearest = state.get("dearest", 0)
    return bool(context.budget_tokens and dearest) and state.get("spent", 0) + dearest > context.budget_tokens


def chooser(state: State, defaults: Mapping[str, Any] = NO_DEFAULTS) -> Chooser:
    """Return who chooses the next plan."""
    piloted = _context(defaults).selector == "simulator" or state.get("autopilot", 0)
    return "simulator" if piloted else "select_plan"


def after_one_step(state: State) -> Literal["retrieve", "__end__"]:
    """Write the first plan of a story that was just opened; after a passage, leave the choice to the host."""
    return "retrieve" if plan_waits(state) else "__end__"


def with_defaults(route: Callable[[State, Mapping[str, Any]], T], defaults: Mapping[str, Any]) -> Route[T]:
    """Return a route that goes by what its graph changes of the context's defaults."""

    @wraps(route)
    def choose(state: State) -> T:
        return route(state, defaults)

    return choose
