"""The commands that bring a book in and take one out, and the prompts; their work is loaded when one runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from recurrentgpt.cli.options import OF_A_RUN, OF_A_STORY, PLAIN, Genre, Json, Remote, StoryName, Title, Yes, taking

prompts = typer.Typer(rich_markup_mode=None, no_args_is_help=True, context_settings=PLAIN)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of templates.")]


@taking(OF_A_STORY | OF_A_RUN)
def import_file(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A book (.txt .md .docx .epub), or a story exported as .json.")
    ],
    fast: Annotated[
        bool, typer.Option("--fast", help="Ask no model: summaries are sentences of the book, and nothing is paid for.")
    ] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Say what would be imported, and leave.")] = False,
    copy: Annotated[
        str, typer.Option("--copy", metavar="NAME", help="Another story of a book that is here already.")
    ] = "",
    genre: Genre = None,
    title: Title = None,
    yes: Yes = False,
    json: Json = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Make a story of a book, or restore an export.

    \b
    Examples:
      recurrentgpt import dracula.epub                 shows what there is and what it costs, then asks
      recurrentgpt import dracula.epub --fast          minutes instead of hours; no model is asked
      recurrentgpt import notes.docx --genre fantasy --title "The Long Way" --yes
      recurrentgpt import novel.json                   every passage of every branch, as it was

    The book is split into passages, and a summary and the memory are made for each; then the story goes on like any other.
    Interrupted, the same command goes on where it stopped; a book that is here already is not read again.
    """
    from recurrentgpt.cli import transfer

    wishes = {"genre": genre or "", "title": title or "", "copy": copy}
    transfer.bring_in(file, settings, wishes, fast=fast, preview=preview, yes=yes, json=json)


def export(
    story: StoryName,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write, or a folder; - is standard output.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="md, txt, epub, docx, html or json. [default: by the file's name]"
        ),
    ] = None,
    every: Annotated[
        int, typer.Option("--every", min=1, metavar="N", help="Passages of a chapter, where no plan begins one.")
    ] = 8,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    remote: Remote = None,
) -> None:
    """Write a story to a file: a book, or JSON with all of it.

    \b
    Examples:
      recurrentgpt export 3f2a -o novel.epub
      recurrentgpt export 3f2a -o novel.docx --every 5
      recurrentgpt export 3f2a -o ~/books --format html     named after its title
      recurrentgpt export 3f2a -o backup.json               `recurrentgpt import` restores it
      recurrentgpt export 3f2a -o - | less

    A chapter begins where a plan says "Chapter: ..." and gives its title, else after every N passages.
    """
    from recurrentgpt.cli import transfer

    transfer.take_out(story, output, format, every=every, force=force, remote=remote)


@prompts.callback()
def _prompts() -> None:
    """Copy and check the templates of all prompts.

    \b
    Examples:
      recurrentgpt prompts export my-prompts
      recurrentgpt prompts check my-prompts
      recurrentgpt write --prompts my-prompts
    """


@prompts.command("export")
def prompts_export(folder: Folder) -> None:
    """Copy every template into a folder, to change there; files are never overwritten.

    \b
    Example:
      recurrentgpt prompts export my-prompts
    """
    from recurrentgpt.cli import transfer

    transfer.export_prompts(folder)


@prompts.command("check")
def prompts_check(folder: Folder) -> None:
    """Say what is wrong with the templates in a folder; exits with 1 where something is.

    \b
    Example:
      recurrentgpt prompts check my-prompts
    """
    from recurrentgpt.cli import transfer

    raise typer.Exit(transfer.check_prompts(folder))
