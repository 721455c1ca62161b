"""`retry`, `replan` and `choose`: another passage, other plans, another choice, anywhere in the story."""

from __future__ import annotations

from typing import Any

from recurrentgpt.cli.console import note, one_line, print_json, print_text
from recurrentgpt.cli.work import reading, said, writing
from recurrentgpt.schema.errors import BadAnswer


def retry(name: str, passage: str | None, settings: dict[str, Any], *, json: bool) -> None:
    """Write a passage once more."""
    with writing(name, settings, json=json) as session:
        session.again = ["retry", session.story.id, *([passage] if passage else []), *said(settings)]
        session.retry(passage)


def replan(name: str, passage: str | None, settings: dict[str, Any], *, json: bool) -> None:
    """Propose other plans and print them."""
    with writing(name, settings, json=json) as session:
        session.again = ["replan", session.story.id, *([passage] if passage else []), *said(settings)]
        session.replan(passage)
        if not json:
            print_text(_numbered(session.story.plans))


def choose(name: str, plan: str | None, at: str | None, *, json: bool) -> None:
    """Choose a plan, or list what there is to choose from."""
    with reading(name) as story:
        if plan is None:
            passage = story.passage(at)
            waiting = story.waiting_plan if at is None else None
            if json:
                print_json(
                    {"story": story.id, "id": passage.id, "step": passage.step, "plans": passage.plans, "plan": waiting}
                )
                return
            if passage.plans:
                print_text(_numbered(passage.plans))
            else:
                note("There are no plans here: choose one in your own words, or `recurrentgpt replan` proposes some.")
            if waiting:
                note(f"Chosen already: {one_line(waiting)}")
            return
        if not plan.strip():
            raise BadAnswer("The plan needs some words, or is the number of one that was proposed.")
        chosen = story.choose(plan, at)
        if json:
            passage = story.passage()
            print_json({"story": story.id, "id": passage.id, "step": passage.step, "plan": chosen})
            return
        print_text(one_line(chosen))
        note(f"Write it: recurrentgpt write {story.id} --steps 1")


def _numbered(plans: list[str]) -> str:
    return "\n".join(f"{number}  {one_line(plan)}" for number, plan in enumerate(plans, 1))
