"""What the tests of `Story` share: a library over each kind of persistence, and a model that follows a script."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import RetryPolicy

from recurrentgpt.engine.engine import Engine
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.endpoint_errors import is_transient
from recurrentgpt.story import Story
from recurrentgpt.testing import ScriptedChatModel

QUICK = RetryPolicy(initial_interval=0.001, max_interval=0.001, jitter=False, max_attempts=5, retry_on=is_transient)


@pytest.fixture
def quick() -> RetryPolicy:
    """Give a retry policy that does not wait."""
    return QUICK


@pytest.fixture
def library(tmp_path: Any) -> Iterator[Library]:
    """Give a library on SQLite."""
    with Library.open(tmp_path / "library", retry=QUICK) as opened:
        yield opened


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def each_library(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Library]:
    """Give a library over each kind of persistence."""
    if request.param == "memory":
        yield Library(Engine(InMemorySaver(), InMemoryStore(), retry=QUICK))
        return
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    with Library.open(tmp_path / "library", database_url=url, retry=QUICK) as opened:
        yield opened


@pytest.fixture
def settings(model: ScriptedChatModel) -> Callable[..., dict[str, Any]]:
    """Give a maker of the keywords of a story that needs no real model."""

    def make(**more: Any) -> dict[str, Any]:
        return {"model": model, "embeddings": HashEmbeddings(), "seed": 7, "new_character": 0.0, **more}

    return make


@pytest.fixture
def begin(library: Library, settings: Callable[..., dict[str, Any]]) -> Callable[..., Story]:
    """Give a maker of new stories in `library`."""

    def make(**more: Any) -> Story:
        return Story.new("fantasy", "Mira tends a lamp.", library=library, **settings(**more))

    return make


@pytest.fixture
def write_prompts(model: ScriptedChatModel) -> Callable[..., list[str]]:
    """Give the prompts that asked for prose, from call number `beginning` on."""

    def found(beginning: int = 0) -> list[str]:
        texts = ["\n".join(str(message.text) for message in call) for call in model.calls[beginning:]]
        return [text for text in texts if "JSON schema:" not in text]

    return found
