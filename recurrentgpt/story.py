"""`Story`: one story to open, write, choose in, read and go back in, for scripts, apps and the command line.

`AsyncStory` is the story, as coroutines. `Story` has every method of it twice, made from those: `step()` blocks, `astep()`
is awaited, and both work in any thread and any event loop.
"""

from __future__ import annotations

import asyncio
import dataclasses
import uuid
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, cast

from recurrentgpt.engine.edits import Edits
from recurrentgpt.engine.engine import Engine
from recurrentgpt.engine.navigation import Branches
from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import Ref
from recurrentgpt.engine.replay import PendingReplay, Replay
from recurrentgpt.engine.session import Session
from recurrentgpt.engine.snapshot import StorySnapshot
from recurrentgpt.engine.storybook import StoryBook
from recurrentgpt.infrastructure.background_loop import acall, call
from recurrentgpt.infrastructure.blocking import Twins
from recurrentgpt.memory.story_log import path_to
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.open_story import check_input
from recurrentgpt.prompts.check import check_once
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.log import StoryRecord
from recurrentgpt.schema.state import Brief, Rationale, Status, StoryInput, Usage
from recurrentgpt.storage import default_engine

__all__ = ["AsyncStory", "Passage", "Story", "StorySnapshot"]


class HasEngine(Protocol):
    """Whatever stories are kept in: a `Library`."""

    @property
    def engine(self) -> Engine:
        """What its stories are read and written with."""


class AsyncStory:
    """A story and the graph that goes on writing it, in the event loop in which its engine was opened.

    `branches` reads the tree and moves in it, `edits` corrects by hand, `book` exports and searches.
    """

    def __init__(self, engine: Engine, story: str, context: Context, opening: StoryInput | None = None) -> None:
        if context.prompts:
            check_once(context.prompts)
        self.engine, self.id = engine, story
        self._session = Session(engine, story, context, opening)
        self.branches, self.edits, self.book = Branches(self._session), Edits(self._session), StoryBook(self._session)

    @property
    def context(self) -> Context:
        """The settings of every run from now on."""
        return self._session.context

    @context.setter
    def context(self, context: Context) -> None:
        self._session.context = context

    # Reading

    async def snapshot(self, *, usage: bool = False) -> StorySnapshot:
        """Return where the story stands; with `usage` also what its branch has cost, for which every passage is read."""
        session, log = self._session, self.engine.log
        head = await log.head(self.id)
        if head is None:
            return StorySnapshot(self.id, self.settings)
        record, links = await log.record(self.id), await log.links(self.id)
        path = [links[key] for key in path_to(head["head"], links)]
        return StorySnapshot(
            story=self.id,
            settings=self.settings,
            title=record["title"],
            brief=await session.brief(),
            passage=Passage.of(await log.get(self.id, head["head"])),
            path=tuple(link for link in path if link["step"]),
            branch=head.get("branch", ""),
            names=await log.names(self.id),
            status=cast(Status, head["status"]),
            waiting_plan=await session.waiting_plan(),
            pending_replay=await self.edits.replay.pending(),
            archived=record.get("archived", False),
            usage=await session.usage() if usage else None,
        )

    async def record(self) -> StoryRecord:
        """Return what the story is and was begun with: title, genre, premise, brief; `brief` has what was edited since."""
        return await self.engine.log.record(self.id)

    async def brief(self) -> Brief:
        """Return what is pinned in every prompt of this branch: premise, characters, outline."""
        return await self._session.brief()

    async def head(self) -> str:
        """Return the id of the newest passage on this branch, or of the opening; empty before the story is opened."""
        return await self._session.head_id()

    async def waiting_plan(self) -> str | None:
        """Return the plan that is chosen and not yet written, if there is one."""
        return await self._session.waiting_plan()

    async def usage_at(self, at: Ref | None = None) -> Usage:
        """Return what all passages up to any place (default: the newest) have cost."""
        return await self._session.usage(at)

    async def whole_usage(self) -> Usage:
        """Return what the story has cost on all its branches."""
        commits = await self.engine.log.get_many(self.id, list(await self.engine.log.links(self.id)))
        return total_usage([commit["usage"] for commit in commits])

    async def passages(self, at: Ref | None = None) -> list[Passage]:
        """Return the passages from the first to any place, by default the head."""
        return [Passage.of(commit) for commit in await self._session.commits(at) if commit["step"]]

    @property
    def settings(self) -> dict[str, object]:
        """What the story keeps of how it is told: the fields of `Context` that hold when it is opened again."""
        return {name: getattr(self.context, name) for name in STORY_SETTINGS}

    async def change_settings(self, /, **settings: Any) -> dict[str, object]:
        """Change how the story is told from the next passage on, for good, and return all that it keeps.

        Raises SettingsError for a name that a story does not keep and for a value that cannot be used.
        """
        if unknown := next((name for name in settings if name not in STORY_SETTINGS), None):
            raise SettingsError(f"A story does not keep {unknown!r}; it keeps {', '.join(STORY_SETTINGS)}.")
        changed = dataclasses.replace(self.context, **settings)
        await self.edits.settings({name: getattr(changed, name) for name in settings})
        # In place: everything that belongs to this story looks at this object.
        for name in settings:
            setattr(self.context, name, getattr(changed, name))
        return self.settings

    # Writing

    def begin(self) -> AsyncGenerator[Event]:
        """Open a new story and yield what happens: a novel up to its first passage, a story to play up to its first choice."""
        return self._session.begin()

    async def choose(self, answer: object, at: Ref | None = None) -> str:
        """Set the plan of the next passage and return it: a number from 1, a plan in your own words, or the fields of an answer.

        The choice is saved at once; the next `step` writes from it. With `at` it is the choice after any other passage,
        answered before or not, and the story goes there. Raises BadAnswer.
        """
        return await self._session.choose(answer, at)

    async def step(self) -> Passage:
        """Write the next passage and return it; where no plan was chosen, the simulator chooses."""
        async with aclosing(self.stream(1)) as events:
            async for _ in events:
                pass
        return await self.branches.passage()

    def stream(self, steps: int = 1) -> AsyncGenerator[Event]:
        """Write `steps` passages and yield what happens as it happens; where no plan was chosen, the simulator chooses.

        Closing the iterator stops the writing; what was finished is saved, and the next call goes on from there.
        """
        return self._session.write(steps)

    def retry(self, at: Ref | None = None) -> AsyncGenerator[Event]:
        """Write a passage (default: the newest) once more from the same plan, and yield what happens; the log keeps both."""
        return self._session.retry(at)

    def replan(self, at: Ref | None = None) -> AsyncGenerator[Event]:
        """Propose other plans after a passage (default: the newest), and yield what happens; the log keeps the old ones."""
        return self._session.replan(at)


class Story:
    """A story in a library: its log, and the graph that goes on writing it.

    Make one with `Story.new` or `Story.open`. Settings are the fields of `Context`, given as keywords. What is not defined
    here is made from `AsyncStory` and its parts.
    """

    def __init__(self, engine: Engine, story: str, context: Context, opening: StoryInput | None = None) -> None:
        self._story = AsyncStory(engine, story, context, opening)
        self.engine, self.id = engine, story

    @classmethod
    def new(
        cls,
        genre: str = "",
        premise: str = "",
        *,
        title: str = "",
        plan: str = "",
        short_term_memory: str = "",
        player: str = "",
        library: HasEngine | None = None,
        **settings: Any,
    ) -> Story:
        """Return a new story, of which nothing is written yet; the first `step` opens it.

        With `plan` and `short_term_memory` it goes on from somebody's own beginning. With `mode="fiction"` it is played,
        by `player` if that is said. Raises SettingsError for an input or a setting that cannot be used.
        """
        opening = StoryInput(
            genre=genre,
            premise=premise,
            title=title,
            plan=plan,
            short_term_memory=short_term_memory,
            player=player,
        )
        check_input(opening)
        story = uuid.uuid4().hex[:12]
        engine = library.engine if library is not None else default_engine()
        return cls(engine, story, Context(**settings), {**opening, "story": story})

    @classmethod
    def open(cls, name: str, *, library: HasEngine | None = None, **settings: Any) -> Story:
        """Return the story of this id, unique prefix or title; raise StoryNotFound for none or several."""
        engine = library.engine if library is not None else default_engine()
        return call(lambda: open_story(engine, name, settings))

    @classmethod
    async def aopen(cls, name: str, *, library: HasEngine | None = None, **settings: Any) -> Story:
        """Open like `open`, without blocking the event loop."""
        engine = library.engine if library is not None else await asyncio.to_thread(default_engine)
        return await acall(lambda: open_story(engine, name, settings))

    _whole: Twins[Story, AsyncStory] = Twins(lambda story: story._story)
    _branches: Twins[Story, Branches] = Twins(lambda story: story._story.branches)
    _edits: Twins[Story, Edits] = Twins(lambda story: story._story.edits)
    _replay: Twins[Story, Replay] = Twins(lambda story: story._story.edits.replay)
    _book: Twins[Story, StoryBook] = Twins(lambda story: story._story.book)

    @property
    def context(self) -> Context:
        """The settings of every run from now on."""
        return self._story.context

    @context.setter
    def context(self, context: Context) -> None:
        self._story.context = context

    # Reading

    snapshot, asnapshot = _whole(AsyncStory.snapshot)
    passages, apassages = _whole(AsyncStory.passages)
    usage_at, ausage_at = _whole(AsyncStory.usage_at)
    change_settings, achange_settings = _whole(AsyncStory.change_settings)

    @property
    def record(self) -> StoryRecord:
        """What the story is and was begun with: title, genre, premise, brief; `brief` has what was edited since."""
        return call(self._story.record)

    @property
    def title(self) -> str:
        """The story's title."""
        return self.record["title"]

    @property
    def brief(self) -> Brief:
        """What is pinned in every prompt of this branch: premise, characters, outline."""
        return call(self._story.brief)

    @property
    def head(self) -> str:
        """Id of the newest passage on this branch, or of the opening; empty before the story is opened."""
        return call(self._story.head)

    @property
    def memory(self) -> str:
        """The short-term memory after the newest passage, one sentence a line."""
        return self.passage().short_term_memory

    @property
    def rationale(self) -> Rationale:
        """What the newest passage dropped from the memory and added to it, with reasons."""
        return self.passage().rationale

    @property
    def plans(self) -> list[str]:
        """The plans to choose from."""
        return self.passage().plans

    @property
    def waiting_plan(self) -> str | None:
        """The plan that is chosen and not yet written, if there is one."""
        return call(self._story.waiting_plan)

    @property
    def usage(self) -> Usage:
        """What all passages of this branch have cost."""
        return self.usage_at()

    @property
    def whole_usage(self) -> Usage:
        """What the story has cost on all its branches."""
        return call(self._story.whole_usage)

    @property
    def settings(self) -> dict[str, object]:
        """What the story keeps of how it is told: the fields of `Context` that hold when it is opened again."""
        return self._story.settings

    # Writing

    begin, abegin = _whole(AsyncStory.begin)
    choose, achoose = _whole(AsyncStory.choose)
    step, astep = _whole(AsyncStory.step)
    stream, astream = _whole(AsyncStory.stream)
    retry, aretry = _whole(AsyncStory.retry)
    replan, areplan = _whole(AsyncStory.replan)

    # The tree

    tree, atree = _branches(Branches.tree)
    resolve, aresolve = _branches(Branches.resolve)
    passage, apassage = _branches(Branches.passage)
    names, anames = _branches(Branches.names)
    diff, adiff = _branches(Branches.diff)
    goto, agoto = _branches(Branches.goto)
    undo, aundo = _branches(Branches.undo)
    redo, aredo = _branches(Branches.redo)
    name_branch, aname_branch = _branches(Branches.name)
    remove_name, aremove_name = _branches(Branches.remove_name)

    # Editing

    edit_passage, aedit_passage = _replay(Replay.edit)
    replay_cost, areplay_cost = _replay(Replay.cost)
    resume_replay, aresume_replay = _replay(Replay.resume)
    drop_replay, adrop_replay = _replay(Replay.drop)
    edit_memory, aedit_memory = _edits(Edits.memory)
    edit_plans, aedit_plans = _edits(Edits.plans)
    edit_plan, aedit_plan = _edits(Edits.plan)
    edit_summary, aedit_summary = _edits(Edits.summary)
    edit_brief, aedit_brief = _edits(Edits.brief)
    rename, arename = _edits(Edits.rename)
    archive, aarchive = _edits(Edits.archive)
    unarchive, aunarchive = _edits(Edits.unarchive)
    _pending_replay, apending_replay = _replay(Replay.pending)

    @property
    def pending_replay(self) -> PendingReplay | None:
        """The edit with replay that was interrupted, if there is one."""
        return self._pending_replay()

    # The book

    book, abook = _book(StoryBook.as_book)
    export, aexport = _book(StoryBook.export)
    search, asearch = _book(StoryBook.search)

    # Deprecated names

    def another_take(self) -> Iterator[Event]:
        """Write the newest passage once more; deprecated, see `retry`."""
        _warn_renamed("another_take", "retry")
        return self.retry()

    def aanother_take(self) -> AsyncIterator[Event]:
        """Write the newest passage once more; deprecated, see `aretry`."""
        _warn_renamed("aanother_take", "aretry")
        return self.aretry()

    def new_plans(self) -> Iterator[Event]:
        """Propose other plans for the next passage; deprecated, see `replan`."""
        _warn_renamed("new_plans", "replan")
        return self.replan()

    def anew_plans(self) -> AsyncIterator[Event]:
        """Propose other plans for the next passage; deprecated, see `areplan`."""
        _warn_renamed("anew_plans", "areplan")
        return self.areplan()


async def open_story(engine: Engine, name: str, settings: Mapping[str, Any]) -> Story:
    """Return the story of this id, title, or unique beginning of one, with the settings it keeps below those given."""
    record = await engine.find(name)
    kept: dict[str, Any] = {name: value for name, value in record["settings"].items() if name in STORY_SETTINGS}
    return Story(engine, record["story"], Context(**{**kept, **settings}))


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(f"Story.{old} goes with version 0.3; call Story.{new}.", DeprecationWarning, stacklevel=3)
