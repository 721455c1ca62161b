"""Search a story by meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recurrentgpt.engine.hidden_entries import Readers, for_readers, of_entries
from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.memory.codex import in_names
from recurrentgpt.memory.corrections import in_force, read_overlay, with_summary
from recurrentgpt.memory.superseded import still_true
from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.schema.errors import SettingsError

if TYPE_CHECKING:
    from recurrentgpt.memory.recall import Recall
    from recurrentgpt.memory.vector_store import VectorStoreRecall


@dataclass(frozen=True)
class SearchResult:
    """A passage that a search found, by which of its pieces, and how near that is to the query (cosine)."""

    id: str
    step: int
    score: float
    piece: str
    summary: str


class StorySearch:
    """The long-term memory of one story, asked by a reader; `recall` makes what searches it, when it is first asked."""

    def __init__(self, story: StoryReader, recall: Callable[[], Recall | VectorStoreRecall]) -> None:
        self._story, self._recall = story, recall

    async def search(self, query: str, k: int = 5, *, truth: bool = True) -> list[SearchResult]:
        """Return the `k` passages of the head's branch that are nearest in meaning to `query`, best first.

        What is no longer so is left out, by the rules by which a writer is not told it; the history of an entry has it. Without
        `truth` so is what `engine.hidden_entries` keeps from readers.
        """
        query = visible_text(query)
        if not query.strip():
            raise SettingsError("There is nothing to search for: give some words.")
        if k < 1:
            raise SettingsError(f"The number of passages to find is 1 or more; it is {k}.")
        story, head = self._story, await self._story.head_commit()
        corrected = (await read_overlay(story.log, story.id, await in_force(story.log, head)))["summaries"]
        recall = self._recall()
        codex = await story.codex_at(None)
        plays = not truth and (await story.settings())["mode"] == "fiction"
        stale = (codex if truth else for_readers(codex, plays=plays)).over
        # By a role or another name a reader asks as a plan does; whoever is hidden is found by none.
        also = in_names(codex if truth else of_entries(Readers(codex, plays=plays).entries()), query)
        hits = await recall.search(story.id, head["id"], query, k, corrected=corrected, also=also, stale=stale)
        commits = await story.log.get_many(story.id, [hit.id for hit in hits])
        codex = codex if truth else for_readers(codex, commits, plays=plays)
        found: list[SearchResult] = []
        for hit, commit in zip(hits, (with_summary(commit, corrected) for commit in commits), strict=True):
            true = still_true(codex, commit, hit.kind, hit.row, recall.text(commit, hit))
            if commit["step"] and true.piece:
                found.append(SearchResult(hit.id, hit.step, round(hit.score, 4), true.piece, true.summary))
        return found
