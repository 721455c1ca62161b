"""`play`: a story with its reader as the main character."""

from __future__ import annotations

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
    with_settings,
)
from recurrentgpt.cli.commands.story_context import StoryRequest
from recurrentgpt.cli.commands.write import read_premise
from recurrentgpt.cli.terminal.settings_input import Settings


@with_settings(RUN_OPTIONS | READING_OPTIONS | STORY_OPTIONS)
def play(
    story: Annotated[
        str | None,
        typer.Argument(metavar="STORY", help="Play on: id, unique prefix, or title.", autocompletion=complete_stories),
    ] = None,
    genre: Genre = None,
    premise: Premise = None,
    title: Title = None,
    player: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="TEXT", help="Who you are. [default: you choose among those proposed]", show_default=False
        ),
    ] = None,
    auto: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Let the simulator play N passages, then leave.")
    ] = None,
    remote: Remote = None,
    json: Json = False,
    *,
    settings: Settings,
) -> None:
    """Play a story as its main character.

    \b
    Examples:
      recurrentgpt play --genre horror
      recurrentgpt play --genre "science fiction" --as "a reluctant astronaut"
      recurrentgpt play 3f2a                           play on where you left
      recurrentgpt play --genre western --auto 5       watch somebody else play

    Type the number of a choice, or whatever you do in your own words ("I bribe the guard"). What begins with a slash is a
    command: /undo, /redo, /save NAME, /saves, /load NAME, /retry, /memory, /help, /quit. Leave at any moment: everything is
    saved. Ctrl-C stops the writing, and asks what is to be kept of it; twice leaves.
    """
    opening = {"genre": genre, "premise": premise, "title": title, "as": player}
    settings |= {} if story else {"mode": "fiction"}
    request = StoryRequest("play", story, opening, settings, remote=remote, json=json)
    request.check()
    if premise == "-":
        opening["premise"] = read_premise(interactive=auto is None)
    with request.rendering() as renderer:
        from recurrentgpt.cli.terminal import player as terminal

        terminal.play(renderer, auto)
