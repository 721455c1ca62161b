"""The commands that look at a story's branches and move between them; their work is loaded when one runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from recurrentgpt.cli.options import OF_A_RUN, At, Json, JsonObject, MaybePassage, Passage, Remote, StoryName, taking

Count = Annotated[int, typer.Argument(metavar="N", min=1, help="How many steps.")]


def tree(
    story: StoryName,
    everything: Annotated[bool, typer.Option("--all", help="Draw every branch, however many there are.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")] = False,
    remote: Remote = None,
    json: JsonObject = False,
) -> None:
    """Draw all branches of a story.

    Each line is a branch: where it left another, its steps, its words, its newest passage, its names, and what it tells.

    \b
    Examples:
      recurrentgpt tree 3f2a
      recurrentgpt tree 3f2a --mermaid > tree.mmd
      recurrentgpt tree 3f2a --json | jq -r '.branches[] | select(.is_head) | .tip'
    """
    from recurrentgpt.cli import moves

    moves.show_tree(story, everything=everything, mermaid=mermaid, remote=remote, json=json)


def goto(story: StoryName, passage: Passage, remote: Remote = None, json: JsonObject = False) -> None:
    """Go to another passage or branch, to write on from there.

    \b
    Examples:
      recurrentgpt goto 3f2a 3                 the third passage of this branch
      recurrentgpt goto 3f2a 9c81              the passage whose id begins with 9c81
      recurrentgpt goto 3f2a "the dark ending" the branch of that name

    Nothing is deleted: `recurrentgpt tree` shows the way back.
    """
    from recurrentgpt.cli import moves

    moves.move(story, lambda opened: opened.goto(passage), remote=remote, json=json)


def undo(story: StoryName, steps: Count = 1, json: JsonObject = False) -> None:
    """Take back the newest passage, or the newest edit.

    \b
    Examples:
      recurrentgpt undo 3f2a
      recurrentgpt undo 3f2a 2
    """
    from recurrentgpt.cli import moves

    moves.move(story, lambda opened: opened.undo(steps), json=json)


def redo(story: StoryName, steps: Count = 1, json: JsonObject = False) -> None:
    """Do again what was undone last.

    \b
    Example:
      recurrentgpt redo 3f2a
    """
    from recurrentgpt.cli import moves

    moves.move(story, lambda opened: opened.redo(steps), json=json)


def name(
    story: StoryName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name.")],
    passage: MaybePassage = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the name away; the passages stay.")] = False,
) -> None:
    """Name a branch, to find it again.

    \b
    Examples:
      recurrentgpt name 3f2a "the dark ending"
      recurrentgpt name 3f2a before-the-storm 4
      recurrentgpt name 3f2a before-the-storm --remove

    `goto` takes a name, and the name goes along as the branch grows.
    """
    from recurrentgpt.cli import moves

    moves.name(story, name, passage, remove=remove)


def diff(
    story: StoryName,
    a: Annotated[str, typer.Argument(metavar="A", help="A passage, as for `goto`.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    json: JsonObject = False,
) -> None:
    """Show what differs between two passages, word by word.

    \b
    Examples:
      recurrentgpt diff 3f2a 9c81 77ab
      recurrentgpt diff 3f2a "the dark ending" 4

    [-What A has alone-] and {+what B has alone+}; then what the memories after them do not share.
    """
    from recurrentgpt.cli import moves

    moves.show_diff(story, a, b, json=json)


@taking(OF_A_RUN)
def retry(story: StoryName, passage: MaybePassage = None, json: Json = False, *, settings: dict[str, Any]) -> None:
    """Write a passage once more, from the same plan.

    \b
    Examples:
      recurrentgpt retry 3f2a
      recurrentgpt retry 3f2a 4 --model qwen3:14b

    Both takes stay: `recurrentgpt tree` shows them, `diff` compares them, `goto` takes up the other one.
    """
    from recurrentgpt.cli import takes

    takes.retry(story, passage, settings, json=json)


@taking(OF_A_RUN)
def replan(story: StoryName, passage: MaybePassage = None, json: Json = False, *, settings: dict[str, Any]) -> None:
    """Propose other plans for what comes after a passage.

    \b
    Examples:
      recurrentgpt replan 3f2a
      recurrentgpt replan 3f2a 4
    """
    from recurrentgpt.cli import takes

    takes.replan(story, passage, settings, json=json)


def choose(
    story: StoryName,
    plan: Annotated[
        str | None,
        typer.Argument(metavar="PLAN", help="Its number, or a plan in your own words. [default: list the plans]"),
    ] = None,
    at: At = None,
    json: JsonObject = False,
) -> None:
    """Choose what happens next, at any passage; `write` writes it.

    \b
    Examples:
      recurrentgpt choose 3f2a                             list the plans
      recurrentgpt choose 3f2a 2
      recurrentgpt choose 3f2a 3 --at 4                    at passage 4, on a branch of its own
      recurrentgpt choose 3f2a "They turn back." --at 4

    Where a choice was made before, this one begins another branch.
    """
    from recurrentgpt.cli import takes

    takes.choose(story, plan, at, json=json)
