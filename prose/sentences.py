"""Split prose into sentences and words, and cut it only where a sentence ends.

Sentences come from `sentencex`, which loses no character and knows the abbreviations of many languages. Words are runs of letters
and digits, with the accents and vowel signs on them. Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words:
there two characters, whatever their marks, count as one word, which is close to what dictionaries find in those languages and
keeps limits comparable across languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from sentencex import segment  # type: ignore[import-untyped]

LONGEST_TEXT = 20_000
"""Characters that are split as one text; sentencex takes quadratic time on a run of marks, such as a file of backticks."""
_PART = re.compile(r".{1,5000}\n|.{1,5000}\s|.{1,5000}", re.DOTALL)

ENGLISH_NAMES = {
    "arabic": "ar", "bengali": "bn", "bulgarian": "bg", "burmese": "my", "catalan": "ca", "chinese": "zh", "czech": "cs",
    "danish": "da", "dutch": "nl", "english": "en", "estonian": "et", "finnish": "fi", "french": "fr", "german": "de",
    "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "italian": "it", "japanese": "ja",
    "khmer": "km", "korean": "ko", "lao": "lo", "latvian": "lv", "lithuanian": "lt", "norwegian": "no", "persian": "fa",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "slovak": "sk", "slovenian": "sl", "spanish": "es",
    "swedish": "sv", "thai": "th", "turkish": "tr", "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip
"""The codes of languages by their English names."""

OWN_NAMES = {
    "العربية": "ar", "বাংলা": "bn", "български": "bg", "català": "ca", "中文": "zh", "汉语": "zh", "漢語": "zh", "čeština": "cs",
    "česky": "cs", "dansk": "da", "nederlands": "nl", "eesti": "et", "suomi": "fi", "français": "fr", "francais": "fr",
    "deutsch": "de", "ελληνικά": "el", "עברית": "he", "हिन्दी": "hi", "हिंदी": "hi", "magyar": "hu", "bahasa indonesia": "id",
    "italiano": "it", "日本語": "ja", "ខ្មែរ": "km", "한국어": "ko", "latviešu": "lv", "lietuvių": "lt", "norsk": "no",
    "bokmål": "no", "فارسی": "fa", "farsi": "fa", "polski": "pl", "português": "pt", "portugues": "pt", "română": "ro",
    "русский": "ru", "slovenčina": "sk", "slovensky": "sk", "slovenščina": "sl", "español": "es", "espanol": "es",
    "castellano": "es", "svenska": "sv", "ไทย": "th", "türkçe": "tr", "українська": "uk", "tiếng việt": "vi",
}  # fmt: skip
"""What languages call themselves."""

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Characters of scripts that put no spaces between words, for a class of a regular expression."""
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u0df3\u200c\u200d"
)
"""What goes on with a word and is no letter to `re`: accents, points, the vowel signs of India (all of its scripts), joiners."""
_UNSPACED_MARKS = (
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    r"\u1067-\u106d\u1071-\u1074\u1082-\u108d\u109a-\u109d\u17b4-\u17d3\u17dd\u3099\u309a"
)
"""Marks of the unspaced scripts, which belong to the character before them."""
_LETTER = rf"[^\W_{UNSPACED}]"
_CHARACTER = rf"[{UNSPACED}][{_UNSPACED_MARKS}]*+"
_WORD = re.compile(rf"{_LETTER}++(?:['’\-‑]{_LETTER}++|[{_MARKS}]++{_LETTER}*+)*+|{_CHARACTER}(?:{_CHARACTER})?+")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:['\-][A-Za-z0-9]+)*")
"""The same in text without other letters, in half the time."""
_CLOSERS = "\"”’'»›)\\]」』）*"
_ENDING = re.compile(rf"(?:[.!?…؟।။]+[{_CLOSERS}]*(?=\s|$)|[。！？]+[{_CLOSERS}]*)")
_ABBREVIATION = re.compile(r"(?:^|\s)(?:Mr|Mrs|Ms|Dr|St|Prof|Capt|Col|Gen|Lt|Sgt|Rev|Hon|Sr|Jr|vs|etc|[A-Z])\.$")
_PAIRS = {"“": "”", "«": "»", "「": "」", "『": "』"}


@lru_cache(maxsize=256)
def language_code(language: str) -> str:
    """Return the ISO 639-1 code of a language given by its English or own name or by code; English's where it is not known."""
    name = unicodedata.normalize("NFC", language).strip().casefold()
    return ENGLISH_NAMES.get(name) or OWN_NAMES.get(name) or (name if name in ENGLISH_NAMES.values() else "en")


def language_name(language: str) -> str:
    """Return the English name of a language given by name, code or tag; as it was given where it is not known."""
    code = unicodedata.normalize("NFC", language).strip().casefold().partition("-")[0]
    code = OWN_NAMES.get(code, code)
    return next((name.capitalize() for name, known in ENGLISH_NAMES.items() if code in (name, known)), language.strip())


_WIDE_SPACE = re.compile(r"(?![\x00-\x7f])\s")
_CLOSER = re.compile(r"\A\"\s+(?=[\"“])")
_OPENERS = '"“«'
_OPENER = re.compile(rf"(?<=\s)[{_OPENERS}]\Z")
_EMPHASIS_END = re.compile(r"\A\*{1,3}[\"”’»]*(?:\s+|\Z)")


def segments(text: str, language: str = "English") -> list[str]:
    """Return the sentences with all their white space: joined, they are `text` again."""
    found: list[str] = []
    end = 0
    # sentencex panics at some spaces of several bytes; plain ones take their places, one for one, and the cuts are kept.
    plain = text if text.isascii() else _WIDE_SPACE.sub(" ", text)
    parts = _PART.findall(plain) if len(plain) > LONGEST_TEXT else [plain] if plain else []
    for piece in (piece for part in parts for piece in segment(language_code(language), part)):
        # It also loses white space between some sentences, which goes with the sentence behind it.
        stop = plain.index(piece, end) + len(piece)
        found.append(text[end:stop])
        end = stop
    if found:
        found[-1] += text[end:]
    for place in range(len(found) - 1):
        # The mark of a quotation that is not closed yet is counted to the sentence before it.
        if found[place][-1:] in _OPENERS and (opener := _OPENER.search(found[place])):
            found[place], found[place + 1] = found[place][: opener.start()], opener[0] + found[place + 1]
        # One that closes a quotation whose beginning is not in the text is counted to the quotation before it, and so is the mark
        # that ends an emphasis.
        elif not found[place][-1:].isspace() and (
            closer := _CLOSER.match(found[place + 1]) or _EMPHASIS_END.match(found[place + 1])
        ):
            found[place], found[place + 1] = found[place] + closer[0], found[place + 1][closer.end() :]
    return [piece for piece in found if piece]


def sentences(text: str, language: str = "English") -> list[str]:
    """Return the sentences of `text` without the white space around them; a piece without a word joins the one before."""
    found: list[str] = []
    for piece in (part.strip() for part in segments(text, language)):
        if found and piece and not _WORD.search(piece):
            found[-1] += piece
        elif piece:
            found.append(piece)
    return found


def words(text: str) -> list[str]:
    """Return the words of `text` in their order, without punctuation."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def after_last_space(text: str) -> int:
    """Return the place behind the last space or line end of `text`: no word stands on both sides of it."""
    return max(text.rfind(" "), text.rfind("\n")) + 1


def count_words(text: str) -> int:
    """Return the number of words of `text`."""
    return _counted(text) if len(text) <= LONGEST_TEXT else len(words(text))


@lru_cache(maxsize=1024)
def _counted(text: str) -> int:
    # Memories, passages and the pieces of prompts are counted by every node that bounds them.
    return len(words(text))


_CUT = re.compile(r"(?<=\w\w)[-,;:]\.[\"”]?\s*\Z")
_CUT_IN_ENGLISH = re.compile(r"(?<!\bword)(?<!\bwas) (?:the|an|and|my|your|our|their)\.[\"”]?\s*\Z")


def is_cut(sentence: str, language: str = "English") -> bool:
    """Tell whether a full stop ends a sentence in its middle, as a pattern or a limit does: "He took the-.", "He took the."."""
    english = language_code(language) == "en" and _CUT_IN_ENGLISH.search(sentence)
    return bool(english or _CUT.search(sentence))


def ends_a_sentence(text: str) -> bool:
    """Tell whether `text` stops where a sentence stops, a closing quotation mark included."""
    stripped = text.rstrip()
    return end_at_sentence(stripped, close=False) == stripped != ""


def end_at_sentence(text: str, *, close: bool = True) -> str:
    """Return `text` up to its last complete sentence, with the quotation mark that closes it; empty when there is none.

    With `close`, a quotation that the cut left open in the last paragraph is closed.
    """
    for match in reversed(list(_ENDING.finditer(text))):
        kept = text[: match.end()]
        if not _ABBREVIATION.search(kept[-12:]):
            return _close_quotation(kept) if close else kept
    return ""


def _close_quotation(text: str) -> str:
    paragraph = text.rsplit("\n", 1)[-1]
    opened = [
        (paragraph.rfind(mark), end) for mark, end in _PAIRS.items() if paragraph.count(mark) > paragraph.count(end)
    ]
    if paragraph.count('"') % 2:
        # A lone mark at the very end closes nothing: it opened a quotation that the cut removed.
        if re.search(r'\s"$', text):
            return text[:-1].rstrip()
        opened.append((paragraph.rfind('"'), '"'))
    return text + "".join(end for _, end in sorted(opened, reverse=True))


def last_sentences(text: str, n: int, language: str = "English") -> str:
    """Return the last `n` sentences of `text`, with the white space between them as it was."""
    if n < 1:
        return ""
    kept: list[str] = []
    count = 0
    for piece in reversed(segments(text.strip(), language)):
        if count == n and _WORD.search(piece):
            break
        kept.append(piece)
        count += bool(_WORD.search(piece))
    return "".join(reversed(kept)).strip()


def numbered(lines: Iterable[str]) -> str:
    """Return lines with their numbers from 1, as the templates of a capable model show a memory and people are shown plans."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def limit_words(text: str, n: int, language: str = "English") -> str:
    """Return the longest run of whole sentences from the start of `text` that has at most `n` words.

    A first sentence that is itself longer is cut after its nth word and marked with an ellipsis: the limit is a hard one.
    """
    if count_words(text) <= n:
        return text.strip()
    kept, count = "", 0
    for piece in segments(text, language):
        count += count_words(piece)
        if count > n:
            break
        kept += piece
    if kept.strip() or n < 1:
        return kept.strip()
    end = list(_WORD.finditer(text))[n - 1].end()
    return text[:end].strip() + "…"


def starts_line(before: str) -> bool:
    """Tell whether what follows `before` begins a line."""
    return not before.strip() or before.rstrip(" ").endswith("\n")
