"""Read a lorebook: SillyTavern's World Info and NovelAI's lorebook, both JSON, as changes of a codex."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recurrentgpt.prose.model_text import model_text
from recurrentgpt.prose.sentences import count_words, limit_words, sentences
from recurrentgpt.schema.codex import Change, Kind
from recurrentgpt.schema.errors import BookError

MOST_BYTES = 5_000_000
MOST_ENTRIES, MOST_LINES, MOST_LINE_WORDS, MOST_NAME_WORDS = 400, 40, 36, 8

_PERSON = re.compile(r"\b(?:he|she|him|his|her)\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:city|town|village|island|kingdom|river|mountain|house|inn|tavern|castle|street|harbou?r|land)\b",
    re.IGNORECASE,
)


_PATTERN = re.compile(r"/(?:\\b)?(?P<open>\((?:\?:)?)?(?P<words>[\w '’|-]+)(?(open)\))(?:\\b)?/[a-z]*")
"""A pattern of SillyTavern's that only lists words."""
_MACRO = re.compile(r"\{\{\s*(\w+)[^{}]*\}\}")

_LEFT_OUT = {
    "off": ("entry that is switched off", "entries that are switched off"),
    "empty": ("entry without a name or a text", "entries without a name or a text"),
    "sentences": (
        f"sentence beyond {MOST_LINES} lines of an entry",
        f"sentences beyond {MOST_LINES} lines of an entry",
    ),
    "ends": (
        f"end of a sentence of more than {MOST_LINE_WORDS} words",
        f"ends of sentences of more than {MOST_LINE_WORDS} words",
    ),
    "macros": (
        "sentence with a place for what the story has none of",
        "sentences with places for what the story has none of",
    ),
    "patterns": ("key that is a pattern", "keys that are patterns"),
    "conditions": (
        "secondary key, a condition for the others",
        "secondary keys, which are conditions for the others",
    ),
}


def tell_left_out(counts: Mapping[str, int]) -> str:
    """Return a sentence on what of a lorebook did not come in, by kind; empty where all did."""
    parts = [f"{counts[kind]:,} {forms[counts[kind] != 1]}" for kind, forms in _LEFT_OUT.items() if counts.get(kind)]
    return f"Left out: {'; '.join(parts)}." if parts else ""


def read_lorebook(path: Path, names: Mapping[str, str] | None = None) -> tuple[list[Change], Counter[str]]:
    """Return the entries of a lorebook that are switched on, and how much was left out, by kind; raise BookError for no lorebook.

    Of an entry's text 40 lines are kept, and what is always on is pinned. `names` has who stands in the place of `char` and
    `user`: a sentence with a place for whom there is no name for is left out. Secondary keys without a condition are keys.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BookError(f"{path} is larger than {MOST_BYTES // 1_000_000} MB, too large for a lorebook.")
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise BookError(f"{path} is no JSON in UTF-8: export the lorebook again.") from error
    rows = content.get("entries") if isinstance(content, dict) else None
    rows = list(rows.values()) if isinstance(rows, dict) else rows
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BookError(f"{path} is no lorebook of SillyTavern or NovelAI: it has no entries.")
    if len(rows) > MOST_ENTRIES:
        raise BookError(f"{path} has {len(rows):,} entries; at most {MOST_ENTRIES} fit: split it.")
    left_out = Counter[str]()
    changes = [change for row in rows for change in _entry(row, names or {}, left_out)]
    if not changes:
        raise BookError(f"{path} has no entry with a name and a text.")
    return changes, +left_out


def _entry(row: dict[str, Any], names: Mapping[str, str], left_out: Counter[str]) -> list[Change]:
    if row.get("disable") or row.get("enabled") is False:
        left_out["off"] += 1
        return []
    keys = _keys(row, names, left_out)
    named = (row.get(field) for field in ("displayName", "comment", "name"))
    titles = [_line(_with_names(text, names)) for text in named if isinstance(text, str) and text.strip()]
    name = next((title for title in titles if title), keys[0] if keys else "")
    text = next((row[field] for field in ("content", "text") if isinstance(row.get(field), str)), "")
    text = model_text("".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text))
    lines = _lines(text, names, left_out)
    if not name or not lines:
        left_out["empty"] += 1
        return []
    about = Change(entry=name, kind=_kind(text), do="set")
    found: list[Change] = [{**about, "aspect": "fact", "text": line} for line in lines]
    found += [{**about, "do": "key", "value": key} for key in dict.fromkeys(keys) if key != name]
    return [*found, {**about, "do": "pin"}] if row.get("constant") or row.get("forceActivation") else found


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _line(text: str) -> str:
    text = model_text("".join(letter if letter.isprintable() else " " for letter in text))
    return limit_words(" ".join(text.split()), MOST_NAME_WORDS)


def _keys(row: dict[str, Any], names: Mapping[str, str], left_out: Counter[str]) -> list[str]:
    """Return the words that bring an entry to the writer, its secondary ones where no condition is made of them."""
    given = [*_texts(row.get("key")), *_texts(row.get("keys"))]
    secondary = [key for key in (*_texts(row.get("keysecondary")), *_texts(row.get("secondary_keys"))) if key.strip()]
    if row.get("selective") and given:
        left_out["conditions"] += len(secondary)
    else:
        given += secondary
    found: list[str] = []
    for key in given:
        words = _PATTERN.fullmatch(key.strip())
        if key.strip().startswith("/") and words is None:
            left_out["patterns"] += 1
        found += [_line(_with_names(part, names)) for part in (words["words"].split("|") if words else [key])]
    return [key for key in dict.fromkeys(found) if key and not key.startswith("/")]


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names in the places for them; empty where one has none."""
    found = [names.get(match[1].casefold(), "") for match in _MACRO.finditer(text)]
    return _MACRO.sub(lambda match: names[match[1].casefold()], text) if all(found) else ""


def _lines(text: str, names: Mapping[str, str], left_out: Counter[str]) -> list[str]:
    """Return a text as lines of whole sentences."""
    lines: list[str] = []
    for number, given in enumerate(parts := sentences(" ".join(text.split()))):
        named = _with_names(given, names)
        if not named:
            left_out["macros"] += 1
            continue
        sentence = limit_words(named, MOST_LINE_WORDS)
        if lines and count_words(lines[-1]) + count_words(sentence) <= MOST_LINE_WORDS:
            lines[-1] += f" {sentence}"
        elif len(lines) == MOST_LINES:
            left_out["sentences"] += len(parts) - number
            break
        else:
            lines.append(sentence)
        left_out["ends"] += count_words(named) > MOST_LINE_WORDS
    return lines


def _kind(text: str) -> Kind:
    return "person" if _PERSON.search(text) else "place" if _PLACE.search(text) else "thing"
