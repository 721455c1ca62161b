"""Recall of planted facts over distance, at four levels, without a judge and without a real model.

A passage states a fact that nothing else states; so many passages later a plan needs it and does not say it. Does the
long-term memory find the passage (hit@k), does the short-term memory still hold the fact, does the prompt, does the text?
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig
from langgraph.store.memory import InMemoryStore

from recurrentgpt.graph.story import RECURSION_LIMIT
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.memory.recall import Recall
from recurrentgpt.memory.story_log import Commit, StoryLog, commit_id
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.meter import total_usage
from recurrentgpt.schema.state import Rationale
from recurrentgpt.studies.baselines.catalogue import all_systems, find_system
from recurrentgpt.studies.baselines.text_windows import count_tokens
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.measures.world import World
from recurrentgpt.studies.measures.world_author import author
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.study_context import PASSAGE_WORDS, StudyContext

TOP_K = 4
FACTS = 200
RUN_WORDS = 250
"""Words of a passage in a run: it must fit whole, for a fact that was cut away was never planted."""
HEADER = 90
"""Tokens of a rolling prompt around its window, about."""
JOIN = 8
"""Tokens that the author adds to a passage of the world."""
SAMPLE = 50
"""Passages whose mean length stands for all."""


def distances(most: int) -> list[int]:
    """Return 1, 2, 4 and so on, and `most` last."""
    if most < 1:
        raise StudyError(f"The distance is 1 or more; it is {most}.")
    found, way = [], 1
    while way < most:
        found.append(way)
        way *= 2
    return [*found, most]


def measurable_systems() -> list[str]:
    """Return the names of the systems that the author of planted facts can write with."""
    return [system.name for system in all_systems().values() if system.plants_facts]


@dataclass
class Levels:
    """How often facts that a plan needed were there, by distance: hits and tries; a level that a system has not is empty."""

    system: str
    steps: int
    retrieval: dict[int, tuple[int, int]] = field(default_factory=dict)
    memory: dict[int, tuple[int, int]] = field(default_factory=dict)
    prompt: dict[int, tuple[int, int]] = field(default_factory=dict)
    text: dict[int, tuple[int, int]] = field(default_factory=dict)
    prompt_tokens: list[int] = field(default_factory=list)
    """Of the calls of each step."""


def retrieval(embeddings: Embeddings, most: int, *, facts: int = FACTS, seed: int = 1) -> dict[int, float]:
    """Return hit@4 of the long-term memory at each distance, `facts` facts each, among all passages before the plan's."""
    world, ways = World(seed), distances(most)
    if most + facts > world.size:
        raise StudyError(f"The world holds {world.size} facts: distance and facts together are at most that.")
    return call(lambda: _retrieval(world, StoryLog(InMemoryStore()), embeddings, ways, facts))


async def _retrieval(
    world: World, log: StoryLog, embeddings: Embeddings, ways: list[int], facts: int
) -> dict[int, float]:
    recall, ids = Recall(log, embeddings), [""]
    length = ways[-1] + facts
    for number in range(1, length + 1):
        scene = f"Scene {number:04d}."
        entry = planted_commit("world", number, ids[-1], world.passage(number), world.summary(number), scene)
        await log.append(entry, "choosing", also=[await recall.vectors_op(entry)])
        ids.append(entry["id"])
    found: dict[int, float] = {}
    for distance in ways:
        dealer = random.Random(f"sample {world.seed} {distance}")
        chosen = dealer.sample(range(1, length - distance + 1), facts)
        hits = 0
        for number in chosen:
            head = ids[number + distance - 1]
            # What was written last is in the prompt anyway, so at distance 1 nothing need be left out to find it.
            without = head if distance > 1 else ""
            got = await recall.search("world", head, world.fact(number).plan, TOP_K, without=without)
            hits += number in [hit.step for hit in got]
        found[distance] = hits / facts
    return found


def levels(system: str, most: int, *, steps: int = 0, embeddings: Embeddings | None = None, seed: int = 1) -> Levels:
    """Write `steps` passages of the world with a system, and return what was there when it was needed.

    Without `steps`, as many as give the greatest distance a few dozen tries.
    """
    steps = steps or most + max(40, most // 8)
    world = World(seed, words=RUN_WORDS)
    if steps > world.size:
        raise StudyError(f"The world holds {world.size} facts: that many passages at most, and not {steps}.")
    return call(lambda: _levels(system, world, distances(most), steps, embeddings or HashEmbeddings()))


async def _levels(system: str, world: World, ways: list[int], steps: int, embeddings: Embeddings) -> Levels:
    model, store = author(world, ways), InMemoryStore()
    graph = find_system(system).build().compile(store=store)
    # The novel is longer than what is written, so that no passage is told to end it.
    context = StudyContext(
        model=model,
        embeddings=embeddings,
        seed=world.seed,
        top_k=TOP_K,
        new_character=0.0,
        target_words=PASSAGE_WORDS * (steps + 50),
    )
    story = f"world-{system}-{world.seed}"
    config: RunnableConfig = {"configurable": {"thread_id": story}, "recursion_limit": RECURSION_LIMIT}
    given = {"story": story, "genre": "mystery", "premise": "Mira keeps a house that everybody comes to."}
    log, head = StoryLog(store), ""
    async for update in graph.astream(given, config, context=context, stream_mode="updates"):
        change: dict[str, Any] = update.get("keep") or update.get("commit") or {}
        head = change.get("head", head)
        if len(model.held) > steps:
            break
    commits = await log.get_many(story, await log.path(story, head))
    return _counted(system, commits[: steps + 1], model, world)


def _counted(system: str, commits: list[Commit], model: Any, world: World) -> Levels:
    result, own = Levels(system, len(commits) - 1), find_system(system)
    tallies: dict[str, dict[int, list[bool]]] = {name: {} for name in ("retrieval", "memory", "prompt", "text")}
    for entry, before in zip(commits[1:], commits, strict=False):
        step = entry["step"]
        result.prompt_tokens.append(entry["usage"]["input_tokens"])
        recalled = [item["step"] for item in entry["recalled"]]
        if not (due := model.due(step)):
            continue
        # All four of the same facts: those that the step's plan needs.
        if own.recalls and due > 1:
            # What was written last is in the prompt anyway, and is not searched for.
            tallies["retrieval"].setdefault(due, []).append(step - due in recalled)
        if own.remembers:
            value = world.fact(step - due).value
            tallies["memory"].setdefault(due, []).append(value in before["short_term_memory"])
        tallies["prompt"].setdefault(due, []).append(model.held[step][due])
        tallies["text"].setdefault(due, []).append(model.used[step])
    for name, found in tallies.items():
        setattr(result, name, {distance: (sum(there), len(there)) for distance, there in sorted(found.items())})
    return result


def measure(folder: RunFolder, report: Callable[[str], None], *, embeddings: Embeddings | None = None) -> list[Row]:
    """Return the levels of every system of the run's plan that they are defined for, measured once per distance."""
    plan = folder.plan
    wanted = [name for name in plan.systems if find_system(name).plants_facts] if plan.recall else []
    known = {row["system"]: row for row in folder.rows("recall.jsonl")}
    for system in wanted:
        measured = [int(way) for way in known.get(system, {}).get("text", ())]
        # A plan that reaches further now is measured anew.
        if not measured or max(measured) < plan.recall:
            report(f"recall of planted facts: {system}, to distance {plan.recall}")
            known[system] = asdict(levels(system, plan.recall, embeddings=embeddings))
            folder.append("recall.jsonl", known[system])
    return [known[system] for system in wanted]


def window_reach(system: str, seed: int = 1) -> float | None:
    """Return k*: how many passages back the window of a rolling system reaches in a run; None without a window."""
    window = find_system(system).window
    return None if window is None else passages_in(window, seed)


def passages_in(window: float, seed: int = 1) -> float:
    """Return how many passages of a run the window of a rolling system holds that has so many tokens."""
    world = World(seed, words=RUN_WORDS)
    step = sum(count_tokens(world.passage(number)) + JOIN for number in range(1, SAMPLE + 1)) / SAMPLE
    return (window - HEADER) / step


def planted_commit(story: str, number: int, parent: str, passage: str, summary: str, plan: str = "") -> Commit:
    """Return a commit of a story that nobody wrote: its passages are laid out to be searched."""
    return Commit(
        id=commit_id(story, parent, plan, passage),
        story=story,
        parent=parent,
        amends="",
        step=number,
        plan=plan,
        plan_author="model",
        passage=passage,
        author="model",
        summary=summary,
        short_term_memory="",
        rationale=Rationale(dropped=[], added=[]),
        candidate_plans=[],
        recalled=[],
        usage=total_usage([]),
        created="2024-01-01T00:00:00+00:00",
    )
