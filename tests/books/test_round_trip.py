"""What is written is read back: the same words, the same titles, in every format that goes both ways."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recurrentgpt.books.book import Book, Chapter
from recurrentgpt.books.file_text import language_tag, one_line
from recurrentgpt.books.readers import SOURCES, read_book
from recurrentgpt.books.writers import FORMATS, write_book

BOTH = sorted(set(FORMATS) & set(SOURCES))


@pytest.mark.parametrize("extension", BOTH)
def test_a_book_comes_back_with_its_words_and_titles(book, extension, tmp_path, words_of):
    manuscript = read_book(write_book(book, tmp_path / f"b{extension}"))
    assert [chapter.title for chapter in manuscript.chapters] == book.headings
    assert words_of(manuscript) == words_of(book)
    assert manuscript.title == book.name


@pytest.mark.parametrize("extension", BOTH)
def test_paragraphs_and_line_breaks_come_back(extension, tmp_path, a_book):
    book = a_book(("One", ["First.\n\nSecond,\nin verse.", "Third."]), ("Two", ["Fourth."]))
    manuscript = read_book(write_book(book, tmp_path / f"b{extension}"))
    assert [chapter.paragraphs for chapter in manuscript.chapters] == [
        ["First.", "Second,\nin verse.", "Third."],
        ["Fourth."],
    ]


@pytest.mark.parametrize("extension", [extension for extension in BOTH if extension != ".txt"])
def test_emphasis_comes_back(extension, tmp_path, a_book):
    told = ['She read *Wick Rock, The Light* and "*no,*" twice.', "*All of it.*", "Two * two * four, un*believ*able."]
    manuscript = read_book(write_book(a_book(("One", ["\n\n".join(told)])), tmp_path / f"b{extension}"))
    assert manuscript.chapters[0].paragraphs == told


def test_plain_text_has_the_words_of_an_emphasis_and_no_marks(tmp_path, a_book):
    told = ['She read *Wick Rock, The Light* and "*no,*" twice.', "*All of it.*", "* * *", "Two * two * four."]
    path = write_book(a_book(("The *One*", ["\n\n".join(told)])), tmp_path / "b.txt")
    written = path.read_text()
    assert "The *One*\n---------\n" in written
    assert 'She read Wick Rock, The Light and "no," twice.\n\nAll of it.\n\n* * *\n\nTwo * two * four.' in written


@pytest.mark.parametrize("extension", BOTH)
def test_the_author_comes_back_and_the_language_where_the_format_can_say_it(extension, tmp_path, plain_book):
    manuscript = read_book(write_book(plain_book, tmp_path / f"b{extension}"))
    assert manuscript.author == "A. Writer"
    assert manuscript.language == ("" if extension == ".txt" else "en")


TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from("#*_-=+.1`<>&|~\n \\[]()"), max_size=60)
PASSAGE = TEXT.filter(lambda text: one_line(text).strip(".-=*") != "").map(lambda text: f"So {text} it went.")
PASSAGES = st.lists(PASSAGE, min_size=1, max_size=3)
CHAPTERS = st.lists(st.tuples(st.sampled_from(["", "Chapter I", "The #1 *", "- 2."]), PASSAGES), min_size=1, max_size=3)


@pytest.mark.parametrize("extension", BOTH)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chapters=CHAPTERS)
def test_any_text_comes_back(extension, chapters, tmp_path, words_of, plain_book):
    book = Book(**{**vars(plain_book), "chapters": [Chapter(title, passages) for title, passages in chapters]})
    manuscript = read_book(write_book(book, tmp_path / f"b{extension}", force=True))
    assert words_of(manuscript) == words_of(book)


@pytest.mark.parametrize(
    ("language", "tag"),
    [
        ("English", "en"),
        ("german", "de"),
        ("de-AT", "de-AT"),
        ("zh-Hant-TW", "zh-Hant-TW"),
        ("sw", "sw"),
        ("Klingon", "und"),
        ("", "und"),
    ],
)
def test_a_language_has_a_tag(language, tag):
    assert language_tag(language) == tag
