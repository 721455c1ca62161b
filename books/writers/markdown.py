"""Render a book as Markdown in which every character of the story means itself, and emphasis stays what it is."""

from __future__ import annotations

import json
import re

from recurrentgpt.books.book import Book
from recurrentgpt.books.file_text import language_tag, one_line
from recurrentgpt.prose.emphasis import emphasised
from recurrentgpt.prose.unwrap import SCENE_BREAK

# What CommonMark, and GitHub's tables, strikes, formulas and links on top of it, would read as a mark.
_INLINE = re.compile(r"[\\`*_\[\]<>&~|$]|(?<=:)//|(?<=\bwww)\.", re.IGNORECASE)
_LINE_START = re.compile(r"(?m)^(?:([#+=-])|(\d+)(?=[.)]))")


def render(book: Book) -> bytes:
    """Return the book as UTF-8 Markdown, with what is known about it in a YAML block at the head."""
    facts = {
        "title": book.name,
        "author": one_line(book.author),
        "lang": language_tag(book.language),
        "date": book.moment.strftime("%Y-%m-%d"),
        "identifier": book.urn,
        "description": one_line(book.description),
        "subject": one_line(book.genre),
    }
    # A JSON string is a YAML string.
    head = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items() if value]
    parts = ["\n".join(["---", *head, "---"]), f"# {escape_heading(book.name)}"]
    if facts["author"]:
        parts.append(f"*{escape(facts['author'])}*")
    for heading, chapter in zip(book.headings, book.chapters, strict=True):
        if heading:
            parts.append(f"## {escape_heading(heading)}")
        parts += (_paragraph(paragraph) for paragraph in chapter.paragraphs)
    return ("\n\n".join(parts) + "\n").encode()


def _paragraph(text: str) -> str:
    """Return a paragraph escaped, but for what is meant: emphasis, line breaks, and the mark between two scenes."""
    if text == SCENE_BREAK:
        return text
    pieces = [(_inline(piece), marked) for piece, marked in emphasised(text)]
    written = "".join(f"*{piece}*" if marked else piece for piece, marked in pieces)
    return _line_starts(written).replace("\n", "\\\n")


def escape(text: str) -> str:
    """Return `text` with a backslash wherever Markdown would see a mark; its lines have no white space at their ends."""
    return _line_starts(_inline(text))


def _inline(text: str) -> str:
    return _INLINE.sub(lambda found: f"\\{found[0][0]}{found[0][1:]}", text)


def _line_starts(text: str) -> str:
    return _LINE_START.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\", text)


def escape_heading(text: str) -> str:
    """Return `text` escaped for a heading, whose closing number signs Markdown would take for its own."""
    return re.sub(r"(?<!\\)#", r"\\#", escape(text))
