"""Part words that a small model ran together.

Where a penalty on repetition forbids it to say "return the parcel" once more, it says "return theparcel"; now and then it
forgets a space of its own accord ("andBegin").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

_JOINED = re.compile(
    r"\b(?:(?P<before>the|her|his|and)(?P<word>[a-z]{4,})|(?P<first>[a-z]{4,})(?P<after>the|her|his|and|was|had))\b"
)
_SMALL = re.compile(r"\b(with|of|to|from|for|in|on|at)(the|him|her|his|them)\b")
_CAPITAL_WITHIN = re.compile(r"\b([a-z]{2,})([A-Z][a-z]+)\b")
_WHOLE = frozenset({"herself", "herring", "brigand", "panther", "heather", "slither", "feather"})
_ALSO_ONE = frozenset(
    {"afternoon", "already", "altogether", "another", "anybody", "anyhow", "anyone", "anything", "anyway", "anywhere",
     "became", "because", "become", "before", "behind", "below", "beside", "beyond", "cannot", "downstairs", "everybody",
     "everyday", "everyone", "everything", "everywhere", "forever", "goodbye", "herself", "himself", "however", "indeed",
     "indoors", "inside", "instead", "into", "itself", "maybe", "meantime", "meanwhile", "midday", "midnight", "myself",
     "nearby", "nobody", "nothing", "nowhere", "onto", "ourselves", "outcome", "outdoors", "outside", "overcome",
     "overhead", "somebody", "somehow", "someone", "something", "sometime", "sometimes", "somewhere", "themselves",
     "throughout", "today", "together", "tomorrow", "tonight", "toward", "towards", "underneath", "understand", "undertake",
     "upon", "upright", "upstairs", "whatever", "whenever", "wherever", "whoever", "within", "without", "yourself"}
)  # fmt: skip
"""Words of their own that are two others in one."""
_WORD = re.compile(r"[^\W\d_]+")
_NEIGHBOURS = re.compile(r"[^\W\d_]+(?:[ \n][^\W\d_]+)+")

Said = Mapping[tuple[str, str, str], str]
"""What was said of four words in a row: by the first, the second, and the others in one, the third and fourth as they were."""


def split_joined_words(text: str, known: Collection[str]) -> str:
    """Return English `text` with a space inside each word that is two small ones, or a small one and one of `known`.

    And inside one that is two of `known`, of which a capital tells, as in "wereRunning".
    """

    def part(match: re.Match[str]) -> str:
        if match[0] in known or match[0] in _WHOLE:
            return match[0]
        if match["word"] in known:
            return f"{match['before']} {match['word']}"
        return f"{match['first']} {match['after']}" if match["first"] in known else match[0]

    def part_at_capital(match: re.Match[str]) -> str:
        first, second = match[1], match[2].lower()
        return f"{first} {second}" if first in known and second in known else match[0]

    return _CAPITAL_WITHIN.sub(part_at_capital, _SMALL.sub(r"\1 \2", _JOINED.sub(part, text)))


@lru_cache(maxsize=256)
def fours(text: str) -> Said:
    """Return what a text says of every four words in a row."""
    said: dict[tuple[str, str, str], str] = {}
    for run in _NEIGHBOURS.finditer(text):
        spoken = run[0].split()
        small = [word.casefold() for word in spoken]
        for first, second, third, fourth, *as_written in zip(
            small, small[1:], small[2:], small[3:], spoken[2:], spoken[3:], strict=False
        ):
            if min(len(third), len(fourth)) > 1 and third + fourth not in _ALSO_ONE:
                said[first, second, third + fourth] = " ".join(as_written)
    return said


def split_repeated(text: str, before: str, said: Said) -> str:
    """Return `text`, which follows `before`, with a space in each word that was two where the two words before it stood once.

    "She must find anotherplace toLive" is "another place to live" where that was said of what she must find.
    """
    done, at = "", 0
    last = [word.casefold() for word in before[-80:].replace("\n", " ").split(" ") if word][-2:]
    for match in _WORD.finditer(text):
        done += text[at : match.start()]
        word, at = match[0], match.end()
        two = said.get((last[0], last[1], word.casefold())) if len(last) == 2 else None
        if two and word.casefold() != two.casefold():
            word = word[0] + two[1:]
        done += word
        last = [*last, *word.casefold().split()][-2:]
    return done + text[at:]
