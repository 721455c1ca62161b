"""Plain text and Markdown as people have them: wrapped lines, old encodings, headings that only look like some."""

import pytest

from recurrentgpt.books.readers import read_book

LICENCE = """\
The Project Gutenberg eBook of The Tide

This eBook is for the use of anyone anywhere.

Title: The Tide
       at Greywater

Author: Jane Doe

Language: English

*** START OF THE PROJECT GUTENBERG EBOOK THE TIDE ***

Produced by Somebody

THE TIDE AT GREYWATER

by Jane Doe

CONTENTS

CHAPTER I. The Harbour
CHAPTER II. The Debt
CHAPTER III. The End


CHAPTER I. The Harbour

Mara woke before the bells and lay still for a while, listening to the
water under the floor. It was the _third_ day of rain, and by the well-
known rule of the harbour it would be the last one, or else the first of
a great many more that nobody would care to count.

"Are you up?" said Tobias.

   O tide, O tide,
   be kind to me.

CHAPTER II. The Debt

He paid it back in copper, and she counted it twice, because the ledger
had been wrong before and would be wrong again if she let it, and because
she liked the sound.

CHAPTER III. The End

It rained.

*** END OF THE PROJECT GUTENBERG EBOOK THE TIDE ***

Section 1. General terms of use.
"""


def titles(path) -> list[str]:
    return [chapter.title for chapter in read_book(path).chapters]


def test_a_project_gutenberg_file_is_the_book_alone(save):
    book = read_book(save("b.txt", LICENCE.replace("\n", "\r\n")))
    assert (book.title, book.author, book.language) == ("The Tide at Greywater", "Jane Doe", "English")
    assert [chapter.title for chapter in book.chapters] == [
        "CHAPTER I. The Harbour",
        "CHAPTER II. The Debt",
        "CHAPTER III. The End",
    ]
    first = book.chapters[0].paragraphs
    assert first[0].startswith("Mara woke before the bells and lay still for a while, listening to the water")
    assert "the *third* day" in first[0]
    assert "well-known rule" in first[0]
    assert first[1:] == ['"Are you up?" said Tobias.', "O tide, O tide,\nbe kind to me."]
    assert book.chapters[-1].paragraphs == ["It rained."]


@pytest.mark.parametrize(
    "heading",
    ["CHAPTER I", "Chapter 3. The Storm", "CHAPTER THE FIRST", "Chapter Twenty-One: Home", "PART TWO", "Prologue", "EPILOGUE.",
     "BOOK IV — The Sea", "Kapitel 2", "Chapitre IV. La mer", "Глава 7", "第三章 夜", "第12話", "Chapter 9\nThe Storm"],
)  # fmt: skip
def test_a_heading_is_recognised(save, heading):
    assert titles(save("b.txt", f"Before.\n\n{heading}\n\nIt rained.\n"))[1:] == [heading.replace("\n", ". ")]


@pytest.mark.parametrize(
    "line",
    ["Part of him wanted to go.", "Chapter two was harder to read.", "I", "Book the room.", "Act one was dull, she said.", "V",
     "12", "1984", "Chapter and verse", "Introduction to the sea was slow.", "MARA", "The End"],
)  # fmt: skip
def test_a_line_of_the_story_is_no_heading(save, line):
    (chapter,) = read_book(save("b.txt", f"Before.\n\n{line}\n\nIt rained.\n")).chapters
    assert chapter.title == ""
    assert chapter.paragraphs == ["Before.", line, "It rained."]


def test_numbers_alone_are_headings_when_they_count(save):
    assert titles(save("b.txt", "I\n\nRain.\n\nII.\n\nSun.\n\nIII\n\nSnow.")) == ["I", "II", "III"]
    assert titles(save("b.txt", "1\n\nRain.\n\n2\n\nSun.\n\n1\n\nSnow.")) == ["1", "2", "1"]
    assert titles(save("b.txt", "I\n\nRain.\n\nV\n\nSun.")) == [""]


def test_a_part_and_its_first_chapter_are_one_heading(save):
    assert titles(save("b.txt", "PART ONE\n\nCHAPTER I\n\nRain.\n\nCHAPTER II\n\nSun.")) == [
        "PART ONE. CHAPTER I",
        "CHAPTER II",
    ]


def test_a_table_of_contents_in_separate_lines_is_left_out(save):
    contents = "Contents\n\nCHAPTER I\n\nCHAPTER II\n\n"
    book = read_book(save("b.txt", f"{contents}CHAPTER I\n\nRain.\n\nCHAPTER II\n\nSun."))
    assert [(chapter.title, chapter.paragraphs) for chapter in book.chapters] == [
        ("CHAPTER I", ["Rain."]),
        ("CHAPTER II", ["Sun."]),
    ]


LONG = "The rain came over the harbour wall and down the steps of the market, and nobody who saw it said a word. "


def test_lines_that_are_not_wrapped_stay_lines(save):
    assert read_book(save("b.txt", f"{LONG * 3}\n{LONG * 2}\n{LONG * 4}")).chapters[0].paragraphs == [
        (LONG * 3).strip(),
        (LONG * 2).strip(),
        (LONG * 4).strip(),
    ]


def test_paragraphs_that_are_only_indented_are_paragraphs(save):
    import textwrap

    wrapped = "\n".join(textwrap.fill(LONG * 3, 70, initial_indent="    ") for _ in range(4))
    assert read_book(save("b.txt", wrapped)).chapters[0].paragraphs == [(LONG * 3).strip()] * 4


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Élodie était déjà à l’hôtel, où naïveté et garçons… «oui»", "cp1252"),
        ("Señora Núñez, ¿dónde está el niño?", "latin-1"),
        ("Über die Brücke ging Jürgen, groß und schön.", "cp1252"),
        ("Была тёмная ночь, и дождь стучал в окно старого дома.", "cp1251"),
        ("Była ciemna noc, a deszcz pukał w okno starego domu. Żółta łódź płynęła.", "cp1250"),
        ("Şair ağladı, çünkü yağmur dün gece gemiyi götürmüştü.", "cp1254"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
        ("夜は静かで、雨が窓を叩いていた。彼女は手紙を読んだ。", "shift_jis"),
        ("Ήταν σκοτεινή νύχτα και η βροχή χτυπούσε το παράθυρο.", "cp1253"),
        ("Grüße – “hallo”", "utf-8-sig"),
        ("Grüße – “hallo”", "utf-16"),
        ("Plain Western words, and one é.", "utf-16-le"),
        ("Plain Western words, and one é.", "utf-16-be"),
        ("Grüße – “hallo”", "utf-32"),
    ],
)
def test_old_encodings_are_read(save, text, encoding):
    text = "\n\n".join([text] * 8)
    assert "\n\n".join(read_book(save("b.txt", text.encode(encoding))).chapters[0].paragraphs) == text


def test_a_text_cut_inside_a_character_is_read(save):
    text = ("Grüße aus dem Hafen. " * 20 + "ü").encode()
    assert "Hafen" in read_book(save("b.txt", text[:-1])).chapters[0].paragraphs[0]


def test_controls_are_dropped_and_old_line_ends_read(save):
    book = read_book(save("b.txt", b"One\x0c.\r\rTwo.\x1a"))
    assert [paragraph.replace("\n", "") for paragraph in book.chapters[0].paragraphs] == ["One.", "Two."]


def test_the_title_is_the_name_of_a_file_that_says_none(save):
    assert read_book(save("My novel.txt", "It rained.")).title == "My novel"


MARKDOWN = """\
---
title: 'It''s the Tide'
author: "A \\"B\\" C"
language: de
tags: [x]
---
<!-- a note -->

## One

It *was* **dark**, `so` [she](http://x) ![waited](y.png) &amp; went\\
on.

> A quotation.

- an item

***

<div onclick="x">kept <b>words</b></div>

<script>
dropped()
</script>

### A part of it

Two\u0020
lines.

## Two

```
code
```
"""


def test_markdown_keeps_its_words_and_its_emphasis(save):
    book = read_book(save("b.md", MARKDOWN))
    assert (book.title, book.author, book.language) == ("It's the Tide", 'A "B" C', "de")
    one, two = book.chapters
    assert one.title == "One"
    assert one.paragraphs == [
        "It *was* dark, so she waited & went\non.", "A quotation.", "an item", "* * *", "kept words", "A part of it",
        "Two lines.",
    ]  # fmt: skip
    assert (two.title, two.paragraphs) == ("Two", ["code"])


@pytest.mark.parametrize(
    ("text", "title", "chapters"),
    [
        ("# Book\n\n## One\n\na\n\n## Two\n\nb", "Book", ["One", "Two"]),
        ("# One\n\na\n\n# Two\n\nb", "b", ["One", "Two"]),
        ("# Book\n\na", "Book", [""]),
        ("Book\n====\n\nOne\n---\n\na", "Book", ["One"]),
        ("a\n\n# One\n\nb", "b", ["", "One"]),
        ("---\n\nA story: it began.\n\n---\n\nMore.", "b", [""]),
    ],
)
def test_headings_of_markdown_make_title_and_chapters(save, text, title, chapters):
    book = read_book(save("b.md", text))
    assert (book.title, [chapter.title for chapter in book.chapters]) == (title, chapters)


@pytest.mark.parametrize(
    ("text", "title", "chapters"),
    [
        ("# Part One\n\n## Chapter 1\n\na\n\n## Chapter 2\n\nb", "b", ["Part One. Chapter 1", "Chapter 2"]),
        ("# Chapter 1\n\na", "b", ["Chapter 1"]),
        ("---\ntitle: Salt\n---\n# Part One\n\n## Chapter 1\n\na", "Salt", ["Part One. Chapter 1"]),
        ("---\ntitle: Salt\n---\n# Winter\n\n## Chapter 1\n\na\n\n## Chapter 2\n\nb", "Salt", ["Winter. Chapter 1", "Chapter 2"]),
        ("# Salt\n\n## Winter\n\n### One\n\na\n\n### Two\n\nb\n\n## Spring\n\n### Three\n\nc", "Salt",
         ["Winter. One", "Two", "Spring. Three"]),
        ("# Salt\n\n## Before\n\nIt rained all day long.\n\n## Winter\n\nFor N.\n\n### One\n\nIt rained, and the cart"
         " did not come.\n\n### Two\n\nIt rained on, and nobody came.", "Salt", ["Before", "Winter", "One", "Two"]),
        ("# Book I\n\n## Part 1\n\n### One\n\na\n\n### Two\n\nb\n\n# Book II\n\n## Part 1\n\n### One\n\nc", "b",
         ["Book I. Part 1. One", "Two", "Book II. Part 1. One"]),
        ("# Ines\n\n## One\n\na\n\n# Ruth\n\n## Two\n\nb\n\n# Ines\n\n## Three\n\nc", "b",
         ["Ines. One", "Ruth. Two", "Ines. Three"]),
        ("Part One\n========\n\nChapter 1\n---------\n\na\n\nPart Two\n========\n\nChapter 2\n---------\n\nb", "b",
         ["Part One. Chapter 1", "Part Two. Chapter 2"]),
        ("# Prologue\n\na\n\n# Part One\n\n## Chapter 1\n\nb\n\n# Part Two\n\n## Chapter 2\n\nc\n\n# Epilogue\n\nd", "b",
         ["Prologue", "Part One. Chapter 1", "Part Two. Chapter 2", "Epilogue"]),
    ],
)  # fmt: skip
def test_a_book_with_parts_keeps_the_headings_of_parts_and_of_chapters(save, text, title, chapters):
    book = read_book(save("b.md", text))
    assert (book.title, [chapter.title for chapter in book.chapters]) == (title, chapters)


@pytest.mark.parametrize(
    ("title", "heading"),
    [
        ("The Salt Road", "The Salt Road: A Novel"),
        ("salt road final draft", "The Salt Road"),
        ("The Salt Road, or the Winter of Ines", "The Salt Road"),
    ],
)
def test_a_heading_that_says_the_title_in_another_way_is_of_no_chapter(save, title, heading):
    text = f"---\ntitle: {title}\n---\n# {heading}\n\n## Chapter 1\n\na\n\n## Chapter 2\n\nb"
    book = read_book(save("b.md", text))
    assert (book.title, [chapter.title for chapter in book.chapters]) == (title, ["Chapter 1", "Chapter 2"])


def test_days_that_head_one_chapter_are_lines_of_it(save):
    prose = "It rained all day long, and nobody came over the pass."
    days = f"## 12 March\n\n{prose}\n\n## 14 March\n\n{prose}"
    text = "\n\n".join(f"# Chapter {at}\n\n{days if at == 4 else prose}" for at in range(1, 6))
    chapters = read_book(save("b.md", text)).chapters
    assert [chapter.title for chapter in chapters] == [f"Chapter {at}" for at in range(1, 6)]
    assert "12 March" in chapters[3].paragraphs


def test_what_stands_before_and_behind_the_parts_has_no_chapters(save):
    prose = "It rained all day long, and nobody came over the pass."
    heads = [
        "# Prologue",
        "# Part One\n\n## Chapter 1",
        "## Chapter 2",
        "# Part Two\n\n## Chapter 3",
        "# Epilogue",
        "# Acknowledgements",
    ]
    chapters = read_book(save("b.md", "\n\n".join(f"{head}\n\n{prose}" for head in heads))).chapters
    told = [chapter.title for chapter in chapters]
    assert told == [
        "Prologue",
        "Part One. Chapter 1",
        "Chapter 2",
        "Part Two. Chapter 3",
        "Epilogue",
        "Acknowledgements",
    ]


def test_what_stands_behind_the_chapters_makes_no_parts_of_them(save):
    prose = "It rained all day long, and nobody came over the pass."
    text = (
        "\n\n".join(f"# Chapter {at}\n\n{prose}" for at in (1, 2))
        + f"\n\n# Glossary\n\n## A\n\n{prose}\n\n## B\n\n{prose}"
    )
    assert [one.title for one in read_book(save("b.md", text)).chapters] == ["Chapter 1", "Chapter 2", "Glossary"]


@pytest.mark.parametrize(
    ("text", "chapters"),
    [
        ("Part One\n========\n\nChapter 1\n---------\n\na\n\nPart Two\n========\n\nChapter 2\n---------\n\nb",
         ["Part One. Chapter 1", "Part Two. Chapter 2"]),
        ("Part One\n========\n\nChapter 1\n---------\n\nIt rained.\n\nChapter 2\n---------\n\nb",
         ["Part One. Chapter 1", "Chapter 2"]),
        ("PART I\n\nChapter 1\n\na\n\nChapter 2\n\nb\n\nPART I\n\nChapter 1\n\nc",
         ["PART I. Chapter 1", "Chapter 2", "PART I. Chapter 1"]),
    ],
)  # fmt: skip
def test_a_plain_book_with_parts_keeps_the_headings_of_parts_and_of_chapters(save, text, chapters):
    book = read_book(save("b.txt", text))
    assert (book.title, [chapter.title for chapter in book.chapters]) == ("b", chapters)
