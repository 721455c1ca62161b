"""Gather paragraphs into chapters, whatever format they come from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recurrentgpt.books.book import ManuscriptChapter
from recurrentgpt.books.file_text import clean_paragraphs, one_line
from recurrentgpt.prose.sentences import count_words, words


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

    def chapters(self, *, marked: bool = False) -> list[ManuscriptChapter]:
        """Return the chapters that have text.

        A heading with nothing under it belongs to the heading after it ("PART TWO", then "CHAPTER I"). One that is not
        `marked` as a heading in its file is a line of a table of contents if it comes again, and another such line or
        itself stands beside it.
        """
        keys = [same_title(chapter.title) for chapter in self._chapters]
        last = {key: index for index, key in enumerate(keys)}
        # With text at both ends, which is no line of contents.
        filled = [True, *(bool(chapter.paragraphs or not chapter.title) for chapter in self._chapters), True]
        finished: list[ManuscriptChapter] = []
        waiting: list[str] = []
        for index, (chapter, key) in enumerate(zip(self._chapters, keys, strict=True)):
            if chapter.paragraphs:
                finished.append(ManuscriptChapter(join_titles([*waiting, chapter.title]), chapter.paragraphs))
                waiting = []
                continue
            alone = filled[index] and filled[index + 2] and key not in keys[index + 1 : index + 2]
            if chapter.title and (marked or alone or last[key] == index):
                waiting.append(chapter.title)
        if waiting and finished:
            # Words at the very end that only looked like a heading are words of the book.
            finished[-1].paragraphs.extend(waiting)
        return finished


def chapters_of(blocks: Sequence[tuple[int, str]], *, marked: bool = True) -> list[ManuscriptChapter]:
    """Return the chapters of blocks that stand with their level, 0 for a paragraph.

    Headings of the highest level begin chapters; where they are those of parts, so do those of the next level. Headings
    below the chapters' are lines of their text. Say so where nothing in the file has `marked` the headings.
    """
    chapters = min((level for level, _ in blocks if level), default=0)
    while below := _level_below_parts(blocks, chapters):
        chapters = below
    gatherer = Gatherer()
    for level, text in blocks:
        if 0 < level <= chapters:
            gatherer.heading(text)
        else:
            gatherer.paragraph(text)
    return gatherer.chapters(marked=marked)


_MATTER = re.compile(
    r"(?:an? |the )?(?:prologue|epilogue|preface|foreword|introduction|interludes?|afterword|acknowledge?ments?|dedication|"
    r"epigraph|appendix|glossary|about the author|(?:author|translator|editor)['’]s note|contents|copyright|coda)\b.*",
    re.IGNORECASE,
)
"""What stands before and behind the parts of a book, and has no chapters."""
_FEWER_BEFORE = 3
"""So many times fewer words stand between a part and its first chapter than in a chapter: none, or an epigraph."""


def _level_below_parts(blocks: Sequence[tuple[int, str]], level: int) -> int:
    """Return the next level of headings where those of `level` are of parts; 0 where they are of chapters."""
    below = min((other for other, _ in blocks if other > level), default=0)
    headings = sum(other == level and not _MATTER.fullmatch(text.strip(" .:*_")) for other, text in blocks)
    before: list[int] = []
    under: list[int] = []
    own: int | None = None
    beside = False
    for other, text in blocks:
        if 0 < other <= level:
            # What stands beside the parts tells nothing of them, be it with headings of its own.
            own = None if _MATTER.fullmatch(text.strip(" .:*_")) else 0
            beside = own is None
        elif beside:
            continue
        elif other and other == below:
            before += [] if own is None else [own]
            own = None
            under.append(0)
        elif own is not None:
            own += count_words(text)
        elif under:
            under[-1] += count_words(text)
    # A chapter may have headings of its own, as of days: half of the parts have chapters at least.
    if 2 * len(before) < headings:
        return 0
    # Compared as averages, without dividing by nothing.
    are_parts = sum(before) * len(under) * _FEWER_BEFORE <= sum(under) * len(before)
    return below if are_parts else 0


def join_titles(titles: list[str]) -> str:
    """Return titles that follow each other as one."""
    joined = ""
    for title in filter(None, titles):
        joined += (" " if not joined or joined[-1] in ".:!?…—–" else ". ") + title
    return joined.strip()


def same_title(title: str) -> tuple[str, ...]:
    """Return the form in which titles are compared: their words, whatever their case and punctuation."""
    return tuple(word.casefold() for word in words(title))
