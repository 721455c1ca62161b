"""Read EPUB 2 and 3: the pages of the spine in their order, divided where the table of contents points."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import etree

from recurrentgpt.books.book import Manuscript
from recurrentgpt.books.file_text import one_line
from recurrentgpt.books.readers.chapters import Gatherer, same_title
from recurrentgpt.books.readers.epub_pages import blocks, kinds, parse_page
from recurrentgpt.books.readers.limits import DAMAGED, MOST_TEXT, ZipArchive, parse_xml
from recurrentgpt.schema.errors import BookError

_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_CONTAINER = "META-INF/container.xml"
_LOCKS = "META-INF/encryption.xml"
# Fonts are often scrambled in books that anyone may read.
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_NOT_THE_STORY = frozenset({
    "copyright-page", "cover", "halftitlepage", "index", "landmarks", "loi", "lot", "page-list", "title-page",
    "titlepage", "toc"
})  # fmt: skip


def read(data: bytes, stem: str) -> Manuscript:
    """Return the manuscript in an EPUB file; cover, title page, contents and imprint are left out where they are marked."""
    archive = ZipArchive(data)
    try:
        _refuse_locks(archive)
        package = _Package.open(archive)
        titles = package.contents()
        skipped = package.landmarks()
        gatherer = Gatherer()
        budget = MOST_TEXT
        for name in package.spine():
            if name in skipped:
                continue
            page = archive.read(name)
            budget -= len(page)
            if budget < 0:
                raise BookError(f"holds more than {MOST_TEXT // 1_000_000} MB of text; split it and import the parts.")
            _gather(page, name, titles, gatherer)
    except etree.XMLSyntaxError as error:
        raise BookError(DAMAGED) from error
    return Manuscript(
        package.fact("title") or stem, package.fact("creator"), package.fact("language"), gatherer.chapters()
    )


def _gather(page: bytes, name: str, titles: dict[tuple[str, str], str], gatherer: Gatherer) -> None:
    """Add the paragraphs of one page; a page that the contents do not name goes on with the chapter before."""
    body = parse_page(page)
    types = {kind for element in (body, *itertools.islice(body, 1)) for kind in kinds(element)}
    if types & _NOT_THE_STORY:
        return
    title: tuple[str, ...] = ()
    targets = {place for page_name, place in titles if page_name == name}
    for block in blocks(body, targets):
        if block.target is not None:
            title = same_title(titles[name, block.target])
            gatherer.heading(titles[name, block.target])
        # The heading on the page says what the contents said; "Chapter 1" and "The Storm" may be two elements.
        words = same_title(block.text)
        if block.heading and words and title[: len(words)] == words:
            title = title[len(words) :]
        elif block.heading and words and not titles:
            gatherer.heading(block.text)
        elif block.text:
            title = ()
            gatherer.paragraph(block.text)


@dataclass(frozen=True)
class _Package:
    """The package document: what the book is called, which pages it has, and in what order."""

    archive: ZipArchive
    name: str
    root: Any

    @classmethod
    def open(cls, archive: ZipArchive) -> _Package:
        if _CONTAINER not in archive:
            raise BookError(DAMAGED)
        container = parse_xml(archive.read(_CONTAINER))
        root = next((element for element in container.iter("{*}rootfile") if element.get("full-path")), None)
        if root is None:
            raise BookError(DAMAGED)
        name = _inside("", root.get("full-path", ""))
        return cls(archive, name, parse_xml(archive.read(name)))

    def fact(self, name: str) -> str:
        """Return the first value of a Dublin Core element, or nothing."""
        element = next(self.root.iter(_DC + name), None)
        return one_line("".join(element.itertext())) if element is not None else ""

    def manifest(self) -> dict[str, Any]:
        return {item.get("id"): item for item in self.root.iter(_OPF + "item") if item.get("id") and item.get("href")}

    def spine(self) -> Iterator[str]:
        """Yield the names of the pages in reading order, without the table of contents."""
        items = self.manifest()
        for reference in self.root.iter(_OPF + "itemref"):
            item = items.get(reference.get("idref"))
            if item is None or reference.get("linear") == "no" or "nav" in (item.get("properties") or "").split():
                continue
            if "html" in (item.get("media-type") or "") or item.get("href").endswith(("html", "htm")):
                yield _inside(self.name, item.get("href"))

    def contents(self) -> dict[tuple[str, str], str]:
        """Return the title that the table of contents gives to each place: a page, and an id in it or nothing."""
        items = self.manifest()
        nav = next((item for item in items.values() if "nav" in (item.get("properties") or "").split()), None)
        ncx = next((item for item in items.values() if item.get("media-type") == "application/x-dtbncx+xml"), None)
        found: dict[tuple[str, str], str] = {}
        for item, links in ((nav, _nav_links), (ncx, _ncx_links)):
            if item is None or found:
                continue
            name = _inside(self.name, item.get("href"))
            if name not in self.archive:
                continue
            for href, title in links(self.archive.read(name)):
                target = _inside(name, href), unquote(urlsplit(href).fragment)
                if title:
                    found.setdefault(target, title)
        return found

    def landmarks(self) -> set[str]:
        """Return the pages that the guide of EPUB 2 or the landmarks of EPUB 3 say are not the story."""
        found = set()
        for reference in self.root.iter(_OPF + "reference"):
            if reference.get("type") in _NOT_THE_STORY and not urlsplit(reference.get("href") or "").fragment:
                found.add(_inside(self.name, reference.get("href") or ""))
        for item in self.manifest().values():
            if "nav" in (item.get("properties") or "").split():
                name = _inside(self.name, item.get("href"))
                for link in parse_page(self.archive.read(name)).iter("{*}a"):
                    if _NOT_THE_STORY & set(kinds(link)) and not urlsplit(link.get("href") or "").fragment:
                        found.add(_inside(name, link.get("href") or ""))
        return found


def _nav_links(data: bytes) -> Iterator[tuple[str, str]]:
    page: Any = parse_page(data)
    for nav in page.iter("{*}nav"):
        if "toc" in kinds(nav):
            for link in nav.iter("{*}a"):
                yield link.get("href") or "", one_line("".join(link.itertext()))


def _ncx_links(data: bytes) -> Iterator[tuple[str, str]]:
    root: Any = parse_xml(data)
    for point in root.iter(_NCX + "navPoint"):
        label, content = point.find(f"{_NCX}navLabel/{_NCX}text"), point.find(f"{_NCX}content")
        if label is not None and content is not None:
            yield content.get("src") or "", one_line("".join(label.itertext()))


def _inside(base: str, href: str) -> str:
    """Return the name of the member that `href` means in the member `base`; raise BookError where it leads out."""
    try:
        parts = urlsplit(href)
    except ValueError as error:
        raise BookError(DAMAGED) from error
    name = posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(parts.path))) if parts.path else base
    if parts.scheme or parts.netloc or name.startswith(("/", "../")) or name == ".." or "\\" in name:
        raise BookError(f"refers to {href[:80]!r}, which is outside of it; it is not opened.")
    return name


def _refuse_locks(archive: ZipArchive) -> None:
    if _LOCKS not in archive:
        return
    for method in parse_xml(archive.read(_LOCKS)).iter("{*}EncryptedData"):
        algorithms = {element.get("Algorithm") for element in method.iter("{*}EncryptionMethod")}
        if not algorithms or not algorithms <= set(_FONT_ALGORITHMS):
            raise BookError("is locked by its seller (DRM) and cannot be imported.")
