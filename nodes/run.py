"""What a node is given beside the state: the run's settings, the story log, prompts, models, and where to report.

Every verb of this package is one `async def verb(state, run) -> update`. `node` makes it fit for LangGraph under
`ainvoke` and `invoke` alike: the second runs the same coroutine in the process's background event loop, so there is one
implementation and no blocked loop.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.runtime import Runtime, get_runtime

from recurrentgpt.errors import SettingsError
from recurrentgpt.graph.context import Context, resolve_context
from recurrentgpt.graph.state import State
from recurrentgpt.loop import call as wait_for
from recurrentgpt.memory.chronicle import Chronicle
from recurrentgpt.memory.recall import Recall
from recurrentgpt.models.calls import Meter
from recurrentgpt.models.embeddings import default_embeddings
from recurrentgpt.models.roles import ResolvedModel, Role, aresolve_model
from recurrentgpt.prompts import Prompts

Update = dict[str, Any]
Verb = Callable[[State, "Run"], Awaitable[Update]]


@dataclass
class Run:
    """The surroundings of one node call."""

    context: Context
    chronicle: Chronicle
    emit: Callable[[Mapping[str, Any]], None]
    """Write one event to LangGraph's `custom` stream."""
    meter: Meter = field(default_factory=Meter)

    @classmethod
    def of(cls, runtime: Runtime[Any], *, threaded: bool) -> Run:
        """Return the surroundings that LangGraph's runtime describes; raise SettingsError without a store."""
        if runtime.store is None:
            raise SettingsError(
                "This graph keeps its passages in a LangGraph store and has none: compile or call it with store=..., "
                "for example InMemoryStore()."
            )
        return cls(
            context=resolve_context(runtime.context),
            chronicle=Chronicle(runtime.store, threaded=threaded),
            emit=runtime.stream_writer,
        )

    @cached_property
    def recall(self) -> Recall:
        """The search over the log with this run's embedding model."""
        return Recall(self.chronicle, self.context.embeddings or default_embeddings())

    async def model(self, role: Role) -> ResolvedModel:
        """Return the chat model of a role; the first call may fetch and start the embedded one."""
        return await aresolve_model(role, self.context)

    def prompts(self, model: ResolvedModel) -> Prompts:
        """Return the templates that suit a model."""
        return Prompts(model.tier, self.context.prompts)

    def chance(self, state: State, *purpose: object) -> random.Random:
        """Return a random generator that depends on the story's seed and on `purpose`, and on nothing else."""
        seed = state.get("story", "") if self.context.seed is None else self.context.seed
        return random.Random("/".join(map(str, (seed, *purpose))))

    def deck(self, state: State) -> int:
        """Return the seed of the story's decks of moves and names."""
        return self.chance(state, "deck").getrandbits(31)

    def seed(self, state: State, *purpose: object) -> int:
        """Return the sampling seed of one model call: another one for each step, take and purpose."""
        return self.chance(state, state.get("step", 0), state.get("take", 0), *purpose).getrandbits(31)


def node(verb: Verb) -> RunnableLambda[State, Update]:
    """Return `verb` as a LangGraph node that works under `invoke` and `ainvoke`."""
    name = verb.__name__

    async def work(state: State, runtime: Runtime[Any], *, threaded: bool) -> Update:
        run = Run.of(runtime, threaded=threaded)
        run.emit({"event": "stage", "node": name})
        update = await verb(state, run)
        if run.meter.usage["calls"]:
            update = {**update, "usage": {name: run.meter.usage}}
        return update

    async def in_this_loop(state: State, config: RunnableConfig) -> Update:
        return await work(state, get_runtime(), threaded=False)

    def in_the_background(state: State, config: RunnableConfig) -> Update:
        runtime = get_runtime()
        return wait_for(lambda: work(state, runtime, threaded=True))

    return RunnableLambda(in_the_background, afunc=in_this_loop, name=name)
