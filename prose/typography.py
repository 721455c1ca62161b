"""Quotation marks as a language prints them, in the place of those that a keyboard has."""

from __future__ import annotations

import re

_MARKS = {
    "cs": "„“‚‘",
    "de": "„“‚‘",
    "es": "«»“”",
    "fi": "””’’",
    "fr": "«»‹›",
    "it": "«»“”",
    "pl": "„”‚’",
    "ru": "«»„“",
    "sv": "””’’",
}
_ENGLISH = "“”‘’"
_ENDS_A_QUOTATION = ",.;:!?)]}…"
_LEFT_OUT = re.compile(r"'(?=\d|(?:tis|twas|em|til|cause|bout)\b)", re.IGNORECASE)
"""An apostrophe for letters that are left out at the beginning of a word."""
_BEFORE_A_QUOTATION = re.compile(r"[\s(\[{*—–“„«‘‚‹\"]")


def typographic(text: str, tag: str) -> str:
    """Return a text with typographic quotation marks in the place of straight ones, letter for letter.

    `tag` is that of its language, such as `de`. The page of the desk shows them by the same rules.
    """
    opening, closing, inner, end = tuple(_MARKS.get(tag.split("-")[0].casefold(), _ENGLISH))

    def printed(found: re.Match[str]) -> str:
        before = text[found.start() - 1] if found.start() else " "
        after = text[found.end()] if found.end() < len(text) else " "
        opens = _BEFORE_A_QUOTATION.match(before) and not after.isspace() and after not in _ENDS_A_QUOTATION
        if found[0] == '"':
            return opening if opens else closing
        if (before.isalpha() and after.isalpha()) or _LEFT_OUT.match(text, found.start()):
            return "’"
        return inner if opens else end

    return re.sub("[\"']", printed, text)
