"""Find the letters of a text that are not of its language."""

from __future__ import annotations

import re
import unicodedata

from recurrentgpt.prose.sentences import language_code

_SCRIPTS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("ru", "bg", "uk"), frozenset({"CYRILLIC"})),
    "el": frozenset({"GREEK"}), "he": frozenset({"HEBREW"}), "hi": frozenset({"DEVANAGARI"}), "bn": frozenset({"BENGALI"}),
    **dict.fromkeys(("ar", "fa"), frozenset({"ARABIC"})),
    "zh": frozenset({"CJK", "BOPOMOFO"}), "ja": frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    "ko": frozenset({"HANGUL", "CJK"}), "th": frozenset({"THAI"}), "lo": frozenset({"LAO"}), "km": frozenset({"KHMER"}),
    "my": frozenset({"MYANMAR"}),
}  # fmt: skip
_LATIN = frozenset({"LATIN"})
_ASCII = re.compile(r"[\x00-\x7f]+")


def foreign_characters(text: str, language: str) -> str:
    """Return the characters of `text` that the language is not written in, pictographs and full-width marks included.

    Latin letters are at home in every language as long as they are the smaller part. Of a language that is not known,
    nothing is said but that it has no pictographs.
    """
    own = _SCRIPTS.get(language_code(language), _LATIN)
    known = language_code(language) != "en" or language.strip().casefold() in ("english", "en")
    found: list[str] = []
    letters = 0
    # Where Latin letters are at home, those of ASCII are not worth a look each: every sentence of every passage comes by.
    for character in _ASCII.sub("", text) if own is _LATIN else text:
        category = unicodedata.category(character)
        if category == "So" and character not in "©®°№™":
            return character
        wide = "\u3000" <= character <= "\u303f" or "\uff00" <= character <= "\uffef"
        if not known or not (category.startswith("L") or wide):
            continue
        letters += 1
        script = unicodedata.name(character, "?").split(" ")[0]
        if script not in own and character not in "ªºµ" and not ("CJK" in own and wide):
            found.append(character)
    tolerated = own is not _LATIN and all("LATIN" in unicodedata.name(character, "") for character in found)
    return "" if tolerated and len(found) <= letters * 0.5 else "".join(found)
