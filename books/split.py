"""Split a manuscript into passages of the length that the memory is made for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recurrentgpt.books.book import Chapter, Manuscript, ManuscriptChapter
from recurrentgpt.books.file_text import clean_paragraphs, language_tag
from recurrentgpt.books.quoted_sentences import fine_segments
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import SettingsError

_TOO_SHORT = 4.0
"""What a passage below the least costs, against at most 1 for one that is only off the middle."""

_INSIDE = 0.15
"""What a border inside a paragraph costs."""


@dataclass(frozen=True)
class _Piece:
    """A sentence, or short ones together: the least that a border does not cut. `opens` says a paragraph begins here.

    Without the short ones together, a book of one-word paragraphs would take minutes.
    """

    text: str
    words: int
    opens: bool


def split_passages(manuscript: Manuscript, min_words: int = 200, max_words: int = 400) -> list[Chapter]:
    """Return the chapters of a manuscript as passages of `min_words` to `max_words`, every word in its place.

    Borders lie between sentences, between paragraphs where that serves as well. Only a sentence that is longer by itself
    makes a passage of more words; only a short chapter, or such a sentence beside it, one of fewer. A chapter without a
    word is left out. Raises SettingsError for limits that no passage can keep.
    """
    if not 1 <= min_words <= max_words:
        raise SettingsError(f"Passages cannot have {min_words} to {max_words} words; give a least and a larger most.")
    language = language_tag(manuscript.language).partition("-")[0]
    chapters = []
    for chapter in manuscript.chapters:
        pieces = _pieces(chapter, language, max_words)
        if passages := _passages(pieces, min_words, max_words):
            chapters.append(Chapter(chapter.title, passages))
    return chapters


def _pieces(chapter: ManuscriptChapter, language: str, max_words: int) -> list[_Piece]:
    """Return the pieces of a chapter; one without a word (a row of stars) goes with the piece after it, at the end before."""
    small = max_words // 20
    found: list[_Piece] = []
    ahead = ""
    for paragraph in (piece for text in chapter.paragraphs for piece in clean_paragraphs(text)):
        opens = True
        for sentence in fine_segments(paragraph, language):
            count = count_words(sentence)
            if not count:
                ahead += sentence
            elif found and not ahead and found[-1].words + count <= (small // 2 if opens else small):
                before = found[-1]
                joined = f"{before.text}\n\n{sentence}" if opens else before.text + sentence
                found[-1], opens = _Piece(joined, before.words + count, before.opens), False
            else:
                found.append(_Piece(ahead + sentence, count, opens))
                ahead, opens = "", False
        if ahead and not opens:
            found[-1] = _Piece(found[-1].text + ahead, found[-1].words, found[-1].opens)
            ahead = ""
        ahead += "\n\n" if ahead else ""
    if ahead and found:
        found[-1] = _Piece(f"{found[-1].text}\n\n{ahead}", found[-1].words, found[-1].opens)
    return found


def _passages(pieces: list[_Piece], min_words: int, max_words: int) -> list[str]:
    """Return the passages whose lengths and borders cost least, found from the last piece back."""
    middle = (min_words + max_words) / 2
    count = len(pieces)
    cost = [0.0] * (count + 1)
    end_of = [count] * (count + 1)
    for start in range(count - 1, -1, -1):
        cost[start] = float("inf")
        words = 0
        for end in range(start + 1, count + 1):
            words += pieces[end - 1].words
            if words > max_words and end > start + 1:
                break
            own = ((words - middle) / middle) ** 2 + (_TOO_SHORT if words < min_words else 0.0)
            border = 0.0 if end == count or pieces[end].opens else _INSIDE
            if own + border + cost[end] < cost[start]:
                cost[start], end_of[start] = own + border + cost[end], end
    passages, start = [], 0
    while start < count:
        passages.append(_joined(pieces[start : end_of[start]]))
        start = end_of[start]
    return passages


def _joined(pieces: list[_Piece]) -> str:
    text = "".join(("\n\n" if piece.opens else "") + piece.text for piece in pieces)
    # In one pass over each run of white space: a pattern that looks for two line ends in it takes minutes over a long one.
    return re.sub(r"\s{2,}", lambda run: "\n\n" if run[0].count("\n") > 1 else run[0], text).strip()
