"""Gather paragraphs into chapters, whatever format they come from."""

from __future__ import annotations

from collections.abc import Iterable

from recurrentgpt.books.book import ManuscriptChapter
from recurrentgpt.books.file_text import clean_paragraphs, one_line
from recurrentgpt.prose.sentences import words


class Gatherer:
    """Take headings and paragraphs in the order of the book."""

    def __init__(self) -> None:
        self._chapters: list[ManuscriptChapter] = [ManuscriptChapter("", [])]

    def heading(self, title: str) -> None:
        """Begin a chapter."""
        self._chapters.append(ManuscriptChapter(one_line(title), []))

    def paragraph(self, text: str) -> None:
        """Add to the chapter that was begun last; empty text adds nothing."""
        self._chapters[-1].paragraphs.extend(clean_paragraphs(text))

    def chapters(self) -> list[ManuscriptChapter]:
        """Return the chapters that have text.

        A heading with nothing under it is a line of a table of contents if it comes again, else it belongs to the
        heading after it ("PART TWO", then "CHAPTER I").
        """
        last = {same_title(chapter.title): index for index, chapter in enumerate(self._chapters)}
        finished: list[ManuscriptChapter] = []
        waiting: list[str] = []
        for index, chapter in enumerate(self._chapters):
            if chapter.paragraphs:
                finished.append(ManuscriptChapter(join_titles([*waiting, chapter.title]), chapter.paragraphs))
                waiting = []
            elif chapter.title and last[same_title(chapter.title)] == index:
                waiting.append(chapter.title)
        if waiting and finished:
            # Words at the very end that only looked like a heading are words of the book.
            finished[-1].paragraphs.extend(waiting)
        return finished


def chapters_of(blocks: Iterable[tuple[int, str]], top: int) -> list[ManuscriptChapter]:
    """Return the chapters of blocks that stand with their level, 0 for a paragraph: a heading of level `top` begins one."""
    gatherer = Gatherer()
    for level, text in blocks:
        if level and level == top:
            gatherer.heading(text)
        else:
            gatherer.paragraph(text)
    return gatherer.chapters()


def join_titles(titles: list[str]) -> str:
    """Return titles that follow each other as one."""
    joined = ""
    for title in filter(None, titles):
        joined += (" " if not joined or joined[-1] in ".:!?…—–" else ". ") + title
    return joined.strip()


def same_title(title: str) -> tuple[str, ...]:
    """Return the form in which titles are compared: their words, whatever their case and punctuation."""
    return tuple(word.casefold() for word in words(title))
