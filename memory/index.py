"""One story's rows: their vectors as bytes, and their words, searched only among the ancestors of a head.

Exact by design: every row of the branch is scored. Ten thousand passages are 150,000 rows of 384 bytes, 58 MB. They are
read a block at a time into numbers that stay in the processor's cache, and multiplied with all parts of the query at once.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recurrentgpt.memory.keyword_index import WordIndex
from recurrentgpt.memory.pieces import Matrix
from recurrentgpt.memory.rows import Codes, Kind

WORDS = 0.4
"""What the rare words that a row shares with a part of the query are worth in its score, beside its meaning."""
ALIKE = 0.75
"""How much of what a row has in common with all rows of the branch is taken off its score."""
BLOCK = 1024
"""Rows that are read at once."""
PRODUCT = 64
"""Rows of one matrix product with all parts of a query: larger ones are first copied into another order by BLAS."""
WORKERS = min(4, os.cpu_count() or 1)
_POOL = ThreadPoolExecutor(WORKERS, thread_name_prefix="recall")

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """One part of a query: its vector, shape (dimension,), and its words."""

    vector: Matrix
    words: Sequence[str]


@dataclass(frozen=True)
class Hit:
    """One passage found: its best row, and by how much that is nearer to a part of the query than most rows are."""

    id: str
    step: int
    score: float
    row: int
    """Number of the row among those of its commit."""
    kind: Kind


@dataclass(frozen=True)
class Scope:
    """What of a story is searched: the ancestors of a head, itself included."""

    head: str
    without: str = ""
    """A commit that is left out."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Entries that stand in place of an ancestor's own; they are found under the ancestor's id."""
    stale: Mapping[str, Collection[int]] = field(default_factory=dict)
    """Numbers of rows of a commit that hold no more on this branch."""


class StoryIndex:
    """The rows of every commit of one story, by one embedding model."""

    _known: str
    """The head that was searched last; which rows are its branch's, their sum and their number are kept with it."""
    _mask: Flags
    _sum: NDArray[np.float64]
    _counted: int

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.outdated: dict[str, None] = {}
        """Commits whose rows are of an older form, the newest last."""
        self._codes: Codes = np.zeros((0, dimension), dtype=np.int8)
        self._scales: Matrix = np.zeros(0, dtype=np.float32)
        self._rows = 0
        self._words = WordIndex()
        self._ids: list[str] = []
        # Arrays, which numpy reads where they are: as lists, ten thousand numbers cost a query more than their search.
        self._steps = array("q")
        self._kinds: list[Sequence[Kind]] = []
        self._number: dict[str, int] = {}
        self._parents: list[str] = []
        self._first_row = array("q")
        self._filled = array("q")
        self._rooted: set[str] = set()
        self._forget_mask()

    def __contains__(self, commit: str) -> bool:
        return commit in self._number

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._rows

    @property
    def nbytes(self) -> int:
        """The bytes of all vectors."""
        return self._codes.nbytes + self._scales.nbytes

    def parent(self, commit: str) -> str:
        """Return the id of the commit before `commit`."""
        return self._parents[self._number[commit]]

    def gap(self, head: str) -> str:
        """Return the nearest of `head` and the commits before it that is not here, or an empty string.

        A commit may be here before those that it follows: another process wrote them, or another embedding model read them.
        """
        whole: list[str] = []
        commit = head
        while commit and commit not in self._rooted:
            if commit not in self._number:
                return commit
            whole.append(commit)
            commit = self.parent(commit)
        self._rooted.update(whole)
        return ""

    def add(
        self, commit: str, parent: str, step: int, codes: Codes, kinds: Sequence[Kind], words: Iterable[Sequence[str]]
    ) -> None:
        """Add the rows of one commit: their codes, shape (rows, dimension), kinds and words.

        Adding it again changes nothing, unless its rows were of an older form: then the new ones take their place.
        """
        if commit in self._number and commit not in self.outdated:
            return
        if commit in self._number:
            del self.outdated[commit]
            self._forget_mask()
        self._number[commit] = len(self._ids)
        self._ids.append(commit)
        self._parents.append(parent)
        self._steps.append(step)
        self._kinds.append(kinds)
        self._first_row.append(self._rows)
        for held in words:
            self._words.add(held)
        if len(codes):
            self._filled.append(len(self._ids) - 1)
        end = self._rows + len(codes)
        if end > len(self._codes):
            more = max(end, BLOCK, self._rows * 5 // 4) - len(self._codes)
            self._codes = np.concatenate([self._codes, np.zeros((more, self.dimension), dtype=np.int8)])
            self._scales = np.concatenate([self._scales, np.zeros(more, dtype=np.float32)])
        self._codes[self._rows : end] = codes
        self._scales[self._rows : end] = 1 / np.maximum(np.linalg.norm(codes.astype(np.float32), axis=1), 1e-12)
        self._rows = end
        if "piece" in kinds:
            self.outdated[commit] = None

    def search(self, parts: Sequence[Part], scope: Scope, count: int) -> list[Hit]:
        """Return `count` passages of the scope, those that score highest for each part of the query in turn.

        So a part that many passages answer leaves room for the others. Passages of equal score come in the order of the story.
        """
        branch, mask, stands_for = self._within(scope)
        alike = ALIKE * self._mean(stands_for)
        # Entries without a row in the mask lie between others, and lose by minus infinity.
        filled = np.asarray(self._filled, dtype=np.intp)
        if not len(filled) or not count or not parts:
            return []
        starts = np.asarray(self._first_row, dtype=np.intp)[filled]
        filled, starts = (these[np.logical_or.reduceat(mask, starts)] for these in (filled, starts))
        if not len(filled):
            return []
        # The people of a novel are in every other of its sentences, and its manner is in all: that tells none from another.
        scores = self._cosines(np.stack([part.vector - alike for part in parts]), mask)
        for row, part in zip(scores, parts, strict=True):
            row += self._words.shares(part.words, branch) * np.float32(WORDS)
        scores[:, np.flatnonzero(~mask)] = -np.inf
        # Six digits: the seventh depends on how a cosine was summed, and must not decide between equals.
        best = np.round(np.maximum.reduceat(scores, starts, axis=1) / np.float32(1 + WORDS), 6)
        steps = np.asarray(self._steps)[filled]
        wanted = min(count, len(filled))
        rankings = []
        for row in best:
            top = np.flatnonzero(row >= np.partition(row, -wanted)[-wanted])
            rankings.append(top[np.lexsort((steps[top], -row[top]))][:wanted].tolist())
        return [
            self._hit(filled[place], scores[part], float(best[part, place]), stands_for)
            for part, place in in_turn(rankings, count)
        ]

    def _hit(self, entry: int, scores: Matrix, score: float, stands_for: Mapping[str, str]) -> Hit:
        """Return an entry as a hit by its best row."""
        first, found = self._first_row[entry], self._ids[entry]
        row = int(np.argmax(scores[first : first + len(self._kinds[entry])]))
        return Hit(stands_for.get(found, found), self._steps[entry], score, row, self._kinds[entry][row])

    def _cosines(self, asked: Matrix, mask: Flags) -> Matrix:
        """Return the cosine of every row with every vector of `asked`; what is wholly outside the mask is not looked at."""
        turned = np.ascontiguousarray(asked.T, dtype=np.float32)
        found = np.zeros((self._rows, len(asked)), dtype=np.float32)
        blocks = [first for first in range(0, self._rows, BLOCK) if mask[first : first + BLOCK].any()]

        def multiply(own: Sequence[int]) -> None:
            numbers = np.zeros((BLOCK, self.dimension), dtype=np.float32)
            for first in own:
                end = min(first + BLOCK, self._rows)
                numbers[: end - first] = self._codes[first:end]
                cosines = np.matmul(numbers.reshape(-1, PRODUCT, self.dimension), turned).reshape(BLOCK, -1)
                np.multiply(cosines[: end - first], self._scales[first:end, None], out=found[first:end])

        if len(blocks) < 2 * WORKERS:
            multiply(blocks)
        else:
            list(_POOL.map(multiply, [blocks[worker::WORKERS] for worker in range(WORKERS)]))
        return np.ascontiguousarray(found.T)

    def _within(self, scope: Scope) -> tuple[Flags, Flags, dict[str, str]]:
        """Return which rows are the branch's, which of them are searched, and which entries stand for which commits."""
        branch, stands_for = self._ancestors(scope.head), dict[str, str]()
        for commit, other in scope.instead.items():
            if self._of(commit, branch).any():
                branch = branch if stands_for else branch.copy()
                self._of(commit, branch)[:] = False
                self._of(other, branch)[:] = True
                stands_for[other] = commit
        mask = branch.copy()
        for commit, rows in scope.stale.items():
            own = self._of(scope.instead.get(commit, commit), mask)
            own[[row for row in rows if row < len(own)]] = False
        if scope.without in self:
            self._of(scope.instead.get(scope.without, scope.without), mask)[:] = False
        return branch, mask, stands_for

    def _ancestors(self, head: str) -> Flags:
        """Return which rows belong to `head` or a commit before it; extended in place while a story grows linearly."""
        new, commit = list[str](), head
        while commit and commit != self._known:
            new.append(commit)
            commit = self.parent(commit)
        if commit != self._known:
            self._forget_mask()
        if len(self._mask) < self._rows:
            self._mask = np.concatenate([self._mask, np.zeros(self._rows - len(self._mask), dtype=bool)])
        # From the oldest on, so that sums are the same to the last digit however a branch came to be known.
        for commit in reversed(new):
            own = self._of(commit, self._mask)
            own[:] = True
            self._sum += self._sum_of(commit)
            self._counted += len(own)
        self._known = head
        return self._mask

    def _mean(self, stands_for: Mapping[str, str]) -> Matrix:
        """Return the mean vector of the branch that was searched last, with what stands in place of its own entries."""
        total, counted = self._sum.copy(), self._counted
        for other, commit in stands_for.items():
            total += self._sum_of(other) - self._sum_of(commit)
            counted += len(self._kinds[self._number[other]]) - len(self._kinds[self._number[commit]])
        return (total / max(1, counted)).astype(np.float32)

    def _sum_of(self, commit: str) -> NDArray[np.float64]:
        number = self._number[commit]
        rows = slice(self._first_row[number], self._first_row[number] + len(self._kinds[number]))
        summed: NDArray[np.float64] = self._scales[rows].astype(np.float64) @ self._codes[rows]
        return summed

    def _forget_mask(self) -> None:
        """Forget which branch was searched last, its rows, their sum and their number."""
        self._known, self._mask = "", np.zeros(0, dtype=bool)
        self._sum, self._counted = np.zeros(self.dimension), 0

    def _of(self, commit: str, mask: Flags) -> Flags:
        """Return the part of a mask over all rows that belongs to one entry, as a view."""
        number = self._number[commit]
        first = self._first_row[number]
        return mask[first : first + len(self._kinds[number])]


def in_turn(rankings: Sequence[Sequence[int]], count: int) -> list[tuple[int, int]]:
    """Return `count` different items as (number of the ranking, item): the first of each ranking, then the second ones."""
    found: dict[int, int] = {}
    for depth in range(max(map(len, rankings), default=0)):
        for number, ranking in enumerate(rankings):
            if depth < len(ranking) and len(found) < count:
                found.setdefault(ranking[depth], number)
    return [(number, item) for item, number in found.items()]
