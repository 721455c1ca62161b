"""One story's vectors in FAISS and its words beside them, searched only among the ancestors of a head.

Exact by design: every row is scored, and rows of other branches are out. A story of ten thousand passages is thirty
thousand rows, which takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import faiss
import numpy as np

from recurrentgpt.memory.keyword_index import WordIndex
from recurrentgpt.memory.pieces import Matrix

WORDS = 1 / 2
"""What the rare words that a piece shares with the query are worth in its score; its meaning is worth the rest."""


@dataclass(frozen=True)
class Hit:
    """One passage found: its best piece, and that piece's score: cosine and shared words, 1 for the query's own text."""

    id: str
    step: int
    score: float
    piece: int
    """Number of the piece that matched; the number after the last piece is the summary."""


class StoryIndex:
    """Vectors of every commit of one story, by one embedding model."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._flat = faiss.IndexFlatIP(dimension)
        self._words = WordIndex()
        self._ids: list[str] = []
        self._steps: list[int] = []
        self._number: dict[str, int] = {}
        self._parents: list[str] = []
        self._first_row: list[int] = []
        self._entry_of_row: list[int] = []
        self._most_pieces = 1
        self._rooted: set[str] = set()
        self._mask_of: tuple[str, np.ndarray] = ("", np.zeros(0, dtype=bool))

    def __contains__(self, commit: str) -> bool:
        return commit in self._number

    def __len__(self) -> int:
        return len(self._ids)

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

    def add(self, commit: str, parent: str, step: int, vectors: Matrix, words: Sequence[Sequence[str]]) -> None:
        """Add the vectors of one commit, shape (pieces, dimension), and each piece's words; adding it again changes nothing."""
        if commit in self._number:
            return
        self._number[commit] = len(self._ids)
        self._ids.append(commit)
        self._parents.append(parent)
        self._steps.append(step)
        self._first_row.append(len(self._entry_of_row))
        self._entry_of_row.extend([self._number[commit]] * len(vectors))
        self._most_pieces = max(self._most_pieces, len(vectors))
        for _, held in zip(vectors, words, strict=True):
            self._words.add(held)
        if len(vectors):
            self._flat.add(np.ascontiguousarray(vectors, dtype=np.float32))

    def search(
        self,
        query: Matrix,
        words: Sequence[str],
        head: str,
        count: int,
        *,
        without: str = "",
        instead: Mapping[str, str] | None = None,
    ) -> list[Hit]:
        """Return the `count` ancestors of `head` (itself included, `without` excluded) whose best piece scores highest.

        `query` is the vector and `words` are the words of what is looked for. Passages of equal score come in the order of
        the story. `instead` names entries that stand in place of an ancestor's own; they are found under the ancestor's id.
        """
        mask = self._ancestors(head)
        stands_for: dict[str, str] = {}
        for commit, other in (instead or {}).items():
            if self._of(commit, mask).any():
                mask = mask.copy() if not stands_for else mask
                self._of(commit, mask)[:] = False
                self._of(other, mask)[:] = True
                stands_for[other] = commit
        rows = int(np.count_nonzero(mask))
        if not rows or not count:
            return []
        scores = self._cosines(query) * np.float32(1 - WORDS) + self._words.shares(words, mask) * np.float32(WORDS)
        # Six digits: the seventh depends on how a cosine was summed, and must not decide between equals.
        scores = np.where(mask, np.round(scores, 6), -np.inf)
        # An entry has at most `_most_pieces` rows, so this many rows hold the best piece of every entry asked for.
        wanted = min(rows, (count + bool(without)) * self._most_pieces)
        found = np.flatnonzero(scores >= np.partition(scores, -wanted)[-wanted])
        best: dict[int, Hit] = {}
        for row in found[np.argsort(-scores[found], kind="stable")].tolist():
            entry = self._entry_of_row[row]
            found_id = stands_for.get(self._ids[entry], self._ids[entry])
            if entry not in best and found_id != without:
                best[entry] = Hit(found_id, self._steps[entry], float(scores[row]), row - self._first_row[entry])
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.step))[:count]

    def _cosines(self, query: Matrix) -> Matrix:
        """Return the cosine of every row with `query`, computed by FAISS where its vectors lie."""
        asked, found = np.ascontiguousarray(query.ravel(), dtype=np.float32), np.empty(self._flat.ntotal, np.float32)
        faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]
            faiss.swig_ptr(found), faiss.swig_ptr(asked), self._flat.get_xb(), self.dimension, len(found)
        )
        return found

    def _ancestors(self, head: str) -> np.ndarray:
        """Return which rows belong to `head` or a commit before it; extended in place while a story grows linearly."""
        known, mask = self._mask_of
        rows = len(self._entry_of_row)
        if len(mask) < rows:
            mask = np.concatenate([mask, np.zeros(rows - len(mask), dtype=bool)])
        if head != known:
            if not (known and head in self._number and self.parent(head) == known):
                mask = np.zeros(rows, dtype=bool)
                known = ""
            commit = head
            while commit and commit != known:
                self._of(commit, mask)[:] = True
                commit = self.parent(commit)
        self._mask_of = (head, mask)
        return mask

    def _of(self, commit: str, mask: np.ndarray) -> np.ndarray:
        """Return the part of a mask over all rows that belongs to one entry, as a view."""
        number = self._number[commit]
        end = self._first_row[number + 1] if number + 1 < len(self._first_row) else len(mask)
        return mask[self._first_row[number] : end]
