"""One story in the library's event loop: everything that `Story` does, as coroutines.

A session never resumes an interrupt. Where something waits to be done, it puts the thread in place from the log with
`update_state`, and lets the graph go on: that works at any passage, also when its checkpoints are gone, and cannot meet
LangGraph's reuse of an old answer at a checkpoint that was answered before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from recurrentgpt.errors import BadAnswer, SettingsError, StoryNotFound
from recurrentgpt.events import Event, done_event, memory_event, passage_event, plans_event, story_event
from recurrentgpt.graph.context import Context
from recurrentgpt.graph.state import Choice, State, StoryInput, Usage
from recurrentgpt.library import Library
from recurrentgpt.lock import writing
from recurrentgpt.memory.chronicle import Chronicle, Commit
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.answers import Answer, check_memory, parse_answer
from recurrentgpt.nodes.commit import amend
from recurrentgpt.nodes.open_story import restored
from recurrentgpt.nodes.routes import plan_waits
from recurrentgpt.nodes.run import Run


class Session:
    """Read and write one story; made by `Story`, and used in the library's event loop only."""

    def __init__(self, library: Library, story: str, context: Context, opening: StoryInput | None) -> None:
        self.library, self.id, self.context = library, story, context
        self._opening = opening
        self._config: RunnableConfig = {"configurable": {"thread_id": story}}

    @property
    def _log(self) -> Chronicle:
        return self.library.chronicle

    async def head_id(self) -> str:
        """Return the id of the newest commit on this branch; empty before the story is opened."""
        head = await self._log.head(self.id)
        return head["head"] if head else ""

    async def head_commit(self) -> Commit:
        """Return the newest commit; raise StoryNotFound before the story is opened."""
        head = await self.head_id()
        if not head:
            raise StoryNotFound("Nothing of this story is written yet: call step() first.")
        return await self._log.get(self.id, head)

    async def _commits(self) -> list[Commit]:
        return await self._log.get_many(self.id, await self._log.path(self.id, await self.head_id()))

    async def passages(self) -> list[Commit]:
        """Return the commits from the first passage to the head."""
        return [commit for commit in await self._commits() if commit["step"]]

    async def usage(self) -> Usage:
        """Return what all passages of this branch have cost, their corrections and new plans included."""
        found = commits = await self._commits()
        while commits := await self._log.get_many(
            self.id, [commit["amends"] for commit in commits if commit["amends"]]
        ):
            found = found + commits
        return total_usage([commit["usage"] for commit in found])

    async def write(self, steps: int) -> AsyncGenerator[Event]:
        """Write `steps` passages and yield the events; where no plan was chosen, the simulator chooses."""
        if steps < 1:
            raise SettingsError(f"The number of passages to write is 1 or more; it is {steps}.")
        with writing(self.library.locks, self.id):
            head = await self._log.head(self.id)
            first = head["step"] if head else 0
            context = dataclasses.replace(self.context, selector="simulator", last_step=first + steps)
            async with aclosing(self._events(await self._start(), context)) as events:
                async for event in events:
                    yield event

    async def another_take(self) -> AsyncGenerator[Event]:
        """Write the newest passage once more from the same plan."""
        with writing(self.library.locks, self.id):
            commit = await self.head_commit()
            before = await restored(self._log, await self._log.record(self.id), commit, retake=True)
            takes = [link for link in (await self._log.links(self.id)).values() if link["parent"] == commit["parent"]]
            context = dataclasses.replace(self.context, selector="simulator", last_step=commit["step"])
            await self._seed({**before, "take": len(takes)})
            async with aclosing(self._events(None, context)) as events:
                async for event in events:
                    yield event

    async def new_plans(self) -> AsyncGenerator[Event]:
        """Propose other plans for the next passage."""
        with writing(self.library.locks, self.id):
            commit = await self.head_commit()
            now = await restored(self._log, await self._log.record(self.id), commit)
            takes = [link for link in (await self._log.links(self.id)).values() if link["step"] == commit["step"]]
            context = dataclasses.replace(self.context, selector="simulator", last_step=commit["step"])
            # No plan waits for those who ask for others.
            await self._seed({**now, "take": len(takes), "status": "replanning"})
            async with aclosing(self._events(None, context)) as events:
                async for event in events:
                    yield event

    async def _start(self) -> StoryInput | None:
        """Return what the graph is to be started with: nothing where a step is in flight, else the story's place."""
        head = await self.head_id()
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

    async def choose(self, answer: object) -> str:
        """Set the plan of the next passage, and save the choice."""
        with writing(self.library.locks, self.id):
            commit = await self.head_commit()
            chosen = parse_answer(answer, commit["candidate_plans"])
            if chosen.action not in ("choose", "edit", "write"):
                raise BadAnswer("choose() takes a number, a plan, or an object that chooses, edits or writes one.")
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

    async def edit_memory(self, text: str) -> str:
        """Replace the short-term memory after the newest passage; a choice that waits keeps waiting."""
        with writing(self.library.locks, self.id):
            commit = await self.head_commit()
            memory = check_memory(text)
            waiting = await self._waiting()
            commit = await self._amend(commit, memory)
            if waiting:
                now = await restored(self._log, await self._log.record(self.id), commit)
                await self._seed({**now, **waiting})
        return memory

    async def waiting_plan(self) -> str | None:
        """Return the plan that is chosen or being written from, if the next passage has one."""
        snapshot = await self.library.graph.aget_state(self._config)
        values = cast(State, snapshot.values)
        here = bool(snapshot.next) and values.get("head", "") == await self.head_id()
        return values["plan"] if here and plan_waits(values) else None

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
        told, unchosen = False, None
        async for mode, chunk in self._run(start, context):
            if mode == "custom":
                yield chunk
                continue
            for name, update in chunk.items():
                spent += [usage for usage in ((update or {}).get("usage") or {}).values() if usage]
                if name == "simulator" and unchosen is not None:
                    yield plans_event(unchosen, update["choice"]["index"], update["plan"], update["choice"]["why"])
                    unchosen = None
                if name != "commit":
                    continue
                if not told:
                    yield story_event(await self._log.record(self.id))
                    told = True
                commit = await self._log.get(self.id, update["head"])
                if not commit["step"]:
                    continue
                unchosen = commit
                if not commit["amends"]:
                    steps += 1
                    yield passage_event(commit)
                    yield memory_event(commit)
        if unchosen is not None and unchosen["candidate_plans"]:
            yield plans_event(unchosen, None, None, "")
        yield done_event(self.id, steps, total_usage(spent))

    async def _run(self, start: StoryInput | None, context: Context) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
        stream = self.library.graph.astream(
            start, self._config, context=context, stream_mode=["custom", "updates"], durability="sync"
        )
        async for item in stream:
            yield cast("tuple[str, dict[str, Any]]", item)
