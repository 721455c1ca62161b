"""Recognise the headings of chapters in plain text, where nothing but their look marks them."""

from __future__ import annotations

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Collection

from recurrentgpt.books.readers.chapters import join_titles, same_title
from recurrentgpt.prose.sentences import count_words, words

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
    rf"(?P<kind>{_KINDS})\s+(?P<number>{_NUMBER})(?P<rest>[.:]?|\s*[.:—–-]+\s*\S.{{0,90}}|\s+[^a-z\s]\S*.{{0,90}})",
    re.IGNORECASE,
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
_PROSE_END = re.compile(r"[.!?…,;:—–―*。！？」』）\"“”„'‘’»«›‹)\]-]\s*$")
_COUNT = r"\d{1,3}|[IVXLC]{1,8}"
_TITLE = re.compile(r"(?=[^\W\d_])[^\W_][^\n“”„\"«»<>|=_*/\\@]{1,59}")
_SENTENCE_END = re.compile(r"[.!?…*。！？」』）\"“”„'‘’»«›‹)\]]\s*$")
_SMALL_WORDS = frozenset(
    {"a", "an", "the", "and", "but", "or", "nor", "of", "in", "on", "at", "to", "for", "from", "by", "with", "as", "into",
     "over", "under", "upon", "is", "it", "der", "die", "das", "den", "dem", "des", "und", "oder", "von", "vom", "zu",
     "zum", "zur", "am", "im", "auf", "aus", "bei", "mit", "ein", "eine", "eines", "einer", "de", "la", "le", "les", "du",
     "et", "à", "au", "aux", "en", "un", "une", "el", "los", "las", "del", "y", "o", "e", "i", "il", "lo", "gli", "di",
     "da", "dei", "della", "al", "alla", "os", "do", "dos", "em", "no", "na", "het", "van", "og", "på", "av", "til", "för",
     "och", "det"}
)  # fmt: skip
"""Words that a title may have in small letters."""
_CAPITALS, _CAPITAL_WORDS, _AS_A_SENTENCE = "CAPITALS", "Capital Words", "As a sentence"
_LONGEST_TITLE = 8
_FEWEST_WORDS = 20
"""Words that half of the chapters have at least, where titles alone show them."""
_LITTLE = 1000
"""Words of a text so short that the lines which are no prose are all titles, however each of them is written."""
_SENTENCE = re.compile(r"[a-z],? .*[.!?]$")


def underlined(pieces: list[str]) -> dict[int, tuple[str, str]]:
    """Return the mark and the title of every piece that is one line over a line of `=` or `-` of its own length."""
    found = {}
    for index, piece in enumerate(pieces):
        match = _UNDERLINE.fullmatch(piece)
        if match and len(match["line"]) == max(3, len(match["title"])):
            found[index] = match["line"][0], match["title"]
    return found


def chapter_headings(pieces: list[str], after: int | None = None) -> dict[int, str]:
    """Return the title of every piece that is a heading: "Chapter 3" and its like, else numbers that count up, else titles.

    With those go "Prologue" and the like. A title alone on its line is one where there are several of its kind, none of them
    before the line `after` of a title page.
    """
    found: dict[int, str] = {}
    for index, piece in enumerate(pieces):
        lines = piece.split("\n")
        if len(lines) <= 2 and _is_heading(lines[0]) and (len(lines) == 1 or _is_subtitle(lines[1])):
            found[index] = join_titles(lines)
    front = -1 if after is None else after
    if all(_NAMED.fullmatch(title) for title in found.values()):
        found |= _counted(pieces) or _titled(pieces, front, found)
    else:
        found |= _counted_on(pieces, found)
    found |= _subtitles(pieces, found)
    return found | _of_all_kinds(pieces, front, found)


_LETTER_HEAD = re.compile(r"\d|^(?:my )?dear(?:est)?\b", re.IGNORECASE)
"""A date or an address, with which a chapter may begin."""


def _subtitles(pieces: list[str], found: Collection[int]) -> dict[int, str]:
    """Return the titles that stand alone below headings that are numbers alone, where most numbers have one, here or beside."""
    numbered = [
        index for index in found if _ALONE.fullmatch(pieces[index]) or _NUMBERED.fullmatch(_first_line(pieces[index]))
    ]
    bare = [index for index in numbered if _ALONE.fullmatch(pieces[index]) or _is_number(pieces[index])]
    below = {
        index + 1: pieces[index + 1]
        for index in bare
        if index + 2 < len(pieces)
        and index + 1 not in found
        and index + 2 not in found
        and _kind_of_title(pieces[index + 1])
    }
    # One that stands below its number is no line of the story where other chapters say their titles in another way.
    titled = len(numbered) - len(bare) + len(below)
    if len(below) == 1 and any(map(_LETTER_HEAD.search, below.values())):
        return {}
    return below if titled > 1 and titled > len(numbered) / 2 else {}


def _first_line(piece: str) -> str:
    return piece.partition("\n")[0].strip()


def _is_number(piece: str) -> bool:
    numbered = _NUMBERED.fullmatch(piece.strip())
    return bool(numbered and len(numbered["rest"]) <= 1)


def ends_as_prose(piece: str) -> bool:
    """Tell whether a piece ends as a sentence, a quotation or an address does, and a title or a name does not."""
    return bool(_PROSE_END.search(piece))


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
            alone.append((index, _value(match["roman"] or match["digits"]), piece.rstrip(".")))
    before = 0
    for _, number, _ in alone:
        if number not in (before + 1, 1):
            return {}
        before = number
    return {index: text for index, _, text in alone} if len(alone) >= 2 else {}


def _counted_on(pieces: list[str], found: Collection[int]) -> dict[int, str]:
    """Return numbers that stand alone, if all of them go on where "Chapter 2" and its like have counted to; else nothing."""
    going: dict[int, str] = {}
    kind, number, roman, begun = "", 0, False, False
    for index, piece in enumerate(pieces):
        if index in found and (heading := _NUMBERED.fullmatch(_first_line(piece))):
            before, same = number, kind == heading["kind"].casefold()
            kind, roman = heading["kind"].casefold(), _is_roman(heading["number"])
            number = _value(heading["number"])
            if going and same and number not in (before + 1, 1):
                return {}
            begun = True
        elif begun and (match := _ALONE.fullmatch(piece)):
            if not number or bool(match["roman"]) != roman or _value(piece.rstrip(".")) != number + 1:
                return {}
            number += 1
            going[index] = piece.rstrip(".")
    return going


def names_book(heading: str, title: str) -> bool:
    """Tell whether the one heading above all others is the name of a book whose `title` is known, or empty.

    A title may be said in another way there, with a subtitle or without: the two have a telling word in common.
    """
    name, known = same_title(heading), same_title(title)
    shared = (set(name) & set(known)) - _SMALL_WORDS
    return name == known or (not _is_heading(heading) and bool(shared or not title))


def top_title(pieces: list[str], headings: Collection[int]) -> str:
    """Return the line at the very top that names the book, above chapters that titles alone show; empty for none."""
    heads = min(headings, default=0) == 1 and not _is_heading(pieces[1])
    return pieces[0] if heads and _kind_of_title(pieces[0]) else ""


def _titled(pieces: list[str], after: int, known: Collection[int]) -> dict[int, str]:
    """Return the lines that stand alone and look like titles, if they divide the text as chapters do; else nothing.

    What looks like one and is none: a sign or a signature, which something introduces; a name that is said again and again, as
    in a play; the lines of a poem or a list, with no prose between them.
    """
    kinds = {
        index: kind
        for index, piece in enumerate(pieces)
        if index > after and index not in known and (kind := _kind_of_title(piece))
    }
    last = {same_title(pieces[index]): index for index in kinds}
    listed = {
        index for index in kinds if last[same_title(pieces[index])] != index and kinds.keys() & {index - 1, index + 1}
    }
    passed = {index for index, piece in enumerate(pieces) if not piece or index <= after or is_contents(piece)} | listed
    left = [index for index in range(len(pieces)) if index not in passed]
    if len(left) > 1 and kinds.keys() >= set(left[:2]):
        del left[0]  # the first of two titles at the top is the book's
    found: dict[int, str] = {}
    for before, index, behind in zip([-1, *left], left, left[1:], strict=False):
        introduced = before >= 0 and not (before in known or _SENTENCE_END.search(pieces[before]))
        if index in kinds and not (introduced or kinds.keys() & {before, behind}):
            found[index] = kinds[index]
    times = Counter(same_title(pieces[index]) for index in found)
    for allowed in ((_CAPITALS,), (_CAPITAL_WORDS,), (_CAPITAL_WORDS, _AS_A_SENTENCE)):
        chosen = [index for index, kind in found.items() if kind in allowed and times[same_title(pieces[index])] == 1]
        starts = sorted([*chosen, *known])
        begins = bool(left) and starts[:1] == left[:1]
        # Lines that are written as a sentence begins are titles only where the first of them begins the book.
        fewest = 3 if _AS_A_SENTENCE in allowed or not begins else 2
        if not chosen or len(starts) < fewest or (_AS_A_SENTENCE in allowed and not begins):
            continue
        ends = [*starts[1:], len(pieces)]
        lengths = [sum(map(count_words, pieces[start + 1 : end])) for start, end in zip(starts, ends, strict=True)]
        if statistics.median(lengths) >= _FEWEST_WORDS:
            again = {same_title(pieces[index]) for index in chosen}
            # A list of them is known as one when it is gathered.
            return {index: pieces[index] for index in sorted([*chosen, *listed]) if same_title(pieces[index]) in again}
    return {}


def _of_all_kinds(pieces: list[str], after: int, known: Collection[int]) -> dict[int, str]:
    """Return the titles of a text of few words, each perhaps written in another way; nothing unless all else is prose.

    The first of them, or of what is `known`, begins the text, and between two there is a sentence at least.
    """
    left = [index for index, piece in enumerate(pieces) if piece and index > after and not is_contents(piece)]
    if sum(count_words(pieces[index]) for index in left) > _LITTLE:
        return {}
    starts = [index for index in left if index in known or not _SENTENCE_END.search(pieces[index])]
    apart = all(later - sooner > 1 for sooner, later in itertools.pairwise([*starts, len(pieces)]))
    titles = {index: pieces[index] for index in starts if index not in known}
    if not apart or len(starts) < 3 or starts[0] != left[0]:
        return {}
    once = len(set(map(same_title, titles.values()))) == len(titles)
    return titles if once and all(map(_kind_of_title, titles.values())) else {}


def _kind_of_title(piece: str) -> str:
    """Return how a line that may be a title is written: capitals, capital words, or as a sentence begins; empty for others."""
    title = re.sub(rf"^(?:{_COUNT})[.:)]?\s+(?=\S)", "", piece)
    if not _TITLE.fullmatch(title) or ends_as_prose(piece) or count_words(title) > _LONGEST_TITLE:
        return ""
    if title == title.upper():
        return _CAPITALS if sum(map(str.isalpha, title)) > 2 else ""
    telling = [word for word in words(title) if word.casefold() not in _SMALL_WORDS]
    return _CAPITAL_WORDS if all(not word[0].islower() for word in telling) else _AS_A_SENTENCE


def _is_roman(number: str) -> bool:
    return bool(re.fullmatch("[IVXLC]+", number, re.IGNORECASE))


def _value(number: str) -> int:
    """Return the number that digits or a numeral say; 0 for one in words."""
    return _roman(number.upper()) if _is_roman(number) else int(number) if number.isdecimal() else 0


def _roman(numeral: str) -> int:
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in numeral]
    return sum(-own if own < following else own for own, following in zip(values, [*values[1:], 0], strict=True))
