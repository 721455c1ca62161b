"""`Story`: one story to open, write, choose in, read and go back in, for scripts, apps and the command line.

`AsyncStory` is the story, as coroutines. `Story` has every method of it twice, made from those: `step()` blocks, `astep()`
is awaited, and both work in any thread and any event loop.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, Protocol, cast

from recurrentgpt.engine.ahead import Ahead
from recurrentgpt.engine.codex import StoryCodex
from recurrentgpt.engine.edits import Edits
from recurrentgpt.engine.engine import Engine
from recurrentgpt.engine.navigation import Branches
from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.engine.refs import Ref
from recurrentgpt.engine.replay import Replay
from recurrentgpt.engine.search import StorySearch
from recurrentgpt.engine.session import Session
from recurrentgpt.engine.snapshot import StorySnapshot
from recurrentgpt.engine.storybook import StoryBook
from recurrentgpt.infrastructure.background_loop import acall, call
from recurrentgpt.infrastructure.blocking import Delegate, Twins
from recurrentgpt.infrastructure.deprecation import warn_renamed
from recurrentgpt.memory.story_log import path_to
from recurrentgpt.nodes.open_story import check_input
from recurrentgpt.nodes.rework import rework
from recurrentgpt.prompts.check import check_once
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import SettingsError, StoryError
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import Rationale, Status, StoryInput
from recurrentgpt.storage import default_engine

__all__ = ["AsyncStory", "Passage", "Story", "StorySnapshot"]


class HasEngine(Protocol):
    """Whatever stories are kept in: a `Library`."""

    @property
    def engine(self) -> Engine:
        """What its stories are read and written with."""


class AsyncStory:
    """A story and the graph that goes on writing it, in the event loop in which its engine was opened.

    Make one with `AsyncStory.new` or `AsyncStory.open`. `Story` has the same names and can be used in any event loop.
    """

    keeps_sentences = True

    def __init__(self, engine: Engine, story: str, context: Context, opening: StoryInput | None = None) -> None:
        if context.prompts:
            check_once(context.prompts)
        self.engine, self.id = engine, story
        self._session = Session(engine, story, context, opening)
        self._branches, self._edits, self._book = (
            Branches(self._session),
            Edits(self._session),
            StoryBook(self._session),
        )
        self._codex = StoryCodex(self._session)
        self._search = StorySearch(self._session, lambda: self._session.runtime().recall)
        self._ahead = Ahead(self._session)

    @classmethod
    def new(
        cls,
        genre: str = "",
        premise: str = "",
        *,
        library: HasEngine,
        title: str = "",
        plan: str = "",
        short_term_memory: str = "",
        player: str = "",
        **settings: Any,
    ) -> AsyncStory:
        """Return a new story, as `Story.new` does, in a library such as `Library(await open_engine(folder))`."""
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
        return cls(library.engine, story, Context(**settings), {**opening, "story": story})

    @classmethod
    async def open(cls, name: str, *, library: HasEngine, **settings: Any) -> AsyncStory:
        """Return the story of this id, unique prefix or title, with the settings it keeps below those given.

        Raises StoryNotFound for none or several.
        """
        record = await library.engine.find(name)
        kept = record["settings"]
        if settings.get("language") is None:
            # Chosen, for the thread may still have the one before.
            settings["language"] = kept.get("language")
        story = cls(library.engine, record["story"], Context(**settings).over(kept))
        story._session.kept = kept
        return story

    @property
    def context(self) -> Context:
        """The settings of every run from now on; what another one that is put here does not say is as the story keeps it."""
        return self._session.context

    @context.setter
    def context(self, context: Context) -> None:
        self._session.context = context.over(self._session.kept)

    # Reading

    @property
    def reader(self) -> StoryReader:
        """What reads the story from its log alone."""
        return self._session

    _of_reader: Delegate[AsyncStory, StoryReader] = Delegate(lambda story: story._session)
    record = _of_reader(StoryReader.record)
    title = _of_reader(StoryReader.title)
    brief = _of_reader(StoryReader.brief)
    head = _of_reader(StoryReader.head)
    passage = _of_reader(StoryReader.passage)
    passages = _of_reader(StoryReader.passages)
    usage = _of_reader(StoryReader.usage)
    usage_at = _of_reader(StoryReader.usage_at)
    whole_usage = _of_reader(StoryReader.whole_usage)
    ahead_tally = _of_reader(StoryReader.ahead_tally)
    tree = _of_reader(StoryReader.tree)
    resolve = _of_reader(StoryReader.resolve)
    names = _of_reader(StoryReader.names)
    diff = _of_reader(StoryReader.diff)
    pending_replay = _of_reader(StoryReader.pending_replay)
    codex = _of_reader(StoryReader.codex)
    codex_history = _of_reader(StoryReader.codex_history)

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
            pending_replay=await self.pending_replay(),
            archived=record.get("archived", False),
            usage=await session.usage() if usage else None,
            ahead=await session.ahead_tally(),
        )

    async def waiting_plan(self) -> str | None:
        """Return the plan that is chosen and not yet written, if there is one."""
        return await self._session.waiting_plan()

    async def memory(self) -> str:
        """Return the short-term memory after the newest passage, one sentence a line."""
        return (await self.passage()).short_term_memory

    async def rationale(self) -> Rationale:
        """Return what the newest passage dropped from the memory and added to it, with reasons."""
        return (await self.passage()).rationale

    async def plans(self) -> list[str]:
        """Return the plans to choose from."""
        return (await self.passage()).plans

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
        changed = self.context.changed(**settings)
        kept = {name: getattr(changed, name) for name in settings}
        await self._edits.settings(kept)
        self._session.kept = {**self._session.kept, **kept}
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
        answered before or not, and the story goes there. Raises BadAnswer, also for an action that sets no plan, such as `end`.
        """
        return await self._session.choose(answer, at)

    async def step(self) -> Passage:
        """Write the next passage and return it; where no plan was chosen, the simulator chooses."""
        async with aclosing(self.stream(1)) as events:
            async for _ in events:
                pass
        return await self.passage()

    async def end_at(self, step: int) -> None:
        """Keep that the story ends with passage `step`: from now on every request says how many there are."""
        await self._session.end_at(step)

    def stream(self, steps: int = 1) -> AsyncGenerator[Event]:
        """Write `steps` passages and yield what happens as it happens; where no plan was chosen, the simulator chooses.

        Closing the iterator stops the writing; what was finished is saved, and the next call goes on from there. A passage that
        was written ahead comes whole, without its stages; of one that is still in the making what is there comes first.
        """
        return self._ahead.write(steps)

    _of_ahead: Delegate[AsyncStory, Ahead] = Delegate(lambda story: story._ahead)
    write_ahead = _of_ahead(Ahead.start)
    stop_ahead = _of_ahead(Ahead.stop)
    ready_plans = _of_ahead(Ahead.ready_plans)

    def keep(self, passage: str) -> AsyncGenerator[Event]:
        """Take these words for the passage whose writing was stopped, remember them, propose plans, and yield what happens.

        A passage that was written to its end stays as it is. Raises StoryError where none is in the making.
        """
        return self._session.keep(passage)

    def go_on(self, begun: str) -> AsyncGenerator[Event]:
        """Write a passage whose writing was stopped to its end, from these whole sentences of it, and yield what happens.

        A passage that was written to its end stays as it is. Raises StoryError where none is in the making.
        """
        return self._session.go_on(begun)

    async def discard(self) -> None:
        """Forget the passage whose writing was stopped, and its plan: another can be chosen."""
        await self._session.discard()

    def retry(self, at: Ref | None = None) -> AsyncGenerator[Event]:
        """Write a passage (default: the newest) once more from the same plan, and yield what happens; the log keeps both."""
        return self._session.retry(at)

    def replan(self, at: Ref | None = None) -> AsyncGenerator[Event]:
        """Propose other plans after a passage (default: the newest), and yield what happens; the log keeps the old ones."""
        return self._session.replan(at)

    # The tree

    _of_branches: Delegate[AsyncStory, Branches] = Delegate(lambda story: story._branches)
    goto = _of_branches(Branches.goto)
    undo = _of_branches(Branches.undo)
    redo = _of_branches(Branches.redo)
    name_branch = _of_branches(Branches.name)
    remove_name = _of_branches(Branches.remove_name)

    # Editing

    _of_replay: Delegate[AsyncStory, Replay] = Delegate(lambda story: story._edits.replay)
    edit_passage = _of_replay(Replay.edit)
    replay_cost = _of_replay(Replay.cost)
    resume_replay = _of_replay(Replay.resume)
    drop_replay = _of_replay(Replay.drop)
    _of_edits: Delegate[AsyncStory, Edits] = Delegate(lambda story: story._edits)
    edit_memory = _of_edits(Edits.memory)
    edit_plans = _of_edits(Edits.plans)
    edit_plan = _of_edits(Edits.plan)
    edit_summary = _of_edits(Edits.summary)
    edit_brief = _of_edits(Edits.brief)
    edit_chapter = _of_edits(Edits.chapter)
    replace = _of_edits(Edits.replace)
    rename = _of_edits(Edits.rename)
    archive = _of_edits(Edits.archive)
    unarchive = _of_edits(Edits.unarchive)

    async def rework(self, passage: Ref, start: int, end: int, how: str, *, take: int = 0) -> str:
        """Return other words for a part of a passage, its characters from `start` up to `end`; nothing is changed by that.

        `how` is `rewrite`, `expand`, `shorten`, `describe` or `rephrase`; another `take` is another try. `edit_passage` puts
        the words in place. Raises BadAnswer for a part that holds no words or too many, and for any other `how`.
        """
        commit = await self._session.commit_at(passage)
        if not commit["step"]:
            raise StoryError("The opening has no passage to work on.")
        brief, part = await self._session.brief(), slice(start, end)
        async with self.engine.foreground():
            return await rework(self._session.runtime(), brief, commit, part, how, take)

    # The codex

    _of_codex: Delegate[AsyncStory, StoryCodex] = Delegate(lambda story: story._codex)
    edit_entry = _of_codex(StoryCodex.edit)
    add_entry = _of_codex(StoryCodex.add)
    alias_entry = _of_codex(StoryCodex.alias)
    rename_entry = _of_codex(StoryCodex.rename)
    merge_entries = _of_codex(StoryCodex.merge)
    pin_entry = _of_codex(StoryCodex.pin)
    hide_entry = _of_codex(StoryCodex.hide)
    remove_entry = _of_codex(StoryCodex.remove)
    import_lorebook = _of_codex(StoryCodex.import_lorebook)
    accept_contradiction = _of_codex(StoryCodex.accept)
    written_from = _of_codex(StoryCodex.written_from)

    # The book

    _of_book: Delegate[AsyncStory, StoryBook] = Delegate(lambda story: story._book)
    book = _of_book(StoryBook.as_book)
    chapters = _of_book(StoryBook.chapters)
    export = _of_book(StoryBook.export)
    _of_search: Delegate[AsyncStory, StorySearch] = Delegate(lambda story: story._search)
    search = _of_search(StorySearch.search)


class Story:
    """A story in a library: its log, and the graph that goes on writing it.

    Make one with `Story.new` or `Story.open`. Settings are the fields of `Context`, given as keywords. What is not defined
    here is made from `AsyncStory`.
    """

    keeps_sentences = True

    def __init__(self, engine: Engine, story: str, context: Context, opening: StoryInput | None = None) -> None:
        self._hold(AsyncStory(engine, story, context, opening))

    def _hold(self, story: AsyncStory) -> Story:
        self._story, self.engine, self.id = story, story.engine, story.id
        return self

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
        made = AsyncStory.new(
            genre,
            premise,
            library=library or _OwnStories(),
            title=title,
            plan=plan,
            short_term_memory=short_term_memory,
            player=player,
            **settings,
        )
        return cls.__new__(cls)._hold(made)

    @classmethod
    def open(cls, name: str, *, library: HasEngine | None = None, **settings: Any) -> Story:
        """Return the story of this id, unique prefix or title; raise StoryNotFound for none or several."""
        kept = library or _OwnStories()
        return cls.__new__(cls)._hold(call(lambda: AsyncStory.open(name, library=kept, **settings)))

    @classmethod
    async def aopen(cls, name: str, *, library: HasEngine | None = None, **settings: Any) -> Story:
        """Open like `open`, without blocking the event loop."""
        kept: HasEngine = library if library is not None else await asyncio.to_thread(_OwnStories)
        return cls.__new__(cls)._hold(await acall(lambda: AsyncStory.open(name, library=kept, **settings)))

    _twins: Twins[Story, AsyncStory] = Twins(lambda story: story._story)

    @property
    def context(self) -> Context:
        """The settings of every run from now on; what another one that is put here does not say is as the story keeps it."""
        return self._story.context

    @context.setter
    def context(self, context: Context) -> None:
        self._story.context = context

    @property
    def settings(self) -> dict[str, object]:
        """What the story keeps of how it is told: the fields of `Context` that hold when it is opened again."""
        return self._story.settings

    # Reading

    @property
    def reader(self) -> StoryReader:
        """What reads the story from its log alone."""
        return self._story.reader

    record = _twins.value(AsyncStory.record)
    title = _twins.value(AsyncStory.title)
    brief = _twins.value(AsyncStory.brief)
    head = _twins.value(AsyncStory.head)
    memory = _twins.value(AsyncStory.memory)
    rationale = _twins.value(AsyncStory.rationale)
    plans = _twins.value(AsyncStory.plans)
    waiting_plan = _twins.value(AsyncStory.waiting_plan)
    usage = _twins.value(AsyncStory.usage)
    whole_usage = _twins.value(AsyncStory.whole_usage)
    ahead_tally, aahead_tally = _twins(AsyncStory.ahead_tally)
    pending_replay = _twins.value(AsyncStory.pending_replay)
    _pending_replay, apending_replay = _twins(AsyncStory.pending_replay)
    snapshot, asnapshot = _twins(AsyncStory.snapshot)
    passages, apassages = _twins(AsyncStory.passages)
    usage_at, ausage_at = _twins(AsyncStory.usage_at)
    change_settings, achange_settings = _twins(AsyncStory.change_settings)

    # Writing

    begin, abegin = _twins(AsyncStory.begin)
    choose, achoose = _twins(AsyncStory.choose)
    step, astep = _twins(AsyncStory.step)
    end_at, aend_at = _twins(AsyncStory.end_at)
    stream, astream = _twins(AsyncStory.stream)
    write_ahead, awrite_ahead = _twins(AsyncStory.write_ahead)
    stop_ahead, astop_ahead = _twins(AsyncStory.stop_ahead)
    ready_plans, aready_plans = _twins(AsyncStory.ready_plans)
    keep, akeep = _twins(AsyncStory.keep)
    go_on, ago_on = _twins(AsyncStory.go_on)
    discard, adiscard = _twins(AsyncStory.discard)
    retry, aretry = _twins(AsyncStory.retry)
    replan, areplan = _twins(AsyncStory.replan)

    # The tree

    tree, atree = _twins(AsyncStory.tree)
    resolve, aresolve = _twins(AsyncStory.resolve)
    passage, apassage = _twins(AsyncStory.passage)
    names, anames = _twins(AsyncStory.names)
    diff, adiff = _twins(AsyncStory.diff)
    goto, agoto = _twins(AsyncStory.goto)
    undo, aundo = _twins(AsyncStory.undo)
    redo, aredo = _twins(AsyncStory.redo)
    name_branch, aname_branch = _twins(AsyncStory.name_branch)
    remove_name, aremove_name = _twins(AsyncStory.remove_name)

    # Editing

    edit_passage, aedit_passage = _twins(AsyncStory.edit_passage)
    replay_cost, areplay_cost = _twins(AsyncStory.replay_cost)
    resume_replay, aresume_replay = _twins(AsyncStory.resume_replay)
    drop_replay, adrop_replay = _twins(AsyncStory.drop_replay)
    edit_memory, aedit_memory = _twins(AsyncStory.edit_memory)
    edit_plans, aedit_plans = _twins(AsyncStory.edit_plans)
    edit_plan, aedit_plan = _twins(AsyncStory.edit_plan)
    edit_summary, aedit_summary = _twins(AsyncStory.edit_summary)
    edit_brief, aedit_brief = _twins(AsyncStory.edit_brief)
    edit_chapter, aedit_chapter = _twins(AsyncStory.edit_chapter)
    replace, areplace = _twins(AsyncStory.replace)
    rename, arename = _twins(AsyncStory.rename)
    archive, aarchive = _twins(AsyncStory.archive)
    unarchive, aunarchive = _twins(AsyncStory.unarchive)
    rework, arework = _twins(AsyncStory.rework)

    # The codex

    codex, acodex = _twins(AsyncStory.codex)
    codex_history, acodex_history = _twins(AsyncStory.codex_history)
    edit_entry, aedit_entry = _twins(AsyncStory.edit_entry)
    add_entry, aadd_entry = _twins(AsyncStory.add_entry)
    alias_entry, aalias_entry = _twins(AsyncStory.alias_entry)
    rename_entry, arename_entry = _twins(AsyncStory.rename_entry)
    merge_entries, amerge_entries = _twins(AsyncStory.merge_entries)
    pin_entry, apin_entry = _twins(AsyncStory.pin_entry)
    hide_entry, ahide_entry = _twins(AsyncStory.hide_entry)
    remove_entry, aremove_entry = _twins(AsyncStory.remove_entry)
    import_lorebook, aimport_lorebook = _twins(AsyncStory.import_lorebook)
    accept_contradiction, aaccept_contradiction = _twins(AsyncStory.accept_contradiction)
    written_from, awritten_from = _twins(AsyncStory.written_from)

    # The book

    book, abook = _twins(AsyncStory.book)
    chapters, achapters = _twins(AsyncStory.chapters)
    export, aexport = _twins(AsyncStory.export)
    search, asearch = _twins(AsyncStory.search)

    # Deprecated names

    def another_take(self) -> Iterator[Event]:
        """Write the newest passage once more; deprecated, see `retry`."""
        warn_renamed("Story.another_take", "Story.retry")
        return self.retry()

    def aanother_take(self) -> AsyncIterator[Event]:
        """Write the newest passage once more; deprecated, see `aretry`."""
        warn_renamed("Story.aanother_take", "Story.aretry")
        return self.aretry()

    def new_plans(self) -> Iterator[Event]:
        """Propose other plans for the next passage; deprecated, see `replan`."""
        warn_renamed("Story.new_plans", "Story.replan")
        return self.replan()

    def anew_plans(self) -> AsyncIterator[Event]:
        """Propose other plans for the next passage; deprecated, see `areplan`."""
        warn_renamed("Story.anew_plans", "Story.areplan")
        return self.areplan()


class _OwnStories:
    """The user's own stories, opened when they are first needed."""

    def __init__(self) -> None:
        self.engine = default_engine()
