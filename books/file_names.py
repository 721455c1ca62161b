"""Make a file name from a title."""

from __future__ import annotations

import re
import unicodedata

from recurrentgpt.books.file_text import one_line

MOST_BYTES = 120
"""Longest name in UTF-8; file systems allow 255, and an extension and a folder's own limits must fit too."""

_UNSAFE = re.compile(r'[<>:"/\\|?*]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)


def safe_name(title: str) -> str:
    """Return a file name, without an extension, that every common file system takes; "story" when nothing is left."""
    text = unicodedata.normalize("NFC", one_line(title))
    # Marks that do not show would make two names look alike, and turn others around in a terminal.
    text = "".join(character for character in text if unicodedata.category(character) not in ("Cf", "Co", "Cn"))
    name = re.sub(r"\s+", " ", _UNSAFE.sub(" ", text.replace("\ufffd", " ")))
    name = name.encode()[:MOST_BYTES].decode(errors="ignore").strip(" .~-")
    if _RESERVED.match(name):
        name = f"{name.partition('.')[0]} story"
    return name if any(character.isalnum() for character in name) else "story"
