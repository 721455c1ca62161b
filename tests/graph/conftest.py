"""What the tests of the graphs share: a player who answers, under `invoke` and `ainvoke` alike."""

import asyncio
import itertools
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from langgraph.types import Command, RetryPolicy

from recurrentgpt.checkpoints import Persistence
from recurrentgpt.graph.story import Graph, build_story_graph
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.endpoint_errors import is_transient
from recurrentgpt.schema.context import Context
from recurrentgpt.testing import ScriptedChatModel

_threads = itertools.count(1)
QUICK = RetryPolicy(initial_interval=0.001, max_interval=0.001, jitter=False, max_attempts=5, retry_on=is_transient)


@pytest.fixture
def context(model: ScriptedChatModel) -> Callable[..., Context]:
    """Give a maker of contexts that use the scripted model and hashed words."""

    def make(**settings: Any) -> Context:
        return Context(**{"model": model, "embeddings": HashEmbeddings(), "new_character": 0.0, "seed": 7, **settings})

    return make


class Player:
    """One thread of a graph and whoever answers its interrupts."""

    def __init__(self, graph: Graph, context: Context, store: Any, *, way: str = "ainvoke") -> None:
        self.graph, self.context, self.way = graph, context, way
        self.log = StoryLog(store)
        self.config: Any = {"configurable": {"thread_id": f"thread-{next(_threads)}"}}
        self.result: dict[str, Any] = {}

    async def run(self, given: Any, config: Any = None, **settings: Any) -> dict[str, Any]:
        """Call the graph and return what it returns."""
        config, context = config or self.config, settings.pop("context", self.context)
        if self.way == "invoke":
            self.result = await asyncio.to_thread(self.graph.invoke, given, config, context=context, **settings)
        else:
            self.result = await self.graph.ainvoke(given, config, context=context, **settings)
        return self.result

    async def begin(self, **given: Any) -> dict[str, Any]:
        """Start a story and return the first question, or the result where there is none."""
        return self.question(await self.run({"genre": "fantasy", "premise": "Mira tends a lamp.", **given}))

    async def answer(self, value: Any) -> dict[str, Any]:
        """Answer the interrupt and return the next question, or the result where there is none."""
        return self.question(await self.run(Command(resume=value)))

    @staticmethod
    def question(result: dict[str, Any]) -> dict[str, Any]:
        found = result.get("__interrupt__")
        return found[0].value if found else result

    async def state(self) -> dict[str, Any]:
        """Return the whole state of the thread."""
        return (await self.graph.aget_state(self.config)).values

    async def links(self) -> dict[str, Any]:
        """Return the links of the story's log by id."""
        return await self.log.links((await self.state())["story"])


def watched(saver: Any) -> Any:
    """Return a saver that asserts, whenever something is saved, that no node has changed what was saved before."""
    saved: list[tuple[Any, Any]] = []

    def assert_unchanged() -> None:
        for live, then in saved:
            assert saver.serde.dumps_typed(live) == then, "a node has changed a checkpoint in place"

    def remember(checkpoint: Any) -> None:
        assert_unchanged()
        # The values themselves, which the next nodes are given.
        values = checkpoint["channel_values"]
        saved[:] = [*saved[-5:], (values, saver.serde.dumps_typed(values))]

    put, aput = saver.put, saver.aput

    def watched_put(config: Any, checkpoint: Any, *rest: Any) -> Any:
        remember(checkpoint)
        return put(config, checkpoint, *rest)

    async def watched_aput(config: Any, checkpoint: Any, *rest: Any) -> Any:
        remember(checkpoint)
        return await aput(config, checkpoint, *rest)

    saver.put, saver.aput = watched_put, watched_aput
    return saver


@pytest.fixture
def player(persistence: Persistence, context: Callable[..., Context]) -> Callable[..., Player]:
    """Give a maker of players over one kind of persistence."""
    graph = build_story_graph(checkpointer=watched(persistence.saver), store=persistence.store, retry=QUICK)

    def make(way: str = "ainvoke", **settings: Any) -> Player:
        return Player(graph, context(**settings), persistence.store, way=way)

    return make


@pytest.fixture
def in_memory(context: Callable[..., Context]) -> Callable[..., Player]:
    """Give a maker of players where it does not matter how things are kept."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.store.memory import InMemoryStore

    def make(way: str = "ainvoke", *, like: Player | None = None, **settings: Any) -> Player:
        """Return a player of a new thread, or in the place of another one: of copies of its threads and its log."""
        saver, store = InMemorySaver(), InMemoryStore()
        if like:
            for part in ("storage", "writes", "blobs"):
                getattr(saver, part).update(deepcopy(getattr(like.graph.checkpointer, part)))
            for item in like.log.store.search((), limit=1_000_000):
                store.put(item.namespace, item.key, deepcopy(item.value))
        graph = build_story_graph(checkpointer=watched(saver), store=store, retry=QUICK)
        made = Player(graph, context(**settings), store, way=way)
        made.config = like.config if like else made.config
        return made

    return make


@pytest.fixture
def play() -> type[Player]:
    """Give the player itself, for tests that open a place on their own."""
    return Player


def asked(model: ScriptedChatModel, beginning: int = 0) -> list[str]:
    """Return the whole prompts of all calls from number `beginning` on."""
    return ["\n".join(str(message.text) for message in call) for call in model.calls[beginning:]]


@pytest.fixture
def prompts(model: ScriptedChatModel) -> Callable[..., list[str]]:
    """Give the prompts that the model has seen."""
    return lambda beginning=0: asked(model, beginning)


@pytest.fixture
def write_prompts(model: ScriptedChatModel) -> Callable[..., list[str]]:
    """Give the prompts of the calls that asked for prose."""
    return lambda beginning=0: [text for text in asked(model, beginning) if "JSON schema:" not in text]
