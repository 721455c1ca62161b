"""Find the runs of words that two texts share, whatever their case and punctuation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recurrentgpt.prose.sentences import words


def tokens(text: str) -> list[str]:
    """Return the words of `text` in the one form in which they are compared."""
    return [word.casefold().replace("’", "'").replace("‑", "-") for word in words(text)]


def ngrams(items: Sequence[str], n: int) -> set[tuple[str, ...]]:
    """Return every run of `n` neighbours in `items`."""
    return {tuple(items[start : start + n]) for start in range(len(items) - n + 1)}


def shared_ngrams(text: str, others: Iterable[str], n: int) -> set[tuple[str, ...]]:
    """Return the runs of `n` words that `text` shares with any of `others`."""
    own = ngrams(tokens(text), n)
    found: set[tuple[str, ...]] = set()
    for other in others:
        found |= own & ngrams(tokens(other), n)
    return found


def overlap(text: str, other: str, n: int = 2) -> float:
    """Return the share of the n-grams of the shorter text that the longer one holds too, 0 to 1."""
    first, second = ngrams(tokens(text), n), ngrams(tokens(other), n)
    fewer = min(len(first), len(second))
    return len(first & second) / fewer if fewer else 0.0


def longest_shared_run(text: str, others: Iterable[str]) -> tuple[int, str]:
    """Return the length in words of the longest run that `text` shares with one of `others`, and the run itself.

    The suffix automaton of `text` reads every other text once: linear in the length of all of them.
    """
    own = tokens(text)
    automaton = _SuffixAutomaton(own)
    best, end = 0, 0
    for other in others:
        length, where = automaton.longest_match(tokens(other))
        if length > best:
            best, end = length, where
    return best, " ".join(own[end - best : end])


class _SuffixAutomaton:
    """Recognise every run of one sequence of words (Blumer et al. 1985)."""

    def __init__(self, items: Sequence[str]) -> None:
        self.next: list[dict[str, int]] = [{}]
        self.link, self.length, self.end = [-1], [0], [0]
        last = 0
        for position, item in enumerate(items, start=1):
            last = self._extend(last, item, position)

    def _extend(self, last: int, item: str, position: int) -> int:
        new = self._state({}, -1, self.length[last] + 1, position)
        state = last
        while state != -1 and item not in self.next[state]:
            self.next[state][item] = new
            state = self.link[state]
        if state == -1:
            self.link[new] = 0
            return new
        target = self.next[state][item]
        if self.length[target] == self.length[state] + 1:
            self.link[new] = target
            return new
        clone = self._state(dict(self.next[target]), self.link[target], self.length[state] + 1, self.end[target])
        while state != -1 and self.next[state].get(item) == target:
            self.next[state][item] = clone
            state = self.link[state]
        self.link[target] = self.link[new] = clone
        return new

    def _state(self, edges: dict[str, int], link: int, length: int, end: int) -> int:
        self.next.append(edges)
        self.link.append(link)
        self.length.append(length)
        self.end.append(end)
        return len(self.next) - 1

    def longest_match(self, items: Sequence[str]) -> tuple[int, int]:
        """Return the length of the longest run that `items` shares, and where it ends in the automaton's own sequence."""
        state = length = best = end = 0
        for item in items:
            while state and item not in self.next[state]:
                state = self.link[state]
                length = self.length[state]
            if item in self.next[state]:
                state, length = self.next[state][item], length + 1
            if length > best:
                best, end = length, self.end[state]
        return best, end
