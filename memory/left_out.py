"""Texts without some of their sentences, and what stands in the place of what was left out."""

from __future__ import annotations

from collections.abc import Callable

from recurrentgpt.prose.sentences import sentences

CUT = "…"
"""What `limit_words` puts in the place of the words that are too many, and a quoted passage has where it is not quoted."""
LEFT_OUT = "\0"
"""What stands there until all is left out: a text may have the mark itself."""


def marked(text: str) -> str:
    """Return a text with one mark between two sentences that did not stand beside each other, and none around it."""
    parts = (" ".join(part.split()) for part in text.split(LEFT_OUT))
    return f" {CUT} ".join(part for part in parts if part)


def without(text: str, is_over: Callable[[str], bool]) -> str:
    """Return a text without the sentences that are over; as it is where none is."""
    parts = sentences(text)
    kept = [part for part in parts if not is_over(part)]
    return text if len(kept) == len(parts) else " ".join(kept)
