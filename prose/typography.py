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
_FEET_AND_INCHES = re.compile("[0-9]('[ -]?)[0-9]{1,2}(?:[.][0-9]+|[¼½¾])?(\")")
_OPEN = {
    '"': re.compile(r"""(?:(?:\A|[\s(\[{*—–])"(?=\S)|[“„«])[^"”»]*\Z"""),
    "'": re.compile(
        r"""(?:(?:\A|[\s(\[{*—–“„«"])'(?=\S)(?!\d|(?:tis|twas|em|til|cause|bout)\b)|[‘‚‹])(?:[^'’›]|(?<=\w)['’](?=\w))*\Z""",
        re.IGNORECASE,
    ),
}
"""The end of a text in which a quotation of such marks is open."""
_BEFORE_A_QUOTATION = re.compile(r"[\s(\[{*—–“„«‘‚‹\"]")


def typographic(text: str, tag: str) -> str:
    """Return a text with typographic quotation marks in the place of straight ones, letter for letter.

    Those of feet and inches stay: what stands behind a number ends a quotation only where one is open in its paragraph. `tag` is
    that of the text's language, such as `de`. The page of the desk shows them by the same rules.
    """
    opening, closing, inner, end = tuple(_MARKS.get(tag.split("-")[0].casefold(), _ENGLISH))

    measured = {found.start(mark) for found in _FEET_AND_INCHES.finditer(text) for mark in (1, 2)}

    def printed(found: re.Match[str]) -> str:
        if found.start() in measured or _is_measure(text, found.start()):
            return found[0]
        before = text[found.start() - 1] if found.start() else " "
        after = text[found.end()] if found.end() < len(text) else " "
        opens = _BEFORE_A_QUOTATION.match(before) and not after.isspace() and after not in _ENDS_A_QUOTATION
        if found[0] == '"':
            return opening if opens else closing
        if (before.isalpha() and after.isalpha()) or _LEFT_OUT.match(text, found.start()):
            return "’"
        return inner if opens else end

    return re.sub("[\"']", printed, text)


def _is_measure(text: str, at: int) -> bool:
    """Return whether a mark stands for feet or inches, for it follows a number and nothing is there that it would end."""
    if text[at - 1 : at] not in tuple("0123456789") or (text[at] == "'" and text[at + 1 : at + 2].isalnum()):
        return False
    before = text[max(0, text.rfind("\n\n", 0, at)) : at]
    return not _OPEN[text[at]].search(_FEET_AND_INCHES.sub("", before))
