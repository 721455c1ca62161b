"""The marks of Markdown and HTML in prose: what a reader is to see stays, and how a page was to be laid out does not."""

from __future__ import annotations

import html
import re

_BREAK = re.compile(r"[^\S\n]*<br ?/?>[^\S\n]*\n?", re.IGNORECASE)
_UNDERLINED = re.compile(r"</?u>", re.IGNORECASE)
_CODE = re.compile(r"(?<![`\w])`(?=[^\s`])([^`\n]{1,2000}?)(?<=[^\s`])`(?![`\w])")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?:https?://|www\.)[^\s()]{1,500}\)")
_STRUCK = re.compile(r"(?<![~\w])~~(?=[^\s~])([^~\n]{1,2000}?)(?<=[^\s~])~~(?![~\w])")
_HEADING = re.compile(
    r"^((?:[^\S\n]*>)*[^\S\n]*)#{1,6}[^\S\n]+(\S(?:[^\n]*?\S)?)(?:[^\S\n]+#+)?[^\S\n]*$", re.MULTILINE
)
_ESCAPED = re.compile(r"\\([*_#>~`\"'.!()\[\]-])")
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[\da-fA-F]{2,5});")
_QUOTED = re.compile(r"(?:^[^\S\n]*>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_QUOTES = re.compile(r"^[^\S\n]*(?:>[^\S\n]?)+")


def without_markup(text: str) -> str:
    """Return `text` with what was escaped, underlined, struck out, linked or set as code as it is to be read; fences stay."""
    if "<" in text:
        text = _UNDERLINED.sub("*", _BREAK.sub("\n", text))
    if "`" in text:
        text = _CODE.sub(_emphasis, text)
    if "~~" in text:
        text = _STRUCK.sub(r"\1", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text) if "&" in text else text


def without_marks_of_lines(text: str) -> str:
    """Return a whole passage with its headings as lines, and without the marks of what is struck out over several sentences."""
    if "#" in text:
        text = _HEADING.sub(r"\1\2", text)
    return _STRUCK.sub(r"\1", text) if "~~" in text else text


def quoted_as_emphasis(text: str) -> str:
    """Return `text` with its block quotations, letters and cuttings for the most part, emphasised line by line.

    One that has emphasis of its own keeps that alone; a text that is quoted as a whole loses the marks and nothing else.
    """
    if ">" not in text:
        return text
    whole = not _QUOTED.sub("", text).strip()
    return _QUOTED.sub(lambda block: _unquoted(block[0], plain=whole), text)


def _emphasis(span: re.Match[str]) -> str:
    return span[1] if "*" in span[1] else f"*{span[1]}*"


def _unquoted(block: str, *, plain: bool) -> str:
    lines = [_QUOTES.sub("", line).strip() for line in block.split("\n")]
    if plain or any(mark in block for mark in "*_<"):
        return "\n".join(lines)
    return "\n".join(f"*{line}*" if any(map(str.isalnum, line)) else line for line in lines)
