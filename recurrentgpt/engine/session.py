"""One story at work: where it stands, and everything that writes passages or corrections of it.

A session never resumes an interrupt. Where something waits to be done, it puts the thread in place from the log with
`update_state`, and lets the graph go on: that works at any passage, also when its checkpoints are gone, and cannot meet
LangGraph's reuse of an old answer at a checkpoint that was answered before.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, NamedTuple, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import PutOp
from langgraph.types import StateSnapshot

from recurrentgpt.engine.engine import Engine
from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.engine.refs import Ref, move_head
from recurrentgpt.memory.corrections import Overlay, in_force, overlay_op
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.calls import total_usage, used_tokens
from recurrentgpt.nodes.by_hand import amend
from recurrentgpt.nodes.continuity_judge import check_passage, set_judge
from recurrentgpt.nodes.human.answers import is_played, parse_answer
from recurrentgpt.nodes.human.phrases import offers_action
from recurrentgpt.nodes.open_story import language_of
from recurrentgpt.nodes.restored_state import restored
from recurrentgpt.nodes.routes import budget_is_used, coming_plan, plan_in_hand, waiting_plan
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.nodes.write import plans_to_come, written
from recurrentgpt.schema.choice import PLAN_ACTIONS, Answer, let_plan_wait
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError, StoryNotFound
from recurrentgpt.schema.events import (
    Event,
    done_event,
    from_stream,
    memory_event,
    passage_event,
    plans_event,
    story_event,
)
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.state import KEPT_PLAN, State, StoryInput, Usage


def pending(snapshot: StateSnapshot) -> list[str]:
    """Return the nodes whose step has not ended; `snapshot.next` leaves out those whose result is already saved."""
    return [task.name for task in snapshot.tasks]


OPENING = ["open_story"]
"""What a run still has to do that was stopped while it opened the story: its state is of where the story was before."""


class InTheMaking(NamedTuple):
    """How far a passage has come."""

    node: str
    """The last node of its timestep that has ended."""
    values: State


def check_steps(steps: object) -> None:
    """Raise SettingsError for what is no number of passages to write."""
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        raise SettingsError(f"The number of passages to write is a whole number from 1 on; it is {steps!r}.")


def parse_choice(raw: object, plans: list[str], *, played: bool) -> Answer:
    """Return an answer that sets the next plan; raise BadAnswer, which offers no other, for one that does not."""
    sets_plan = f"Answer with a number from 1 to {len(plans)} or with a plan of your own in a sentence."
    try:
        answer = parse_answer(raw, plans, played=played)
    except BadAnswer as fault:
        parts = re.split(r"(?<=[.?!]) ", str(fault))
        kept = [part for part in parts if not offers_action(part)]
        if kept == parts:
            raise
        raise BadAnswer(" ".join((*kept, sets_plan))) from None
    if answer.action not in PLAN_ACTIONS:
        raise BadAnswer(f"`{answer.action.replace('_', ' ')}` sets no plan. {sets_plan}")
    return answer


class Session(StoryReader):
    """Write one story as well as read it, in the event loop in which its engine was opened."""

    def __init__(self, engine: Engine, story: str, context: Context, opening: StoryInput | None = None) -> None:
        super().__init__(engine.log, story)
        self.engine, self.context = engine, context
        self._opening = opening
        self.kept: Mapping[str, Any] = {}
        """What the story keeps of how it is told, as far as it was seen."""
        self._config: RunnableConfig = {"configurable": {"thread_id": story}}

    @property
    def log(self) -> StoryLog:
        """The story log."""
        return self.engine.log

    def writing(self) -> AbstractAsyncContextManager[None]:
        """Hold the right to write this story; raise StoryBusy where somebody else holds it."""
        return self.engine.writing(self.id)

    # Reading

    async def settings(self) -> dict[str, object]:
        """Return what the story keeps of how it is told, as it was opened."""
        return {name: getattr(self.context, name) for name in STORY_SETTINGS}

    async def waiting_plan(self) -> str | None:
        """Return the plan of the passage after the head: chosen, or being written from at this moment; None where none is."""
        snapshot = await self.engine.graph.aget_state(self._config)
        values = cast(State, snapshot.values)
        if pending(snapshot) in ([], OPENING) or values.get("head", "") != await self.head():
            return None
        if "plan" not in values and "next_plan" not in values:
            # A step in flight from before this channel, half done: a snapshot has no `plan` of it any more, its checkpoint has.
            saved = await cast(BaseCheckpointSaver[str], self.engine.graph.checkpointer).aget_tuple(self._config)
            values["plan"] = saved.checkpoint["channel_values"].get("plan", "") if saved else ""
        return coming_plan(values) or None

    # Writing

    async def write(self, steps: int) -> AsyncGenerator[Event]:
        """Write `steps` passages and yield the events; where no plan was chosen, the simulator chooses."""
        check_steps(steps)
        async with self.writing():
            head = await self.log.head(self.id)
            last = (head["step"] if head else 0) + steps
            await self.end_where_asked(last)
            async with aclosing(self._run(await self._start(), selector="simulator", last_step=last)) as events:
                async for event in events:
                    yield event

    async def end_at(self, step: int) -> None:
        """Keep that the story ends with this passage, for every later run that writes of it."""
        check_steps(step)
        async with self.writing():
            await self._end_at(step)

    async def end_where_asked(self, step: int) -> None:
        """Keep that the story ends with this passage where the run is to end it; the caller holds the lock."""
        if self.context.ending:
            await self._end_at(step)

    async def _end_at(self, step: int) -> None:
        """Do as `end_at` does; the caller holds the lock."""
        if self.context.length == step:
            return
        self.context.length = step
        if await self.head():
            record = await self.log.record(self.id)
            await self.log.put_record({**record, "settings": {**record["settings"], "length": step}})

    async def begin(self) -> AsyncGenerator[Event]:
        """Open the story, and write its first passage unless somebody has to choose before."""
        async with self.writing(), aclosing(self._run(await self._start(), selector="human", last_step=1)) as events:
            async for event in events:
                yield event

    async def keep(self, passage: str) -> AsyncGenerator[Event]:
        """Take these words for the passage whose writing was stopped, and go on from there; a finished one stays as it is."""
        async with self.writing():
            _, snapshot = await self._newest_and_before()
            values, config = cast(State, snapshot.values), self._config
            match pending(snapshot):
                case ["write"]:
                    plan = plan_in_hand(values)
                    checked = await self._checked(values, passage)
                    waiting = await plans_to_come(self.runtime())
                    values = {**written(values, passage, plan, []), **checked, **waiting}
                    config = await self.engine.graph.aupdate_state(self._config, values, as_node="write")
                case ["update_memory" | "propose_plans" | "commit", *_]:
                    pass
                case _:
                    raise StoryError("No passage is in the making: there is nothing to keep.")
            async with aclosing(self._run(None, config, selector="simulator", last_step=values["step"])) as events:
                async for event in events:
                    yield event

    async def go_on(self, begun: str) -> AsyncGenerator[Event]:
        """Write a passage whose writing was stopped to its end, from these whole sentences of it."""
        async with self.writing():
            snapshot = await self.engine.graph.aget_state(self._config)
            values, config = cast(State, snapshot.values), self._config
            last = values.get("step", 0)
            match pending(snapshot):
                case ["write"] if snapshot.next:  # else it has just ended
                    there: State = {"plan": plan_in_hand(values), "begun": begun}
                    config = await self.engine.graph.aupdate_state(self._config, there, as_node="retrieve")
                    last += 1
                case ["retrieve"]:
                    last += 1
                case ["write" | "update_memory" | "propose_plans" | "commit", *_]:
                    pass
                case _:
                    raise StoryError("No passage is in the making: there is nothing to go on with.")
            async with aclosing(self._run(None, config, selector="simulator", last_step=last)) as events:
                async for event in events:
                    yield event

    async def in_the_making(self, begun: str) -> InTheMaking | None:
        """Return how far a passage has come whose writing was stopped, with its whole sentences; None where nothing is of it."""
        newest, snapshot = await self._newest_and_before()
        values = cast(State, snapshot.values)
        match pending(snapshot):
            case ["write"] if not newest.next:
                return InTheMaking("write", cast(State, newest.values))  # it has just ended
            case ["write"] if begun := begun or values.get("begun", ""):
                return InTheMaking("retrieve", {**values, "plan": plan_in_hand(values), "begun": begun})
            case ["update_memory", *_]:
                return InTheMaking("write", values)
            case ["propose_plans"]:
                return InTheMaking("update_memory", values)
        return None

    async def take_over(self, there: InTheMaking) -> RunnableConfig:
        """Put the thread where another one has come to with the passage behind the head; the caller holds the lock."""
        return await self.engine.graph.aupdate_state(self._config, there.values, as_node=there.node)

    async def finish(self, place: RunnableConfig) -> AsyncGenerator[Event]:
        """Write the passage behind the head to its end from where its thread was put; the caller holds the lock."""
        last = (await self.head_commit())["step"] + 1
        await self.end_where_asked(last)
        async with aclosing(self._run(None, place, selector="simulator", last_step=last)) as events:
            async for event in events:
                yield event

    async def _newest_and_before(self) -> tuple[StateSnapshot, StateSnapshot]:
        """Return where the thread stands, and the same without what nodes that have just ended would change of it."""
        newest = await self.engine.graph.aget_state(self._config)
        # By its own config, LangGraph leaves out what is not yet part of a checkpoint.
        return newest, await self.engine.graph.aget_state(newest.config)

    async def discard(self) -> None:
        """Forget the passage whose writing was stopped, and its plan: another can be chosen."""
        async with self.writing():
            await self.stand_at(await self.head_commit())

    async def stand_at(self, commit: Commit) -> None:
        """Put the thread behind a commit, where a plan can be chosen; the caller holds the lock."""
        await self._seed(await self._state_at(commit))

    async def retry(self, ref: Ref | None) -> AsyncGenerator[Event]:
        """Write a passage once more from the same plan."""
        async with self.writing():
            commit, overlay = await self.commit_and_overlay(ref)
            before = await self._state_at(commit, retake=True, overlay=overlay)
            takes = [link for link in (await self.log.links(self.id)).values() if link["parent"] == commit["parent"]]
            async with aclosing(self._run_from({**before, "take": len(takes)}, commit["step"])) as events:
                async for event in events:
                    yield event

    async def replan(self, ref: Ref | None) -> AsyncGenerator[Event]:
        """Propose other plans after a passage."""
        async with self.writing(), aclosing(self.propose_others(*await self.commit_and_overlay(ref))) as events:
            async for event in events:
                yield event

    async def propose_others(self, commit: Commit, overlay: str) -> AsyncGenerator[Event]:
        """Propose other plans after a commit; the caller holds the lock."""
        now = await self._state_at(commit, overlay=overlay)
        takes = [link for link in (await self.log.links(self.id)).values() if link["step"] == commit["step"]]
        # No plan waits for those who ask for others.
        values: State = {**now, "take": len(takes), "status": "replanning"}
        async with aclosing(self._run_from(values, commit["step"])) as events:
            async for event in events:
                yield event

    async def choose(self, answer: object, ref: Ref | None) -> str:
        """Set the plan of the passage after this one, and save the choice; the head goes there."""
        async with self.writing():
            commit, overlay = await self.commit_and_overlay(ref)
            choice = parse_choice(
                answer, commit["candidate_plans"], played=is_played(self.context.mode, commit["step"])
            )
            memory = {} if choice.memory is None else {"short_term_memory": choice.memory}
            there = await amend(self.runtime(), commit, {**memory, "overlay": overlay}, passage=commit["passage"])
            await self._go(there)
            await self._seed({**await self._state_at(there), **let_plan_wait(choice)})
        return choice.plan

    async def append_correction(self, commit: Commit, changes: Mapping[str, object], overlay: str | Overlay) -> Commit:
        """Append a corrected version of a commit and move the head there; a choice that waits keeps waiting.

        `overlay` names the corrections that are in force on the branch from then on, or is new ones. The caller holds the lock.
        """
        waiting = await self.waiting_choice(commit["id"], begun=True)
        also: list[PutOp] = []
        if not isinstance(overlay, str):
            overlay, put = overlay_op(self.log, self.id, overlay)
            also = [put]
        changed = {"overlay": overlay, **changes}
        # Also where the commit's own come back: another correction than one that was made from those.
        if (before := await in_force(self.log, commit)) != commit.get("overlay", ""):
            changed["left_overlay"] = before
        corrected = await amend(self.runtime(), commit, changed, passage=commit["passage"], also=also)
        await self._go(corrected)
        await self.let_wait(corrected, waiting)
        return corrected

    async def waiting_choice(self, head: str, *, begun: bool = False) -> State:
        """Return the choice that was made after the commit `head` and not written from yet, if any.

        With `begun` also one whose passage is in the making: that is given up by whoever puts another commit in the place of
        `head`, and its plan is not.
        """
        snapshot = await self.engine.graph.aget_state(self._config)
        values, tasks = cast(State, snapshot.values), pending(snapshot)
        # Behind a story's end the memory is brought up to date before the plan is written.
        waits = tasks == ["retrieve"] or (tasks == ["update_memory"] and bool(waiting_plan(values)))
        # Another take waits behind the passage before the head: nobody chose its plan to go on from there.
        in_the_making = begun and tasks not in ([], OPENING)
        place = await self.log.head(self.id)
        if not (waits or in_the_making) or place is None or not values.get("head") == head == place["head"]:
            return {}
        # Behind `retrieve` the state holds it no more as `plan`; a last passage that is not committed has ended its story there.
        plan = coming_plan(values) or (plan_in_hand(values) if values.get("step", 0) > place["step"] else "")
        if not waits and not plan:
            return {}
        names = ("plan_author", "choice", "take", *(("written_plan", "status") if waits else ()))
        choice = {"status": "writing", **{name: snapshot.values[name] for name in names if name in snapshot.values}}
        return cast(State, {**choice, "plan": plan, "next_plan": plan})

    async def let_wait(self, commit: Commit, choice: State) -> None:
        """Let a choice that was made wait behind `commit`, which is what the story goes on from now."""
        if choice:
            await self._seed({**await self._state_at(commit), **choice})

    def runtime(self) -> StoryRuntime:
        """Return what a node is given of its surroundings, for work that is done without the graph."""
        return StoryRuntime(context=self.context, log=self.log, emit=lambda event: None)

    async def state_with(
        self,
        before: Commit,
        passage: str,
        plan: str,
        author: str,
        overlay: str | None = None,
        *,
        ask_judge: bool = True,
    ) -> State:
        """Return the state in which `passage` has just been put behind `before`, not written from its plan as it goes now.

        What an old version of it recalled is left out: it may tell of what is no longer so. Without `ask_judge` rules alone
        say what in it contradicts the codex.
        """
        there = await self._state_at(before, overlay=overlay)
        return {
            **there,
            **await self._checked(there, passage, ask_judge=ask_judge),
            "codex": [],
            "sent": "",
            "step": before["step"] + 1,
            "plan": plan,
            "next_plan": "",
            "written_plan": plan,
            "plan_author": KEPT_PLAN,
            "recalled": [],
            "previous_passage": before["passage"],
            "previous_memory": before["short_term_memory"],
            "previous_turns": before.get("turns", []),
            "previous_clues": before.get("clues", []),
            "previous_unreached": before.get("unreached", ""),
            "memory_is_behind": False,
            "passage": passage,
            "author": author,
            "candidate_plans": [],
            "status": "writing",
        }

    async def _checked(self, before: State, passage: str, *, ask_judge: bool = True) -> State:
        """Return what a state says of a passage that was not written just now: what contradicts the codex, and what it cost."""
        runtime = self.runtime()
        judge = await set_judge(runtime) if ask_judge else None
        checked: State = {"contradictions": await check_passage(before, runtime, passage, judge)}
        return {**checked, "usage": {"judge": runtime.meter.usage}} if runtime.meter.usage["calls"] else checked

    async def _state_at(self, commit: Commit, *, retake: bool = False, overlay: str | None = None) -> State:
        record = await self.log.record(self.id)
        return await restored(self.log, record, commit, retake=retake, overlay=overlay)

    async def _go(self, commit: Commit) -> None:
        """Move the head to a commit where it is not there."""
        if commit["id"] != await self.head():
            await move_head(self.log, commit)

    async def _seed(self, values: State) -> RunnableConfig:
        """Put the thread where `values` say, as if the story had just been opened there; return the config of what was saved."""
        fresh: State = {"spent": 0, "dearest": 0, **values}
        return await self.engine.graph.aupdate_state(self._config, fresh, as_node="open_story")

    async def _start(self) -> StoryInput | None:
        """Return what the graph is to be started with: nothing where a step is in flight, else the story's place."""
        head = await self.head()
        if not head and self._opening is not None and not self.context.has_language:
            # In place: everything that belongs to this story looks at this object.
            self.context.language = await language_of(self._opening.get("premise", "")) or self.context.language
        snapshot = await self.engine.graph.aget_state(self._config)
        # A step is in flight when the thread stands inside it, behind the same commit as the log.
        tasks = pending(snapshot)
        # A run that was stopped while it opened the story has nothing in flight, and one that is resumed there ends at once.
        opening = head and tasks == OPENING
        if tasks and "select_plan" not in tasks and not opening and snapshot.values.get("head", "") == head:
            return None
        if head:
            # An empty plan, for the thread may hold one that was chosen elsewhere and waits there.
            return StoryInput(story=self.id, head=head, plan="")
        if self._opening is None:
            raise StoryNotFound(f"There is no story {self.id!r}; `recurrentgpt stories` lists them.")
        return self._opening

    async def _run_from(self, values: State, step: int) -> AsyncGenerator[Event]:
        """Put the thread in place, and let the graph run to the end of passage `step`."""
        seeded = await self._seed(values)
        # No passage is the last one at the opening: there a run ends behind its commit.
        run = self._run(None, seeded, selector="simulator", last_step=step, stop_at_commit=not step)
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def _run(
        self,
        start: StoryInput | None,
        config: RunnableConfig | None = None,
        *,
        stop_at_commit: bool = False,
        **run_settings: Any,
    ) -> AsyncGenerator[Event]:
        """Run the graph from a checkpoint (default: the newest) and yield its events; the last tells what it wrote."""
        context = self.context.changed(**run_settings)
        written, spent, over_budget = 0, list[Usage](), False
        announced, undecided = False, None
        stops = ["commit"] if stop_at_commit else None
        async with aclosing(self._stream(start, config or self._config, context, stops)) as stream:
            async for mode, chunk in stream:
                if mode == "custom":
                    yield from_stream(chunk)
                    continue
                for node, update in chunk.items():
                    if node == "__interrupt__":
                        continue
                    spent += [usage for usage in ((update or {}).get("usage") or {}).values() if usage]
                    if node not in ("simulator", "commit"):
                        continue
                    if not announced:
                        record = await self.log.record(self.id)
                        self.kept = record["settings"]
                        yield story_event(record)
                        announced = True
                    if node == "simulator":
                        offer, choice = undecided or await self.head_commit(), update["choice"]
                        yield plans_event(offer, choice["index"], update["plan"], choice["why"])
                        undecided = None
                        continue
                    commit = await self.log.get(self.id, update["head"])
                    over_budget = commit["step"] != context.last_step and budget_is_used(cast(State, update), context)
                    # In a novel the opening's first plan is written at once; whoever plays is asked who to be.
                    undecided = commit if commit["step"] or context.mode == "fiction" else None
                    if commit["step"] and not commit["amends"]:
                        written += 1
                        yield passage_event(commit)
                        yield memory_event(commit)
        if undecided is not None and undecided["candidate_plans"]:
            yield plans_event(undecided)
        yield done_event(self.id, written, total_usage(spent), stopped="budget" if over_budget else None)

    async def _stream(
        self, start: StoryInput | None, config: RunnableConfig, context: Context, stops: list[str] | None
    ) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
        if start is None and context.budget_tokens:
            # What an earlier run spent on the step in flight is not this one's.
            values = (await self.engine.graph.aget_state(config)).values
            before = values.get("spent", 0) + used_tokens(total_usage(values.get("usage", {}).values()))
            context = context.changed(budget_tokens=context.budget_tokens + before)
        stream = self.engine.graph.astream(
            start,
            config,
            context=context,
            stream_mode=["custom", "updates"],
            durability="sync",
            interrupt_after=stops,
        )
        async for item in stream:
            yield cast("tuple[str, dict[str, Any]]", item)
