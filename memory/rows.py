"""What of a commit is searched: a row for each sentence of its passage, for its summary, and for each fact it told.

A vector of one sentence says what that sentence says; that of a hundred words says what they have in common, and a fact among
them is lost. Stories of the first edition have rows of pieces; they are found by them until their passages are embedded again.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recurrentgpt.memory.pieces import Matrix
from recurrentgpt.prose.sentences import count_words, sentences

ROW_WORDS = 8
"""Fewest words of a row: a shorter sentence (`"Yes," he said.`) is taken together with the next one."""
CONTEXT_WORDS = 60
"""Most words of a row and its neighbours as they are shown."""
LEVELS = 7
"""Steps of a stored number to either side of zero: 4 bits, of which a byte holds two."""

Kind = Literal["sentence", "summary", "fact", "piece"]
KINDS: Mapping[str, Kind] = {"s": "sentence", "m": "summary", "f": "fact", "p": "piece"}
"""How the kind of a row is written in the store: by a letter."""
Codes = NDArray[np.int8]


@dataclass(frozen=True)
class Row:
    """One text that a commit is found by."""

    kind: Kind
    text: str


def passage_rows(passage: str) -> list[str]:
    """Return the passage as rows: each a sentence, or several that are short."""
    found: list[str] = []
    held: list[str] = []
    for part in sentences(passage):
        held.append(part)
        if sum(map(count_words, held)) >= ROW_WORDS:
            found.append(" ".join(held))
            held = []
    if held:
        found[-1:] = [" ".join([*found[-1:], *held])]
    return found


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


def codes(vectors: Matrix) -> Codes:
    """Return vectors as small whole numbers, each stretched to the range: how long it was is not kept, only where it points."""
    peaks = np.maximum(np.abs(vectors).max(axis=1, initial=0.0, keepdims=True), 1e-12)
    numbers: Codes = np.rint(vectors / peaks * LEVELS).astype(np.int8)
    return numbers


def pack(numbers: Codes) -> str:
    """Return codes as base64, two numbers a byte: 256 characters for a row of 384 numbers."""
    halves = (np.pad(numbers, ((0, 0), (0, numbers.shape[1] % 2))) + LEVELS + 1).astype(np.uint8)
    return base64.b64encode((halves[:, ::2] << 4 | halves[:, 1::2]).tobytes()).decode("ascii")


def unpack(packed: str, dimension: int) -> Codes:
    """Return packed codes as an array of shape (n, dimension)."""
    width = -(-dimension // 2)
    pairs = np.frombuffer(base64.b64decode(packed), dtype=np.uint8).reshape(-1, width)
    numbers = np.stack([pairs >> 4, pairs & 15], axis=2).reshape(-1, 2 * width)[:, :dimension]
    return numbers.astype(np.int8) - np.int8(LEVELS + 1)


def unpack_bytes(packed: str, dimension: int) -> Codes:
    """Return the codes of a row of the first edition, a byte each."""
    return np.frombuffer(base64.b64decode(packed), dtype=np.int8).reshape(-1, dimension)
