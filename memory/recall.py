"""Search over the passages of a branch by meaning and rare words, in the paper's words the reading of the cell state c.

Vectors are rows of the log's store, so a story moved or copied keeps them. They are a cache: what is missing, or was
made by another embedding model, is embedded again from the commit's text, and never mixed.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NotRequired, cast

import numpy as np
from typing_extensions import TypedDict

from recurrentgpt.memory.corrections import with_summary
from recurrentgpt.memory.excerpts import terms
from recurrentgpt.memory.index import Hit, Part, Scope, StoryIndex
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.memory.nearness import embedded, nearness
from recurrentgpt.memory.query import query_parts
from recurrentgpt.memory.row_shapes import fits
from recurrentgpt.memory.row_texts import KINDS, Row, row_text, rows_of
from recurrentgpt.memory.rows import Matrix, codes, deflate, inflate, pack, unpack
from recurrentgpt.memory.superseded import says, without_superseded
from recurrentgpt.models.embedders import Embedder, embedding_id
from recurrentgpt.schema.codex import Superseded
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.shared_map import SharedMap

if TYPE_CHECKING:
    from langgraph.store.base import PutOp

WALK = 64
"""Most commits that are fetched one by one; with more missing, all vectors are read at once."""
KEPT_ROWS = 400_000
"""Rows of all stories that are kept in memory, about 200 MB; the story that is asked is kept whatever it has."""
RENEWED = 16
"""Passages of the first edition, embedded in pieces, that each search embeds by the sentence: about a second."""

Facts = Callable[[Commit], Sequence[str]]
"""What returns the facts that a commit told, a sentence each."""


class VectorRow(TypedDict):
    """What the store holds of a commit: the kinds, vectors and words of its rows."""

    parent: str
    step: int
    dimension: int
    kinds: NotRequired[str]
    """The letter of each row's kind."""
    vectors: NotRequired[str]
    """Packed and deflated: numbers that are mostly small need three of their four bits."""
    terms: NotRequired[str]
    """The words of each row on a line, deflated."""
    words: NotRequired[list[str]]
    """The same in a row of an earlier edition, with vectors in one of these two forms."""
    int4: NotRequired[str]
    int8: NotRequired[str]
    """Vectors of pieces, by the first edition, which has no kinds."""


@dataclass
class _Kept:
    index: StoryIndex
    stale: tuple[SharedMap[tuple[Superseded, ...]], SharedMap[tuple[int, ...]]] = (SharedMap(), SharedMap())
    """What was over when somebody asked last, and the numbers of the rows that say so, by commit."""
    saying: dict[tuple[str, tuple[Superseded, ...]], tuple[int, ...]] = field(default_factory=dict)
    """The same of every commit and what of it was over at any time, for those who ask on several branches in turn."""
    lock: threading.Lock = field(default_factory=threading.Lock)


# Commits are named by content and stories by chance, so an index serves every store that holds the story.
_INDEXES: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()
_INDEXES_LOCK = threading.Lock()


class Recall:
    """Search the passages before a head by meaning, with one embedding model, and by their rare words.

    `facts` returns the facts that a commit told: they are rows beside the sentences of its passage.
    """

    def __init__(self, log: LogReader, embeddings: Embedder, facts: Facts = lambda commit: ()) -> None:
        self.log, self.embeddings, self.facts = log, embeddings, facts
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
        also: Collection[str] = (),
        stale: SharedMap[tuple[Superseded, ...]] | None = None,
        known: Mapping[str, Sequence[tuple[str, Collection[str]]]] | None = None,
    ) -> list[Hit]:
        """Return the passages up to `head` that are nearest to the parts of `query`, in turn; see `StoryIndex.search`.

        `corrected` holds the summaries that stand, on this branch, in place of those of some commits, by id. `also` are further
        parts of the query: other names, the question behind it. `stale` holds, by the ids of commits up to `head`, what they
        said that is no longer so: rows that say it are not searched. `known` are, by part, commits that are known to bear on
        it, the nearest first, each with the sentences that say so.
        """
        if not head or not count:
            return []
        texts = query_parts(query, also)
        vectors = await self._embed(texts)
        kept = await self._index(story, head, vectors.shape[1])
        await self._renew(kept, story)
        instead = await self._corrections(kept, story, corrected or {})
        over = stale or SharedMap()
        stale_instead = await self._stale_instead(kept, story, corrected or {}, instead, over)
        scope = Scope(head, without, instead, await self._stale_rows(kept, story, over), stale_instead)
        places = await self._places(story, known or {})
        parts = [Part(vector, terms(text), places.get(text, ())) for vector, text in zip(vectors, texts, strict=True)]

        def look() -> list[Hit]:
            with kept.lock:
                return kept.index.search(parts, scope, count)

        return await asyncio.to_thread(look)

    async def nearness(self, query: str, texts: Collection[str]) -> dict[str, float]:
        """Return how near each text is in meaning to the nearest part of a query (cosine)."""
        return await asyncio.to_thread(nearness, self.embeddings, query_parts(query), texts)

    def text(self, commit: Commit, hit: Hit) -> str:
        """Return what a hit says, a sentence with those around it; `commit` is the hit's, with its corrected summary."""
        return row_text(commit, hit.kind, hit.row, self.facts(commit))

    async def vectors_op(self, commit: Commit) -> PutOp:
        """Embed a commit, add it to the warm index if there is one, and return the operation that stores the vectors."""
        row = await self._row_of(commit)
        with _INDEXES_LOCK:
            kept = _INDEXES.get(self._key(commit["story"]))
        if kept is not None and row["dimension"] == kept.index.dimension:
            with kept.lock:
                _add_row(kept.index, commit["id"], row)
        from recurrentgpt.memory.story_log import StoryLog

        return StoryLog.put(self._namespace(commit["story"]), commit["id"], row)

    async def _index(self, story: str, head: str, dimension: int) -> _Kept:
        key = self._key(story)
        with _INDEXES_LOCK:
            kept = _INDEXES.get(key)
            cold = kept is None or kept.index.dimension != dimension
            if kept is None or cold:
                kept = _INDEXES[key] = _Kept(StoryIndex(dimension))
            _INDEXES.move_to_end(key)
            while len(_INDEXES) > 1 and sum(len(other.index) for other in _INDEXES.values()) > KEPT_ROWS:
                _INDEXES.popitem(last=False)
        if kept.index.gap(head):
            missing = [] if cold else await self._walk(kept.index, story, head)
            if cold or len(missing) >= WALK:
                await self._read_all(kept, story)
                missing = await self._walk(kept.index, story, head, limit=None)
            await self._add(kept, story, missing)
        return kept

    async def _walk(self, index: StoryIndex, story: str, head: str, limit: int | None = WALK) -> list[Commit]:
        """Return `head` and the commits before it that the index lacks, oldest first."""
        missing: list[Commit] = []
        while (head := index.gap(head)) and (limit is None or len(missing) < limit):
            missing.append(await self.log.get(story, head))
            head = missing[-1]["parent"]
        return missing[::-1]

    async def _read_all(self, kept: _Kept, story: str) -> None:
        found = await self.log.scan(self._namespace(story))
        rows = {row.key: cast(VectorRow, row.value) for row in found if fits(VectorRow, row.value)}

        def add_all() -> None:
            with kept.lock:
                # In the order of the story, as they were added while it was written: it decides between equal scores.
                for key, row in sorted(rows.items(), key=lambda item: item[1]["step"]):
                    _add_stored(kept.index, key, row)

        await asyncio.to_thread(add_all)

    async def _add(self, kept: _Kept, story: str, commits: list[Commit]) -> None:
        """Add commits whose vectors the store lacks, and store them for the next time."""
        made: dict[str, VectorRow] = {}
        for commit in commits:
            made[commit["id"]] = row = await self._row_of(commit)
            with kept.lock:
                _add_row(kept.index, commit["id"], row)
        await self._keep(story, made)

    async def _renew(self, kept: _Kept, story: str) -> None:
        """Embed by the sentence what was embedded in pieces, a few passages at a time, the newest first."""
        keys = list(kept.index.outdated)[: -RENEWED - 1 : -1]
        found = [commit for key in keys if (commit := await self.log.find(story, key))]
        await self._add(kept, story, found)
        for key in keys:
            # A corrected summary is no commit, and stays as it is.
            kept.index.outdated.pop(key, None)

    async def _stale_rows(
        self, kept: _Kept, story: str, over: SharedMap[tuple[Superseded, ...]]
    ) -> SharedMap[tuple[int, ...]]:
        """Return the numbers of the rows that say what is over, by commit; only what changed since the last time is looked at."""
        before, rows = kept.stale
        differs = over.changed_since(before)
        # Pieces of the first edition say much else: they are looked at again when they have become sentences.
        changed = [key for key in differs if key in kept.index and key not in kept.index.outdated]
        unread = [key for key in changed if key in over and (key, over[key]) not in kept.saying]
        for commit in await self.log.remembered_many(story, unread):
            key = commit["id"]
            kept.saying[key, over[key]] = self._saying(commit, over[key])
        rows = rows.changed({key: kept.saying[key, over[key]] if key in over else None for key in changed})
        kept.stale = over.changed(dict.fromkeys(set(differs) - set(changed))), rows
        return rows

    async def _stale_instead(
        self,
        kept: _Kept,
        story: str,
        corrected: Mapping[str, str],
        instead: Mapping[str, str],
        over: SharedMap[tuple[Superseded, ...]],
    ) -> dict[str, tuple[int, ...]]:
        """Return the same of the entries that stand in place of a commit's own, which have another summary."""
        asked = {key: other for key, other in instead.items() if key in over}
        unread = [key for key, other in asked.items() if (other, over[key]) not in kept.saying]
        for commit in await self.log.remembered_many(story, unread):
            key = commit["id"]
            kept.saying[instead[key], over[key]] = self._saying(with_summary(commit, corrected), over[key])
        return {other: kept.saying[other, over[key]] for key, other in asked.items()}

    def _saying(self, commit: Commit, over: tuple[Superseded, ...]) -> tuple[int, ...]:
        """Return the numbers of a commit's rows that say what is over: word for word, its summary and facts in whatever words."""
        return tuple(
            number
            for number, row in enumerate(self._rows(commit))
            if (row.kind != "summary" and says(row.text, over))
            or (row.kind != "sentence" and without_superseded(row.text, over) != row.text)
        )

    async def _places(
        self, story: str, known: Mapping[str, Sequence[tuple[str, Collection[str]]]]
    ) -> dict[str, list[tuple[str, int]]]:
        """Return the rows in which commits say what is known, by part."""
        ids = dict.fromkeys(commit for lines in known.values() for commit, _ in lines)
        rows = {commit["id"]: self._rows(commit) for commit in await self.log.remembered_many(story, ids)}
        return {
            part: [
                (commit, number)
                for commit, texts in lines
                for number in [row for row, own in enumerate(rows[commit]) if any(text in own.text for text in texts)][
                    :1
                ]
            ]
            for part, lines in known.items()
        }

    async def _corrections(self, kept: _Kept, story: str, corrected: Mapping[str, str]) -> dict[str, str]:
        """Return which entry of the index stands in place of which commit, each with the vectors of a corrected summary."""
        instead: dict[str, str] = {}
        made: dict[str, VectorRow] = {}
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
            with kept.lock:
                known = stored is not None and _add_stored(kept.index, key, stored)
            if not known:
                made[key] = row = await self._row_of(entry)
                with kept.lock:
                    _add_row(kept.index, key, row)
        await self._keep(story, made)
        return instead

    async def _row_of(self, commit: Commit) -> VectorRow:
        """Return what is stored of a commit: the vectors, kinds and words of its rows."""
        rows = self._rows(commit)
        # An opening has no text: no rows, of the right width.
        vectors = await self._embed([row.text for row in rows]) if rows else (await self._embed([" "]))[:0]
        return VectorRow(
            parent=commit["parent"],
            step=commit["step"],
            dimension=vectors.shape[1],
            kinds="".join(letter for row in rows for letter, kind in KINDS.items() if kind == row.kind),
            vectors=deflate(pack(codes(vectors))),
            terms=deflate("\n".join(" ".join(terms(row.text)) for row in rows).encode()),
        )

    def _rows(self, commit: Commit) -> list[Row]:
        return rows_of(commit["passage"], commit["summary"], self.facts(commit))

    async def _embed(self, texts: list[str]) -> Matrix:
        # to_thread, not aembed_documents: its default does the same, and ours are CPU-bound.
        return await asyncio.to_thread(embedded, self.embeddings, texts)

    async def _keep(self, story: str, rows: Mapping[str, VectorRow]) -> None:
        """Store what was embedded, for the next time."""
        if rows:
            await self.log.keep(self._namespace(story), rows)

    def _namespace(self, story: str) -> tuple[str, ...]:
        return (*self.log.root, "vectors", story, self.model_id)

    def _key(self, story: str) -> tuple[Any, ...]:
        return (self.log.root, story, self.model_id)


def _add_stored(index: StoryIndex, commit: str, row: Mapping[str, Any]) -> bool:
    """Add a row as the store holds it, and tell whether it is one of this index; another or a damaged one is made again."""
    if not fits(VectorRow, row) or row["dimension"] != index.dimension:
        return False
    try:
        _add_row(index, commit, cast(VectorRow, row))
    except (KeyError, ValueError):
        return False
    return True


def _add_row(index: StoryIndex, commit: str, row: VectorRow) -> None:
    """Add a row to an index, always from its stored form, so that a warm index and one that is read later find the same."""
    kinds = [KINDS[letter] for letter in row.get("kinds", "p" * len(row.get("words", [])))]
    # No rows are no lines, where splitting finds one.
    lines = inflate(row["terms"]).decode().split("\n")[: len(kinds)] if "terms" in row else row["words"]
    if "vectors" in row:
        numbers = unpack(inflate(row["vectors"]), row["dimension"])
    elif "int4" in row:
        numbers = unpack(base64.b64decode(row["int4"]), row["dimension"])
    else:
        numbers = np.frombuffer(base64.b64decode(row["int8"]), dtype=np.int8).reshape(-1, row["dimension"])
    if not len(numbers) == len(kinds) == len(lines):
        raise ValueError("The rows, kinds and words of a commit do not match.")
    index.add(commit, row["parent"], row["step"], numbers, kinds, [line.split() for line in lines])
