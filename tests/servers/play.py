"""What every server of LangGraph's protocol must be able to do with our graphs, as one story told through the SDK."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from recurrentgpt.remote.client import RemoteStory, astories
from recurrentgpt.schema.errors import StoryBusy
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import StoryInput
from recurrentgpt.testing import FaultyServer, story_answers

GRAPHS = {"novel", "fiction", "novel_autonomous", "one_step"}
OWN_PLAN = "Zephyrine swims beneath the quicksilver aqueduct and returns with one glove."
EDITED_PLAN = "Ottokar climbs the bell tower and finds the ropes cut."
MEMORY = "Zoltan owes Mira a horse.\nThe lamp is blue."
FORKED_MEMORY = "Nobody here has ever seen a lamp."


class Writer(FaultyServer):
    """A fake OpenAI server that no two calls of get the same answer from, and that can be held in the middle of one."""

    def __init__(self, answers: Callable[[dict[str, Any]], str] = story_answers) -> None:
        super().__init__(text=self._text)
        self.answers = answers
        self.hold = ""
        self.reached, self.go_on = threading.Event(), threading.Event()

    def _text(self, body: dict[str, Any]) -> str:
        if self.hold and self.hold in asked(body):
            self.hold = ""
            self.reached.set()
            self.go_on.wait(60)
        turn = {"role": "user", "content": f"call {len(self.requests)}"}
        return self.answers({**body, "messages": [*body["messages"], turn]})

    def wrote_from(self, words: str) -> bool:
        """Return whether a passage was asked for with these words in its prompt."""
        return any(words in asked(body) for body in self.requests if "response_format" not in body)


def asked(body: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])


class Play:
    """One story on one server, whose parts are told in order."""

    def __init__(self, url: str, writer: Writer) -> None:
        self.client = get_client(url=url)
        self.writer = writer
        self.thread = ""

    async def __aenter__(self) -> Play:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.client.aclose()

    async def state(self) -> dict[str, Any]:
        return await self.client.threads.get_state(self.thread)

    async def question(self) -> dict[str, Any]:
        """Return what the thread asks now; its status must be that of one that waits."""
        status, state = (await self.client.threads.get(self.thread))["status"], await self.state()
        assert status == "interrupted", (status, state["next"], state["values"].get("step"))
        found = state["tasks"][0]["interrupts"]
        return found[0]["value"]

    async def answer(self, value: Any) -> dict[str, Any]:
        await self.client.runs.wait(self.thread, "novel", command={"resume": value})
        return await self.question()

    async def schemas(self) -> None:
        """All four graphs are there, and their forms are not empty."""
        assistants = {item["graph_id"]: item["assistant_id"] for item in await self.client.assistants.search()}
        assert set(assistants) == GRAPHS
        for graph, assistant in assistants.items():
            schemas = await self.client.assistants.get_schemas(assistant)
            for kind in ("input_schema", "output_schema", "state_schema", "context_schema"):
                assert schemas[kind]["properties"], (graph, kind)
            assert "premise" in schemas["input_schema"]["properties"]
            mode = schemas["context_schema"]["properties"]["mode"]["default"]
            assert mode == ("fiction" if graph == "fiction" else "novel")

    async def unknown_setting(self) -> None:
        """A setting that does not exist is refused with the nearest one, as in Python."""
        thread = (await self.client.threads.create())["thread_id"]
        with pytest.raises(httpx.HTTPStatusError) as caught:
            await self.client.runs.wait(thread, "novel", input={}, context={"plnas": 5})
        assert caught.value.response.status_code == 422
        assert "did you mean plans?" in caught.value.response.text
        with pytest.raises(httpx.HTTPStatusError) as caught:
            await self.client.runs.wait(thread, "novel", input={"premis": "A lamp."})
        assert "did you mean premise?" in caught.value.response.text
        with pytest.raises(httpx.HTTPStatusError) as caught:
            await self.client.threads.update_state(thread, {"mode": "fiction"})
        assert "`mode` is a setting" in caught.value.response.text

    async def begin(self) -> None:
        """An empty form starts a story; its prose streams as messages, its stages as events, and nothing else does."""
        self.thread = (await self.client.threads.create())["thread_id"]
        prose, stages = "", []
        modes = ["messages-tuple", "custom"]
        async for part in self.client.runs.stream(self.thread, "novel", input={}, stream_mode=modes):
            if part.event == "messages":
                message, about = part.data
                assert about["langgraph_node"] == "write"
                prose += message["content"]
            elif part.event == "custom" and part.data["event"] == "stage":
                stages.append(part.data["node"])
        question = await self.question()
        assert question["step"] == 1
        assert prose == question["passage"]
        assert stages[:4] == ["open_story", "commit", "retrieve", "write"]
        assert set(stages[4:6]) == {"update_memory", "propose_plans"}

    async def choose(self) -> None:
        """Three choices of three shapes, and one that is none."""
        second = (await self.question())["candidate_plans"][1]
        assert (await self.answer(2))["step"] == 2
        assert (await self.state())["values"]["plan"] == second
        assert (await self.answer({"action": "edit", "number": 1, "plan": EDITED_PLAN}))["step"] == 3
        refused = await self.answer(99)
        assert refused["step"] == 3
        assert "from 1 to 3" in refused["problem"]
        said = {"decisions": [{"type": "respond", "message": OWN_PLAN}]}
        assert (await self.answer(said))["step"] == 4
        assert self.writer.wrote_from(EDITED_PLAN)
        assert self.writer.wrote_from(OWN_PLAN)

    async def answer_at_once(self) -> None:
        """Of answers that are queued, and name the question they answer, the first is taken: no other was asked that one."""
        asked, state = await self.question(), await self.state()
        (question,) = state["tasks"][0]["interrupts"]
        answers = [{"resume": {question["id"]: number}} for number in (1, 2, 3)]
        await asyncio.gather(*(self.client.runs.wait(self.thread, "novel", command=answer) for answer in answers))
        assert (await self.question())["step"] == asked["step"] + 1
        assert (await self.state())["values"]["plan"] in asked["candidate_plans"]

    async def edit(self) -> None:
        """A memory that is edited between two nodes is in the next prompt."""
        before = (await self.question())["step"]
        await self.client.threads.update_state(self.thread, {"short_term_memory": MEMORY}, as_node="commit")
        await self.client.runs.wait(self.thread, "novel", command={"resume": 1})
        assert (await self.question())["step"] == before + 1
        assert self.writer.wrote_from("Zoltan owes Mira a horse.")

    async def fork(self) -> None:
        """At a choice that was answered, another answer begins a branch with a memory of its own."""
        history = await self.client.threads.get_history(self.thread, limit=100)
        old = next(item for item in history if item["next"] == ["select_plan"] and item["values"]["step"] == 2)
        before = (await self.state())["values"]
        await self.client.threads.update_state(
            self.thread, {"short_term_memory": FORKED_MEMORY}, as_node="commit", checkpoint=old["checkpoint"]
        )
        await self.client.runs.wait(self.thread, "novel", command={"resume": OWN_PLAN[:40]})
        question = await self.question()
        assert question["step"] == 3
        after = (await self.state())["values"]
        assert after["story"] == before["story"]
        assert after["head"] != before["head"]
        assert self.writer.wrote_from(FORKED_MEMORY)
        last = [body for body in self.writer.requests if "response_format" not in body][-1]
        assert MEMORY.splitlines()[0] not in asked(last), "a fork remembers its own future"
        assert {entry["step"] for entry in after["recalled"]} <= {1}

    async def crash(self, kill: Callable[[], None], start: Callable[[], None]) -> None:
        """Killed while a passage is being written, the server goes on from there when it is back."""
        before = (await self.state())["values"]
        self.writer.hold = EDITED_PLAN
        await self.client.runs.create(self.thread, "novel", command={"resume": EDITED_PLAN})
        assert await _until(self.writer.reached)
        kill()
        self.writer.go_on.set()
        start()
        await self.client.threads.create(thread_id=self.thread, if_exists="do_nothing")
        state = await self.state()
        assert state["values"]["head"] == before["head"]
        await self._go_on()
        question = await self.question()
        assert question["step"] == before["step"] + 1
        assert (await self.answer(1))["step"] == before["step"] + 2

    async def _go_on(self) -> None:
        """Let the step in flight be finished: by the server itself, if it takes up its runs again, or by a run with no input."""
        for run in await self.client.runs.list(self.thread, limit=5):
            if run["status"] in ("pending", "running"):
                await self.client.runs.join(self.thread, run["run_id"])
                if (await self.client.runs.get(self.thread, run["run_id"]))["status"] == "running":
                    # Aegra without Redis does not know that whoever ran it is gone.
                    await self.client.runs.cancel(self.thread, run["run_id"])
        if (state := await self.state())["next"] != ["select_plan"]:
            # Aegra wants to be told from where; the development server knows.
            await self.client.runs.wait(self.thread, "novel", input=None, checkpoint=state["checkpoint"])

    async def roll_back(self, way: str) -> None:
        """A run that is rolled back leaves its thread as it was, and the server goes on for this and every other thread."""
        before, asked_before = await self.state(), await self.question()
        self.writer.reached.clear()
        self.writer.go_on.clear()
        self.writer.hold = plan = f"{EDITED_PLAN} It is taken back by {way}."
        run = await self.client.runs.create(self.thread, "novel", command={"resume": plan})
        assert await _until(self.writer.reached)
        if way == "another run":
            answer = {"command": {"resume": 1}, "multitask_strategy": "rollback"}
            next_run = await self.client.runs.create(self.thread, "novel", **answer)
            self.writer.go_on.set()
            await self.client.runs.join(self.thread, next_run["run_id"])
            assert (await self.question())["step"] == before["values"]["step"] + 1
            assert (await self.state())["values"]["plan"] == asked_before["candidate_plans"][0]
            return
        await self.client.runs.cancel(self.thread, run["run_id"], action="rollback", wait=True)
        self.writer.go_on.set()
        after = await self.state()
        assert (after["values"], after["next"]) == (before["values"], before["next"])
        assert (await self.answer(1))["step"] == before["values"]["step"] + 1

    async def deleted_run(self) -> None:
        """A run that is deleted takes what it wrote with it."""
        before = await self.state()
        run = await self.client.runs.create(self.thread, "novel", command={"resume": 1})
        await self.client.runs.join(self.thread, run["run_id"])
        await self.client.runs.delete(self.thread, run["run_id"])
        assert (await self.answer(2))["step"] in (before["values"]["step"] + 1, before["values"]["step"] + 2)

    async def autonomous(self) -> None:
        """Without a human there is no interrupt, and a run ends where it was told to."""
        thread = (await self.client.threads.create())["thread_id"]
        result: Any = await self.client.runs.wait(thread, "novel_autonomous", input={}, context={"steps": 2})
        assert (result["step"], result["status"]) == (2, "choosing")
        assert (await self.client.threads.get(thread))["status"] == "idle"

    async def one_step(self) -> None:
        """The graph of one timestep, with and without a thread."""
        first: Any = await self.client.runs.wait(None, "one_step", input={"premise": "A lamp."})
        assert first["step"] == 1
        given = {"story": first["story"], "plan": first["candidate_plans"][2]}
        second: Any = await self.client.runs.wait(None, "one_step", input=given)
        assert (second["step"], second["plan"]) == (2, given["plan"])


async def written_remotely(url: str) -> None:
    """What `recurrentgpt write --remote` does: begin, choose, go on, and find the story again."""
    given = StoryInput(premise="A lighthouse that must stay dark.")
    async with await RemoteStory.new(url, given, plans=2) as story:
        events = [event async for event in story.astream(2)]
        plans = (await story.asnapshot()).plans
        plan = await story.achoose(2)
    passages = [event for event in events if event["event"] == "passage"]
    assert [passage["step"] for passage in passages] == [1, 2]
    assert passages[1]["parent"] == passages[0]["id"]
    assert (events[-1]["event"], events[-1]["steps"]) == ("done", 2)
    assert (len(plans), plan) == (2, plans[1])
    (begun,) = [event for event in events if event["event"] == "story"]
    assert begun["story"] in {known.story for known in await astories(url)}
    async with await RemoteStory.open(url, begun["story"][:6]) as again:
        own = await again.achoose({"action": "write", "plan": OWN_PLAN, "short_term_memory": MEMORY})
        (third,) = [event async for event in again.astream() if event["event"] == "passage"]
        assert (third["step"], third["plan"]) == (3, own)
        (taken,) = [event async for event in again.aretry() if event["event"] == "passage"]
        assert (taken["step"], taken["plan"], taken["id"] != third["id"]) == (3, own, True)
        (offered,) = [event async for event in again.areplan() if event["event"] == "plans"]
        assert offered["plans"] == (await again.asnapshot()).plans
        tree = await again.atree()
    by_step = {
        step: [node for node in tree.nodes.values() if node.step == step and not node.amends] for step in range(4)
    }
    assert [len(nodes) for nodes in by_step.values()] == [1, 1, 1, 2]
    assert {node.id for node in by_step[3]} == {third["id"], taken["id"]}
    # The edit of the memory made a corrected version of passage 2.
    parents = [tree.nodes[node.parent] for node in by_step[3]]
    assert {parent.amends or parent.id for parent in parents} == {passages[1]["id"]}
    assert tree.head not in {third["id"], taken["id"]}, "new plans correct the newest passage"
    assert tree.nodes[tree.head].amends == taken["id"]


async def two_writers(url: str, writer: Writer) -> None:
    """While somebody writes a story, whoever wants to write it too is told so, and the passage is there once."""
    writer.reached.clear()
    writer.go_on.clear()
    given = StoryInput(premise="Two keepers share one lamp.")
    async with await RemoteStory.new(url, given) as first:
        name = [event async for event in first.astream()][-1]["story"]
        writer.hold = await first.achoose("Sigmund paints the lantern room green and is seen.")
        writing = asyncio.create_task(_last(first.astream()))
        assert await _until(writer.reached)
        async with await RemoteStory.open(url, name) as second:
            for attempt in (second.astream(), second.aretry(), second.areplan()):
                with pytest.raises(StoryBusy, match="Somebody else is writing"):
                    await _last(attempt)
            with pytest.raises(StoryBusy, match="Somebody else is writing"):
                await second.achoose(1)
        writer.go_on.set()
        assert (await writing)["steps"] == 1
        tree = await first.atree()
    assert [node.step for node in tree.nodes.values()] == [0, 1, 2]


async def _last(events: AsyncGenerator[Event]) -> Any:
    """Return the last of a run's events."""
    return [event async for event in events][-1]


async def _until(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, 60)
