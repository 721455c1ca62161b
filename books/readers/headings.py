"""Recognise the headings of chapters in plain text, where nothing but their look marks them."""

from __future__ import annotations

import re

from recurrentgpt.books.readers.chapters import join_titles

_NUMBER = (
    r"(?:\d{1,3}|[ivxlc]{1,8}|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
    r"|(?:twenty|thirty|forty|fifty)?-?(?:one|two|three|four|five|six|seven|eight|nine)|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty)"
)
_KINDS = (
    r"chapter|part|book|volume|letter|stave|canto|act|scene|episode|chapitre|partie|livre|kapitel|teil|buch|cap[íi]tulo|parte|libro"
    r"|capitolo|hoofdstuk|deel|rozdział|część|kapitola|fejezet|kapittel|глава|часть|розділ|κεφάλαιο|bölüm"
)
_NUMBERED = re.compile(
    rf"(?:{_KINDS})\s+(?:{_NUMBER})(?P<rest>[.:]?|\s*[.:—–-]+\s*\S.{{0,90}}|\s+[^a-z\s]\S*.{{0,90}})", re.IGNORECASE
)
_EASTERN = re.compile(r"第\s*[0-9０-９一二三四五六七八九十百千零〇两]{1,6}\s*[章回部卷節节話话幕](?:[\s　：:].{0,50})?")
_NAMED = re.compile(
    r"(?:prologue|epilogue|preface|foreword|introduction|afterword|interlude|prolog|epilog|prólogo|epílogo|prologo|epilogo|пролог"
    r"|эпилог)[.:]?",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?:(?P<roman>[IVXLC]{1,8})|(?P<digits>\d{1,3}))\.?")
_UNDERLINE = re.compile(r"(?P<title>\S[^\n]*)\n(?P<line>={3,}|-{3,})")
_CONTENTS = re.compile(r"(?i)(?:table of )?contents[.:]?|inhalt|table des matières|índice|indice|содержание|目录|目次")
_SENTENCE = re.compile(r"[a-z],? .*[.!?]$")


def underlined(pieces: list[str]) -> dict[int, tuple[str, str]]:
    """Return the mark and the title of every piece that is one line over a line of `=` or `-` of its own length."""
    found = {}
    for index, piece in enumerate(pieces):
        match = _UNDERLINE.fullmatch(piece)
        if match and len(match["line"]) == max(3, len(match["title"])):
            found[index] = match["line"][0], match["title"]
    return found


def chapter_headings(pieces: list[str]) -> dict[int, str]:
    """Return the title of every piece that is a heading: numbered, or "Prologue" and its like, or numbers that count up."""
    found: dict[int, str] = {}
    for index, piece in enumerate(pieces):
        lines = piece.split("\n")
        if len(lines) <= 2 and _is_heading(lines[0]) and (len(lines) == 1 or _is_subtitle(lines[1])):
            found[index] = join_titles(lines)
    return found or _counted(pieces)


def is_contents(piece: str) -> bool:
    """Tell whether a piece is a table of contents, or the word above one."""
    lines = [line for line in piece.split("\n") if line]
    if len(lines) == 1:
        return bool(_CONTENTS.fullmatch(lines[0].strip()))
    entries = sum(len(line) <= 150 and _is_heading(re.sub(r"[\s.]+\d+$", "", line)) for line in lines)
    return len(lines) >= 3 and entries >= len(lines) * 0.8


def _is_heading(line: str) -> bool:
    line = line.strip()
    if len(line) > 100:
        return False
    numbered = _NUMBERED.fullmatch(line)
    if numbered:
        # "Part two was harder to read." is a sentence; "Chapter 2. He fell." is not.
        return not (numbered["rest"][:1] == " " and _SENTENCE.search(numbered["rest"]))
    return bool(_EASTERN.fullmatch(line) or _NAMED.fullmatch(line))


def _is_subtitle(line: str) -> bool:
    return len(line) <= 80 and not line.endswith((",", ";")) and not re.search(r"[a-z]\. ", line)


def _counted(pieces: list[str]) -> dict[int, str]:
    """Return numbers that stand alone, if they count from one, or from one again in the next part; else nothing."""
    alone: list[tuple[int, int, str]] = []
    for index, piece in enumerate(pieces):
        if match := _ALONE.fullmatch(piece):
            number = _roman(match["roman"]) if match["roman"] else int(match["digits"])
            alone.append((index, number, piece.rstrip(".")))
    before = 0
    for _, number, _ in alone:
        if number not in (before + 1, 1):
            return {}
        before = number
    return {index: text for index, _, text in alone} if len(alone) >= 2 else {}


def _roman(numeral: str) -> int:
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in numeral]
    return sum(-own if own < following else own for own, following in zip(values, [*values[1:], 0], strict=True))
