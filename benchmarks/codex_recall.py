"""Measure what a whole step brings back of hidden facts, with a codex: `python -m benchmarks.codex_recall [--world harbour]`.

A world of `studies.measures.hidden_world` is written passage by passage through the graph, by an author who notes facts honestly:
each fact of a passage as a sentence that names whom it is about, a role where the text says one, and that the old version of a
fact has ended where a new one is told; and its summary is the fact. Then the node `retrieve` is asked each question after so
many passages.

Prints JSON, by sort of question and distance: `among 4` and `among 8`, the share whose passage is recalled among so many; `told`,
the share whose fact is among the words that the writer is told (of four passages with their summaries, and the entries);
`superseded`, the share where an older version is among them. At a distance of 1 the prompt holds the passage itself; the
nearest here is 2.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, cast

from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import RunnableConfig
from langgraph.store.memory import InMemoryStore
from pydantic import PrivateAttr

from benchmarks.recall import Kept
from recurrentgpt.graph.story import RECURSION_LIMIT
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.nodes.retrieve import retrieve
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.schema.state import State
from recurrentgpt.studies.baselines.catalogue import find_system
from recurrentgpt.studies.measures.hidden_world import SORTS, WORLDS, HiddenWorld, Probe
from recurrentgpt.studies.study_context import PASSAGE_WORDS, StudyContext
from recurrentgpt.testing import ScriptedChatModel

DISTANCES = (2, 16, 256, 1024)
AMONG = (4, 8)
_SCENE = re.compile(r"Scene (\d+)\.")


class HonestAuthor(ScriptedChatModel):
    """An author who writes the passages of a hidden world and notes of each what it tells, and nothing that it does not."""

    model_name: str = "honest"
    world: Any
    # Whole paragraphs: a thousand passages word by word would measure the streaming.
    pieces: ClassVar[re.Pattern[str]] = re.compile(r".+?(?:\n\n|$)", re.DOTALL)

    _roles: set[str] = PrivateAttr(default_factory=set)

    def _reply(self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]) -> AIMessage:
        asked = "\n".join(str(message.text) for message in messages)
        scenes = _SCENE.findall(asked.partition("Now propose")[0])
        step = int(scenes[-1]) if scenes else 0
        _, found, schema = asked.rpartition(SCHEMA_HEADING)
        if found:
            fields = json.loads(schema)["properties"]
            text = json.dumps({name: self._field(name, step, asked) for name in fields})
        else:
            text = self.world.passage(max(step, 1))
        return AIMessage(text, usage_metadata=UsageMetadata(input_tokens=1, output_tokens=1, total_tokens=2))

    def _field(self, name: str, step: int, asked: str) -> Any:
        match name:
            case "plans":
                return [f"Scene {step + 1:04d}. The day goes on.", "Nobody comes.", "A long winter passes."]
            case "short_term_memory":
                return [f"{who} lives here." for who in self.world.people[:5]]
            case "summary":
                return self.world.telling_summary(step)
            case "index":
                return 1
            case "plan":
                return f"Scene {int(_SCENE.findall(asked)[-1]):04d}. The day goes on."
            case "codex":
                return self.noted(step)
            case "characters":
                return [f"{who}: lives here" for who in self.world.people[:5]]
            case "outline":
                return ["A year begins.", "It goes on.", "It is nearly over.", "It ends."]
            case "title" | "premise" | "truth" | "voice" | "why":
                return "A year in one place."
        return []

    def noted(self, step: int) -> list[dict[str, str]]:
        """Return what a passage changed, as a capable model says it."""
        passage, found = self.world.passage(step), list[dict[str, str]]()
        for who, role in zip(self.world.people, self.world.roles, strict=True):
            if who not in self._roles and f"{who}, {role}," in passage:
                self._roles.add(who)
                found.append(_change(who, "role", role))
        for told in self.world.planted:
            if told.at == step:
                found += [_change(told.about, "fact", old, change="end") for old in told.over]
                found.append(_change(told.about, "fact", told.fact, sentence=told.sentence))
        return found


def _change(name: str, aspect: str, value: str, *, change: str = "set", sentence: str = "") -> dict[str, str]:
    return {
        "name": name,
        "kind": "person" if name[0].isupper() else "thing",
        "change": change,
        "aspect": aspect,
        "value": value,
        "sentence": sentence or value,
    }


async def write(world: HiddenWorld, embeddings: Embeddings, passages: int) -> tuple[StoryRuntime, list[State]]:
    """Write a world through the graph, and return what its nodes are given and the state after each passage."""
    store = InMemoryStore()
    context = StudyContext(
        model=HonestAuthor(world=world),
        embeddings=embeddings,
        seed=world.seed,
        # How the author writes is not measured: what a world says twice is no copy of what was recalled.
        guards="none",
        top_k=AMONG[-1],
        new_character=0.0,
        max_words=400,
        min_words=100,
        target_words=PASSAGE_WORDS * (passages + 100),
    )
    graph = find_system("recurrentgpt").build().compile(store=store)
    config: RunnableConfig = {"configurable": {"thread_id": world.name}, "recursion_limit": RECURSION_LIMIT}
    given = {"story": world.name, "genre": "chronicle", "premise": "A dozen people live in one place."}
    states: list[State] = []
    opening = ""
    async for state in graph.astream(given, config, context=context, stream_mode="values"):
        opening = opening or state.get("head", "")
        if state.get("head", "") not in ("", opening, states[-1]["head"] if states else ""):
            states.append(cast(State, state))
        if len(states) == passages:
            break
    return StoryRuntime(context, StoryLog(store), lambda event: None), states


async def asked(probe: Probe, runtime: StoryRuntime, state: State) -> Mapping[str, bool]:
    """Return what is brought back for a question after a passage."""
    update = await retrieve({**state, "plan": probe.query}, runtime)
    recalled = update["recalled"]
    told = [text for entry in recalled[: AMONG[0]] for text in (entry["summary"], entry["piece"])]
    words = _plain([*told, *(line for entry in update["entries"] for line in entry["lines"])])
    return {
        **{f"among {most}": probe.at in [entry["step"] for entry in recalled[:most]] for most in AMONG},
        "told": _plain([probe.fact]) in words or _plain([probe.sentence]) in words,
        "superseded": any(_plain([old]) in words for old in probe.old),
    }


def _plain(texts: Collection[str]) -> str:
    return " ".join(re.findall(r"\w+", " ".join(texts).casefold()))


async def measure(
    world: HiddenWorld, embeddings: Embeddings, distances: Sequence[int] = DISTANCES, probes: Sequence[Probe] = ()
) -> dict[str, Any]:
    """Return the shares of a world, by sort of question and distance."""
    probes = sorted(probes or world.probes, key=lambda probe: probe.at)
    runtime, states = await write(world, embeddings, max(probe.at for probe in probes) + max(distances) - 1)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for distance in distances:
        answers: defaultdict[str, list[Mapping[str, bool]]] = defaultdict(list)
        for probe in probes:
            answers[probe.sort].append(await asked(probe, runtime, states[probe.at + distance - 2]))
        for sort in (sort for sort in SORTS if sort in answers):
            found.setdefault(sort, {})[str(distance)] = {
                name: round(statistics.mean(answer[name] for answer in answers[sort]), 2) for name in answers[sort][0]
            }
    return found


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=WORLDS, action="append")
    given = parser.parse_args()
    worlds = {name: HiddenWorld(name) for name in given.world or WORLDS}
    print(json.dumps({name: asyncio.run(measure(world, Kept(None))) for name, world in worlds.items()}, indent=1))


if __name__ == "__main__":
    main()
