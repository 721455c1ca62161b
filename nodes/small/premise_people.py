"""Hold the people of a founded story to the premise that somebody gave: spelled as there, and denied nothing that it grants.

A small model writes Liezl for Liesl, and of the audiologist of a premise it makes one "who cannot hear".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from recurrentgpt.prose.sentences import sentences

_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w’'-]*")
_SHORTEST = 4
"""Letters from which on a name may be another one misspelled."""
_ALIKE = 0.75
"""How much of its letters a name shares with the one that it is meant for."""
_LACKS = re.compile(
    r"(?:,? |^)who (?:(?:has|had|is|was|does|did|can|could|will|would) (?:never|not)|cannot|never)\b.*$", re.DOTALL
)
"""What somebody is said to lack, at the end of who they are."""
_DENIES = re.compile(r"\b(?:never|not|cannot|no longer|\w+n['’]t)\b", re.IGNORECASE)


def misspelled(names: Sequence[str], premise: str) -> dict[str, str]:
    """Return which words of `names` are to be spelled as the premise spells them: a first name, where the last name is there."""
    known, written = set(_NAME.findall(premise)), {word for name in names for word in name.split()}
    found: dict[str, str] = {}
    for name in names:
        words = name.split()
        for word in words if known.intersection(words) else ():
            # A name that somebody else has, and one that begins otherwise, was not meant.
            like = [other for other in known - written if other[0] == word[0] and len(other) >= _SHORTEST]
            if word not in known and (match := get_close_matches(word, like, 1, _ALIKE)):
                found[word] = match[0]
    return found


def told_of(name: str, who: str, premise: str) -> str:
    """Return who somebody is, without what they lack by it where the premise names them and denies them nothing.

    Where nothing else is said of them, it is what the premise says that they do.
    """
    own = next((word for word in name.split()[::-1] if re.search(rf"\b{re.escape(word)}\b", premise)), "")
    telling = (
        [sentence for sentence in sentences(premise) if re.search(rf"\b{re.escape(own)}\b", sentence)] if own else []
    )
    if not telling or any(map(_DENIES.search, telling)):
        return who
    if kept := _LACKS.sub("", who).strip():
        return kept
    does = re.search(rf"\b{re.escape(own)},? ((?!is\b|has\b)[a-z]+s [^.!?]+)", telling[0])
    return f"who {does[1].strip()}" if does else who
