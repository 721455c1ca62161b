"""Passages that are written while somebody still reads: each as if its plan had been chosen, in a layer over the log.

Nothing of them is in the log, so no list shows them and a process that dies leaves none. When their plan is chosen they are
appended to it as they are, and one that is still in the making is gone on with; when anything else is done they are forgotten,
and what they cost is kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import PutOp

from recurrentgpt.engine.engine import Engine, end_tasks
from recurrentgpt.engine.session import Session, check_steps
from recurrentgpt.infrastructure.telemetry import count, counting
from recurrentgpt.memory.corrections import in_force
from recurrentgpt.memory.layered_store import LayeredStore
from recurrentgpt.models.meter import total_usage, usage_left, used_tokens
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import RecurrentGPTError
from recurrentgpt.schema.events import (
    Event,
    ProseEvent,
    StageEvent,
    done_event,
    memory_event,
    passage_event,
    plans_event,
    story_event,
)
from recurrentgpt.schema.log import AheadTally, Commit, StoryRecord
from recurrentgpt.schema.state import State, Usage
from recurrentgpt.schema.stream_buffer import StreamBuffer

logger = logging.getLogger(__name__)

NOTHING = total_usage([])
WRITTEN_BY_APPEND = ("commits", "links", "heads", "names")


@dataclass(frozen=True)
class _Basis:
    """What a passage is written from, but for its plan: while this stays, it can be chosen."""

    head: Commit
    record: StoryRecord
    context: Context


@dataclass
class _Draft:
    """One passage written ahead, and the layer over the log that it is in."""

    session: Session
    layer: LayeredStore
    buffer: StreamBuffer = field(default_factory=StreamBuffer)
    """What there is of the passage while it is written."""
    commit: Commit | None = None
    """The passage, once it is whole, with its memory and plans."""


@dataclass
class _Drafts:
    """The passages written ahead from one basis, by the number of their plan, from 1."""

    basis: _Basis | None = None
    by_plan: dict[int, _Draft] = field(default_factory=dict)


class Ahead:
    """Write the passages of the likeliest plans of one story before somebody chooses: those that stand first."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._drafts = _Drafts()
        self._work: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._unreported: list[Usage] = []
        """What was spent since a run said what it cost."""

    async def start(self, budget: int = 0, *, wait: bool = False, tell: Callable[[], None] | None = None) -> None:
        """Write passages ahead in the background, as many as the setting `ahead` says, until something else is asked for.

        At most `budget` tokens are spent on them; 0 for no limit. Called again, it goes on where it was interrupted. With
        `wait` it returns when they are there or something else was asked for. `tell` is called whenever one more is there.
        """
        context = self._session.context
        if not context.ahead:
            await self.stop()
        # A host's own vector store would keep what nobody chose.
        if not context.ahead or context.vector_store is not None:
            return
        async with self._starting:
            basis = await self._basis()
            if basis is not None and basis != self._drafts.basis:
                await self.stop()
                self._drafts = _Drafts(basis)
            if basis is None or self._session.engine.asked:
                return
            if self._work is None or self._work.done():
                self._work = self._session.engine.begin_aside(self._write_all(self._drafts, basis, budget, tell))
        if wait:
            await asyncio.wait([self._work])

    async def stop(self) -> None:
        """Let the machine go; what is written stays, and the rest goes on with the next `start`."""
        await end_tasks([self._work] if self._work else [])

    async def ready_plans(self) -> list[str]:
        """Return the plans whose passages are there already, to be had by choosing them."""
        basis = self._drafts.basis
        if basis is None or not await self._session.head() or basis != await self._basis_now():
            return []
        plans = basis.head["candidate_plans"]
        return [plans[number - 1] for number, draft in sorted(self._drafts.by_plan.items()) if draft.commit]

    async def write(self, steps: int) -> AsyncGenerator[Event]:
        """Write `steps` passages and yield the events; what is there already of a single one is taken from there."""
        check_steps(steps)
        session = self._session
        if steps == 1 and session.context.ahead and await session.head():
            async with session.writing(), aclosing(self._taken()) as taken:
                is_there = False
                async for event in taken:
                    is_there = True
                    yield event
            if is_there:
                return
        async with aclosing(session.write(steps)) as events:
            async for event in events:
                yield self._with_report(event)

    def _with_report(self, event: Event) -> Event:
        return {**event, "usage": self._report(event["usage"])} if event["event"] == "done" else event

    def _report(self, usage: Usage | None = None) -> Usage:
        spent, self._unreported = total_usage([*([usage] if usage else []), *self._unreported]), []
        return spent

    async def _basis(self) -> _Basis | None:
        """Return what the next passage is written from; None where nobody is asked for its plan."""
        session = self._session
        if not await session.head() or await session.waiting_plan() is not None:
            return None
        basis = await self._basis_now()
        # A passage that was gone back to is corrected with the first choice: what was written upon it would be lost.
        return None if await in_force(session.log, basis.head) != basis.head.get("overlay", "") else basis

    async def _basis_now(self) -> _Basis:
        session = self._session
        # Who chooses, and how long a run is, is none of the passage's business.
        context = session.context.changed(selector="human", steps=0, last_step=0, budget_tokens=0)
        return _Basis(await session.head_commit(), await session.record(), context)

    async def _write_all(self, drafts: _Drafts, basis: _Basis, budget: int, tell: Callable[[], None] | None) -> None:
        spent: list[Usage] = []
        left = budget - used_tokens(total_usage(self._unreported))
        try:
            with counting(spent.append):
                for number, _ in enumerate(basis.head["candidate_plans"][: basis.context.ahead], 1):
                    rest = left - used_tokens(total_usage(spent))
                    if budget and rest <= 0:
                        return
                    await self._write_one(drafts, basis, number, rest if budget else 0)
                    if tell is not None:
                        tell()
        except RecurrentGPTError as error:
            # Nobody asked for it: whoever chooses this plan is told, if it happens again.
            logger.info("Nothing more is written ahead of story %s: %s", self._session.id, error)
        finally:
            if spent:
                self._unreported += spent
                await self._session.log.batch([await self._tally_op(spent=total_usage(spent))])

    async def _write_one(self, drafts: _Drafts, basis: _Basis, number: int, budget: int) -> None:
        if number not in drafts.by_plan:
            layer = LayeredStore(self._session.log.store)
            engine = Engine(InMemorySaver(), layer, retry=self._session.engine.retry)
            drafts.by_plan[number] = _Draft(Session(engine, self._session.id, basis.context), layer)
        draft, head = drafts.by_plan[number], basis.head["id"]
        session = draft.session
        session.context = basis.context.changed(budget_tokens=budget)
        if await session.head() == head:
            if await session.waiting_plan() is None:
                await session.choose(number, None)
            begun = draft.buffer.settled_text
            async with aclosing(session.go_on(begun) if begun else session.write(1)) as events:
                async for event in events:
                    draft.buffer.apply(event)
        commit = await session.head_commit()
        if commit["parent"] == head:
            draft.commit = commit

    async def _taken(self) -> AsyncGenerator[Event]:
        """Write the passage of the plan that waits from what is there of it, and yield the events; nothing where nothing is.

        The caller holds the lock.
        """
        session = self._session
        waiting = await session.waiting_choice(await session.head())
        if not waiting:
            return
        draft, self._drafts = await self._chosen(waiting), _Drafts()
        if draft is not None and (commit := draft.commit or await self._just_written(draft)) is not None:
            async with aclosing(self._append(commit, draft)) as events:
                async for event in events:
                    yield event
            return
        there = await draft.session.in_the_making(draft.buffer.settled_text) if draft else None
        if there is None:
            await session.log.batch([await self._tally_op(choices=1)])
            return
        place = await session.take_over(there)
        # What it has cost so far goes along with it.
        taken = total_usage(there.values.get("usage", {}).values())
        await session.log.batch([await self._tally_op(choices=1, taken=taken)])
        count(taken)
        if there.node != "retrieve":
            text = there.values["passage"]
            yield StageEvent(event="stage", node="write")
            yield ProseEvent(event="prose", text=text, settled=len(text))
        async with aclosing(session.finish(place)) as events:
            async for event in events:
                yield self._with_report(event)

    async def _just_written(self, draft: _Draft) -> Commit | None:
        """Return the passage of a draft that was stopped between its commit and the end of its run."""
        commit, head = await draft.session.head_commit(), await self._session.head()
        return commit if commit["parent"] == head else None

    async def _append(self, commit: Commit, draft: _Draft) -> AsyncGenerator[Event]:
        """Append a whole passage to the log, and yield the events of it."""
        session, log = self._session, self._session.log
        placed = await draft.session.log.head(session.id)
        # Written once more in the same words, it is in the log already and was paid for twice.
        usage = NOTHING if await log.find(session.id, commit["id"]) else commit["usage"]
        # The log writes the others itself, as they are to be by now: a name may have been given since.
        also = [row for row in draft.layer.written() if row.namespace[len(log.root)] not in WRITTEN_BY_APPEND]
        tally = await self._tally_op(choices=1, ready=1, taken=usage)
        await log.append(commit, placed["status"] if placed else "choosing", also=[*also, tally])
        count(usage)
        await session.end_where_asked(commit["step"])
        try:
            yield story_event(await session.record())
            yield passage_event(commit)
            yield memory_event(commit)
            if commit["candidate_plans"]:
                yield plans_event(commit)
        finally:
            # It is in the log: whoever reads it need not wait for the thread.
            await session.stand_at(commit)
        yield done_event(session.id, 1, self._report())

    async def _chosen(self, waiting: State) -> _Draft | None:
        """Return the draft of the plan that waits, where it would be written from nothing else now."""
        basis = self._drafts.basis
        if basis is None or basis != await self._basis_now() or waiting.get("plan_author") != "model":
            return None
        plans = basis.head["candidate_plans"]
        found = (
            draft for number, draft in self._drafts.by_plan.items() if plans[number - 1] == waiting.get("next_plan")
        )
        return next(found, None)

    async def _tally_op(
        self, *, choices: int = 0, ready: int = 0, spent: Usage = NOTHING, taken: Usage = NOTHING
    ) -> PutOp:
        """Return the operation that adds to the tally; a passage that was `taken` carries its own cost from then on."""
        log, tally = self._session.log, await self._session.ahead_tally()
        tally = AheadTally(
            choices=tally["choices"] + choices,
            ready=tally["ready"] + ready,
            usage=usage_left(total_usage([tally["usage"], spent]), taken),
        )
        return log.put((*log.root, "ahead"), self._session.id, tally)
