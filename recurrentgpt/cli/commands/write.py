"""`write`: begin a story or go on with one, by itself or asking what happens next."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from recurrentgpt.cli.commands.options import (
    READING_OPTIONS,
    RUN_OPTIONS,
    STORY_OPTIONS,
    Genre,
    Json,
    Premise,
    Remote,
    Title,
    complete_stories,
    setting_help,
    with_settings,
)
from recurrentgpt.cli.commands.story_context import StoryRequest
from recurrentgpt.cli.terminal.settings_input import Settings

STEPS = 3
LONGEST_FILE = 1_000_000


@with_settings(RUN_OPTIONS | READING_OPTIONS | STORY_OPTIONS)
def write(
    story: Annotated[
        str | None,
        typer.Argument(
            metavar="STORY", help="Go on with this one: id, unique prefix, or title.", autocompletion=complete_stories
        ),
    ] = None,
    genre: Genre = None,
    premise: Premise = None,
    title: Title = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="What the next passage shall do; for STORY also the number of a proposed plan."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_TEXT", help="The short-term memory, one sentence a line: to go on from your own beginning."
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            "-n",
            min=1,
            metavar="PASSAGES",
            help="Passages to write. [default: 3; no limit with -i]",
            show_default=False,
        ),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Choose what happens next after each passage.")
    ] = False,
    ending: Annotated[bool, typer.Option("--ending", help=setting_help("ending"))] = False,
    remote: Remote = None,
    json: Json = False,
    *,
    settings: Settings,
) -> None:
    """Write a new story, or go on with STORY. The prose goes to standard output: a terminal shows it as it is written.

    \b
    Examples:
      recurrentgpt write --genre mystery --premise "A lighthouse keeper finds a stranger's diary."
      recurrentgpt write -i --genre fantasy            you choose what happens next
      recurrentgpt write 3f2a --steps 10               go on; any unique prefix of the id will do
      recurrentgpt write 3f2a --plan 2 --steps 1       go on with the second plan it proposed
      recurrentgpt write --memory so-far.txt --plan "They reach the coast."
      recurrentgpt write --style "dry, like a ship's log" --tense present --pace slow
      recurrentgpt write --ban "a testament to" --ban "shivers down" --top-p 0.95
      recurrentgpt write --model qwen3:8b --base-url http://localhost:11434/v1
      recurrentgpt write --genre western --json | jq -r 'select(.event == "passage").text'

    Ctrl-C stops at any time: at a terminal you are asked whether to keep the whole sentences, throw them away, or go on from
    them, and twice leaves (exit code 130). A file or a pipe gets each passage when it is finished. Every finished passage is
    saved, and the command that goes on is printed.

    A story keeps how it is told (style, pace, language, lengths and the like). Such an option, given with STORY, holds
    for this run; `recurrentgpt set STORY pace=fast` changes it for good.
    """
    opening = {"genre": genre, "premise": premise, "title": title, "plan": plan, "memory": memory}
    options = ["-i"] if interactive else []
    settings |= {"ending": True} if ending else {}
    request = StoryRequest("write", story, opening, settings, options, remote, json)
    request.check()
    if story is None and plan is not None and plan.strip().isdecimal():
        raise typer.BadParameter(
            f"A number chooses one of the plans that a story has proposed, and a new story has none yet: name the STORY, "
            f"or say in words what is to happen instead of {plan.strip()}.",
            param_hint="--plan",
        )
    if premise == "-":
        opening["premise"] = read_premise(interactive=interactive)
    if memory is not None:
        opening["memory"] = _file_or_text(memory)
    with request.rendering() as renderer:
        if story:
            renderer.prepare(opening["memory"], plan)
        from recurrentgpt.cli.terminal import interactive as terminal

        if interactive:
            terminal.converse(renderer, steps)
        else:
            terminal.write(renderer, steps or STEPS)


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


def read_premise(*, interactive: bool) -> str:
    """Return the premise that standard input holds; raise BadParameter where that is empty, or brings the answers."""
    if interactive:
        raise typer.BadParameter(
            "Standard input cannot bring both the premise and your answers.", param_hint="--premise"
        )
    text = sys.stdin.read(LONGEST_FILE)
    if not text.strip():
        raise typer.BadParameter("Standard input was empty.", param_hint="--premise")
    return text
