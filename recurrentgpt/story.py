"""`Story`: one story to open, write, choose in, read and go back in, for scripts, apps and the command line.

Every method comes twice: `step()` blocks, `astep()` is awaited. Both run in the library's background event loop.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from recurrentgpt.events import Event, shown_parent
from recurrentgpt.graph.context import STORY_SETTINGS, Context
from recurrentgpt.graph.state import Brief, Rationale, StoryInput, Usage
from recurrentgpt.library import Library, default_library
from recurrentgpt.loop import acall, aiterate, call, iterate
from recurrentgpt.memory.chronicle import Commit, StoryRecord
from recurrentgpt.nodes.open_story import check_input
from recurrentgpt.session import Session


@dataclass(frozen=True)
class Passage:
    """One passage of the story and what it left behind."""

    id: str
    parent: str | None
    step: int
    plan: str
    text: str
    summary: str
    short_term_memory: str
    author: str
    usage: Usage

    @classmethod
    def of(cls, commit: Commit) -> Passage:
        """Return the passage of a commit."""
        return cls(
            id=commit["id"],
            parent=shown_parent(commit),
            step=commit["step"],
            plan=commit["plan"],
            text=commit["passage"],
            summary=commit["summary"],
            short_term_memory=commit["short_term_memory"],
            author=commit["author"],
            usage=commit["usage"],
        )


class Story:
    """A story in a library: its log, and the graph that goes on writing it.

    Make one with `Story.new` or `Story.open`. Settings are the fields of `Context`, given as keywords.
    """

    def __init__(self, library: Library, story: str, context: Context, opening: StoryInput | None = None) -> None:
        self.library, self.id, self.context = library, story, context
        self._session = Session(library, story, context, opening)

    @classmethod
    def new(
        cls,
        genre: str = "",
        premise: str = "",
        *,
        title: str = "",
        plan: str = "",
        short_term_memory: str = "",
        library: Library | None = None,
        **settings: Any,
    ) -> Story:
        """Return a new story, of which nothing is written yet; the first `step` opens it.

        With `plan` and `short_term_memory` it goes on from somebody's own beginning. Raises SettingsError for an input
        or a setting that cannot be used.
        """
        opening = StoryInput(genre=genre, premise=premise, title=title, plan=plan, short_term_memory=short_term_memory)
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
        """What the story is: title, genre, premise, brief."""
        return call(lambda: self.library.chronicle.record(self.id))

    @property
    def title(self) -> str:
        """The story's title."""
        return self.record["title"]

    @property
    def brief(self) -> Brief:
        """What is pinned in every prompt: premise, characters, outline."""
        return self.record["brief"]

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

    def passages(self) -> list[Passage]:
        """Return the passages from the first to the head."""
        return [Passage.of(commit) for commit in call(self._session.passages)]

    async def apassages(self) -> list[Passage]:
        """Return the passages like `passages`, without blocking the event loop."""
        return [Passage.of(commit) for commit in await acall(self._session.passages)]

    # Writing

    def choose(self, answer: object) -> str:
        """Set the plan of the next passage and return it: a number from 1, a plan in your own words, or the fields of an answer.

        The choice is saved at once; the next `step` writes from it. Raises BadAnswer.
        """
        return call(lambda: self._session.choose(answer))

    async def achoose(self, answer: object) -> str:
        """Set the plan like `choose`, without blocking the event loop."""
        return await acall(lambda: self._session.choose(answer))

    def edit_memory(self, text: str) -> str:
        """Replace the short-term memory after the newest passage and return it, one sentence a line.

        The log keeps the old one: the edit is a corrected sibling of the newest passage. Raises BadAnswer beyond the
        ceilings of 20 sentences and 500 words.
        """
        return call(lambda: self._session.edit_memory(text))

    async def aedit_memory(self, text: str) -> str:
        """Replace the memory like `edit_memory`, without blocking the event loop."""
        return await acall(lambda: self._session.edit_memory(text))

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

    def another_take(self) -> Iterator[Event]:
        """Write the newest passage once more from the same plan, and yield what happens; both takes stay in the log."""
        return iterate(self._session.another_take)

    def aanother_take(self) -> AsyncIterator[Event]:
        """Write another take like `another_take`, without blocking the event loop."""
        return aiterate(self._session.another_take)

    def new_plans(self) -> Iterator[Event]:
        """Propose other plans for the next passage, and yield what happens; the log keeps the old ones."""
        return iterate(self._session.new_plans)

    def anew_plans(self) -> AsyncIterator[Event]:
        """Propose other plans like `new_plans`, without blocking the event loop."""
        return aiterate(self._session.new_plans)
