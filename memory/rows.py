"""What of a commit is searched: a row for each sentence of its passage, for its summary, and for each fact it told.

A vector of one sentence says what that sentence says; that of a hundred words says what they have in common, and a fact among
them is lost. Stories of the first edition have rows of pieces; they are found by them until their passages are embedded again.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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

PEAK = 127
"""Greatest of the whole numbers that a vector is searched by, and about its length."""

Kind = Literal["sentence", "summary", "fact", "piece"]
KINDS: Mapping[str, Kind] = {"s": "sentence", "m": "summary", "f": "fact", "p": "piece"}
"""How the kind of a row is written in the store: by a letter."""
Codes = NDArray[np.int8]


@dataclass(frozen=True)
class Row:
    """One text that a commit is found by."""

    kind: Kind
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


def codes(vectors: Matrix) -> Codes:
    """Return vectors as small whole numbers, each stretched to the range: how long it was is not kept, only where it points."""
    peaks = np.maximum(np.abs(vectors).max(axis=1, initial=0.0, keepdims=True), 1e-12)
    numbers: Codes = np.rint(vectors / peaks * LEVELS).astype(np.int8)
    return numbers


def directions(numbers: Codes) -> Codes:
    """Return codes of any range as whole numbers of one byte, all vectors about `PEAK` long, so that FAISS may compare them."""
    wide = numbers.astype(np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    pointing: Codes = np.rint(wide * (PEAK / np.where(lengths, lengths, np.inf))).astype(np.int8)
    return pointing


def deflate(data: bytes) -> str:
    """Return data compressed, as base64."""
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def inflate(text: str) -> bytes:
    """Return data that was compressed; raise ValueError where it is damaged."""
    try:
        return zlib.decompress(base64.b64decode(text))
    except zlib.error as error:
        raise ValueError("What was compressed is damaged.") from error


def pack(numbers: Codes) -> bytes:
    """Return codes two numbers a byte: 192 bytes for a row of 384 numbers."""
    halves = (np.pad(numbers, ((0, 0), (0, numbers.shape[1] % 2))) + LEVELS + 1).astype(np.uint8)
    return (halves[:, ::2] << 4 | halves[:, 1::2]).tobytes()


def unpack(packed: bytes, dimension: int) -> Codes:
    """Return packed codes as an array of shape (n, dimension)."""
    width = -(-dimension // 2)
    pairs = np.frombuffer(packed, dtype=np.uint8).reshape(-1, width)
    numbers = np.stack([pairs >> 4, pairs & 15], axis=2).reshape(-1, 2 * width)[:, :dimension]
    return numbers.astype(np.int8) - np.int8(LEVELS + 1)
