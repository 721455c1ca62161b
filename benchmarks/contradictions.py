"""Measure what the rules find of contradictions: `python -m benchmarks.contradictions [BOOK.txt ...]`.

The texts of `studies.measures.planted_contradictions` contradict themselves in one known sentence each, or seem to and do not;
they are read as the studies read a novel, from the text alone. Prints JSON, of those that the rules were made for, of those that
they were mended on, and of those that nobody had in view: by kind, how many of how many are found, the share of all, how many
innocent texts there are and which sentences are accused that contradict nothing. Of each book, a text file such as Project
Gutenberg has them, cut into passages of 350 words: its words, its contradictions per 10,000, and the sentences, for a reader to
judge.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recurrentgpt.prose.sentences import count_words
from recurrentgpt.studies.measures.long_range import long_range
from recurrentgpt.studies.measures.planted_contradictions import INNOCENT, PARTS, PlantedText, planted_texts

PASSAGE_WORDS = 350
_OF_THE_BOOK = re.compile(r"(?:\*\*\* ?START[^\n]*\n)(.*?)(?:\*\*\* ?END|\Z)", re.DOTALL)


def planted(texts: Iterable[PlantedText]) -> dict[str, Any]:
    """Return how many texts of each kind are found to contradict themselves where they do, and who is accused beside them."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    accused, innocent = list[str](), 0
    for text in texts:
        told = long_range(text.passages).contradictions
        own = [said for said in told if text.kind == "looks" or said in text.then or text.then in said]
        accused += [said for said in told if said not in own or text.kind == INNOCENT]
        if text.kind == INNOCENT:
            innocent += 1
        else:
            found[text.kind].append(bool(own))
    both = [hit for hits in found.values() for hit in hits]
    return {
        "found": {kind: f"{sum(hits)} of {len(hits)}" for kind, hits in found.items()},
        "share": round(sum(both) / len(both), 3),
        "innocent": innocent,
        "accused": accused,
    }


def book(text: str) -> dict[str, Any]:
    """Return what the rules accuse in a book that people wrote."""
    if match := _OF_THE_BOOK.search(text):
        text = match[1]
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.replace("\r", ""))]
    passages: list[list[str]] = [[]]
    for paragraph in filter(None, paragraphs):
        if sum(map(count_words, passages[-1])) >= PASSAGE_WORDS:
            passages.append([])
        passages[-1].append(paragraph)
    words = count_words(" ".join(paragraphs))
    told = long_range(["\n\n".join(passage) for passage in passages]).contradictions
    return {"words": words, "per 10,000": round(10_000 * len(told) / max(1, words), 2), "sentences": told}


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="*", type=Path)
    given = parser.parse_args()
    found = {part: planted(text for text in planted_texts() if text.part == part) for part in PARTS}
    found |= {path.name: book(path.read_text(encoding="utf-8", errors="replace")) for path in given.books}
    print(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
