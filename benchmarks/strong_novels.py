"""Measure the recorded novels of a strong model without a judge: `python -m benchmarks.strong_novels`.

They come out of `tests/recorded` by replay, so that no model is needed, and are measured as a study measures its novels. Prints a
table, or JSON with --json, and every sentence that is accused of a contradiction with what it contradicts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from typing import Any

from recurrentgpt.studies.measures.long_range import evidence
from recurrentgpt.studies.report.figures import measured_row
from recurrentgpt.studies.runs.plan import Job
from recurrentgpt.studies.runs.runner import novel_record, written_novel
from tests.recorded.novels import NAME, NOVELS, replay, write

COLUMNS = (
    "contradictions_per_10000",
    "new_facts",
    "new_facts_late",
    "repeated_4grams",
    "zlib_ratio",
    "mtld",
    "distinct_2",
    "prompt_mean",
)


async def measure(name: str) -> dict[str, Any]:
    """Return what is measured of one recorded novel, and which of its sentences contradict what."""
    record, commits = await write(name, replay(name))
    written = written_novel(commits)
    words = sum(passage["words"] for passage in written["passages"])
    job = Job("recurrentgpt", record["genre"], 1, 1, record["premise"], words)
    novel = novel_record(job, written, models=[NAME])
    row = measured_row(novel)
    figures = {column: row[column] for column in COLUMNS}
    return {
        "novel": name,
        "passages": len(novel["passages"]),
        "words": words,
        **figures,
        "accused": [asdict(one) for one in evidence(novel)],
    }


def table(found: list[dict[str, Any]]) -> str:
    """Return the figures as a Markdown table, and below it what was accused."""
    names = ["novel", "passages", "words", *COLUMNS]
    lines = [" | ".join(["", *(name.replace("_", " ") for name in names), ""]).strip(), "| --- " * len(names) + "|"]
    lines += [" | ".join(["", *(_cell(row[name]) for name in names), ""]).strip() for row in found]
    told = [
        f"* {row['novel']}, passage {one['passage']}: {one['sentence']} But: {one['holds']}"
        for row in found
        for one in row["accused"]
    ]
    return "\n".join([*lines, "", *(told or ["No sentence is accused."])])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 100 else f"{value:.3g}"


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = [asyncio.run(measure(name)) for name in NOVELS]
    print(json.dumps(found, indent=1, ensure_ascii=False) if options.json else table(found))


if __name__ == "__main__":
    main()
