"""The words by which texts are looked up, and the part of a text that has most of those asked for."""

from __future__ import annotations

from functools import lru_cache

from recurrentgpt.prose.sentences import count_words, limit_words, segments
from recurrentgpt.prose.shared_runs import tokens


def terms(text: str) -> list[str]:
    """Return the different words of a text in the form in which they are looked up, in alphabetical order."""
    return sorted({word.removesuffix("'s") for word in tokens(text)})


@lru_cache(maxsize=1024)
def excerpt(text: str, query: str, most: int, language: str = "English") -> str:
    """Return the `most` words of `text`, in whole sentences, that have the most words of `query`; the earliest of equals.

    What a passage was found for may be said at its very end, and must not be what is cut off. All calls of a timestep tell of the
    same pieces, so what was cut for one is kept for the others.
    """
    if count_words(text) <= most:
        return text.strip()
    wanted, parts = set(terms(query)), segments(text, language)
    runs = [limit_words("".join(parts[first:]), most, language) for first in range(len(parts))]
    return max(runs, key=lambda run: len(wanted.intersection(terms(run))))
