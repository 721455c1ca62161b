"""Word documents and EPUBs as other programs make them."""

import io

import pytest
from docx import Document
from docx.oxml import parse_xml

from recurrentgpt.books.readers import read_book

NS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


@pytest.fixture
def word(save):
    """Save a Word document and return its path."""

    def to_file(document):
        file = io.BytesIO()
        document.save(file)
        return save("b.docx", file.getvalue())

    return to_file


def test_headings_make_chapters_by_their_style(word):
    document = Document()
    document.core_properties.author = "Someone"
    document.core_properties.title = ""
    document.add_paragraph("The Tide", "Title")
    document.add_heading("One", 1)
    document.add_paragraph("Rain.")
    document.add_heading("Inside one", 2)
    document.add_paragraph("More\nrain.")
    document.add_heading("Two", 1)
    document.add_table(1, 2).cell(0, 1).text = "In a table."
    book = read_book(word(document))
    assert (book.title, book.author) == ("The Tide", "Someone")
    assert [(chapter.title, chapter.paragraphs) for chapter in book.chapters] == [
        ("One", ["Rain.", "Inside one", "More\nrain."]),
        ("Two", ["In a table."]),
    ]


def test_one_heading_above_all_others_is_the_title(word):
    document = Document()
    document.core_properties.title = ""
    document.add_heading("The Tide", 1)
    for number in ("One", "Two"):
        document.add_heading(number, 2)
        document.add_paragraph("Rain.")
    book = read_book(word(document))
    assert (book.title, [chapter.title for chapter in book.chapters]) == ("The Tide", ["One", "Two"])


@pytest.mark.parametrize(
    ("title", "headings", "chapters"),
    [
        ("Salt", [(1, "Part One"), (2, "One"), (2, "Two")], ["Part One. One", "Two"]),
        ("", [(1, "Part One"), (2, "One"), (2, "Two")], ["Part One. One", "Two"]),
        ("Salt", [(1, "Salt"), (2, "Winter"), (3, "One"), (3, "Two"), (2, "Spring"), (3, "Three")],
         ["Winter. One", "Two", "Spring. Three"]),
    ],
)  # fmt: skip
def test_a_document_with_parts_keeps_the_headings_of_parts_and_of_chapters(word, title, headings, chapters):
    document = Document()
    document.core_properties.title = title
    for level, heading in headings:
        document.add_heading(heading, level)
        if heading in ("One", "Two", "Three"):
            document.add_paragraph("Rain.")
    book = read_book(word(document))
    assert (book.title, [chapter.title for chapter in book.chapters]) == (title or "b", chapters)


def test_a_style_made_from_a_heading_is_a_heading(word):
    document = Document()
    document.styles.add_style("My Chapter", 1).base_style = document.styles["Heading 2"]
    for number in ("One", "Two"):
        document.add_paragraph(number, "My Chapter")
        document.add_paragraph("Rain.")
    assert [chapter.title for chapter in read_book(word(document)).chapters] == ["One", "Two"]


def test_tracked_changes_links_fields_and_controls_read_as_they_look(word):
    document = Document()
    body = document.element.body
    inside = (
        "<w:r><w:t>She </w:t></w:r><w:del><w:r><w:delText>ran</w:delText></w:r></w:del><w:ins><w:r><w:t>went</w:t></w:r></w:ins>"
        "<w:hyperlink><w:r><w:t xml:space='preserve'> home</w:t></w:r></w:hyperlink><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:r><w:t>, well</w:t><w:noBreakHyphen/><w:t>known</w:t><w:tab/><w:t>and</w:t><w:br/><w:t>loved.</w:t></w:r>"
    )
    body.insert(0, parse_xml(f"<w:sdt {NS}><w:sdtContent><w:p>{inside}</w:p></w:sdtContent></w:sdt>"))
    (chapter,) = read_book(word(document)).chapters
    assert chapter.paragraphs == ["She went home, well\u2011known\tand\nloved."]


def test_a_text_box_is_read_once(word):
    document = Document()
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = "<w:txbxContent><w:p><w:r><w:t>Boxed.</w:t></w:r></w:p></w:txbxContent>"
    document.element.body.insert(
        0,
        parse_xml(
            f"<w:p {NS} {mc}><w:r><w:t>Around.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='x'>{box}</mc:Choice>"
            f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
        ),
    )
    (chapter,) = read_book(word(document)).chapters
    assert chapter.paragraphs == ["Around.", "Boxed."]


def test_a_table_of_contents_is_not_text(word):
    document = Document()
    document.styles.add_style("toc 1", 1)
    document.add_paragraph("One ...... 3", "toc 1")
    document.add_heading("One", 1)
    document.add_paragraph("Rain.")
    (chapter,) = read_book(word(document)).chapters
    assert (chapter.title, chapter.paragraphs) == ("One", ["Rain."])


NCX = (
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
    '<navPoint><navLabel><text>Part One</text></navLabel><content src="text/a.xhtml#part"/>'
    '<navPoint><navLabel><text>1. Rain</text></navLabel><content src="text/a.xhtml#one"/></navPoint>'
    '<navPoint><navLabel><text>2. Sun &amp; Wind</text></navLabel><content src="text/a.xhtml#two"/></navPoint></navPoint>'
    '<navPoint><navLabel><text>3. Snow</text></navLabel><content src="text/b%20c.xhtml"/></navPoint></navMap></ncx>'
)


def read(book):
    return [(chapter.title, chapter.paragraphs) for chapter in read_book(book).chapters]


def test_chapters_are_where_the_contents_of_an_epub_2_point(epub, page):
    pages = {
        "cover.xhtml": page("<p>Cover words</p>"),
        "text/a.xhtml": page(
            '<h1 id="part">PART ONE</h1><h2 id="one">1. Rain</h2><p>It rained.</p>'
            '<a name="two"></a><p>&nbsp;</p><h2>2. Sun &amp; Wind</h2><p>It <i>shone</i>&nbsp;caf&eacute;.</p>'
        ),
        "text/more.xhtml": page("<p>Still the second.</p>"),
        "text/b c.xhtml": page("<p>It snowed.<br/>Much.</p><hr/><ul><li>Item</li></ul>"),
    }
    path = epub(
        pages,
        extra={"OEBPS/toc.ncx": NCX},
        items='<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
        tail='<guide><reference type="cover" href="cover.xhtml"/></guide>',
    )
    assert read(path) == [
        ("Part One. 1. Rain", ["It rained."]),
        ("2. Sun & Wind", ["It *shone*\xa0café.", "Still the second."]),
        ("3. Snow", ["It snowed.\nMuch.", "* * *", "Item"]),
    ]
    book = read_book(path)
    assert (book.title, book.author, book.language) == ("A Book", "Someone", "de-AT")


def test_an_epub_3_leaves_out_what_is_marked_as_not_the_story(epub, page):
    nav = page(
        '<nav epub:type="toc"><ol><li><a href="a.xhtml">One <b>more</b></a></li></ol></nav>'
        '<nav epub:type="landmarks"><ol><li><a epub:type="copyright-page" href="c.xhtml">c</a></li></ol></nav>'
    )
    pages = {
        "c.xhtml": page("<p>All rights.</p>"),
        "t.xhtml": page('<section epub:type="titlepage"><p>Title</p></section>'),
        "a.xhtml": page(
            '<section epub:type="chapter"><header><h1>One</h1><h2>more</h2></header>'
            '<p>Rain<span epub:type="pagebreak">7</span>ed.</p>'
            "<script>x()</script><p>A <ruby>b<rt>c</rt></ruby> d.</p><h3>One</h3></section>"
        ),
    }
    path = epub(
        pages,
        extra={"OEBPS/nav.xhtml": nav},
        items='<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>',
    )
    assert read(path) == [("One more", ["Rained.", "A b d.", "One"])]


def test_without_contents_the_headings_make_chapters(epub, page):
    assert read(epub({"a.xhtml": page("<h2>One</h2><p>Rain.</p><h2>Two</h2><p>Sun.</p>")})) == [
        ("One", ["Rain."]),
        ("Two", ["Sun."]),
    ]


def test_pages_that_are_not_xml_are_read_as_a_browser_would(epub):
    bad = "<html><body><p>One<br>two &unknown; three<p>Four & five <b>six</body>"
    ((_, paragraphs),) = read(epub({"a.html": bad}))
    assert paragraphs == ["One\ntwo &unknown; three", "Four & five six"]


def test_deep_nesting_is_read_or_refused_but_does_not_crash(epub, page):
    from recurrentgpt.schema.errors import BookError

    deep = page("<div>" * 5000 + "<p>Deep.</p>" + "</div>" * 5000)
    try:
        assert read(epub({"a.xhtml": deep}))
    except BookError:
        pass
