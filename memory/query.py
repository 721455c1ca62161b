"""Take a query apart: what a plan needs is often in one of its sentences, and drowns in all of them."""

from __future__ import annotations

from collections.abc import Collection

from recurrentgpt.prose.sentences import count_words, sentences

MOST_PARTS = 8
"""Parts that are searched for; in a long story each costs milliseconds."""
PART_WORDS = 4
"""Fewest words of a part; a shorter sentence is told with the one before it, the first one with the next."""


def query_parts(query: str, also: Collection[str] = ()) -> list[str]:
    """Return the sentences of a query, the first ones if they are too many, and after them what else is asked."""
    found: list[list[str]] = []
    last = 0
    for sentence in sentences(query):
        words = count_words(sentence)
        if found and min(words, last) < PART_WORDS:
            found[-1].append(sentence)
            last += words
        else:
            found.append([sentence])
            last = words
    parts, further = [" ".join(part) for part in found], list(also)[: MOST_PARTS - 1]
    return list(dict.fromkeys([*(parts or [query])[: MOST_PARTS - len(further)], *further]))
