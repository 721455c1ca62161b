"""Render a book as plain text: a line a paragraph, titles underlined, so that it can be read back without a doubt."""

from __future__ import annotations

import re

from recurrentgpt.books.book import Book
from recurrentgpt.books.file_text import one_line

# Under a line of text these would look like the underline of a title.
_RULE = re.compile(r"(?m)(?<=[^\n])\n(?=[=-]{3,}$)")


def render(book: Book) -> bytes:
    """Return the book as UTF-8 text."""
    parts = [_underlined(book.name, "=")]
    if author := one_line(book.author):
        parts.append(author)
    for heading, chapter in zip(book.headings, book.chapters, strict=True):
        parts.append("\n" + _underlined(heading, "-"))
        parts += (_RULE.sub("\n\n", paragraph) for paragraph in chapter.paragraphs)
    return ("\n\n".join(parts) + "\n").encode()


def _underlined(title: str, mark: str) -> str:
    return f"{title}\n{mark * max(3, len(title))}"
