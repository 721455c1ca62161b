"""What reading a book costs, counted in work and not in time: twice the book is twice the work, and no shape of it is more."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from recurrentgpt.books.file_text import clean, clean_paragraphs, paragraphs
from recurrentgpt.books.readers import read_book
from recurrentgpt.books.readers.headings import _subtitles
from recurrentgpt.books.split import split_passages
from recurrentgpt.schema.errors import BookError

MORE = 2.3
"""Most work for twice the book, in shares of the work for one: what is done once makes it no less."""


def calls_of(path: Path) -> int:
    """Return how many functions are called, of Python and of C, while a book is read and split."""
    count = 0

    def counted(frame: object, event: str, given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        split_passages(read_book(path))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", ["txt", "md"])
@pytest.mark.parametrize(
    "part",
    [
        "a\n",
        "a\n\n",
        "Chapter 1\n\n",
        "The wind blew over the harbour. ",
        "The wind blew.\n\n",
        "He\n--\n\n",
        "* * *\n\nHe ran.\n\n",
    ],
    ids=["letters", "paragraphs", "chapters", "one line", "sentences", "underlined", "breaks"],
)
def test_twice_the_book_is_twice_the_work(tmp_path: Path, part: str, kind: str) -> None:
    path = tmp_path / f"book.{kind}"
    work = []
    for count in (400, 400, 800):
        path.write_text("It began.\n\n" + part * count)
        work.append(calls_of(path))
    _, once, twice = work  # the first time loads what is needed
    assert twice <= once * MORE


class Counted(Collection[int]):
    """Numbers of which each look and each step is counted."""

    def __init__(self, count: int) -> None:
        self.count, self.work = count, 0

    def __len__(self) -> int:
        return self.count

    def __contains__(self, number: object) -> bool:
        self.work += 1
        return isinstance(number, int) and 0 <= number < self.count

    def __iter__(self) -> Iterator[int]:
        for number in range(self.count):
            self.work += 1
            yield number


def test_chapters_that_are_all_numbers_are_looked_at_once_each() -> None:
    """2.8 MB of `Chapter 1` took 82 s: all headings were gone through for each of them."""
    work = []
    for count in (200, 400):
        found = Counted(count)
        _subtitles(["Chapter 1"] * count, found)
        work.append(found.work)
    assert work[1] <= work[0] * MORE
    assert work[0] <= 200 * 4


@pytest.mark.parametrize("kind", ["txt", "md"])
@pytest.mark.parametrize("line", ["a\n", "a\n\n", "ab\n \n"])
def test_a_file_of_line_ends_is_refused_in_a_sentence(tmp_path: Path, line: str, kind: str) -> None:
    path = tmp_path / f"book.{kind}"
    path.write_text(line * 100_001)
    with pytest.raises(BookError, match="has 100,001 lines of hardly more than a letter each, which no book has"):
        read_book(path)


def test_short_lines_that_a_book_may_have_are_read(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("O my!\n\n" * 20_000)
    assert sum(len(chapter.passages) for chapter in split_passages(read_book(path))) > 90


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "One.",
        " One. ",
        "One.\u00a0",
        "\u3000One.",
        "One\nTwo",
        "One\n\n Two \n",
        "O\x00ne",
        "\ud800",
        "\ufffe",
        "é\u200b",
        "One\tTwo",
    ],
)
def test_one_paragraph_is_seen_as_many_are(text: str) -> None:
    assert clean_paragraphs(text) == paragraphs(clean(text))
