"""Take a query apart: what a plan needs is often in one of its sentences, and drowns in all of them."""

from __future__ import annotations

from collections.abc import Iterable

from recurrentgpt.prose.sentences import count_words, sentences

MOST_PARTS = 8
"""Parts that are searched for, at a few milliseconds each in a long story."""
PART_WORDS = 4
"""Fewest words of a part; a shorter sentence is told with the one before it."""


def query_parts(query: str, also: Iterable[str] = ()) -> list[str]:
    """Return the sentences of a query, the longest ones if they are too many, and after them what else is asked."""
    found: list[str] = []
    for sentence in sentences(query):
        if found and count_words(sentence) < PART_WORDS:
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    found += [text for text in also if text.strip()]
    distinct = list(dict.fromkeys(found))
    longest = sorted(distinct, key=count_words, reverse=True)[:MOST_PARTS]
    return [part for part in distinct if part in longest]
