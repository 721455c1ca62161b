"""The options and arguments of all commands, each with its help. What is a setting is described by its field of `Context`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from recurrentgpt.schema.context import Context

PLAIN = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
"""How every command prints its help: as it stands here."""

GROUP: dict[str, Any] = {"rich_markup_mode": None, "no_args_is_help": True, "context_settings": PLAIN}
"""How a command is made that only holds others."""

_FIELDS = {item.name: item for item in dataclasses.fields(Context)}


def setting_help(name: str, *, default: str | None = None, hint: str = "") -> str:
    """Return the help of an option for a field of `Context`: its description, and its default where that says something."""
    field = _FIELDS[name]
    if default is None and field.default not in (None, "", 0, "auto"):
        default = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
    parts = [f"{field.metadata['description'].rstrip('.')}.", hint, f"[default: {default}]" if default else ""]
    return " ".join(filter(None, parts))


def setting_option(name: str, *, kind: Any = None, default: str | None = None, hint: str = "", **more: Any) -> Any:
    """Return the option for a field of `Context`, with its description, its range and its choices.

    `hint` says what belongs to the command line alone; `kind` takes the place of the field's own type.
    """
    field, hints = _FIELDS[name], get_type_hints(Context)
    if kind is None:
        kinds = [part for part in (get_args(hints[name]) or (hints[name],)) if part is not NoneType]
        kind = hints[name] if get_origin(hints[name]) is Literal else kinds[0] if kinds[0] in (int, float) else str
    if kind in (int, float):
        unit = field.metadata.get("unit", "")
        more = {"metavar": unit.upper() or "N", "min": field.metadata.get("ge"), "max": field.metadata.get("le")} | more
    elif kind is str:
        more = {"metavar": "TEXT"} | more
    return Annotated[kind | None, typer.Option(help=setting_help(name, default=default, hint=hint), **more)]


# Of many commands

JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON Lines.")]
JsonObject = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Json = Annotated[bool, typer.Option("--json", help="Print events as JSON Lines.")]
StoryName = Annotated[str, typer.Argument(metavar="STORY", help="Id, unique prefix of an id, or title.")]

WHICH = "A step of this branch, the beginning of an id, the name of a branch, or `opening`"
PassageRef = Annotated[str, typer.Argument(metavar="PASSAGE", help=f"{WHICH}.")]
MaybePassageRef = Annotated[
    str | None,
    typer.Argument(metavar="PASSAGE", help=f"{WHICH}. [default: where the story stands]", show_default=False),
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="PASSAGE", help="After which passage. [default: where the story stands]"),
]
Text = Annotated[str | None, typer.Option(metavar="TEXT", help="The new text, without an editor.")]
File = Annotated[str | None, typer.Option(metavar="FILE", help="A file with the new text; - reads standard input.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Remote = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="A server that keeps and writes the story; its token is RECURRENTGPT_REMOTE_TOKEN."
    ),
]

# Of `write` and `play`

Genre = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Science fiction, romance, fantasy, horror, mystery, thriller, historical, western, young adult, literary, "
        "or any other. [default: drawn]",
    ),
]
Premise = Annotated[str | None, typer.Option(metavar="TEXT", help="What the story is about; - reads standard input.")]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Title of a new story.")]

RUN_OPTIONS: dict[str, Any] = {
    "model": setting_option("model", metavar="NAME"),
    "base_url": setting_option("base_url", metavar="URL", hint="Its key is OPENAI_API_KEY."),
    "model_for": Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME", help="Model of one role: writer, memory, planner, simulator, judge. May be repeated."
        ),
    ],
    "tier": setting_option("tier", default="by the model's name"),
    "timeout": setting_option("timeout"),
    "budget_tokens": setting_option("budget_tokens"),
    "prompts": setting_option(
        "prompts", kind=Path, exists=True, file_okay=False, metavar="DIR", hint="See `prompts export`."
    ),
}
"""Options of everything that asks a model; they hold for this command."""

STORY_OPTIONS: dict[str, Any] = {
    name: setting_option(name)
    for name in (
        "style",
        "pace",
        "point_of_view",
        "tense",
        "note",
        "language",
        "min_words",
        "max_words",
        "plans",
        "top_k",
        "new_character",
        "seed",
    )
}
"""Options that a new story keeps, and that a story which goes on may be given for one command."""


def with_settings(options: dict[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options too; those that somebody named reach it as `settings`, fields of `Context`."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for parameter in signature.parameters.values() if parameter.name != "settings"]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in options.items()
        ]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in options}
            command(**values, settings=_settings(given))

        # typer reads what a command takes from these two.
        run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *more)}
        return run

    return give


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """Return what was named, as `Context` takes it."""
    settings = {name: value for name, value in given.items() if value is not None}
    if pairs := settings.pop("model_for", None):
        settings["models"] = _roles(pairs)
    if "prompts" in settings:
        settings["prompts"] = str(settings["prompts"])
    return settings


def _roles(pairs: list[str]) -> dict[str, str]:
    from recurrentgpt.models.roles import ROLES

    roles: dict[str, str] = {}
    for pair in pairs:
        role, equals, model = pair.partition("=")
        if not equals or not model.strip() or role not in ROLES:
            raise typer.BadParameter(
                f"{pair!r} is not ROLE=NAME with one of the roles {', '.join(ROLES)}.", param_hint="--model-for"
            )
        roles[role] = model.strip()
    return roles
