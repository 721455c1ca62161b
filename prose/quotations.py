"""Tell which words of a text are said aloud, by straight and by curly double quotation marks."""

from __future__ import annotations

import re

from recurrentgpt.prose.sentences import words

_WHOLE = re.compile(r'["“]([^"“”]+)["”]')


def quotations(text: str) -> list[str]:
    """Return what is said in `text` from mark to mark, without the marks."""
    return _WHOLE.findall(text)


def open_quotation(text: str) -> str:
    """Return the end of `text` from a quotation mark on that its paragraph has not closed yet."""
    paragraph = text.rpartition("\n")[2]
    mark = max(paragraph.rfind('"') if paragraph.count('"') % 2 else -1, paragraph.rfind("“"))
    return paragraph[mark:] if mark >= 0 and "”" not in paragraph[mark:] else ""


def close_quotation(text: str) -> str:
    """Return `text` with the quotation closed in whose middle it was cut: what comes next begins a new paragraph."""
    return text + ("”" if said[0] == "“" else '"') if (said := open_quotation(text)) else text


def close_quotations(text: str) -> str:
    """Return `text` with the quotation closed that each of its paragraphs leaves open."""
    return "\n".join(
        close_quotation(paragraph.rstrip()) if words(open_quotation(paragraph)) else paragraph
        for paragraph in text.split("\n")
    )


def is_balanced(sentence: str) -> bool:
    """Tell whether a sentence neither opens nor closes a quotation of several."""
    return sentence.count('"') % 2 == 0 and sentence.count("“") == sentence.count("”")
