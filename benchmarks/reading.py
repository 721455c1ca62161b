"""Read a story of the embedded model at a reader's pace while its next passage is written ahead: `python -m benchmarks.reading`.

Prints JSON. The reader takes the first plan each time, once the passage is read, from its first word on, and its plans are.
Of the choices: of how many the passage was `ready` with its memory and plans, of how many its whole text was there, of how many
some of it, and how long the first words took of each kind; where a text was there, against the limit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from typing import Any

from recurrentgpt import Library, Story

LIMIT_MS = 100.0
"""Words that were written ahead may not come later than this after the choice."""
PREMISE = "A lighthouse keeper finds a stranger's diary, and in it a name that is her own."


def read_on(story: Story, pace: float, ahead: bool) -> dict[str, Any]:
    """Write the passage of the chosen plan and read it at `pace` words a minute; return what was seen of it."""
    words, begun, first = "", time.perf_counter(), 0.0
    for event in story.stream():
        if event["event"] in ("prose", "passage") and not first:
            first, words = time.perf_counter(), str(event["text"])
    passage, written = story.passage(), time.perf_counter()
    if ahead:
        story.write_ahead()
    length, plans = len(passage.text.split()), len(" ".join(story.plans).split())
    # The plans come after the passage, which may have been read before they were there.
    read = max(first + 60 * length / pace, written) + 60 * plans / pace
    time.sleep(max(0.0, read - time.perf_counter()))
    return {
        "words": length,
        "words_there": len(words.split()),
        "words_of_plans": plans,
        "first_words_ms": round(1000 * (first - begun), 1),
        "written_after_seconds": round(written - begun, 1),
        "read_seconds": round(time.perf_counter() - first, 1),
    }


def summary(read: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many passages these are, and how long their first words took."""
    late = [one["first_words_ms"] for one in read]
    return {
        "choices": len(read),
        "median_first_words_ms": round(statistics.median(late), 1) if late else None,
        "slowest_first_words_ms": max(late, default=None),
    }


def main() -> None:
    """Print the figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=20, help="how many are chosen")
    parser.add_argument("--pace", type=float, default=250.0, help="words that are read in a minute")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Library.open(folder) as library:
        story = Story.new("mystery", PREMISE, library=library, ahead=1)
        read_on(story, given.pace, ahead=True)
        read = []
        for number in range(1, given.passages + 1):
            story.choose(1)
            read.append(read_on(story, given.pace, ahead=number < given.passages))
        tally = story.ahead_tally()
    # One word comes of a passage of which nothing was there.
    begun = [one for one in read if one["words_there"] > 1]
    whole = [one for one in begun if one["words_there"] == one["words"]]
    figures = {
        "pace": given.pace,
        "choices": tally["choices"],
        "ready": tally["ready"],
        "whole_text": summary(whole),
        "some_text": summary([one for one in begun if one not in whole]),
        "no_text": summary([one for one in read if one not in begun]),
        "limit_ms": LIMIT_MS,
        "ok": all(one["first_words_ms"] <= LIMIT_MS for one in whole),
        "passages": read,
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
