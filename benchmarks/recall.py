"""Measure what recall finds of hidden facts, and how fast: `python -m benchmarks.recall [--world harbour] [--cache FOLDER]`.

Hidden worlds of 1,224 passages each (see `studies.measures.hidden_world`), with the installed all-MiniLM-L6-v2. Prints JSON:
the share of questions whose passage is among 4 and among 8 at each distance, for our recall, for its parts added one after
another, and for MiniLM (best of 170-word pieces), BM25 (whole passages) and the first edition (pieces, half cosine, half rare
words); and the time of a query and the size of the vectors at 10,000 passages. Some 16,000 texts a world are embedded, in
minutes; `--cache` keeps them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore
from numpy.typing import NDArray

from recurrentgpt.memory import index as index_module
from recurrentgpt.memory import recall as recall_module
from recurrentgpt.memory.excerpts import terms
from recurrentgpt.memory.index import Part, Scope, StoryIndex
from recurrentgpt.memory.recall import Recall
from recurrentgpt.memory.row_texts import pieces
from recurrentgpt.memory.rows import codes
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import MiniLM
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.log import Commit
from recurrentgpt.studies.measures.hidden_recall import (
    AMONG,
    DISTANCES,
    commits,
    ranking,
    remember,
    shares_found,
)
from recurrentgpt.studies.measures.hidden_world import PLANTED, WORLDS, HiddenWorld, Probe

WITHOUT: dict[str, dict[str, Any]] = {
    "sentence rows, cosine, the whole query": {"WORDS": 0.0, "ALIKE": 0.0, "parts": lambda query, also: [query]},
    "and the query taken apart": {"WORDS": 0.0, "ALIKE": 0.0},
    "and rare words": {"ALIKE": 0.0},
}
"""What is added one after another; with what all rows have in common taken off, it is our recall."""

Vectors = NDArray[np.float32]


class Kept(Embeddings):
    """MiniLM that keeps on disk what it embedded."""

    model_id = "all-MiniLM-L6-v2"

    def __init__(self, folder: Path | None) -> None:
        self.folder, self.known = folder, dict[str, Vectors]()
        self.model = MiniLM(batch=64)
        if folder and (folder / "texts.json").is_file():
            texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
            self.known = dict(zip(texts, np.load(folder / "vectors.npy").astype(np.float32), strict=True))

    def learn(self, texts: Iterable[str]) -> None:
        """Embed what is not known yet."""
        new = sorted({text for text in texts if text not in self.known}, key=len)
        if not new:
            return
        self.known |= zip(new, np.asarray(self.model.embed_documents(new), dtype=np.float32), strict=True)
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "texts.json").write_text(json.dumps(list(self.known)), encoding="utf-8")
            np.save(self.folder / "vectors.npy", np.array(list(self.known.values()), dtype=np.float16))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""
        self.learn(texts)
        return [self.known[text].tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text."""
        return self.embed_documents([text])[0]


def best(scores: Vectors, owners: NDArray[np.int32], length: int, without: bool) -> list[int]:
    """Return the numbers of the passages with the best rows, best first."""
    starts = np.searchsorted(owners, np.arange(1, length + 1))
    found = np.maximum.reduceat(scores, starts)
    if without:
        found[-1] = -np.inf
    return (np.argsort(-found, kind="stable")[: AMONG[-1]] + 1).tolist()


class PiecesOf:
    """The pieces and summaries of a world, as the first edition searched them."""

    def __init__(self, path: list[Commit], embeddings: Kept, *, summaries: bool) -> None:
        texts = [[*pieces(commit["passage"]), *[commit["summary"]] * summaries] for commit in path]
        flat = [text for own in texts for text in own]
        self.embeddings = embeddings
        self.owners = np.repeat(np.arange(1, len(path) + 1, dtype=np.int32), [len(own) for own in texts])
        self.vectors = np.asarray(embeddings.embed_documents(flat), dtype=np.float32)
        self.rows: defaultdict[str, list[int]] = defaultdict(list)
        for row, text in enumerate(flat):
            for word in terms(text):
                self.rows[word].append(row)

    async def cosine(self, probe: Probe, length: int, without: bool) -> list[int]:
        """Rank by cosine."""
        end = int(np.searchsorted(self.owners, length, side="right"))
        return best(self._cosines(probe, end), self.owners[:end], length, without)

    async def first_edition(self, probe: Probe, length: int, without: bool) -> list[int]:
        """Rank by half cosine, half the share of rare words, each by its rarity squared."""
        end = int(np.searchsorted(self.owners, length, side="right"))
        shares, whole = np.zeros(end, dtype=np.float32), 0.0
        for word in terms(probe.query):
            rows = [row for row in self.rows.get(word, ()) if row < end]
            if rows and 4 * len(rows) <= end:
                rarity = math.log(1 + end / len(rows)) ** 2
                shares[rows] += rarity
                whole += rarity
        return best(self._cosines(probe, end) / 2 + shares / (2 * whole or 1), self.owners[:end], length, without)

    def _cosines(self, probe: Probe, end: int) -> Vectors:
        return self.vectors[:end] @ np.asarray(self.embeddings.embed_query(probe.query), dtype=np.float32)


class Bm25:
    """Okapi BM25 over whole passages, k1 = 1.2, b = 0.75."""

    def __init__(self, path: list[Commit]) -> None:
        self.held: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.lengths = np.zeros(len(path))
        for number, commit in enumerate(path):
            counted = Counter(word.removesuffix("'s") for word in tokens(commit["passage"]))
            self.lengths[number] = counted.total()
            for word, count in counted.items():
                self.held[word].append((number, count))

    async def rank(self, probe: Probe, length: int, without: bool) -> list[int]:
        """Rank the first `length` passages."""
        scores = np.zeros(length, dtype=np.float32)
        relative = self.lengths[:length] / self.lengths[:length].mean()
        for word in terms(probe.query):
            held = np.array([pair for pair in self.held.get(word, ()) if pair[0] < length], dtype=np.int64).reshape(
                -1, 2
            )
            rows, counts = held[:, 0], held[:, 1]
            weight = math.log(1 + (length - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += weight * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * relative[rows]))
        return best(scores, np.arange(1, length + 1, dtype=np.int32), length, without)


async def measure(world: HiddenWorld, embeddings: Kept) -> dict[str, Any]:
    """Return the tables of one world."""
    path = commits(world, PLANTED + DISTANCES[-1])
    log = StoryLog(InMemoryStore())
    recall = Recall(log, embeddings)
    embeddings.learn(
        row.text for commit in path for row in recall_module.rows_of(commit["passage"], commit["summary"], ())
    )
    embeddings.learn(text for probe in world.probes for text in [probe.query, *recall_module.query_parts(probe.query)])
    await remember(log, recall, path)
    rank = ranking(world, recall, path)
    found: dict[str, Any] = {"ours": await shares_found(world, rank, DISTANCES), "built up": {}}
    for name, change in WITHOUT.items():
        with ExitStack() as changed:
            for constant in change.keys() - {"parts"}:
                changed.enter_context(patch.object(index_module, constant, change[constant]))
            if "parts" in change:
                changed.enter_context(patch.object(recall_module, "query_parts", change["parts"]))
            found["built up"][name] = await shares_found(world, rank, (DISTANCES[0], DISTANCES[-1]))
    others = {
        "MiniLM": PiecesOf(path, embeddings, summaries=False).cosine,
        "BM25": Bm25(path).rank,
        "first edition": PiecesOf(path, embeddings, summaries=True).first_edition,
    }
    for name, other in others.items():
        found[name] = await shares_found(world, other, DISTANCES)
    return found


def speed(passages: int = 10_000, rows: int = 15, dimension: int = 384) -> dict[str, Any]:
    """Return the milliseconds of a query by its number of parts at so many passages, and the size of all vectors."""
    dealer = np.random.default_rng(1)
    built = StoryIndex(dimension)
    vocabulary = [f"word{number}" for number in range(20_000)]
    odds = 1 / np.arange(1, len(vocabulary) + 1)
    for number in range(passages):
        drawn = dealer.choice(len(vocabulary), (rows, 14), p=odds / odds.sum())
        words = [sorted({vocabulary[word] for word in row}) for row in drawn.tolist()]
        vectors = dealer.standard_normal((rows, dimension), dtype=np.float32)
        built.add(str(number), str(number - 1) if number else "", number, codes(vectors), ["sentence"] * rows, words)
    found: dict[str, Any] = {
        "passages": passages,
        "rows": len(built),
        "megabytes_of_vectors": round(built.nbytes / 1e6, 1),
    }
    for count in (1, 2, 4, 6, 8):
        taken, used = [], []
        for _ in range(15):
            vectors = dealer.standard_normal((count, dimension), dtype=np.float32)
            drawn = dealer.choice(len(vocabulary), (count, 14), p=odds / odds.sum()).tolist()
            parts = [
                Part(vector / np.linalg.norm(vector), [vocabulary[word] for word in own])
                for vector, own in zip(vectors, drawn, strict=True)
            ]
            began, before = time.perf_counter(), time.process_time()
            built.search(parts, Scope(str(passages - 1), without=str(passages - 1)), 8)
            taken.append(1000 * (time.perf_counter() - began))
            used.append(1000 * (time.process_time() - before))
        found[f"{count} parts"] = {
            "fastest_ms": round(min(taken), 1),
            "median_ms": round(statistics.median(taken), 1),
            "cpu_ms": round(statistics.median(used), 1),
        }
    return found


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=WORLDS, action="append")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--speed", action="store_true", help="measure only how fast it is")
    given = parser.parse_args()
    found: dict[str, Any] = {"speed": speed()}
    if not given.speed:
        embeddings = Kept(given.cache)
        found |= {name: asyncio.run(measure(HiddenWorld(name), embeddings)) for name in given.world or WORLDS}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
