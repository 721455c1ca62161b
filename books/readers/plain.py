"""Read plain text: typed, exported, or as Project Gutenberg makes it."""

from __future__ import annotations

import re

from recurrentgpt.books.book import Manuscript
from recurrentgpt.books.file_text import clean, one_line
from recurrentgpt.books.readers.chapters import Gatherer
from recurrentgpt.books.readers.decoding import decode
from recurrentgpt.books.readers.gutenberg import strip_licence
from recurrentgpt.books.readers.headings import (
    chapter_headings,
    ends_as_prose,
    is_contents,
    names_book,
    top_title,
    underlined,
)
from recurrentgpt.books.readers.limits import refuse_endless_word, refuse_mere_lines
from recurrentgpt.books.readers.line_breaks import divide
from recurrentgpt.prose.emphasis import CLOSES, OPENS, from_marks


def read(data: bytes, stem: str) -> Manuscript:
    """Return the manuscript in a text file, its hard-wrapped lines joined."""
    text, facts = strip_licence(clean(decode(data)))
    refuse_endless_word(text)
    refuse_mere_lines(text)
    title, author = facts.get("title", ""), facts.get("author", "")
    pieces = divide(text)
    gatherer = Gatherer()
    headings = underlined(pieces)
    if headings:
        tops = [index for index, (level, _) in headings.items() if level == "="]
        # The one heading of its own kind, at the very top, names the book.
        if tops == [0] and names_book(headings[0][1], title):
            _, title = headings.pop(0)
            pieces[0] = ""
            following = min(headings, default=0)
            # A book of one chapter has no heading after its author, who ends as no sentence does.
            signed = following == 2 or (not headings and len(pieces) > 2 and not ends_as_prose(pieces[1]))
            if signed and "\n" not in pieces[1] and len(pieces[1]) <= 100:
                author, pieces[1] = pieces[1], ""
        named = {index: heading for index, (_, heading) in headings.items()}
    else:
        marked = [from_marks(_EMPHASIS.sub(rf"{OPENS}\1{CLOSES}", piece)) for piece in pieces]
        pieces = [_EMPHASIS.sub(r"\1", piece) for piece in pieces]
        named = chapter_headings(pieces, after=_byline(pieces))
        title = title or top_title(pieces, named)
        title, author = _title_page(pieces, min(named, default=0), title, author)
        pieces = [piece and marked[index] for index, piece in enumerate(pieces)]
    for index, piece in enumerate(pieces):
        if index in named:
            gatherer.heading(named[index])
        elif not is_contents(piece):
            gatherer.paragraph(piece)
    return Manuscript(one_line(title) or stem, one_line(author), facts.get("language", ""), gatherer.chapters())


# How typed books mark what is printed in italics.
_EMPHASIS = re.compile(r"(?<![^\W_])_(?=\S)([^_]{1,2000}?)(?<=\S)_(?![^\W_])")
_BY = re.compile(r"(?i)by\s+(\S[^\n]{2,60})")
_PRODUCED = re.compile(r"(?i)(?:produced by|e-?text prepared by|transcribed from|\[(?:illustration|transcriber))")


def _byline(pieces: list[str]) -> int | None:
    """Return which piece of a title page says whose book it is, or None."""
    return next(
        (index for index, piece in enumerate(pieces[:4]) if _BY.fullmatch(piece) or piece.casefold() == "by"), None
    )


def _title_page(pieces: list[str], end: int, title: str, author: str) -> tuple[str, str]:
    """Blank what says title and author before the first heading, `pieces[:end]`, and return both."""
    front = pieces[: min(end, 12)]
    by = _byline(front)
    if by is not None:
        alone = front[by].casefold() == "by" and by + 1 < len(front)
        author = author or (front[by + 1] if alone else front[by].split(maxsplit=1)[-1])
        title = title or (front[0] if by else "")
        front[: by + 1 + alone] = [""] * (by + 1 + alone)
    for index, piece in enumerate(front):
        if one_line(piece).casefold() in (title.casefold(), author.casefold()) or _PRODUCED.match(piece):
            front[index] = ""
    pieces[: len(front)] = front
    return title, author
