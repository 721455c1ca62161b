"""Read Word documents: headings by their style, text as it stands after the changes that are tracked in it."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from typing import Any

from docx import Document
from docx.exceptions import PythonDocxError
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from lxml import etree

from recurrentgpt.books.book import Manuscript
from recurrentgpt.books.file_text import one_line
from recurrentgpt.books.readers.chapters import chapters_of
from recurrentgpt.books.readers.headings import names_book
from recurrentgpt.books.readers.limits import DAMAGED, ZipArchive, parse_xml
from recurrentgpt.prose.emphasis import CLOSES, OPENS, from_marks, plain
from recurrentgpt.prose.unwrap import SCENE_BREAK
from recurrentgpt.schema.errors import BookError

_OLD_WORD = b"\xd0\xcf\x11\xe0"
# All that the library raises over parts that are not what they should be; it does not check them itself.
_BROKEN = (
    PythonDocxError, OpcError, etree.XMLSyntaxError, LookupError, ValueError, TypeError, AttributeError, AssertionError,
)  # fmt: skip
_PARAGRAPH, _PROPERTIES = qn("w:p"), qn("w:rPr")
_AS_TEXT = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "\u2011"}
# What was deleted, and what older programs are shown instead of a text box that is there too.
_LEFT_OUT = {qn("w:del"), qn("w:moveFrom"), "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}


def read(data: bytes, stem: str) -> Manuscript:
    """Return the manuscript in a DOCX file; what it refers to outside itself is not looked at."""
    if data.startswith(_OLD_WORD):
        raise BookError("is an old or a locked Word document; save it as .docx without a password and try again.")
    _check(ZipArchive(data))
    try:
        document = Document(io.BytesIO(data))
        blocks = list(_blocks(document))
        properties = document.core_properties
        title, author = properties.title, properties.author
        language = properties.language or _language(document)
    except _BROKEN as error:
        raise BookError(DAMAGED) from error
    front = list(itertools.takewhile(lambda block: block[0] == _TITLE, blocks))
    del blocks[: len(front)]
    title = title or (front[0][1] if front else "")
    levels = [level for level, _ in blocks if level]
    top = min(levels, default=0)
    if levels.count(top) == 1 and len(levels) > 1 and blocks[0][0] == top and names_book(blocks[0][1], title):
        title = title or blocks[0][1]
        del blocks[0]
    return Manuscript(one_line(title) or stem, one_line(author), language.strip(), chapters_of(blocks))


def _check(archive: ZipArchive) -> None:
    """Read every part once: within its bounds, and none of them with entities of its own."""
    if "[Content_Types].xml" not in archive:
        raise BookError(DAMAGED)
    for name in archive.names:
        is_text = name.endswith((".xml", ".rels"))
        part = archive.read(name, is_text=is_text)
        if is_text and b"<!DOCTYPE" in part[:1000]:
            try:
                parse_xml(part)
            except etree.XMLSyntaxError as error:
                raise BookError(DAMAGED) from error


_TITLE = 10
"""The level of titles, below all headings: at the top of a document they make its title page, elsewhere they divide it."""


def _blocks(document: Any) -> Iterator[tuple[int, str]]:
    """Yield the level of every paragraph (0 for text) and its words, those in tables and boxes included."""
    levels = _levels(document)
    for paragraph in document.element.body.iter(_PARAGRAPH):
        if any(True for _ in paragraph.iterancestors(*_LEFT_OUT)):
            continue
        text = from_marks("".join(_words(paragraph)))
        style = paragraph.style
        level = levels.get(style, 0) if style else 0
        if level is not None and text.strip():
            yield level, plain(text) if level else text
        elif level == 0 and any(True for _ in paragraph.iter(qn("w:pBdr"))):
            yield 0, SCENE_BREAK


def _language(document: Any) -> str:
    """Return the language that the document is checked in where nothing else is said."""
    found = next(document.styles.element.iter(qn("w:lang")), None)
    return str(found.get(qn("w:val"), "")) if found is not None else ""


def _levels(document: Any) -> dict[str, int | None]:
    """Return the level of each style by its id, None for a line of a table of contents; a style has that of its base."""
    styles = {style.style_id: style for style in document.styles}
    levels: dict[str, int | None] = {}
    for key, style in styles.items():
        seen: set[str] = set()
        at: Any = style
        while at is not None and at.style_id not in seen:
            seen.add(at.style_id)
            name = (at.name or "").casefold()
            number = name.removeprefix("heading ")
            if name.startswith("toc"):
                levels[key] = None
            elif name != number and number.isdecimal():
                levels[key] = int(number)
            elif name in ("title", "subtitle"):
                levels[key] = _TITLE
            if key in levels:
                break
            at = getattr(at, "base_style", None)
    return levels


def _words(paragraph: Any) -> Iterator[str]:
    """Yield the text of a paragraph, without that of the paragraphs in its boxes, which come in their own turn."""
    ahead: list[Any] = list(reversed(paragraph))
    while ahead:
        element = ahead.pop()
        if isinstance(element, str):
            yield element
        elif element.tag == qn("w:t"):
            yield element.text or ""
        elif element.tag in _AS_TEXT:
            yield "" if element.get(qn("w:type")) == "page" else _AS_TEXT[element.tag]
        elif element.tag != _PARAGRAPH and element.tag not in _LEFT_OUT and element.tag != qn("w:pPr"):
            inside = list(reversed(element))
            ahead.extend([CLOSES, *inside, OPENS] if _is_emphasised(element) else inside)


def _is_emphasised(element: Any) -> bool:
    """Tell whether an element is a run in italics, or in the style of emphasis."""
    italic, style = element.find(f"{_PROPERTIES}/{qn('w:i')}"), element.find(f"{_PROPERTIES}/{qn('w:rStyle')}")
    if italic is not None:
        return italic.get(qn("w:val"), "true") not in ("false", "0", "off")
    return style is not None and style.get(qn("w:val")) == "Emphasis"
