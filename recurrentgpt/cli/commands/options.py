"""The options and arguments of all commands, each with its help. What is a setting is described by its field of `Context`."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from recurrentgpt.cli.terminal.settings_input import Settings, option_name, setting_words
from recurrentgpt.infrastructure.config_file import stored
from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS, home
from recurrentgpt.schema.context import SETTINGS, STORY_SETTINGS, refuse_unknown
from recurrentgpt.schema.errors import RecurrentGPTError
from recurrentgpt.schema.genres import GENRES, NEUTRAL_GENRE

if TYPE_CHECKING:
    from recurrentgpt.story_reader import ReadOnlyStory

Options: TypeAlias = dict[str, Any]
"""The annotations of options, by the names of the parameters that they are for."""

HELP = ["--help", "-h"]
PLAIN = {"help_option_names": HELP, "max_content_width": 100}
"""How every command prints its help: as it stands here."""

GROUP: dict[str, Any] = {"rich_markup_mode": None, "no_args_is_help": True, "context_settings": PLAIN}
"""How a command is made that only holds others."""


def setting_help(name: str, *, default: str | None = None, hint: str = "") -> str:
    """Return the help of an option for a setting: what it is, and its default where that says something."""
    usual = SETTINGS[name].default
    if default is None and usual not in (None, "", 0, "auto"):
        default = f"{usual:g}" if isinstance(usual, float) else str(usual)
    parts = [f"{SETTINGS[name].description.rstrip('.')}.", hint, f"[default: {default}]" if default else ""]
    return " ".join(filter(None, parts))


def setting_option(name: str, *, kind: Any = None, default: str | None = None, hint: str = "", **more: Any) -> Any:
    """Return the option for a setting, with the description, range and choices that its field of `Context` has.

    `hint` says what belongs to the command line alone; `kind` takes the place of the field's own type.
    """
    setting = SETTINGS[name]
    if kind is None:
        kind = Literal[setting.choices] if setting.choices else setting.kind or str
    if kind in (int, float):
        more = {"metavar": setting.unit.upper() or "N", "min": setting.minimum, "max": setting.maximum} | more
    elif kind is str:
        more = {"metavar": "TEXT"} | more
    return Annotated[kind | None, typer.Option(help=setting_help(name, default=default, hint=hint), **more)]


# Of many commands

JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON Lines.")]
JsonObject = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Json = Annotated[bool, typer.Option("--json", help="Print events as JSON Lines.")]


def complete_stories(incomplete: str) -> list[tuple[str, str]]:
    """Return the stories that a word on the command line may become, by their ids, and by the titles that one alone has."""
    from recurrentgpt.checkpoints.sqlite_faults import STORIES
    from recurrentgpt.story_list import read_summaries

    try:
        known = read_summaries(home() / STORIES, archived=False)
    except RecurrentGPTError:
        return []
    often = Counter(one.title.casefold() for one in known)
    newest = known[::-1]
    # With nothing typed, the ids are enough: each is listed with its title.
    titles = [(one.title, one.story) for one in newest if incomplete and often[one.title.casefold()] == 1]
    return _beginning_with(incomplete, [*((one.story, one.title) for one in newest), *titles])


def complete_branches(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the names of branches of the story named before that a word may become, and `opening`."""
    with _story_before(ctx) as story:
        names = [] if story is None else [(name, "branch") for name in story.names()]
    return _beginning_with(incomplete, [*names, ("opening", "before the first passage")])


def complete_entries(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the names in the codex of the story named before that a word may become."""
    with _story_before(ctx) as story:
        entries = [] if story is None else [(entry.name, entry.kind) for entry in story.codex() if not entry.hidden]
    return _beginning_with(incomplete, entries)


def complete_story_settings(incomplete: str) -> list[tuple[str, str]]:
    """Return the settings of a story that a word may become, as NAME= or, where there are few values, as NAME=VALUE."""
    return _beginning_with(incomplete, setting_words(STORY_SETTINGS, incomplete))


def complete_stored_settings(incomplete: str) -> list[tuple[str, str]]:
    """Return what the config file can hold and a word may become, as NAME= or NAME=VALUE."""
    machine = [item.name for item in MACHINE_SETTINGS if item.name != "home" and not item.secret]
    return _beginning_with(incomplete, setting_words([*machine, *STORED], incomplete))


def complete_names_of_settings(incomplete: str) -> list[tuple[str, str]]:
    """Return the settings that `config get` knows and a word may become."""
    described = {item.name: item.description for item in MACHINE_SETTINGS} | {
        name: SETTINGS[name].description for name in STORED
    }
    return _beginning_with(incomplete, [(option_name(name), what) for name, what in described.items()])


def complete_genres(incomplete: str) -> list[tuple[str, str]]:
    """Return the genres with seeds of their own that a word may become."""
    return _beginning_with(incomplete, [(genre, "") for genre in GENRES])


def complete_formats(incomplete: str) -> list[tuple[str, str]]:
    """Return the formats of an export that a word may become."""
    from recurrentgpt.books.writers import export_formats

    known = {extension.lstrip("."): title for extension, title in export_formats().items()}
    return _beginning_with(incomplete, [*known.items(), ("json", "all of the story")])


@contextmanager
def _story_before(ctx: typer.Context) -> Iterator[ReadOnlyStory | None]:
    """Open the story that stands before the word to complete; None where there is none, or it cannot be read."""
    from recurrentgpt.story_reader import open_to_read

    name = ctx.params.get("story")
    with ExitStack() as stack:
        story = None
        if name:
            try:
                story = stack.enter_context(open_to_read(name))
            except RecurrentGPTError:
                pass  # whoever runs the command is told why
        yield story


def _beginning_with(incomplete: str, items: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    found = [(word, what) for word, what in items if word.casefold().startswith(incomplete.casefold())]
    # Bash alone puts words in as they are.
    if os.environ.get("_RECURRENTGPT_COMPLETE", "").endswith("bash"):
        return [(re.sub(r"([^\w=.:/@%+-])", r"\\\1", word), what) for word, what in found]
    return found


StoryName = Annotated[
    str,
    typer.Argument(metavar="STORY", help="Id, unique prefix of an id, or title.", autocompletion=complete_stories),
]

WHICH = "A step of this branch, the beginning of an id, the name of a branch, or `opening`"
PassageRef = Annotated[str, typer.Argument(metavar="PASSAGE", help=f"{WHICH}.", autocompletion=complete_branches)]
MaybePassageRef = Annotated[
    str | None,
    typer.Argument(
        metavar="PASSAGE",
        help=f"{WHICH}. [default: where the story stands]",
        show_default=False,
        autocompletion=complete_branches,
    ),
]


def at_option(use: str) -> Any:
    """Return the option --at of a command that reads a story at one place; `use` says for what."""
    return typer.Option(
        "--at", metavar="PASSAGE", help=f"{use} {WHICH}.", show_default=False, autocompletion=complete_branches
    )


At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="PASSAGE",
        help="After which passage. [default: where the story stands]",
        autocompletion=complete_branches,
    ),
]
Text = Annotated[str | None, typer.Option(metavar="TEXT", help="The new text, without an editor.")]
File = Annotated[str | None, typer.Option(metavar="FILE", help="A file with the new text; - reads standard input.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Truth = Annotated[
    bool, typer.Option("--truth", help="Show what is kept from the reader, too: the truth behind the story, its clues.")
]
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
        help=f"{', '.join(GENRES).capitalize()}, or any other. [default: the premise's; drawn without one]",
        autocompletion=complete_genres,
    ),
]
BookGenre = Annotated[
    str | None,
    typer.Option(
        "--genre",
        metavar="TEXT",
        help=f"{', '.join(GENRES).capitalize()}, or any other. [default: {NEUTRAL_GENRE}]",
        autocompletion=complete_genres,
    ),
]
Premise = Annotated[str | None, typer.Option(metavar="TEXT", help="What the story is about; - reads standard input.")]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Title of a new story.")]

RUN_OPTIONS: Options = {
    "model": setting_option("model", metavar="NAME"),
    "base_url": setting_option("base_url", metavar="URL", hint="Its key is OPENAI_API_KEY."),
    "model_for": Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME", help="Model of one role: writer, memory, planner, simulator, judge. May be repeated."
        ),
    ],
    "adapter": setting_option("adapter", metavar="ADAPTER"),
    "tier": setting_option("tier"),
    "timeout": setting_option("timeout"),
    "budget_tokens": setting_option("budget_tokens"),
    "prompts": setting_option(
        "prompts", kind=Path, exists=True, file_okay=False, metavar="DIR", hint="See `prompts export`."
    ),
}
"""Options of everything that asks a model; they hold for this command."""

READING_OPTIONS: Options = {"ahead": setting_option("ahead", metavar="N")}
"""Options of what asks somebody between the passages."""

STORY_OPTIONS: Options = {name: setting_option(name) for name in STORY_SETTINGS if name != "mode"} | {
    "banned": Annotated[
        list[str] | None,
        typer.Option(
            "--ban", "--banned", metavar="TEXT", help="A word or phrase that no passage may hold. May be repeated."
        ),
    ]
}
"""Options that a new story keeps, and that a story which goes on may be given for one command."""


STORED = tuple(
    name
    for name, setting in SETTINGS.items()
    if name in RUN_OPTIONS | READING_OPTIONS | STORY_OPTIONS
    and name not in {setting.name for setting in MACHINE_SETTINGS}
)
"""Settings that the config file can hold, beside those of the machine, which everything reads."""


def stored_settings(*, new: bool) -> Settings:
    """Return what the config file says of these; of how a story is told only for a `new` one, as the others keep their own."""
    folder = home()
    found = stored(folder)
    refuse_unknown(found, {**SETTINGS, **{setting.name: SETTINGS["model"] for setting in MACHINE_SETTINGS}})
    return {name: found[name] for name in STORED if name in found and (new or name not in STORY_OPTIONS)}


def with_settings(options: Options) -> Callable[[Callable[..., None]], Callable[..., None]]:
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


def _settings(given: Settings) -> Settings:
    """Return what was named, as `Context` takes it."""
    settings = {name: value for name, value in given.items() if value is not None}
    if pairs := settings.pop("model_for", None):
        settings["models"] = _roles(pairs)
    if phrases := settings.pop("banned", None):
        settings["banned"] = "; ".join(phrases)
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
