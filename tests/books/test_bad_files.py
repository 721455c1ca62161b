"""Files that are broken, hostile or not what they say: one sentence each, and nothing read from outside them."""

import codecs
import io
import os
import struct
import zipfile

import pytest
from docx import Document

from recurrentgpt.books.readers import limits, read_book
from recurrentgpt.books.split import split_passages
from recurrentgpt.schema.errors import BookError

LAUGHS = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'


def refused(path, *parts: str) -> str:
    with pytest.raises(BookError) as caught:
        read_book(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert all(part in sentence for part in parts), sentence
    return sentence


def docx_bytes(*, change=None) -> bytes:
    """Return a small Word document, its parts as `change` makes them."""
    document, file = Document(), io.BytesIO()
    document.add_heading("One", 1)
    document.add_paragraph("Some text.")
    document.save(file)
    out = io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, change(name, data) if change else data)
    return out.getvalue()


@pytest.mark.parametrize("extension", [".txt", ".md", ".docx", ".epub"])
def test_an_empty_file(save, extension):
    refused(save(f"b{extension}", b""), "is empty")
    refused(save(f"b{extension}", b" \n\n "), "is empty")


def test_a_missing_file_a_folder_and_an_unknown_kind(tmp_path, save):
    refused(tmp_path / "none.txt", "There is no file")
    refused(tmp_path, "is a folder")
    refused(save("b.pdf", b"%PDF"), ".txt, .md", ".epub")
    refused(save("b", b"text"), "no extension")
    refused("nul\0.txt", "cannot be read")


def test_a_file_that_may_not_be_read(save, monkeypatch):
    def forbid(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = save("b.txt", b"text")
    monkeypatch.setattr("pathlib.Path.open", forbid)
    refused(path, "Permission denied")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "b.txt")
    refused(tmp_path / "b.txt", "no ordinary file")


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 40, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + os.urandom(4000), b"PK\3\4" + b"\1\2\0" * 500]
)
def test_a_binary_that_is_named_text(save, data):
    refused(save("b.txt", data), "is not a text file")
    refused(save("b.md", data), "is not a text file")


def test_a_file_of_marks_that_are_wrong(save):
    refused(save("b.txt", codecs.BOM_UTF16_LE + b"\x00\xd8" * 50), "encoding", "UTF-8")


def test_more_text_than_fits(save, monkeypatch):
    monkeypatch.setattr("recurrentgpt.books.readers.decoding.MOST_TEXT", 1000)
    refused(save("b.txt", "word " * 300), "split it")
    monkeypatch.setattr("recurrentgpt.books.readers.MOST_BYTES", 1000)
    refused(save("b.docx", b"PK" * 600), "larger than", "split it")


@pytest.mark.parametrize("extension", [".docx", ".epub"])
@pytest.mark.parametrize("data", [b"no zip at all", b"PK\3\4" + b"\0" * 100, b"PK\5\6" + b"\0" * 18])
def test_what_is_no_zip(save, extension, data):
    refused(save(f"b{extension}", data), "is damaged")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_files_that_were_cut_off(save, epub, page, share):
    whole = docx_bytes()
    refused(save("b.docx", whole[: int(len(whole) * share)]), "is damaged")
    whole = epub({"a.xhtml": page("<p>" + "Some text. " * 500 + "</p>")}).read_bytes()
    refused(save("b.epub", whole[: int(len(whole) * share)]), "is damaged")


def test_any_byte_may_be_wrong(save, epub, page):
    """A damaged file is read or refused; it never ends in another error."""
    outcomes = set()
    for name, whole in (("b.docx", docx_bytes()), ("b.epub", epub({"a.xhtml": page("<p>Text.</p>")}).read_bytes())):
        for place in range(0, len(whole), max(1, len(whole) // 250)):
            broken = whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
            try:
                read_book(save(name, broken))
                outcomes.add("read")
            except BookError:
                outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_a_bomb_that_is_honest_about_its_size(zipped, epub, page):
    bomb = b"<a>" + b" " * 60_000_000
    refused(zipped("b.docx", {"[Content_Types].xml": b"<Types/>", "word/document.xml": bomb}), "far more than a book")
    path = epub({"a.xhtml": page("<p>x</p>"), "b.xhtml": bomb})
    refused(path, "far more than a book")


def test_a_bomb_that_lies_about_its_size(zipped):
    path = zipped("b.docx", {"[Content_Types].xml": b"<Types/>", "word/document.xml": b" " * 60_000_000})
    data = bytearray(path.read_bytes())
    size = struct.pack("<I", 60_000_000)
    assert data.count(size) == 2
    path.write_bytes(data.replace(size, struct.pack("<I", 1000)))
    refused(path, "b.docx")


def test_many_pictures_are_not_a_bomb_but_too_many_are(zipped, monkeypatch):
    monkeypatch.setattr(limits, "MOST_UNPACKED", 3_000_000)
    pictures = {f"word/media/{number}.bmp": bytes(1_000_000) for number in range(4)}
    refused(zipped("b.docx", {"[Content_Types].xml": b"<Types/>", **pictures}), "far more than a book")


def test_too_many_parts(zipped):
    refused(zipped("b.epub", {f"{number}": b"" for number in range(10_001)}), "parts")


def test_too_many_tags(zipped, monkeypatch, epub, page):
    monkeypatch.setattr(limits, "MOST_MARKS", 1000)
    refused(epub({"a.xhtml": page("<p>x</p>" * 2000)}), "tags")


@pytest.mark.parametrize("declaration", [LAUGHS, OUTSIDE])
def test_entities_are_not_expanded(epub, page, save, zipped, declaration):
    evil = (
        f"<?xml version='1.0'?>{declaration}<html xmlns='http://www.w3.org/1999/xhtml'><body><p>&b;</p></body></html>"
    )
    refused(epub({"a.xhtml": evil}), "entities")
    refused(epub({"a.xhtml": page("<p>x</p>")}, container=f"{declaration}<container/>"), "entities")

    def change(name, data):
        return data.replace(b"?>", f"?>{declaration}".encode(), 1) if name == "word/document.xml" else data

    refused(save("b.docx", docx_bytes(change=change)), "entities")


@pytest.mark.parametrize(
    "href",
    [
        "../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1:9/x",
        "%2e%2e/%2e%2e/etc/passwd",
        "..\\x",
        "//h/x",
        "http://[",
    ],
)
def test_an_epub_reads_nothing_outside_itself(epub, href):
    container = f'<container><rootfiles><rootfile full-path="{href}"/></rootfiles></container>'
    refused(epub({}, container=container))
    refused(epub({href: "<html/>"}))


def test_an_epub_without_a_page_it_names(epub, page):
    item, tail = '<item id="x" href="gone.xhtml" media-type="application/xhtml+xml"/>', ""
    path = epub({"a.xhtml": page("<p>x</p>")}, items=item, tail=tail)
    assert read_book(path).chapters, "what the spine does not name need not be there"
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members["OEBPS/a.xhtml"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    refused(path, "a.xhtml", "does not hold")


def test_an_epub_that_its_seller_locked(epub, page):
    def lock(algorithm):
        return (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#">'
            f'<EncryptionMethod Algorithm="{algorithm}"/></EncryptedData></encryption>'
        )

    pages = {"a.xhtml": page("<p>Text.</p>")}
    refused(epub(pages, extra={"META-INF/encryption.xml": lock("http://www.w3.org/2001/04/xmlenc#aes256-cbc")}), "DRM")
    scrambled_font = epub(pages, extra={"META-INF/encryption.xml": lock("http://www.idpf.org/2008/embedding")})
    assert read_book(scrambled_font).chapters


def test_a_zip_with_a_password(epub, page):
    path = epub({"a.xhtml": page("<p>Text.</p>")})
    data = bytearray(path.read_bytes())
    for start in range(len(data)):
        if data[start : start + 4] == b"PK\1\2":
            data[start + 8] |= 1
    path.write_bytes(data)
    refused(path, "password")


def test_a_word_document_of_the_old_kind_or_with_a_password(save):
    refused(save("b.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600), "password", ".docx")


def test_a_word_document_that_refers_outside_is_read_without_looking(save):
    def change(name, data):
        if name != "word/_rels/document.xml.rels":
            return data
        outside = (
            b'<Relationship Id="rX1" TargetMode="External" Target="http://127.0.0.1:9/x" '
            b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"/>'
            b'<Relationship Id="rX2" TargetMode="External" Target="file:///etc/passwd" '
            b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/subDocument"/>'
        )
        return data.replace(b"</Relationships>", outside + b"</Relationships>")

    # The test's own network is closed: a look outside would be an error here.
    (chapter,) = read_book(save("b.docx", docx_bytes(change=change))).chapters
    assert chapter.paragraphs == ["Some text."]


def test_files_without_a_word(save, epub, page):
    refused(epub({"a.xhtml": page("<img src='x' alt='y'/>")}), "no text")
    refused(epub({}), "no text")
    refused(save("b.md", "# Only a title\n"), "no text")


@pytest.mark.parametrize("suffix", ["txt", "md"])
@pytest.mark.parametrize("strange", ["[", "<![CDATA[", " ", "\t \n"])
def test_a_long_run_of_what_looks_like_a_mark_does_not_take_minutes(save, strange, suffix):
    path = save(f"b.{suffix}", f"She went down to the harbour.\n\nThe boats {strange * 20_000}were gone.")
    chapters = split_passages(read_book(path), 5, 400)
    text = " ".join(passage for chapter in chapters for passage in chapter.passages)
    assert (text[:29], text[-10:]) == ("She went down to the harbour.", "were gone.")


@pytest.mark.parametrize("marks", ["*a", "_a", "`a", "[a", ">", "*a ", "<a ", "\\", "|a"])
def test_markdown_that_is_mere_signs_is_refused_before_it_is_parsed(save, marks):
    refused(save("b.md", marks * 200_000), "signs of Markdown", "no book has")


@pytest.mark.parametrize("extension", [".txt", ".md"])
def test_a_word_that_no_book_has_is_refused(save, extension):
    refused(save(f"b{extension}", "One word. " + "a" * 150_000), "a word of 150,000 letters")


def test_a_book_of_many_signs_and_one_without_spaces_are_read(save):
    told = read_book(
        save("b.md", "She *really* went `home` and stayed there until the rain was over, or so he said.\n\n" * 30_000)
    )
    assert len(told.chapters[0].paragraphs) == 30_000
    assert read_book(save("b.txt", "字" * 150_000)).chapters
    assert read_book(save("c.txt", "a+b/" * 50_000)).chapters
