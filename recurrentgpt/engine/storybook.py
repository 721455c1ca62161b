"""The book in a story: to be read as one, and written to a file."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import KEPT_PLAN

if TYPE_CHECKING:
    from recurrentgpt.books.book import Book

CHAPTER_OF = 8
"""Passages of a chapter, where no plan says that one begins."""

_CHAPTER = re.compile(r"(?:new )?chapter(?: \w+)?:\s*", re.IGNORECASE)


class StoryBook:
    """The head's branch of one story as a book."""

    def __init__(self, reader: StoryReader) -> None:
        self._reader = reader

    async def as_book(self, every: int = CHAPTER_OF, author: str | None = None) -> Book:
        """Return the head's branch as a book; `author` is the story's setting, unless another is named.

        A chapter begins where a plan says so ("Chapter: The Storm"), or else at every `every`th passage. In a story that was
        played, what the player did stands before the passage that tells what came of it.
        """
        from recurrentgpt.books.book import Book, make_chapters

        reader = self._reader
        record, brief, settings = await reader.record(), await reader.brief(), await reader.settings()
        commits = [commit for commit in await reader.commits() if commit["step"]]
        text = _with_player if settings["mode"] == "fiction" else _passage
        titles = {at: title for at, commit in enumerate(commits) if (title := _chapter_title(commit)) is not None}
        return Book(
            title=record["title"],
            author=str(settings["author"]) if author is None else author,
            language=str(settings["language"]),
            genre=brief["genre"],
            description=brief["premise"],
            identifier=reader.id,
            created=datetime.fromisoformat(record["created"]),
            chapters=make_chapters([text(commit) for commit in commits], every, titles),
        )

    async def export(
        self,
        path: str | Path,
        format: str | None = None,
        *,
        force: bool = False,
        every: int = CHAPTER_OF,
        author: str | None = None,
    ) -> Path:
        """Write the head's branch to a file and return where it is: Markdown, text, EPUB, DOCX or HTML.

        The format is that of the extension unless one is named; `json` writes the whole tree, for `Library.restore`. Raises
        BookError, also where a file exists and `force` is not given.
        """
        path = Path(path)
        if (format or path.suffix).casefold().lstrip(".") == "json":
            from recurrentgpt.engine.story_export import write_export

            return await write_export(self._reader.log, self._reader.id, path, force=force)
        from recurrentgpt.books.writers import write_book

        book = await self.as_book(every, author)
        return await asyncio.to_thread(write_book, book, path, format, force=force)


def _passage(commit: Commit) -> str:
    return commit["passage"]


def _with_player(commit: Commit) -> str:
    """Return a passage after what the player did, as a paragraph in italics: `*> You bribe the guard.*`."""
    did = " ".join(commit["plan"].replace("*", "").split())
    if not did or commit["plan_author"] == KEPT_PLAN:
        return commit["passage"]
    return f"*> {did}*\n\n{commit['passage']}"


def _chapter_title(commit: Commit) -> str | None:
    """Return the title of the chapter that begins with a passage: what its plan says; None where none begins."""
    begun = _CHAPTER.match(commit["plan"])
    if not begun:
        return None
    title = commit["plan"][begun.end() :].split("\n")[0]
    if commit["plan_author"] != KEPT_PLAN:
        title = (sentences(title) or [""])[0].rstrip(".")
    return title.strip()
