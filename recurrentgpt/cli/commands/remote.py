"""`--remote URL`: a story on a server of LangGraph's protocol, written, played and looked at from the terminal."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from recurrentgpt.cli.terminal.console import note, print_json, print_table
from recurrentgpt.cli.terminal.settings_input import Settings
from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import NOTHING_WRITTEN, Ref
from recurrentgpt.engine.snapshot import StorySnapshot
from recurrentgpt.infrastructure.background_loop import call, iterate
from recurrentgpt.remote.client import RemoteStory, astories
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import SettingsError, StoryError, StoryNotFound
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import Brief, StoryInput
from recurrentgpt.story_reader import ReadOnlyStory

if TYPE_CHECKING:
    from recurrentgpt.engine.tree import Tree
    from recurrentgpt.story import Story

TOKEN = "RECURRENTGPT_REMOTE_TOKEN"  # noqa: S105 - the name of a variable
RUN_SETTINGS = ("ending", "budget_tokens")


class BlockingRemoteStory:
    """A story on a server as a `StoryProtocol`: each call waits for the server's answer."""

    keeps_sentences = False

    def __init__(self, story: RemoteStory) -> None:
        self._story = story
        self.context = Context(**story.settings)

    def snapshot(self) -> StorySnapshot:
        """Return where the story stands."""
        return call(self._story.asnapshot)

    @property
    def id(self) -> str:
        """The story's id; empty before it is opened."""
        return self.snapshot().story

    @property
    def head(self) -> str:
        """Id of the newest passage; empty before the story is opened."""
        return self.snapshot().head

    @property
    def title(self) -> str:
        """The story's title."""
        return self.snapshot().title

    @property
    def plans(self) -> list[str]:
        """The plans to choose from."""
        return self.snapshot().plans

    @property
    def brief(self) -> Brief:
        """What every prompt of the story holds."""
        brief = self.snapshot().brief
        if brief is None:
            raise StoryNotFound(NOTHING_WRITTEN)
        return brief

    @property
    def memory(self) -> str:
        """The short-term memory."""
        return self.snapshot().memory

    @property
    def waiting_plan(self) -> str | None:
        """The plan that is chosen and not written yet."""
        return self.snapshot().waiting_plan

    def passage(self, ref: Ref | None = None) -> Passage:
        """Return the newest passage; the server tells no earlier one."""
        newest = self.snapshot().passage
        if ref is not None:
            _refuse()
        if newest is None:
            raise StoryNotFound(NOTHING_WRITTEN)
        return newest

    def stream(self, steps: int = 1) -> Iterator[Event]:
        """Write passages and yield what happens."""
        # What an interactive run changes from passage to passage.
        self._story.run_settings.update({name: getattr(self.context, name) for name in RUN_SETTINGS})
        if self.context.ending:
            newest = self.snapshot().passage
            self.end_at((newest.step if newest else 0) + steps)
        return iterate(lambda: self._story.astream(steps))

    def end_at(self, step: int) -> None:
        """Keep that the story ends with this passage."""
        call(lambda: self._story.aend_at(step))
        self.context.length = step

    def write_ahead(self, budget: int = 0) -> None:
        """Do nothing: a server writes what it is asked for."""

    def begin(self) -> Iterator[Event]:
        """Open the story up to its first choice."""
        return iterate(self._story.abegin)

    def retry(self, ref: Ref | None = None) -> Iterator[Event]:
        """Write the newest passage once more."""
        return iterate(self._story.aretry) if ref is None else _refuse()

    def replan(self, ref: Ref | None = None) -> Iterator[Event]:
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
    def settings(self) -> dict[str, object]:
        """What the story keeps of how it is told."""
        return {name: getattr(self.context, name) for name in STORY_SETTINGS}

    @property
    def pending_replay(self) -> None:
        """No edit is under way: there are none on a server."""

    def names(self) -> dict[str, str]:
        """Return no names: they are in the log, which the server keeps."""
        return {}

    def undo(self, *_: object, **__: object) -> Any:
        """Refuse: this and the like move the head in the log."""
        _refuse()

    # The same of what else only the log could do.
    keep = go_on = discard = redo = name_branch = change_settings = edit_memory = edit_passage = replay_cost = (
        resume_replay
    ) = undo

    def goto(self, ref: Ref) -> Passage:
        """Go to another passage of which the server still has a checkpoint."""
        copy = self.copy()
        there = copy.passage(id_in_copy(copy.tree(), str(ref)))
        call(lambda: self._story.agoto(there.id))
        return there


def _refuse() -> Any:
    raise StoryError(
        "This works on stories of this machine only: on a server, write, choose, take again, go to another passage, or read."
    )


@contextmanager
def opened(url: str, name: str | None, opening: Mapping[str, str], settings: Settings) -> Iterator[BlockingRemoteStory]:
    """Open the story of this name on the server, or begin a new one there."""
    if name and "short_term_memory" in opening:
        _refuse()
    token = os.environ.get(TOKEN)
    if local := next((option for option in ("base_url", "prompts") if option in settings), None):
        raise SettingsError(f"A server does not take --{local.replace('_', '-')}: what it writes with is its own.")
    if name:
        story = call(lambda: RemoteStory.open(url, name, token=token, **settings))
    else:
        story = call(lambda: RemoteStory.new(url, cast("StoryInput", opening), token=token, **settings))
    try:
        yield BlockingRemoteStory(story)
    finally:
        call(story.aclose)


@contextmanager
def copied(url: str, name: str) -> Iterator[ReadOnlyStory]:
    """Give a story of the server to read, as a copy of what it still has."""
    with opened(url, name, {}, {}) as story:
        copy = ReadOnlyStory(story.copy().reader)
        if (first := min(node.step for node in copy.tree().nodes.values())) > 0:
            note(f"The server keeps the last checkpoints only: what was written before passage {first} is not shown.")
        yield copy


def id_in_copy(tree: Tree, ref: str) -> str:
    """Return how a passage is named in the tree of a copy whose first ones may be missing: a step by the id that has it."""
    if not ref.strip().isdecimal() or len(ref.strip()) > 8:
        return ref
    return next((key for key in tree.path() if tree.nodes[key].step == int(ref)), ref)


def list_stories(url: str, *, json: bool) -> None:
    """Print the stories of a server, the one written last at the end."""
    found = call(lambda: astories(url, token=os.environ.get(TOKEN)))
    if json:
        for it in found:
            print_json({key: value for key, value in dataclasses.asdict(it).items() if key != "settings"})
    elif found:
        rows = [(it.story, it.title, it.updated[:16].replace("T", " ")) for it in found]
        print_table(("Story", "Title", "Written (UTC)"), rows, uncut=(0, 2), spare=(2,))
    else:
        note(f"There are no stories on this server yet. Begin one: recurrentgpt write --remote {url}")
