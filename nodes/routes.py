"""Where a story goes next: the conditional edges, as pure functions of state and context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime

from recurrentgpt.nodes.last_steps import last_step
from recurrentgpt.schema.context import Context, graph_defaults, resolve_context
from recurrentgpt.schema.state import State


def waiting_plan(state: State) -> str:
    """Return the plan that was chosen and that no passage is written from yet; "" for none."""
    plan = state.get("plan", "")
    if "next_plan" not in state:
        # A checkpoint from before this channel, in which a plan waited while it was another than the passage's.
        return plan if plan != state.get("written_plan") else ""
    return state["next_plan"] and (plan or state["next_plan"])


def plan_in_hand(state: State) -> str:
    """Return the plan of the passage in the making, or of the newest one; an update by hand that names no plan forgets `plan`."""
    return state.get("plan") or state.get("next_plan") or state.get("written_plan", "")


def coming_plan(state: State) -> str:
    """Return the plan of the next passage: the one that waits, or that the passage in flight is written from; "" for none."""
    return waiting_plan(state) or (plan_in_hand(state) if state.get("status") == "writing" else "")


def after_opening(
    state: State,
) -> Literal["commit", "propose_plans", "retrieve", "select_plan", "simulator", "update_memory", "__end__"]:
    """Commit a new story's opening; in a reopened one, do what waits there, or let a plan be chosen.

    An end that a chat asked for is committed too. A story that goes on after its end first remembers how it ended. A chat that
    has no premise yet ends until its next message.
    """
    if not state.get("brief"):
        return "__end__"
    if not state.get("head") or state.get("status") == "finished":
        return "commit"
    if state.get("memory_is_behind"):
        return "update_memory"
    if waiting_plan(state):
        return "retrieve"
    if state.get("status") == "replanning" or not state.get("candidate_plans"):
        # A story that had ended has no plans to choose from.
        return "propose_plans"
    return after_commit(state)


class Route(Runnable[Any, Any]):
    """A choice of the nodes that follow, made at once with what the node before them writes.

    LangGraph runs a plain function apart, and whoever stops the writing there keeps what was written and nothing that follows.
    """

    def __init__(self, choose: Callable[[State], Any]) -> None:
        self.choose, self.name = choose, choose.__name__

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the names of the nodes that follow a state."""
        return self.choose(input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Do as `invoke` does."""
        return self.choose(input)


def after_write(state: State) -> list[Literal["update_memory", "propose_plans"]]:
    """Update the memory, and propose plans beside it; where `write` left none, they wait for what that says."""
    return ["update_memory", "propose_plans"] if state.get("candidate_plans") else ["update_memory"]


def after_memory(state: State) -> Literal["propose_plans", "commit"]:
    """Propose the plans that waited for the memory; where they are there, are being made, or one is chosen, commit."""
    if state.get("status") == "replanning":
        return "propose_plans"
    return "commit" if state.get("candidate_plans") or waiting_plan(state) else "propose_plans"


def after_commit(state: State) -> Literal["retrieve", "select_plan", "simulator", "__end__"]:
    """Stop where the run was asked to, else write the plan that waits (an opening's), else let one be chosen."""
    # update_state() runs the edges too, outside of any run, and then there is no runtime.
    runtime: Runtime[Any] | None = get_runtime()
    context = resolve_context(runtime.context if runtime else None, graph_defaults(get_config()))
    last = last_step(state, context)
    if (last and state["step"] >= last) or state.get("status") == "finished" or budget_is_used(state, context):
        return "__end__"
    if waiting_plan(state) or plan_in_hand(state) != state.get("written_plan", ""):
        # Of the newest passage, the plan in the state is the written one: another was put there by hand, to be written.
        return "retrieve"
    selector = context.selector if runtime else state.get("selector", context.selector)
    return "simulator" if selector == "simulator" or state.get("autopilot", 0) else "select_plan"


def after_choice(
    state: State,
) -> Literal["commit", "open_story", "propose_plans", "retrieve", "select_plan", "simulator"]:
    """Go where an answer leads; where a state edited behind `select_plan` leads nowhere, ask again."""
    match state.get("status"):
        case "retaking":
            return "open_story"
        case "replanning":
            return "propose_plans"
        case "finished":
            return "commit"
    if waiting_plan(state):
        return "retrieve"
    return "simulator" if state.get("autopilot", 0) else "select_plan"


def budget_is_used(state: State, context: Context) -> bool:
    """Return whether another timestep may pass the run's budget: one twice as dear as the dearest so far.

    Or one as dear as its longest replies would have made it, for a call is only made where there is room for such a reply.
    """
    dearest = state.get("dearest", 0)
    return bool(context.budget_tokens and dearest) and state.get("spent", 0) + dearest > context.budget_tokens


def after_one_step(state: State) -> Literal["retrieve", "__end__"]:
    """Write the first plan of a story that was just opened; after a passage, leave the choice to the host."""
    return "retrieve" if waiting_plan(state) else "__end__"
