"""Search a story by meaning."""

from __future__ import annotations

from dataclasses import dataclass

from recurrentgpt.engine.session import Session
from recurrentgpt.memory.corrections import read_overlay, with_summary
from recurrentgpt.schema.errors import SettingsError


@dataclass(frozen=True)
class SearchResult:
    """A passage that a search found, by which of its pieces, and how near that is to the query (cosine)."""

    id: str
    step: int
    score: float
    piece: str
    summary: str


class StorySearch:
    """The long-term memory of one story, asked by a reader."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def search(self, query: str, k: int = 5) -> list[SearchResult]:
        """Return the `k` passages of the head's branch that are nearest in meaning to `query`, best first."""
        if not query.strip():
            raise SettingsError("There is nothing to search for: give some words.")
        if k < 1:
            raise SettingsError(f"The number of passages to find is 1 or more; it is {k}.")
        session = self._session
        head = await session.head_commit()
        corrected = (await read_overlay(session.log, session.id, head.get("overlay", "")))["summaries"]
        recall = session.runtime().recall
        hits = await recall.search(session.id, head["id"], query, k, corrected=corrected)
        commits = await session.log.get_many(session.id, [hit.id for hit in hits])
        return [
            SearchResult(hit.id, hit.step, round(hit.score, 4), recall.text(commit, hit), commit["summary"])
            for hit, commit in zip(hits, (with_summary(commit, corrected) for commit in commits), strict=True)
            if commit["step"]
        ]
