"""The texts that a commit is found by: a row for each sentence of its passage, for its summary, and for each fact it told.

A vector of one sentence says what that sentence says; that of a hundred words says what they have in common, and a fact among
them is lost. Stories of the first edition have rows of pieces; they are found by them until their passages are embedded again.
No vectors are needed here: what was recalled is told again from the log alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recurrentgpt.prose.sentences import count_words, sentences
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import RowKind

ROW_WORDS = 8
"""Fewest words of a row: a shorter sentence (`"Yes," he said.`) is taken together with the next one."""
CONTEXT_WORDS = 60
"""Most words of a row and its neighbours as they are shown."""
PIECE_WORDS = 170
"""Most words of a piece: all-MiniLM-L6-v2 reads 256 tokens, about 190 English words, and silently ignores the rest."""

KINDS: Mapping[str, RowKind] = {"s": "sentence", "m": "summary", "f": "fact", "p": "piece"}
"""How the kind of a row is written in the store: by a letter."""


@dataclass(frozen=True)
class Row:
    """One text that a commit is found by."""

    kind: RowKind
    text: str


@lru_cache(maxsize=256)
def passage_rows(passage: str) -> tuple[str, ...]:
    """Return the passage as rows: each a sentence, or several that are short. A passage found again and again is cut once."""
    found: list[str] = []
    held: list[str] = []
    for part in sentences(passage):
        held.append(part)
        if sum(map(count_words, held)) >= ROW_WORDS:
            found.append(" ".join(held))
            held = []
    if held:
        found[-1:] = [" ".join([*found[-1:], *held])]
    return tuple(found)


def context_of(passage: str, number: int) -> str:
    """Return a row with its neighbours, `CONTEXT_WORDS` at the most unless it is longer itself: who `she` is stands before it."""
    texts = passage_rows(passage)
    first, last = number, number + 1
    for near in (number - 1, number + 1, number - 2, number + 2):
        if near in range(len(texts)) and near in (first - 1, last):
            wider = texts[min(first, near) : max(last, near + 1)]
            if sum(map(count_words, wider)) <= CONTEXT_WORDS:
                first, last = min(first, near), max(last, near + 1)
    return " ".join(texts[first:last])


def rows_of(passage: str, summary: str, facts: Sequence[str]) -> list[Row]:
    """Return all rows of a commit: those of its passage in their order, its summary if it has one, its facts."""
    return [
        *(Row("sentence", text) for text in passage_rows(passage)),
        *([Row("summary", summary)] if summary else []),
        *(Row("fact", text) for text in facts),
    ]


def pieces(passage: str, most_words: int = PIECE_WORDS) -> list[str]:
    """Return the passage as pieces of whole sentences, alike in length, each about `most_words` at the most."""
    parts = sentences(passage)
    total = sum(map(count_words, parts))
    share = total / max(1, math.ceil(total / most_words))
    found: list[list[str]] = [[]]
    held = 0
    for part in parts:
        size = count_words(part)
        if (found[-1] and held + size > most_words) or (found[-1] and held >= share):
            found.append([])
            held = 0
        found[-1].append(part)
        held += size
    return [text for group in found if (text := " ".join(part.strip() for part in group))]


def is_quoted(kind: RowKind, number: int, commit: Commit) -> bool:
    """Return whether a row stands in a commit's passage word for word, and not in its summary or facts."""
    return kind == "sentence" or (kind == "piece" and number < len(pieces(commit["passage"])))


def row_text(commit: Commit, kind: RowKind, number: int, facts: Sequence[str]) -> str:
    """Return what a row of a commit says, a sentence with those around it; `commit` has its corrected summary."""
    if kind == "sentence":
        return context_of(commit["passage"], number)
    if kind == "piece":
        texts = [*pieces(commit["passage"]), commit["summary"]]
    else:
        texts = [row.text for row in rows_of(commit["passage"], commit["summary"], facts)]
    # An index serves every store that holds the story: of the same words, another one may have noted other facts.
    return texts[number] if number < len(texts) else commit["summary"]
