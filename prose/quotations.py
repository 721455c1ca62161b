"""Tell which words of a text are said aloud, by straight and by curly double quotation marks."""

from __future__ import annotations

import re

from recurrentgpt.prose.sentences import words

_WHOLE = re.compile(r'["“]([^"“”]+)["”]')
_SPEAKS = "said|asked|whispered|replied|answered|called|shouted|yelled"
_ACTS = "nodded|shook|looked|turned|smiled|frowned|sighed|laughed|reached|walked|ran|stepped|stood|sat|knelt|held|pulled|leaned"
_MARKED_NARRATION = re.compile(
    rf'(\s*)"((?:[A-Z]\w+(?: [A-Z]\w+)?|He|She|They) (?:(?:{_SPEAKS})(?:,| again\b|\.)|(?:{_ACTS})\b)[^"]*)("?\s*)\Z'
)
_OPENS = re.compile(r"(?:^|(?<=[,:.!?…] ))'(?=[A-Z])")
_CLOSES = re.compile(r"(?<=[,.!?…])'(?=\s|$)")
_INSIDE = re.compile(r"(?<=\w)'(?=\w)")
_SAYS = re.compile(rf"\b(?:{_SPEAKS}),")
_ADDRESSES = re.compile(r"\b(?:I|me|my|we|us|our|you|your)\b", re.IGNORECASE)


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


def without_mark_of_narration(sentence: str) -> str:
    """Return a sentence without the quotation mark that opens it where it tells what somebody does, and the one at its end.

    `"Mira shook her head and said, I don't know.` is what a small model writes; `"Mira looked at me," he said.` is speech.
    """
    found = _MARKED_NARRATION.match(sentence)
    if not found:
        return sentence
    told = _SAYS.split(found[2], maxsplit=1)[0]
    return sentence if _ADDRESSES.search(told) else found[1] + found[2] + found[3].replace('"', "")


def with_double_marks(text: str) -> str:
    """Return English text with straight double marks in each paragraph whose speech stands in single ones.

    A paragraph in which a single mark may be anything else, or which has double ones, stays as it is.
    """
    return "\n".join(_doubled(paragraph) for paragraph in text.split("\n")) if "'" in text else text


def _doubled(paragraph: str) -> str:
    opens = {found.start() for found in _OPENS.finditer(paragraph)}
    closes = {found.start() for found in _CLOSES.finditer(paragraph)} - opens
    within = {found.start() for found in _INSIDE.finditer(paragraph)}
    marks = sorted(found.start() for found in re.finditer("'", paragraph) if found.start() not in within)
    in_turn = all(mark in (closes if at % 2 else opens) for at, mark in enumerate(marks))
    if not marks or len(marks) % 2 or not in_turn or any(mark in paragraph for mark in '"“”'):
        return paragraph
    return "".join('"' if at in opens | closes else letter for at, letter in enumerate(paragraph))


def is_balanced(sentence: str) -> bool:
    """Tell whether a sentence neither opens nor closes a quotation of several."""
    return sentence.count('"') % 2 == 0 and sentence.count("“") == sentence.count("”")


def narration(sentence: str, before: str = "") -> str:
    """Return `sentence` without what people say in it; `before` tells whether a quotation is still open."""
    paragraph = before.rpartition("\n")[2]
    text, begin, kept = paragraph + sentence, len(paragraph), []
    for said in _SAID.finditer(text):
        kept.append(text[begin : max(begin, said.start())])
        begin = max(begin, said.end())
    return "".join([*kept, text[begin:]])


_QUOTES = {'"': '"', "“": "”", "«": "»", "‘": "’", "「": "」", "『": "』"}
_SAID = re.compile(
    "|".join(
        (
            r"„[^“”]*(?:[“”]|\Z)|»[^«]*(?:«|\Z)",
            *(rf"{opens}[^{closes}]*(?:{closes}|\Z)" for opens, closes in _QUOTES.items()),
        )
    )
)
