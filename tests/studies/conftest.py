"""What the tests of the studies share: a model that follows a script, novels written with it, and runs of small plans."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import RetryPolicy

from recurrentgpt.memory.story_log import Commit, StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.endpoint_errors import is_transient
from recurrentgpt.schema.errors import ModelRefused
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Plan, parse_plan
from recurrentgpt.studies.scripted_author import scripted_author
from recurrentgpt.studies.study_context import StudyContext
from recurrentgpt.testing import ScriptedChatModel

PREMISE = "Mira Voss, a lamp keeper, finds a letter in her own hand."
QUICK = RetryPolicy(initial_interval=0.001, max_interval=0.001, jitter=False, retry_on=is_transient)
PLAN = """
name = "small"
systems = ["recurrentgpt", "rolling_1024"]
genres = ["mystery", "fantasy"]
premises = 1
words = 500
parallel = 2
embedder = "hash-256"
"""


def refusing(replies: Callable[[Any], str], *, after: int) -> Callable[[Any], str]:
    """Return `replies` for so many calls, and then an account that is empty."""
    left = itertools.count(after, -1)

    def reply(messages: Any) -> str:
        if next(left) <= 0:
            raise ModelRefused("The account is empty: fill it.")
        return replies(messages)

    return reply


@dataclass
class Written:
    """A novel, and what its model was asked for it."""

    commits: list[Commit]
    result: dict[str, Any]
    model: ScriptedChatModel

    @property
    def passages(self) -> list[Commit]:
        return [commit for commit in self.commits if commit["step"]]

    def prompts(self, *marks: str, without: str = "\0") -> list[str]:
        """Return the prompts that hold all marks, in order."""
        texts = ["\n".join(str(message.text) for message in call) for call in self.model.calls]
        return [text for text in texts if all(mark in text for mark in marks) and without not in text]


Write = Callable[..., Awaitable[Written]]


@pytest.fixture
def write() -> Write:
    """Give a coroutine that writes a novel with a system."""

    async def run(system: str, words: int = 1200, replies: Any = None, chat: Any = None, **settings: Any) -> Written:
        chat = chat or (scripted_author() if replies is None else ScriptedChatModel(replies=replies))
        store = InMemoryStore()
        graph = SYSTEMS[system].build().compile(store=store, checkpointer=InMemorySaver())
        context = StudyContext(
            mode=SYSTEMS[system].mode,
            model=chat,
            embeddings=HashEmbeddings(),
            seed=7,
            new_character=0.0,
            target_words=words,
            **settings,
        )
        given = {"story": "novel", "genre": "mystery", "premise": PREMISE}
        config = {"configurable": {"thread_id": "novel"}, "recursion_limit": 10_000}
        result = await graph.ainvoke(given, config, context=context)
        log = StoryLog(store)
        commits = await log.get_many("novel", await log.path("novel", result["head"]))
        return Written(commits, result, chat)

    return run


@pytest.fixture
def plan() -> Plan:
    """Give a plan of four short novels."""
    return parse_plan(PLAN, "small", Path())


@pytest.fixture
def folder(tmp_path: Path, plan: Plan) -> RunFolder:
    """Give the folder of a run that has not begun."""
    return RunFolder.create(tmp_path / "run", plan)
