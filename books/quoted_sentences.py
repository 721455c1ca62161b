"""Find the sentences inside long quotations, which `prose.sentences` keeps as one."""

from __future__ import annotations

import re

from recurrentgpt.prose.sentences import count_words, segments

_LONG = 40
_QUOTES = re.compile('["“”«»„‘「」『』]')
_OPENING = re.compile('(?<=\\s)["“«„‘「『]+$')


def fine_segments(text: str, language: str) -> list[str]:
    """Return the sentences of `text` with all their white space; a quotation of many sentences is divided as well."""
    found: list[str] = []
    for segment in segments(text, language):
        if count_words(segment) > _LONG and _QUOTES.search(segment):
            found += _divided(segment, language)
        else:
            found.append(segment)
    return found


def _divided(segment: str, language: str) -> list[str]:
    found, start, opening = [], 0, ""
    # Without its marks a quotation is a row of sentences like any other; places stay the same.
    for blind in segments(_QUOTES.sub(" ", segment), language):
        piece = opening + segment[start : start + len(blind)]
        start += len(blind)
        match = _OPENING.search(piece) if start < len(segment) else None
        opening = match.group() if match else ""
        found.append(piece[: len(piece) - len(opening)])
    return found
