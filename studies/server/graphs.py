"""The systems as graphs of a server, for langgraph-studies.json; `study run --remote` is their client.

A thread is a novel. The system itself is the node `novel`; what is around it makes the thread all that a client needs: the
finished novel and its calls end up in the thread's state, as many servers keep their store to themselves.
"""

from __future__ import annotations

import uuid
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from recurrentgpt.graph.story import RECURSION_LIMIT, RETRY
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.studies.baselines.baseline_state import NovelInput, NovelOutput
from recurrentgpt.studies.baselines.catalogue import all_systems
from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.recording.store_recorder import delete_lines, recorded_lines
from recurrentgpt.studies.runs.runner import read_novel
from recurrentgpt.studies.runs.schemas import WrittenNovel
from recurrentgpt.studies.study_context import StudyContext


class Order(TypedDict):
    """What a novel is begun with."""

    genre: str
    premise: str


class Served(NovelInput, NovelOutput, total=False):
    """The state of a novel's thread."""

    written: WrittenNovel
    """What `recurrentgpt.studies.runs.runner.read_novel` found in the log."""
    calls: list[str]
    """The lines of its recording."""


async def begin(state: Served, config: RunnableConfig) -> Update:
    """Name the story by its thread, which nobody else's run has."""
    return {"story": config["configurable"].get("thread_id") or str(uuid.uuid4())}


async def gather(state: Served, runtime: Runtime[StudyContext]) -> Update:
    """Put the novel and its calls where the client can read them."""
    log = _log(runtime)
    found = await read_novel(state["story"], state["head"], log)
    return {"written": found, "calls": await recorded_lines(log, state["story"])}


async def tidy(state: Served, runtime: Runtime[StudyContext]) -> Update:
    """Take the calls out of the store, now that a checkpoint has them."""
    await delete_lines(_log(runtime), state["story"])
    return {"status": "finished"}


def _log(runtime: Runtime[StudyContext]) -> StoryLog:
    assert runtime.store is not None
    return StoryLog(runtime.store)


def server_graph(system: System) -> Any:
    """Return the graph of a system as a server runs it; the server brings checkpoints and store."""
    novel = system.build().set_node_defaults(retry_policy=RETRY).compile(name=system.name)
    steps: list[Any] = [begin, ("novel", novel), gather, tidy]
    graph = (
        StateGraph(Served, context_schema=StudyContext, input_schema=Order, output_schema=NovelOutput)
        .add_sequence(steps)
        .add_edge(START, "begin")
        .add_edge("tidy", END)
    )
    return graph.compile(name=system.name).with_config({"recursion_limit": RECURSION_LIMIT})


# A server looks a graph up by its name in this module: every system of the catalogue is here under its own.
globals().update({name: server_graph(system) for name, system in all_systems().items()})
