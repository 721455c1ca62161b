"""Make a novel of any length to measure with: chapters, paragraphs, speech, names; the same one every time."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from recurrentgpt.books.book import Book, Chapter

_PEOPLE = ("Mara", "Tobias", "Ilse", "Captain Reyes", "Old Wenna", "Dorian", "Sefa", "Mr. Hallam")
_PLACES = ("Greywater", "the Salt Market", "Tarn Hill", "the lighthouse", "Corrin", "the mill")
_THINGS = ("letter", "lantern", "key", "map", "coat", "ledger", "ring", "boat", "clock", "door", "song", "debt")
_DEEDS = ("carried", "hid", "found", "lost", "sold", "mended", "watched", "followed", "burned", "remembered", "counted")
_KINDS = ("old", "broken", "quiet", "stolen", "heavy", "forgotten", "borrowed", "silver", "wet", "half-finished")
_TAILS = (
    "before the tide turned",
    "while the rain went on over {place}",
    "as if {other} had never spoken of it",
    "because nobody in {place} would have believed it",
    "and said nothing until the bells of {place} had stopped",
    "with the patience of someone who has been cheated once",
)


def make_novel(words: int, per_chapter: int = 3500) -> Book:
    """Return a book of at least `words` words in chapters of about `per_chapter`."""
    dice = random.Random(20231)
    chapters: list[Chapter] = []
    total = 0
    while total < words:
        passages: list[str] = []
        length = 0
        while length < per_chapter and total < words:
            passage = "\n\n".join(_paragraph(dice) for _ in range(dice.randint(4, 7)))
            passages.append(passage)
            length += len(passage.split())
            total += len(passage.split())
        chapters.append(Chapter(f"Chapter {len(chapters) + 1}. {_title(dice)}", passages))
    return Book(
        title="The Tide at Greywater",
        author="A. Machine",
        language="English",
        genre="mystery",
        description="A made-up book to measure with.",
        identifier="",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        chapters=chapters,
    )


def _title(dice: random.Random) -> str:
    return f"The {dice.choice(_KINDS).capitalize()} {dice.choice(_THINGS).capitalize()}"


def _paragraph(dice: random.Random) -> str:
    return " ".join(_sentence(dice) for _ in range(dice.randint(3, 6)))


def _sentence(dice: random.Random) -> str:
    who, other = dice.sample(_PEOPLE, 2)
    tail = dice.choice(_TAILS).format(place=dice.choice(_PLACES), other=other)
    told = f"{dice.choice(_DEEDS)} the {dice.choice(_KINDS)} {dice.choice(_THINGS)}"
    if dice.random() < 0.25:
        return f'"You {told}," said {who} to {other}, "{tail}."'
    return f"{who} {told} {tail}."
