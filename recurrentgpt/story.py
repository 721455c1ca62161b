"""`Story`: one story to open, write, choose in, read and go back in, for scripts, apps and the command line.

Every method comes twice: `step()` blocks, `astep()` is awaited. Both run in the library's background event loop.
"""

from __future__ import annotations

import asyncio
import dataclasses
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

from recurrentgpt.book_methods import BookMethods
from recurrentgpt.engine.edits import Edits
from recurrentgpt.engine.navigation import Places
from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import Ref
from recurrentgpt.engine.replay import Replay
from recurrentgpt.engine.session import Session
from recurrentgpt.infrastructure.background_loop import acall, aiterate, call, iterate
from recurrentgpt.library import Library, default_library
from recurrentgpt.memory.chronicle import StoryRecord
from recurrentgpt.nodes.open_story import check_input
from recurrentgpt.prompts.check import check_once
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import Brief, Rationale, StoryInput, Usage
from recurrentgpt.tree_methods import TreeMethods

__all__ = ["Passage", "Story"]


class Story(TreeMethods, BookMethods):
    """A story in a library: its log, and the graph that goes on writing it.

    Make one with `Story.new` or `Story.open`. Settings are the fields of `Context`, given as keywords.
    """

    def __init__(self, library: Library, story: str, context: Context, opening: StoryInput | None = None) -> None:
        if context.prompts:
            check_once(context.prompts)
        self.library, self.id, self.context = library, story, context
        session = Session(library, story, context, opening)
        self._session, self._places, self._edits, self._replay = (
            session,
            Places(session),
            Edits(session),
            Replay(session),
        )

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
        library: Library | None = None,
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
        return cls(library or default_library(), story, Context(**settings), {**opening, "story": story})

    @classmethod
    def open(cls, name: str, *, library: Library | None = None, **settings: Any) -> Story:
        """Return the story of this id, unique prefix or title; raise StoryNotFound for none or several."""
        known = library or default_library()
        return call(lambda: cls._open(known, name, settings))

    @classmethod
    async def aopen(cls, name: str, *, library: Library | None = None, **settings: Any) -> Story:
        """Open like `open`, without blocking the event loop."""
        known = library if library is not None else await asyncio.to_thread(default_library)
        return await acall(lambda: cls._open(known, name, settings))

    @classmethod
    async def _open(cls, library: Library, name: str, settings: dict[str, Any]) -> Story:
        record = await library.find(name)
        # What the story was begun with holds unless the caller says otherwise.
        kept = {name: value for name, value in record["settings"].items() if name in STORY_SETTINGS}
        return cls(library, record["story"], Context(**{**kept, **settings}))

    # Reading

    @property
    def record(self) -> StoryRecord:
        """What the story is and was begun with: title, genre, premise, brief; `brief` has what was edited since."""
        return call(lambda: self.library.chronicle.record(self.id))

    @property
    def title(self) -> str:
        """The story's title."""
        return self.record["title"]

    @property
    def brief(self) -> Brief:
        """What is pinned in every prompt of this branch: premise, characters, outline."""
        return call(self._session.brief)

    @property
    def head(self) -> str:
        """Id of the newest passage on this branch, or of the opening; empty before the story is opened."""
        return call(self._session.head_id)

    @property
    def memory(self) -> str:
        """The short-term memory after the newest passage, one sentence a line."""
        return call(self._session.head_commit)["short_term_memory"]

    @property
    def rationale(self) -> Rationale:
        """What the newest passage dropped from the memory and added to it, with reasons."""
        return call(self._session.head_commit)["rationale"]

    @property
    def plans(self) -> list[str]:
        """The plans to choose from."""
        return call(self._session.head_commit)["candidate_plans"]

    @property
    def waiting_plan(self) -> str | None:
        """The plan that is chosen and not yet written, if there is one."""
        return call(self._session.waiting_plan)

    @property
    def usage(self) -> Usage:
        """What all passages of this branch have cost."""
        return call(self._session.usage)

    @property
    def whole_usage(self) -> Usage:
        """What the story has cost on all its branches."""
        return call(self._session.whole_usage)

    def usage_at(self, at: Ref) -> Usage:
        """Return what all passages up to any place have cost."""
        return call(lambda: self._session.usage(at))

    def passages(self, at: Ref | None = None) -> list[Passage]:
        """Return the passages from the first to any place, by default the head."""
        return [Passage.of(commit) for commit in call(lambda: self._session.passages(at))]

    async def apassages(self, at: Ref | None = None) -> list[Passage]:
        """Return the passages like `passages`, without blocking the event loop."""
        return [Passage.of(commit) for commit in await acall(lambda: self._session.passages(at))]

    @property
    def settings(self) -> dict[str, Any]:
        """What the story keeps of how it is told: the fields of `Context` that hold when it is opened again."""
        return {name: getattr(self.context, name) for name in STORY_SETTINGS}

    def change_settings(self, **settings: Any) -> dict[str, Any]:
        """Change how the story is told from the next passage on, for good, and return all that it keeps.

        Raises SettingsError for a name that a story does not keep and for a value that cannot be used.
        """
        return call(lambda: self._change(settings))

    async def achange_settings(self, **settings: Any) -> dict[str, Any]:
        """Change settings like `change_settings`, without blocking the event loop."""
        return await acall(lambda: self._change(settings))

    async def _change(self, settings: dict[str, Any]) -> dict[str, Any]:
        if unknown := next((name for name in settings if name not in STORY_SETTINGS), None):
            raise SettingsError(f"A story does not keep {unknown!r}; it keeps {', '.join(STORY_SETTINGS)}.")
        changed = dataclasses.replace(self.context, **settings)
        await self._edits.settings({name: getattr(changed, name) for name in settings})
        # In place: everything that belongs to this story looks at this object.
        for name in settings:
            setattr(self.context, name, getattr(changed, name))
        return self.settings

    # Writing

    def begin(self) -> Iterator[Event]:
        """Open a new story and yield what happens: a novel up to its first passage, a story to play up to its first choice."""
        return iterate(self._session.begin)

    def abegin(self) -> AsyncIterator[Event]:
        """Open a story like `begin`, without blocking the event loop."""
        return aiterate(self._session.begin)

    def choose(self, answer: object, at: Ref | None = None) -> str:
        """Set the plan of the next passage and return it: a number from 1, a plan in your own words, or the fields of an answer.

        The choice is saved at once; the next `step` writes from it. With `at` it is the choice after any other passage,
        answered before or not, and the story goes there. Raises BadAnswer.
        """
        return call(lambda: self._session.choose(answer, at))

    async def achoose(self, answer: object, at: Ref | None = None) -> str:
        """Set the plan like `choose`, without blocking the event loop."""
        return await acall(lambda: self._session.choose(answer, at))

    def step(self) -> Passage:
        """Write the next passage and return it; where no plan was chosen, the simulator chooses."""
        for _ in self.stream(1):
            pass
        return Passage.of(call(self._session.head_commit))

    async def astep(self) -> Passage:
        """Write the next passage like `step`, without blocking the event loop."""
        async for _ in self.astream(1):
            pass
        return Passage.of(await acall(self._session.head_commit))

    def stream(self, steps: int = 1) -> Iterator[Event]:
        """Write `steps` passages and yield what happens as it happens; where no plan was chosen, the simulator chooses.

        Closing the iterator stops the writing; what was finished is saved, and the next call goes on from there.
        """
        return iterate(lambda: self._session.write(steps))

    def astream(self, steps: int = 1) -> AsyncIterator[Event]:
        """Write like `stream`, without blocking the event loop."""
        return aiterate(lambda: self._session.write(steps))

    def retry(self, at: Ref | None = None) -> Iterator[Event]:
        """Write a passage (default: the newest) once more from the same plan, and yield what happens; the log keeps both."""
        return iterate(lambda: self._session.retry(at))

    def aretry(self, at: Ref | None = None) -> AsyncIterator[Event]:
        """Write another take like `retry`, without blocking the event loop."""
        return aiterate(lambda: self._session.retry(at))

    def replan(self, at: Ref | None = None) -> Iterator[Event]:
        """Propose other plans after a passage (default: the newest), and yield what happens; the log keeps the old ones."""
        return iterate(lambda: self._session.replan(at))

    def areplan(self, at: Ref | None = None) -> AsyncIterator[Event]:
        """Propose other plans like `replan`, without blocking the event loop."""
        return aiterate(lambda: self._session.replan(at))

    def another_take(self) -> Iterator[Event]:
        """Write the newest passage once more; see `retry`."""
        return self.retry()

    def aanother_take(self) -> AsyncIterator[Event]:
        """Write another take like `another_take`, without blocking the event loop."""
        return self.aretry()

    def new_plans(self) -> Iterator[Event]:
        """Propose other plans for the next passage; see `replan`."""
        return self.replan()

    def anew_plans(self) -> AsyncIterator[Event]:
        """Propose other plans like `new_plans`, without blocking the event loop."""
        return self.areplan()
