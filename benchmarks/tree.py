"""Time the tree of a large story: `python -m benchmarks.tree [--passages 5000] [--forks 500]`.

Prints JSON: milliseconds of `tree`, `goto`, `undo` and `redo`, for a bushy tree on SQLite and for a path of which every passage
has a fork. What is timed is the library's own work: no model is called. The limit holds for medians.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

from recurrentgpt import Library, Story
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.memory.story_log import commit_id, now
from recurrentgpt.models.calls import total_usage
from recurrentgpt.schema.log import Commit, StoryRecord
from recurrentgpt.schema.state import Brief

LIMIT_MS = 300.0
PASSAGE = "The lamp burned over the harbour, and nobody saw who had lit it. " * 25


def grow(library: Library, story: str, parents: Callable[[list[Commit]], Commit | None], passages: int) -> list[Commit]:
    """Append commits to the log, each after what `parents` picks, and return them."""
    grown: list[Commit] = []
    for number in range(passages + 1):
        parent = parents(grown)
        before = parent["id"] if parent else ""
        plan, passage = ("A plan.", f"Passage {number}. {PASSAGE}") if parent else ("", "")
        grown.append(
            Commit(
                id=commit_id(story, before, plan, passage),
                story=story,
                parent=before,
                amends="",
                step=parent["step"] + 1 if parent else 0,
                plan=plan,
                plan_author="model",
                passage=passage,
                author="model",
                summary=f"Passage {number}.",
                short_term_memory="Mira has a lamp.",
                rationale={"dropped": [], "added": []},
                candidate_plans=["Mira runs.", "Bo hides a spoon."],
                recalled=[],
                usage=total_usage([]),
                created=now(),
            )
        )
    call(lambda: _append(library, grown))
    return grown


async def _append(library: Library, commits: list[Commit]) -> None:
    story = commits[0]["story"]
    brief = Brief(title="Nine Lamps", genre="fantasy", premise="Lamps.", characters=[], outline=[])
    record = StoryRecord(
        story=story, title="Nine Lamps", genre="fantasy", premise="Lamps.", brief=brief, settings={}, created=now()
    )
    await library.engine.log.put_record(record)
    for commit in commits:
        await library.engine.log.append(commit, "choosing")


def bushy(passages: int) -> Callable[[list[Commit]], Commit | None]:
    """Return a picker of parents that mostly goes on and often forks."""
    dealer = random.Random(7)
    return lambda grown: None if not grown else grown[-1] if dealer.random() < 0.8 else dealer.choice(grown)


def forked(forks: int) -> Callable[[list[Commit]], Commit | None]:
    """Return a picker of parents that makes a path and leaves it once after every passage."""
    return lambda grown: None if not grown else grown[-1] if len(grown) < 2 else grown[-1 - (len(grown) % 2)]


def grown_steps(grown: list[Commit]) -> int:
    """Return the number of passages of the longest path."""
    return max(commit["step"] for commit in grown)


def timed(work: Callable[[], object], times: int = 7) -> dict[str, float]:
    """Return the median and the slowest of several calls in milliseconds, and the median of what they used of the processor."""
    taken, used = [], []
    for _ in range(times):
        began, before = time.perf_counter(), time.process_time()
        work()
        taken.append(1000 * (time.perf_counter() - began))
        used.append(1000 * (time.process_time() - before))
    return {
        "median_ms": round(statistics.median(taken), 1),
        "slowest_ms": round(max(taken), 1),
        "cpu_ms": round(statistics.median(used), 1),
    }


def measure(library: Library, name: str, grown: list[Commit]) -> dict[str, Any]:
    """Return the figures of one tree."""
    story = Story.open(grown[0]["story"], library=library)
    deepest = max(grown, key=lambda commit: commit["step"])["id"]
    story.goto(deepest)
    dealer = random.Random(1)
    figures = {
        "tree": timed(lambda: story.tree().branches),
        "tree_json": timed(lambda: json.dumps(story.tree().as_json())),
        "tree_mermaid": timed(lambda: story.tree().mermaid()),
        "goto_id": timed(lambda: story.goto(dealer.choice(grown)["id"])),
    }
    story.goto(deepest)
    steps = iter(dealer.sample(range(1, grown_steps(grown)), 7))
    figures["goto_step"] = timed(lambda: story.goto(next(steps)))
    story.goto(deepest)
    figures["undo"] = timed(lambda: story.undo())
    figures["redo"] = timed(lambda: story.redo())
    median = max(figure["median_ms"] for figure in figures.values())
    return {
        "name": name,
        "passages": len(grown) - 1,
        "branches": len(story.tree().branches),
        "deepest": grown_steps(grown),
        "figures": figures,
        "highest_median_ms": median,
        "within_limit": median <= LIMIT_MS,
    }


def main() -> None:
    """Build both trees and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=5000)
    parser.add_argument("--forks", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Library.open(folder) as library:
        trees = [
            measure(library, "bushy", grow(library, "bushy", bushy(given.passages), given.passages)),
            measure(library, "forked path", grow(library, "forked", forked(given.forks), 2 * given.forks)),
        ]
    print(
        json.dumps({"limit_ms": LIMIT_MS, "trees": trees, "ok": all(tree["within_limit"] for tree in trees)}, indent=2)
    )


if __name__ == "__main__":
    main()
