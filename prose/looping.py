"""Tell what a passage says again and again, as models in a groove do and novelists do not."""

from __future__ import annotations

import re

from recurrentgpt.prose.quotations import open_quotation, quotations
from recurrentgpt.prose.shared_runs import ngrams, tokens

LOOP_RUN = 10
"""A run of this many words that comes twice in one passage is a loop."""

# People call "Run! Run! Run!"; nobody calls "Get out! Get out! Get out!" but a model that has run into a groove.
_STUTTER = re.compile(r"\b(\w+)(?: \1\b){3,}|\b(\w+(?: \w+){1,5})(?: \2\b){2,}")


def find_loop(sentence: str, before: str) -> str | None:
    """Return the words that `sentence` says again after `before`, the rest of its passage, or None."""
    own = tokens(sentence)
    begun = open_quotation(before)
    if stutter := _STUTTER.search(" ".join(tokens(begun + sentence))):
        return stutter.group()
    if said := _said_again(begun + sentence, before.removesuffix(begun)):
        return said
    earlier = tokens(before)
    if len(own) < LOOP_RUN:
        # The shorter a sentence, the more often people say it.
        needle, hay = f" {' '.join(own)} ", f" {' '.join(earlier)} "
        most = {3: 3, 4: 2}.get(len(own), 1)
        return " ".join(own) if len(own) > 2 and hay.count(needle) >= most else None
    for run in ngrams(own, LOOP_RUN) & ngrams(earlier, LOOP_RUN):
        return " ".join(run)
    if len(set(own)) < len(own):
        repeated = [run for run in ngrams(own, LOOP_RUN) if _twice(own, run)]
        if repeated:
            return " ".join(repeated[0])
    pieces = ngrams(own, 3)
    known = pieces & ngrams(earlier, 3)
    if len(own) >= 8 and len(known) >= 0.7 * len(pieces):
        return sentence.strip()
    return None


def _said_again(sentence: str, before: str) -> str | None:
    """Return a whole quotation in `sentence` that was said as often as people do: the shorter, the more often."""
    own = [" ".join(tokens(said)) for said in quotations(sentence)]
    if not own:
        return None
    earlier = [" ".join(tokens(said)) for said in quotations(before)]
    for said in own:
        size = said.count(" ") + 1
        if size > 1 and earlier.count(said) >= {2: 3, 3: 2}.get(size, 1):
            return said
    return None


def _twice(items: list[str], run: tuple[str, ...]) -> bool:
    size = len(run)
    return sum(tuple(items[start : start + size]) == run for start in range(len(items) - size + 1)) > 1
