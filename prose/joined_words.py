"""Part words that a small model ran together.

Where a penalty on repetition forbids it to say "return the parcel" once more, it says "return theparcel".
"""

from __future__ import annotations

import re
from collections.abc import Collection

_JOINED = re.compile(
    r"\b(?:(?P<before>the|her|his|and)(?P<word>[a-z]{4,})|(?P<first>[a-z]{4,})(?P<after>the|her|his|and|was|had))\b"
)
_SMALL = re.compile(r"\b(with|of|to|from|for|in|on|at)(the|him|her|his|them)\b")
_WHOLE = frozenset({"herself", "herring", "brigand", "panther", "heather", "slither", "feather"})


def split_joined_words(text: str, known: Collection[str]) -> str:
    """Return English `text` with a space inside each word that is two small ones, or a small one and one of `known`."""

    def part(match: re.Match[str]) -> str:
        if match[0] in known or match[0] in _WHOLE:
            return match[0]
        if match["word"] in known:
            return f"{match['before']} {match['word']}"
        return f"{match['first']} {match['after']}" if match["first"] in known else match[0]

    return _SMALL.sub(r"\1 \2", _JOINED.sub(part, text))
