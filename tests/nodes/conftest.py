"""What the tests of single nodes share: a story of some passages, and the prompts it took."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from langgraph.types import RetryPolicy

from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.endpoint_errors import is_transient
from recurrentgpt.schema.context import Context
from recurrentgpt.testing import ScriptedChatModel

QUICK = RetryPolicy(initial_interval=0.001, max_interval=0.001, jitter=False, retry_on=is_transient)


@pytest.fixture
def write(model: ScriptedChatModel) -> Callable[..., Any]:
    """Give a coroutine that writes a story and returns its commits from the opening on."""
    store = InMemoryStore()
    graph = build_story_graph(store=store, retry=QUICK)

    async def run(given: dict[str, Any] | None = None, **settings: Any) -> list[dict[str, Any]]:
        quiet = {"model": model, "embeddings": HashEmbeddings(), "seed": 7, "new_character": 0.0, "min_words": 100}
        context = Context(**{**quiet, "selector": "simulator", **settings})
        result = await graph.ainvoke(given or {"genre": "thriller", "premise": "Mira tends a lamp."}, context=context)
        log = StoryLog(store)
        return await log.get_many(result["story"], await log.path(result["story"], result["head"]))

    return run


@pytest.fixture
def write_prompts(model: ScriptedChatModel) -> Callable[[], list[str]]:
    """Give the prompts of the calls that asked for prose."""

    def found() -> list[str]:
        texts = ["\n".join(str(message.text) for message in call) for call in model.calls]
        return [text for text in texts if "JSON schema:" not in text]

    return found
