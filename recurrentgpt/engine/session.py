"""One story in the library's event loop: everything that `Story` does, as coroutines.

A session never resumes an interrupt. Where something waits to be done, it puts the thread in place from the log with
`update_state`, and lets the graph go on: that works at any passage, also when its checkpoints are gone, and cannot meet
LangGraph's reuse of an old answer at a checkpoint that was answered before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import PutOp
from langgraph.types import StateSnapshot

from recurrentgpt.engine.refs import Ref, resolve, stand_at
from recurrentgpt.infrastructure.lock import writing
from recurrentgpt.library import Library
from recurrentgpt.memory.chronicle import Chronicle, Commit
from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.models.calls import total_usage, used_tokens
from recurrentgpt.nodes.commit import amend
from recurrentgpt.nodes.human.answers import parse_answer
from recurrentgpt.nodes.open_story import restored
from recurrentgpt.nodes.routes import budget_is_used, waiting_plan
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.schema.choice import PLAN_ACTIONS, apply_answer
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryNotFound
from recurrentgpt.schema.events import Event, done_event, memory_event, passage_event, plans_event, story_event
from recurrentgpt.schema.state import Brief, State, StoryInput, Usage


def pending(snapshot: StateSnapshot) -> list[str]:
    """Return the nodes whose step has not ended; `snapshot.next` leaves out those whose result is already saved."""
    return [task.name for task in snapshot.tasks]


class Session:
    """Read and write one story; made by `Story`, and used in the library's event loop only."""

    def __init__(self, library: Library, story: str, context: Context, opening: StoryInput | None) -> None:
        self.library, self.id, self.context = library, story, context
        self._opening = opening
        self._config: RunnableConfig = {"configurable": {"thread_id": story}}

    @property
    def log(self) -> Chronicle:
        """The story log."""
        return self.library.chronicle

    async def head_id(self) -> str:
        """Return the id of the newest commit on this branch; empty before the story is opened."""
        head = await self.log.head(self.id)
        return head["head"] if head else ""

    async def head_commit(self) -> Commit:
        """Return the newest commit; raise StoryNotFound before the story is opened."""
        head = await self.head_id()
        if not head:
            raise StoryNotFound("Nothing of this story is written yet: call step() first.")
        return await self.log.get(self.id, head)

    async def place(self, ref: Ref | None) -> tuple[Commit, str]:
        """Return the commit that a reference names, and the corrections that are in force for what is begun there.

        A passage that the head's own branch goes through is worked on with the corrections of the head: what was set right
        further on holds. Another branch has its own.
        """
        head = await self.head_commit()
        if ref is None:
            return head, head.get("overlay", "")
        commit = await self.log.get(self.id, await resolve(self.log, self.id, ref))
        own, now = commit.get("overlay", ""), head.get("overlay", "")
        if own == now or commit["id"] not in await self.log.path(self.id, head["id"]):
            return commit, own
        return commit, now

    async def brief(self) -> Brief:
        """Return what is pinned in every prompt from the head on."""
        record, head = await self.log.record(self.id), await self.head_commit()
        overlay = await read_overlay(self.log, self.id, head.get("overlay", ""))
        return {**overlay.get("brief", record["brief"]), "title": record["title"]}

    async def _commits(self, ref: Ref | None) -> list[Commit]:
        head = await self.head_id() if ref is None else await resolve(self.log, self.id, ref)
        return await self.log.get_many(self.id, await self.log.path(self.id, head))

    async def passages(self, ref: Ref | None = None) -> list[Commit]:
        """Return the commits from the first passage to a place, by default the head."""
        return [commit for commit in await self._commits(ref) if commit["step"]]

    async def usage(self, ref: Ref | None = None) -> Usage:
        """Return what all passages up to there have cost, the opening, corrections and new plans included."""
        found = commits = await self._commits(ref)
        while commits := await self.log.get_many(self.id, [commit["amends"] for commit in commits if commit["amends"]]):
            found = found + commits
        return total_usage([commit["usage"] for commit in found])

    async def whole_usage(self) -> Usage:
        """Return what the story has cost on all its branches."""
        commits = await self.log.get_many(self.id, list(await self.log.links(self.id)))
        return total_usage([commit["usage"] for commit in commits])

    async def write(self, steps: int) -> AsyncGenerator[Event]:
        """Write `steps` passages and yield the events; where no plan was chosen, the simulator chooses."""
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
            raise SettingsError(f"The number of passages to write is a whole number from 1 on; it is {steps!r}.")
        async with writing(self.library.locks, self.id):
            head = await self.log.head(self.id)
            first = head["step"] if head else 0
            context = dataclasses.replace(self.context, selector="simulator", last_step=first + steps)
            async with aclosing(self._events(await self._start(), context)) as events:
                async for event in events:
                    yield event

    async def begin(self) -> AsyncGenerator[Event]:
        """Open the story, and write its first passage unless somebody has to choose before."""
        async with writing(self.library.locks, self.id):
            context = dataclasses.replace(self.context, selector="human", last_step=1)
            async with aclosing(self._events(await self._start(), context)) as events:
                async for event in events:
                    yield event

    async def retry(self, ref: Ref | None) -> AsyncGenerator[Event]:
        """Write a passage once more from the same plan."""
        async with writing(self.library.locks, self.id):
            commit, overlay = await self.place(ref)
            record = await self.log.record(self.id)
            before = await restored(self.log, record, commit, retake=True, overlay=overlay)
            takes = [link for link in (await self.log.links(self.id)).values() if link["parent"] == commit["parent"]]
            async for event in self._once({**before, "take": len(takes)}, commit["step"]):
                yield event

    async def replan(self, ref: Ref | None) -> AsyncGenerator[Event]:
        """Propose other plans after a passage."""
        async with writing(self.library.locks, self.id):
            async for event in self.replanned(*await self.place(ref)):
                yield event

    async def replanned(self, commit: Commit, overlay: str) -> AsyncGenerator[Event]:
        """Propose other plans after a commit; the lock is held."""
        now = await restored(self.log, await self.log.record(self.id), commit, overlay=overlay)
        takes = [link for link in (await self.log.links(self.id)).values() if link["step"] == commit["step"]]
        # No plan waits for those who ask for others.
        async for event in self._once({**now, "take": len(takes), "status": "replanning"}, commit["step"]):
            yield event

    async def _once(self, values: dict[str, Any], step: int) -> AsyncGenerator[Event]:
        """Put the thread in place, and let the graph run to the end of passage `step`."""
        context = dataclasses.replace(self.context, selector="simulator", last_step=step)
        await self._seed(values)
        # No passage is the last one at the opening: there a run ends behind its commit.
        async with aclosing(self._events(None, context, once=not step)) as events:
            async for event in events:
                yield event

    async def _start(self) -> StoryInput | None:
        """Return what the graph is to be started with: nothing where a step is in flight, else the story's place."""
        head = await self.head_id()
        snapshot = await self.library.graph.aget_state(self._config)
        # A step is in flight when the thread stands inside it, behind the same commit as the log.
        tasks = pending(snapshot)
        # A run that was stopped while it opened the story has nothing in flight, and one that is resumed there ends at once.
        opening = head and tasks == ["open_story"]
        if tasks and "select_plan" not in tasks and not opening and snapshot.values.get("head", "") == head:
            return None
        if head:
            # An empty plan, for the thread may hold one that was chosen elsewhere and waits there.
            return StoryInput(story=self.id, head=head, plan="")
        if self._opening is None:
            raise StoryNotFound(f"There is no story {self.id!r}; `recurrentgpt stories` lists them.")
        return self._opening

    async def _seed(self, values: dict[str, Any]) -> None:
        """Put the thread where `values` say, as if the story had just been opened there; saved at once."""
        fresh = {"spent": 0, "dearest": 0, **values}
        await self.library.graph.aupdate_state(self._config, fresh, as_node="open_story")

    async def choose(self, answer: object, ref: Ref | None) -> str:
        """Set the plan of the passage after this one, and save the choice; the head goes there."""
        async with writing(self.library.locks, self.id):
            commit, overlay = await self.place(ref)
            chosen = parse_answer(answer, commit["candidate_plans"])
            if chosen.action not in PLAN_ACTIONS:
                raise BadAnswer("choose() takes a number, a plan, or an object that chooses, edits or writes one.")
            memory = {} if chosen.memory is None else {"short_term_memory": chosen.memory}
            there = await amend(self.run(), commit, {**memory, "overlay": overlay}, passage=commit["passage"])
            await self._go(there)
            now = await restored(self.log, await self.log.record(self.id), there)
            await self._seed({**now, **apply_answer(chosen), "written_plan": ""})
        return chosen.plan

    async def amended(
        self, commit: Commit, changes: dict[str, Any], overlay: str, also: Sequence[PutOp] = ()
    ) -> Commit:
        """Append a corrected version of a commit and move the head there; a choice that waits keeps waiting."""
        waiting = await self.waiting(commit["id"])
        changes = {"overlay": overlay, **changes}
        corrected = await amend(self.run(), commit, changes, passage=commit["passage"], also=also)
        await self._go(corrected)
        await self.wait_on(corrected, waiting)
        return corrected

    async def _go(self, commit: Commit) -> None:
        """Move the head to a commit where it is not there."""
        if commit["id"] != await self.head_id():
            await stand_at(self.log, commit)

    def run(self) -> StoryRuntime:
        """Return the surroundings of a node, for what is done without the graph."""
        return StoryRuntime(context=self.context, chronicle=self.log, emit=lambda event: None)

    async def waiting_plan(self) -> str | None:
        """Return the plan that is chosen or being written from, if the next passage has one."""
        snapshot = await self.library.graph.aget_state(self._config)
        values = cast(State, snapshot.values)
        here = bool(pending(snapshot)) and values.get("head", "") == await self.head_id()
        return waiting_plan(values) or None if here else None

    async def waiting(self, head: str) -> dict[str, Any]:
        """Return the choice that was made after the commit `head` and not written from yet, if any."""
        snapshot = await self.library.graph.aget_state(self._config)
        if pending(snapshot) != ["retrieve"] or snapshot.values.get("head") != head:
            return {}
        names = ("plan", "next_plan", "plan_author", "choice", "written_plan", "status", "take")
        return {name: snapshot.values[name] for name in names if name in snapshot.values}

    async def wait_on(self, commit: Commit, waiting: dict[str, Any]) -> None:
        """Let a choice that was made wait behind `commit`, which is what the story goes on from now."""
        if waiting:
            await self._seed({**await restored(self.log, await self.log.record(self.id), commit), **waiting})

    async def _events(self, start: StoryInput | None, context: Context, *, once: bool = False) -> AsyncGenerator[Event]:
        """Run the graph and yield its events, and at the end what it wrote and what that cost."""
        steps, spent, used_up = 0, list[Usage](), False
        told, unchosen = False, None
        async for mode, chunk in self._run(start, context, once):
            if mode == "custom":
                yield chunk
                continue
            for name, update in chunk.items():
                if name == "__interrupt__":
                    continue
                spent += [usage for usage in ((update or {}).get("usage") or {}).values() if usage]
                if name == "simulator":
                    if not told:
                        yield story_event(await self.log.record(self.id))
                        told = True
                    offered = unchosen or await self.head_commit()
                    yield plans_event(offered, update["choice"]["index"], update["plan"], update["choice"]["why"])
                    unchosen = None
                if name != "commit":
                    continue
                if not told:
                    yield story_event(await self.log.record(self.id))
                    told = True
                commit = await self.log.get(self.id, update["head"])
                used_up = commit["step"] != context.last_step and budget_is_used(cast(State, update), context)
                # In a novel the opening's first plan is written at once; whoever plays is asked who to be.
                if not commit["step"]:
                    unchosen = commit if context.mode == "fiction" else None
                    continue
                unchosen = commit
                if not commit["amends"]:
                    steps += 1
                    yield passage_event(commit)
                    yield memory_event(commit)
        if unchosen is not None and unchosen["candidate_plans"]:
            yield plans_event(unchosen, None, None, "")
        yield done_event(self.id, steps, total_usage(spent), stopped="budget" if used_up else None)

    async def _run(
        self, start: StoryInput | None, context: Context, once: bool
    ) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
        if start is None and context.budget_tokens:
            # What an earlier run spent on the step in flight is not this one's.
            values = (await self.library.graph.aget_state(self._config)).values
            before = values.get("spent", 0) + used_tokens(total_usage(values.get("usage", {}).values()))
            context = dataclasses.replace(context, budget_tokens=context.budget_tokens + before)
        stream = self.library.graph.astream(
            start,
            self._config,
            context=context,
            stream_mode=["custom", "updates"],
            durability="sync",
            interrupt_after=["commit"] if once else None,
        )
        async for item in stream:
            yield cast("tuple[str, dict[str, Any]]", item)
