"""Say what a book is, whatever file it comes from or goes to."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from recurrentgpt.books.file_text import clean, one_line, paragraphs
from recurrentgpt.prose.model_text import visible_text


@dataclass(frozen=True)
class Chapter:
    """Hold passages of plain text, their paragraphs divided by blank lines, under a title that may be empty."""

    title: str
    passages: list[str]

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of all passages in their order; a line break inside one is meant."""
        return [paragraph for passage in self.passages for paragraph in paragraphs(clean(passage))]


@dataclass(frozen=True)
class BranchPassage:
    """Hold a passage of any branch of a story, for a book that is played."""

    key: str
    """Its name in the book: letters, digits and hyphens."""
    after: str
    """Key of the passage before it; empty for one with which the story can begin."""
    choice: str
    """The plan that it was written from; empty where nobody knows."""
    text: str
    told: bool
    """Whether it is one of the passages of the chapters."""
    title: str = ""
    """That of the chapter which begins with it, for a passage that is not in the chapters."""


@dataclass(frozen=True)
class Book:
    """Hold a whole book and what is known about it; `language` is a name ("Arabic") or a tag ("ar")."""

    title: str
    author: str
    language: str
    genre: str
    description: str
    identifier: str
    created: datetime
    chapters: list[Chapter]
    branch_passages: list[BranchPassage] = field(default_factory=list)
    """The passages of all branches in the order in which they were written, each after the one before it; those of the
    chapters are among them. None for a book that is only read."""

    def __post_init__(self) -> None:
        # Older stories, and what somebody typed, may hold marks that turn or hide words: no file is given them.
        for name in ("title", "author", "genre", "description"):
            object.__setattr__(self, name, visible_text(getattr(self, name)))
        chapters = [Chapter(visible_text(chapter.title), chapter.passages) for chapter in self.chapters]
        object.__setattr__(self, "chapters", chapters)

    @property
    def name(self) -> str:
        """The title on one line, or a word in its place: a book file must have one."""
        return one_line(self.title) or "Untitled"

    @property
    def headings(self) -> list[str]:
        """One heading a chapter: its title, else its number; empty for the only chapter of a book, which has the book's name."""
        if len(self.chapters) == 1:
            title = one_line(self.chapters[0].title)
            return ["" if title.casefold() == self.name.casefold() else title]
        return [one_line(chapter.title) or str(number) for number, chapter in enumerate(self.chapters, start=1)]

    @property
    def urn(self) -> str:
        """The identifier, as a UUID where it is not a name of another kind; the same book always has the same one."""
        given = one_line(self.identifier)
        bare = given.removeprefix("urn:uuid:")
        try:
            return uuid.UUID(bare).urn
        except ValueError:
            if given and bare == given:
                return given
        return uuid.uuid5(uuid.NAMESPACE_URL, f"recurrentgpt:{bare or f'{self.name}/{one_line(self.author)}'}").urn

    @property
    def moment(self) -> datetime:
        """When the book was made, in UTC and whole seconds; a time without a zone is UTC."""
        zoned = self.created if self.created.tzinfo else self.created.replace(tzinfo=UTC)
        return zoned.astimezone(UTC).replace(microsecond=0)


@dataclass(frozen=True)
class ManuscriptChapter:
    """Hold the paragraphs of one chapter that was read; a line break inside one is meant."""

    title: str
    paragraphs: list[str]


@dataclass(frozen=True)
class Manuscript:
    """Hold what was read from a file; of title, author and language only the title is never empty."""

    title: str
    author: str
    language: str
    chapters: list[ManuscriptChapter] = field(default_factory=list)


def make_chapters(passages: Sequence[str], every: int = 8, titles: Mapping[int, str] | None = None) -> list[Chapter]:
    """Divide passages into chapters: where `titles` has the index of a passage one begins, else at every `every`th.

    With any titles given, no chapter begins but where they say. An `every` of 0 makes one chapter of all.
    """
    if titles:
        starts = sorted({0, *(index for index in titles if 0 <= index < len(passages))})
    else:
        starts = list(range(0, len(passages), every)) if every > 0 else [0]
    named = titles or {}
    return [
        Chapter(named.get(start, ""), list(passages[start:end]))
        for start, end in itertools.pairwise([*starts, len(passages)])
        if start < end
    ]
