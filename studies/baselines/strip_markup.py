"""The story's own text: what a model puts around a passage, a title, headings and remarks, is taken from every system's alike.

The engine's gate refuses such lines while they are written. Systems whose texts come whole, as Re3's drafts do, have no gate,
and a reader who is to compare blindly would know them by their headings.
"""

from __future__ import annotations

import re

from recurrentgpt.prose.sentence_checks import Examiner
from recurrentgpt.prose.sentences import segments

AROUND = ("heading", "meta", "script", "role", "code", "control")
"""Kinds of the gate's faults that are about the form of a text, and not about its story."""

_BEFORE = 2000
"""Characters before a sentence that its paragraph can begin in."""

_EMPHASIS = re.compile(r"(?<![\w*_])([*_]{1,3})(?=[^\s*_])([^\n]*?[^\s*_])\1(?![\w*_])")
_TITLE = re.compile(r"[^\W_][^\n.!?…\"”’:,;—–。！？」』：，；、]{1,59}")
_WORD = re.compile(r"[^\W\d_][\w’']*")
_SMALL_WORD = re.compile(r"an?|and|at|by|for|from|in|into|of|on|or|over|the|to|with")


def strip_markup(text: str, language: str = "English") -> str:
    """Return `text` without headings, titles, rules and remarks, and without marks of emphasis; "The end" is a remark too."""
    examiner, kept = Examiner(language=language), ""
    for line in text.splitlines(keepends=True):
        said = _EMPHASIS.sub(r"\2", line)
        if said.strip() == line.strip().strip("*_") != line.strip() and _TITLE.fullmatch(said.strip()):
            continue
        # Line by line: a heading may stand right above a sentence.
        for piece in segments(said, language):
            fault = examiner.examine(piece, kept[-_BEFORE:]) if piece.strip() else None
            if fault is None or fault.kind not in AROUND:
                kept += piece
            elif piece.endswith("\n"):
                kept += "\n"
    paragraphs = (paragraph.strip() for paragraph in re.split(r"\n\s*\n", kept))
    told = "\n\n".join(paragraph for paragraph in paragraphs if paragraph and not _TITLE.fullmatch(paragraph))
    return _below_title(told)


def _below_title(text: str) -> str:
    """Return `text` without titles that stand right above its first sentence, as "The Echoing Bell (Fantasy)" does."""
    first, _, rest = text.partition("\n")
    large = [word for word in _WORD.findall(first) if not _SMALL_WORD.fullmatch(word)]
    titled = len(large) > 1 and _TITLE.fullmatch(first.replace("’", "'")) and all(word[0].isupper() for word in large)
    begins = rest[:1].isupper() or rest[:1] in '“"‘«„'
    return _below_title(rest) if rest and titled and begins else text
