"""Stories that a strong model's stand-in has written, recorded call by call.

    python -m tests.recorded.novels mystery http://127.0.0.1:8080/v1   asks the model there, and records it
    python -m tests.recorded.novels mystery                            gives the recorded replies again, in their order, to
                                                                       the prompts as they are now

The second is what to do when prompts have changed. Both write the recording beside this file, and the story to docs/samples.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.roles import ROLES, Role
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.log import Commit, StoryRecord
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.recording.recording import FileRecorder, Recording, RoleModel
from recurrentgpt.studies.recording.recording_models import RecordingChatModel, ReplayChatModel

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "docs" / "samples"
NAME = "stand-in"
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


@dataclass(frozen=True)
class Novel:
    """A story that was recorded: what it was begun with, and what a reader answered."""

    given: dict[str, Any]
    settings: dict[str, Any]
    answers: list[Any] = field(default_factory=list)
    """A player's answers, one for each passage; without any the simulator chooses."""


NOVELS = {
    "fiction": Novel(
        given={
            "story": "recorded-fiction",
            "genre": "comic fantasy",
            "premise": "A lighthouse has been let to a dragon by mistake, and somebody has to serve the notice to quit.",
            "player": "Ottoline Crake, a bailiff's clerk who has never been disobeyed by anything with a fixed address",
        },
        settings={"mode": "fiction", "selector": "human", "min_words": 120, "max_words": 220},
        answers=[
            {
                "action": "write",
                "plan": "You knock again, harder, and read out the notice through the door in full, sub-clauses included.",
            },
            {"action": "write", "plan": "You do not move from the step. You ask for its name, for the form."},
            {"number": 2},
            {"action": "write", "plan": "You refuse the tea. You refuse the chair. You ask it to sign."},
            {
                "action": "write",
                "plan": "You tell the harbour master that you have a notice to serve and that he is standing on it.",
            },
            {"number": 1},
            {"action": "write", "plan": "You will not leave without a signature. You sit down on the hoard and wait."},
            {"number": 3},
            {"action": "write", "plan": "You serve the notice on the right party."},
        ],
    ),
    "mystery": Novel(
        given={
            "story": "recorded-mystery",
            "genre": "mystery",
            "premise": "In November 1952 the ferry bell on a tidal island is rung every night by nobody, and the new district "
            "nurse is asked to say what her predecessor died of.",
        },
        settings={"selector": "simulator", "steps": 6, "ending": True, "min_words": 300, "max_words": 450},
    ),
    "long-mystery": Novel(
        given={
            "story": "recorded-long-mystery",
            "genre": "mystery",
            "premise": "In March 1931 an assistant inspector of weights and measures is sent to a Pennine mill town to take "
            "its standard weights to London, and finds that the brass pound, in a chest with three locks, is half an ounce too "
            "heavy.",
        },
        settings={"selector": "simulator", "steps": 12, "ending": True, "min_words": 180, "max_words": 300},
    ),
}


class Recorded(RecordingChatModel):
    """A recording model whose `step` is the number of the call among those of its role."""

    async def astream(self, *given: Any, **options: Any) -> AsyncGenerator[AIMessageChunk]:  # type: ignore[override]
        self.step += 1
        async with aclosing(super().astream(*given, **options)) as chunks:
            async for chunk in chunks:
                yield chunk


class Replayed(ReplayChatModel):
    """A replaying model whose `step` is the number of the call among those of its role."""

    async def _astream(
        self, messages: list[BaseMessage], *given: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.step += 1
        try:
            async for chunk in super()._astream(messages, *given, **options):
                yield chunk
        except StudyError as error:
            path = self.recording.path
            raise StudyError(
                f"{path.name} has no answer to call {self.step} of the {self.role}: prompts have changed since it was recorded. "
                f"Give its replies to the new ones: python -m tests.recorded.novels {path.stem}"
            ) from error


def replay(name: str) -> Callable[[Role], Any]:
    """Return what gives the model of a role that answers from the recording of a story."""
    recording = Recording.read(HERE / f"{name}.jsonl")
    return lambda role: Replayed(recording=recording, role=role, model_name=NAME)


async def write(name: str, model: Callable[[Role], Any], **settings: Any) -> tuple[StoryRecord, list[Commit]]:
    """Write a story with these models and return what it is and its commits from the opening on."""
    novel, store = NOVELS[name], InMemoryStore()
    graph = build_story_graph(store=store, checkpointer=InMemorySaver())
    context = Context(
        models={role: model(role) for role in ROLES if role != "judge"},
        tier="full",
        embeddings=HashEmbeddings(),
        seed=1,
        new_character=0.0,
        **{**novel.settings, **settings},
    )
    config: Any = {"configurable": {"thread_id": name}}
    result = await graph.ainvoke(novel.given, config, context=context)  # type: ignore[arg-type]
    for answer in novel.answers:
        result = await graph.ainvoke(Command(resume=answer), config, context=context)
    log = StoryLog(store)
    path = await log.path(result["story"], result["head"])
    return await log.record(result["story"]), await log.get_many(result["story"], path)


def sent(name: str) -> list[str]:
    """Return the writer's replies that were kept: one that was asked for again begins as the one before it did."""
    calls = [call for call in Recording.read(HERE / f"{name}.jsonl").calls if call.role == "writer"]
    return list({call.reply.split("\n")[0]: call.reply for call in calls}.values())


def sample(name: str, record: StoryRecord, commits: list[Commit]) -> str:
    """Return the story as docs/samples shows it."""
    rows = [
        f"| {commit['step']} | {count_words(reply)} | {count_words(commit['passage'])} |"
        for commit, reply in zip(commits[1:], sent(name), strict=True)
    ]
    brief = record["brief"]
    return "\n\n".join([
        f"# {record['title']}",
        "*Written through the program's real requests, call by call, by a large language model that stood in as the endpoint "
        "and wrote every reply by hand; not a word was changed afterwards. It shows what "
        "the full tier makes of a capable model, and "
        f"`tests/recorded` replays it.* The premise that it was given: {record['premise']}",
        "\n\n* * *\n\n".join(_LINE_BREAK.sub("\\\\\n", commit["passage"]) for commit in commits[1:]),
        "---\n\nWhat the author knew, and no reader was shown:",
        "\n".join([f"* {brief.get('truth', '')}", *(f"* {clue}" for clue in brief.get("clues", []))]),
        "\n".join(["| passage | words sent | words kept |", "| --- | --- | --- |", *rows]),
    ]) + "\n"  # fmt: skip


def record(name: str, url: str = "") -> None:
    """Record a story anew, and write the recording and the sample."""
    path, fresh = HERE / f"{name}.jsonl", HERE / f"{name}.new.jsonl"
    fresh.unlink(missing_ok=True)
    recorder = FileRecorder(fresh, prompts=False)
    old = None if url else Recording.read(path, in_order=True)

    def model(role: Role) -> Any:
        recorder.add_role(role, RoleModel(NAME, "full", embedded=False, openai=False))
        if old is not None:
            inner: Any = Replayed(recording=old, role=role, model_name=NAME)
        else:
            from langchain_openai import ChatOpenAI

            inner = ChatOpenAI(model=NAME, base_url=url, api_key="none", timeout=3000, max_retries=0)  # type: ignore[arg-type]
        return Recorded(inner=inner, recorder=recorder, role=role, model_name=NAME)

    found = asyncio.run(write(name, model, timeout=3000.0))
    fresh.replace(path)
    (SAMPLES / f"strong-{name}.md").write_text(sample(name, *found), encoding="utf-8")


if __name__ == "__main__":
    record(*sys.argv[1:])
