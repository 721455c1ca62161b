"""`models` and `config`: the models that run on this machine, and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from recurrentgpt.cli.commands.options import GROUP, JsonLines
from recurrentgpt.cli.terminal.console import note, print_json, print_table, print_text
from recurrentgpt.schema.errors import SettingsError

if TYPE_CHECKING:
    from recurrentgpt.infrastructure.settings import Resolved
    from recurrentgpt.models.embedded.catalogue import ModelFile

models = typer.Typer(**GROUP)
config = typer.Typer(**GROUP)


@models.callback()
def _models() -> None:
    """List and fetch the models that run on this machine.

    \b
    Examples:
      recurrentgpt models list
      recurrentgpt models pull
      recurrentgpt models path all-MiniLM-L6-v2
    """


@models.command("list")
def models_list(json: JsonLines = False) -> None:
    """List the models, and whether they are on this machine.

    \b
    Example:
      recurrentgpt models list
    """
    from recurrentgpt.models.embedded.fetch import is_present, model_path

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
    print_table(("Model", "What", "Size", "License", ""), rows, uncut=(0, 2, 4))


@models.command("pull")
def models_pull(
    model: Annotated[str, typer.Argument(metavar="ID", help="Model to fetch; all when left out.")] = "",
) -> None:
    """Fetch models now; `write` does it by itself at first use. An interrupted fetch goes on where it stopped.

    \b
    Example:
      recurrentgpt models pull
    """
    from recurrentgpt.cli.terminal.screen import Screen
    from recurrentgpt.models.embedded.fetch import fetch

    wanted = [_find(model)] if model else list(catalogue().values())
    with Screen() as screen:
        for entry in wanted:
            screen.doing(f"checking {entry.id}")
            path = fetch(entry, screen.fetching)
            screen.rest()
            note(f"{entry.id} is in {path}")


@models.command("path")
def models_path(
    model: Annotated[str, typer.Argument(metavar="ID", help="The embedded writer when left out.")] = "",
) -> None:
    """Print where a model is, or will be.

    \b
    Example:
      ls -lh "$(recurrentgpt models path)"
    """
    from recurrentgpt.models.embedded.catalogue import DEFAULT_WRITER
    from recurrentgpt.models.embedded.fetch import model_path

    entry = _find(model or DEFAULT_WRITER)
    print_text(str(model_path(entry)))
    if not model_path(entry).exists():
        note(f"It is not fetched yet: recurrentgpt models pull {entry.id}")


@config.callback()
def _config() -> None:
    """Show the settings, and where each comes from.

    \b
    Examples:
      recurrentgpt config show
      recurrentgpt config path
    """


@config.command("show")
def config_show(json: JsonLines = False) -> None:
    """Print every setting, its value, and where that came from; secrets stay hidden.

    \b
    Example:
      recurrentgpt config show
    """
    from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS, resolve

    resolved = [resolve(setting.name) for setting in MACHINE_SETTINGS]
    if json:
        for item in resolved:
            print_json(
                {
                    "setting": item.setting.name,
                    "value": _public_value(item),
                    "source": item.source,
                    "variable": item.setting.variable,
                    "description": item.setting.description,
                }
            )
        return
    rows = [(item.setting.name, _public_value(item), item.source, item.setting.variable) for item in resolved]
    print_table(("Setting", "Value", "From", "Variable"), rows, uncut=(0, 2, 3))


@config.command("path")
def config_path() -> None:
    """Print the folder of stories, checkpoints and models.

    \b
    Example:
      du -sh "$(recurrentgpt config path)"
    """
    from recurrentgpt.infrastructure.settings import home

    print_text(str(home()))


def catalogue() -> dict[str, ModelFile]:
    """Return every model that can be fetched, by id."""
    from recurrentgpt.models.embedded.catalogue import EMBEDDER, WRITERS

    return {**WRITERS, EMBEDDER.id: EMBEDDER}


def size(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def without_password(address: str) -> str:
    """Return an address with a user's name and password replaced by stars."""
    place = urlsplit(address).netloc
    return address.replace(place, f"***@{place.rpartition('@')[2]}", 1) if "@" in place else address


def _find(name: str) -> ModelFile:
    known = catalogue()
    if name in known:
        return known[name]
    raise SettingsError(f"There is no model {name!r} to fetch; there are {', '.join(known)}.")


def _public_value(item: Resolved) -> str:
    """Return a value that may be shown: no secret, and no password inside an address."""
    return without_password(item.shown) if item.setting.name == "base_url" else item.shown
