"""Find the words and phrases that an author has banned: as whole words, whatever their case and their quotation marks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recurrentgpt.prose.sentences import UNSPACED

_PLAIN = str.maketrans("’‘ʼ“”„‑", "'''\"\"\"-")
_WORD = rf"[^\W{UNSPACED}]"
"""A character of a word with spaces around it; other scripts have no edges of words to look for."""

ACROSS = 400
"""Characters before a sentence in which a phrase may begin that ends in it."""


class BannedPhrases:
    """Phrases as they are looked for in sentences."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self._patterns = {phrase: _pattern(_plain(phrase)) for phrase in phrases}

    def find(self, sentence: str, before: str = "") -> str:
        """Return the first phrase, as it was banned, that `sentence` holds, or ends after `before`; "" where there is none."""
        if not self._patterns:
            return ""
        earlier = _plain(before[-ACROSS:])
        text = earlier + _plain(sentence)
        for phrase, pattern in self._patterns.items():
            if any(match.end() > len(earlier) for match in pattern.finditer(text)):
                return phrase
        return ""


def _plain(text: str) -> str:
    return text.translate(_PLAIN).casefold()


def _pattern(phrase: str) -> re.Pattern[str]:
    left = rf"(?<!{_WORD})" if re.match(_WORD, phrase) else ""
    right = rf"(?!{_WORD})" if re.match(_WORD, phrase[-1:]) else ""
    return re.compile(left + r"\s+".join(map(re.escape, phrase.split())) + right)
