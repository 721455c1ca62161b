"""Render a book as plain text: a line a paragraph, titles underlined, so that all but its italics can be read back.

Where a passage ends stands one empty line more than between paragraphs.
"""

from __future__ import annotations

import re

from recurrentgpt.books.book import Book
from recurrentgpt.books.file_text import clean, one_line, paragraphs
from recurrentgpt.prose.emphasis import plain

# Under a line of text these would look like the underline of a title.
_RULE = re.compile(r"(?m)(?<=[^\n])\n(?=[=-]{3,}$)")


def render(book: Book) -> bytes:
    """Return the book as UTF-8 text."""
    parts = [_underlined(book.name, "=")]
    if author := one_line(book.author):
        parts.append(author)
    for heading, chapter in zip(book.headings, book.chapters, strict=True):
        if heading:
            parts.append("\n" + _underlined(heading, "-"))
        passages = [written for passage in chapter.passages if (written := _written(passage))]
        parts += ["\n\n\n".join(passages)] if passages else []
    return ("\n\n".join(parts) + "\n").encode()


def _written(passage: str) -> str:
    # What a player did is marked by its arrow: asterisks are for formats that have italics.
    return "\n\n".join(_RULE.sub("\n\n", paragraph) for paragraph in paragraphs(plain(clean(passage))))


def _underlined(title: str, mark: str) -> str:
    return f"{title}\n{mark * max(3, len(title))}"
