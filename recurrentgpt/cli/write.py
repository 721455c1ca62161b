"""`recurrentgpt write`: its options, and what they mean."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from recurrentgpt.cli.screen import Screen
    from recurrentgpt.cli.session import Session
    from recurrentgpt.library import Library
    from recurrentgpt.story import Story

STEPS = 3
LONGEST_FILE = 1_000_000

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
Json = Annotated[bool, typer.Option("--json", help="Print events as JSON Lines.")]
Model = Annotated[str | None, typer.Option(metavar="NAME", help="Model of every role, or the path of a GGUF file.")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="OpenAI-compatible endpoint; its key is OPENAI_API_KEY.")
]
ModelFor = Annotated[
    list[str] | None,
    typer.Option(metavar="ROLE=NAME", help="Model of one role: writer, memory, planner, simulator. May be repeated."),
]
Tier = Annotated[
    Literal["small", "full"] | None,
    typer.Option(help="Prompts for a small or a capable model. [default: by the model's name]"),
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
Timeout = Annotated[
    float | None, typer.Option(min=0.1, metavar="S", help="Seconds to wait for a model. [default: 120]")
]
Prompts = Annotated[
    Path | None,
    typer.Option(exists=True, file_okay=False, metavar="DIR", help="Templates that replace the packaged prompts."),
]


def write(
    story: Name = None,
    genre: Genre = None,
    premise: Premise = None,
    title: Title = None,
    plan: Plan = None,
    memory: Memory = None,
    steps: Steps = None,
    interactive: Interactive = False,
    ending: Ending = False,
    json: Json = False,
    model: Model = None,
    base_url: BaseUrl = None,
    model_for: ModelFor = None,
    tier: Tier = None,
    language: Language = None,
    seed: Seed = None,
    min_words: MinWords = None,
    max_words: MaxWords = None,
    plans: Plans = None,
    top_k: TopK = None,
    new_character: NewCharacter = None,
    timeout: Timeout = None,
    prompts: Prompts = None,
) -> None:
    """Write a new story, or go on with STORY. The prose goes to standard output as it is written.

    \b
    Examples:
      recurrentgpt write --genre mystery --premise "A lighthouse keeper finds a stranger's diary."
      recurrentgpt write -i --genre fantasy            you choose what happens next
      recurrentgpt write 3f2a --steps 10               go on; any unique prefix of the id will do
      recurrentgpt write 3f2a --plan 2 --steps 1       go on with the second plan it proposed
      recurrentgpt write --memory so-far.txt --plan "They reach the coast."
      recurrentgpt write --model qwen3:8b --base-url http://localhost:11434/v1
      recurrentgpt write --genre western --json | jq -r 'select(.event == "passage").text'

    Ctrl-C stops at any time (exit code 130): every finished passage is saved, and the command that goes on is printed.
    """
    opening = {"genre": genre, "premise": premise, "title": title, "plan": plan, "memory": memory}
    for name, value in opening.items():
        if value is not None and not value.strip():
            raise typer.BadParameter(f"It is empty: give some words, or leave --{name} out.", param_hint=f"--{name}")
    if story is not None:
        if not story.strip():
            raise typer.BadParameter("It is empty: name a story, or leave it out to begin one.", param_hint="STORY")
        if extra := next((name for name in ("genre", "premise", "title") if opening[name] is not None), None):
            raise typer.BadParameter(
                f"It belongs to a new story, and {story!r} has begun; leave one out.", param_hint=f"--{extra}"
            )
    if premise == "-":
        opening["premise"] = _standard_input(interactive)
    if memory is not None:
        opening["memory"] = _file_or_text(memory)
    settings: dict[str, Any] = {
        "model": model,
        "base_url": base_url,
        "models": _roles(model_for),
        "tier": tier,
        "language": language,
        "seed": seed,
        "min_words": min_words,
        "max_words": max_words,
        "plans": plans,
        "top_k": top_k,
        "new_character": new_character,
        "timeout": timeout,
        "prompts": str(prompts) if prompts else None,
        "ending": ending or None,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    from recurrentgpt.cli.screen import Screen

    with Screen() as screen:
        # The first import of the engine takes a second or two.
        screen.doing("opening the stories")
        from recurrentgpt.library import Library

        with Library.open() as library:
            _run(screen, library, story, opening, settings, steps=steps, interactive=interactive, json=json)


def _run(
    screen: Screen,
    library: Library,
    name: str | None,
    opening: dict[str, str | None],
    settings: dict[str, Any],
    *,
    steps: int | None,
    interactive: bool,
    json: bool,
) -> None:
    from recurrentgpt.cli.session import Session
    from recurrentgpt.models.fetch import set_progress

    story = _opened(library, name, settings) if name else _begun(library, opening, settings)
    screen.rest()
    set_progress(screen.fetching)
    session = Session(story, screen, json=json, options=_options(settings, interactive))
    try:
        session.look()
        if name:
            session.prepare(opening["memory"], opening["plan"])
        if interactive:
            from recurrentgpt.cli.interactive import converse

            converse(session, steps)
        else:
            session.write(steps or STEPS)
    except BrokenPipeError:
        raise
    except BaseException as error:
        screen.rest()
        _part(session, error)
        if isinstance(error, KeyboardInterrupt):
            raise typer.Exit(130) from None
        raise
    finally:
        set_progress(None)
    session.close()


def _opened(library: Library, name: str, settings: dict[str, Any]) -> Story:
    from recurrentgpt.story import Story

    return Story.open(name, library=library, **settings)


def _begun(library: Library, opening: dict[str, str | None], settings: dict[str, Any]) -> Story:
    from recurrentgpt.story import Story

    given = {name: value for name, value in opening.items() if value is not None}
    if "memory" in given:
        given["short_term_memory"] = given.pop("memory")
    return Story.new(library=library, **given, **settings)


def _part(session: Session, error: BaseException) -> None:
    """Say how to go on with a story that stopped before it was meant to."""
    from recurrentgpt.cli.console import note, print_json
    from recurrentgpt.errors import RecurrentGPTError

    begun = isinstance(error, KeyboardInterrupt | RecurrentGPTError) and session.exists()
    stopped = isinstance(error, KeyboardInterrupt)
    if stopped:
        note("Stopped." + (" Everything finished is saved." if begun else " Nothing of the story was written yet."))
    if begun:
        note(f"Continue: {session.resume}")
    if stopped and session.json:
        print_json({"event": "error", "message": f"Stopped. Continue: {session.resume}" if begun else "Stopped."})


def _options(settings: dict[str, Any], interactive: bool) -> list[str]:
    """Return the options that a later command needs in order to go on in the same way."""
    options = ["-i"] if interactive else []
    for name, value in settings.items():
        if name == "models":
            options += [f"--model-for={role}={model}" for role, model in value.items()]
        elif name != "ending":
            options.append(f"--{name.replace('_', '-')}={value}")
    return options


def _roles(pairs: list[str] | None) -> dict[str, str] | None:
    if not pairs:
        return None
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


def _file_or_text(value: str) -> str:
    """Return the content of the file that `value` names, else `value` itself."""
    path = Path(value).expanduser()
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False  # too long, or odd characters: no name of a file
    if not is_file:
        if len(value.split()) == 1 and (path.suffix or "/" in value):
            raise typer.BadParameter(f"There is no file {shlex.quote(value)}.", param_hint="--memory")
        return value
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise typer.BadParameter(f"{path} cannot be read: {why}.", param_hint="--memory") from error
    if not text.strip():
        raise typer.BadParameter(f"The file {path} is empty.", param_hint="--memory")
    return text


def _standard_input(interactive: bool) -> str:
    if interactive:
        raise typer.BadParameter(
            "Standard input cannot bring both the premise and your answers.", param_hint="--premise"
        )
    text = sys.stdin.read(LONGEST_FILE)
    if not text.strip():
        raise typer.BadParameter("Standard input was empty.", param_hint="--premise")
    return text
