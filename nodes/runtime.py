"""What a node is given beside the state: the run's settings, the story log, prompts, models, and where to report.

Every verb of this package is one `@node async def verb(state, runtime) -> update`, and a graph adds it by its name.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, update_wrapper
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from recurrentgpt.infrastructure.background_loop import call as wait_for
from recurrentgpt.infrastructure.telemetry import observed
from recurrentgpt.memory.codex import facts
from recurrentgpt.memory.recall import Recall
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.memory.vector_store import VectorStoreRecall
from recurrentgpt.models.calls import Meter, total_usage, used_tokens
from recurrentgpt.models.embeddings import default_embeddings
from recurrentgpt.models.roles import ResolvedModel, Role, aresolve_model
from recurrentgpt.nodes.by_hand import correct_passage
from recurrentgpt.nodes.human.message_stream import Speech
from recurrentgpt.nodes.last_steps import last_step
from recurrentgpt.nodes.prompt_runtime import PromptRuntime
from recurrentgpt.nodes.routes import plan_in_hand
from recurrentgpt.nodes.server_thread import thread_of
from recurrentgpt.nodes.validate_state import check_state, made_by, passage_was_edited, refuse, refused_in_flight
from recurrentgpt.schema.context import Context, graph_defaults, graph_store, resolve_context
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.state import State

SIDE_BY_SIDE = ("update_memory", "propose_plans")
"""Nodes that follow a passage, at once or one after the other, and share what the budget leaves."""

MAKING = ("retrieve", "write", "update_memory")
"""Nodes that make what nobody may change before it is committed."""

LEAVING = ("retrieve", "write", "simulator")
"""Nodes between the choice of a plan and its passage."""

Update = dict[str, Any]
Verb = Callable[..., Awaitable[Update]]
"""`async def verb(state, runtime) -> update`."""


@dataclass
class StoryRuntime(PromptRuntime):
    """The surroundings of one node call, made from LangGraph's own runtime."""

    log: StoryLog
    emit: Callable[[Mapping[str, Any]], None]
    """Write one event to LangGraph's `custom` stream."""
    meter: Meter = field(default_factory=Meter)
    server_thread: str = ""
    """Id of the thread in which LangGraph's server runs the graph; empty elsewhere."""

    @classmethod
    def of(cls, runtime: Runtime[Any], config: RunnableConfig, *, threaded: bool) -> StoryRuntime:
        """Return the surroundings that LangGraph's runtime and config describe; raise SettingsError without a store."""
        # Inside another graph LangGraph gives it that one's store, which may be none.
        store = graph_store(config) if runtime.store is None else runtime.store
        if store is None:
            raise SettingsError(
                "This graph keeps its passages in a LangGraph store and has none: compile it, or the graph that it runs in, with "
                "store=..., for example InMemoryStore()."
            )
        return cls(
            context=resolve_context(runtime.context, graph_defaults(config)),
            log=StoryLog(store, threaded=threaded),
            emit=runtime.stream_writer,
            server_thread=thread_of(config),
        )

    @cached_property
    def recall(self) -> Recall | VectorStoreRecall:
        """The search over the log with this run's embedding model, or with its vector store."""
        given = self.context.embeddings
        if given is not None and not callable(getattr(given, "embed_documents", None)):
            raise SettingsError(f"Embeddings are a LangChain Embeddings, not {type(given).__name__}.")
        if (vectors := self.context.vector_store) is not None:
            embeddings = given or vectors.embeddings or default_embeddings()
            return VectorStoreRecall(self.log, vectors, embeddings)
        return Recall(self.log, given or default_embeddings(), facts)

    async def tell_as_kept(self, state: State, *, seconds: float = math.inf) -> None:
        """Tell the story as it is kept, where this run says nothing else: as its record was read here in the last `seconds`.

        Its thread may have a language of its own.
        """
        kept: dict[str, object] = {}
        if state.get("head"):  # the record is written with the first commit
            kept |= (await self.log.remembered_record(state["story"], seconds=seconds))["settings"]
        if language := state.get("language"):
            kept["language"] = language
        if self.context.ending and last_step(state, self.context):
            # This run's last passage is the story's, wherever an earlier one meant it to end.
            kept.pop("length", None)
        self.context = self.context.over(kept)

    async def model(self, role: Role) -> ResolvedModel:
        """Return the chat model of a role; the first call may fetch and start the embedded one."""
        return await aresolve_model(role, self.context)

    def deck(self, state: State) -> int:
        """Return the seed of the story's decks of moves and names."""
        return self.chance(state, "deck").getrandbits(31)

    def seed(self, state: State, *purpose: object) -> int:
        """Return the sampling seed of one model call: another one for each step, take and purpose."""
        return self.chance(state, state.get("step", 0), state.get("take", 0), *purpose).getrandbits(31)


class Node(Runnable[Any, Update]):
    """A verb that LangGraph runs under `invoke` and `ainvoke` alike; called, it is the verb itself.

    `invoke` runs the same coroutine in the process's background event loop, so there is one implementation and no blocked loop.
    """

    surroundings = StoryRuntime

    name: str

    def __init__(self, verb: Verb, name: str = "") -> None:
        update_wrapper(self, verb)
        self.verb, self.name = verb, name or verb.__name__

    def __call__(self, *given: Any) -> Awaitable[Update]:
        """Return what the verb returns, without what `work` adds."""
        return self.verb(*given)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the verb in this event loop."""
        return await self.work(input, self.surroundings.of(get_runtime(), config or {}, threaded=False))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the verb in the background event loop and wait for it."""
        runtime = self.surroundings.of(get_runtime(), config or {}, threaded=True)
        return wait_for(lambda: self.work(input, runtime))

    async def work(self, state: State, runtime: StoryRuntime) -> Update:
        """Run the verb on a checked state, report it, and return its update with what it cost."""
        name, by_hand = self.name, State()
        if name != "open_story":
            # There it may be a caller's input, which has checks of its own.
            check_state(state)
            refuse(refused_in_flight(state))
            # It may have been changed elsewhere; a step that has begun is told in one way. Whatever comes before a step
            # has mostly read it just now.
            await runtime.tell_as_kept(state, seconds=1 if name == "retrieve" else math.inf)
            if stands_at_passage(state, name):
                by_hand = await correct_passage(state, runtime, recalled=name != "write", replans=name in SIDE_BY_SIDE)
            elif name == "commit" and passage_was_edited(state):
                by_hand = {"author": "edited"}
            state = {**state, **by_hand}
        runtime.emit({"event": "stage", "node": name})
        runtime.emit = Speech(runtime.emit, state)
        runtime.meter.allowance = _allowance(state, runtime.context, name)
        with observed(name, state.get("story", ""), state.get("step", 0), lambda: runtime.meter.usage):
            update = {**by_hand, **await self.pass_plan_on(state, runtime)}
        if name in MAKING:
            update["digests"] = made_by(name, state, update)
        if runtime.meter.usage["calls"]:
            update = {**update, "usage": {name: runtime.meter.usage}}
        if runtime.meter.needed and name in SIDE_BY_SIDE:
            # A fifth more, for the next step's prompts hold a longer memory and a longer way here.
            needed = runtime.meter.needed * (1 + _shares(name, state))
            update = {**update, "dearest": (tokens_of_step(state) + needed) * 6 // 5}
        return update

    async def pass_plan_on(self, state: State, runtime: StoryRuntime) -> Update:
        """Run the verb and pass the plan on: its channel forgets it with every step, so a plan in a run's input is new."""
        if self.name == "open_story":
            return await self.verb(state, runtime)
        plan = plan_in_hand(state)
        return {"plan": plan, **await self.verb({**state, "plan": plan}, runtime)}


node = Node
"""The decorator of a story's verbs."""


def stands_at_passage(state: State, name: str) -> bool:
    """Return whether a node begins where the story stands at the passage of its last commit."""
    if not state.get("head"):
        return False
    # The others follow a passage in the making, unless plans are asked for, or the memory of an end, and nothing is made yet.
    return name in LEAVING or (name in SIDE_BY_SIDE and not state.get("usage") and state.get("status") != "writing")


def _allowance(state: State, context: Context, name: str) -> int | None:
    """Return the tokens that the budget leaves to a node; the two that follow a passage share them."""
    if not context.budget_tokens:
        return None
    left = max(0, context.budget_tokens - state.get("spent", 0) - tokens_of_step(state))
    return left // 2 if _shares(name, state) else left


def _shares(name: str, state: State) -> bool:
    """Return whether the other of the two nodes that follow a passage is still to be paid for."""
    return name in SIDE_BY_SIDE and "update_memory" not in state.get("usage", {})


def tokens_of_step(state: State) -> int:
    """Return the tokens that this timestep has used so far."""
    return used_tokens(total_usage(list(state.get("usage", {}).values())))
