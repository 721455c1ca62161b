"""Check that a model keeps the contract of every step: `python -m benchmarks.contract --steps 20 --genres fantasy,mystery`.

The model is the configured one, the embedded one by default. One row per step goes to stderr while the story is written; stdout
gets JSON with every figure, the limits they are held to, and what broke them. With `--save FOLDER` the stories and the table are
kept as Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.usage import uncached_share
from recurrentgpt import Library, Story
from recurrentgpt.models.calls import total_usage
from recurrentgpt.models.embeddings import default_embeddings
from recurrentgpt.prose.sentence_checks import find_fault
from recurrentgpt.prose.sentences import count_words, sentences
from recurrentgpt.prose.shared_runs import longest_shared_run
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS, Usage

FEWEST_WORDS, MOST_WORDS = 150, 450
MOST_SHARED_RUN = 12
MOST_PLAN_SIMILARITY = 0.9
"""Cosine from which two plans count as the same."""
MOST_RESAMPLED = 0.10
MOST_UNCACHED = 0.40

COLUMNS = ("step", "words", "run", "memory", "new", "dropped", "plans", "past", "samples", "seconds", "broken")


@dataclass
class Row:
    """One step's figures."""

    step: int
    words: int
    run: int
    """Longest run of words shared with any earlier passage."""
    memory: int
    new: int
    dropped: int
    plans: float
    """Highest similarity of two of the plans."""
    past: float
    """Highest similarity of a plan and the summary of a passage."""
    samples: int
    """Calls beyond the first, because a reply was not usable."""
    seconds: float
    broken: list[str] = field(default_factory=list)


def run(genre: str, steps: int, seed: int, library: Library, report: Any) -> tuple[Story, list[Row], Usage]:
    """Write one story and return its figures by step."""
    story = Story.new(genre, library=library, seed=seed)
    rows: list[Row] = []
    texts: list[str] = []
    summaries: list[str] = []
    spent: list[Usage] = []
    passage: dict[str, Any] = {}
    memory: dict[str, Any] = {}
    before: list[str] = []
    began = time.monotonic()
    print(f"\n{genre}\n" + " ".join(f"{name:>8}" for name in COLUMNS), file=report, flush=True)
    for event in story.stream(steps):
        match event["event"]:
            case "passage":
                passage = event
            case "memory":
                memory = event
            case "done":
                spent.append(event["usage"])
            case "plans":
                written = story.passages()[-1]
                row = _row(passage, memory, event["plans"], texts, [*summaries, written.summary], before)
                row.samples = written.usage["resamples"]
                row.seconds = round(time.monotonic() - began, 1)
                rows.append(row)
                texts.append(passage["text"])
                summaries.append(written.summary)
                before = memory["short_term_memory"].splitlines()
                shown = asdict(row) | {"broken": "; ".join(row.broken) or "-"}
                print(" ".join(f"{shown[name]:>8}" for name in COLUMNS), file=report, flush=True)
                began = time.monotonic()
    return story, rows, total_usage(spent)


def _row(
    passage: dict[str, Any],
    memory: dict[str, Any],
    plans: list[str],
    texts: list[str],
    summaries: list[str],
    before: list[str],
) -> Row:
    lines = memory["short_term_memory"].splitlines()
    length, _ = longest_shared_run(passage["text"], texts)
    row = Row(
        step=passage["step"],
        words=count_words(passage["text"]),
        run=length,
        memory=len(lines),
        new=len([line for line in lines if line not in before]),
        dropped=len(memory["dropped"]),
        plans=_most_alike(plans, plans),
        past=_most_alike(plans, summaries),
        samples=0,
        seconds=0.0,
    )
    fault = find_fault(passage["text"])
    checks = {
        f"words outside {FEWEST_WORDS}-{MOST_WORDS}": not FEWEST_WORDS <= row.words <= MOST_WORDS,
        f"shared run over {MOST_SHARED_RUN} words": row.run > MOST_SHARED_RUN,
        "no new fact": row.new < 1,
        "memory over its ceilings": row.memory > MEMORY_SENTENCES or count_words(" ".join(lines)) > MEMORY_WORDS,
        "plans alike": row.plans > MOST_PLAN_SIMILARITY,
        "a plan that has happened": row.past > MOST_PLAN_SIMILARITY,
        f"fault: {fault}": fault is not None,
        "not whole sentences": not passage["text"].rstrip().endswith((".", "!", "?", "…", '"', "”", "’", "'")),
    }
    row.broken = [name for name, broken in checks.items() if broken]
    return row


def _most_alike(first: list[str], second: list[str]) -> float:
    embed = default_embeddings().embed_documents
    pairs = list(combinations(range(len(first)), 2)) if first is second else None
    cosines = np.asarray(embed(first)) @ np.asarray(embed(second)).T
    values = [cosines[pair] for pair in pairs] if pairs is not None else cosines.ravel().tolist()
    return round(float(max(values, default=0.0)), 3)


def _people_kept(story: Story) -> list[str]:
    """Return the main characters that neither the brief nor the memory names any more."""
    known = " ".join([story.brief["premise"], *story.brief["characters"], story.memory])
    names = [character.split(":")[0] for character in story.brief["characters"]]
    return [name for name in names if name not in known]


def measure(genres: list[str], steps: int, seed: int, save: Path | None) -> dict[str, Any]:
    """Write one story per genre and return all figures, with what broke the contract."""
    result: dict[str, Any] = {"steps": steps, "seed": seed, "genres": {}, "broken": []}
    usages: list[Usage] = []
    with tempfile.TemporaryDirectory() as folder, Library.open(folder) as library:
        for genre in genres:
            story, rows, usage = run(genre, steps, seed, library, sys.stderr)
            usages.append(usage)
            result["genres"][genre] = {"title": story.title, "rows": [asdict(row) for row in rows], "usage": usage}
            result["broken"] += [f"{genre}, step {row.step}: {what}" for row in rows for what in row.broken]
            result["broken"] += [f"{genre}: {name} is forgotten" for name in _people_kept(story)]
            result["broken"] += [f"{genre}: {steps - len(rows)} steps lost"] if len(rows) != steps else []
            if save:
                _save(save, genre, story, rows)
    total = total_usage(usages)
    result["resampled"] = round(total["resamples"] / max(1, total["calls"]), 3)
    result["uncached"] = round(uncached_share(total), 3)
    result["seconds_per_step"] = round(
        sum(row["seconds"] for genre in result["genres"].values() for row in genre["rows"]) / (steps * len(genres)), 1
    )
    if result["resampled"] > MOST_RESAMPLED:
        result["broken"].append(f"{result['resampled']:.0%} of the calls needed another sample")
    if result["uncached"] > MOST_UNCACHED:
        result["broken"].append(f"{result['uncached']:.0%} of the prompt tokens came from no cache")
    return result


def _save(folder: Path, genre: str, story: Story, rows: list[Row]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = genre.replace(" ", "-")
    table = ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    for row in rows:
        shown = asdict(row) | {"broken": "; ".join(row.broken) or "none"}
        table.append("| " + " | ".join(str(shown[column]) for column in COLUMNS) + " |")
    (folder / f"{name}-table.md").write_text(f"# {story.title}: the contract by step\n\n" + "\n".join(table) + "\n")
    brief = story.brief
    parts = [f"# {brief['title']}", f"*{brief['premise']}*", *(f"* {person}" for person in brief["characters"])]
    for passage in story.passages():
        parts += [f"## {passage.step}", f"> {passage.plan}", passage.text]
    parts += ["## The memory at the end", *(f"* {line}" for line in sentences(story.memory))]
    (folder / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def main() -> None:
    """Parse the command line, measure, print, and fail when the contract is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--genres", default="fantasy,mystery,science fiction")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=Path)
    chosen = parser.parse_args()
    result = measure(chosen.genres.split(","), chosen.steps, chosen.seed, chosen.save)
    print(json.dumps(result, indent=2, ensure_ascii=False))
    sys.exit(bool(result["broken"]))


if __name__ == "__main__":
    main()
