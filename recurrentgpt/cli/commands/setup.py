"""`models` and `config`: the models that run on this machine, and its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from recurrentgpt.cli.commands.options import (
    GROUP,
    STORED,
    JsonLines,
    complete_names_of_settings,
    complete_stored_settings,
    stored_settings,
)
from recurrentgpt.cli.terminal.console import note, print_json, print_table, print_text
from recurrentgpt.cli.terminal.settings_input import option_name, setting_named, setting_rows, split_pair
from recurrentgpt.schema.context import SETTINGS, Context
from recurrentgpt.schema.errors import SettingsError

if TYPE_CHECKING:
    from recurrentgpt.infrastructure.config_file import Value
    from recurrentgpt.infrastructure.settings import Resolved
    from recurrentgpt.models.embedded.catalogue import ModelFile

models = typer.Typer(**GROUP)
config = typer.Typer(**GROUP)

_LISTS = "config list"
"""The command that lists what is stored."""


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
    from recurrentgpt.models.embedded.adapter import STORYTELLER, STRENGTH
    from recurrentgpt.models.embedded.fetch import is_present, model_path

    listed = [
        (entry.id, entry.what, entry.license, entry.size, is_present(entry), model_path(entry))
        for entry in catalogue().values()
    ]
    worn = f"adapter of the embedded writer, worn at {STRENGTH:g}"
    many = STORYTELLER.stat().st_size if STORYTELLER.exists() else 0
    listed.append((STORYTELLER.stem, worn, "Apache-2.0", many, bool(many), STORYTELLER))
    if json:
        for name, what, terms, many, present, path in listed:
            print_json(
                {"model": name, "what": what, "license": terms, "bytes": many, "present": present, "path": str(path)}
            )
        return
    rows = [
        (name, what, size(many), terms, "here" if present else "not fetched")
        for name, what, terms, many, present, _ in listed
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
    from recurrentgpt.models.embedded.adapter import STORYTELLER
    from recurrentgpt.models.embedded.catalogue import DEFAULT_WRITER
    from recurrentgpt.models.embedded.fetch import model_path

    if model == STORYTELLER.stem:
        print_text(str(STORYTELLER))
        return
    entry = _find(model or DEFAULT_WRITER)
    print_text(str(model_path(entry)))
    if not model_path(entry).exists():
        note(f"It is not fetched yet: recurrentgpt models pull {entry.id}")


@config.callback()
def _config() -> None:
    """Show and store settings of this machine and of new stories.

    \b
    Examples:
      recurrentgpt config list
      recurrentgpt config set base-url=http://localhost:11434/v1 model=qwen3:8b
      recurrentgpt config set pace=slow max-words=600
      recurrentgpt config get model
    """


@config.command("set")
def config_set(
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE", help="What to store; NAME= forgets it.", autocompletion=complete_stored_settings
        ),
    ],
) -> None:
    """Store settings in config.toml in your data folder.

    \b
    Examples:
      recurrentgpt config set base-url=http://localhost:11434/v1 model=qwen3:8b
      recurrentgpt config set style="dry, like a ship's log" language=French
      recurrentgpt config set pace=

    An option of a command and an environment variable count for more. How a story is told (pace, style, lengths and the like)
    is stored for new stories; those that have begun keep theirs: `recurrentgpt set`. Keys are never stored.
    """
    from recurrentgpt.infrastructure.config_file import store
    from recurrentgpt.infrastructure.settings import home

    changed = dict(map(_change, changes))
    together = {**stored_settings(new=True), **{name: changed[name] for name in STORED if name in changed}}
    Context(
        **{name: value for name, value in together.items() if value is not None}
    )  # refuses what does not go together
    path = store(home(), changed)
    note(f"It is in {path}.")


@config.command("get")
def config_get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Its name, as `config list` spells it.", autocompletion=complete_names_of_settings
        ),
    ],
) -> None:
    """Print the value of a setting, wherever it comes from.

    \b
    Example:
      recurrentgpt config get model
    """
    rows = {row.name: row.value for row in _rows()}
    print_text(rows[setting_named(name, rows, _LISTS)])


@config.command("list")
def config_list(json: JsonLines = False) -> None:
    """Print every setting, its value, and where that came from; secrets stay hidden.

    \b
    Example:
      recurrentgpt config list
    """
    rows = _rows()
    if json:
        for row in rows:
            print_json({"setting": row.name.replace("-", "_"), **{k: v for k, v in vars(row).items() if k != "name"}})
        return
    shown = [(row.name, row.value, row.source, row.variable) for row in rows]
    print_table(("Setting", "Value", "From", "Variable"), shown, uncut=(0, 2, 3))


config.command("show", hidden=True)(config_list)


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


@dataclass(frozen=True)
class _Row:
    """A setting as `config list` shows it."""

    name: str
    value: str
    source: str
    variable: str
    description: str


def _rows() -> list[_Row]:
    """Return the settings of the machine, and what else can be stored."""
    from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS, resolve

    resolved = [resolve(setting.name) for setting in MACHINE_SETTINGS]
    rows = [
        _Row(option_name(it.setting.name), _public_value(it), it.source, it.setting.variable, it.setting.description)
        for it in resolved
    ]
    kept = stored_settings(new=True)
    for name in STORED:
        ((shown, value, what),) = setting_rows({name: kept.get(name, SETTINGS[name].default)})
        rows.append(_Row(shown, value, "config file" if name in kept else "default", "", what))
    return rows


def _change(pair: str) -> tuple[str, Value | None]:
    """Return the setting that NAME=VALUE stores, checked; None for one to forget."""
    from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS

    machine = {setting.name: setting for setting in MACHINE_SETTINGS}
    given, value = split_pair(pair)
    name = setting_named(given, (*machine, *STORED), _LISTS)
    if name == "home" or (name in machine and machine[name].secret):
        raise SettingsError(f"{option_name(name)} is not stored: set {machine[name].variable} in the environment.")
    if not value.strip():
        return name, None
    if name == "base_url" and "@" in urlsplit(value).netloc:
        raise SettingsError("A password is not stored: leave it out of the address, and set OPENAI_API_KEY.")
    if name == "prompts":
        value = str(Path(value).expanduser().absolute())
    checked: Value = SETTINGS[name].checked(value) if name in SETTINGS else value.strip()
    return name, checked


def _public_value(item: Resolved) -> str:
    """Return a value that may be shown: no secret, and no password inside an address."""
    return without_password(item.shown) if item.setting.name == "base_url" else item.shown
