"""Measure what a step costs outside the model, and whether it stays flat: `python -m benchmarks.overhead --steps 10000`.

An instant scripted model writes; everything else is real: SQLite on disk, checkpoints, recall, the story log. With
`--embedder minilm` the packaged embedding model is used, with `hash` (the default) an instant one, so that nothing hides the
growth of the rest. The figures at step N are medians over the 50 steps up to N; `other_milliseconds` are those of a step without
its retrieval, which grows with the story and has a limit of its own. `cpu_milliseconds` is what the process computed for a step
outside the model: on a machine that others use too, that says more than the time. `machine_milliseconds` is how long the same
small computation took between those steps: whether `other_milliseconds` grew is asked in this measure, for a machine may be
half as fast a minute later. `log` is what the bytes of the log are, a step: by table and field of its rows, and what the
database adds. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic import PrivateAttr

from recurrentgpt import Context
from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.checkpoints.row_values import text_of
from recurrentgpt.checkpoints.sqlite_faults import CHECKPOINTS, STORIES
from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.infrastructure.event_loop import run
from recurrentgpt.models.embeddings import HashEmbeddings, default_embeddings
from recurrentgpt.testing import ScriptedChatModel

WINDOW = 50
LOG_BYTES_PER_STEP = 12_000
"""Most bytes that the log may grow by a step, between the last two marks."""
ROW_BYTES = 45
"""Of a row of the store beside its names and value: its header and two times."""
LIMITS = {"other_milliseconds": 1.5, "prompt_characters": 1.5}
"""Most that a figure at the last mark may be times the same at step 100."""
RETRIEVAL_MILLISECONDS = 20.0
"""Most that retrieval may take: it is exact, reads every row of the branch, and so grows with the story."""


_WORD = re.compile(r"\w+")
_TEXT = " ".join(f"The warden of gate {number} kept lamp {number % 37} until the bell." for number in range(60))
"""What the reference computation reads."""


class Forgetful(ScriptedChatModel):
    """A scripted model that keeps no conversation of an earlier step, and knows what it computed itself."""

    _computed: float = PrivateAttr(default=0.0)

    def _reply(self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]) -> AIMessage:
        began = time.thread_time()
        try:
            return super()._reply(messages, stop, options)
        finally:
            self._computed += time.thread_time() - began

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> Iterator[ChatGenerationChunk]:
        # The whole reply at once: the streaming of words is the scripted model's time, not the step's.
        reply = self._reply(messages, stop, options)
        message = AIMessageChunk(reply.text, usage_metadata=reply.usage_metadata, chunk_position="last")
        yield ChatGenerationChunk(message=message, generation_info={"finish_reason": "stop"})

    def take(self) -> tuple[list[int], float]:
        """Return the lengths of the prompts and the seconds of CPU since the last call, and forget them."""
        lengths = [sum(len(message.text) for message in call) for call in self.calls]
        computed, self._computed = self._computed, 0.0
        for kept in (self.calls, self.options, self._prompts):
            kept.clear()
        return lengths, computed


async def measure(steps: int, embedder: str, tier: str) -> dict[str, Any]:
    """Write `steps` passages and return the figures at every power of ten."""
    marks = [mark for mark in (10, 100, 1000, 10_000, 100_000) if mark <= steps]
    embeddings = default_embeddings() if embedder == "minilm" else HashEmbeddings()
    model = Forgetful(tier=tier)
    context = Context(selector="simulator", last_step=steps, model=model, embeddings=embeddings, seed=1)
    at: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        async with open_persistence(folder=Path(name)) as persistence:
            graph = build_story_graph(checkpointer=persistence.saver, store=persistence.store)
            config = {"configurable": {"thread_id": "overhead"}}
            step_times: list[float] = []
            cpu_times: list[float] = []
            model_times: list[float] = []
            retrievals: list[float] = []
            prompts: list[int] = []
            machine: list[float] = []
            began = stage = time.perf_counter()
            busy = time.process_time()
            step = 0
            async for mode, chunk in graph.astream(
                {"genre": "fantasy", "premise": "A lamp that must not go out."},
                config,
                context=context,
                durability="sync",
                stream_mode=["custom", "updates"],
            ):
                now = time.perf_counter()
                if mode == "custom":
                    stage = now if chunk["event"] == "stage" and chunk["node"] == "retrieve" else stage
                    continue
                for node, update in chunk.items():
                    if node == "retrieve":
                        retrievals.append(now - stage)
                    model_times += [
                        usage["seconds"] for usage in ((update or {}).get("usage") or {}).values() if usage is not None
                    ]
                    if node != "commit":
                        continue
                    step_times.append(now - began - sum(model_times))
                    lengths, by_model = model.take()
                    cpu_times.append(time.process_time() - busy - by_model)
                    prompts += lengths
                    model_times.clear()
                    machine.append(_reference_seconds())
                    if step in marks:
                        at[step] = _figures(step_times, cpu_times, retrievals, prompts, machine, Path(name))
                    step += 1
                    began, busy = time.perf_counter(), time.process_time()
        log = _log_fields(Path(name) / STORIES)
    return {"steps": steps, "embedder": embedder, "tier": tier, "at": at, "ratios": _ratios(at), "log": log}


def _reference_seconds() -> float:
    """Return how long a fixed computation took that is like a step's: words are found, counted and written as JSON."""
    began = time.perf_counter()
    for _ in range(3):
        json.loads(json.dumps(Counter(_WORD.findall(_TEXT)).most_common()))
    return time.perf_counter() - began


def _figures(
    steps: list[float],
    computed: list[float],
    retrievals: list[float],
    prompts: list[int],
    machine: list[float],
    folder: Path,
) -> dict[str, Any]:
    recent = retrievals[-WINDOW:]  # of the opening there is none
    others = [step - retrieval for step, retrieval in zip(steps[-len(recent) :], recent, strict=True)]
    return {
        "milliseconds": round(1000 * statistics.median(steps[-WINDOW:]), 2),
        "other_milliseconds": round(1000 * statistics.median(others), 2),
        "cpu_milliseconds": round(1000 * statistics.median(computed[-WINDOW:]), 2),
        "retrieval_milliseconds": round(1000 * statistics.median(retrievals[-WINDOW:]), 2),
        "machine_milliseconds": round(1000 * statistics.median(machine[-WINDOW:]), 3),
        "prompt_characters": round(statistics.mean(prompts[-4 * WINDOW :])),
        "log_bytes": _pages_bytes(folder / STORIES),
        "checkpoint_bytes": _pages_bytes(folder / CHECKPOINTS),
    }


def _pages_bytes(database: Path) -> int:
    """Return the size of a database with what its journal holds already, and without the journal, which is bounded."""
    with closing(sqlite3.connect(database)) as connection:
        ((pages, size),) = connection.execute("SELECT * FROM pragma_page_count(), pragma_page_size()")
    return int(pages * size)


def _log_fields(database: Path) -> dict[str, dict[str, float]]:
    """Return the bytes of the log a step: by table and field, of the rows' names, of indexes, and what pages leave empty."""
    held: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with closing(sqlite3.connect(database)) as connection:
        for prefix, key, value in connection.execute("SELECT prefix, key, value FROM store"):
            table = prefix.split(".")[1]
            fields = {name: len(json.dumps(own)) + len(name) + 4 for name, own in json.loads(text_of(value)).items()}
            # What deflating saves is saved of all fields alike.
            share = len(value) / max(1, sum(fields.values()))
            held[table].update({name: size * share for name, size in fields.items()})
            held[table]["(row)"] += len(prefix) + len(key) + ROW_BYTES
        pages = connection.execute("SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name").fetchall()
        (steps,) = connection.execute("SELECT count(*) FROM store WHERE prefix GLOB '*.links.*'").fetchone()
    held["pages"].update({f"{name} (unused)": unused for name, _, unused in pages})
    held["pages"].update({name: size - unused for name, size, unused in pages if name != "store"})
    found: dict[str, dict[str, float]] = {}
    for table, own in held.items():
        fields = {name: round(size / steps) for name, size in own.most_common() if size >= steps}
        found |= {table: {"sum": round(own.total() / steps), **fields}} if fields else {}
    return found


def _ratios(at: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Return how figures grew up to the last mark, each with its limit."""
    if len(at) < 2:
        return {}
    *_, before, end = sorted(at)
    last = at[end]
    growth = round((last["log_bytes"] - at[before]["log_bytes"]) / (end - before))
    return {
        "log_bytes_per_step": _held_to(LOG_BYTES_PER_STEP, growth),
        "retrieval_milliseconds": _held_to(RETRIEVAL_MILLISECONDS, last["retrieval_milliseconds"]),
        **(_ratios_to_100(at, last) if end > 100 else {}),
    }


def _held_to(limit: float, value: float) -> dict[str, Any]:
    return {"value": value, "limit": limit, "ok": value <= limit}


def _ratios_to_100(at: dict[int, dict[str, Any]], last: dict[str, Any]) -> dict[str, Any]:
    first = at[100]
    ratios = {name: last[name] / first[name] for name in LIMITS}
    ratios["other_milliseconds"] *= first["machine_milliseconds"] / last["machine_milliseconds"]
    return {
        name: {"ratio": round(ratios[name], 3), "limit": limit, "ok": ratios[name] <= limit}
        for name, limit in LIMITS.items()
    }


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--embedder", choices=["hash", "minilm"], default="hash")
    parser.add_argument("--tier", choices=["small", "full"], default="full")
    chosen = parser.parse_args()
    print(json.dumps(run(measure(chosen.steps, chosen.embedder, chosen.tier)), indent=2))


if __name__ == "__main__":
    main()
