"""`choose`, `retry` and `replan`: another choice, another take, other plans, anywhere in the story."""

from __future__ import annotations

from typing import Annotated

import typer

from recurrentgpt.cli.commands.options import (
    RUN_OPTIONS,
    At,
    Json,
    JsonObject,
    MaybePassageRef,
    StoryName,
    with_settings,
)
from recurrentgpt.cli.commands.story_context import as_options, command_for, opening, writing
from recurrentgpt.cli.terminal.console import note, one_line, print_json, print_lines
from recurrentgpt.cli.terminal.settings_input import Settings
from recurrentgpt.schema.errors import BadAnswer


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
    with opening(story, read_only=plan is None) as opened:
        if plan is None:
            passage = opened.passage(at)
            waiting = opened.waiting_plan if at is None else None
            if json:
                where = {"story": opened.id, "id": passage.id, "step": passage.step}
                print_json({**where, "plans": passage.plans, "plan": waiting})
                return
            if passage.plans:
                print_lines(_numbered(passage.plans))
            else:
                note("There are no plans here: choose one in your own words, or `recurrentgpt replan` proposes some.")
            if waiting:
                note(f"Chosen already: {one_line(waiting)}")
            return
        if not plan.strip():
            raise BadAnswer("The plan needs some words, or is the number of one that was proposed.")
        chosen = opened.choose(plan, at)
        if json:
            passage = opened.passage()
            print_json({"story": opened.id, "id": passage.id, "step": passage.step, "plan": chosen})
            return
        print_lines(one_line(chosen))
        command = command_for(opened)
        note(f"Write it: recurrentgpt {command} {opened.id}{' --steps 1' if command == 'write' else ''}")


@with_settings(RUN_OPTIONS)
def retry(story: StoryName, passage: MaybePassageRef = None, json: Json = False, *, settings: Settings) -> None:
    """Write a passage once more, from the same plan.

    \b
    Examples:
      recurrentgpt retry 3f2a
      recurrentgpt retry 3f2a 4 --model qwen3:14b

    Both takes stay: `recurrentgpt tree` shows them, `diff` compares them, `goto` takes up the other one.
    """
    with writing(story, settings, json=json) as renderer:
        renderer.again = ["retry", renderer.story.id, *([passage] if passage else []), *as_options(settings)]
        from recurrentgpt.cli.terminal.interactive import stoppable

        stoppable(renderer, lambda: renderer.retry(passage))


@with_settings(RUN_OPTIONS)
def replan(story: StoryName, passage: MaybePassageRef = None, json: Json = False, *, settings: Settings) -> None:
    """Propose other plans for what comes after a passage.

    \b
    Examples:
      recurrentgpt replan 3f2a
      recurrentgpt replan 3f2a 4
    """
    with writing(story, settings, json=json) as renderer:
        renderer.again = ["replan", renderer.story.id, *([passage] if passage else []), *as_options(settings)]
        renderer.replan(passage)
        if not json:
            print_lines(_numbered(renderer.story.plans))


def _numbered(plans: list[str]) -> str:
    return "\n".join(f"{number}  {one_line(plan)}" for number, plan in enumerate(plans, 1))
