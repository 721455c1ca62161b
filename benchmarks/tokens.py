"""Measure how much of the prompts the server's prefix cache held: `python -m benchmarks.tokens --steps 20`.

The model is the configured one, the embedded one by default; the figures are what its server reports in `usage`. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from typing import Any

from benchmarks.usage import uncached_share
from recurrentgpt import Library, Story

MOST_UNCACHED = 0.40


def measure(steps: int, genre: str, seed: int) -> dict[str, Any]:
    """Write `steps` passages and return the tokens of each and of all."""
    with tempfile.TemporaryDirectory() as folder, Library.open(folder) as library:
        story = Story.new(genre, library=library, seed=seed)
        for _ in story.stream(steps):
            pass
        by_step = [
            {"step": passage.step, **passage.usage, "uncached": round(uncached_share(passage.usage), 3)}
            for passage in story.passages()
        ]
        usage = story.usage
    share = round(uncached_share(usage), 3)
    total = {**usage, "uncached": share, "limit": MOST_UNCACHED, "ok": share <= MOST_UNCACHED}
    return {"steps": steps, "genre": genre, "seed": seed, "by_step": by_step, "total": total}


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--genre", default="fantasy")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(json.dumps(measure(chosen.steps, chosen.genre, chosen.seed), indent=2))


if __name__ == "__main__":
    main()
