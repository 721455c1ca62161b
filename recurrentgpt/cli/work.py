"""One command at work on one story: open it, follow what is written, and part with a way to go on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from recurrentgpt.schema.errors import (
    BAD_USAGE,
    BudgetReached,
    ModelRefused,
    RecurrentGPTError,
    SettingsError,
    StoryError,
)

if TYPE_CHECKING:
    from recurrentgpt.cli.session import Session
    from recurrentgpt.library import Library
    from recurrentgpt.story import Story


@contextmanager
def reading(name: str, remote: str | None = None) -> Iterator[Story]:
    """Open a story for a command that asks no model; of a `remote` one, a copy."""
    if remote is not None:
        from recurrentgpt.cli.on_server import copied

        with copied(remote, name) as story:
            yield story
        return
    from recurrentgpt.library import Library
    from recurrentgpt.story import Story

    with Library.open() as library:
        yield Story.open(name, library=library)


@contextmanager
def writing(
    name: str, settings: dict[str, Any], *, json: bool, command: str = "write", options: Sequence[str] = ()
) -> Iterator[Session]:
    """Open a story for a command that asks a model, and say at the end what that cost and how to go on."""

    def begin(library: Library) -> Story:
        from recurrentgpt.story import Story

        return Story.open(name, library=library, **settings)

    with at_work(begin, json=json, command=command, options=[*options, *said(settings)]) as session:
        yield session


@contextmanager
def at_work(
    begin: Callable[[Library], Story], *, json: bool, command: str, options: Sequence[str] = ()
) -> Iterator[Session]:
    """Give a session with the story that `begin` opens or makes; `recurrentgpt COMMAND STORY OPTIONS` goes on with it."""
    from recurrentgpt.cli.screen import Screen

    with Screen() as screen:
        # The first import of the engine takes a second or two.
        screen.doing("opening the stories")
        from recurrentgpt.cli.session import Session
        from recurrentgpt.library import Library
        from recurrentgpt.models.embedded.fetch import set_progress

        with Library.open() as library:
            story = begin(library)
            screen.rest()
            set_progress(screen.fetching)
            session = Session(story, screen, json=json, command=command, options=options)
            try:
                session.look()
                yield session
            except BrokenPipeError:
                raise
            except BaseException as error:
                screen.rest()
                part(session, error)
                if isinstance(error, KeyboardInterrupt):
                    raise typer.Exit(130) from None
                raise
            finally:
                set_progress(None)
            session.close()


def part(session: Session, error: BaseException) -> None:
    """Say how to go on with a story that stopped before it was meant to."""
    from recurrentgpt.cli.console import note, print_json

    stopped = isinstance(error, KeyboardInterrupt)
    if isinstance(error, (*BAD_USAGE, StoryError)) or not (stopped or isinstance(error, RecurrentGPTError)):
        return  # to run the same again would end in the same way
    begun = session.exists()
    resume = shlex.join(["recurrentgpt", *session.again]) if session.again else session.resume
    if stopped:
        note("Stopped." + (" Everything finished is saved." if begun else " Nothing of the story was written yet."))
    if isinstance(error, BudgetReached):
        # The same budget would end in the same way.
        resume = re.sub(r" --budget-tokens=\d+", "", resume)
    if begun:
        note(f"Continue: {resume}")
    elif not stopped and not isinstance(error, (BudgetReached, ModelRefused)):
        note("The story was not begun, so there is none to continue: run the same command to try again.")
    if stopped and session.json:
        print_json({"event": "error", "message": f"Stopped. Continue: {resume}" if begun else "Stopped."})


def said(settings: dict[str, Any]) -> list[str]:
    """Return the options that a later command needs in order to go on in the same way."""
    options = []
    for name, value in settings.items():
        if name == "models":
            options += [f"--model-for={role}={model}" for role, model in value.items()]
        elif name not in ("ending", "mode"):
            options.append(f"--{name.replace('_', '-')}={value}")
    return options


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask before something is paid for or replaced; where nobody can be asked, only --yes will do."""
    from recurrentgpt.cli import prompt

    if yes:
        return True
    if not prompt.at_terminal():
        raise SettingsError(f"{question} There is nobody here to ask: run it again with --yes.")
    try:
        return prompt.ask(f"{question} [y/N] ").casefold().startswith("y")
    except EOFError:
        return False
