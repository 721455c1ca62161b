"""The book in a story: to be read as one, written to a file, and searched by meaning."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recurrentgpt.engine.session import Session
from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.memory.recall import with_summary
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.state import KEPT_PLAN

if TYPE_CHECKING:
    from recurrentgpt.books.book import Book

CHAPTER_OF = 8
"""Passages of a chapter, where no plan says that one begins."""

_CHAPTER = re.compile(r"(?:new )?chapter(?: \w+)?:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class SearchResult:
    """A passage that a search found, by which of its pieces, and how near that is to the query (cosine)."""

    id: str
    step: int
    score: float
    piece: str
    summary: str


class StoryBook:
    """The head's branch of one story as a book."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def as_book(self, every: int = CHAPTER_OF) -> Book:
        """Return the head's branch as a book.

        A chapter begins where a plan says so ("Chapter: The Storm"), or else at every `every`th passage.
        """
        from recurrentgpt.books.book import Book, make_chapters

        session = self._session
        record, brief = await session.log.record(session.id), await session.brief()
        commits = [commit for commit in await session.commits() if commit["step"]]
        titles = {at: title for at, commit in enumerate(commits) if (title := _chapter_title(commit)) is not None}
        return Book(
            title=record["title"],
            author="",
            language=session.context.language,
            genre=brief["genre"],
            description=brief["premise"],
            identifier=session.id,
            created=datetime.fromisoformat(record["created"]),
            chapters=make_chapters([commit["passage"] for commit in commits], every, titles),
        )

    async def export(
        self, path: str | Path, format: str | None = None, *, force: bool = False, every: int = CHAPTER_OF
    ) -> Path:
        """Write the head's branch to a file and return where it is: Markdown, text, EPUB, DOCX or HTML.

        The format is that of the extension unless one is named; `json` writes the whole tree, for `Library.restore`. Raises
        BookError, also where a file exists and `force` is not given.
        """
        path = Path(path)
        if (format or path.suffix).casefold().lstrip(".") == "json":
            from recurrentgpt.engine.story_export import write_export

            return await write_export(self._session.log, self._session.id, path, force=force)
        from recurrentgpt.books.writers import write_book

        book = await self.as_book(every)
        return await asyncio.to_thread(write_book, book, path, format, force=force)

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


def _chapter_title(commit: Commit) -> str | None:
    """Return the title of the chapter that begins with a passage: what its plan says; None where none begins."""
    begun = _CHAPTER.match(commit["plan"])
    if not begun:
        return None
    title = commit["plan"][begun.end() :].split("\n")[0]
    if commit["plan_author"] != KEPT_PLAN:
        title = (sentences(title) or [""])[0].rstrip(".")
    return title.strip()
