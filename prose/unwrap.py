"""Take away what models put around a passage: announcements, headings, emphasis, quotation marks, a closing moral."""

from __future__ import annotations

import re

from recurrentgpt.prose.machine_talk import HEADING, NUMBER, SAID_YES, TALK, TITLED, WORK, YES, announcement
from recurrentgpt.prose.sentences import count_words, end_at_sentence, segments

_WRAPPERS = re.compile(
    rf"^\s*(?:{SAID_YES}"
    rf"|here(?:['’]s| is| are) (?:the|a|an|your|my|another|some) (?:\w+ ){{0,3}}{WORK}[^\n:]{{0,120}}[:.]\s*\n+"
    rf"|(?:title|scene)\s*:[^\n]{{0,80}}\n+"
    rf"|(?:(?:chapter|scene|part) {NUMBER}{TITLED}|{HEADING})[ \t]*\n+"
    r"|#{1,6} [^\n]{0,120}\n+|\*\*[^\n*]{0,99}[^\n*.!?…]\*\*:?\s*\n+|```\w*\s*\n|-{3,}\s*\n+"
    # A title, unless it says when the passage is: "3 March 1931".
    r"|(?=[^\n]{2,60}\n\s*\n)(?![^\n]*(?:\d{3}|\d\.? [^\W\d]))[A-Z0-9][^\n.!?…\"”’:,;]*\n\s*\n)",
    re.IGNORECASE,
)
"""What only announces a passage. What may be its first line stays: as a comment it is refused elsewhere, with the reason."""
_SAID_BEFORE = re.compile(
    rf"^\s*(?:{SAID_YES}"
    rf"|here(?:['’]s| is| are) (?:the|a|an|your|my|another|some) (?:\w+ ){{0,3}}{WORK}"
    r"(?:[^\n:.,]{0,60}:|(?: (?:again|for you|as requested))?[.!])\s*\n+"
    rf"|title\s*:[^\n]{{0,80}}\n+"
    rf"|(?P<bold>\*\*)?[(\[]?(?:(?:chapter|scene|part|passage) {NUMBER}(?: of \d+)?(?:;[^\n]{{0,60}}|{TITLED})"
    rf"|turn \d+\s?:[^\n]{{0,80}}|{HEADING})[)\]]?(?(bold)\*\*):?[ \t]*\n+"
    r"|#{1,6} [^\n]{0,120}\n+|```\w*\s*\n|-{3,}\s*\n+)",
    re.IGNORECASE,
)
"""What of it a capable model says: a short first line, or a headline, is its story's."""
_PREFACE = re.compile(
    rf"^\s*(?:{YES}|here(?:['’]s| is| are)|below|title|chapter|scene|part|turn \d|note|#|\*\*|```|---|[(\[]|{HEADING}|"
    + "|".join(rf"(?:{talk.yes})\s?[!.,:，、！。]|{talk.here}" for talk in TALK.values())
    + ")",
    re.IGNORECASE,
)


SCENE_BREAK = "* * *"
"""What stands between two scenes of one chapter or passage."""
_RULED = re.compile(r"[*_=~#•·⁂–—-]+(?: +[*_=~#•·⁂–—-]+)*")
LONGEST_VERSE = 70
"""Characters of a line of verse; longer lines are prose."""
_OPENS_SPEECH = ('"', "“", "„", "‘", "'", "«", "「", "『", "《", "—", "–", "-")
_ENDS_PROSE = re.compile(r"[.!?…。！？][\"”’'»」』*]*$")


def strip_opening(text: str, *, final: bool, keeps_all: bool = False) -> str | None:
    """Return `text` without the lines that only announce a passage, or None while that cannot be told yet.

    With `keeps_all` a short first line stays that may be a title.
    """
    while match := (_SAID_BEFORE if keeps_all else _WRAPPERS).match(text) or (
        "\n" in text and announcement().match(text)
    ):
        text = text[match.end() :]
    undecided = "\n" not in text.strip() and (
        _PREFACE.match(text) or (len(text) < 60 and not re.search(r"[.!?…。！？]\S*\s", text))
    )
    if undecided and not final and len(text) < 200:
        return None
    return text.lstrip()


def is_ruled(line: str) -> bool:
    """Tell whether a line holds nothing but marks that part two scenes."""
    return bool(_RULED.fullmatch(line.strip()))


def paragraphs(text: str, *, keeps_all: bool = False) -> str:
    """Return the text with one blank line between paragraphs, and without lines that hold no word.

    With `keeps_all`, a ruled line between two paragraphs is a scene break, and short lines that blank lines set apart together
    are one paragraph, verse, unless they are lines of speech or most of them end as sentences do.
    """
    blocks: list[list[str]] = [[]]
    # Where there is no blank line at all, each line is a paragraph.
    verse = keeps_all and bool(re.search(r"\S[^\S\n]*\n\s*\n\s*[^\W_]", text))
    for line in text.split("\n"):
        line = re.sub(r"[ \t\u00a0]+", " ", line).strip()
        if keeps_all and is_ruled(line):
            blocks += [[SCENE_BREAK], []]
        elif not line or (not keeps_all and re.fullmatch(r"[\W_]+", line)):
            blocks.append([])
        else:
            blocks[-1].append(line)
    kept = list[list[str]]()
    for block in filter(None, blocks):
        # A break stands between two scenes, once.
        if block != [SCENE_BREAK] or (kept and kept[-1] != block):
            kept.append(block)
    if kept and kept[-1] == [SCENE_BREAK]:
        kept.pop()
    return "\n\n".join(("\n" if verse and _is_verse(block) else "\n\n").join(block) for block in kept)


def _is_verse(lines: list[str]) -> bool:
    spoken = sum(line.startswith(_OPENS_SPEECH) for line in lines)
    whole = sum(bool(_ENDS_PROSE.search(line)) for line in lines)
    return spoken < 2 and 2 * whole <= len(lines) and all(len(line) <= LONGEST_VERSE for line in lines)


def unwrap_quotes(text: str, *, keeps_all: bool = False) -> str:
    """Remove one pair of quotation marks around a whole passage of several paragraphs.

    With `keeps_all`, not where they may be those of a speech: one of several paragraphs opens each, and closes the last alone.
    """
    first = text.split("\n", 1)[0]
    if (
        "\n" in text
        and text[0] in '"“'
        and text[-1] in '"”'
        and first.count(text[0]) == 1
        and not re.search(r'["”]', first[1:])
        and not (keeps_all and re.search(rf"\n\s*{text[0]}", text))
    ):
        return text[1:-1].strip()
    return text


_MORAL = re.compile(
    "|".join(
        (
            r"\blittle did \w+ know\b|\bwould never be the same\b|\bonly the beginning\b",
            r"\b(?:had|was|were) (?:only )?just (?:begun|beginning)\b",
            r"\b(?:testament|reminder) (?:to|of|that)\b|\bpower of (?:love|friendship|hope)\b",
            r"\bwhatever (?:the future|came next|lay ahead|challenges)\b|\bno matter what\b.*\btogether\b",
            r"\b(?:journey|adventure|story|battle) (?:was )?(?:far from over|ahead)\b",
            r"\b(?:sense|feeling) of (?:hope|purpose|determination|peace|accomplishment|closure|relief)\b",
            r"\bready (?:to face|for) (?:whatever|anything|any|the challenges)\b|\bonly time would tell\b",
            r"\bwork(?:ed|ing)? together\b",
            r"\b(?:he|she|they) knew (?:that )?(?:it|this|he|she|they|there) (?:was|were|would|had)\b",
            r"\bwould (?:find a way|get through|be ready|never forget)\b|\bfor the first time in (?:years|a long time)\b",
        )
    ),
    re.IGNORECASE,
)


def strip_moral(text: str, min_words: int, language: str) -> str:
    """Drop closing sentences that say what it all meant, as long as the passage stays long enough."""
    for _ in range(3):
        pieces = segments(text, language)
        if len(pieces) < 3 or not _MORAL.search(pieces[-1]) or '"' in pieces[-1]:
            break
        shorter = end_at_sentence("".join(pieces[:-1]).rstrip())
        if count_words(shorter) < min_words:
            break
        text = shorter
    return text
