"""The numbers, bullets and labels that a model puts before the items of a list: the program counts them itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BULLET = re.compile(r"[-*•]\s+(?=\S)")
_LABEL = re.compile(
    r"^(?:\*\*[^*\n]{1,40}?(?::\*\*|\*\*:)|(?:Plan|Option|Choice) \d{1,2}(?: \([^()\n]{1,40}\))?:)\s+(?=\S)"
)
"""`**Confrontation:**` or `Plan 3 (cost):`; without its colon, strong words may be the item's own."""
_NUMBER = re.compile(r"\(?(\d{1,2})[.):]\s+(?=\S)")


def without_marks(lines: Sequence[str]) -> list[str]:
    """Return items without bullets and labels, and without their numbers where they count up from item to item.

    A lone number stays: "14. Februar" is a day.
    """
    plain = [_BULLET.sub("", line, count=1) if _BULLET.match(line) else line for line in lines]
    found = [_NUMBER.match(line) for line in plain]
    numbers = [int(match[1]) for match in found if match]
    if len(plain) < 2 or len(numbers) < len(plain) or numbers != list(range(numbers[0], numbers[0] + len(plain))):
        found = [None] * len(plain)
    rest = [line[match.end() :] if match else line for line, match in zip(plain, found, strict=True)]
    return [_LABEL.sub("", line, count=1) for line in rest]


def without_number(line: str, number: int) -> str:
    """Return an item without its bullet, and without the number that it is known by."""
    (plain,) = without_marks([line])
    match = _NUMBER.match(plain)
    return plain[match.end() :] if match and int(match[1]) == number else plain
