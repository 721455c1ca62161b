"""Tell what a passage says again and again, as models in a groove do and novelists do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from recurrentgpt.prose.quotations import open_quotation, quotations
from recurrentgpt.prose.sentences import after_last_space
from recurrentgpt.prose.shared_runs import ngrams, tokens

LOOP_RUN = 10
"""A run of this many words that comes twice in one passage is a loop."""

PIECE = 3
"""Words of the pieces of which a sentence that is mostly said again consists."""

# People call "Run! Run! Run!"; nobody calls "Get out! Get out! Get out!" but a model that has run into a groove.
_STUTTER = re.compile(r"\b(\w+)(?: \1\b){3,}|\b(\w+(?: \w+){1,5})(?: \2\b){2,}")


class PassageIndex:
    """The words of one passage and their runs, kept up while it grows: each sentence is compared with all before it."""

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._text, self._tokens, self._last_word = "", list[str](), list[str]()
        self._runs = {size: set[tuple[str, ...]]() for size in (LOOP_RUN, PIECE)}

    def follow(self, text: str) -> None:
        """Take in what `text` has beyond the text before; one that does not go on from it is indexed anew."""
        if not text.startswith(self._text):
            self._begin_anew()
        end = after_last_space(text)
        if end > len(self._text):
            new = tokens(text[len(self._text) : end])
            for size, runs in self._runs.items():
                runs |= ngrams(self._tokens[1 - size :] + new, size)
            self._text, self._tokens = text[:end], self._tokens + new
        self._last_word = tokens(text[end:])

    def last(self, count: int | None = None) -> list[str]:
        """Return the last words of the text; all of them without a count."""
        return (self._tokens + self._last_word)[-count if count else 0 :]

    def shared(self, runs: Iterable[tuple[str, ...]], size: int) -> set[tuple[str, ...]]:
        """Return those of `runs`, of `size` words each, that the text holds."""
        ending = ngrams(self._tokens[1 - size :] + self._last_word, size) if self._last_word else set()
        return {run for run in runs if run in self._runs[size] or run in ending}


def find_loop(
    sentence: str, before: str, index: PassageIndex | None = None, own: list[str] | None = None
) -> str | None:
    """Return the words that `sentence` says again after `before`, the rest of its passage, or None.

    `index`, which follows `before` already, and the sentence's `own` tokens spare whoever asks for one sentence after the other
    the work on those before.
    """
    if index is None:
        index = PassageIndex()
        index.follow(before)
    own = tokens(sentence) if own is None else own
    begun = open_quotation(before)
    said_now = tokens(begun + sentence) if begun else own
    # The pattern is slow, and fits nothing but what says some word three times.
    thrice = len(said_now) - len(set(said_now)) > 1 and max(Counter(said_now).values()) > 2
    if thrice and (stutter := _STUTTER.search(" ".join(said_now))):
        return stutter.group()
    if said := _said_again(begun + sentence, before.removesuffix(begun)):
        return said
    if len(own) < LOOP_RUN:
        # The shorter a sentence, the more often people say it.
        needle, hay = f" {' '.join(own)} ", f" {' '.join(index.last())} "
        most = {3: 3, 4: 2}.get(len(own), 1)
        return " ".join(own) if len(own) > 2 and hay.count(needle) >= most else None
    for run in index.shared(ngrams(own, LOOP_RUN), LOOP_RUN):
        return " ".join(run)
    if repeated := _repeated_run(own):
        return " ".join(repeated)
    pieces = ngrams(own, PIECE)
    known = index.shared(pieces, PIECE)
    if len(own) >= 8 and len(known) >= 0.7 * len(pieces):
        return sentence.strip()
    return None


def _said_again(sentence: str, before: str) -> str | None:
    """Return a whole quotation in `sentence` that was said as often as people do: the shorter, the more often."""
    own = [_compared(said) for said in quotations(sentence)]
    if not own:
        return None
    earlier = [_compared(said) for said in quotations(before)]
    for said in own:
        size = said.count(" ") + 1
        if earlier.count(said) >= {1: 5, 2: 3, 3: 2}.get(size, 1):
            return said
    return None


@lru_cache(maxsize=1024)
def _compared(said: str) -> str:
    return " ".join(tokens(said))


def _repeated_run(items: list[str]) -> tuple[str, ...] | None:
    """Return the first run of `LOOP_RUN` items that comes once more after it."""
    seen = set[tuple[str, ...]]()
    # Every item of the second run has been there before.
    for start in range(len(items) - LOOP_RUN + 1 if len(items) - len(set(items)) >= LOOP_RUN else 0):
        run = tuple(items[start : start + LOOP_RUN])
        if run in seen:
            return run
        seen.add(run)
    return None
