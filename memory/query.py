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
    found: list[str] = []
    for sentence in sentences(query):
        if found and min(count_words(sentence), count_words(found[-1])) < PART_WORDS:
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    further = list(also)[: MOST_PARTS - 1]
    return list(dict.fromkeys([*(found or [query])[: MOST_PARTS - len(further)], *further]))
