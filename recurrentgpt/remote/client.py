"""A story on a server of LangGraph's protocol, written from here: `recurrentgpt write --remote URL`.

A thread of the server is a story: its metadata hold the story's id and title, and the settings that it was begun with here.
Everything goes by threads and runs, so that it also works where the server keeps its store to itself. Events are those of
`Story.astream`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, cast

from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.schema import StreamPart

from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import NOTHING_WRITTEN
from recurrentgpt.engine.session import parse_choice
from recurrentgpt.engine.snapshot import StorySnapshot
from recurrentgpt.engine.tree import Tree
from recurrentgpt.models.meter import total_usage
from recurrentgpt.nodes.human.answers import is_played
from recurrentgpt.nodes.routes import coming_plan
from recurrentgpt.remote.history import ThreadState, checkpoint_of, commit_of, tree_of
from recurrentgpt.remote.response_shapes import (
    CREATED,
    UPDATES,
    answered,
    event_of,
    foreign,
    history_of,
    state_of,
    update_of,
    values_of,
)
from recurrentgpt.remote.server import RemoteSummary, asking, astories, client_of, error_text, stories_of
from recurrentgpt.schema.choice import let_plan_wait
from recurrentgpt.schema.context import STORY_SETTINGS
from recurrentgpt.schema.errors import RecurrentGPTError, SettingsError, StoryError, StoryNotFound
from recurrentgpt.schema.events import (
    Event,
    StoryEvent,
    done_event,
    memory_event,
    passage_event,
    plans_event,
)
from recurrentgpt.schema.state import State, StoryInput, Usage

__all__ = ["RemoteStory", "RemoteSummary", "astories"]

GRAPH = "novel_autonomous"
MOST_CHECKPOINTS = 1000
"""What is asked for at once."""
RECENT_CHECKPOINTS = 20
"""More than there are between two commits."""


class RemoteStory:
    """One story on a server; made by `new` or `open`, and used in one event loop. Close it, or use it with `async with`."""

    def __init__(
        self,
        client: LangGraphClient,
        url: str,
        thread: str,
        given: StoryInput,
        settings: Mapping[str, object],
        kept: Mapping[str, object] | None = None,
    ) -> None:
        self._client, self._url, self._thread = client, url, thread
        self._given = given
        self.run_settings: dict[str, Any] = dict(settings)
        """What the caller set, which every run is told; the rest the server keeps with the story."""
        told = {name: value for name, value in settings.items() if name in STORY_SETTINGS}
        self._kept = dict(told if kept is None else kept)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the caller set, over what the thread keeps of how the story is told."""
        return {**self._kept, **self.run_settings}

    @classmethod
    async def new(cls, url: str, given: StoryInput, *, token: str | None = None, **settings: Any) -> RemoteStory:
        """Return a new story on the server at `url`; `settings` are fields of `Context` that JSON can hold."""
        client = await client_of(url, token)
        try:
            with asking(url):
                thread = answered(url, CREATED, await client.threads.create())["thread_id"]
        except RecurrentGPTError:
            await client.aclose()
            raise
        return cls(client, url, thread, given, settings)

    @classmethod
    async def open(cls, url: str, name: str, *, token: str | None = None, **settings: Any) -> RemoteStory:
        """Return the story of this id, beginning of an id, or title; raise StoryNotFound for none or several."""
        client = await client_of(url, token)
        wanted = name.strip().casefold()
        try:
            known = await stories_of(client, url)
            found = [it for it in known if it.story.startswith(wanted) or it.title.casefold() == wanted]
            if not wanted or len(found) != 1:
                raise StoryNotFound(f"{len(found) or 'No'} stories at {url} answer to {name!r}; name one by its id.")
        except RecurrentGPTError:
            await client.aclose()
            raise
        kept = found[0].settings
        if "length" in kept:  # the thread alone may keep it: see `aend_at`
            settings.setdefault("length", kept["length"])
        return cls(client, url, found[0].thread, StoryInput(), settings, kept)

    # Writing

    async def abegin(self) -> AsyncGenerator[Event]:
        """Open a new story and yield what happens: a novel up to its first passage, a story to play up to its first choice."""
        with asking(self._url):
            start, self._given = {"input": self._given}, StoryInput()
            async with aclosing(self._run(start, State(), 1, selector="human")) as events:
                async for event in events:
                    yield event

    async def astream(self, steps: int = 1) -> AsyncGenerator[Event]:
        """Write `steps` passages there and yield what happens; the simulator chooses where nobody did."""
        if steps < 1:
            raise SettingsError(f"The number of passages to write is 1 or more; it is {steps}.")
        with asking(self._url):
            state = await self._state()
            last = state["values"].get("step", 0) + steps
            if self.run_settings.get("ending"):
                await self._end_at(last, state["values"])
            start: dict[str, Any]
            if state["next"] and "select_plan" not in state["next"]:
                # A chosen plan waits, or a step is in flight. Some servers want to be told from where to go on.
                start = {"input": None, "checkpoint": state["checkpoint"]}
            else:
                start = {"input": self._given}
            self._given = StoryInput()
            async with aclosing(self._run(start, state["values"], last)) as events:
                async for event in events:
                    yield event

    async def aend_at(self, step: int) -> None:
        """Keep that the story ends with passage `step`, for every later run that writes of it."""
        with asking(self._url):
            await self._end_at(step, (await self._state())["values"])

    async def _end_at(self, step: int, values: State) -> None:
        if self.settings.get("length") != step:
            self.run_settings["length"] = self._kept["length"] = step
            if values.get("head"):
                await self._keep(values)

    async def _keep(self, values: State) -> None:
        """Keep in the thread which story it is, and how it is told."""
        about = {"story": values["story"], "title": values["title"], "settings": self._kept}
        await self._client.threads.update(self._thread, metadata=about)

    def aretry(self) -> AsyncGenerator[Event]:
        """Write the newest passage once more from the same plan, and yield what happens; the log keeps both."""
        return self._answer("another take")

    def areplan(self) -> AsyncGenerator[Event]:
        """Propose other plans after the newest passage, and yield what happens."""
        return self._answer("new plans")

    async def _answer(self, words: str) -> AsyncGenerator[Event]:
        with asking(self._url):
            values = (await self._state())["values"]
            if not values.get("step"):
                raise StoryNotFound(NOTHING_WRITTEN)
            start = {"input": {"messages": [{"type": "human", "content": words}]}}
            async with aclosing(self._run(start, values, values["step"])) as events:
                async for event in events:
                    yield event

    async def _run(
        self, start: Mapping[str, Any], before: State, last: int, selector: str = "simulator"
    ) -> AsyncGenerator[Event]:
        """Run the graph to the end of passage `last` and yield its events; `before` are the values of the thread."""
        context: dict[str, Any] = {**self.run_settings, "selector": selector, "last_step": last}
        now, spent, written, announced, offered = before, list[Usage](), 0, False, False
        parts = self._client.runs.stream(
            self._thread, GRAPH, **start, context=context, stream_mode=["custom", "updates"],
            multitask_strategy="reject", on_disconnect="cancel", durability="sync",
        )  # fmt: skip
        # Left to the end of the loop, a stream that is given up would be closed while it is still read.
        async with aclosing(cast("AsyncGenerator[StreamPart]", parts)):
            async for part in parts:
                if part.event == "error":
                    raise StoryError(f"The server at {self._url} could not go on: {error_text(part.data)}")
                if part.event == "custom":
                    yield event_of(self._url, part.data)
                updates = answered(self._url, UPDATES, part.data) if part.event == "updates" else {}
                for node, update in updates.items():
                    if not isinstance(update, dict):
                        continue
                    parent, offer = now.get("head", ""), now
                    now = cast(State, {**now, **update_of(self._url, update)})
                    if node == "simulator":
                        offered = False
                        if not values_of(self._url, offer).get("head") or "plan" not in now:
                            raise foreign(self._url)
                        yield plans_event(commit_of(offer, plan=""), _index(offer, now["plan"]), now["plan"])
                    if node != "commit":
                        continue
                    # A server streams of an update only what its graph puts out.
                    now = values_of(self._url, {**now, **await self._uncommitted(now.get("step", 0)), **update})
                    if not now.get("head"):
                        raise foreign(self._url)
                    spent += [usage for usage in now.get("usage", {}).values() if usage]
                    if not announced:
                        announced = True
                        await self._keep(now)
                        yield StoryEvent(event="story", story=now["story"], title=now["title"], genre=now["genre"])
                    # In a novel the opening's first plan is written at once; whoever plays is asked who to be.
                    offered = bool(now["step"]) or self.settings.get("mode") == "fiction"
                    if now["step"] and now.get("passage") != before.get("passage"):
                        written += 1
                        commit = commit_of(now, plan=now.get("plan", ""), parent=parent)
                        yield passage_event(commit)
                        yield memory_event(commit)
                    before = now
        if offered:
            yield plans_event(commit_of(now, plan=""))
        yield done_event(now.get("story", ""), written, total_usage(spent))

    async def _uncommitted(self, step: int) -> State:
        """Return the values from which a timestep was committed."""
        recent = await self._client.threads.get_history(self._thread, limit=RECENT_CHECKPOINTS)
        for item in history_of(self._url, recent):
            if item["next"] == ["commit"] and item["values"].get("step") == step:
                return item["values"]
        raise StoryError(f"The server at {self._url} kept no checkpoint of passage {step}; open the story again.")

    async def achoose(self, answer: object) -> str:
        """Set the plan of the next passage, as `Story.choose` does, and save it at once; raise BadAnswer for no plan."""
        with asking(self._url):
            values = (await self._state())["values"]
            played = is_played(self.settings.get("mode", "novel"), values.get("step", 0))
            choice = parse_choice(answer, values.get("candidate_plans", []), played=played)
            await self._client.threads.update_state(self._thread, dict(let_plan_wait(choice)), as_node="open_story")
        return choice.plan

    async def agoto(self, passage: str) -> None:
        """Go to the passage of this id, to write on from there; raise StoryNotFound where the server has none of it any more."""
        with asking(self._url):
            there = checkpoint_of(passage, await self.ahistory())
            await self._client.threads.update_state(
                self._thread, {"problem": ""}, as_node="commit", checkpoint=cast("Any", there["checkpoint"])
            )

    # Reading

    async def asnapshot(self) -> StorySnapshot:
        """Return where the story stands; path, names and costs are in the log, which the server keeps."""
        values = await self.avalues()
        if not values.get("head"):
            return StorySnapshot(values.get("story", ""), self.settings)
        return StorySnapshot(
            story=values["story"],
            settings=self.settings,
            title=values["title"],
            brief=values.get("brief"),
            passage=Passage.of(commit_of(values, plan=values.get("written_plan", ""))),
            status=values.get("status", "writing"),
            waiting_plan=coming_plan(values) or None,
        )

    async def avalues(self) -> State:
        """Return the state of the story: passage, plans, short-term memory and what else `State` names."""
        with asking(self._url):
            return (await self._state())["values"]

    async def atree(self) -> Tree:
        """Return every passage of which the server still has a checkpoint; what was begun elsewhere is not among them."""
        with asking(self._url):
            return tree_of((await self._state())["values"], await self.ahistory())

    async def ahistory(self) -> list[ThreadState]:
        """Return every checkpoint that the server still has of the thread, newest first."""
        found: list[ThreadState] = []
        before = None
        with asking(self._url):
            while True:
                answer = await self._client.threads.get_history(self._thread, limit=MOST_CHECKPOINTS, before=before)
                page = history_of(self._url, answer)
                found += page
                if len(page) < MOST_CHECKPOINTS:
                    return found
                before = cast("Any", page[-1]["checkpoint"])

    async def _state(self) -> ThreadState:
        return state_of(self._url, await self._client.threads.get_state(self._thread))

    async def aclose(self) -> None:
        """Close the connections; the story stays where it is."""
        await self._client.aclose()

    async def __aenter__(self) -> RemoteStory:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


def _index(offer: State, plan: str) -> int | None:
    plans = offer.get("candidate_plans", [])
    return plans.index(plan) if plan in plans else None
