"""The commands that read what was written; `recurrentgpt.cli.read` does their work and is loaded when one runs."""

from __future__ import annotations

from typing import Annotated

import typer

from recurrentgpt.cli.options import WHICH, JsonLines, JsonObject, Remote, StoryName


def stories(
    everything: Annotated[bool, typer.Option("--all", help="List the archived too.")] = False,
    remote: Remote = None,
    json: JsonLines = False,
) -> None:
    """List the stories, the one written last at the end.

    \b
    Examples:
      recurrentgpt stories
      recurrentgpt stories --all
      recurrentgpt stories --json | jq -r .title
    """
    if remote is not None:
        from recurrentgpt.cli import on_server

        on_server.list_stories(remote, json=json)
        return
    from recurrentgpt.cli import read

    read.list_stories(everything=everything, json=json)


def show(
    story: StoryName,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="PASSAGE", help=f"Read the branch up to here. {WHICH}.", show_default=False),
    ] = None,
    settings: Annotated[bool, typer.Option("--settings", help="Print how the story is told instead.")] = False,
    remote: Remote = None,
    json: JsonObject = False,
) -> None:
    """Print a story, and what each passage cost.

    \b
    Examples:
      recurrentgpt show "The Lantern Keeper" | less
      recurrentgpt show 3f2a --at "the dark ending"
      recurrentgpt show 3f2a --settings
      recurrentgpt show 3f2a --json | jq -r '.passages[-1].text'

    Prices are told where the file prices.toml in your data folder (`recurrentgpt config path`) says what a million tokens
    cost: currency, input, cached_input and output.
    """
    if settings:
        from recurrentgpt.cli import keep

        if at is not None:
            raise typer.BadParameter("The settings are those of the whole story: leave --at out.", param_hint="--at")
        keep.show_settings(story, remote=remote, json=json)
        return
    from recurrentgpt.cli import read

    read.show_story(story, at, remote=remote, json=json)


def memory(story: StoryName, remote: Remote = None, json: JsonObject = False) -> None:
    """Print what a story remembers, and why.

    That is its short-term memory, what the newest passage added and dropped, and which passages were recalled for it.

    \b
    Examples:
      recurrentgpt memory 3f2a
      recurrentgpt memory 3f2a --json | jq -r .short_term_memory
    """
    from recurrentgpt.cli import read

    read.show_memory(story, remote=remote, json=json)


def recall(
    story: StoryName,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in words of its meaning.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, metavar="N", help="Most passages to find.")] = 5,
    json: JsonLines = False,
) -> None:
    """Search a story by meaning, best first.

    \b
    Examples:
      recurrentgpt recall 3f2a "who has the key?"
      recurrentgpt recall 3f2a "a storm at sea" -k 3 --json | jq -r .summary
    """
    from recurrentgpt.cli import read

    read.recall(story, query, k, json=json)
