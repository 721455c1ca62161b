"""Chapter titles that stand alone on a line, without the word for chapter; and lines of a story that only look so."""

import pytest

from recurrentgpt.books.readers import read_book

PROSE = (
    "The rain came over the harbour wall and down the steps of the market, and nobody who saw it said a word.\n\n"
    "“Are you coming?” said Mara. He shook his head, and she went alone, with the lamp in her left hand and the ledger "
    "under her arm, past the customs house and the three closed doors of the chandlers.\n\n"
    "In the morning the boats were gone."
)
GERMAN = (
    "Als der Müller am Abend nach Hause kam, stand die Tür offen, und im Zimmer war niemand.\n\n"
    "„Wo bist du?“, rief er. Er suchte im Garten und am Bach, bei den Ställen und zuletzt oben auf dem Speicher, doch nur "
    "der Wind gab ihm Antwort, und so setzte er sich auf die Schwelle und wartete, bis der Mond über dem Rad stand."
)


def titles(path) -> list[str]:
    return [chapter.title for chapter in read_book(path).chapters]


def book(*names: str, prose: str = PROSE) -> str:
    return "\n\n".join(f"{name}\n\n{prose}" for name in names)


@pytest.mark.parametrize("suffix", ["txt", "md"])
@pytest.mark.parametrize(
    "names",
    [
        ["The Ferry", "The Toll", "The Bell Below the Water"],
        ["THE FERRY", "THE TOLL", "THE BELL"],
        ["The Ferry", "The Toll"],
        ["Mara", "Tobias", "The Keeper's Daughter"],
        ["1 The Ferry", "2 The Toll", "3 The Bell"],
        ["I. The Ferry", "II. The Toll", "III. The Bell"],
        ["Prologue", "The Ferry", "The Toll", "Epilogue"],
        ["Prologue", "I", "II", "Epilogue"],
    ],
    ids=" ".join,
)
def test_a_title_alone_on_its_line_begins_a_chapter(save, names, suffix):
    assert titles(save(f"b.{suffix}", book(*names))) == names


@pytest.mark.parametrize("suffix", ["txt", "md"])
@pytest.mark.parametrize("number", ["Chapter {}", "KAPITEL {}.", "Part {}"])
def test_a_title_below_its_number_belongs_to_it(save, number, suffix):
    names = ["The Ferry", "The Toll", "The Bell"]
    text = "\n\n".join(f"{number.format(at)}\n\n{name}\n\n{PROSE}" for at, name in enumerate(names, 1))
    found = titles(save(f"b.{suffix}", text))
    assert [title.endswith(name) and "." in title for title, name in zip(found, names, strict=True)] == [True] * 3


def test_a_short_first_line_below_a_number_is_no_title(save):
    text = "\n\n".join(f"Chapter {at}\n\n{first}\n\n{PROSE}" for at, first in enumerate(["Mara", "He ran.", "No!"], 1))
    assert titles(save("b.txt", text)) == ["Chapter 1", "Chapter 2", "Chapter 3"]


@pytest.mark.parametrize(
    "headings",
    [
        ["CHAPTER I\nThe Ferry", "CHAPTER II\n\nThe Toll"],
        ["CHAPTER I\n\nThe Ferry", "CHAPTER II\nThe Toll"],
        ["CHAPTER I. The Ferry", "CHAPTER II\n\nThe Toll"],
        ["Chapter 1\n\nThe Ferry", "Chapter 2\nThe Toll", "Chapter 3: The Bell"],
    ],
)
def test_a_title_below_its_number_belongs_to_it_where_others_stand_beside_theirs(save, headings):
    text = "\n\n".join(f"{heading}\n\n{PROSE}" for heading in headings)
    found = read_book(save("b.txt", text)).chapters
    assert [chapter.title for chapter in found] == [
        ". ".join(filter(None, heading.split("\n"))) for heading in headings
    ]
    assert {chapter.paragraphs[0] for chapter in found} == {PROSE.split("\n\n")[0]}


def test_a_short_first_line_is_no_title_where_most_chapters_have_none(save):
    headings = ["Chapter 1\nThe Ferry", "Chapter 2\n\nMara", "Chapter 3", "Chapter 4"]
    text = "\n\n".join(f"{heading}\n\n{PROSE}" for heading in headings)
    assert titles(save("b.txt", text)) == ["Chapter 1. The Ferry", "Chapter 2", "Chapter 3", "Chapter 4"]


@pytest.mark.parametrize("first", ["Dear Tom", "My dearest Ada", "Paris, 3 May 1917"])
def test_the_head_of_a_letter_is_no_title_where_no_other_chapter_has_its_own_below_its_number(save, first):
    headings = ["Chapter 1: The Storm", "Chapter 2: The Sea", f"Chapter 3\n\n{first}"]
    text = "\n\n".join(f"{heading}\n\n{PROSE}" for heading in headings)
    assert titles(save("b.txt", text)) == ["Chapter 1: The Storm", "Chapter 2: The Sea", "Chapter 3"]


@pytest.mark.parametrize(
    ("headings", "names"),
    [
        (["CHAPTER I", "CHAPTER II", "III."], ["CHAPTER I", "CHAPTER II", "III"]),
        (["CHAPTER I", "II.", "III.", "CHAPTER IV"], ["CHAPTER I", "II", "III", "CHAPTER IV"]),
        (["Chapter 1", "2", "Chapter 1", "2"], ["Chapter 1", "2", "Chapter 1", "2"]),
        (["CHAPTER I\n\nThe Ferry", "II.\n\nThe Toll"], ["CHAPTER I. The Ferry", "II. The Toll"]),
        # Sections, page numbers, a number of the story.
        (["CHAPTER I", "I", "II", "CHAPTER II", "I", "II"], ["CHAPTER I", "CHAPTER II"]),
        (["CHAPTER I", "II", "III", "CHAPTER II", "II", "III"], ["CHAPTER I", "CHAPTER II"]),
        (["CHAPTER I", "2", "3", "CHAPTER II", "4"], ["CHAPTER I", "CHAPTER II"]),
        (["CHAPTER I", "CHAPTER II", "IV."], ["CHAPTER I", "CHAPTER II"]),
        (["Chapter One", "2", "3"], ["Chapter One"]),
    ],
    ids=lambda value: " ".join(value).replace("\n", " "),
)
def test_a_number_alone_is_a_chapter_where_it_goes_on_from_those_before(save, headings, names):
    text = "\n\n".join(f"{heading}\n\n{PROSE}" for heading in headings)
    assert titles(save("b.txt", text)) == names


def test_titles_that_are_written_as_a_sentence_begin_chapters_too(save):
    names = ["Die letzte Mühle", "Das Haus am Fluss", "Ein kalter Morgen"]
    assert titles(save("b.txt", book(*names, prose=GERMAN))) == names


def test_short_chapters_are_chapters_too(save):
    names = ["Die letzte Mühle", "Das Haus am Fluss", "Ein kalter Abend"]
    assert titles(save("b.txt", book(*names, prose=GERMAN.split("\n\n")[1]))) == names


@pytest.mark.parametrize(
    "names",
    [
        ["The Ferry", "THE TOLL", "The last bell"],
        ["Prologue", "1. The Ferry", "II. THE TOLL", "Epilogue"],
        ["Chapter 1", "The Toll", "3. The Bell", "Epilogue"],
    ],
    ids=" ".join,
)
def test_titles_of_several_kinds_divide_a_text_of_few_words(save, names):
    assert titles(save("b.txt", book(*names, prose="Mara went to the harbour. The boats were gone."))) == names


@pytest.mark.parametrize(
    "text",
    [
        "Mara\n\nI saw it.\n\nTOBIAS\n\nNobody did.\n\nMara\n\nI did.",
        "Dear Tobias,\n\nThe boats are gone.\n\nYours,\n\nMara",
        "The boats are gone.\n\nNO ENTRY\n\nNobody came.\n\nThe Toll\n\nIt rained.",
        "Bread\n\nSalt\n\nLamp Oil\n\nShe bought it all.",
    ],
)
def test_lines_of_a_text_of_few_words_that_look_like_titles_are_none(save, text):
    assert titles(save("b.txt", text)) == [""]


def test_what_stands_on_the_title_page_is_no_chapter(save):
    for front in ("The Long Night\n\nby Jane Doe", "The Long Night"):
        found = read_book(save("b.txt", f"{front}\n\n{book('The Ferry', 'The Toll', 'The Bell')}"))
        assert [chapter.title for chapter in found.chapters][-3:] == ["The Ferry", "The Toll", "The Bell"]
        assert found.title == "The Long Night"
        assert len(found.chapters) == 3


def test_wrapped_lines_hide_no_title(save):
    import textwrap

    wrapped = "\n\n".join(textwrap.fill(piece, 70) for piece in book("The Ferry", "The Toll", "The Bell").split("\n\n"))
    assert titles(save("b.txt", wrapped)) == ["The Ferry", "The Toll", "The Bell"]


def test_a_list_of_the_titles_at_the_top_is_left_out(save):
    names = ["The Ferry", "The Toll", "The Bell"]
    found = read_book(save("b.txt", "Contents\n\n" + "\n\n".join(names) + f"\n\n{book(*names)}"))
    assert [chapter.title for chapter in found.chapters] == names
    assert found.chapters[0].paragraphs[0].startswith("The rain")


@pytest.mark.parametrize(
    "lines",
    [
        ["* * *"] * 4,
        ["***", "#", "~", "***"],
        ["“No entry”", "“Keep out”", "“Stay away”"],
        ["— No", "— Never", "— Perhaps"],
        ["Yours ever,\n\nTobias", "Your loving son,\n\nTom", "In haste,\n\nMara"],
        ["The sign said:\n\nNO ENTRY", "Below it:\n\nKEEP OUT", "And last:\n\nBEWARE OF THE DOG"],
        ["MARA\n\nI saw it.", "TOBIAS\n\nNobody did.", "MARA\n\nI did.", "TOBIAS\n\nSo you say."],
        ["Mara"] * 4,
        ["O Tide of the Harbour\n\nBe Kind to Me\n\nO Wind of the Harbour\n\nLet Me Be"],
        ["Bread\n\nSalt\n\nLamp Oil\n\nTwo Candles"],
        ["NO ENTRY"],
        ["The End"],
        ["Rain!", "Rain?", "Rain."],
        ["12 May 1890", "13 May 1890"],
    ],
    ids=lambda lines: lines[0].split("\n")[0],
)
def test_a_line_of_the_story_that_looks_like_a_title_is_none(save, lines):
    text = f"{PROSE}\n\n" + "\n\n".join(f"{line}\n\n{PROSE}" for line in lines)
    found = read_book(save("b.txt", text))
    assert [chapter.title for chapter in found.chapters] == [""]
    assert "\n\n".join(found.chapters[0].paragraphs) == text
