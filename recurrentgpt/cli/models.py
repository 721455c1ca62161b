"""`recurrentgpt models`: the models that run on this machine."""

from __future__ import annotations

from recurrentgpt.cli.console import note, print_json, print_table, print_text
from recurrentgpt.cli.screen import Screen
from recurrentgpt.models.embedded.catalogue import DEFAULT_WRITER, EMBEDDER, WRITERS, ModelFile
from recurrentgpt.models.embedded.fetch import fetch, is_present, model_path
from recurrentgpt.schema.errors import SettingsError


def catalogue() -> dict[str, ModelFile]:
    """Return every model that can be fetched, by id."""
    return {**WRITERS, EMBEDDER.id: EMBEDDER}


def list_models(*, json: bool) -> None:
    """Print every model, whether it is here, and where."""
    entries = [(entry, is_present(entry)) for entry in catalogue().values()]
    if json:
        for entry, present in entries:
            print_json(
                {
                    "model": entry.id,
                    "what": entry.what,
                    "license": entry.license,
                    "bytes": entry.size,
                    "present": present,
                    "path": str(model_path(entry)),
                }
            )
        return
    rows = [
        (entry.id, entry.what, size(entry.size), entry.license, "here" if present else "not fetched")
        for entry, present in entries
    ]
    print_table(("Model", "What", "Size", "License", ""), rows, whole=(0, 2, 4))


def pull_models(name: str) -> None:
    """Fetch one model, or all, with a progress bar."""
    wanted = [_find(name)] if name else list(catalogue().values())
    with Screen() as screen:
        for entry in wanted:
            screen.doing(f"checking {entry.id}")
            path = fetch(entry, screen.fetching)
            screen.rest()
            note(f"{entry.id} is in {path}")


def print_path(name: str) -> None:
    """Print where a model is, and say so when it is not there yet."""
    entry = _find(name or DEFAULT_WRITER)
    print_text(str(model_path(entry)))
    if not model_path(entry).exists():
        note(f"It is not fetched yet: recurrentgpt models pull {entry.id}")


def size(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _find(name: str) -> ModelFile:
    known = catalogue()
    if name in known:
        return known[name]
    raise SettingsError(f"There is no model {name!r} to fetch; there are {', '.join(known)}.")
