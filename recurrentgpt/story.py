"""`Story`: one story to open, write, choose in, read and go back in, for scripts, apps and the command line.

Every method comes twice: `step()` blocks, `astep()` is awaited. Both run in the library's background event loop.
"""

from __future__ import annotations

import asyncio
import dataclasses
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig

from recurrentgpt.errors import BadAnswer, SettingsError, StoryNotFound
from recurrentgpt.graph.context import Context
from recurrentgpt.graph.state import Brief, Choice, Rationale, StoryInput, Usage
from recurrentgpt.library import Library, default_library
from recurrentgpt.lock import writing
from recurrentgpt.loop import acall, aiterate, call, iterate
from recurrentgpt.memory.chronicle import Chronicle, Commit, StoryRecord
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.answers import Answer, check_memory, parse_answer
from recurrentgpt.nodes.commit import amend
from recurrentgpt.nodes.open_story import check_input, restored
from recurrentgpt.nodes.run import Run

Event = dict[str, Any]
"""One thing that happened while writing; `event` names it. `recurrentgpt write --json` prints the same objects."""


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
    def of(cls, commit: Commit, parent: str | None) -> Passage:
        """Return the passage of a commit; `parent` is None for the first one."""
        return cls(
            id=commit["id"],
            parent=parent,
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
        self._opening = opening
        self._config: RunnableConfig = {"configurable": {"thread_id": story}}

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
        known = library or await asyncio.to_thread(default_library)
        return await acall(lambda: cls._open(known, name, settings))

    @classmethod
    async def _open(cls, library: Library, name: str, settings: dict[str, Any]) -> Story:
        record = await library.find(name)
        # What the story was begun with holds unless the caller says otherwise.
        return cls(library, record["story"], Context(**{**record["settings"], **settings}))

    # Reading

    @property
    def record(self) -> StoryRecord:
        """What the story is: title, genre, premise, brief."""
        return call(lambda: self._log.record(self.id))

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
        return call(self._head_id)

    @property
    def memory(self) -> str:
        """The short-term memory after the newest passage, one sentence a line."""
        return call(self._head_commit)["short_term_memory"]

    @property
    def rationale(self) -> Rationale:
        """What the newest passage dropped from the memory and added to it, with reasons."""
        return call(self._head_commit)["rationale"]

    @property
    def plans(self) -> list[str]:
        """The plans to choose from."""
        return call(self._head_commit)["candidate_plans"]

    @property
    def usage(self) -> Usage:
        """What all passages of this branch have cost."""
        return call(self._usage)

    def passages(self) -> list[Passage]:
        """Return the passages from the first to the head."""
        return call(self._passages)

    async def apassages(self) -> list[Passage]:
        """Return the passages like `passages`, without blocking the event loop."""
        return await acall(self._passages)

    # Writing

    def choose(self, answer: object) -> str:
        """Set the plan of the next passage and return it: a number from 1, a plan in your own words, or the fields of an answer.

        The choice is saved at once; the next `step` writes from it. Raises BadAnswer.
        """
        return call(lambda: self._choose(answer))

    async def achoose(self, answer: object) -> str:
        """Set the plan like `choose`, without blocking the event loop."""
        return await acall(lambda: self._choose(answer))

    def edit_memory(self, text: str) -> str:
        """Replace the short-term memory after the newest passage and return it, one sentence a line.

        The log keeps the old one: the edit is a corrected sibling of the newest passage. Raises BadAnswer beyond the
        ceilings of 20 sentences and 500 words.
        """
        return call(lambda: self._edit_memory(text))

    async def aedit_memory(self, text: str) -> str:
        """Replace the memory like `edit_memory`, without blocking the event loop."""
        return await acall(lambda: self._edit_memory(text))

    def step(self) -> Passage:
        """Write the next passage and return it; where no plan was chosen, the simulator chooses."""
        for _ in self.stream(1):
            pass
        return self.passages()[-1]

    async def astep(self) -> Passage:
        """Write the next passage like `step`, without blocking the event loop."""
        async for _ in self.astream(1):
            pass
        return (await self.apassages())[-1]

    def stream(self, steps: int = 1) -> Iterator[Event]:
        """Write `steps` passages and yield what happens as it happens; where no plan was chosen, the simulator chooses.

        Closing the iterator stops the writing; what was finished is saved, and the next call goes on from there.
        """
        return iterate(lambda: self._write(steps))

    def astream(self, steps: int = 1) -> AsyncIterator[Event]:
        """Write like `stream`, without blocking the event loop."""
        return aiterate(lambda: self._write(steps))

    def another_take(self) -> Iterator[Event]:
        """Write the newest passage once more from the same plan, and yield what happens; both takes stay in the log."""
        return iterate(self._another_take)

    def aanother_take(self) -> AsyncIterator[Event]:
        """Write another take like `another_take`, without blocking the event loop."""
        return aiterate(self._another_take)

    def new_plans(self) -> Iterator[Event]:
        """Propose other plans for the next passage, and yield what happens; the log keeps the old ones."""
        return iterate(self._new_plans)

    def anew_plans(self) -> AsyncIterator[Event]:
        """Propose other plans like `new_plans`, without blocking the event loop."""
        return aiterate(self._new_plans)

    # In the library's event loop

    @property
    def _log(self) -> Chronicle:
        return self.library.chronicle

    async def _head_id(self) -> str:
        head = await self._log.head(self.id)
        return head["head"] if head else ""

    async def _head_commit(self) -> Commit:
        head = await self._head_id()
        if not head:
            raise StoryNotFound("Nothing of this story is written yet: call step() first.")
        return await self._log.get(self.id, head)

    async def _commits(self) -> list[Commit]:
        return await self._log.get_many(self.id, await self._log.path(self.id, await self._head_id()))

    async def _passages(self) -> list[Passage]:
        commits = [commit for commit in await self._commits() if commit["step"]]
        parents = [None, *(commit["id"] for commit in commits)]
        return [Passage.of(commit, parent) for commit, parent in zip(commits, parents, strict=False)]

    async def _usage(self) -> Usage:
        return total_usage([commit["usage"] for commit in await self._commits()])

    async def _write(self, steps: int) -> AsyncGenerator[Event]:
        if steps < 1:
            raise SettingsError(f"The number of passages to write is 1 or more; it is {steps}.")
        with writing(self.library.locks, self.id):
            head = await self._log.head(self.id)
            first = head["step"] if head else 0
            context = dataclasses.replace(self.context, selector="simulator", last_step=first + steps)
            async with aclosing(self._events(await self._start(), context)) as events:
                async for event in events:
                    yield event

    async def _another_take(self) -> AsyncGenerator[Event]:
        with writing(self.library.locks, self.id):
            commit = await self._head_commit()
            before = await restored(self._log, await self._log.record(self.id), commit, retake=True)
            takes = [link for link in (await self._log.links(self.id)).values() if link["parent"] == commit["parent"]]
            context = dataclasses.replace(self.context, selector="simulator", last_step=commit["step"])
            await self._seed({**before, "take": len(takes)})
            async with aclosing(self._events(None, context)) as events:
                async for event in events:
                    yield event

    async def _new_plans(self) -> AsyncGenerator[Event]:
        with writing(self.library.locks, self.id):
            commit = await self._head_commit()
            now = await restored(self._log, await self._log.record(self.id), commit)
            takes = [link for link in (await self._log.links(self.id)).values() if link["step"] == commit["step"]]
            context = dataclasses.replace(self.context, selector="simulator", last_step=commit["step"])
            await self._seed({**now, "take": len(takes), "status": "replanning"})
            async with aclosing(self._events(None, context)) as events:
                async for event in events:
                    yield event

    async def _start(self) -> StoryInput | None:
        """Return what the graph is to be started with: nothing where a step is in flight, else the story's place."""
        head = await self._head_id()
        snapshot = await self.library.graph.aget_state(self._config)
        # A step is in flight when the thread stands inside it, behind the same commit as the log.
        if snapshot.next and "select_plan" not in snapshot.next and snapshot.values.get("head", "") == head:
            return None
        if head:
            return StoryInput(story=self.id, head=head)
        if self._opening is None:
            raise StoryNotFound(f"There is no story {self.id!r}; `recurrentgpt stories` lists them.")
        return self._opening

    async def _seed(self, values: dict[str, Any]) -> None:
        """Put the thread where `values` say, as if the story had just been opened there; saved at once."""
        await self.library.graph.aupdate_state(self._config, values, as_node="open_story")

    async def _choose(self, answer: object) -> str:
        with writing(self.library.locks, self.id):
            commit = await self._head_commit()
            chosen = parse_answer(answer, commit["candidate_plans"])
            if chosen.action not in ("choose", "edit", "write"):
                raise BadAnswer(f"choose() sets a plan; for {chosen.action} there is a method of its own.")
            if chosen.memory is not None:
                commit = await self._amend(commit, chosen.memory)
            await self._plan(commit, chosen.plan, chosen)
        return chosen.plan

    async def _plan(self, commit: Commit, plan: str, answer: Answer) -> None:
        author = "model" if answer.action == "choose" else "human"
        choice = Choice(index=answer.index, by="human", why="")
        now = await restored(self._log, await self._log.record(self.id), commit)
        chosen = {"plan": plan, "plan_author": author, "choice": choice, "status": "writing", "written_plan": ""}
        await self._seed({**now, **chosen})

    async def _edit_memory(self, text: str) -> str:
        with writing(self.library.locks, self.id):
            commit = await self._head_commit()
            memory = check_memory(text)
            waiting = await self._waiting()
            commit = await self._amend(commit, memory)
            if waiting:
                now = await restored(self._log, await self._log.record(self.id), commit)
                await self._seed({**now, **waiting})
        return memory

    async def _waiting(self) -> dict[str, Any]:
        """Return the choice that was made and not written from yet, if any."""
        snapshot = await self.library.graph.aget_state(self._config)
        if snapshot.next != ("retrieve",):
            return {}
        names = ("plan", "plan_author", "choice", "written_plan", "status", "take")
        return {name: snapshot.values[name] for name in names if name in snapshot.values}

    async def _amend(self, commit: Commit, memory: str) -> Commit:
        run = Run(context=self.context, chronicle=self._log, emit=lambda event: None)
        return await amend(run, commit, {"short_term_memory": memory}, passage=commit["passage"])

    async def _events(self, start: StoryInput | None, context: Context) -> AsyncGenerator[Event]:
        """Run the graph and yield its events, and at the end what it wrote and what that cost."""
        steps, spent = 0, list[Usage]()
        told = False
        last: Commit | None = None
        stream = self.library.graph.astream(
            start, self._config, context=context, stream_mode=["custom", "updates"], durability="sync"
        )
        async for mode, chunk in stream:
            if mode == "custom":
                yield chunk
                continue
            for name, update in chunk.items():
                spent += [usage for usage in ((update or {}).get("usage") or {}).values() if usage]
                if name == "simulator" and last is not None:
                    yield plans_event(last, update["choice"]["index"], update["plan"], update["choice"]["why"])
                    last = None
                if name != "commit":
                    continue
                commit = await self._log.get(self.id, update["head"])
                if not told:
                    record = await self._log.record(self.id)
                    yield {"event": "story", "story": self.id, "title": record["title"], "genre": record["genre"]}
                    told = True
                if commit["step"]:
                    steps += not commit["amends"]
                    for event in await self._committed(commit):
                        yield event
                    last = commit
        if last is not None:
            yield plans_event(last, None, None, "")
        usage = total_usage(spent)
        yield {"event": "done", "story": self.id, "steps": steps, "usage": usage}

    async def _committed(self, commit: Commit) -> list[Event]:
        return [passage_event(commit, await self._shown_parent(commit)), memory_event(commit)]

    async def _shown_parent(self, commit: Commit) -> str | None:
        """Return the passage before this one; the opening is none."""
        return commit["parent"] if commit["step"] > 1 else None


def passage_event(commit: Commit, parent: str | None) -> Event:
    """Return the event of a finished passage."""
    return {
        "event": "passage",
        "story": commit["story"],
        "id": commit["id"],
        "parent": parent,
        "step": commit["step"],
        "plan": commit["plan"],
        "text": commit["passage"],
    }


def memory_event(commit: Commit) -> Event:
    """Return the event of a rewritten memory."""
    return {
        "event": "memory",
        "step": commit["step"],
        "short_term_memory": commit["short_term_memory"],
        "dropped": commit["rationale"]["dropped"],
        "added": commit["rationale"]["added"],
        "recalled": commit["recalled"],
    }


def plans_event(commit: Commit, chosen: int | None, plan: str | None, why: str) -> Event:
    """Return the event of proposed plans; nothing is chosen where the run ends."""
    return {
        "event": "plans",
        "step": commit["step"],
        "plans": commit["candidate_plans"],
        "chosen": chosen,
        "plan": plan,
        "why": why,
    }
