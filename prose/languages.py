"""Tell the language of a text by its words, and the one that a premise asks for."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recurrentgpt.prose.sentences import ENGLISH_NAMES, OWN_NAMES, language_name, words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier  # type: ignore[import-untyped]

SUREST_DOUBT = 0.8
"""Least probability of a language that is believed: below it come names alone, mixed texts, and neighbours such as Danish."""

_FEWEST_WORDS, _SHORT = 3, 20
_OF_ENGLISH_ALONE = frozenset((
    "and", "from", "his", "she", "that", "the", "their", "they", "when", "where", "while", "who", "whose", "with",
))  # fmt: skip
"""Among a few words, one of these outweighs the names of people and places, which are all that looks foreign; among more, two."""
_FEWEST_OF_NEIGHBOURS = 5
"""Words in small letters below which a text in one of several neighbours has to be less English: they may be loan-words."""
_NO_ENGLISH = 0.02
"""Probability of English below which a text is in another language, though it may be one of several neighbours."""

_PLEASE = (
    r"(?:please|bitte|por favor|per favore|per piacere|s['’]il (?:te|vous) pla[iî]t|proszę|tack|alsjeblieft|graag)"
)
_TELL = r"(?:write|tell|answer|make)(?:\s+(?:it|this|that|me|everything|all|the story))?"
_LANGUAGE = "|".join(sorted(map(re.escape, (*ENGLISH_NAMES, *OWN_NAMES)), key=len, reverse=True))
_IN = rf"(?:in|auf|en|em|på|po|language\s*[:=])\s+(?P<language>{_LANGUAGE})\b"
_STORY = "(?:story|tale|novel|novella|book|mystery|romance|thriller|comedy|fable)"
_PLEADS = rf"(?:{_PLEASE},?\s+|can you\s+|could you\s+|would you\s+|i want\s+|i(?:['’]d| would) (?:like|love)\s+)*"
_BEGINS = r"(?:write|tell|make|give|create|begin|start)\b"
_WISH = rf"{_PLEADS}(?:{_BEGINS}\s+(?:(?:me|us)\s+)?)?"
_A_STORY = rf"(?:an?|the|another)\s+(?:[\w'’-]+,?\s+){{0,3}}?{_STORY}"
_BARE_STORY = rf"(?:(?!(?:an?|the|another|he|she|they|it)\b)[\w'’-]+,?\s+){{0,3}}?{_STORY}"
_NOT_OF_SOMEBODY = (
    r"(?:(?!\b(?:that|when|where|which|who|whose)\b)[^.!?\n])*(?<!ing)(?<!ed)(?<!written)(?<!spoken)(?<!sung)"
)
"""Nobody in the story does it: "who dreams in German", "a parrot swearing in Spanish"."""
_ASKS = (
    # A sentence of its own: "In German, please.", "Auf Deutsch bitte", "And write it in French".
    re.compile(
        rf"(?:^|[.!?\n])\s*(?:(?:and|{_PLEASE}),?\s+)?(?:{_TELL}\s+)?{_IN}(?:,?\s*{_PLEASE})?\s*(?=$|[.!?:;\n–—])",
        re.IGNORECASE,
    ),
    # Within one it takes a wish: what is told of may be written in Russian, or speak in Dutch.
    re.compile(rf"[,:;(–—]\s*(?:{_PLEASE}|(?:and\s+)?{_TELL}),?\s+{_IN}\s*(?=$|[.!?:;)\n–—])", re.IGNORECASE),
    re.compile(rf"[,:;(–—]\s*{_IN},?\s*{_PLEASE}\s*(?=$|[.!?:;)\n–—])", re.IGNORECASE),
    # "A ghost story in German about a miller"; but not "a novel in French Canada".
    re.compile(
        rf"^\W*{_WISH}(?:{_A_STORY}|{_BARE_STORY})\s+{_IN}"
        rf"(?=\s*(?:$|[.!?:;,)\n–—])|\s+(?:about|for|of|on|set|where|with|{_PLEASE})\b)",
        re.IGNORECASE,
    ),
    # A wish of which it is the end, or a story of something, with a stop before it.
    re.compile(
        rf"(?:^|[.!?\n])\s*{_PLEADS}{_BEGINS}(?:{_NOT_OF_SOMEBODY})?"
        rf"(?:\s*[,;(]\s*|\s+){_IN}(?:,?\s*{_PLEASE})?\)?\s*(?=$|[.!?\n])",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\W*{_PLEADS}{_A_STORY}\s+(?:about|of|for|on|with|set)\b{_NOT_OF_SOMEBODY}"
        rf"\s*[,;(]\s*{_IN}(?:,?\s*{_PLEASE})?\)?\s*(?=$|[.!?\n])",
        re.IGNORECASE,
    ),
)


def asked_language(premise: str) -> str:
    """Return the English name of the language that a premise asks for ("in German, please"); empty for none."""
    told = "\n".join(" ".join(line.split()) for line in premise.splitlines() if line.strip())
    found = next(filter(None, (pattern.search(told) for pattern in _ASKS)), None)
    return language_name(found["language"]) if found else ""


def premise_language(premise: str) -> str:
    """Return the English name of the language that a premise asks for, or is written in; empty where that is in doubt.

    The first call with a text that asks for none takes half a second.
    """
    return asked_language(premise) or _written_language(premise)


def _written_language(premise: str) -> str:
    told = words(premise)
    small = [word for word in told if not word[0].isupper()]
    if len(told) < _FEWEST_WORDS or not small:
        return ""
    if len(_OF_ENGLISH_ALONE.intersection(small)) >= (1 if len(told) < _SHORT else 2):
        return ""
    # Names look like the language that they come from: without them, the rest has to look so, too.
    shares, without_names = language_shares(premise), language_shares(" ".join(small))
    code = max(shares, key=lambda code: shares[code])
    if code == "en" or without_names[code] < without_names["en"]:
        return ""
    no_english = _NO_ENGLISH if len(small) >= _FEWEST_OF_NEIGHBOURS else _NO_ENGLISH / 5
    if shares[code] < SUREST_DOUBT and max(shares["en"], without_names["en"]) > no_english:
        return ""
    return language_name(code)


def language_shares(text: str) -> Mapping[str, float]:
    """Return how probable each language that a story can be told in is as that of a text, by its code."""
    ranked = {str(code): float(share) for code, share in identifier().rank(text) if language_name(code) != code}
    whole = sum(ranked.values())
    return {code: share / whole for code, share in ranked.items()}


@functools.cache
def identifier() -> LanguageIdentifier:
    """Return what tells languages apart, read at the first call."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
