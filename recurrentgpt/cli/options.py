"""The options and arguments of all commands, each with its help; nothing heavy is imported for them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

PLAIN = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
"""How every command prints its help: as it stands here."""

JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON Lines.")]
JsonObject = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
StoryName = Annotated[str, typer.Argument(metavar="STORY", help="Id, unique prefix of an id, or title.")]

WHICH = "A step of this branch, the beginning of an id, the name of a branch, or `opening`"
Passage = Annotated[str, typer.Argument(metavar="PASSAGE", help=f"{WHICH}.")]
MaybePassage = Annotated[
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

# Of `write` and `play`

Name = Annotated[str | None, typer.Argument(metavar="STORY", help="Go on with this one: id, unique prefix, or title.")]
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
Plan = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What the next passage shall do; for STORY also the number of a proposed plan."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="FILE_OR_TEXT", help="The short-term memory, one sentence a line: to go on from your own beginning."
    ),
]
Steps = Annotated[
    int | None,
    typer.Option("--steps", "-n", min=1, help="Passages to write. [default: 3; no limit with -i]", show_default=False),
]
Interactive = Annotated[bool, typer.Option("--interactive", "-i", help="Choose what happens next after each passage.")]
Ending = Annotated[bool, typer.Option("--ending", help="Bring the story to its end within these steps.")]
Remote = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="A server that keeps and writes the story; its token is RECURRENTGPT_REMOTE_TOKEN."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print events as JSON Lines.")]
Model = Annotated[str | None, typer.Option(metavar="NAME", help="Model of every role, or the path of a GGUF file.")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="OpenAI-compatible endpoint; its key is OPENAI_API_KEY.")
]
ModelFor = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ROLE=NAME", help="Model of one role: writer, memory, planner, simulator, judge. May be repeated."
    ),
]
Tier = Annotated[
    Literal["small", "full"] | None,
    typer.Option(help="Prompts for a small or a capable model. [default: by the model's name]"),
]
Timeout = Annotated[
    float | None, typer.Option(min=0.1, metavar="S", help="Seconds to wait for a model. [default: 120]")
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        file_okay=False,
        metavar="DIR",
        help="Templates that replace the packaged ones; see `prompts export`.",
    ),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Most tokens, read and written, of this run; it stops before. [default: no limit]"
    ),
]

# What a story keeps

Style = Annotated[str | None, typer.Option(metavar="TEXT", help="Notes on style: a manner, a model, what to avoid.")]
Pace = Annotated[
    Literal["slow", "steady", "fast"] | None, typer.Option(help="How much happens in a passage. [default: steady]")
]
PointOfView = Annotated[
    Literal["first", "second", "third"] | None,
    typer.Option(help="Person of the narrator. [default: third; second in `play`]"),
]
Tense = Annotated[
    Literal["past", "present"] | None, typer.Option(help="Tense of the story. [default: past; present in `play`]")
]
Note = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The author's note: what the next passages should keep in mind.")
]
Language = Annotated[str | None, typer.Option(metavar="NAME", help="Language of the story. [default: English]")]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="Seed of every random decision. [default: made from the story's id]")
]
MinWords = Annotated[
    int | None, typer.Option(min=20, max=2000, metavar="N", help="Fewest words of a passage. [default: 200]")
]
MaxWords = Annotated[
    int | None, typer.Option(min=20, max=2000, metavar="N", help="Most words of a passage. [default: 400]")
]
Plans = Annotated[
    int | None, typer.Option(min=1, max=9, metavar="N", help="Plans to propose at each step. [default: 3]")
]
TopK = Annotated[
    int | None, typer.Option(min=0, max=20, metavar="N", help="Passages to recall at each step. [default: 3]")
]
NewCharacter = Annotated[
    float | None,
    typer.Option(min=0, max=1, metavar="P", help="Probability that a step invites a new character. [default: 0.1]"),
]

OF_A_RUN: dict[str, Any] = {
    "model": Model,
    "base_url": BaseUrl,
    "model_for": ModelFor,
    "tier": Tier,
    "timeout": Timeout,
    "budget_tokens": BudgetTokens,
    "prompts": Prompts,
}
"""Options of everything that asks a model; they hold for this command."""

OF_A_STORY: dict[str, Any] = {
    "style": Style,
    "pace": Pace,
    "point_of_view": PointOfView,
    "tense": Tense,
    "note": Note,
    "language": Language,
    "min_words": MinWords,
    "max_words": MaxWords,
    "plans": Plans,
    "top_k": TopK,
    "new_character": NewCharacter,
    "seed": Seed,
}
"""Options that a new story keeps, and that a story which goes on may be given for one command."""


def taking(options: dict[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
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
