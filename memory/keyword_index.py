"""Which pieces of a story hold which words: a rare name finds a passage where meaning alone finds fifty like it."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

COMMON = 4
"""A word that one in so many pieces of a branch holds tells nothing about any of them."""
RARER = 4
"""How steeply a word is worth more that fewer rows hold: once for the query, once for the row, and both squared."""


class WordIndex:
    """The rows in which each word occurs; rows are numbered as they are added."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._count = 0

    def add(self, words: Iterable[str]) -> None:
        """Add one row of different words."""
        for word in words:
            self._rows[word].append(self._count)
        self._count += 1

    def shares(self, query: Iterable[str], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return for every row which share of the rare words of `query` it holds, each by its rarity: 0 to 1.

        The whole is what a word is worth that a single row holds, or what all of `query` are worth if that is more: the name of
        somebody who is everywhere is worth little, even where the query has no other word.

        Only rows of `mask`, a flag per row, have any, and rarity is counted among them: another branch changes nothing.
        Words that no row of the mask holds, and common ones, do not count.
        """
        found, whole = np.zeros(len(mask), dtype=np.float32), 0.0
        total = int(np.count_nonzero(mask))
        elsewhere = len(mask) - total
        for word in query:
            known = self._rows.get(word)
            # What is common even if every row outside the mask held it need not be looked at.
            if known is None or COMMON * (len(known) - elsewhere) > total:
                continue
            rows = np.frombuffer(known, dtype=np.int32)
            rows = rows[mask[rows]] if elsewhere else rows
            if len(rows) and COMMON * len(rows) <= total:
                rarity = math.log(1 + total / len(rows)) ** RARER
                found[rows] += rarity
                whole += rarity
        return found / max(whole, math.log(1 + total) ** RARER) if whole else found
