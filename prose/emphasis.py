"""Emphasis in prose: what a book prints in italics stands between single asterisks, *so*, and they mean nothing else."""

from __future__ import annotations

import re

from recurrentgpt.prose.sentences import UNSPACED

_SPACED = rf"[^\W{UNSPACED}\uac00-\ud7af]"
"""A letter of a script in which no emphasis begins or ends within a word; Korean sets particles to its words."""
_BEFORE, _AFTER = rf"(?<![*])(?<!{_SPACED})", rf"(?![*]|{_SPACED})"
_SPAN = re.compile(rf"{_BEFORE}\*(?=[^\s*])([^*\n]{{1,2000}}?)(?<=[^\s*])\*{_AFTER}")
_UNDERSCORED = re.compile(r"(?<!\w)_{1,3}(?=[^\s_])([^_*\n]{1,2000}?)(?<=[^\s_])_{1,3}(?!\w)")
_OVER_LINES = re.compile(
    rf"{_BEFORE}(?P<mark>[*_])(?=[^\s*_])(?:(?P<block>(?:[^*_\n]|\n(?!\s*\n)){{1,2000}}?)(?<=\S)(?P=mark){_AFTER}"
    r"|(?<=^.)(?P<blocks>[^*_]{1,2000}?)(?<=\S)(?P=mark)$)",
    re.MULTILINE,
)
"""Emphasis that ends on a later line, in one paragraph or as the whole of several."""
_TAG = re.compile(r"</?(?:i|em|b|strong)>", re.IGNORECASE)
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_STRONG = re.compile(rf"{_BEFORE}(\*{{2,3}})(?=[^\s*])((?:[^*]|(?<!\*)\*(?!\*)){{1,2000}}?)(?<=[^\s*])\1{_AFTER}")

OPENS, CLOSES = "\ue000", "\ue001"
"""Where a reader of files found that emphasis begins and ends, until `from_marks` has seen both."""
_INSIDE = rf"[^\s{OPENS}{CLOSES}*](?:[^\n{OPENS}{CLOSES}*]*[^\s{OPENS}{CLOSES}*])?"
_MARKED = re.compile(rf"(?<!\w){OPENS}(\s*)({_INSIDE})(\s*){CLOSES}(?!\w)")


def emphasised(text: str) -> list[tuple[str, bool]]:
    """Return `text` in pieces without their asterisks, and whether each is emphasised."""
    found: list[tuple[str, bool]] = []
    end = 0
    for span in _SPAN.finditer(text):
        found += [(text[end : span.start()], False), (span[1], True)]
        end = span.end()
    return [(piece, marked) for piece, marked in [*found, (text[end:], False)] if piece]


def plain(text: str) -> str:
    """Return `text` without the asterisks of its emphasis."""
    return _SPAN.sub(r"\1", text)


def uncut(text: str, part: slice) -> slice:
    """Return a part of `text`, widened so that it cuts no emphasis apart; one that lies inside an emphasis stays."""
    start, stop = part.start, part.stop
    for span in _SPAN.finditer(text):
        if _holds(span, part):
            return part
        if span.start() < part.stop and part.start < span.end():
            start, stop = min(start, span.start()), max(stop, span.end())
    return slice(start, stop)


def lies_inside(text: str, part: slice) -> bool:
    """Return whether a part of `text` lies inside an emphasis, and holds neither of its asterisks."""
    return any(_holds(span, part) for span in _SPAN.finditer(text))


def _holds(span: re.Match[str], part: slice) -> bool:
    return bool(span.start() < part.start and part.stop < span.end())


def single_marks(text: str) -> str:
    """Return `text` with its emphasis marked by single asterisks, however it was marked before."""
    if "<" in text:
        text = _TAG.sub("*", text)
    # Most text has none, and the patterns would look behind every letter of it.
    return _UNDERSCORED.sub(r"*\1*", _STRONG.sub(_single, text)) if "*" in text or "_" in text else text


def _single(span: re.Match[str]) -> str:
    return f"*{span[2].replace('*', '')}*"


def line_by_line(text: str) -> str:
    """Return `text` with single marks, those of an emphasis that goes over several lines around each of its lines."""
    text = single_marks(text)
    return _OVER_LINES.sub(_marked_lines, text) if "*" in text or "_" in text else text


def _marked_lines(span: re.Match[str]) -> str:
    inside = span["block"] or span["blocks"]
    return _LINE.sub(r"*\g<0>*", inside) if "\n" in inside else span[0]


def one_form(text: str) -> str:
    """Return `text` with single marks; what pairs with none is no emphasis, and stays as it is."""
    return single_marks(text)


def from_marks(text: str) -> str:
    """Return `text` with what stands between OPENS and CLOSES emphasised, where that is whole words of one line."""
    text = text.replace(CLOSES + OPENS, "")
    return _MARKED.sub(r"\1*\2*\3", text).replace(OPENS, "").replace(CLOSES, "")


# Emphasis only: a bullet ("* ") and a ruled line of its own stay, for they are faults and not wrappers.
_ANY_MARK = re.compile(r"(?<=\S)\*{1,3}|\*{1,3}(?=[^\s*])|(?<!\w)_{1,2}(?=\w)|(?<=[\w.,!?])_{1,2}(?!\w)")
"""Marks of emphasis; most text has none, which `without_emphasis` sees at once."""


def without_emphasis(text: str) -> str:
    """Return text without any mark of emphasis."""
    return _ANY_MARK.sub("", text) if "*" in text or "_" in text else text


_EMPHASISED = re.compile(r"\s*+(\*{1,3}|_{1,2})[^\s*_][^*_\n]*+(?:\1\W*)?")


def is_emphasised(sentence: str, before: str) -> bool:
    """Tell whether a sentence stands in a line that is emphasised from its beginning to where it ends."""
    return bool(_EMPHASISED.fullmatch(before.rpartition("\n")[2] + sentence))
