"""Write the same openings with the codex and without: `python -m benchmarks.codex_stories FOLDER --genres mystery,romance`.

The model is the configured one, the embedded one by default. FOLDER keeps the stories, and the same command goes on where it
was stopped. Once both stories of a genre are written, they lie there as Markdown under names that say nothing of the codex, for
readers to compare; `key.json` says which is which. Stdout gets JSON with what the rules of contradictions find in each.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

from recurrentgpt import Library, Story
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.studies.measures.long_range import long_range


def run(folder: Path, genre: str, steps: int, seed: int) -> dict[str, Any]:
    """Write both stories of a genre from one opening and return what contradicts itself in each."""
    folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {}
    with Library.open(folder / "home") as library:
        for name, story in zip(("on", "off"), _both(library, folder, genre, seed), strict=True):
            for number in range(story.passage().step + 1, steps + 1):
                print(f"{genre}, codex {name}: passage {number}", file=sys.stderr, flush=True)
                story.step()
            texts = [passage.text for passage in story.passages()]
            found, words = long_range(texts).contradictions, sum(map(count_words, texts))
            result[name] = {"words": words, "contradictions": found, "per_10000": round(10_000 * len(found) / words, 2)}
            result[name]["text"] = f"{story.brief['premise']}\n\n" + "\n\n* * *\n\n".join(texts) + "\n"
    return result


def _both(library: Library, folder: Path, genre: str, seed: int) -> tuple[Story, Story]:
    """Return the story of a genre that keeps a codex, and the one of the same opening that keeps none."""
    known = {record.title: record.story for record in library.stories(archived=True)}
    names = [f"{genre} {seed}, codex {state}" for state in ("on", "off")]
    if names[0] not in known:
        opened = Story.new(genre, library=library, seed=seed, title=names[0])
        for _ in opened.begin():
            pass
        known[names[0]] = opened.id
    if names[1] not in known:
        archive = Story.open(known[names[0]], library=library).export(folder / "opening.json", force=True)
        restored = library.restore(archive, copy=names[1])
        archive.unlink()
        restored.rename(names[1])
        restored.change_settings(codex=False)
        known[names[1]] = restored.id
    on, off = (Story.open(known[name], library=library, seed=seed) for name in names)
    return on, off


def main() -> None:
    """Parse the command line, write, print, and lay the stories out for readers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--genres", default="mystery,romance,science fiction")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    genres = chosen.genres.split(",")
    results, key = {}, {}
    for genre in genres:
        results[genre] = run(chosen.folder, genre, chosen.steps, chosen.seed)
        shuffled = random.Random(f"{genre} {chosen.seed}").sample(("on", "off"), 2)
        for letter, state in zip("AB", shuffled, strict=True):
            name = f"{genre.replace(' ', '-')}-{letter}"
            (chosen.folder / f"{name}.md").write_text(results[genre][state].pop("text"), encoding="utf-8")
            key[name] = state
        (chosen.folder / "key.json").write_text(json.dumps(key, indent=1) + "\n")
    print(json.dumps({"steps": chosen.steps, "seed": chosen.seed, "genres": results}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
