"""Read a lorebook: SillyTavern's World Info and NovelAI's lorebook, both JSON, as changes of a codex."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from recurrentgpt.prose.model_text import model_text
from recurrentgpt.prose.sentences import count_words, limit_words, sentences
from recurrentgpt.schema.codex import Change, Kind
from recurrentgpt.schema.errors import BookError

MOST_BYTES = 5_000_000
MOST_ENTRIES, MOST_LINES, MOST_LINE_WORDS, MOST_NAME_WORDS = 400, 8, 36, 8

_PERSON = re.compile(r"\b(?:he|she|him|his|her)\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:city|town|village|island|kingdom|river|mountain|house|inn|tavern|castle|street|harbou?r|land)\b",
    re.IGNORECASE,
)


def read_lorebook(path: Path) -> list[Change]:
    """Return the entries of a lorebook that are switched on; raise BookError for a file that is none.

    Of an entry's text 8 lines are kept, and what is always on is pinned.
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
    changes = [change for row in rows for change in _entry(row)]
    if not changes:
        raise BookError(f"{path} has no entry with a name and a text.")
    return changes


def _entry(row: dict[str, Any]) -> list[Change]:
    if row.get("disable") or row.get("enabled") is False:
        return []
    keys = [_line(key) for key in [*_texts(row.get("key")), *_texts(row.get("keys"))]]
    keys = [key for key in keys if key and not key.startswith("/")]  # SillyTavern's patterns are no words
    named = (row.get(field) for field in ("displayName", "comment", "name"))
    name = next((_line(text) for text in named if isinstance(text, str) and text.strip()), keys[0] if keys else "")
    text = next((row[field] for field in ("content", "text") if isinstance(row.get(field), str)), "")
    lines = _lines(model_text("".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)))
    if not name or not lines:
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


def _lines(text: str) -> list[str]:
    """Return a text as lines of whole sentences."""
    lines: list[str] = []
    for sentence in sentences(" ".join(text.split())):
        sentence = limit_words(sentence, MOST_LINE_WORDS)
        if lines and count_words(lines[-1]) + count_words(sentence) <= MOST_LINE_WORDS:
            lines[-1] += f" {sentence}"
        else:
            lines.append(sentence)
    return lines[:MOST_LINES]


def _kind(text: str) -> Kind:
    return "person" if _PERSON.search(text) else "place" if _PLACE.search(text) else "thing"
