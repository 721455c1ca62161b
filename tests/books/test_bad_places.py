"""Exports that cannot be written: a sentence, and whatever was there before stays."""

import errno
import os

import pytest

from recurrentgpt.books.file_names import MOST_BYTES, safe_name
from recurrentgpt.books.writers import FORMATS, render_book, write_book
from recurrentgpt.schema.errors import BookError


def refused(*args, **options) -> str:
    with pytest.raises(BookError) as caught:
        write_book(*args, **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return str(caught.value)


@pytest.mark.parametrize("extension", FORMATS)
def test_a_file_that_exists_is_replaced_only_by_force(plain_book, tmp_path, extension):
    path = tmp_path / f"b{extension}"
    path.write_bytes(b"mine")
    assert "--force" in refused(plain_book, path)
    assert path.read_bytes() == b"mine"
    write_book(plain_book, path, force=True)
    assert path.read_bytes() == render_book(plain_book, extension)
    assert os.listdir(tmp_path) == [path.name]


def test_the_format_is_that_of_the_extension_or_the_one_that_is_named(plain_book, tmp_path):
    assert write_book(plain_book, tmp_path / "b.EPUB").read_bytes()[:2] == b"PK"
    assert write_book(plain_book, tmp_path / "b.bak", "md").read_bytes().startswith(b"---")
    for path, format in (("b.pdf", None), ("b", None), ("b.md", "odt")):
        sentence = refused(plain_book, tmp_path / path, format)
        assert all(extension in sentence for extension in FORMATS)


def test_a_place_that_is_not_there_or_no_file(plain_book, tmp_path):
    assert "no folder" in refused(plain_book, tmp_path / "none" / "b.md")
    (tmp_path / "folder.md").mkdir()
    assert "is a folder" in refused(plain_book, tmp_path / "folder.md", force=True)
    (tmp_path / "file").write_text("x")
    refused(plain_book, tmp_path / "file" / "b.md")
    refused(plain_book, tmp_path / ("x" * 300 + ".md"))
    refused(plain_book, "nul\0.md")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.md")
        assert "no ordinary file" in refused(plain_book, tmp_path / "pipe.md", force=True)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fails_leaves_the_old_file(plain_book, tmp_path, monkeypatch, code, call):
    def fail(*_):
        raise OSError(code, os.strerror(code))

    path = tmp_path / "b.md"
    path.write_text("mine")
    monkeypatch.setattr(os, call, fail)
    assert os.strerror(code) in refused(plain_book, path, force=True)
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["b.md"]


def test_an_interrupted_export_leaves_nothing(plain_book, tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_book(plain_book, tmp_path / "b.md")
    assert not os.listdir(tmp_path)


def test_a_link_is_written_through(plain_book, tmp_path):
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    write_book(plain_book, tmp_path / "link.md", force=True)
    assert (tmp_path / "link.md").is_symlink()
    assert "Mara" in (tmp_path / "real.md").read_text()


@pytest.mark.parametrize("chapters", [[], [("T", [])], [("T", ["  \n\n", "\x00"])]])
def test_a_story_without_a_word_is_not_a_book(a_book, tmp_path, chapters):
    assert "no passage" in refused(a_book(*chapters), tmp_path / "b.md")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("The Tide", "The Tide"),
        ("../../etc/passwd", "etc passwd"),
        ('a/b\\c:d*e?f"g<h>i|j', "a b c d e f g h i j"),
        ("CON", "CON story"),
        ("com1.txt", "com1 story"),
        ("Contents", "Contents"),
        ("...", "story"),
        ("", "story"),
        (" \n\t ", "story"),
        ("***", "story"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ("end. ", "end"),
        ("turned\u202egnp.exe\x00", "turnedgnp.exe"),
        ("夜の本", "夜の本"),
        ("half\ud800", "half"),
    ],
)
def test_a_title_makes_a_safe_name(title, name):
    assert safe_name(title) == name


def test_a_long_title_is_cut_between_characters():
    assert len(safe_name("夜" * 500).encode()) <= MOST_BYTES
    assert safe_name("夜" * 500) == "夜" * (MOST_BYTES // 3)
