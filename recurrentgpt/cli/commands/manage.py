"""`rename`, `archive`, `unarchive`, `erase` and `set`: what a story is called, where it is listed, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from recurrentgpt.cli.commands.options import JsonObject, StoryName, Yes, complete_story_settings
from recurrentgpt.cli.commands.story_context import confirmed, opening, reading
from recurrentgpt.cli.terminal.console import counted, note, one_line, print_json, print_table
from recurrentgpt.cli.terminal.settings_input import parse_settings, setting_rows
from recurrentgpt.schema.errors import SettingsError


def rename(story: StoryName, title: Annotated[str, typer.Argument(metavar="TITLE", help="The new title.")]) -> None:
    """Give a story another title.

    \b
    Example:
      recurrentgpt rename 3f2a "The Ninth Stair"
    """
    with opening(story) as opened:
        note(f"{opened.id} is now called {one_line(opened.rename(title))!r}.")


def archive(
    story: StoryName,
    undo: Annotated[bool, typer.Option("--undo", help="Put it back into the list, as `unarchive` does.")] = False,
) -> None:
    """Put a story away from the list.

    \b
    Examples:
      recurrentgpt archive 3f2a
      recurrentgpt archive 3f2a --undo         put it back
      recurrentgpt stories --all               list what was put away too

    Nothing else changes: it can be read and written as before.
    """
    with opening(story) as opened:
        title = f"{one_line(opened.title)!r} ({opened.id})"
        if undo:
            opened.unarchive()
            note(f"{title} is in the list of stories again.")
        else:
            opened.archive()
            note(f"{title} is put away. Bring it back: recurrentgpt unarchive {opened.id}")


def unarchive(story: StoryName) -> None:
    """Put a story back into the list of stories.

    \b
    Example:
      recurrentgpt unarchive 3f2a
    """
    archive(story, undo=True)


def erase(story: StoryName, yes: Yes = False) -> None:
    """Delete a story for ever.

    \b
    Examples:
      recurrentgpt export 3f2a -o kept.json    keep all of it first, to restore with import
      recurrentgpt erase 3f2a

    Its branches, memory and checkpoints go with it, what was typed for it, and the copies that were made by themselves. One
    that `backup`, `restore` or `check --repair` made keeps it, in the folder `backups`.
    """
    from recurrentgpt.infrastructure.background_loop import call
    from recurrentgpt.maintenance import make_room_to_erase

    with reading(story) as found:
        name, title = found.id, one_line(found.title)
        passages = sum(node.step > 0 for node in found.tree().nodes.values())
    what = f"{title!r} ({name}), {counted(passages, 'passage')} on all its branches"
    if not confirmed(f"Erase {what}, for ever?", yes=yes):
        note("Nothing was erased.")
        return
    make_room_to_erase()
    with opening(name) as opened:
        engine = opened.engine
        call(lambda: engine.erase(name))
    note(f"{title!r} ({name}) is erased.")


def set_settings(
    story: StoryName,
    changes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=VALUE",
            help="What to change; NAME= puts the default back.",
            autocompletion=complete_story_settings,
        ),
    ] = None,
    json: JsonObject = False,
) -> None:
    """Change how a story is told, from the next passage on.

    \b
    Examples:
      recurrentgpt set 3f2a pace=slow tense=present
      recurrentgpt set 3f2a note="The dog must live." max-words=600
      recurrentgpt set 3f2a note=
      recurrentgpt show 3f2a --settings        what can be set, and what it is
    """
    if not changes:
        raise SettingsError("Say what to set, as NAME=VALUE; `recurrentgpt show STORY --settings` lists what there is.")
    settings = parse_settings(changes)
    with opening(story) as opened:
        before = opened.settings
        after = opened.change_settings(**settings)
        # Somebody at a terminal wants to see what has changed, a program all that holds.
        print_settings(opened.id, after if json else {name: after[name] for name in settings}, json=json)
        if not json and before == after:
            note("It was so already; nothing was changed.")


def print_settings(story: str, settings: Mapping[str, object], *, json: bool) -> None:
    """Print settings with what each of them does."""
    if json:
        print_json({"story": story, "settings": settings})
        return
    print_table(("Setting", "Value", "What it does"), setting_rows(settings))
