"""Find out which encoding a text file is in."""

from __future__ import annotations

import codecs
import re

from recurrentgpt.books.readers.limits import MOST_TEXT
from recurrentgpt.schema.errors import BookError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Project Gutenberg's files of before 2005 say what they are written in.
_DECLARED = re.compile(rb"(?i)^character set encoding:[ \t]*([\w-]+)", re.MULTILINE)
_MARKS_OF_ALL = "‘’“”„‚«»‹›–—…§°©· \xa0"
_LETTERS = {
    "cp1252": frozenset("àâäáãåæçèéêëìíîïñòóôöõøœùúûüýÿßÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØŒÙÚÛÜÝŸ¿¡£€ªº" + _MARKS_OF_ALL),
    "cp1254": frozenset("çğıöşüâîûÇĞİÖŞÜÂÎÛ" + _MARKS_OF_ALL),
    "cp1250": frozenset(
        "ąćęłńóśźżáčďéěíľĺňôŕřšťúůýžäöüßőűăâîşţđĄĆĘŁŃÓŚŹŻÁČĎÉĚÍĽĹŇÔŔŘŠŤÚŮÝŽÄÖÜŐŰĂÂÎŞŢĐ" + _MARKS_OF_ALL
    ),
}
"""The letters beyond ASCII of the languages that each code page was made for."""

_ENOUGH = 200_000
"""Bytes that show what encoding a file is in."""

_UNREADABLE = "is in an encoding that cannot be told; save it as UTF-8 and try again."
_BINARY = "is not a text file, whatever its name says."


def decode(data: bytes) -> str:
    """Return the text of a file: by its byte order mark, as UTF-8, as it declares, or as its letters suggest.

    Raises BookError for what is no text, for too much of it, and where no encoding fits.
    """
    if len(data) > MOST_TEXT:
        raise BookError(f"holds more than {MOST_TEXT // 1_000_000} MB of text; split it and import the parts.")
    text, _ = _decoded(data)
    odd = sum(text.count(chr(code)) for code in (*range(9), *range(14, 32), 127) if code != 26)
    if odd > len(text) * 0.001 + 1:
        raise BookError(_BINARY)
    return text


def guessed_encoding(data: bytes) -> str:
    """Return the encoding that only the letters suggest, wrongly in some short texts; empty where the file tells it."""
    return _decoded(data)[1]


def _decoded(data: bytes) -> tuple[str, str]:
    """Return the text and, where it was guessed, its encoding."""
    marked = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    if encoding := marked or _wide(data):
        return _strictly(data, encoding), ""
    if data.count(0) > 1:
        raise BookError(_BINARY)
    try:
        return data.decode(), ""
    except UnicodeDecodeError as error:
        # A file that was cut in the middle of a character is still UTF-8.
        if error.end >= len(data) - 3 and len(data) > 100:
            return data[: error.start].decode(), ""
    if declared := _DECLARED.search(data[:5000]):
        try:
            return data.decode(declared[1].decode()), ""
        except (LookupError, UnicodeDecodeError):
            pass  # The declaration is wrong; what the letters suggest is the better guess.
    return _guessed(data)


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BookError(_UNREADABLE) from error


def _wide(data: bytes) -> str | None:
    """Return the kind of UTF-16 without a mark that `data` must be: every second byte of Western text is zero."""
    head = data[:2000]
    half = len(head) / 2
    low, high = head[1::2].count(0), head[0::2].count(0)
    if low > half * 0.4 and high < half * 0.02:
        return "utf-16-le"
    return "utf-16-be" if high > half * 0.4 and low < half * 0.02 else None


def _guessed(data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    # The old code pages differ in what they call a letter: the first whose letters are those of its languages is right.
    high = data.translate(None, bytes(range(0x80)))
    for encoding, letters in _LETTERS.items() if len(high) < len(data) * 0.35 else ():
        try:
            odd = high.decode(encoding)
        except UnicodeDecodeError:
            continue
        if sum(character in letters for character in odd) >= len(odd) * 0.98:
            return data.decode(encoding), encoding
    # Whole lines, so that no character is cut in two.
    head = data[: data.rfind(b"\n", 0, _ENOUGH) + 1] or data
    best = from_bytes(head).best()
    if best is None:
        raise BookError(_UNREADABLE)
    return _strictly(data, best.encoding), best.encoding
