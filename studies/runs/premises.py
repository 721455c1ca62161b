"""The premises that novels start from: twenty for each genre of the paper, as data."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

from recurrentgpt.prose.model_text import visible_line
from recurrentgpt.studies.errors import StudyError

GENRES = ("science fiction", "romance", "fantasy", "horror", "mystery", "thriller")


def premises(genre: str, file: Path | None = None) -> list[str]:
    """Return the premises of a genre, from a TOML file of the same form where one is given.

    Raises StudyError for a genre without premises and for a file that cannot be read.
    """
    known = _load(file)
    if genre not in known:
        raise StudyError(f"There are no premises of the genre {genre!r}; there are some of {', '.join(known)}.")
    return known[genre]


def _load(file: Path | None) -> dict[str, list[str]]:
    where = str(file or "the packaged premises")
    try:
        packaged = resources.files("recurrentgpt.studies") / "data" / "premises.toml"
        text = file.read_text(encoding="utf-8") if file else packaged.read_text(encoding="utf-8")
        rows = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StudyError(
            f"The premises in {where} cannot be read ({error}): correct the file's name or form."
        ) from error
    found: dict[str, list[str]] = {}
    for genre, part in rows.items():
        texts = part.get("premises") if isinstance(part, dict) else None
        if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
            raise StudyError(f'In {where}, {genre!r} needs a list: ["{genre}"] and below it premises = ["..."].')
        found[genre] = [visible_line(text) for text in texts]
    return found
