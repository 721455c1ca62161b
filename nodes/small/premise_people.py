"""Hold the people of a founded story to the premise that somebody gave: spelled as there, and denied nothing that it grants.

A small model writes Liezl for Liesl, and of the audiologist of a premise it makes one "who cannot hear". What may be meant is
let stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from recurrentgpt.schema.names import OFFICE, TRADE

_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'-]*"
_WORD = re.compile(r"[^\W_][\w-]*")
_ALIKE = 0.75
"""How much of its letters a first name shares with the one that it is meant for."""
_LACKS = re.compile(
    r"(?:, |^)who (?:cannot|can not|does not|is not|never|has never (?:been|met|seen|heard|spoken))\b[^,]*$"
)
"""What somebody is said to lack, where it is all that comes at the end of who they are."""
_DENIES = re.compile(
    r"\b(?:never|not|cannot|\w+n['’]t|no|none|nobody|nothing(?! but)|without|deaf|blind|mute|lame|lost|loses|lacks|refuse[ds]?|"
    r"unable)\b",
    re.IGNORECASE,
)
"""Words of a premise that may deny somebody what they lack."""


def misspelled(names: Sequence[str], premise: str) -> dict[str, str]:
    """Return which first names are to be spelled otherwise: as the premise spells the one before the same last name."""
    written, found = {word for name in names for word in name.split()}, dict[str, str]()
    for name in names:
        first, _, last = name.rpartition(" ")
        first = first.rpartition(" ")[2]
        told = set(re.findall(rf"\b({_CAPITAL}) {re.escape(last)}\b", premise)) if first else set[str]()
        if len(told) == 1 and not told & written:
            (meant,) = told
            if meant[0] == first[0] and SequenceMatcher(None, first, meant).ratio() >= _ALIKE:
                found[first] = meant
    meant_for = Counter(found.values())
    return {word: meant for word, meant in found.items() if meant_for[meant] == 1}


def told_of(name: str, who: str, premise: str) -> str:
    """Return who somebody is, without what they lack by it where the premise has their name and denies nobody anything."""
    if not set(_WORD.findall(name)) <= set(_WORD.findall(premise)) or _DENIES.search(premise):
        return who
    if kept := _LACKS.sub("", who).strip():
        return kept
    trade = _WORD.findall(name)[0].casefold()
    return f"the {trade}" if re.fullmatch(rf"{OFFICE}|{TRADE}", trade) else who
