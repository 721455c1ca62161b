"""Open archives and XML that nobody vouches for: bounded, and blind to everything outside them.

The messages of the errors go on from the name of the file: "BOOK is damaged ...".
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from typing import Any

from lxml import etree

from recurrentgpt.prose.sentences import UNSPACED
from recurrentgpt.schema.errors import BookError

MOST_TEXT = 20_000_000
"""Most bytes of text, markup included, that one book may have: some three million words."""

MOST_UNPACKED = 200_000_000
MOST_MEMBERS = 10_000
MOST_RATIO = 200
"""A member may unpack to this many times its size; text seldom reaches 20, and below a megabyte it does not matter."""

LONGEST_WORD = 100_000
"""Letters of a word, in scripts that put spaces between them; the longest of any book have some two hundred."""

MOST_SIGNS, PROSE_A_SIGN = 100_000, 20
"""So many signs of Markdown are too many where there are not so many characters of text for each: reading one takes 25 us."""

MOST_LINES, LINE_CHARACTERS = 100_000, 5
"""So many lines are too many where they have no more characters each: one costs 10 us. Of verse a line has some forty."""

MOST_MARKS = 3_000_000
"""Most tags that one part may have; a tree of them takes some 150 bytes each."""

_CHUNK = 1 << 16
_UNIMPORTANT = 1_000_000

# All that zipfile raises over files whose bytes are wrong.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip

DAMAGED = "is damaged or is not what its name says; export it again from where it came."


class ZipArchive:
    """Read the members of a zip file, all of them bounded together; what a member says about its own size is not believed."""

    def __init__(self, data: bytes) -> None:
        # Counted before they are read: a directory alone can fill the memory.
        if data.count(b"PK\x01\x02") > MOST_MEMBERS:
            raise BookError(f"has more than {MOST_MEMBERS} parts, more than a book needs; it is not opened.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _BROKEN as error:
            raise BookError(DAMAGED) from error
        self._members = {member.filename: member for member in self._zip.infolist()}
        self._left = MOST_UNPACKED

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The names of all members."""
        return list(self._members)

    def read(self, name: str, *, is_text: bool = True) -> bytes:
        """Return one member; raise BookError where it is missing, damaged, locked, or unpacks to more than is allowed."""
        if name not in self._members:
            raise BookError(f"names a part that it does not hold ({name[:80]!r}); it is damaged.")
        member = self._members[name]
        if member.flag_bits & 1:
            raise BookError("is locked with a password; remove the password and try again.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BookError(DAMAGED)
        pieces: list[bytes] = []
        size = 0
        try:
            with self._zip.open(member) as file:
                while piece := file.read(_CHUNK):
                    pieces.append(piece)
                    size += len(piece)
                    self._left -= len(piece)
                    squeezed = is_text and size > _UNIMPORTANT and size > member.compress_size * MOST_RATIO
                    if self._left < 0 or size > (MOST_TEXT if is_text else MOST_UNPACKED) or squeezed:
                        raise BookError("unpacks to far more than a book; it is not opened.")
        except BookError:
            raise
        except _BROKEN as error:
            raise BookError(DAMAGED) from error
        whole = b"".join(pieces)
        if is_text and whole.count(b"<") > MOST_MARKS:
            raise BookError("has more tags than any book; it is not opened.")
        return whole


_LETTERS = re.compile(rf"[^\W_{UNSPACED}]+")


def refuse_endless_word(text: str) -> None:
    """Raise BookError for a text with a word that no book has."""
    for run in text.split():
        if len(run) > LONGEST_WORD and (most := max(map(len, _LETTERS.findall(run)), default=0)) > LONGEST_WORD:
            raise BookError(f"has a word of {most:,} letters, which no book has; it is not read.")


def refuse_mere_lines(text: str) -> None:
    """Raise BookError for a text that is made of line ends rather than of words."""
    if text.count("\n") <= MOST_LINES:
        return
    lines = sum(not line.isspace() for line in text.split("\n") if line)
    if lines > MOST_LINES and len(text) < lines * (LINE_CHARACTERS + 2):
        raise BookError(f"has {lines:,} lines of hardly more than a letter each, which no book has; it is not read.")


def refuse_mere_signs(markdown: str) -> None:
    """Raise BookError for Markdown that is made of signs rather than of text."""
    count = sum(map(markdown.count, "*_`[]<>&\\~|#"))
    if count > MOST_SIGNS and count * PROSE_A_SIGN > len(markdown):
        raise BookError(
            f"has {count:,} signs of Markdown in {len(markdown):,} characters, which no book has; it is not read."
        )


def parse_xml(data: bytes) -> etree._Element:
    """Return the root of an XML file that may declare nothing of its own; raise BookError, or XMLSyntaxError for bad XML."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    root = etree.fromstring(data, parser)
    declared: Any = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise BookError("declares XML entities, which books do not need and attackers do; it is not opened.")
    return root
