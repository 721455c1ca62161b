"""`langgraph dev` with our langgraph.json, as LangGraph Studio meets it: a real process and a fake model."""

import subprocess
import sys
from pathlib import Path

import pytest

from recurrentgpt import Library, Story

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.real


@pytest.fixture
def server(processes, environment, tmp_path):
    folder = tmp_path / "server"
    folder.mkdir()
    command = processes.dev_server(processes.config(ROOT, folder))
    it = processes.ServerProcess(command, {**environment, **processes.QUIET}, folder)
    it.start()
    yield it
    it.stop()


def files(folder):
    """Return what a server wrote: databases, the development server's own files, its log."""
    models = folder / "models"
    return [path for path in folder.rglob("*") if path.is_file() and models not in path.parents]


async def test_a_story_through_the_sdk(server, playing, writer, environment, user_folder):
    assert server.addresses() == {"127.0.0.1"}
    async with playing.Play(server.url, writer) as play:
        await play.schemas()
        await play.begin()
        await play.choose()
        await play.edit()
        await play.fork()
        await play.crash(server.kill, server.start)
        await play.autonomous()
        await play.one_step()
    await playing.written_remotely(server.url)
    async with playing.Play(server.url, writer) as again:
        again.thread = play.thread
        told = (await again.state())["values"]
    server.stop()
    kept = b"".join(path.read_bytes() for place in (user_folder, server.folder) for path in files(place))
    assert playing.OWN_PLAN.encode() in kept, "this is where everything is"
    assert environment["OPENAI_API_KEY"].encode() not in kept
    with Library.open(user_folder) as library:
        story = Story.open(told["story"], library=library)
        passages = story.passages()
        assert [passage.step for passage in passages] == list(range(1, told["step"] + 1))
        assert story.head == told["head"]
        tree = story.tree()
        shown = [branch for branch in tree.branches if not branch.superseded]
        assert len(shown) == 2, "the fork left the first branch as it was"
        assert {node.amends != "" for node in tree.nodes.values()} == {True, False}, "edits are amendments"


def test_a_remote_graph(server):
    """The example for RemoteGraph, against this server."""
    told = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "remote.py"), server.url], capture_output=True, text=True, timeout=120
    )
    assert told.returncode == 0, told.stderr
    title, second = told.stdout.splitlines()
    assert title.endswith("2 plans")
    assert second.startswith("Passage 2 was written from: ")
