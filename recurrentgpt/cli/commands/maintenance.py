"""`check`, `backup` and `restore`: whether the stories are whole, copies of them, and what to do about damage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recurrentgpt.cli.commands.options import JsonLines, Yes
from recurrentgpt.cli.commands.story_context import confirmed
from recurrentgpt.cli.terminal.console import counted, note, one_line, print_json, print_text
from recurrentgpt.schema.errors import StorageError

if TYPE_CHECKING:
    from recurrentgpt.maintenance import Report


def check(
    repair: Annotated[
        bool, typer.Option("--repair", help="Save what is whole to a new file; the damaged one stays as it is.")
    ] = False,
    json: JsonLines = False,
) -> None:
    """Verify every passage of every story.

    Exits with 1 where something is damaged.

    \b
    Examples:
      recurrentgpt check
      recurrentgpt check --repair
      recurrentgpt check --json | jq 'select(.damage != [])'
    """
    from recurrentgpt import maintenance

    found = maintenance.check()
    if found.fault:
        note(f"{found.place} is damaged: {one_line(found.fault)}")
    for story in found.stories:
        if json:
            shown = {"story": story.story, "title": story.title, "whole": story.passages, "damage": story.damage}
            print_json(shown)
            continue
        state = "DAMAGED" if story.damage else "whole"
        print_text(f"{story.story}  {one_line(story.title)}: {counted(story.passages, 'passage')}, {state}")
        for sentence in story.damage:
            print_text(f"    {sentence}")
    if found.is_whole:
        note("All is whole." if found.stories else f"There are no stories in {found.place}: nothing was checked.")
        return
    if repair:
        saved = maintenance.repair(found)
        _tell_gaps(found)
        note(f"What is whole is in {saved}. Put it in place: recurrentgpt restore {saved}")
    else:
        note("`recurrentgpt check --repair` saves what is whole; `recurrentgpt restore` lists the copies there are.")
    raise typer.Exit(1)


def backup(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where to. [default: among the copies]", show_default=False)
    ] = None,
) -> None:
    """Copy all stories to one file.

    \b
    Examples:
      recurrentgpt backup
      recurrentgpt backup ~/stories-before-the-move.db

    It may be done while stories are written. Beside that, a copy is made once a day in use, and the last five are kept.
    """
    from recurrentgpt import maintenance

    print_text(str(maintenance.backup(file.expanduser() if file else None)))


def restore(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A copy. [default: list them]", show_default=False)
    ] = None,
    yes: Yes = False,
) -> None:
    """Put a copy of all stories in place of those that are here.

    \b
    Examples:
      recurrentgpt restore                     list the copies
      recurrentgpt restore ~/stories-before-the-move.db

    What was here is kept among the copies. For one story alone, `export` it as JSON and `import` it.
    """
    from recurrentgpt import maintenance

    if file is None:
        for copy in maintenance.backups():
            print_text(str(copy))
        note("Put one in place: recurrentgpt restore FILE")
        return
    if not file.expanduser().is_file():
        raise StorageError(f"There is no file {file} to restore; `recurrentgpt restore` lists the copies there are.")
    if not confirmed(f"Replace all stories by those in {file}?", yes=yes):
        note("Nothing was replaced.")
        return
    kept = maintenance.restore(file.expanduser())
    note(f"The stories of {file} are in place." + (f" Those that were here are in {kept}." if kept else ""))
    _tell_gaps(maintenance.check())


def _tell_gaps(report: Report) -> None:
    """Say which passages the stories lack that were saved from a damaged file."""
    for story in report.stories:
        if story.gap:
            note(one_line(story.gap))
