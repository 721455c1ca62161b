"""The commands that edit a story: its passages, what it remembers, its plans, its settings; loaded when one runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from recurrentgpt.cli.options import (
    OF_A_RUN,
    At,
    File,
    Json,
    JsonObject,
    MaybePassage,
    Passage,
    StoryName,
    Text,
    Yes,
    taking,
)


@taking(OF_A_RUN)
def edit(
    story: StoryName,
    passage: MaybePassage = None,
    text: Text = None,
    file: File = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Keep the later passages word for word on top of the edit.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a replay that was interrupted.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Forget a replay that was interrupted.")] = False,
    yes: Yes = False,
    json: Json = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Give a passage another text; the memory follows.

    \b
    Examples:
      recurrentgpt edit 3f2a 4                          in your editor ($VISUAL or $EDITOR)
      recurrentgpt edit 3f2a 4 --file chapter.txt
      recurrentgpt edit 3f2a 4 --file chapter.txt --replay
      recurrentgpt edit 3f2a --resume                   go on with a replay that was interrupted

    The story goes on from the edited passage; the old one and what followed it stay in the log, and `undo` goes back to
    them. With --replay the later passages are kept, and the memory is rewritten after each: what that costs is shown first.
    """
    from recurrentgpt.cli import edit as work

    if resume or drop:
        work.pending(story, passage, text, file, settings, resume=resume, drop=drop, json=json)
    else:
        work.edit_passage(story, passage, text, file, settings, replay=replay, yes=yes, json=json)


def edit_memory(
    story: StoryName, at: At = None, text: Text = None, file: File = None, json: JsonObject = False
) -> None:
    """Edit the short-term memory, one sentence a line.

    \b
    Examples:
      recurrentgpt edit-memory 3f2a
      recurrentgpt memory 3f2a --json | jq -r .short_term_memory | recurrentgpt edit-memory 3f2a --file -
    """
    from recurrentgpt.cli import edit

    edit.edit_memory(story, at, text, file, json=json)


def edit_plan(
    story: StoryName,
    number: Annotated[int, typer.Argument(metavar="N", min=1, help="Its number.")],
    at: At = None,
    text: Text = None,
    file: File = None,
    json: JsonObject = False,
) -> None:
    """Edit one of the plans that wait for a choice.

    \b
    Example:
      recurrentgpt edit-plan 3f2a 2 --text "They turn back before the bridge."
    """
    from recurrentgpt.cli import edit

    edit.edit_plan(story, number, at, text, file, json=json)


def edit_summary(
    story: StoryName, passage: Passage, text: Text = None, file: File = None, json: JsonObject = False
) -> None:
    """Edit what the long-term memory holds of a passage.

    \b
    Example:
      recurrentgpt edit-summary 3f2a 4 --text "Mira hides the key below the ninth stair."

    On this branch it is recalled so from now on.
    """
    from recurrentgpt.cli import edit

    edit.edit_summary(story, passage, text, file, json=json)


def edit_brief(story: StoryName, text: Text = None, file: File = None, json: JsonObject = False) -> None:
    """Edit the premise, characters and outline in every prompt.

    \b
    Examples:
      recurrentgpt edit-brief 3f2a
      recurrentgpt edit-brief 3f2a --file brief.md

    It is a text with the headings # Genre, # Premise, # Characters and # Outline; a heading that is left out stays as it was.
    """
    from recurrentgpt.cli import edit

    edit.edit_brief(story, text, file, json=json)


def rename(story: StoryName, title: Annotated[str, typer.Argument(metavar="TITLE", help="The new title.")]) -> None:
    """Give a story another title.

    \b
    Example:
      recurrentgpt rename 3f2a "The Ninth Stair"
    """
    from recurrentgpt.cli import keep

    keep.rename(story, title)


def archive(story: StoryName) -> None:
    """Put a story away from the list.

    \b
    Examples:
      recurrentgpt archive 3f2a
      recurrentgpt stories --all               list what was put away too

    Nothing else changes: it can be read and written as before.
    """
    from recurrentgpt.cli import keep

    keep.archive(story)


def erase(story: StoryName, yes: Yes = False) -> None:
    """Delete a story for ever.

    \b
    Examples:
      recurrentgpt export 3f2a -o kept.json    keep all of it first, to restore with import
      recurrentgpt erase 3f2a

    Its branches, memory and checkpoints go with it; nobody can bring them back.
    """
    from recurrentgpt.cli import keep

    keep.erase(story, yes=yes)


def unarchive(story: StoryName) -> None:
    """Put a story back into the list of stories.

    \b
    Example:
      recurrentgpt unarchive 3f2a
    """
    from recurrentgpt.cli import keep

    keep.archive(story, back=True)


def set_settings(
    story: StoryName,
    changes: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE", help="What to change; NAME= puts the default back.")
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
    from recurrentgpt.cli import keep

    keep.set_settings(story, changes or [], json=json)
