"""One passage while it streams in: which of its words can be printed already, and will not be taken back."""

from __future__ import annotations

import re

from recurrentgpt.prose.sentences import count_words, end_at_sentence, segments
from recurrentgpt.schema.stream_buffer import StreamBuffer

REVISED = 3
"""Closing sentences that the finished passage may leave out, where enough words remain without them."""


class PassagePrinter:
    """Follow the pieces of one passage and hand out what is final, so that all that was shown is its beginning."""

    def __init__(self, *, min_words: int, language: str) -> None:
        self.min_words, self.language = min_words, language
        self.shown = ""
        self.buffer = StreamBuffer()

    @property
    def words(self) -> int:
        """Return the words written so far, those not yet final included."""
        return len(self.buffer.text.split())

    def write(self, piece: str, settled: int) -> str:
        """Take a piece, of all of which `settled` characters are final, and return what can be shown now."""
        before = self.buffer.settled
        self.buffer.add(piece, settled)
        if self.buffer.settled == before:
            return ""
        return self._show(self._certain(_paragraphs(self.buffer.text[:settled])))

    @property
    def sentences(self) -> str:
        """Return the whole sentences of what is final; empty for none."""
        return end_at_sentence(_paragraphs(self.buffer.text[: self.buffer.settled]))

    def finish(self, text: str) -> tuple[str, bool]:
        """Return what is still to be shown of the finished passage, and whether all that was shown is part of it."""
        if text.startswith(self.shown):
            return self._show(text), True
        return "", False

    def _show(self, text: str) -> str:
        if not text.startswith(self.shown):
            return ""
        piece, self.shown = text[len(self.shown) :], text
        return piece

    def _certain(self, text: str) -> str:
        """Return the part that a last revision leaves alone: all up to the fewest words, and all but the last sentences."""
        sentences = segments(text, self.language)
        certain = ""
        for number, sentence in enumerate(sentences, 1):
            if number > len(sentences) - REVISED and count_words(certain + sentence) > self.min_words:
                break
            certain += sentence
        return certain.rstrip()


def _paragraphs(text: str) -> str:
    """Return text with white space as in a finished passage: one blank line between paragraphs, single spaces in them."""
    lines = (re.sub(r"[ \t\u00a0]+", " ", line).strip() for line in text.split("\n"))
    return "\n\n".join(line for line in lines if line and not re.fullmatch(r"[\W_]+", line))
