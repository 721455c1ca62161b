"""Find the runs of words that two texts share, whatever their case and punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from recurrentgpt.prose.sentences import words

_MARKS_BEFORE = re.compile(r"[\"'“„‘«»‹›(\[*]*\Z")
_MARKS_AFTER = re.compile(r"[^\w\s]*")


def tokens(text: str) -> list[str]:
    """Return the words of `text` in the one form in which they are compared."""
    found = words(text)
    # All at once: no word holds a line's end.
    return "\n".join(found).casefold().replace("’", "'").replace("‑", "-").split("\n") if found else []


@lru_cache(maxsize=4096)
def word_set(text: str) -> frozenset[str]:
    """Return the different words of a short text in the form in which they are compared; names and lines come again and again."""
    return frozenset(tokens(text))


def ngrams(items: Sequence[str], n: int) -> set[tuple[str, ...]]:
    """Return every run of `n` neighbours in `items`."""
    return set(zip(*(items[start:] for start in range(n)), strict=False))


def overlap(text: str, other: str, n: int = 2) -> float:
    """Return the share of the n-grams of the shorter text that the longer one holds too, 0 to 1."""
    first, second = ngrams(tokens(text), n), ngrams(tokens(other), n)
    fewer = min(len(first), len(second))
    return len(first & second) / fewer if fewer else 0.0


def longest_shared_run(text: str, others: Iterable[str]) -> tuple[int, str]:
    """Return the length in words of the longest run that `text` shares with one of `others`, and the run itself."""
    own, best = tokens(text), list[str]()
    for other in others:
        match = SequenceMatcher(None, own, tokens(other), autojunk=False).find_longest_match()
        if match.size > len(best):
            best = own[match.a : match.a + match.size]
    return len(best), " ".join(best)


def place_of(said: str, text: str) -> tuple[int, int] | None:
    """Return the first place where `text` has the words of `said`, with the marks around them; None where it has them nowhere."""
    wanted, own = tokens(said), tokens(text)
    starts = range(len(own) - len(wanted) + 1) if wanted else ()
    first = next((start for start in starts if own[start : start + len(wanted)] == wanted), None)
    if first is None:
        return None
    start = end = 0
    for number, word in enumerate(words(text)[: first + len(wanted)]):
        at = text.index(word, end)
        end = at + len(word)
        start = at if number == first else start
    before, after = _MARKS_BEFORE.search(text[:start]), _MARKS_AFTER.match(text, end)
    return before.start() if before else start, after.end() if after else end
