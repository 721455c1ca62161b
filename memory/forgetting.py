"""The gates of the short-term memory: what a step adds to it and what it drops, each with the true reason.

The terms are the paper's (arXiv 2305.13304, section 2): the input gate admits what the passage added, the forget gate drops what
the story needs least now. Both are rules here, for models that are too small to rewrite a memory themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypedDict

from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.prose.shared_runs import ngrams, tokens

FEWEST = 10
"""Sentences that are kept once there are that many, however long they are within the word limit."""

NEAR = 0.85
"""Similarity from which two sentences say the same thing."""


class Forgotten(TypedDict):
    """A sentence that left the memory, and why."""

    sentence: str
    why: str


def forget(
    sentences: list[str],
    relevance: Callable[[list[str]], list[float]],
    *,
    most_sentences: int = 20,
    most_words: int = 500,
    protect: int = 4,
    down_to: int | None = None,
) -> tuple[list[str], list[Forgotten]]:
    """Return the sentences to keep, in their order, and those to drop with the reason, so that both limits hold.

    `relevance` scores sentences against the brief and the plan, higher for more relevant; it is asked only when something
    has to go. Age counts beside it. The newest `protect` sentences go last, for nothing else remembers the last scene.
    `down_to` drops further, to that number of sentences, once a limit is passed: a memory that then only grows for a
    few steps keeps the prompt's prefix, and with it the server's cache.
    """
    cleaned = [limit_words(sentence, most_words) for sentence in sentences]
    counts = [count_words(sentence) for sentence in cleaned]
    if len(cleaned) <= most_sentences and sum(counts) <= most_words:
        return cleaned, []
    scores = relevance(cleaned)
    target = max(min(most_sentences, down_to or most_sentences), min(FEWEST, most_sentences))
    total = len(cleaned)

    def worth(position: int) -> tuple[bool, float]:
        # Half the span between an irrelevant and a relevant sentence is what a sentence loses over its life.
        return position >= total - protect, scores[position] - 0.25 * (1 - position / total)

    kept = set(range(total))
    dropped: list[Forgotten] = []
    for position in sorted(range(total), key=worth):
        words = sum(counts[index] for index in kept)
        if len(kept) <= target and words <= most_words:
            break
        kept.remove(position)
        too_many = total > most_sentences and len(kept) >= target
        limit = f"{most_sentences} sentences" if too_many else f"{most_words} words"
        dropped.append({"sentence": cleaned[position], "why": _why(position, total, scores, limit)})
    return [cleaned[index] for index in sorted(kept)], dropped


def _why(position: int, total: int, scores: Sequence[float], limit: str) -> str:
    rank = sorted(scores, reverse=True).index(scores[position]) + 1
    age = (
        "among the oldest"
        if position < total / 3
        else "among the newest"
        if position >= 2 * total / 3
        else "of middle age"
    )
    return (
        f"The memory holds at most {limit}; this one is {age} and only number {rank} of {total} in relevance to the "
        "brief and the plan."
    )


def admit(
    new_facts: Sequence[str],
    memory: Sequence[str],
    similarity: Callable[[str, Sequence[str]], Sequence[float]],
    *,
    near: float = NEAR,
) -> list[str]:
    """Return the new facts that say something which neither the memory nor an earlier one of them says.

    `similarity` compares a sentence with others, 1 for the same meaning. When every fact is near something old, the one
    that is least so is still admitted, unless the memory holds it word for word: a step that happened is remembered.
    """
    accepted: list[str] = []
    nearest: list[tuple[float, str]] = []
    held = {_form(sentence) for sentence in memory}
    for fact in (_tidy(fact) for fact in new_facts):
        if not tokens(fact) or _form(fact) in held:
            continue
        known = [*memory, *accepted]
        closest = max(similarity(fact, known), default=0.0) if known else 0.0
        if closest < near and not any(_same(fact, other) for other in known):
            accepted.append(fact)
            held.add(_form(fact))
        else:
            nearest.append((closest, fact))
    if not accepted and nearest:
        accepted.append(min(nearest)[1])
    return accepted


def _tidy(fact: str) -> str:
    fact = re.sub(r"\s+", " ", fact).strip(" -•*")
    return fact if not fact or fact[-1] in '.!?…。！？"”' else fact + "."


def _form(sentence: str) -> str:
    return " ".join(tokens(sentence))


def _same(first: str, second: str) -> bool:
    """Tell whether one sentence holds nearly all word pairs of the other."""
    pairs, others = ngrams(tokens(first), 2), ngrams(tokens(second), 2)
    fewer = min(len(pairs), len(others))
    return fewer >= 3 and len(pairs & others) >= 0.8 * fewer
