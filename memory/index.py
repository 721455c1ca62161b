"""One story's rows: their vectors as bytes, in a FAISS index, and their words, searched only among the ancestors of a head.

Exact by design: every row of the branch is scored. Ten thousand passages are 150,000 rows of 384 bytes, 58 MB. FAISS multiplies
bytes with bytes and returns the nearest rows; those, and whatever row could come before them by its words, are scored in full.
"""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise, product

import faiss
import numpy as np
from numpy.typing import NDArray

from recurrentgpt.memory.keyword_index import WordIndex
from recurrentgpt.memory.rows import PEAK, Codes, Matrix, directions
from recurrentgpt.schema.parts import RowKind
from recurrentgpt.schema.shared_map import SharedMap

WORDS = 0.4
"""What the rare words that a row shares with a part of the query are worth in its score, beside its meaning."""
ALIKE = 0.75
"""How much of what a row has in common with all rows of the branch is taken off its score."""
NEAREST = 256
"""Rows that FAISS is asked for, for each part of a query."""
BLOCK = 1024
"""Rows that are read at once."""
WORKERS = min(4, os.cpu_count() or 1)
"""Threads that search."""
MANY_ROWS = 50_000
"""Rows from which several threads look for the same part."""
_DIGITS = 1e-5
"""More than two scores differ by that are equal to the sixth digit."""


def _workers() -> ThreadPoolExecutor:
    # FAISS in none of these threads starts more: they would wait for work at the cost of the processor.
    return ThreadPoolExecutor(WORKERS, "recall", initializer=lambda: faiss.omp_set_num_threads(1))


def _renew() -> None:
    # A forked process has the pool and none of its threads, for which it would wait for ever.
    global _pool
    _pool = _workers()


_pool = _workers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)

_SIGN = np.uint8(128)
"""What makes a number of either sign a byte, as FAISS has it, and back."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """One part of a query: its vector, shape (dimension,), and its words."""

    vector: Matrix
    words: Sequence[str]
    known: Sequence[tuple[str, int]] = ()
    """Commits that are known to bear on it, each with the number of the row that says so: every second place is theirs."""


@dataclass(frozen=True)
class Hit:
    """One passage found: its best row, and by how much that is nearer to a part of the query than most rows are."""

    id: str
    step: int
    score: float
    row: int
    """Number of the row among those of its commit."""
    kind: RowKind


@dataclass(frozen=True)
class Scope:
    """What of a story is searched: the ancestors of a head, itself included."""

    head: str
    without: str = ""
    """A commit that is left out."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Entries that stand in place of an ancestor's own; they are found under the ancestor's id."""
    stale: SharedMap[tuple[int, ...]] = field(default_factory=SharedMap)
    """Numbers of rows of a commit that hold no more on this branch."""
    stale_instead: Mapping[str, Collection[int]] = field(default_factory=dict)
    """The same of entries that stand in place of an ancestor's own."""


class StoryIndex:
    """The rows of every commit of one story, by one embedding model."""

    _known: str
    """The head that was searched last; which rows are its branch's, their sum and their number are kept with it."""
    _mask: Flags
    _stale: Flags
    _stale_then: SharedMap[tuple[int, ...]]
    _sum: NDArray[np.float64]
    _counted: int

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.outdated: dict[str, None] = {}
        """Commits whose rows are of an older form, the newest last."""
        self._vectors = faiss.IndexScalarQuantizer(
            dimension, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
        )
        self._scales = array("f")
        self._entries = array("i")
        self._words = WordIndex()
        self._ids: list[str] = []
        # Arrays, which numpy reads where they are: as lists, ten thousand numbers cost a query more than their search.
        self._steps = array("q")
        self._kinds: list[Sequence[RowKind]] = []
        self._number: dict[str, int] = {}
        self._parents: list[str] = []
        self._first_row = array("q")
        self._rooted: set[str] = set()
        self._forget_mask()
        self._forget_stale()

    def __contains__(self, commit: str) -> bool:
        return commit in self._number

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        """The bytes of all vectors."""
        return len(self) * (self.dimension + self._scales.itemsize)

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
        self,
        commit: str,
        parent: str,
        step: int,
        codes: Codes,
        kinds: Sequence[RowKind],
        words: Iterable[Sequence[str]],
    ) -> None:
        """Add the rows of one commit: their codes, shape (rows, dimension), kinds and words.

        Adding it again changes nothing, unless its rows were of an older form: then the new ones take their place.
        """
        if commit in self._number and commit not in self.outdated:
            return
        if commit in self._number:
            del self.outdated[commit]
            self._forget_mask()
            self._forget_stale()
        self._number[commit] = len(self._ids)
        self._ids.append(commit)
        self._parents.append(parent)
        self._steps.append(step)
        self._kinds.append(kinds)
        self._first_row.append(len(self))
        for held in words:
            self._words.add(held)
        pointing = directions(codes)
        lengths = np.linalg.norm(pointing.astype(np.float32), axis=1)
        self._entries.extend([self._number[commit]] * len(codes))
        self._scales.extend((1 / np.where(lengths, lengths, np.inf)).tolist())
        if len(codes):
            self._vectors.add_sa_codes(pointing.view(np.uint8) ^ _SIGN)
        if "piece" in kinds:
            self.outdated[commit] = None

    def search(self, parts: Sequence[Part], scope: Scope, count: int) -> list[Hit]:
        """Return `count` passages of the scope, those that score highest for each part of the query in turn.

        So a part that many passages answer leaves room for the others. Passages of equal score come in the order of the story.
        """
        branch, mask, stands_for = self._within(scope)
        if not count or not mask.any():
            return []
        # The people of a novel are in every other of its sentences, and its manner is in all: that tells none from another.
        alike = ALIKE * self._mean(stands_for)
        asked = [np.ascontiguousarray(part.vector - alike, dtype=np.float32) for part in parts]
        nearest = self._nearest_of_all(asked, mask)

        def rank(number: int) -> dict[int, tuple[float, int]]:
            part, vector, (rows, floor) = parts[number], asked[number], nearest[number]
            shares = self._words.shares(part.words, branch) * np.float32(WORDS)
            best = self._best(vector, rows, shares, count)
            # What FAISS did not return is no nearer than `floor`, and comes in by its words alone.
            least = min((score for score, _ in best.values()), default=-np.inf) if len(best) == count else -np.inf
            others = mask & (shares >= least * (1 + WORDS) - floor - _DIGITS)
            others[rows] = False
            if others.any():
                best = self._best(vector, np.union1d(rows, np.flatnonzero(others)), shares, count)
            return self._with_known(part, vector, mask, shares, best, scope)

        rankings = list(_pool.map(rank, range(len(parts))))
        return [
            self._hit(entry, *rankings[part][entry], stands_for)
            for part, entry in in_turn([list(ranking) for ranking in rankings], count)
        ]

    def _with_known(
        self, part: Part, asked: Matrix, mask: Flags, shares: Matrix, best: dict[int, tuple[float, int]], scope: Scope
    ) -> dict[int, tuple[float, int]]:
        """Return the best entries with those between them that are known to bear on a part, one of these first."""
        known: dict[int, tuple[float, int]] = {}
        for commit, own in part.known:
            entry = self._number.get(scope.instead.get(commit, commit))
            if entry is None or own >= len(self._kinds[entry]) or not mask[row := self._first_row[entry] + own]:
                continue
            score = float(self._cosines(asked, np.array([row]))[0] + shares[row]) / (1 + WORDS)
            known.setdefault(entry, (round(score, 6), row))
        if not known:
            return best
        order = [entry for _, entry in in_turn([list(known), list(best)], len(known) + len(best))]
        return {entry: known.get(entry) or best[entry] for entry in order}

    def _hit(self, entry: int, score: float, row: int, stands_for: Mapping[str, str]) -> Hit:
        """Return an entry as a hit by its best row."""
        own, found = row - self._first_row[entry], self._ids[entry]
        return Hit(stands_for.get(found, found), self._steps[entry], score, own, self._kinds[entry][own])

    def _nearest_of_all(self, asked: Sequence[Matrix], mask: Flags) -> list[tuple[NDArray[np.int64], float]]:
        """Return for each vector the nearest rows of a mask, and what the cosine of none of its other rows exceeds.

        Where there are fewer vectors than threads, several threads share the rows of a long story.
        """
        shares = WORKERS // math.gcd(WORKERS, len(asked)) if len(mask) > MANY_ROWS else 1
        within = [None] if shares == 1 and mask.all() else _bitmaps(mask, shares)
        found = list(_pool.map(lambda task: self._nearest(*task), product(asked, within)))
        return [
            (np.concatenate([rows for rows, _ in own]), max(floor for _, floor in own))
            for own in (found[first : first + len(within)] for first in range(0, len(found), len(within)))
        ]

    def _nearest(self, asked: Matrix, within: NDArray[np.uint8] | None) -> tuple[NDArray[np.int64], float]:
        """Return the rows nearest to a vector, and what the cosine of no other one exceeds; `within` has a bit for each row.

        FAISS multiplies with the vector in whole numbers; by how much those miss it is added.
        """
        step = float(np.abs(asked).max(initial=0)) / PEAK or 1.0
        whole = np.rint(asked / step).astype(np.float32)
        given = None
        if within is not None:
            chosen = faiss.IDSelectorBitmap(len(self), faiss.swig_ptr(within))
            given = faiss.SearchParameters(sel=chosen)  # type: ignore[call-arg]
        products, found = self._vectors.search(whole[None], min(NEAREST, len(self)), params=given)
        rows: NDArray[np.int64] = np.asarray(found)[0]
        rows = rows[rows >= 0]
        if len(rows) < NEAREST:
            return rows, -np.inf
        longest = float(np.frombuffer(self._scales, dtype=np.float32).max())
        missed = float(np.linalg.norm(asked - whole * step))
        return rows, max(0.0, float(products[0, -1])) * step * longest + missed

    def _best(self, asked: Matrix, rows: NDArray[np.int64], shares: Matrix, count: int) -> dict[int, tuple[float, int]]:
        """Return the `count` best entries among those of some rows, best first: of each its score and its best row.

        Entries of equal score come in the order of the story.
        """
        rows = np.sort(rows)
        scores = self._cosines(asked, rows) + shares[rows]
        owners = np.frombuffer(self._entries, dtype=np.int32)[rows]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        # Six digits: the seventh depends on how a cosine was summed, and must not decide between equals.
        best = np.round(np.maximum.reduceat(scores, starts) / np.float32(1 + WORDS), 6)
        ends, steps = np.append(starts[1:], len(rows)), np.asarray(self._steps)[owners[starts]]
        return {
            int(owners[starts[place]]): (
                float(best[place]),
                int(rows[starts[place] + np.argmax(scores[starts[place] : ends[place]])]),
            )
            for place in np.lexsort((steps, -best))[:count]
        }

    def _cosines(self, asked: Matrix, rows: NDArray[np.int64]) -> Matrix:
        """Return the cosine of some rows with a vector."""
        found = np.empty(len(rows), dtype=np.float32)
        for first in range(0, len(rows), BLOCK):
            numbers = self._numbers(rows[first : first + BLOCK]).astype(np.float32)
            faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]
                faiss.swig_ptr(found[first:]),
                faiss.swig_ptr(asked),
                faiss.swig_ptr(numbers),
                self.dimension,
                len(numbers),
            )
        scaled: Matrix = found * np.frombuffer(self._scales, dtype=np.float32)[rows]
        return scaled

    def _numbers(self, rows: NDArray[np.int64] | slice) -> Codes:
        """Return the numbers of some rows."""
        held = faiss.rev_swig_ptr(self._vectors.codes.data(), len(self) * self.dimension)
        found: Codes = (held.reshape(-1, self.dimension)[rows] ^ _SIGN).view(np.int8)
        return found

    def _within(self, scope: Scope) -> tuple[Flags, Flags, dict[str, str]]:
        """Return which rows are the branch's, which of them are searched, and which entries stand for which commits."""
        branch, stands_for = self._ancestors(scope.head), dict[str, str]()
        for commit, other in scope.instead.items():
            if self._of(commit, branch).any():
                branch = branch if stands_for else branch.copy()
                self._of(commit, branch)[:] = False
                self._of(other, branch)[:] = True
                stands_for[other] = commit
        mask = branch & ~self._over(scope.stale)
        for entry, rows in scope.stale_instead.items():
            own = self._of(entry, mask)
            own[[row for row in rows if row < len(own)]] = False
        if scope.without in self:
            self._of(scope.instead.get(scope.without, scope.without), mask)[:] = False
        return branch, mask, stands_for

    def _over(self, stale: SharedMap[tuple[int, ...]]) -> Flags:
        """Return which rows hold no more; what has changed since the last search is put right in place."""
        if len(self._stale) < len(self):
            self._stale = np.concatenate([self._stale, np.zeros(len(self) - len(self._stale), dtype=bool)])
        for commit in stale.changed_since(self._stale_then):
            if commit in self:
                own = self._of(commit, self._stale)
                own[:] = False
                own[[row for row in stale.get(commit, ()) if row < len(own)]] = True
        self._stale_then = stale
        return self._stale

    def _ancestors(self, head: str) -> Flags:
        """Return which rows belong to `head` or a commit before it; extended in place while a story grows linearly."""
        new, commit = list[str](), head
        while commit and commit != self._known:
            new.append(commit)
            commit = self.parent(commit)
        if commit != self._known:
            self._forget_mask()
        if len(self._mask) < len(self):
            self._mask = np.concatenate([self._mask, np.zeros(len(self) - len(self._mask), dtype=bool)])
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
        if rows.start == rows.stop:
            return np.zeros(self.dimension)
        summed: NDArray[np.float64] = np.asarray(self._scales[rows]) @ self._numbers(rows)
        return summed

    def _forget_mask(self) -> None:
        """Forget which branch was searched last, its rows, their sum and their number."""
        self._known, self._mask = "", np.zeros(0, dtype=bool)
        self._sum, self._counted = np.zeros(self.dimension), 0

    def _forget_stale(self) -> None:
        """Forget which rows held no more when somebody searched last."""
        self._stale, self._stale_then = np.zeros(0, dtype=bool), SharedMap[tuple[int, ...]]()

    def _of(self, commit: str, mask: Flags) -> Flags:
        """Return the part of a mask over all rows that belongs to one entry, as a view."""
        number = self._number[commit]
        first = self._first_row[number]
        return mask[first : first + len(self._kinds[number])]


def _bitmaps(mask: Flags, count: int) -> list[NDArray[np.uint8] | None]:
    """Return a mask in so many parts, one behind the other: of each a bit for every row."""
    bitmaps: list[NDArray[np.uint8] | None] = []
    for first, end in pairwise(np.linspace(0, len(mask), count + 1, dtype=int)):
        own = np.zeros_like(mask)
        own[first:end] = mask[first:end]
        bitmaps.append(np.packbits(own, bitorder="little"))
    return bitmaps


def in_turn(rankings: Sequence[Sequence[int]], count: int) -> list[tuple[int, int]]:
    """Return `count` different items as (number of the ranking, item): the first of each ranking, then the second ones."""
    found: dict[int, int] = {}
    for depth in range(max(map(len, rankings), default=0)):
        for number, ranking in enumerate(rankings):
            if depth < len(ranking) and len(found) < count:
                found.setdefault(ranking[depth], number)
    return [(number, item) for item, number in found.items()]
