"""One command at work on one story: open it, follow what is written, and part with a way to go on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from recurrentgpt.cli.commands.options import STORY_OPTIONS, stored_settings
from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.settings_input import Settings
from recurrentgpt.schema.errors import (
    BAD_USAGE,
    BudgetReached,
    ModelRefused,
    RecurrentGPTError,
    SettingsError,
    StoryError,
    StoryNotFound,
)

if TYPE_CHECKING:
    from recurrentgpt.cli.terminal.renderer import Renderer
    from recurrentgpt.library import Library
    from recurrentgpt.story import Story
    from recurrentgpt.story_protocol import StoryProtocol
    from recurrentgpt.story_reader import ReadOnlyStory

_INPUT_FIELDS = {"memory": "short_term_memory", "as": "player"}
"""What a new story is given, where the option has another name."""


@contextmanager
def reading(name: str, remote: str | None = None) -> Iterator[ReadOnlyStory]:
    """Open a story for a command that looks at what is in its log; of a `remote` one, a copy. Nothing can be written."""
    if remote is not None:
        from recurrentgpt.cli.commands.remote import copied

        with copied(remote, name) as story:
            yield story
        return
    from recurrentgpt.story_reader import open_to_read

    with open_to_read(name) as story:
        yield story


@contextmanager
def opening(name: str, *, read_only: bool = False) -> Iterator[Story]:
    """Open a story with its whole engine, for a command that changes it or needs its checkpoints or its recall."""
    from recurrentgpt.story import Story

    with in_library(lambda library: Story.open(name, library=library), read_only=read_only) as story:
        yield story


@contextmanager
def in_library(begin: Callable[[Library], Story], *, read_only: bool = False) -> Iterator[Story]:
    """Open the library of this machine, and in it the story that `begin` opens or makes."""
    from recurrentgpt.library import Library

    with Library.open(read_only=read_only) as library:
        yield begin(library)


def command_for(story: StoryProtocol) -> str:
    """Return the name of the command that goes on with a story: one to play is played."""
    return "play" if story.context.mode == "fiction" else "write"


def writing(name: str, settings: Settings, *, json: bool) -> AbstractContextManager[Renderer]:
    """Open a story for a command that asks a model; `recurrentgpt write` goes on with it."""
    return StoryRequest("write", name, settings=settings, json=json).rendering()


@dataclass(frozen=True)
class StoryRequest:
    """What `write` or `play` was asked for: a story that has begun, or what a new one begins with."""

    command: str
    story: str | None
    opening: dict[str, str | None] = field(default_factory=dict)
    """What a new story begins with, by the names of the options."""
    settings: Settings = field(default_factory=dict)
    options: Sequence[str] = ()
    """Further options of the command that goes on with the story."""
    remote: str | None = None
    json: bool = False

    def check(self) -> None:
        """Raise BadParameter for what is empty, or belongs to a new story only."""
        for name, value in self.opening.items():
            if value is not None and not value.strip():
                raise typer.BadParameter(
                    f"It is empty: give some words, or leave --{name} out.", param_hint=f"--{name}"
                )
        if self.story is None:
            return
        if not self.story.strip():
            raise typer.BadParameter("It is empty: name a story, or leave it out to begin one.", param_hint="STORY")
        of_a_new_one = (name for name in ("genre", "premise", "title", "as") if self.opening.get(name) is not None)
        if extra := next(of_a_new_one, None):
            raise typer.BadParameter(
                f"It belongs to a new story, and {self.story!r} names one that has begun: leave one out. What a new story is "
                "about goes behind --premise.",
                param_hint=f"--{extra}",
            )

    def rendering(self) -> AbstractContextManager[Renderer]:
        """Open or begin the story, here or on a server, and give what shows it."""
        kept = {} if self.story else STORY_OPTIONS  # a new story keeps its own settings
        again = as_options({name: value for name, value in self.settings.items() if name not in kept})
        given = {_INPUT_FIELDS.get(name, name): value for name, value in self.opening.items() if value is not None}
        if self.remote is not None:
            from recurrentgpt.cli.commands.remote import opened

            options = [*self.options, f"--remote={self.remote}", *as_options(self.settings)]
            story = opened(self.remote, self.story, given, self.settings)
            return rendering(story, json=self.json, command=self.command, options=options)
        settings = {**stored_settings(new=self.story is None), **self.settings}
        if self.story is None:
            from recurrentgpt.models.roles import start_ahead

            start_ahead(settings, self.opening.get("premise") or "")

        def begin(library: Library) -> Story:
            from recurrentgpt.story import Story

            if self.story:
                try:
                    return Story.open(self.story, library=library, **settings)
                except StoryNotFound as error:
                    if " " not in self.story.strip():
                        raise
                    begins = f"recurrentgpt {self.command} --premise {shlex.quote(self.story)}"
                    raise StoryNotFound(f"{error} To begin one from these words: `{begins}`.") from None
            return Story.new(library=library, **given, **settings)

        return rendering(in_library(begin), json=self.json, command=self.command, options=[*self.options, *again])


@contextmanager
def rendering(
    story: AbstractContextManager[StoryProtocol], *, json: bool, command: str, options: Sequence[str] = ()
) -> Iterator[Renderer]:
    """Open a story and give what shows it; say at the end what that cost, and that `recurrentgpt COMMAND` goes on with it."""
    from recurrentgpt.cli.terminal.screen import Screen

    with Screen() as screen, ExitStack() as held:
        with prompt.keys_off():
            # The first import of the engine takes a second or two.
            screen.doing("opening the stories")
            from recurrentgpt.cli.terminal.renderer import Renderer
            from recurrentgpt.models.embedded.fetch import showing_progress

            opened = held.enter_context(story)
        held.enter_context(showing_progress(screen.fetching))
        screen.rest()
        renderer = Renderer(opened, screen, json=json, command=command, options=options)
        try:
            renderer.look()
            yield renderer
        except BrokenPipeError:
            raise
        except BaseException as error:
            screen.rest()
            _part(renderer, error)
            if isinstance(error, KeyboardInterrupt):
                raise typer.Exit(130) from None
            raise
        renderer.close()


def _part(renderer: Renderer, error: BaseException) -> None:
    """Say how to go on with a story that stopped before it was meant to."""
    from recurrentgpt.cli.terminal.console import note, print_json

    stopped = isinstance(error, KeyboardInterrupt)
    if isinstance(error, (*BAD_USAGE, StoryError)) or not (stopped or isinstance(error, RecurrentGPTError)):
        return  # to run the same again would end in the same way
    begun = renderer.exists()
    resume = shlex.join(["recurrentgpt", *renderer.again]) if renderer.again else renderer.resume
    if stopped:
        note(f"Stopped. {_saved(renderer) if begun else 'Nothing of the story was written yet.'}")
    if isinstance(error, BudgetReached):
        # The same budget would end in the same way.
        resume = re.sub(r" --budget-tokens=\d+", "", resume)
    if begun:
        note(f"Continue: {resume}")
    elif not stopped and not isinstance(error, (BudgetReached, ModelRefused)):
        note("The story was not begun, so there is none to continue: run the same command to try again.")
    if stopped and renderer.json:
        print_json({"event": "error", "message": f"Stopped. Continue: {resume}" if begun else "Stopped."})


def _saved(renderer: Renderer) -> str:
    """Say what is saved of a story that was stopped, and what is not."""
    if not renderer.unfinished:
        return "Everything written is saved."
    again = "" if "take" in renderer.unfinished else " It is written anew from its plan when you go on."
    return f"What there was of {renderer.unfinished} is not kept; everything before it is saved.{again}"


def as_options(settings: Settings) -> list[str]:
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
    if yes:
        return True
    if not prompt.at_terminal():
        raise SettingsError(f"{question} There is nobody here to ask: run it again with --yes.")
    try:
        return prompt.ask(f"{question} [y/N] ").casefold().startswith("y")
    except EOFError:
        return False


def tell_of_the_last(story: ReadOnlyStory | Story, at: str | None) -> None:
    """Say that nothing was remembered of a passage that was written as the last one: codex and memory are those before it."""
    from recurrentgpt.cli.terminal.console import note
    from recurrentgpt.schema.parts import KEPT_PLAN

    passage, command = story.passage(at), "play" if story.settings["mode"] == "fiction" else "write"
    noted = [*passage.plans, *passage.codex, *passage.rationale["added"], *passage.rationale["dropped"]]
    is_last = passage.step > 1 and passage.id == story.head and passage.plan_author != KEPT_PLAN
    if is_last and passage.short_term_memory and not noted:
        note(
            f"Passage {passage.step} was written as the last one, and nothing was noted of it: what stands here is from before "
            f"it. Going on with the story notes it first: recurrentgpt {command} {story.id}"
        )
