"""How often recall finds the passage that answers a question about a hidden world, by sort of question and distance."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Iterable

from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore

from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.memory.recall import Recall
from recurrentgpt.memory.story_log import Commit, StoryLog
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.measures.hidden_world import PLANTED, SORTS, WORLDS, HiddenWorld, Probe, Sort
from recurrentgpt.studies.measures.planted import planted_commit

DISTANCES = (1, 16, 256, 1024)
AMONG = (4, 8)
ASKED_FOR: dict[Sort, str] = {
    "person": "somebody always there",
    "role": "by a role",
    "plan": "somebody always there, inside a plan",
    "once": "somebody named once",
    "once in a plan": "somebody named once, inside a plan",
    "changed": "what changed three times",
}
"""What a sort of question is about, for readers."""

Ranking = Callable[[Probe, int, bool], Awaitable[list[int]]]
"""Returns the numbers of passages for a probe after so many, best first; told whether the newest is left out."""
Shares = dict[Sort, dict[int, list[float]]]
"""By sort of question and distance, the shares of questions whose passage is among 4 and among 8."""


def find_world(name: str) -> HiddenWorld:
    """Return one of `WORLDS`; raise StudyError for another name."""
    if name not in WORLDS:
        raise StudyError(f"There is no world {name!r:.40}: it is one of {', '.join(WORLDS)}.")
    return HiddenWorld(name)


def hidden_recall(world: HiddenWorld, embeddings: Embeddings, most: int) -> Shares:
    """Return what the long-term memory finds of a world at those `DISTANCES` that are less than `most` passages, and at that."""
    return call(lambda: _hidden_recall(world, embeddings, distances_up_to(most)))


def distances_up_to(most: int) -> list[int]:
    """Return those of `DISTANCES` that are less than `most`, and `most` last."""
    return [*(way for way in DISTANCES if way < most), most]


async def _hidden_recall(world: HiddenWorld, embeddings: Embeddings, distances: list[int]) -> Shares:
    log = StoryLog(InMemoryStore())
    recall, path = Recall(log, embeddings), commits(world, PLANTED + distances[-1])
    await remember(log, recall, path)
    return await shares_found(world, ranking(world, recall, path), distances)


def commits(world: HiddenWorld, length: int) -> list[Commit]:
    """Return the first passages of a world as a branch."""
    made: list[Commit] = []
    for number in range(1, length + 1):
        passage, parent = world.passage(number), made[-1]["id"] if made else ""
        made.append(planted_commit(world.name, number, parent, passage, world.summary(number)))
    return made


async def remember(log: StoryLog, recall: Recall, path: list[Commit]) -> None:
    """Write passages into the log, and their vectors."""
    for commit in path:
        await log.append(commit, "choosing", also=[await recall.vectors_op(commit)])


def ranking(world: HiddenWorld, recall: Recall, path: list[Commit]) -> Ranking:
    """Return the long-term memory as a ranking."""

    async def rank(probe: Probe, length: int, without: bool) -> list[int]:
        head = path[length - 1]["id"]
        hits = await recall.search(world.name, head, probe.query, AMONG[-1], without=head if without else "")
        return [hit.step for hit in hits]

    return rank


async def shares_found(world: HiddenWorld, rank: Ranking, distances: Iterable[int]) -> Shares:
    """Return the shares of the world's questions whose passage a ranking has among 4 and among 8."""
    found: Shares = {sort: {} for sort in SORTS}
    asked = sorted(world.probes, key=lambda probe: probe.at)
    for distance in distances:
        ranked = [(probe, await rank(probe, probe.at + distance - 1, distance > 1)) for probe in asked]
        for sort in SORTS:
            own = [(probe, numbers) for probe, numbers in ranked if probe.sort == sort]
            found[sort][distance] = [
                round(statistics.mean(probe.at in numbers[:most] for probe, numbers in own), 2) for most in AMONG
            ]
    return found
