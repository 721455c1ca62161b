"""`recurrentgpt doctor`: look at everything that writing a story needs, and say what to do about what is wrong."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import typer

from recurrentgpt.cli.commands.options import JsonLines
from recurrentgpt.cli.commands.setup import catalogue, size, without_password
from recurrentgpt.cli.terminal.console import console, one_line, print_json, print_text
from recurrentgpt.infrastructure import settings
from recurrentgpt.schema.errors import RecurrentGPTError, SettingsError

if TYPE_CHECKING:
    from recurrentgpt.models.embedded.catalogue import ModelFile

SPARE = 500_000_000
"""Bytes that a disk should have free beside the models: stories, checkpoints, room to breathe."""

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """What one look found, and what to do about it."""

    check: str
    status: Status
    detail: str
    advice: str = ""


def doctor(json: JsonLines = False) -> None:
    """Check this machine, and say what to do.

    It looks at Python, SQLite, FAISS, the stories, the models, the endpoint and the disk, and exits
    with 1 when something would keep a story from being written.

    \b
    Examples:
      recurrentgpt doctor
      recurrentgpt doctor --json | jq 'select(.status != "ok")'
    """
    failed = False
    for check in (_python, _sqlite, _faiss, _packages, _home, _stories, _models, _endpoint, _disk):
        for finding in _findings(check):
            failed = failed or finding.status == "fail"
            _print_finding(finding, json=json)
    raise typer.Exit(int(failed))


def _findings(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield a check's findings; one that breaks is a finding too."""
    try:
        yield from check()
    except RecurrentGPTError as error:
        yield Finding(check.__name__.strip("_"), "fail", "cannot be used", str(error))
    except Exception as error:  # noqa: BLE001 - a doctor who stumbles must still look at the rest
        yield Finding(check.__name__.strip("_"), "fail", f"{type(error).__name__}: {error}", "Please report this.")


def _print_finding(finding: Finding, *, json: bool) -> None:
    if json:
        print_json(dict(vars(finding)))
        return
    screen = console(stderr=False)
    line = f"{finding.status:<4}  {finding.check:<10}  {one_line(finding.detail)}"
    if not screen.is_terminal:
        print_text(line + (f" - {one_line(finding.advice)}" if finding.advice else ""))
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=4)
    grid.add_column(width=10)
    grid.add_column(overflow="fold")
    colour = {"ok": "green", "warn": "yellow", "fail": "bold red"}[finding.status]
    what = Text(one_line(finding.detail))
    if finding.advice:
        what.append(f"\n{one_line(finding.advice)}", style="dim")
    grid.add_row(Text(finding.status, style=colour), finding.check, what)
    screen.print(grid)


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    yield Finding(
        "python", "ok" if good else "fail", f"Python {version}", "" if good else "Install Python 3.11 or newer."
    )


def _sqlite() -> Iterator[Finding]:
    import sqlite3

    version = sqlite3.sqlite_version
    # The store needs upserts and window functions, its expiry unixepoch().
    good = sqlite3.sqlite_version_info >= (3, 38)
    advice = "" if good else "Use a Python that is linked with SQLite 3.38 or newer."
    yield Finding("sqlite", "ok" if good else "warn", f"SQLite {version}", advice)


def _faiss() -> Iterator[Finding]:
    try:
        import faiss
        import numpy as np

        index = faiss.IndexFlatIP(2)
        index.add(np.eye(2, dtype="float32"))
        _, found = index.search(np.array([[0.0, 1.0]], dtype="float32"), 1)
        good, detail = int(found[0][0]) == 1, f"FAISS {faiss.__version__}"
    except (ImportError, AttributeError, RuntimeError) as error:
        good, detail = False, f"FAISS does not work: {error}"
    yield Finding(
        "faiss",
        "ok" if good else "fail",
        detail,
        "" if good else "Reinstall it: pip install --force-reinstall faiss-cpu",
    )


def _packages() -> Iterator[Finding]:
    import importlib.metadata
    import importlib.util

    missing = [name for name in ("xllamacpp", "sentence_transformers") if importlib.util.find_spec(name) is None]
    if missing:
        names = " ".join(name.replace("_", "-") for name in missing)
        yield Finding("packages", "fail", f"not installed: {names}", f"pip install {names}")
        return
    versions = [
        f"{name} {importlib.metadata.version(name)}" for name in ("langgraph", "sentence-transformers", "xllamacpp")
    ]
    yield Finding("packages", "ok", ", ".join(versions))


def _home() -> Iterator[Finding]:
    folder = settings.home()
    place = _nearest(folder)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield Finding(
            "home", "fail", f"{folder} cannot be written", "Change its permissions, or set RECURRENTGPT_HOME."
        )
        return
    yield Finding("home", "ok", f"{folder}" + ("" if place == folder else " (made at first use)"))


def _stories() -> Iterator[Finding]:
    remote = settings.resolve("database_url").value
    if not remote and not (settings.home() / "stories.db").exists():
        yield Finding("stories", "ok", "none yet", "")
        return
    from recurrentgpt.checkpoints.sqlite_faults import check_pages
    from recurrentgpt.library import Library

    with Library.open() as library:
        where, count = library.engine.description, len(library.stories())
    if not remote:
        check_pages(settings.home())
    yield Finding("stories", "ok", f"{count} in {where}")


def _unused(entry: ModelFile) -> bool:
    """Tell whether the settings name another model in the place of this one."""
    if entry.folder:
        return bool(settings.resolve("embedder").value)
    own = settings.resolve("model").value or ""
    return bool(settings.resolve("base_url").value) or bool(own and own not in catalogue())


def _models() -> Iterator[Finding]:
    from recurrentgpt.models.embedded.fetch import is_present, model_path

    own = settings.resolve("model").value or ""
    if own.lower().endswith(".gguf") and not Path(own).expanduser().is_file():
        yield Finding(
            "models", "fail", f"{own} does not exist", "Set RECURRENTGPT_MODEL to the path of a GGUF file, or unset it."
        )
    for entry in catalogue().values():
        unused = _unused(entry)
        if is_present(entry):
            yield Finding("models", "ok", f"{entry.id} in {model_path(entry)}")
        elif unused:
            yield Finding("models", "ok", f"{entry.id} is not here, and not needed with these settings")
        else:
            fetched = (
                f"It is fetched at first use ({size(entry.size)}); to fetch it now: recurrentgpt models pull {entry.id}"
            )
            yield Finding("models", "warn", f"{entry.id} ({entry.what}) is not here", fetched)
    yield from _adapter()
    from recurrentgpt.models.embedders import check_embedder

    check_embedder()


def _adapter() -> Iterator[Finding]:
    """Tell whether the adapter that the embedded model wears was trained for it."""
    from recurrentgpt.models.embedded.adapter import adapter_in_force
    from recurrentgpt.models.embedded.catalogue import WRITER
    from recurrentgpt.models.embedded.fetch import sha256

    named = settings.resolve("model").value
    if settings.resolve("base_url").value or not _is_embedded(named):
        return
    try:
        worn = adapter_in_force(None, own=not named or named in _writers())
    except SettingsError as error:
        yield Finding("adapter", "fail", str(error), "Set RECURRENTGPT_ADAPTER to a GGUF adapter, or unset it.")
        return
    if worn is None:
        return
    own = Path(named or "").expanduser()
    base = sha256(own) if own.suffix.lower() == ".gguf" and own.is_file() else WRITER.files[0].sha256
    if not (trained_for := worn.trained_for()):
        told = f"nothing beside {worn.path} says which model it was trained for"
        yield Finding("adapter", "warn", told, "Keep the manifest of `training.export` beside it.")
    elif trained_for != base:
        yield Finding(
            "adapter",
            "fail",
            f"{worn.path} was trained for another model file than the one in use",
            "Set RECURRENTGPT_MODEL to that file, or RECURRENTGPT_ADAPTER to none.",
        )
    elif (checksum := worn.checksum()) and sha256(worn.path) != checksum:
        why = f"{worn.path} is not the file that the manifest beside it describes: it is damaged, or another adapter's"
        yield Finding("adapter", "fail", why, "Copy or export both again; the packaged one comes with a new install.")
    else:
        yield Finding("adapter", "ok", f"{worn.path} at strength {worn.scale:g}")


def _endpoint() -> Iterator[Finding]:
    address, key = settings.resolve("base_url").value, settings.resolve("api_key").value
    model = settings.resolve("model").value
    embedded = _is_embedded(model)
    if not address and (embedded or not key):
        if not embedded:
            advice = "Set OPENAI_BASE_URL, or OPENAI_API_KEY, or unset RECURRENTGPT_MODEL to use the embedded model."
            yield Finding("endpoint", "fail", f"none is set for the model {model!r}", advice)
            return
        idle = "; OPENAI_API_KEY is set but no model is named, so it is not used" if key else ""
        yield Finding("endpoint", "ok", f"none is set: the embedded model writes{idle}")
        return
    if not model:
        yield Finding("endpoint", "fail", "OPENAI_BASE_URL is set but no model is named", "Set RECURRENTGPT_MODEL.")
        return
    yield _reach(address or settings.OPENAI, key, model)


_FAULTS: Mapping[str, tuple[Status, str, str]] = {
    "key": ("fail", "refuses the key ({})", "Set OPENAI_API_KEY to a key of this endpoint."),
    "unreachable": (
        "fail",
        "cannot be reached ({})",
        "Check that its server runs, and OPENAI_BASE_URL.",
    ),
    "foreign": ("warn", "is not OpenAI-compatible: {}", "Check OPENAI_BASE_URL; it mostly ends in /v1."),
    "unlisted": ("warn", "does not list its models ({})", "If stories fail too, check OPENAI_BASE_URL."),
}
"""What is said of an endpoint that gives no list of its models, by why it does not."""


def _reach(address: str, key: str | None, model: str) -> Finding:
    """Ask an endpoint which models it has: that costs nothing, and proves address and key."""
    from recurrentgpt.infrastructure.background_loop import call
    from recurrentgpt.models.endpoint_check import list_models

    shown = without_password(address)
    if urlsplit(address).scheme not in ("http", "https"):
        return Finding("endpoint", "fail", f"{shown} is no address", "OPENAI_BASE_URL begins with http:// or https://.")
    listing = call(lambda: list_models(address, key))
    if listing.fault:
        status, what, advice = _FAULTS[listing.fault]
        return Finding("endpoint", status, f"{shown} {what.format(listing.why)}", advice)
    if listing.models and model not in listing.models:
        some = ", ".join(listing.models[:5])
        return Finding(
            "endpoint",
            "warn",
            f"{shown} does not list the model {model!r}",
            f"It lists {some}; set RECURRENTGPT_MODEL to one.",
        )
    return Finding("endpoint", "ok", f"{shown} answers" + (f", and has {model}" if listing.models else ""))


def _disk() -> Iterator[Finding]:
    from recurrentgpt.models.embedded.fetch import is_present

    folder = _nearest(settings.home())
    free = shutil.disk_usage(folder).free
    missing = sum(entry.size for entry in catalogue().values() if not is_present(entry) and not _unused(entry))
    advice = f"Make room in {folder}, or set RECURRENTGPT_HOME to a folder on a larger disk."
    detail = f"{size(free)} free" + (f", {size(missing)} of models to fetch" if missing else "")
    if free < missing * 1.5 + SPARE / 10:
        yield Finding("disk", "fail", detail, advice)
    else:
        yield Finding(
            "disk",
            "ok" if free > missing * 1.5 + SPARE else "warn",
            detail,
            "" if free > missing * 1.5 + SPARE else advice,
        )


def _is_embedded(model: str | None) -> bool:
    """Return whether a model's name leads to this machine, where no address is set."""
    return not model or model.lower().endswith(".gguf") or model in _writers()


def _writers() -> tuple[str, ...]:
    from recurrentgpt.models.embedded.catalogue import WRITERS

    return tuple(WRITERS)


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next((place for place in (folder, *folder.absolute().parents) if place.exists()), folder)
