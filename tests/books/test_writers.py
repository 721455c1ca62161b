"""What the files hold: everything escaped, nothing fetched, the same bytes every time."""

import base64
import dataclasses
import hashlib
import io
import re
import zipfile
from dataclasses import replace

import pytest
from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from lxml import etree, html
from markdown_it import MarkdownIt

from recurrentgpt.books.book import BranchPassage, make_chapters
from recurrentgpt.books.writers import FORMATS, render_book

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("extension", FORMATS)
def test_the_same_book_has_the_same_bytes(book, extension, monkeypatch):
    first = render_book(book, extension)
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    assert render_book(replace(book), extension) == first


def test_no_mark_turns_the_title(book):
    turned = replace(book, title="The Glass\u202e Bridge")
    assert turned.name == "The Glass Bridge"
    head = render_book(turned, ".md").decode().splitlines()
    assert 'title: "The Glass Bridge"' in head
    assert "# The Glass Bridge" in head


@pytest.mark.parametrize("extension", sorted(FORMATS))
def test_no_mark_turns_or_hides_what_is_told_of_a_book(a_book, extension):
    book = a_book(("The \u202eStorm\u200b", ["It rained."]), ("Two\u2066", ["It stopped."]))
    book = dataclasses.replace(
        book, author="Ada \u202eHolm\x9b", description="A \u2067ferry\ufeff.", genre="myst\u202eery"
    )
    data = render_book(book, extension)
    told = b"".join(members(data).values()).decode("utf-8", "ignore") if data[:2] == b"PK" else data.decode()
    assert "The Storm" in told
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\ufeff\x9b]", told.removeprefix("\ufeff"))


def test_a_web_page_holds_text_only_and_refers_to_nothing(book):
    data = render_book(book, ".html").decode()
    page = html.document_fromstring(data)
    assert not page.xpath("//script | //img | //link | //iframe | //@onload | //@src")
    assert all(re.fullmatch(r"#chapter-\d+", link) for link in page.xpath("//@href"))
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "prefers-color-scheme: dark" in data
    assert "@media print" in data
    assert len(page.xpath("//section")) == len(book.chapters)
    assert [" ".join(heading.text_content().split()) for heading in page.xpath("//h2")] == list(
        filter(None, book.headings)
    )


def test_emphasis_is_an_element_of_a_page_and_a_style_of_a_document(a_book):
    book = a_book(("One", ["She read *Wick Rock & <b>* twice."]))
    assert "She read <em>Wick Rock &amp; &lt;b&gt;</em> twice." in render_book(book, ".html").decode()
    document = Document(io.BytesIO(render_book(book, ".docx")))
    runs = [(run.text, run.style.name) for run in document.paragraphs[-1].runs]
    assert runs[1] == ("Wick Rock & <b>", "Emphasis")


def test_the_mark_between_two_scenes_is_one_in_every_format(a_book):
    book = a_book(("One", ["She read it.\n\n* * *\n\nIt rained."]))
    markdown = render_book(book, ".md").decode()
    assert "\n\n* * *\n\n" in markdown
    assert "hr" in [token.type for token in MarkdownIt().parse(markdown)[-7:]]
    assert '<p class="break">* * *</p>' in render_book(book, ".html").decode()
    assert b'<p class="break">* * *</p>' in members(render_book(book, ".epub"))["EPUB/chapter-001.xhtml"]
    document = Document(io.BytesIO(render_book(book, ".docx")))
    (centred,) = [paragraph for paragraph in document.paragraphs if paragraph.text == "* * *"]
    assert centred.alignment == WD_ALIGN_PARAGRAPH.CENTER


def test_the_policy_of_a_web_page_lets_its_own_style_in(plain_book):
    data = render_book(plain_book, "html").decode()
    style = re.search(r"<style>(.*)</style>", data, re.DOTALL)[1]
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in data


def test_a_page_to_play_is_the_book_to_read_and_refers_to_nothing(book):
    data = render_book(book, "play-html").decode()
    page = html.document_fromstring(data)
    assert len(page.xpath("//script")) == 1
    assert not page.xpath("//img | //link | //iframe | //@onload | //@onerror | //@src")
    assert all(re.fullmatch(r"#(p-\d+)?", link) for link in page.xpath("//@href"))
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; base-uri 'none'; form-action 'none'",
        policy,
    )
    for element in ("style", "script"):
        inline = re.search(f"<{element}>(.*?)</{element}>", data, re.DOTALL)[1]
        assert base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode() in policy
    plain = html.document_fromstring(render_book(book, ".html"))
    for which in ("//main//p", "//main//h2"):
        assert [one.text_content() for one in page.xpath(which)] == [one.text_content() for one in plain.xpath(which)]
    assert page.xpath("//html/@lang | //html/@dir") == plain.xpath("//html/@lang | //html/@dir")


def test_what_was_chosen_elsewhere_is_text_only(a_book):
    hostile = "</article></template><script>alert(1)</script><img src=x onerror=alert(1)> \" ' & \u2028 \x00 {{ x }}"
    book = a_book(("One", ["Mara woke."]))
    passages = [BranchPassage("1", "", hostile, "Mara woke.", told=True)]
    passages += [BranchPassage(key, "1", hostile, hostile, told=False, title=hostile) for key in ("2", "3")]
    page = html.document_fromstring(render_book(replace(book, branch_passages=passages), "play-html").decode())
    assert not page.xpath("//img | //article//script | //template//script | //@onerror")
    shown = hostile.replace("\x00", "").replace("\u2028", " ")
    assert page.xpath("//@data-choice") == [" ".join(shown.split())] * 3
    assert page.xpath("//@data-take") == ["", "take 1 of 2", "take 2 of 2"]
    for element in page.xpath("//template//h2 | //template//p"):
        # A separator of lines is a line break.
        assert "".join(element.text_content().split()) == "".join(shown.split())


def test_contents_lead_to_every_chapter(plain_book):
    page = html.document_fromstring(render_book(plain_book, ".html"))
    for link in page.xpath("//nav//a"):
        (section,) = page.xpath(f"//section[@id='{link.get('href')[1:]}']")
        assert section.find("h2").text == link.text


@pytest.mark.parametrize(
    ("name", "direction"), [("Arabic", "rtl"), ("he-IL", "rtl"), ("ar-Latn", "ltr"), ("English", "ltr")]
)
def test_text_runs_the_way_its_language_does(name, direction, a_book):
    book = a_book(("א", ["שלום."]), language=name)
    assert html.document_fromstring(render_book(book, ".html")).get("dir") == direction
    parts = members(render_book(book, ".epub"))
    package = etree.fromstring(parts["EPUB/package.opf"])
    assert package.find(f"{OPF}spine").get("page-progression-direction") == direction
    assert etree.fromstring(parts["EPUB/chapter-001.xhtml"]).get("dir") == direction
    styles = etree.fromstring(members(render_book(book, ".docx"))["word/styles.xml"])
    assert bool(list(styles.iter(f"{W}bidi"))) == (direction == "rtl")


def test_an_epub_says_what_is_known(plain_book):
    archive = zipfile.ZipFile(io.BytesIO(render_book(plain_book, ".epub")))
    first = archive.infolist()[0]
    assert (first.filename, first.compress_type, archive.read(first)) == ("mimetype", 0, b"application/epub+zip")
    # A zip file counts in steps of two seconds.
    assert {info.date_time for info in archive.infolist()} == {(2026, 3, 4, 5, 6, 6)}
    package = etree.fromstring(archive.read("EPUB/package.opf"))
    facts = {
        name: package.findtext(f".//{DC}{name}") for name in ("title", "creator", "language", "description", "subject")
    }
    assert facts == {
        "title": "The Tide", "creator": "A. Writer", "language": "en", "description": "A harbour and a debt.",
        "subject": "mystery",
    }  # fmt: skip
    assert package.findtext(f".//{OPF}meta[@property='dcterms:modified']") == "2026-03-04T05:06:07Z"
    assert package.findtext(f".//{DC}identifier").startswith("urn:uuid:")
    assert "color:" not in archive.read("EPUB/style.css").decode().replace("color: inherit", "")


def test_a_document_has_an_outline_a_title_page_and_properties(plain_book):
    document = Document(io.BytesIO(render_book(plain_book, ".docx")))
    styles = [(paragraph.style.name, paragraph.text) for paragraph in document.paragraphs]
    assert styles[0] == ("Title", "The Tide")
    assert [text for style, text in styles if style == "Heading 1"] == ["The Harbour", "The Debt"]
    assert document.styles["Heading 1"].paragraph_format.page_break_before
    properties = document.core_properties
    assert (properties.title, properties.author, properties.language) == ("The Tide", "A. Writer", "en")
    assert properties.created.isoformat() == "2026-03-04T05:06:07+00:00"
    languages = {element.get(f"{W}val") for element in document.styles.element.iter(f"{W}lang")}
    assert languages == {"en"}


def test_marks_in_a_story_are_not_marks_in_markdown(book):
    text = render_book(book, ".md").decode().split("---\n", 2)[2]
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    blocks = {token.type for token in tokens}
    assert blocks <= {"heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline"}
    assert {token.tag for token in tokens if token.type == "heading_open"} == {
        "h1",
        *(["h2"] if any(book.headings) else []),
    }
    inside = [child.type for token in tokens for child in token.children or ()]
    assert set(inside) <= {"text", "hardbreak", "text_special", "em_open", "em_close"}
    assert inside.count("em_open") <= 1  # the author's name


@pytest.mark.parametrize("extension", FORMATS)
def test_no_file_holds_what_xml_forbids(book, extension):
    data = render_book(book, extension)
    texts = (
        [part.decode() for name, part in members(data).items() if not name.endswith(".jpeg")]
        if data[:2] == b"PK"
        else [data.decode()]
    )
    for text in texts:
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff\U0001ffff]", text)


def test_marks_of_direction_and_of_no_width_stay(a_book):
    book = a_book(("t", ["a\u202eb\u200dc\u200bd"]))
    assert "a\u202eb\u200dc\u200bd" in render_book(book, ".txt").decode()
    assert "a\u202eb\u200dc\u200bd" in members(render_book(book, ".epub"))["EPUB/chapter-001.xhtml"].decode()


def test_chapters_begin_at_every_nth_passage():
    assert [chapter.passages for chapter in make_chapters(list("abcdefg"), every=3)] == [
        list("abc"),
        list("def"),
        ["g"],
    ]
    assert [len(chapter.passages) for chapter in make_chapters(list("abcdefghi"))] == [8, 1]
    assert make_chapters([]) == []


def test_chapters_begin_where_titles_say():
    chapters = make_chapters(list("abcde"), titles={2: "Two", 4: "Three", 99: "Never"})
    assert [(chapter.title, chapter.passages) for chapter in chapters] == [
        ("", ["a", "b"]),
        ("Two", ["c", "d"]),
        ("Three", ["e"]),
    ]


def test_plain_text_shows_where_a_passage_ends(a_book):
    book = a_book(("One", ["Mara woke.\n\nShe rose.", "\n", "It rained."]), ("Two", ["He paid."]))
    _, text = render_book(book, ".txt").decode().split("One\n---\n\n")
    assert text == "Mara woke.\n\nShe rose.\n\n\nIt rained.\n\n\nTwo\n---\n\nHe paid.\n"


def test_plain_text_has_no_asterisks_around_what_a_player_did(a_book):
    book = a_book(("One", ["*> I bribe the guard.*\n\nHe *smiles*.", "*> no line*of a player"]))
    text = render_book(book, ".txt").decode()
    assert "\n> I bribe the guard.\n\nHe smiles.\n\n\n*> no line*of a player\n" in text


def test_a_book_of_one_chapter_has_its_title_once(a_book):
    for title in ("", "The Tide"):
        book = a_book((title, ["Mara woke.", "She rose."]))
        assert render_book(book, ".txt").decode() == "The Tide\n========\n\nA. Writer\n\nMara woke.\n\n\nShe rose.\n"
        assert render_book(book, ".md").decode().count("# The Tide") == 1
        page = html.document_fromstring(render_book(book, ".html"))
        assert [heading.text for heading in page.xpath("//h1 | //h2")] == ["The Tide"]
        parts = members(render_book(book, ".epub"))
        chapter = etree.fromstring(parts["EPUB/chapter-001.xhtml"])
        assert [element.text for element in chapter.iter("{*}h1")] == []
        assert b">The Tide</a>" in parts["EPUB/nav.xhtml"]
        document = Document(io.BytesIO(render_book(book, ".docx")))
        assert [one.text for one in document.paragraphs] == [
            "The Tide", "A. Writer", "A harbour and a debt.", "Mara woke.", "She rose.",
        ]  # fmt: skip
    named = a_book(("The Harbour", ["Mara woke."]))
    assert b"The Harbour\n-----------" in render_book(named, ".txt")
