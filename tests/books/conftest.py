"""Books that break exporters, and small files made on the spot."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime

import pytest

from recurrentgpt.books.book import Book, Chapter
from recurrentgpt.prose.sentences import words

MARKUP = "<script>alert(1)</script> & ]]> <!-- c --> &amp; &nbsp; &#0; {{ x }} {% y %} \" ' javascript:alert(1)"
ODD = "nul\x00 bell\x07 del\x7f half\ud800 turned\u202e joined\u200d\u200b not\ufffe\U0001ffff done"
MARKS = (
    "# No heading\n\n* no star\n\n_no_ **emphasis** `code` [no](javascript:x) ![no](y)\n\n1. one\n\n2) two\n\n- dash\n\n"
    "+ plus\n\n"
    "===\n\n---\n\nunder\n---\n\nunder\n=====\n\n    indented\n\n> quoted\n\n<div>tag</div>\n\n| a | b |\n|---|---|\n\n"
    "~~~\n\n$x$ C# #"
)


def make_book(*chapters: tuple[str, list[str]], **facts):
    known = {
        "title": "The Tide",
        "author": "A. Writer",
        "language": "English",
        "genre": "mystery",
        "description": "A harbour and a debt.",
        "identifier": "",
        "created": datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC),
        **facts,
    }
    return Book(**known, chapters=[Chapter(title, passages) for title, passages in chapters])


BOOKS = {
    "plain": make_book(("The Harbour", ["Mara woke.\n\nShe rose."]), ("The Debt", ["He paid.", "It rained."])),
    "markup": make_book(
        (MARKUP, [MARKUP]), ("x", [MARKUP]), title=MARKUP, author=MARKUP, genre=MARKUP, description=MARKUP
    ),
    "odd characters": make_book((ODD, [ODD]), ("y", [ODD]), title=ODD, author=ODD, genre=ODD, description=ODD),
    "marks": make_book(("# One #", [MARKS]), ("2. Two", [MARKS]), title="*A* _b_", author="**c**"),
    "Arabic": make_book(
        ("الفصل الأول", ["كان الليل طويلا. ثم جاء الصباح."]), ("الثاني", ["نعم."]), title="كتاب", language="Arabic"
    ),
    "Hebrew by tag": make_book(("פרק", ["היה לילה. בא בוקר."]), title="ספר", author="", language="he-IL"),
    "Urdu by letters": make_book(("باب", ["یہ ایک کہانی ہے۔"]), title="رات", language="Urdu", author=""),
    "Japanese": make_book(
        ("第一章 夜", ["夜だった。朝が来た。"]), ("第二章", ["「はい」と言った。"]), title="夜の本", language="Japanese"
    ),
    "Russian": make_book(("Глава 1", ["Была ночь. Настало утро."]), title="Ночь", language="Russian"),
    "one passage, nothing known": make_book(
        ("", ["Only this."]), title="", author="", language="", genre="", description="", created=datetime(1066, 1, 1)
    ),
    "empty chapter titles": make_book(("", ["One."]), (" \n", ["Two."]), ("", ["Three\nin verse."])),
    "odd identifiers": make_book(("a", ["One."]), identifier="urn:uuid:nonsense"),
    "a spaced identifier": make_book(("a", ["One."]), identifier=" the  story <1> ", created=datetime(2200, 1, 1)),
}


@pytest.fixture(params=BOOKS, ids=str)
def book(request):
    """Each of the books that break exporters."""
    return BOOKS[request.param]


@pytest.fixture
def all_books():
    """All the books that break exporters."""
    return list(BOOKS.values())


@pytest.fixture
def plain_book():
    """A book of two ordinary chapters."""
    return BOOKS["plain"]


@pytest.fixture
def a_book():
    """Make a book from (title, passages) pairs and what else is known."""
    return make_book


@pytest.fixture
def words_of():
    """Return the words of a book or a manuscript, its headings left out."""

    def found(book) -> list[str]:
        return [word for chapter in book.chapters for text in chapter.paragraphs for word in words(text)]

    return found


@pytest.fixture
def save(tmp_path):
    """Write bytes or text to a file of the given name and return its path."""

    def to_file(name: str, content: bytes | str):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


@pytest.fixture
def zipped(tmp_path):
    """Write a zip file of the given members and return its path."""

    def to_file(name: str, members: dict[str, bytes | str]):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return path

    return to_file


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


@pytest.fixture
def epub(zipped):
    """Write an EPUB of the given pages, `extra` members, and additions to its package, and return its path."""

    def to_file(pages: dict[str, str], *, extra=None, items="", tail="", container=CONTAINER):
        manifest = "".join(
            f'<item id="p{i}" href="{name}" media-type="application/xhtml+xml"/>' for i, name in enumerate(pages)
        )
        spine = "".join(f'<itemref idref="p{i}"/>' for i in range(len(pages)))
        opf = (
            '<package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="i">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Book</dc:title>'
            "<dc:creator>Someone</dc:creator><dc:language>de-AT</dc:language></metadata>"
            f"<manifest>{manifest}{items}</manifest><spine>{spine}</spine>{tail}</package>"
        )
        members = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": opf}
        members |= {f"OEBPS/{name}": page for name, page in pages.items()}
        return zipped("book.epub", members | (extra or {}))

    return to_file


@pytest.fixture
def page():
    """Return an XHTML page around the given body."""

    def around(body: str) -> str:
        return (
            '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
            f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title/><script src="x"/></head><body>{body}</body></html>'
        )

    return around
