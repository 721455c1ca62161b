"""Turn the pages of an EPUB into headings and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.entities import html5

from lxml import etree, html

from recurrentgpt.books.readers.limits import DAMAGED, parse_xml
from recurrentgpt.prose.emphasis import CLOSES, OPENS, from_marks, plain
from recurrentgpt.prose.unwrap import SCENE_BREAK
from recurrentgpt.schema.errors import BookError

_EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"

_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,30};)")
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>\[]*>", re.IGNORECASE)
_XML_OWN = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})
_EMPHASIS = frozenset({"cite", "dfn", "em", "i", "var"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "q", "rb", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr"
})  # fmt: skip
_LEFT_OUT = frozenset({
    "audio", "head", "iframe", "math", "nav", "noscript", "object", "rp", "rt", "script", "style", "svg",
    "template", "title", "video"
})  # fmt: skip


@dataclass(frozen=True)
class Block:
    """One heading or paragraph; `target` is the id by which the table of contents points here, "" for the page's top."""

    text: str
    heading: bool = False
    target: str | None = None


def parse_page(data: bytes) -> etree._Element:
    """Return the body of an XHTML page, or of one that only a browser would forgive."""
    try:
        # XHTML knows HTML's names of characters from a DTD, which is not loaded.
        root = parse_xml(_DOCTYPE.sub(b"", _ENTITY.sub(_as_number, data), 1))
    except etree.XMLSyntaxError:
        try:
            root = html.document_fromstring(data, parser=_forgiving(data))
        except etree.ParserError:
            return etree.Element("body")  # There is nothing on the page.
        except ValueError as error:
            raise BookError(DAMAGED) from error
    return next(root.iter("{*}body"), root)


def kinds(element: etree._Element) -> list[str]:
    """Return what an element says it is for (`epub:type`)."""
    return (element.get(_EPUB_TYPE) or element.get("epub:type") or "").split()


def _as_number(match: re.Match[bytes]) -> bytes:
    name = match[1].decode()
    if name in _XML_OWN or name not in html5:
        return match[0]
    return "".join(f"&#{ord(character)};" for character in html5[name]).encode()


def _forgiving(data: bytes) -> html.HTMLParser:
    try:
        data.decode()
        encoding = "utf-8"
    except UnicodeDecodeError:
        encoding = "cp1252"
    return html.HTMLParser(no_network=True, encoding=encoding, remove_comments=True, remove_pis=True)


def blocks(body: etree._Element, targets: set[str]) -> Iterator[Block]:
    """Yield the blocks of a page in their order, each with the target it begins, if any; "" is the top."""
    text: list[str] = []
    heading, skipping = False, 0
    waiting: list[str] = [""] if "" in targets else []

    def finish() -> Iterator[Block]:
        said = re.sub(r"[ \t\r\n\f]+", " ", "".join(text)).replace("\v", "\n")
        text.clear()
        if said.replace(OPENS, "").replace(CLOSES, "").strip():
            yield from (Block("", target=target) for target in waiting[:-1])
            said = from_marks(said)
            yield Block(plain(said) if heading else said, heading, waiting[-1] if waiting else None)
            waiting.clear()

    for event, element in etree.iterwalk(body, events=("start", "end")):
        name = re.split("[}:]", element.tag)[-1].lower() if isinstance(element.tag, str) else "?"
        left_out = name in _LEFT_OUT or "pagebreak" in kinds(element)
        if event == "start":
            skipping += left_out
            if skipping:
                continue
            if name not in _INLINE and name not in ("br", "img", "?"):
                yield from finish()
                heading = name in _HEADINGS
            for mark in (element.get("id"), element.get("name") if name == "a" else None):
                if mark and mark in targets:
                    yield from finish()
                    waiting.append(mark)
            if name == "br":
                text.append("\v")
            elif name == "hr":
                yield Block(SCENE_BREAK)
            elif isinstance(element.tag, str):
                text.append((OPENS if name in _EMPHASIS else "") + (element.text or ""))
        else:
            skipping -= left_out
            if skipping or element is body:
                continue
            if name not in _INLINE and name not in ("br", "img", "?", *_LEFT_OUT):
                yield from finish()
                heading = False
            text.append((CLOSES if name in _EMPHASIS else "") + (element.tail or ""))
    yield from finish()
    yield from (Block("", target=target) for target in waiting)
