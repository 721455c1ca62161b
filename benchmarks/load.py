"""Measure many stories at once: `python -m benchmarks.load --stories 1 10 50 200`, or `--server URL` for a server's way.

`--processes 1 2 4` shares the stories among so many processes on one Postgres, as the workers of a server do.

A fake OpenAI server answers every call after 200 ms, in a process of its own. In process, the stories share one event loop and
one Postgres (`AsyncPostgresSaver`, or SQLite with --sqlite). The ideal is N stories that never wait for anything but the model:
N / model time of a step. `cpu_ms_per_step` is what this process computes for a step (its share of the opening counted in),
without Postgres: one event loop does no more than 1000 / that many steps a second. A server is to be started with
OPENAI_BASE_URL as `--model` prints it. At the end every story's log is read: each step exactly once, one branch. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from recurrentgpt import Context
from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.infrastructure.event_loop import run
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings

LATENCY = 0.2
WAITS = 4
"""Times that a step waits for a capable model: the passage, the memory, the plans, the choice."""


async def fake_model(latency: float) -> None:
    """Serve `/chat/completions` after `latency` seconds at a free port of this machine, and print its address."""
    import itertools

    from recurrentgpt.testing import story_answers

    calls = itertools.count()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].split("\r\n")[0])
                body = json.loads(await reader.readexactly(length))
                until = asyncio.get_running_loop().time() + latency
                unlike = {"role": "user", "content": f"call {next(calls)}"}
                text = story_answers({**body, "messages": [*body["messages"][-1:], unlike]})
                whole = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
                delta = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
                end = {"index": 0, "delta": {}, "finish_reason": "stop"}
                usage = {"prompt_tokens": 900, "completion_tokens": 300, "total_tokens": 1200}
                chunks = [
                    {**whole, "choices": [delta]},
                    {**whole, "choices": [end]},
                    {**whole, "choices": [], "usage": usage},
                ]
                sent = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
                await asyncio.sleep(until - asyncio.get_running_loop().time())
                form = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: "
                writer.write(f"{form}{len(sent.encode())}\r\n\r\n{sent}".encode())
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1000)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


@contextlib.contextmanager
def model_process(latency: float) -> Iterator[str]:
    """Run the fake model in a process of its own, and yield its address."""
    command = [sys.executable, "-m", "benchmarks.load", "--model", "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextlib.asynccontextmanager
async def place(sqlite: bool, folder: Path, database: str) -> AsyncIterator[tuple[Any, Any]]:
    """Open a saver and a store: in SQLite, in the Postgres at `database`, or in one of their own in `folder`."""
    if sqlite or database:
        async with open_persistence(database or None, folder=None if database else folder) as persistence:
            yield persistence.saver, persistence.store
        return
    from recurrentgpt.checkpoints.disposable import local_postgres

    with local_postgres(folder / "postgres") as url:
        async with open_persistence(url) as persistence:
            yield persistence.saver, persistence.store


async def in_process(stories: int, steps: int, url: str, sqlite: bool, latency: float, database: str) -> dict[str, Any]:
    """Write `steps` passages of `stories` stories at once in this process."""
    mark = f"load{os.getpid()}x"
    with tempfile.TemporaryDirectory() as name:
        async with place(sqlite, Path(name), database) as (saver, store):
            graph = build_story_graph(checkpointer=saver, store=store)
            context = Context(
                model="scripted", base_url=url, embeddings=HashEmbeddings(), selector="simulator", last_step=steps
            )
            log, told = StoryLog(store), list[dict[str, Any]]()

            async def story(number: int) -> None:
                config: Any = {"configurable": {"thread_id": f"{mark}{number}"}}
                given: Any = {"premise": "A lamp that must not go out.", "story": f"{mark}{number}".replace("-", "w")}
                stamps = [time.perf_counter()]
                try:
                    async for update in graph.astream(
                        given, config, context=context, durability="sync", stream_mode="updates"
                    ):
                        if "commit" in update:
                            stamps.append(time.perf_counter())
                    told.append({"stamps": stamps, "error": None})
                except Exception as error:  # noqa: BLE001 - counted
                    told.append({"stamps": stamps, "error": f"{type(error).__name__}: {error}"[:200]})

            await story(-1)  # connections, prompts and schemas are made once
            told.clear()
            began, busy = time.perf_counter(), time.process_time()
            await asyncio.gather(*(story(number) for number in range(stories)))
            seconds, busy = time.perf_counter() - began, time.process_time() - busy
            wrong = [number for number in range(stories) if not await whole(log, f"{mark}{number}", steps)]
    return {
        **figures(stories, told, seconds, wrong, latency),
        "cpu_ms_per_step": round(1000 * busy / (stories * steps), 1),
    }


async def floor(stories: int, steps: int, url: str, sqlite: bool, latency: float, database: str) -> dict[str, Any]:
    """Do with LangGraph and langchain-openai alone what a step needs of them: six nodes, four calls, a row of the log.

    The nodes make and check nothing. What this costs, no care of ours can save.
    """
    from langchain_openai import ChatOpenAI
    from langgraph.graph import END, START, StateGraph
    from pydantic import SecretStr
    from typing_extensions import TypedDict

    class Bare(TypedDict, total=False):
        step: int
        passage: str
        memory: str
        plans: str
        plan: str
        recalled: str

    chat = ChatOpenAI(model="scripted", base_url=url, api_key=SecretStr("none"), stream_usage=True)

    async def reply(state: Bare, kind: str) -> str:
        prompt = f"{kind}\n{state.get('passage', '')}\n{state.get('memory', '')}\n{state.get('plan', '')}"
        return "".join([str(chunk.text) async for chunk in chat.astream(prompt)])

    async def retrieve(state: Bare) -> Bare:
        return {"recalled": state.get("passage", "")[:400]}

    async def write(state: Bare) -> Bare:
        return {"passage": await reply(state, "write"), "step": state.get("step", 0) + 1}

    async def update_memory(state: Bare) -> Bare:
        return {"memory": await reply(state, "memory")}

    async def propose_plans(state: Bare) -> Bare:
        return {"plans": await reply(state, "plans")}

    async def select(state: Bare) -> Bare:
        return {"plan": await reply(state, "select")}

    with tempfile.TemporaryDirectory() as name:
        async with place(sqlite, Path(name), database) as (saver, store):

            async def commit(state: Bare) -> Bare:
                await store.aput(("floor",), uuid.uuid4().hex, dict(state))
                return {"recalled": ""}

            graph = (
                StateGraph(Bare)
                .add_node("retrieve", retrieve)
                .add_node("write", write)
                .add_node("update_memory", update_memory)
                .add_node("propose_plans", propose_plans)
                .add_node("commit", commit)
                .add_node("select", select)
                .add_edge(START, "retrieve")
                .add_edge("retrieve", "write")
                .add_edge("write", "update_memory")
                .add_edge("write", "propose_plans")
                .add_edge(["update_memory", "propose_plans"], "commit")
                .add_edge("commit", "select")
                .add_conditional_edges("select", lambda state: END if state["step"] >= steps else "retrieve")
                .compile(checkpointer=saver)
            )

            async def story(number: int) -> None:
                config: Any = {"configurable": {"thread_id": f"floor{os.getpid()}x{number}"}, "recursion_limit": 10_000}
                async for _ in graph.astream({"plan": "A lamp."}, config, durability="sync", stream_mode="updates"):
                    pass

            await story(-1)
            began, busy = time.perf_counter(), time.process_time()
            await asyncio.gather(*(story(number) for number in range(stories)))
            seconds, busy = time.perf_counter() - began, time.process_time() - busy
    return {
        "stories": stories,
        "seconds": round(seconds, 2),
        "steps_per_second": round(stories * steps / seconds, 2),
        "cpu_ms_per_step": round(1000 * busy / (stories * steps), 1),
    }


def in_processes(processes: int, stories: int, steps: int, url: str, latency: float) -> dict[str, Any]:
    """Write the same in so many processes, each with its share of the stories, on one Postgres."""
    from recurrentgpt.checkpoints.disposable import local_postgres

    with tempfile.TemporaryDirectory() as name, local_postgres(Path(name) / "postgres") as database:
        # The tables are made once, before the processes meet.
        asyncio.run(in_process(1, 1, url, False, latency, database))
        share = ["--stories", str(stories // processes), "--steps", str(steps), "--latency", str(latency)]
        command = [sys.executable, "-m", "benchmarks.load", *share, "--database", database, "--model-at", url]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
        told = [json.loads(process.communicate()[0])["at"][0] for process in running]
    return {
        "processes": processes,
        "stories": sum(one["stories"] for one in told),
        "steps_per_second": round(sum(one["steps_per_second"] for one in told), 2),
        "cpu_ms_per_step": round(statistics.mean(one["cpu_ms_per_step"] for one in told), 1),
        "failed": sum(one["failed"] for one in told),
        "logs_not_whole": sum(len(one["logs_not_whole"]) for one in told),
    }


async def whole(log: StoryLog, story: str, steps: int) -> bool:
    """Return whether a story's log holds each step exactly once, on one branch."""
    links = await log.links(story)
    head = await log.head(story)
    path = await log.path(story, head["head"]) if head else []
    return sorted(link["step"] for link in links.values()) == list(range(steps + 1)) and len(path) == steps + 1


async def through_server(stories: int, steps: int, url: str, latency: float) -> dict[str, Any]:
    """Write the same through a server of LangGraph's protocol."""
    from langgraph_sdk import get_client

    told = list[dict[str, Any]]()
    wrong = list[int]()

    async def story(number: int) -> None:
        stamps, seen = [time.perf_counter()], list[int]()
        error = None
        thread = (await client.threads.create())["thread_id"]
        try:
            async for part in client.runs.stream(
                thread, "novel_autonomous", input={}, context={"last_step": steps}, stream_mode="updates"
            ):
                if part.event == "updates" and "commit" in part.data:
                    stamps.append(time.perf_counter())
                error = str(part.data)[:200] if part.event == "error" else error
            history = await client.threads.get_history(thread, limit=20 * steps)
            seen = sorted({item["values"]["step"] for item in history if item["values"].get("status") == "choosing"})
        except Exception as problem:  # noqa: BLE001 - counted
            error = f"{type(problem).__name__}: {problem}"[:200]
        told.append({"stamps": stamps, "error": error})
        if seen != list(range(steps + 1)):
            wrong.append(number)

    async with get_client(url=url, timeout=600) as client:
        await story(-1)
        told.clear()
        wrong.clear()
        began = time.perf_counter()
        await asyncio.gather(*(story(number) for number in range(stories)))
        seconds = time.perf_counter() - began
    return figures(stories, told, seconds, wrong, latency)


def figures(
    stories: int, told: list[dict[str, Any]], seconds: float, wrong: list[int], latency: float
) -> dict[str, Any]:
    """Return what is printed: throughput, what a step costs beside the model, errors, and logs that are not whole."""
    # The opening is a call of its own and no step: it is before the first stamp but one.
    steps = [
        after - before for one in told for before, after in zip(one["stamps"][1:], one["stamps"][2:], strict=False)
    ]
    writing = max(one["stamps"][-1] for one in told) - min(
        one["stamps"][min(1, len(one["stamps"]) - 1)] for one in told
    )
    ideal = stories / (WAITS * latency)
    rate = len(steps) / writing if writing else 0.0
    over = sorted(1000 * (step - WAITS * latency) for step in steps) or [0.0]
    return {
        "stories": stories,
        "seconds": round(seconds, 2),
        "steps_per_second": round(rate, 2),
        "ideal_steps_per_second": round(ideal, 2),
        "share_of_ideal": round(rate / ideal, 3),
        "overhead_ms_p50": round(statistics.median(over), 1),
        "overhead_ms_p95": round(over[math.ceil(0.95 * len(over)) - 1], 1),
        "errors": [one["error"] for one in told if one["error"]][:5],
        "failed": sum(one["error"] is not None for one in told),
        "logs_not_whole": wrong,
    }


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, nargs="+", default=[1, 10, 50, 200])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--latency", type=float, default=LATENCY)
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--processes", type=int, nargs="+", help="share them among so many processes, on one Postgres")
    parser.add_argument("--database", default="", help="postgresql:// address; a Postgres of its own without one")
    parser.add_argument("--model-at", default="", help="address of a fake model that runs already")
    parser.add_argument("--server", help="address of a running server, whose OPENAI_BASE_URL is the fake model")
    parser.add_argument("--floor", action="store_true", help="what LangGraph and the client alone do in as many calls")
    parser.add_argument("--model", action="store_true", help="be the fake model")
    given = parser.parse_args()
    if given.model:
        asyncio.run(fake_model(given.latency))
        return
    results = []
    with contextlib.nullcontext(given.model_at) if given.model_at else model_process(given.latency) as url:
        for stories in given.stories:
            if given.processes:
                results += [in_processes(count, stories, given.steps, url, given.latency) for count in given.processes]
            elif given.server:
                results.append(asyncio.run(through_server(stories, given.steps, given.server, given.latency)))
            else:
                asked = (stories, given.steps, url, given.sqlite, given.latency, given.database)
                results.append(run((floor if given.floor else in_process)(*asked)))
            print(json.dumps(results[-1]), file=sys.stderr)
    kept = "server" if given.server else "SQLite" if given.sqlite else "Postgres"
    print(json.dumps({"kept_in": kept, "steps": given.steps, "latency": given.latency, "at": results}, indent=2))


if __name__ == "__main__":
    main()
