"""Make text fit for files: the characters that all formats can hold, lines, paragraphs, languages."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from recurrentgpt.prose.sentences import language_code

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# What XML 1.0 or HTML forbids: controls, and the code points that are no characters.
_NO_CHARACTERS = "".join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
_FORBIDDEN = re.compile(f"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef{_NO_CHARACTERS}]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n\s*\n")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?")
_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "iw", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"})


def clean(text: str) -> str:
    r"""Return `text` with `\n` as its only line end, without the control characters that no book format can hold.

    Half a surrogate pair becomes U+FFFD. Marks of direction and of zero width are text and stay.
    """
    text = _FORBIDDEN.sub("", _LINE_ENDS.sub("\n", text))
    return _SURROGATES.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Return `text` cleaned, with every run of white space as one space."""
    return " ".join(clean(text).split())


def paragraphs(text: str) -> list[str]:
    """Return what blank lines divide, each line without the white space around it, and nothing empty."""
    pieces = ("\n".join(line.strip() for line in piece.split("\n")) for piece in _BLANK_LINES.split(text))
    return [stripped for piece in pieces if (stripped := piece.strip())]


def clean_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, cleaned; most texts are one already, which is seen without a pattern."""
    if text.isprintable():
        return [stripped] if (stripped := text.strip()) else []
    return paragraphs(clean(text))


def language_tag(language: str) -> str:
    """Return the BCP 47 tag of a language given by name or tag; `und`, undetermined, where it is not known."""
    given = language.strip()
    code = language_code(given)
    if code != "en" or given.casefold() in ("english", "en"):
        return code
    return given if _TAG.fullmatch(given) else "und"


def direction(tag: str, sample: str) -> Literal["ltr", "rtl"]:
    """Return which way a language runs; that of a language which is not known is read off the letters of `sample`."""
    if tag != "und":
        primary, *rest = tag.casefold().split("-")
        scripts = {part for part in rest if len(part) == 4}
        right = scripts & {"arab", "hebr"} or (primary in _RIGHT_TO_LEFT and not scripts)
        return "rtl" if right else "ltr"
    classes = [unicodedata.bidirectional(character) for character in sample[:2000]]
    right_to_left = sum(kind in ("R", "AL") for kind in classes)
    return "rtl" if right_to_left > classes.count("L") else "ltr"
