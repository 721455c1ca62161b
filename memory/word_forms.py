"""In which words two texts say the same: without their endings, and without what says nothing."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from recurrentgpt.prose.shared_runs import tokens

SAME = 0.6
"""Share of what a line says that a sentence has which says it again, or of its own words that the line's first sentence has."""
_PLAIN = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by for from had has have he her hers him his in into is it its of off on or our own she "
        "so that the their them they this to was were who with",
    )
)
"""Words that tell nothing of what a sentence says."""
_ENDING = re.compile(r"(?<=..)(?:'s|ing|ied|ies|ed|es|s|e)$")


def shared_words(said: str, line: str, called: Collection[str]) -> float:
    """Return the share of the fewer words of two texts that the other one has, beside the names of whom they are about."""
    if said.casefold() == line.casefold():
        return 1.0
    names = word_forms(" ".join(called))
    first, second = (word_forms(text) - names or word_forms(text) or frozenset(tokens(text)) for text in (said, line))
    return len(first & second) / max(1, min(len(first), len(second)))


@lru_cache(maxsize=4096)
def word_forms(text: str) -> frozenset[str]:
    """Return the words of a text that say something, without their endings."""
    return frozenset(_ENDING.sub("", word) for word in tokens(text) if word not in _PLAIN)
