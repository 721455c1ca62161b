"""Summarise without a model: the one sentence of a passage that says most, and who a text is about."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from recurrentgpt.books.file_text import language_tag
from recurrentgpt.books.quoted_sentences import fine_segments
from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.prose.shared_runs import tokens

SHORT, LONG = 8, 40
"""Words of a sentence that says enough by itself and not too much."""

_QUOTED = re.compile(r"[\"“”«»„‹›「『]|^[—–-]")
_CLAUSE = re.compile(r"[,;:—–](?=\s)")


@dataclass(frozen=True)
class Vocabulary:
    """Hold in how many passages each word of a text comes, and its names: what tells a telling word from a common one."""

    passages: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    names: frozenset[str] = frozenset()

    def weight(self, word: str) -> float:
        """Return how much a word tells: none if it is in every passage, most if it is in one."""
        return math.log((1 + self.passages) / (1 + self.counts.get(word, 0))) if self.passages > 1 else 1.0


def vocabulary(passages: Iterable[str], language: str = "English") -> Vocabulary:
    """Return the vocabulary of all passages of a text."""
    texts = list(passages)
    counts = Counter(word for text in texts for word in set(tokens(text)))
    named = names("\n\n".join(texts), 60, language)
    return Vocabulary(len(texts), dict(counts), frozenset(word for name in named for word in tokens(name)))


def key_sentence(passage: str, known: Vocabulary, language: str = "English", max_words: int = LONG) -> str:
    """Return the sentence of `passage` that is nearest to all of it, at most `max_words` long; empty for no words.

    Nearest by the cosine of tf-idf weights; sentences with names gain, spoken, short and endless ones lose. Of equals
    the first is taken: the same passage gives the same sentence.
    """
    code = language_tag(language).partition("-")[0]
    found = [one for one in fine_segments(passage, code) if count_words(one)]
    if not found:
        return ""
    bags = [Counter(tokens(sentence)) for sentence in found]
    whole = _weighed(sum(bags, Counter()), known)
    scores = [_likeness(_weighed(bag, known), whole) for bag in bags]
    best = max(
        range(len(found)), key=lambda index: (scores[index] * _fitness(found[index], bags[index], known), -index)
    )
    return _trimmed(" ".join(found[best].split()), max_words)


def _weighed(bag: Counter[str], known: Vocabulary) -> dict[str, float]:
    return {word: count * known.weight(word) for word, count in bag.items()}


def _likeness(one: dict[str, float], other: dict[str, float]) -> float:
    dot = sum(weight * other.get(word, 0.0) for word, weight in one.items())
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return dot / lengths if lengths else 0.0


def _fitness(sentence: str, bag: Counter[str], known: Vocabulary) -> float:
    length = bag.total()
    fitness = 1.0 + 0.15 * min(3, sum(word in known.names for word in bag))
    fitness *= 0.6 if _QUOTED.search(sentence) else 1.0
    fitness *= 0.7 if sentence.rstrip("\"'”’»)").endswith(("?", "!")) else 1.0
    fitness *= min(1.0, length / SHORT)
    return fitness * min(1.0, LONG / length)


def _trimmed(sentence: str, most: int) -> str:
    """Return `sentence` up to its last clause within `most` words, marked as cut; at a word where it has no such clause."""
    if count_words(sentence) <= most:
        return sentence
    for clause in reversed(list(_CLAUSE.finditer(sentence[: most * 30]))):
        if most / 2 <= count_words(sentence[: clause.start()]) <= most:
            return sentence[: clause.start()].rstrip() + "…"
    return limit_words(sentence, most)


_CAPITAL = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_TITLES = frozenset(
    {"mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "captain", "colonel", "major", "general", "professor", "aunt",
     "uncle", "father", "mother", "madame", "monsieur", "mademoiselle", "herr", "frau", "señor", "señora", "don", "doña",
     "signor", "signora", "king", "queen", "prince", "princess", "saint", "st"}
)  # fmt: skip
_NO_NAMES = frozenset(
    {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april",
     "may", "june", "july", "august", "september", "october", "november", "december", "christmas", "easter", "god", "english",
     "french", "german", "chapter", "ok", "oh", "he", "she", "it", "they", "we", "you", "the"}
)  # fmt: skip
_ARTICLES = frozenset(
    {"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines", "kein", "keine", "sein",
     "seine", "seinen", "seinem", "seiner", "ihr", "ihre", "ihren", "ihrem", "ihrer", "mein", "meine", "im", "am", "zum", "zur",
     "vom", "beim", "ins", "jede", "jeder", "diese", "dieser", "dieses", "diesen", "diesem", "zwei", "drei", "viele"}
)  # fmt: skip


def names(text: str, most: int = 12, language: str = "English") -> list[str]:
    """Return the proper names that come most often, the most frequent first.

    A name is a word that is capital inside sentences and hardly ever small; two that go together are one ("Sherlock
    Holmes"). German, which writes all nouns so, must mostly go without an article. Writings without capitals have none.
    """
    german = language_tag(language).startswith("de")
    seen, small, inside, with_article = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    pairs: Counter[tuple[str, str]] = Counter()
    before, end = "", -1
    for match in _CAPITAL.finditer(text):
        word = match.group()
        if word.endswith(("'s", "’s")):
            word = word[:-2]
        gap = text[end : match.start()] if before else "."
        if not word[0].isupper():
            small[word.casefold()] += 1
        elif len(word) > 1 and not word.isupper():
            seen[word] += 1
            near = gap == " " or (gap == ". " and before.casefold() in _TITLES)
            inside[word] += (near or gap in (", ", "; ")) and before != "I" if near or before else 0
            with_article[word] += near and before.casefold() in _ARTICLES
            if near and before[0].isupper() and before.casefold() not in _TITLES and gap == " ":
                pairs[before, word] += 1
        before, end = match.group(), match.end()
    least = 2 if sum(seen.values()) > 100 else 1
    found = {
        word: count
        for word, count in seen.items()
        if inside[word] >= least
        and small[word.casefold()] * 3 < count
        and not (german and with_article[word] * 5 > count)
        and word.casefold() not in _TITLES | _NO_NAMES
    }
    return _paired(found, pairs, most)


def _paired(found: dict[str, int], pairs: Counter[tuple[str, str]], most: int) -> list[str]:
    """Return the names by frequency; one that mostly stands beside another takes its place together with it."""
    together: dict[str, str] = {}
    for (first, second), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        if first in found and second in found and first not in together and second not in together:
            rarer = min((first, second), key=lambda name: found[name])
            if count * 2 > found[rarer] and count > 1:
                together[first] = together[second] = f"{first} {second}"
    ranked = sorted(found, key=lambda name: (-found[name], name))
    return list(dict.fromkeys(together.get(name, name) for name in ranked))[:most]
