"""The book in a story: to be read as one, and written to a file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.memory.corrections import in_force, read_overlay
from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.prose.typography import typographic
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import KEPT_PLAN

if TYPE_CHECKING:
    from recurrentgpt.books.book import Book, BranchPassage

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
        played, who the player is stands before the first passage, and before each later one what they did.
        """
        return await self._book_of(await self._branch(), every, author)

    async def _branch(self) -> list[Commit]:
        """Return the commits of the head's branch that hold a passage."""
        return [commit for commit in await self._reader.commits() if commit["step"]]

    async def _book_of(self, commits: Sequence[Commit], every: int, author: str | None) -> Book:
        from recurrentgpt.books.book import Book, make_chapters

        reader = self._reader
        record, brief, settings = await reader.record(), await reader.brief(), await reader.settings()
        text = _text_of(settings)
        titles = await self._titles(commits)
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

    async def chapters(self) -> dict[int, str]:
        """Return the titles of the chapters of the head's branch by the step of their first passages; an empty one is a number.

        None where nobody said that one begins: an export has one for so many passages then.
        """
        commits = await self._branch()
        return {at + 1: title for at, title in (await self._titles(commits)).items()}

    async def _titles(self, commits: Sequence[Commit]) -> dict[int, str]:
        """Return the titles of chapters by the index of their first passages: as somebody set them, else as plans say."""
        overlay = await in_force(self._reader.log, commits[-1]) if commits else ""
        by_hand = (await read_overlay(self._reader.log, self._reader.id, overlay)).get("chapters", {})
        titles: dict[int, str] = {}
        for at, commit in enumerate(commits):
            title = by_hand.get(str(commit["step"]), None if str(commit["step"]) in by_hand else _chapter_title(commit))
            if title is not None:
                titles[at] = visible_text(title)
        return titles

    async def export(
        self,
        path: str | Path,
        format: str | None = None,
        *,
        force: bool = False,
        every: int = CHAPTER_OF,
        author: str | None = None,
        quotes: bool = False,
    ) -> Path:
        """Write the head's branch to a file and return where it is: Markdown, text, EPUB, DOCX or HTML.

        The format is that of the extension unless one is named; `play-html` is a page with the passages of all branches, on which
        a reader chooses among the plans that were carried out; `json` writes the whole tree, for `Library.restore`. With
        `quotes` a book has typographic quotation marks, as its language prints them. Raises BookError, also where a file
        exists and `force` is not given.
        """
        path = Path(path)
        if (format or path.suffix).casefold().lstrip(".") == "json":
            from recurrentgpt.engine.story_export import write_export

            return await write_export(self._reader.log, self._reader.id, path, force=force)
        from recurrentgpt.books.writers import PLAY, find_format, write_book

        extension = find_format(format or path.suffix)
        # Read once: a passage that is written meanwhile would be in one half of the book and not in the other.
        commits = await self._branch()
        book = await self._book_of(commits, every, author)
        if extension == PLAY:
            book = replace(book, branch_passages=await self._branch_passages(commits))
        if quotes:
            book = _with_typographic_marks(book)
        return await asyncio.to_thread(write_book, book, path, extension, force=force)

    async def _branch_passages(self, branch: Sequence[Commit]) -> list[BranchPassage]:
        """Return the passages of all branches, those of `branch` told."""
        from recurrentgpt.books.book import BranchPassage
        from recurrentgpt.engine.branch_passages import merge_versions

        reader = self._reader
        tree, settings = await reader.tree(), await reader.settings()
        commits = await reader.log.get_many(reader.id, list(tree.nodes))
        text = _text_of(settings)
        return [
            BranchPassage(key, after, commit["plan"], text(commit), told, _chapter_title(commit) or "")
            for key, after, commit, told in merge_versions(commits, [commit["id"] for commit in branch])
        ]


def _with_typographic_marks(book: Book) -> Book:
    from recurrentgpt.books.file_text import language_tag

    tag = language_tag(book.language)
    chapters = [
        replace(
            chapter,
            title=typographic(chapter.title, tag),
            passages=[typographic(passage, tag) for passage in chapter.passages],
        )
        for chapter in book.chapters
    ]
    branch_passages = [
        replace(
            passage,
            choice=typographic(passage.choice, tag),
            text=typographic(passage.text, tag),
            title=typographic(passage.title, tag),
        )
        for passage in book.branch_passages
    ]
    return replace(book, title=typographic(book.title, tag), chapters=chapters, branch_passages=branch_passages)


def _text_of(settings: Mapping[str, object]) -> Callable[[Commit], str]:
    """Return what gives the text of a passage as a book has it."""
    return _with_player if settings["mode"] == "fiction" else _passage


def _passage(commit: Commit) -> str:
    return commit["passage"]


def _with_player(commit: Commit) -> str:
    """Return a passage after what the player did, as a paragraph in italics: `*> You bribe the guard.*`.

    What the first one was written from says who the player is, and has no arrow.
    """
    said = " ".join(commit["plan"].replace("*", "").split())
    if not said or commit["plan_author"] == KEPT_PLAN:
        return commit["passage"]
    arrow = "> " if commit["step"] > 1 else ""
    return f"*{arrow}{said}*\n\n{commit['passage']}"


def _chapter_title(commit: Commit) -> str | None:
    """Return the title of the chapter that begins with a passage: what its plan says; None where none begins."""
    begun = _CHAPTER.match(commit["plan"])
    if not begun:
        return None
    title = commit["plan"][begun.end() :].split("\n")[0]
    if commit["plan_author"] != KEPT_PLAN:
        title = (sentences(title) or [""])[0].rstrip(".")
    return title.strip()
