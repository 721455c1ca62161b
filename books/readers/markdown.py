"""Read Markdown: its headings make chapters, its emphasis stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from recurrentgpt.books.book import Manuscript
from recurrentgpt.books.file_text import clean, one_line
from recurrentgpt.books.readers.chapters import chapters_of
from recurrentgpt.books.readers.decoding import decode
from recurrentgpt.books.readers.epub_pages import blocks, parse_page
from recurrentgpt.books.readers.headings import chapter_headings, names_book, top_title
from recurrentgpt.books.readers.limits import refuse_endless_word, refuse_mere_lines, refuse_mere_signs
from recurrentgpt.prose.emphasis import CLOSES, OPENS, from_marks, plain
from recurrentgpt.prose.unwrap import SCENE_BREAK

_FRONT = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"[\w-]+:(?:[ \t]|$)", re.MULTILINE)
_FACT = re.compile(r"(?m)^(title|author|lang|language):[ \t]+(\S.*)$", re.IGNORECASE)

_MOST_LOOKED_THROUGH = 2_000_000
_AS_TEXT = {"softbreak": " ", "hardbreak": "\n", "html_inline": "", "em_open": OPENS, "em_close": CLOSES}


def read(data: bytes, stem: str) -> Manuscript:
    """Return the manuscript in a Markdown file: title from its front matter, or from the one heading above all others."""
    text, facts = _front_matter(clean(decode(data)))
    refuse_mere_signs(text)
    refuse_endless_word(text)
    refuse_mere_lines(text)
    found = list(_blocks(text))
    levels = [level for level, _ in found if level]
    title = facts.get("title", "")
    if levels and levels.count(min(levels)) == 1 and found[0][0] == min(levels) and names_book(found[0][1], title):
        # One heading above all others, and at the very top, names the book.
        title = title or found[0][1]
        del found[0]
    author = facts.get("author", "")
    if author and found and not found[0][0] and one_line(plain(found[0][1])) == one_line(author):
        del found[0]
    if not levels:
        # Without one mark, chapters look as in plain text.
        pieces = [plain(words) for _, words in found]
        named = chapter_headings(pieces)
        if not title and (title := top_title(pieces, named)):
            found[0] = 0, ""
        found = [(1, named[index]) if index in named else (0, words) for index, (_, words) in enumerate(found)]
    chapters = chapters_of(found, marked=bool(levels))
    return Manuscript(one_line(title) or stem, one_line(author), facts.get("lang", ""), chapters)


def _without_endless_links(text: str) -> str:
    """Return Markdown whose brackets are letters in each block where to look for their links would take minutes."""
    parts = re.split(r"(\n[ \t]*\n)", text)
    return "".join(part.replace("[", r"\[") if _looked_through(part) > _MOST_LOOKED_THROUGH else part for part in parts)


def _looked_through(block: str) -> int:
    """Return how many characters a reader of links goes through: from each bracket to the one that closes it, or to the end."""
    opened: list[int] = []
    count = 0
    for found in re.finditer(r"[\[\]]", block):
        if found[0] == "[":
            opened.append(found.start())
        elif opened:
            count += found.start() - opened.pop()
    return count + len(block) * len(opened) - sum(opened)


def _front_matter(text: str) -> tuple[str, dict[str, str]]:
    match = _FRONT.match(text)
    # Between two rules there may be a paragraph as well.
    if match is None or not _KEY.match(match[1]):
        return text, {}
    facts = {found[1].casefold(): _scalar(found[2]) for found in _FACT.finditer(match[1])}
    facts.setdefault("lang", facts.get("language", ""))
    return text[match.end() :], facts


def _scalar(value: str) -> str:
    """Return a YAML value of one line: in either kind of quotes, or bare."""
    value = value.strip()
    if value[:1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value.strip('"')
    return value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the level of each heading, or 0 for a paragraph, and its words."""
    level = 0
    for token in MarkdownIt("commonmark", {"maxNesting": 40}).parse(_without_endless_links(text)):
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "inline":
            words = from_marks("".join(_words(token.children or [])))
            yield level, plain(words) if level else words
        elif token.type in ("fence", "code_block"):
            yield 0, token.content
        elif token.type == "html_block":
            yield from ((0, block.text) for block in blocks(parse_page(token.content.encode()), set()))
        elif token.type == "hr":
            yield 0, SCENE_BREAK


def _words(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        yield _AS_TEXT.get(token.type, token.content)
