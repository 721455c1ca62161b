"""Render a book as a Word document: headings that make its outline, a page a chapter."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt

from recurrentgpt.books.book import Book
from recurrentgpt.books.file_text import direction, language_tag, one_line
from recurrentgpt.books.writers.zip_file import write_archive
from recurrentgpt.prose.emphasis import emphasised
from recurrentgpt.prose.unwrap import SCENE_BREAK

_MOST = 255
"""Longest property that the format allows."""


def render(book: Book) -> bytes:
    """Return the book as a DOCX file."""
    tag = language_tag(book.language)
    document = Document()
    _describe(document, book, tag)
    right_to_left = direction(tag, next((p for c in book.chapters for p in c.paragraphs), book.name)) == "rtl"
    _set_styles(document, tag, right_to_left=right_to_left)
    document.add_paragraph(book.name, "Title")
    if author := one_line(book.author):
        document.add_paragraph(author, "Subtitle")
    if description := one_line(book.description):
        document.add_paragraph(description, "Subtitle")
    heading_style, body = document.styles["Heading 1"], document.styles["Body Text"]
    for heading, chapter in zip(book.headings, book.chapters, strict=True):
        if heading:
            document.add_paragraph(heading, heading_style)
        for number, paragraph in enumerate(chapter.paragraphs):
            written = document.add_paragraph(style=body)
            if not (heading or number):
                written.paragraph_format.page_break_before = True  # as a heading has, so that the title has its page
            if paragraph == SCENE_BREAK:
                written.alignment, written.paragraph_format.first_line_indent = WD_ALIGN_PARAGRAPH.CENTER, Cm(0)
            for piece, marked in emphasised(paragraph):
                written.add_run(piece, "Emphasis" if marked else None)
    return _with_fixed_times(document, book)


def _describe(document: Any, book: Book, tag: str) -> None:
    properties = document.core_properties
    properties.title = book.name[:_MOST]
    properties.author = properties.last_modified_by = one_line(book.author)[:_MOST]
    properties.subject = properties.category = one_line(book.genre)[:_MOST]
    properties.comments = one_line(book.description)[:_MOST]
    properties.language, properties.identifier = tag, book.urn[:_MOST]
    properties.created = properties.modified = book.moment.replace(tzinfo=None)
    properties.revision = 1
    # The library's template brings a picture of a page that is not this book's.
    package = document.part.package
    for key, relation in list(package.rels.items()):
        if relation.reltype == RELATIONSHIP_TYPE.THUMBNAIL:
            del package.rels[key]


def _set_styles(document: Any, tag: str, *, right_to_left: bool) -> None:
    styles = document.styles
    normal, body, heading, title = (styles[name] for name in ("Normal", "Body Text", "Heading 1", "Title"))
    normal.font.name, normal.font.size = "Georgia", Pt(11)
    body.paragraph_format.first_line_indent = Cm(0.7)
    body.paragraph_format.space_after = Pt(0)
    body.paragraph_format.line_spacing = 1.3
    body.paragraph_format.widow_control = True
    heading.paragraph_format.page_break_before = True
    heading.paragraph_format.space_before, heading.paragraph_format.space_after = Pt(72), Pt(24)
    title.paragraph_format.space_before = Pt(180)
    for style in (heading, title, styles["Subtitle"]):
        style.paragraph_format.alignment = WD_ALIGN_PARAGRAPH.CENTER
        # The template's headings are blue and ruled, which a novel's are not.
        for mark in [*style.element.iter(qn("w:color"), qn("w:pBdr"), qn("w:numPr"))]:
            mark.getparent().remove(mark)
    for language in styles.element.iter(qn("w:lang")):
        for name in ("val", "eastAsia", "bidi") if tag != "und" else ():
            language.set(qn(f"w:{name}"), tag)
    if right_to_left:
        for style in (normal, heading, title, styles["Subtitle"]):
            style.element.get_or_add_pPr().insert_element_before(
                OxmlElement("w:bidi"),
                "w:adjustRightInd",
                "w:spacing",
                "w:ind",
                "w:contextualSpacing",
                "w:jc",
                "w:outlineLvl",
            )
            style.element.get_or_add_rPr().append(OxmlElement("w:rtl"))


def _with_fixed_times(document: Any, book: Book) -> bytes:
    written, file = io.BytesIO(), io.BytesIO()
    document.save(written)
    with zipfile.ZipFile(written) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    write_archive(file, members, book.moment)
    return file.getvalue()
