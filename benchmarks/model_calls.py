"""Measure what a step's calls of the model take: `python -m benchmarks.model_calls --steps 10`.

The model is the configured one, the embedded one by default. For each step there are the words that were kept, the seconds that
each call took to its first words and to its end, by the node that asked, and the tokens that the server reports in `usage`; for
all of them kept words a minute (from the first call on, founding included) and the share of the prompts that no prefix cache
held. The seconds are of this machine with nothing beside it. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from statistics import median
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from benchmarks.usage import uncached_share
from recurrentgpt import Library, Story
from recurrentgpt.prose.sentences import count_words

MOST_UNCACHED = 0.40


class CallTimes(BaseCallbackHandler):
    """Note for each call of a model the node that asked, and when its first words and its end came."""

    run_inline = True

    def __init__(self) -> None:
        """Begin without calls."""
        self.calls: list[dict[str, Any]] = []
        self._began = time.perf_counter()
        self._open: dict[UUID, dict[str, Any]] = {}

    @property
    def now(self) -> float:
        """Seconds since the first call could begin."""
        return round(time.perf_counter() - self._began, 1)

    def on_chat_model_start(self, *_: Any, run_id: UUID, metadata: dict[str, Any] | None = None, **__: Any) -> None:
        """Note a call that begins."""
        self._open[run_id] = {
            "node": (metadata or {}).get("langgraph_node"),
            "at": self.now,
            "first": None,
            "seconds": None,
        }
        self.calls.append(self._open[run_id])

    def on_llm_new_token(self, token: str, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note when a call's first words came; a report on the reading of a prompt has none."""
        call = self._open.get(run_id)
        if call is not None and call["first"] is None and token.strip():
            call["first"] = round(self.now - call["at"], 1)

    def on_llm_end(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note a call that ended."""
        call = self._open.pop(run_id)
        call["seconds"] = round(self.now - call["at"], 1)

    def on_llm_error(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note a call that failed, or whose reply was stopped because of a fault."""
        self.on_llm_end(run_id=run_id)


_times: ContextVar[CallTimes | None] = ContextVar("call_times", default=None)
register_configure_hook(_times, inheritable=True)


@contextmanager
def timed() -> Iterator[CallTimes]:
    """Time every call of a model within the block."""
    times = CallTimes()
    token = _times.set(times)
    try:
        yield times
    finally:
        _times.reset(token)


def measure(steps: int, genre: str, seed: int) -> dict[str, Any]:
    """Write `steps` passages and return what each and all of them took."""
    with tempfile.TemporaryDirectory() as folder, Library.open(folder) as library, timed() as times:
        story = Story.new(genre, library=library, seed=seed)
        counts = [0]
        for event in story.stream(steps):
            if event["event"] == "plans":
                counts.append(len(times.calls))
        seconds = times.now
        by_step = [
            {
                "step": passage.step,
                "words": count_words(passage.text),
                "times": times.calls[first:last],
                **passage.usage,
                "uncached": round(uncached_share(passage.usage), 3),
            }
            for passage, (first, last) in zip(story.passages(), pairwise(counts), strict=True)
        ]
        usage = story.usage
    words, share = sum(step["words"] for step in by_step), round(uncached_share(usage), 3)
    firsts = defaultdict[str | None, list[float]](list)
    for call in times.calls:
        if call["first"] is not None:
            firsts[call["node"]].append(call["first"])
    return {
        "steps": steps,
        "genre": genre,
        "seed": seed,
        "by_step": by_step,
        "words": words,
        "seconds": seconds,
        "words_a_minute": round(60 * words / seconds),
        "seconds_to_first_words": {node: median(values) for node, values in firsts.items()},
        "tokens": {**usage, "uncached": share, "limit": MOST_UNCACHED, "ok": share <= MOST_UNCACHED},
    }


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--genre", default="fantasy")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(json.dumps(measure(chosen.steps, chosen.genre, chosen.seed), indent=2))


if __name__ == "__main__":
    main()
