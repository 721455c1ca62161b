"""Windows of text in tokens, as the baselines need them.

A token is four characters here, the estimate that the meter of calls uses too: it needs no model's tokenizer, is the same for
every model that is compared, and is within a few per cent for English prose.
"""

from __future__ import annotations

import math

from recurrentgpt.models.meter import CHARACTERS_PER_TOKEN
from recurrentgpt.prose.sentences import segments

WORDS_PER_TOKEN = 0.74
"""Of English prose."""


def count_tokens(text: str) -> int:
    """Return the length of `text` in tokens."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def last_tokens(text: str, most: int | None) -> str:
    """Return the last whole sentences of `text` that have at most `most` tokens together; all of it for None."""
    if most is None or count_tokens(text) <= most:
        return text.strip()
    # Nothing beyond this many characters can be kept, so that a long story is not cut into sentences at each step.
    pieces = segments(text[-(most + 1) * CHARACTERS_PER_TOKEN * 2 :])
    kept = ""
    for piece in reversed(pieces):
        if count_tokens(piece + kept) > most:
            break
        kept = piece + kept
    return kept.strip()


def first_tokens(text: str, most: int) -> str:
    """Return the first whole sentences of `text` that have at most `most` tokens together."""
    if count_tokens(text) <= most:
        return text.strip()
    kept = ""
    for piece in segments(text):
        if count_tokens(kept + piece) > most:
            break
        kept += piece
    return kept.strip()
