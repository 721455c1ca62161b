"""Passages of a manuscript: no word lost, no sentence cut, of the right length."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.books.book import Manuscript, ManuscriptChapter
from recurrentgpt.books.file_text import clean
from recurrentgpt.books.split import split_passages
from recurrentgpt.prose.sentences import count_words, words
from recurrentgpt.schema.errors import SettingsError


def manuscript(*chapters: list[str], language: str = "en") -> Manuscript:
    titled = [ManuscriptChapter(f"Chapter {number}", texts) for number, texts in enumerate(chapters, start=1)]
    return Manuscript("T", "", language, titled)


def told(count: int, length: int = 12) -> str:
    """Return `count` sentences of `length` words, each unlike the others."""
    return " ".join("S" + " ".join(f"w{number}x{word}" for word in range(length)) + "." for number in range(count))


def lengths(chapters) -> list[int]:
    return [count_words(passage) for chapter in chapters for passage in chapter.passages]


@pytest.mark.parametrize("paragraphs", [[told(200)], [told(3)] * 60, [told(40), told(1), told(90)], [told(1, 3)] * 500])
def test_passages_have_the_length_that_was_asked_for(paragraphs):
    for low, high in ((200, 400), (50, 80), (100, 150)):
        found = lengths(split_passages(manuscript(paragraphs), low, high))
        assert all(low <= length <= high for length in found), found


def test_a_little_too_much_for_one_passage_is_two_of_a_size():
    first, second = lengths(split_passages(manuscript([told(34)])))
    assert abs(first - second) <= 12


def test_no_sentence_is_cut_unless_it_is_alone_too_long():
    long = told(1, 500)
    chapters = split_passages(manuscript([told(30), long, told(30)]))
    passages = chapters[0].passages
    assert all(passage.endswith(".") for passage in passages)
    assert long in passages
    assert [length for length in lengths(chapters) if length > 400] == [500]


def test_long_speeches_are_cut_between_their_sentences():
    speech = "“" + told(60) + "”"
    chapters = split_passages(manuscript([speech]))
    assert max(lengths(chapters)) <= 400
    assert chapters[0].passages[0].startswith("“S")
    assert chapters[0].passages[-1].endswith(".”")


def test_borders_fall_between_paragraphs_where_they_can():
    paragraphs = [told(10) for _ in range(20)]
    for passage in split_passages(manuscript(paragraphs))[0].passages:
        assert all(part in paragraphs for part in passage.split("\n\n"))


def test_chapters_are_never_mixed():
    chapters = split_passages(manuscript(["One word."], [told(50)], ["Last."]))
    assert [chapter.title for chapter in chapters] == ["Chapter 1", "Chapter 2", "Chapter 3"]
    assert [len(chapter.passages) for chapter in chapters] == [1, 2, 1]


def test_a_chapter_without_a_word_is_left_out_and_a_row_of_stars_goes_along():
    chapters = split_passages(manuscript(["* * *"], [], ["One.", "* * *", "Two.", "* * *"]))
    assert [(chapter.title, chapter.passages) for chapter in chapters] == [
        ("Chapter 3", ["One.\n\n* * *\n\nTwo.\n\n* * *"])
    ]


@pytest.mark.parametrize(("low", "high"), [(0, 10), (10, 9), (-5, -1)])
def test_limits_that_cannot_be_kept(low, high):
    with pytest.raises(SettingsError, match="words"):
        split_passages(manuscript(["a"]), low, high)


def test_languages_without_spaces_are_split_too():
    text = "夜は静かで、雨が窓を叩いていた。" * 200
    chapters = split_passages(manuscript([text], language="ja"))
    assert "".join(chapters[0].passages) == text
    assert all(200 <= length <= 400 for length in lengths(chapters))


PIECES = st.sampled_from(
    [
        "Mr. Hall ran.",
        "“Go! Stop. No?”",
        "e.g. this",
        "don’t—go",
        "…",
        "* * *",
        "夜だった。",
        "3.5",
        "a-b-c",
        "\n",
        "Да.",
        "'",
        '"',
    ]
) | st.text(max_size=20)
PARAGRAPHS = st.lists(st.lists(PIECES, max_size=30).map(" ".join), max_size=8)


@given(
    st.lists(PARAGRAPHS, max_size=3), st.integers(1, 30), st.integers(0, 40), st.sampled_from(["en", "ja", "", "de-AT"])
)
def test_no_word_is_lost(chapters, low, more, language):
    book = manuscript(*chapters, language=language)
    split = split_passages(book, low, low + more)
    after = [word for chapter in split for passage in chapter.passages for word in words(passage)]
    before = [word for chapter in book.chapters for text in chapter.paragraphs for word in words(clean(text))]
    assert after == before
    assert all(passage == passage.strip() and passage for chapter in split for passage in chapter.passages)


def test_the_same_manuscript_gives_the_same_passages():
    book = manuscript(*itertools.repeat([told(77), told(9)], 3))
    assert split_passages(book) == split_passages(book)
