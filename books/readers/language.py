"""Tell the language of a text by its words."""

from __future__ import annotations

import itertools

from recurrentgpt.books.book import Manuscript
from recurrentgpt.prose.languages import SUREST_DOUBT, identifier
from recurrentgpt.prose.sentences import count_words, language_name

_ENOUGH = 20_000
"""Characters that show a language; more make no difference but in time."""

_FEWEST_WORDS = 20


def find_language(manuscript: Manuscript) -> str:
    """Return the ISO 639-1 code of the language of a manuscript, or nothing where its words are too few or leave a doubt."""
    length, pieces = 0, list[str]()
    for piece in itertools.chain.from_iterable(chapter.paragraphs for chapter in manuscript.chapters):
        pieces.append(piece[:_ENOUGH])
        if (length := length + len(piece)) >= _ENOUGH:
            break
    sample = "\n".join(pieces)[:_ENOUGH]
    if count_words(sample) < _FEWEST_WORDS:
        return ""
    code, probability = identifier().classify(sample)
    # A language whose name is not known here is none that a story can be told in.
    return str(code) if probability >= SUREST_DOUBT and language_name(code) != code else ""
