"""Long-term memory in any LangChain vector store of the host's, in place of our own index.

The store holds pieces of passages with their story, commit and step; which passages are on a branch is the log's to say. So no
filter of the store is relied upon: pieces of other branches and stories are passed over, and more are asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langgraph.store.base import PutOp

from recurrentgpt.memory.index import Hit
from recurrentgpt.memory.nearness import nearness
from recurrentgpt.memory.query import query_parts
from recurrentgpt.memory.row_texts import pieces, row_text
from recurrentgpt.memory.story_log import Commit, StoryLog
from recurrentgpt.schema.codex import Superseded
from recurrentgpt.schema.shared_map import SharedMap

MOST_ASKED = 10_000
"""Pieces that are asked for at most, when others keep coming first."""


class VectorStoreRecall:
    """Search the passages before a head by meaning, in a vector store; made for `Context.vector_store`."""

    def __init__(self, log: StoryLog, vectors: VectorStore, embeddings: Embeddings) -> None:
        self.log, self.vectors, self.embeddings = log, vectors, embeddings

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
        """Return the passages up to `head` that are nearest to `query`, best first, each by its best piece.

        The order is the store's. Stores measure differently, so the score is the share of pieces that came later. Summaries
        that were corrected are shown, and found by what the passage says. No piece is left out for a sentence that is `stale`,
        and none comes first for what is `known`.
        """
        if not head or not count:
            return []
        branch = set(await self.log.path(story, head)) - {without}
        asked = 8 * count
        while True:
            found = await self.vectors.asimilarity_search(" ".join([query, *also]), k=asked)
            best: dict[str, Hit] = {}
            for rank, document in enumerate(found):
                about = document.metadata
                if about.get("story") == story and (key := str(about.get("commit"))) in branch and key not in best:
                    best[key] = Hit(key, int(about["step"]), 1 - rank / len(found), int(about["piece"]), "piece")
            if len(best) >= count or len(found) < asked or asked >= MOST_ASKED:
                return list(best.values())[:count]
            asked *= 4

    async def nearness(self, query: str, texts: Collection[str]) -> dict[str, float]:
        """Return how near each text is in meaning to the nearest part of a query (cosine)."""
        return await asyncio.to_thread(nearness, self.embeddings, query_parts(query), texts)

    def text(self, commit: Commit, hit: Hit) -> str:
        """Return the text of a hit's piece; `commit` is the hit's, with its corrected summary."""
        return row_text(commit, "piece", hit.row, ())

    async def vectors_op(self, commit: Commit) -> PutOp:
        """Add a commit's pieces to the vector store, and return the operation that notes it in the log."""
        texts = [*pieces(commit["passage"]), *([commit["summary"]] if commit["summary"] else [])]
        documents = [
            Document(
                text,
                metadata={"story": commit["story"], "commit": commit["id"], "step": commit["step"], "piece": number},
            )
            for number, text in enumerate(texts)
        ]
        note = (*self.log.root, "vectors", commit["story"], "host")
        if documents and await self.log.value(note, commit["id"]) is None:
            # A node that runs again after a crash may add the same once more: a passage is found by its best piece, so
            # that costs space and changes nothing.
            await self.vectors.aadd_documents(documents)
        return PutOp(note, commit["id"], {"pieces": len(texts)}, index=False)
