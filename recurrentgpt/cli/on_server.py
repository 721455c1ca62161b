"""`--remote URL`: a story on a server of LangGraph's protocol, written, played and looked at from the terminal."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from recurrentgpt.engine.passage import Passage
from recurrentgpt.infrastructure.background_loop import call, iterate
from recurrentgpt.nodes.routes import waiting_plan
from recurrentgpt.remote.client import RemoteStory, astories
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import SettingsError, StoryError
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import State, StoryInput

if TYPE_CHECKING:
    from recurrentgpt.cli.session import Session
    from recurrentgpt.engine.tree import Tree
    from recurrentgpt.story import Story

TOKEN = "RECURRENTGPT_REMOTE_TOKEN"  # noqa: S105 - the name of a variable
OF_A_RUN = ("ending", "budget_tokens")


class OnServer:
    """The part of `Story` that the terminal needs, of a story on a server."""

    def __init__(self, story: RemoteStory) -> None:
        self._story = story
        self.context = Context(**story.settings)

    @property
    def _values(self) -> dict[str, Any]:
        return call(self._story.avalues)

    @property
    def id(self) -> str:
        """The story's id; empty before it is opened."""
        return str(self._values.get("story", ""))

    @property
    def head(self) -> str:
        """Id of the newest passage; empty before the story is opened."""
        return str(self._values.get("head", ""))

    @property
    def title(self) -> str:
        """The story's title."""
        return str(self._values.get("title", ""))

    @property
    def plans(self) -> list[str]:
        """The plans to choose from."""
        return list(self._values.get("candidate_plans", []))

    @property
    def memory(self) -> str:
        """The short-term memory."""
        return str(self._values.get("short_term_memory", ""))

    @property
    def waiting_plan(self) -> str | None:
        """The plan that is chosen and not written yet."""
        return waiting_plan(cast(State, self._values)) or None

    def passage(self, ref: str | None = None) -> Passage:
        """Return the newest passage; the server tells no earlier one."""
        if ref is not None:
            _refuse()
        values = self._values
        return Passage(
            id=values["head"],
            parent=None,
            step=values["step"],
            plan=values.get("written_plan", ""),
            text=values.get("passage", ""),
            summary=values.get("summary", ""),
            short_term_memory=values["short_term_memory"],
            author=values.get("author", "model"),
            usage={},  # type: ignore[typeddict-item]
            plans=values["candidate_plans"],
        )

    def stream(self, steps: int = 1) -> Iterator[Event]:
        """Write passages and yield what happens."""
        # What an interactive run changes from passage to passage.
        self._story.settings.update({name: getattr(self.context, name) for name in OF_A_RUN})
        return iterate(lambda: self._story.astream(steps))

    def begin(self) -> Iterator[Event]:
        """Open the story up to its first choice."""
        return iterate(self._story.abegin)

    def retry(self, ref: str | None = None) -> Iterator[Event]:
        """Write the newest passage once more."""
        return iterate(self._story.aretry) if ref is None else _refuse()

    def replan(self, ref: str | None = None) -> Iterator[Event]:
        """Propose other plans."""
        return iterate(self._story.areplan) if ref is None else _refuse()

    def choose(self, answer: object) -> str:
        """Choose the next plan."""
        return call(lambda: self._story.achoose(answer))

    def tree(self) -> Tree:
        """Return the tree."""
        return call(self._story.atree)

    def copy(self) -> Story:
        """Return what the server still has of the story, to be read as one of this machine."""
        from recurrentgpt.remote.copy import acopied
        from recurrentgpt.story import Story

        return Story.open(self.id, library=call(lambda: acopied(self._story)))

    @property
    def pending_replay(self) -> None:
        """No edit is under way: there are none on a server."""

    def names(self) -> dict[str, str]:
        """Return no names: they are in the log, which the server keeps."""
        return {}

    def undo(self, *_: object) -> Any:
        """Refuse: this and the like move the head in the log."""
        _refuse()

    redo = name_branch = edit_memory = undo

    def goto(self, ref: str) -> Passage:
        """Go to another passage of which the server still has a checkpoint."""
        copy = self.copy()
        there = copy.passage(named(copy, ref))
        call(lambda: self._story.agoto(there.id))
        return there


def _refuse() -> Any:
    raise StoryError(
        "This works on stories of this machine only: on a server, write, choose, take again, go to another passage, or read."
    )


@contextmanager
def opened(url: str, name: str | None, opening: dict[str, str | None], settings: dict[str, Any]) -> Iterator[OnServer]:
    """Open the story of this name on the server, or begin a new one there."""
    token = os.environ.get(TOKEN)
    if local := next((option for option in ("base_url", "prompts") if option in settings), None):
        raise SettingsError(f"A server does not take --{local.replace('_', '-')}: what it writes with is its own.")
    if name:
        story = call(lambda: RemoteStory.open(url, name, token=token, **settings))
    else:
        fields = {"short_term_memory" if key == "memory" else key: text for key, text in opening.items() if text}
        story = call(lambda: RemoteStory.new(url, cast(StoryInput, fields), token=token, **settings))
    try:
        yield OnServer(story)
    finally:
        call(story.aclose)


@contextmanager
def copied(url: str, name: str) -> Iterator[Story]:
    """Give a story of the server to read, as a copy of what it still has."""
    from recurrentgpt.cli.console import note

    with opened(url, name, {}, {}) as story:
        copy = story.copy()
        if (first := min(node.step for node in copy.tree().nodes.values())) > 0:
            note(f"The server keeps the last checkpoints only: what was written before passage {first} is not shown.")
        yield copy


def named(copy: Story, ref: str) -> str:
    """Return how a passage of a copy is named whose first ones may be missing: a step by the id that has it."""
    if not ref.strip().isdecimal() or len(ref.strip()) > 8:
        return ref
    tree = copy.tree()
    return next((key for key in tree.path() if tree.nodes[key].step == int(ref)), ref)


@contextmanager
def session(
    url: str,
    name: str | None,
    opening: dict[str, str | None],
    settings: dict[str, Any],
    options: list[str],
    *,
    json: bool,
    command: str,
) -> Iterator[Session]:
    """Give a session like that of `at_work`, with a story on a server."""
    import typer

    from recurrentgpt.cli.screen import Screen
    from recurrentgpt.cli.session import Session
    from recurrentgpt.cli.work import part, said

    if name and opening.get("memory"):
        _refuse()
    with Screen() as screen, opened(url, name, opening, settings) as story:
        options = [*options, f"--remote={url}", *said(settings)]
        shown = Session(cast("Story", story), screen, json=json, command=command, options=options)
        try:
            shown.look()
            if name and opening.get("plan"):
                shown.choose(opening["plan"])
            yield shown
        except BrokenPipeError:
            raise
        except BaseException as error:
            screen.rest()
            part(shown, error)
            if isinstance(error, KeyboardInterrupt):
                raise typer.Exit(130) from None
            raise
        shown.close()


def list_stories(url: str, *, json: bool) -> None:
    """Print the stories of a server, the one written last at the end."""
    from recurrentgpt.cli.console import note, print_json, print_table

    found = call(lambda: astories(url, token=os.environ.get(TOKEN)))
    if json:
        for it in found:
            print_json({key: value for key, value in dataclasses.asdict(it).items() if key != "settings"})
    elif found:
        rows = [(it.story, it.title, it.updated[:16].replace("T", " ")) for it in found]
        print_table(("Story", "Title", "Written (UTC)"), rows, whole=(0, 2))
    else:
        note(f"There are no stories on this server yet. Begin one: recurrentgpt write --remote {url}")
