"""`write` and `play`: what their options mean, and one run from them."""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recurrentgpt.cli.options import (
    OF_A_RUN,
    OF_A_STORY,
    Ending,
    Genre,
    Interactive,
    Json,
    Memory,
    Name,
    Plan,
    Premise,
    Remote,
    Steps,
    Title,
    taking,
)

if TYPE_CHECKING:
    from recurrentgpt.cli.session import Session
    from recurrentgpt.library import Library
    from recurrentgpt.story import Story

STEPS = 3
LONGEST_FILE = 1_000_000


@taking(OF_A_RUN | OF_A_STORY)
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
    remote: Remote = None,
    json: Json = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Write a new story, or go on with STORY. The prose goes to standard output as it is written.

    \b
    Examples:
      recurrentgpt write --genre mystery --premise "A lighthouse keeper finds a stranger's diary."
      recurrentgpt write -i --genre fantasy            you choose what happens next
      recurrentgpt write 3f2a --steps 10               go on; any unique prefix of the id will do
      recurrentgpt write 3f2a --plan 2 --steps 1       go on with the second plan it proposed
      recurrentgpt write --memory so-far.txt --plan "They reach the coast."
      recurrentgpt write --style "dry, like a ship's log" --tense present --pace slow
      recurrentgpt write --model qwen3:8b --base-url http://localhost:11434/v1
      recurrentgpt write --genre western --json | jq -r 'select(.event == "passage").text'

    Ctrl-C stops at any time (exit code 130): every finished passage is saved, and the command that goes on is printed.

    A story keeps how it is told (style, pace, language, lengths and the like). Such an option, given with STORY, holds
    for this run; `recurrentgpt set STORY pace=fast` changes it for good.
    """
    opening = _checked(story, {"genre": genre, "premise": premise, "title": title, "plan": plan, "memory": memory})
    if story is None and plan is not None and plan.strip().isdecimal():
        raise typer.BadParameter(
            f"A number chooses one of the plans that a story has proposed, and a new story has none yet: name the STORY, "
            f"or say in words what is to happen instead of {plan.strip()}.",
            param_hint="--plan",
        )
    if premise == "-":
        opening["premise"] = _standard_input(interactive)
    if memory is not None:
        opening["memory"] = _file_or_text(memory)
    settings |= {"ending": True} if ending else {}
    with _at_work(
        story, opening, settings, ["-i"] if interactive else [], remote=remote, json=json, command="write"
    ) as session:
        if story and not remote:
            session.prepare(opening["memory"], opening["plan"])
        if interactive:
            from recurrentgpt.cli.interactive import converse

            converse(session, steps)
        else:
            session.write(steps or STEPS)


@taking(OF_A_RUN | OF_A_STORY)
def play(
    story: Annotated[str | None, typer.Argument(metavar="STORY", help="Play on: id, unique prefix, or title.")] = None,
    genre: Genre = None,
    premise: Premise = None,
    title: Title = None,
    player: Annotated[
        str | None,
        typer.Option("--as", metavar="TEXT", help="Who you are. [default: you choose among three]", show_default=False),
    ] = None,
    auto: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Let the simulator play N passages, then leave.")
    ] = None,
    remote: Remote = None,
    json: Json = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Play a story as its main character.

    \b
    Examples:
      recurrentgpt play --genre horror
      recurrentgpt play --genre "science fiction" --as "a reluctant astronaut"
      recurrentgpt play 3f2a                           play on where you left
      recurrentgpt play --genre western --auto 5       watch somebody else play

    Type the number of a choice, or whatever you do in your own words ("I bribe the guard"). What begins with a slash is a
    command: /undo, /redo, /save NAME, /saves, /load NAME, /retry, /memory, /help, /quit. Leave at any moment, with
    Ctrl-C too: everything is saved.
    """
    opening = _checked(story, {"genre": genre, "premise": premise, "title": title, "as": player})
    if premise == "-":
        opening["premise"] = _standard_input(interactive=auto is None)
    opening["player"] = opening.pop("as")
    settings |= {} if story else {"mode": "fiction"}
    with _at_work(story, opening, settings, [], remote=remote, json=json, command="play") as session:
        from recurrentgpt.cli.playing import play_on

        play_on(session, auto)


def _at_work(
    story: str | None,
    opening: dict[str, str | None],
    settings: dict[str, Any],
    options: list[str],
    *,
    remote: str | None,
    json: bool,
    command: str,
) -> AbstractContextManager[Session]:
    """Give a session with the story, here or on a server."""
    if remote is not None:
        from recurrentgpt.cli import on_server

        return on_server.session(remote, story, opening, settings, options, json=json, command=command)
    from recurrentgpt.cli.work import at_work

    if story is None:
        _start_ahead(settings)
    begin = partial(_story, name=story, opening=opening, settings=settings)
    return at_work(begin, json=json, command=command, options=_options(story, settings, options))


def _checked(story: str | None, opening: dict[str, str | None]) -> dict[str, str | None]:
    """Return what a story is begun with; raise BadParameter for what is empty, or belongs to a new story only."""
    for name, value in opening.items():
        if value is not None and not value.strip():
            raise typer.BadParameter(f"It is empty: give some words, or leave --{name} out.", param_hint=f"--{name}")
    if story is not None:
        if not story.strip():
            raise typer.BadParameter("It is empty: name a story, or leave it out to begin one.", param_hint="STORY")
        of_a_new_one = (name for name in ("genre", "premise", "title", "as") if opening.get(name) is not None)
        if extra := next(of_a_new_one, None):
            raise typer.BadParameter(
                f"It belongs to a new story, and {story!r} has begun; leave one out.", param_hint=f"--{extra}"
            )
    return opening


def _options(story: str | None, settings: dict[str, Any], options: list[str]) -> list[str]:
    """Return the options with which the run goes on; a new story keeps its own settings and needs no telling."""
    from recurrentgpt.cli.work import said

    return options + said({name: value for name, value in settings.items() if story or name not in OF_A_STORY})


def _start_ahead(settings: dict[str, Any]) -> None:
    from recurrentgpt.models.roles import start_ahead

    if "models" not in settings:
        start_ahead(settings.get("model"), settings.get("base_url"))


def _story(library: Library, name: str | None, opening: dict[str, str | None], settings: dict[str, Any]) -> Story:
    from recurrentgpt.story import Story

    if name:
        return Story.open(name, library=library, **settings)
    given = {name: value for name, value in opening.items() if value is not None}
    if "memory" in given:
        given["short_term_memory"] = given.pop("memory")
    return Story.new(library=library, **given, **settings)


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
