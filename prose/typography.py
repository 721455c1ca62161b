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
_DIGITS = frozenset("0123456789")
_LEFT_OUT = re.compile(r"'(?=\d|(?:tis|twas|em|til|cause|bout)\b)", re.IGNORECASE)
"""An apostrophe for letters that are left out at the beginning of a word."""
_FEET_AND_INCHES = re.compile("[0-9]('[ -]?)[0-9]{1,2}(?:[.][0-9]+|[¼½¾])?(\")")
_MARK = re.compile("[\"'“„«”»‘‚‹’›]|\n\n")
_OPENS, _CLOSES = {**dict.fromkeys("“„«", '"'), **dict.fromkeys("‘‚‹", "'")}, {**dict.fromkeys("”»", '"'), "›": "'"}
"""Of which kind a quotation is that a typographic mark opens or closes; ’ may be an apostrophe."""
_BEFORE_A_QUOTATION = re.compile(r"[\s(\[{*—–“„«‘‚‹\"]")


def typographic(text: str, tag: str) -> str:
    """Return a text with typographic quotation marks in the place of straight ones, letter for letter.

    Those of feet and inches stay: what stands behind a number ends a quotation only where one is open in its paragraph. `tag` is
    that of the text's language, such as `de`. The page of the desk shows them by the same rules.
    """
    opening, closing, inner, end = tuple(_MARKS.get(tag.split("-")[0].casefold(), _ENGLISH))
    measured = {found.start(mark) for found in _FEET_AND_INCHES.finditer(text) for mark in (1, 2)}
    is_open = {'"': False, "'": False}

    def printed(found: re.Match[str]) -> str:
        mark, at = found[0], found.start()
        before, after = text[at - 1 : at] or " ", text[at + 1 : at + 2] or " "
        if mark == "\n\n":
            is_open.update({'"': False, "'": False})
        elif kind := _OPENS.get(mark) or _CLOSES.get(mark):
            is_open[kind] = mark in _OPENS
        elif mark == "’":
            is_open["'"] = is_open["'"] and before.isalnum() and after.isalnum()
        if mark not in is_open:
            return mark
        is_number = before in _DIGITS and (mark == '"' or not after.isalnum())
        if at in measured or (is_number and not is_open[mark]):
            return mark
        opens = bool(_BEFORE_A_QUOTATION.match(before)) and not after.isspace() and after not in _ENDS_A_QUOTATION
        if mark == '"':
            is_open[mark] = opens or not is_open[mark]
            return opening if opens else closing
        if (before.isalnum() and after.isalnum()) or _LEFT_OUT.match(text, at):
            return "’"
        is_open[mark] = opens
        return inner if opens else end

    return _MARK.sub(printed, text)
