"""Do with the SDK what LangGraph Studio does, on every server there is, and print what each makes of it.

    python -m tests.servers.studio                            # langgraph dev
    python -m tests.servers.studio --aegra .venv-server/bin/python

starts the servers on folders of their own with a scripted model, and prints the table of docs/servers.md; a test compares
the two. Every row is a thread of its own, and each cell says what was seen, not what was hoped for.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.errors import APIError

from recurrentgpt.checkpoints.disposable import local_postgres
from recurrentgpt.models.embeddings import HashEmbeddings
from tests.servers.play import Writer
from tests.servers.process import QUIET, ServerProcess, aegra_server, config, dev_server

ROOT = Path(__file__).parents[2]
DEV, AEGRA = "`langgraph dev`", "Aegra"
PATIENCE, GRACE = 60.0, 5.0
"""Seconds for what should take one, and for a server to stop a run if it ever will."""
OWN_PLAN = "Ottokar climbs the bell tower and finds the ropes cut."
MEMORY = "Zoltan owes Mira a horse."
PLANS = [OWN_PLAN, "Ada runs.", "Cy sings at dawn."]
NUMBER: Mapping[str, Any] = {"command": {"resume": 1}}
TAKE: Mapping[str, Any] = {"command": {"resume": "another take"}}
CHAT: Mapping[str, Any] = {"input": {"messages": [{"role": "user", "content": "1"}]}}
SUBMIT: Mapping[str, Any] = {"input": {}}
NODES = ("retrieve", "write", "update_memory", "propose_plans", "commit")
"""What a run goes through between one choice and the next."""

Strategy = Literal["reject", "enqueue", "interrupt", "rollback"]
Refused = (httpx.HTTPStatusError, APIError)


class Studio:
    """One thread on one server, at the choice after its first passage."""

    def __init__(self, client: Any, writer: Writer) -> None:
        self.client, self.writer, self.thread = client, writer, ""

    async def begin(self) -> None:
        """Send an empty form, as the button Submit does."""
        self.thread = (await self.client.threads.create())["thread_id"]
        await self.client.runs.wait(self.thread, "novel", input={})

    async def state(self) -> Mapping[str, Any]:
        return await self.client.threads.get_state(self.thread)

    async def asked(self) -> bool:
        """Return whether the thread waits for an answer."""
        return any(task["interrupts"] for task in (await self.state())["tasks"])

    async def go_on(self, **how: Any) -> str:
        """Send the run without input that Continue sends; return what it needed besides."""
        before = (await self.state())["checkpoint"]
        with contextlib.suppress(*Refused):
            await self.client.runs.wait(self.thread, "novel", input=None, **how)
            return ""
        await self.client.runs.wait(self.thread, "novel", input=None, checkpoint=before, **how)
        return " with `checkpoint=`"

    async def hold(self) -> Any:
        """Answer with a plan of one's own, and return the run once it is in the middle of the passage."""
        self.writer.reached.clear()
        self.writer.go_on.clear()
        self.writer.hold = OWN_PLAN
        run = await self.client.runs.create(self.thread, "novel", command={"resume": OWN_PLAN})
        assert await asyncio.to_thread(self.writer.reached.wait, PATIENCE)
        return run

    async def ended(self, run: Any) -> str:
        """Return the status of a run that has ended, or that it is gone."""
        try:
            await self.client.runs.join(self.thread, run["run_id"])
            return f"`{(await self.client.runs.get(self.thread, run['run_id']))['status']}`"
        except Refused:
            return "gone"

    async def written(self, step: int) -> str:
        """Return what was written since passage `step`."""
        count = (await self.state())["values"]["step"] - step
        return f"{count or 'no'} passage{'s' if count > 1 else ''} written"


async def double_text(studio: Studio, strategy: Strategy) -> str:
    """Send a second answer while the passage of the first is written."""
    first, second = await studio.hold(), None
    try:
        answer = {"command": {"resume": 1}, "multitask_strategy": strategy}
        second = await studio.client.runs.create(studio.thread, "novel", **answer)
    except Refused as error:
        refused = f"{error.response.status_code}"
    # What is held is let go when the server has done with the first what it will: an interrupted run has ended by then.
    if strategy in ("interrupt", "rollback"):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await studio.ended(first)
    studio.writer.go_on.set()
    ends = [await studio.ended(first), await studio.ended(second) if second else refused]
    last = "first" if (await studio.state())["values"]["written_plan"] == OWN_PLAN else "second"
    return f"first {ends[0]}, second {ends[1]}; {await studio.written(1)}, the last from the {last} answer"


async def cancel(studio: Studio, action: Literal["interrupt", "rollback"]) -> str:
    """Stop a run in the middle of a passage, and go on."""
    run = await studio.hold()
    try:
        await studio.client.runs.cancel(studio.thread, run["run_id"], action=action, wait=True)
    except Refused as error:
        studio.writer.go_on.set()
        await studio.ended(run)
        return f"{error.response.status_code}"
    studio.writer.go_on.set()
    if await studio.asked():
        return f"the question stands again; {await studio.written(1)}"
    left = f"stands before `{(await studio.state())['next'][0]}`"
    return f"{left}; goes on{await studio.go_on()}: {await studio.written(1)}"


async def breakpoints(studio: Studio, where: Literal["before", "after"]) -> str:
    """Go through a step with a breakpoint at every node, and Continue at each stop."""
    how = {f"interrupt_{where}": [*NODES, "select_plan"] if where == "before" else list(NODES)}
    stops, needed = list[str](), ""
    await studio.client.runs.wait(studio.thread, "novel", command={"resume": 1}, **how)
    for _ in range(10):
        state = await studio.state()
        if await studio.asked():
            break
        stops.append(" and ".join(f"`{node}`" for node in state["next"]))
        needed = await studio.go_on(**how) or needed
    return f"stops before {', '.join(stops)}; goes on{needed}: {await studio.written(1)}"


async def edit(studio: Studio, field: str, value: Any, **answer: Any) -> str:
    """Edit a field of the state at the question, go on, and tell what became of the edit and what was written."""
    before = (await studio.state())["values"]
    if field == "short_term_memory":
        # The writer writes in every thread.
        value = f"{value} So it says in {studio.thread}."
    change = {field: {**before["brief"], "title": value} if field == "brief" else value}
    await studio.client.threads.update_state(studio.thread, change, as_node="commit")
    with contextlib.suppress(*Refused):
        await studio.client.runs.wait(studio.thread, "novel", raise_error=False, **answer)
    state = await studio.state()
    values, asked = state["values"], [item["value"] for task in state["tasks"] for item in task["interrupts"]]
    sentences = [str(question.get("problem")) for question in asked] + [
        str(task.get("error")) for task in state["tasks"]
    ]
    if any(f"The state's `{field}`" in sentence for sentence in sentences):
        held = "refused with a sentence"
    elif field == "short_term_memory" and studio.writer.wrote_from(value):
        held = "in the next prompt"
    elif field == "candidate_plans" and values["written_plan"] == value[0]:
        held = "written from the edited plan"
    elif field == "brief" and values["brief"]["title"] == values["title"] == value:
        held = "held"
    else:
        held = "held" if values[field] == value or await _corrected(studio, field, value) else "lost"
    return f"{held}; {'no passage written' if values['head'] == before['head'] else await studio.written(1)}"


EDITS: Mapping[str, Any] = {
    "short_term_memory": MEMORY,
    "summary": MEMORY,
    "turns": ["to come", "done", "done"],
    "passage": f"{MEMORY} Nobody paid it.",
    "candidate_plans": PLANS,
    "title": MEMORY,
    "plan": OWN_PLAN,
    "sent": MEMORY,
    "previous_memory": MEMORY,
    "step": 99,
}
"""What is edited in the middle of a step, by field."""


async def edit_in_a_step(studio: Studio, node: str) -> str:
    """Answer with a number, and edit each field, in a thread of its own, at a breakpoint before a node; tell what came of it."""
    came: dict[str, list[str]] = {}
    for field, value in EDITS.items():
        await studio.begin()
        await studio.client.runs.wait(studio.thread, "novel", **NUMBER, interrupt_before=[node])
        there = (await studio.state())["values"]
        if field == "short_term_memory":
            # The writer writes in every thread.
            value = f"{there[field]}\n{value} So it says in {studio.thread}."
        await studio.client.threads.update_state(studio.thread, {field: value})
        with contextlib.suppress(*Refused):
            await studio.go_on(raise_error=False)
        state = await studio.state()
        errors = [str(task["error"]) for task in state["tasks"] if task.get("error")]
        refused = any(f"The state's `{field}`" in error for error in errors)
        assert refused or not errors, errors
        what = "refused with a sentence" if refused else await _held(studio, field, value, state["values"])
        came.setdefault(what, []).append(f"`{field}`")
    return "; ".join(f"{what}: {', '.join(fields)}" for what, fields in came.items())


async def _held(studio: Studio, field: str, value: Any, values: Mapping[str, Any]) -> str:
    """Return where an edit is found that a step has gone on with: in what it made and in prompts, or the passage before."""
    if field == "short_term_memory":
        line = value.splitlines()[-1]
        await studio.client.runs.wait(studio.thread, "novel", **NUMBER)
        return "held" if line in values[field].splitlines() and studio.writer.wrote_from(line) else "lost"
    if field == "plan":
        return "held" if values["written_plan"] == value else "lost"
    if field == "turns":
        # Of the first turn the writer says where it is now.
        return "held" if values[field][1:3] == value[1:] else "lost"
    if values[field] == value:
        return "held"
    return "a correction of the passage before" if await _corrected(studio, field, value) else "lost"


async def _corrected(studio: Studio, field: str, value: Any) -> bool:
    """Return whether the log has the edit of the passage that the newest one was written after."""
    written = (item["values"] for item in await _history(studio) if item["next"] == ["update_memory"])
    if (there := next(written, None)) is None:
        return False
    thread = (await studio.client.threads.create())["thread_id"]
    opened = {"story": there["story"], "head": there["head"]}
    await studio.client.runs.wait(thread, "novel", input=opened)
    return (await studio.client.threads.get_state(thread))["values"][field] == value


async def fork(studio: Studio) -> str:
    """Edit the state at a question that was answered, and answer the new one."""
    await studio.client.runs.wait(studio.thread, "novel", command={"resume": 1})
    before = (await studio.state())["values"]
    old = await _question(studio, step=1)
    await studio.client.threads.update_state(
        studio.thread, {"short_term_memory": MEMORY}, as_node="commit", checkpoint=old["checkpoint"]
    )
    await studio.client.runs.wait(studio.thread, "novel", command={"resume": OWN_PLAN})
    after = (await studio.state())["values"]
    kept = any(item["values"].get("head") == before["head"] for item in await _history(studio))
    story = "a branch of the same story" if after["story"] == before["story"] else "another story"
    return (
        f"{story}, {'the other is kept' if kept else 'the other is gone'}; passage {after['step']} from the new answer"
    )


async def answer_again(studio: Studio) -> str:
    """Answer a question that was answered, at its checkpoint, without a fork."""
    await studio.client.runs.wait(studio.thread, "novel", command={"resume": 1})
    old = await _question(studio, step=1)
    await studio.client.runs.wait(studio.thread, "novel", command={"resume": OWN_PLAN}, checkpoint=old["checkpoint"])
    taken = (await studio.state())["values"]["written_plan"] == OWN_PLAN
    return "the new answer is taken" if taken else "the old answer is used"


async def delete_run(studio: Studio) -> str:
    """Delete a run that has ended."""
    run = await studio.client.runs.create(studio.thread, "novel", command={"resume": 1})
    await studio.ended(run)
    try:
        await studio.client.runs.delete(studio.thread, run["run_id"])
    except Refused as error:
        return f"{error.response.status_code}"
    return f"{await studio.ended(run)}; {await studio.written(1)}"


async def copy_thread(studio: Studio) -> str:
    """Copy the thread, and write in the copy."""
    try:
        copied = await studio.client.threads.copy(studio.thread)
    except Refused as error:
        return f"{error.response.status_code}"
    original, studio.thread = studio.thread, copied["thread_id"]
    await studio.client.runs.wait(studio.thread, "novel", command={"resume": 1})
    there, studio.thread = await studio.written(1), original
    return f"{there} in the copy, {await studio.written(1)} in the thread"


async def second_submit(studio: Studio) -> str:
    """Send the form again on a thread that has a story."""
    told = True
    for form in ({"premise": "A ship in a bottle."}, {"title": "The Bottle"}, {}):
        await studio.client.runs.wait(studio.thread, "novel", input=form)
        told = told and "This story has begun" in (await studio.state())["values"].get("problem", "")
    return f"asked again{', with the reason' if told else ''}; {await studio.written(1)}"


async def _history(studio: Studio) -> list[Mapping[str, Any]]:
    return await studio.client.threads.get_history(studio.thread, limit=100)


async def _question(studio: Studio, *, step: int) -> Mapping[str, Any]:
    """Return the checkpoint of the question after a passage."""
    return next(
        item for item in await _history(studio) if item["next"] == ["select_plan"] and item["values"]["step"] == step
    )


DEEDS: Mapping[str, Callable[[Studio], Awaitable[str]]] = {
    "breakpoints before every node": lambda studio: breakpoints(studio, "before"),
    "breakpoints after every node": lambda studio: breakpoints(studio, "after"),
    "an edit of the memory at the question": lambda studio: edit(studio, "short_term_memory", MEMORY, **NUMBER),
    "the same, and a number in a chat": lambda studio: edit(studio, "short_term_memory", MEMORY, **CHAT),
    "the same, and Submit": lambda studio: edit(studio, "short_term_memory", MEMORY, **SUBMIT),
    "an edit of the plans, and a number in a chat": lambda studio: edit(studio, "candidate_plans", PLANS, **CHAT),
    "an edit of the summary": lambda studio: edit(studio, "summary", MEMORY, **NUMBER),
    "an edit of the title, and a number in a chat": lambda studio: edit(studio, "title", MEMORY, **CHAT),
    "an edit of the title, and Submit": lambda studio: edit(studio, "title", MEMORY, **SUBMIT),
    "an edit of the brief, and another take": lambda studio: edit(studio, "brief", MEMORY, **TAKE),
    "an edit of the brief, and Submit": lambda studio: edit(studio, "brief", MEMORY, **SUBMIT),
    **{
        f"edits at a breakpoint before `{node}`": lambda studio, node=node: edit_in_a_step(studio, node)
        for node in NODES
    },
    "`step` set to 99": lambda studio: edit(studio, "step", 99, **NUMBER),
    "`step` set to 99, and a number in a chat": lambda studio: edit(studio, "step", 99, **CHAT),
    "a fork at an answered question": fork,
    "another answer at an answered question": answer_again,
    "Submit on a thread that has a story": second_submit,
    "a second answer while the first is written: `reject`": lambda studio: double_text(studio, "reject"),
    "the same: `enqueue`": lambda studio: double_text(studio, "enqueue"),
    "the same: `interrupt`": lambda studio: double_text(studio, "interrupt"),
    "the same: `rollback`": lambda studio: double_text(studio, "rollback"),
    '`runs.cancel(action="interrupt")`': lambda studio: cancel(studio, "interrupt"),
    '`runs.cancel(action="rollback")`': lambda studio: cancel(studio, "rollback"),
    "`runs.delete` of a run that has ended": delete_run,
    "`threads.copy`": copy_thread,
}
"""What Studio does, by what a reader of the table is told it is."""


async def seen(url: str, writer: Writer) -> list[str]:
    """Return what the server at `url` made of each deed."""
    cells = []
    async with get_client(url=url, timeout=PATIENCE) as client:
        for deed in DEEDS.values():
            studio = Studio(client, writer)
            try:
                async with asyncio.timeout(2 * PATIENCE):
                    await studio.begin()
                    cells.append(await deed(studio))
            except (TimeoutError, httpx.TimeoutException):
                cells.append("never ends")
            except Refused as error:
                cells.append(f"{error.response.status_code}")
            finally:
                writer.go_on.set()
                writer.hold = ""
    return cells


def table(columns: Mapping[str, list[str]]) -> str:
    """Return the table as it stands in docs/servers.md."""
    rows = [["what Studio does", *columns], ["---"] * (len(columns) + 1)]
    rows += [list(row) for row in zip(DEEDS, *columns.values(), strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@contextmanager
def serving(folder: Path, writer: Writer, aegra: str = "") -> Iterator[str]:
    """Run a server with the scripted model, and yield its address: `langgraph dev`, or Aegra by the Python that has it."""
    environment = {
        **QUIET,
        "RECURRENTGPT_HOME": str(folder / "home"),
        "RECURRENTGPT_MODEL": "scripted",
        "RECURRENTGPT_EMBEDDER": HashEmbeddings.model_id,
        "OPENAI_BASE_URL": writer.base_url,
        "OPENAI_API_KEY": "none",
    }
    if aegra:
        with local_postgres(folder / "postgres") as database_url:
            yield from _running(aegra_server(aegra, config(ROOT, folder), database_url), environment, folder, "/health")
    else:
        # As `make studio` starts it: a second run must be able to come while the first is held.
        command = [*dev_server(config(ROOT, folder)), "--n-jobs-per-worker", "10"]
        yield from _running(command, environment, folder, "/ok")


def _running(command: list[str], environment: Mapping[str, str], folder: Path, ready: str) -> Iterator[str]:
    server = ServerProcess(command, environment, folder)
    server.start(ready)
    try:
        yield server.url
    finally:
        server.stop()


def column(aegra: str = "") -> list[str]:
    """Start a server, and return what it makes of each deed."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        Writer() as writer,
        serving(Path(folder), writer, aegra) as url,
    ):
        return asyncio.run(seen(url, writer))


def main() -> None:
    """Do everything on what servers there are, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aegra", default="", help="the Python of an environment with Aegra (`make server`)")
    given = parser.parse_args()
    columns = {DEV: column()}
    if given.aegra:
        columns[AEGRA] = column(os.path.abspath(given.aegra))
    print(table(columns))


if __name__ == "__main__":
    main()
