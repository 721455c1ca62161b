"""Search over the passages of a branch by meaning and rare words, in the paper's words the reading of the cell state c.

Vectors are rows of the log's store, so a story moved or copied keeps them. They are a cache: what is missing, or was
made by another embedding model, is embedded again from the commit's text, and never mixed.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import PutOp

from recurrentgpt.memory.index import Hit, StoryIndex
from recurrentgpt.memory.keyword_index import terms
from recurrentgpt.memory.pieces import Matrix, pack, pieces, unit, unpack
from recurrentgpt.memory.story_log import Commit, StoryLog
from recurrentgpt.models.embeddings import embedding_id

WALK = 64
"""Most commits that are fetched one by one; with more missing, all vectors are read at once."""
KEPT_INDEXES = 64


class VectorRow(TypedDict):
    """What the store holds of a commit: the vectors of its pieces and its summary, packed, and the rare words of each."""

    parent: str
    step: int
    dimension: int
    int8: str
    words: list[str]


@dataclass
class _Kept:
    index: StoryIndex
    lock: threading.Lock = field(default_factory=threading.Lock)


# Commits are named by content and stories by chance, so an index serves every store that holds the story.
_INDEXES: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()
_INDEXES_LOCK = threading.Lock()


class Recall:
    """Search the passages before a head by meaning, with one embedding model, and by their rare words."""

    def __init__(self, log: StoryLog, embeddings: Embeddings) -> None:
        self.log, self.embeddings = log, embeddings
        self.model_id = re.sub(r"[^\w-]", "_", embedding_id(embeddings))

    async def search(
        self,
        story: str,
        head: str,
        query: str,
        count: int,
        *,
        without: str = "",
        corrected: Mapping[str, str] | None = None,
    ) -> list[Hit]:
        """Return the passages up to `head` that are nearest to `query`, best first; see `StoryIndex.search`.

        `corrected` holds the summaries that stand, on this branch, in place of those of some commits, by id.
        """
        if not head or not count:
            return []
        vector = await self._embed([query])
        kept = await self._index(story, head, vector.shape[1])
        instead = await self._corrections(kept, story, corrected or {})

        def look() -> list[Hit]:
            with kept.lock:
                return kept.index.search(vector, terms(query), head, count, without=without, instead=instead)

        return await asyncio.to_thread(look)

    async def vectors_op(self, commit: Commit) -> PutOp:
        """Embed a commit, add it to the warm index if there is one, and return the operation that stores the vectors."""
        row = await self._row_of(commit)
        with _INDEXES_LOCK:
            kept = _INDEXES.get(self._key(commit["story"]))
        if kept is not None and row["dimension"] == kept.index.dimension:
            with kept.lock:
                _add_row(kept.index, commit["id"], row)
        return self._put(commit, row)

    async def _index(self, story: str, head: str, dimension: int) -> _Kept:
        key = self._key(story)
        with _INDEXES_LOCK:
            kept = _INDEXES.get(key)
            cold = kept is None or kept.index.dimension != dimension
            if kept is None or cold:
                kept = _INDEXES[key] = _Kept(StoryIndex(dimension))
            _INDEXES.move_to_end(key)
            while len(_INDEXES) > KEPT_INDEXES:
                _INDEXES.popitem(last=False)
        if kept.index.gap(head):
            missing = [] if cold else await self._walk(kept.index, story, head)
            if cold or len(missing) >= WALK:
                await self._read_all(kept, story)
                missing = await self._walk(kept.index, story, head, limit=None)
            await self._add(kept, missing)
        return kept

    async def _walk(self, index: StoryIndex, story: str, head: str, limit: int | None = WALK) -> list[Commit]:
        """Return `head` and the commits before it that the index lacks, oldest first."""
        missing: list[Commit] = []
        while (head := index.gap(head)) and (limit is None or len(missing) < limit):
            missing.append(await self.log.get(story, head))
            head = missing[-1]["parent"]
        return missing[::-1]

    async def _read_all(self, kept: _Kept, story: str) -> None:
        rows = {row.key: row.value for row in await self.log.scan(self._namespace(story))}

        def add_all() -> None:
            with kept.lock:
                # In the order of the story, as they were added while it was written: it decides between equal scores.
                for key, row in sorted(rows.items(), key=lambda item: int(item[1]["step"])):
                    if _fits(row, kept.index):
                        _add_row(kept.index, key, cast(VectorRow, row))

        await asyncio.to_thread(add_all)

    async def _add(self, kept: _Kept, commits: list[Commit]) -> None:
        """Add commits whose vectors the store lacks, and store them for the next time."""
        operations: list[PutOp] = []
        for commit in commits:
            row = await self._row_of(commit)
            with kept.lock:
                _add_row(kept.index, commit["id"], row)
            operations.append(self._put(commit, row))
        if operations:
            await self.log.batch(operations)

    async def _corrections(self, kept: _Kept, story: str, corrected: Mapping[str, str]) -> dict[str, str]:
        """Return which entry of the index stands in place of which commit, each with the vectors of a corrected summary."""
        instead: dict[str, str] = {}
        operations: list[PutOp] = []
        for commit_id, summary in corrected.items():
            if commit_id not in kept.index:
                continue  # not on this branch: the index holds all that is
            key = f"{commit_id}-{hashlib.sha256(summary.encode()).hexdigest()[:8]}"
            instead[commit_id] = key
            if key in kept.index:
                continue
            commit = with_summary(await self.log.get(story, commit_id), corrected)
            # An entry of its own, before which there is nothing: no branch leads to it but by `instead`.
            entry: Commit = {**commit, "id": key, "parent": ""}
            stored = await self.log.value(self._namespace(story), key)
            if stored is not None and _fits(stored, kept.index):
                row = cast(VectorRow, stored)
            else:
                row = await self._row_of(entry)
                operations.append(self._put(entry, row))
            with kept.lock:
                _add_row(kept.index, key, row)
        if operations:
            await self.log.batch(operations)
        return instead

    async def _row_of(self, commit: Commit) -> VectorRow:
        """Return what is stored of a commit: the vectors of its pieces and its summary, and the words of each."""
        texts = [*pieces(commit["passage"]), *([commit["summary"]] if commit["summary"] else [])]
        # An opening has no text: no rows, of the right width.
        vectors = await self._embed(texts) if texts else (await self._embed([" "]))[:0]
        return VectorRow(
            parent=commit["parent"],
            step=commit["step"],
            dimension=vectors.shape[1],
            int8=pack(vectors),
            words=[" ".join(terms(text)) for text in texts],
        )

    async def _embed(self, texts: list[str]) -> Matrix:
        # to_thread, not aembed_documents: its default does the same, and ours are CPU-bound.
        found = await asyncio.to_thread(self.embeddings.embed_documents, texts)
        return unit(np.asarray(found, dtype=np.float32))

    def _put(self, commit: Commit, row: VectorRow) -> PutOp:
        return self.log.put(self._namespace(commit["story"]), commit["id"], row)

    def _namespace(self, story: str) -> tuple[str, ...]:
        return (*self.log.root, "vectors", story, self.model_id)

    def _key(self, story: str) -> tuple[Any, ...]:
        return (self.log.root, story, self.model_id)


def _fits(row: Mapping[str, Any], index: StoryIndex) -> bool:
    """Tell whether a stored row is of this embedding model's width and of today's form; one that is not is made again."""
    return row["dimension"] == index.dimension and "words" in row and "int8" in row


def _add_row(index: StoryIndex, commit: str, row: VectorRow) -> None:
    """Add a row to an index, always from its stored form, so that a warm index and one that is read later find the same."""
    words = [line.split() for line in row["words"]]
    index.add(commit, row["parent"], row["step"], unpack(row["int8"], row["dimension"]), words)


def with_summary(commit: Commit, corrected: Mapping[str, str]) -> Commit:
    """Return a commit with the summary that stands for it on a branch."""
    return {**commit, "summary": corrected.get(commit["id"], commit["summary"])}


def piece_text(commit: Commit, number: int) -> str:
    """Return the text of a hit's piece."""
    parts = pieces(commit["passage"])
    return parts[number] if number < len(parts) else commit["summary"]
