"""One passage while it streams in: which of its words can be shown already, and what to say where shown words do not count."""

from __future__ import annotations

import re
from os.path import commonprefix
from typing import NamedTuple

from recurrentgpt.prose.sentences import count_words, end_at_sentence, limit_words, segments
from recurrentgpt.prose.unwrap import paragraphs
from recurrentgpt.schema.stream_buffer import StreamBuffer

REVISED = 3
"""Closing sentences that the finished passage may leave out, where enough words remain without them."""


class Piece(NamedTuple):
    """What comes next of a passage."""

    text: str
    remark: str = ""
    """What is to be said before it, where it takes the place of words that were shown; else empty."""


class PassagePrinter:
    """Follow the pieces of one passage and hand out what is final as far as is known, and once more what changed after all."""

    def __init__(self, *, min_words: int, language: str) -> None:
        self.min_words, self.language = min_words, language
        self.shown = ""
        """What a reader was shown of it and takes for the passage."""
        self.buffer = StreamBuffer()
        self._begun = ""
        """What stands of it while it is begun again from there."""
        self._why = ""

    @property
    def words(self) -> int:
        """Return the words written so far, those not yet final included."""
        return len(self.buffer.text.split())

    def write(self, piece: str, settled: int) -> Piece:
        """Take a piece, of all of which `settled` characters are final, and return what can be shown now."""
        before = self.buffer.settled
        self.buffer.add(piece, settled)
        if self.buffer.settled == before:
            return Piece("")
        return self._show(self._certain(paragraphs(self.buffer.text[:settled], keeps_all=True)))

    def retract(self, length: int, why: str = "") -> None:
        """Take away what stands beyond `length` characters."""
        self.buffer.retract(length)
        self._why = why or self._why

    def begin_again(self, why: str = "") -> None:
        """Expect the passage from its beginning; nothing is shown twice of what comes out the same."""
        self._begun = self.sentences
        self.buffer.clear()
        self._why = why

    @property
    def sentences(self) -> str:
        """Return the whole sentences of what is final; empty for none."""
        return end_at_sentence(paragraphs(self.buffer.settled_text, keeps_all=True)) or self._begun

    def rest(self) -> Piece:
        """Return what is still to be shown of the whole sentences that are final: nothing is left out of them any more."""
        return self._show(self.sentences, finished=True) if self.buffer.settled else Piece("")

    def finish(self, text: str) -> Piece:
        """Return what is still to be shown of the finished passage."""
        return self._show(text, finished=True)

    def _show(self, text: str, *, finished: bool = False) -> Piece:
        before = self.shown
        # Where paragraphs end shows late: blank lines are no revision.
        if shown := re.match(r"\n+".join(map(re.escape, re.split(r"\n+", before))), text):
            self.shown, self._why = text, ""
            return Piece(text[shown.end() :])
        if before.startswith(text) and not finished:
            return Piece("")
        # From the paragraph on in which the two part.
        same = commonprefix([text, before])  # noqa: RUF071
        start = same.rfind("\n\n") + 2 if "\n\n" in same else 0
        why, self._why, self.shown = self._why or "It was revised.", "", text
        if start:
            since = limit_words(" ".join(before[start:].split()), 6)
            return Piece(text[start:], f"({why} From “{since}” on, this stands in the place of what was shown above:)")
        return Piece(text, f"({why} What was shown of this passage above does not count. It begins again:)")

    def _certain(self, text: str) -> str:
        """Return the part that a last revision leaves alone: all up to the fewest words, and all but the last sentences."""
        sentences = segments(text, self.language)
        certain = ""
        for number, sentence in enumerate(sentences, 1):
            if number > len(sentences) - REVISED and count_words(certain + sentence) > self.min_words:
                break
            certain += sentence
        return certain.rstrip()
