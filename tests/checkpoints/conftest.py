"""What the persistence tests share."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from tests.warm_process import Forked, WarmProcess

Steps = Callable[..., Any]


class State(TypedDict, total=False):
    step: int
    text: list[str]
    answers: list[str]


@pytest.fixture
def story() -> StateGraph[State]:
    """Give a small story: it counts to `step % 10 == 0`, asks, and goes on."""

    def write(state: State) -> State:
        return {"step": state["step"] + 1, "text": ["x" * 6000]}

    def ask(state: State) -> State:
        return {"answers": [*state.get("answers", []), interrupt(f"after {state['step']}")]}

    builder = StateGraph(State)
    builder.add_node("write", write)
    builder.add_node("ask", ask)
    builder.add_edge(START, "write")
    builder.add_conditional_edges("write", lambda state: "write" if state["step"] % 10 else "ask", ["write", "ask"])
    builder.add_conditional_edges("ask", lambda state: END if state["step"] >= 30 else "write", [END, "write"])
    return builder


@pytest.fixture
def put_steps() -> Steps:
    """Give a function that saves `count` checkpoints of about 6 KB, each with its writes, as a graph would."""

    async def put(saver: BaseCheckpointSaver[Any], count: int, thread: str = "t", ns: str = "") -> dict[str, Any]:
        config: dict[str, Any] = {"configurable": {"thread_id": thread, "checkpoint_ns": ns}}
        version = None
        for step in range(count):
            version = saver.get_next_version(version, None)
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"text": [f"{step}" + "x" * 6000], "step": step}
            checkpoint["channel_versions"] = {"text": version, "step": version}
            config = await saver.aput(config, checkpoint, {"step": step}, checkpoint["channel_versions"])
            await saver.aput_writes(config, [("text", ["y" * 6000]), ("step", step)], "task")
        return config

    return put


@pytest.fixture
def start_writer(warm: WarmProcess) -> Callable[..., Forked]:
    """Give a function that starts `writer.py` on a place in a process of its own."""

    def start(url: str | None, thread: str, count: int) -> Forked:
        environment = {**os.environ, "RECURRENTGPT_DATABASE_URL": url or ""}
        script = str(Path(__file__).with_name("writer.py"))
        return warm.start(script, thread, str(count), env=environment, stdout=subprocess.PIPE)

    return start
