"""The tools, told and called by the SDK's own client: in process, over standard input and output, and over HTTP."""

import os
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from recurrentgpt import Library
from recurrentgpt.mcp_server import mcp_server
from recurrentgpt.memory.pieces import pieces
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_answers

TOOLS = ["start_story", "stories", "read", "choose_plan", "write_plan", "retry", "goto", "tree", "recall", "export"]
SERVE = ["-m", "recurrentgpt.cli", "mcp"]


@pytest.fixture
def environment(user_folder):
    """Give the environment of a server process with a fake model."""
    with FaultyServer(text=story_answers) as server:
        yield {
            "RECURRENTGPT_HOME": str(user_folder),
            "RECURRENTGPT_EMBEDDER": HashEmbeddings.model_id,
            "RECURRENTGPT_MODEL": "scripted",
            "OPENAI_BASE_URL": server.base_url,
        }


@pytest.fixture
def connected(user_folder):
    """Give a client in this process; it is to be opened and closed by the test's own task."""

    @asynccontextmanager
    async def connect():
        library = await Library.aopen(user_folder)
        try:
            async with Client(mcp_server(library, model=ScriptedChatModel(), embeddings=HashEmbeddings())) as client:
                yield client
        finally:
            await library.aclose()

    return connect


@pytest.fixture
def address(environment):
    """Give the address of a server by HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/mcp"
    server = subprocess.Popen(
        [sys.executable, *SERVE, "--port", str(port)], env={**os.environ, **environment}, stderr=subprocess.DEVNULL
    )
    try:
        answering(url, server)
        yield url
    finally:
        server.terminate()
        server.wait(20)


async def call(client, tool, **arguments):
    """Return what a tool returns, and how it got on."""
    seen = []

    async def progress(done, total, message):
        seen.append((done, message))

    result = await client.call_tool(tool, arguments, progress_callback=progress)
    assert not result.is_error, result.content
    return result.structured_content, seen


async def refused(client, tool, **arguments):
    """Return the sentence with which a tool refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


async def tell(client):
    """Use every tool once, as an assistant would."""
    assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
    first, seen = await call(client, "start_story", premise="A lighthouse that must stay dark.")
    assert first["step"] == 1
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == len(first["text"].split())
    assert any("write" in message for _, message in seen)
    story = first["story"]
    second, _ = await call(client, "choose_plan", story=story, number=2)
    assert (second["step"], second["plan"]) == (2, first["plans"][1])
    third, _ = await call(client, "write_plan", story=story, plan="Mira counts the boats.")
    assert (third["step"], third["plan"]) == (3, "Mira counts the boats.")
    gone, _ = await call(client, "goto", story=story, passage="1")
    assert gone["id"] == first["id"]
    other, _ = await call(client, "choose_plan", story=story, number=3)
    again, _ = await call(client, "retry", story=story)
    assert again["plan"] == other["plan"] == first["plans"][2]
    tree, _ = await call(client, "tree", story=story)
    assert {first["id"], second["id"], third["id"], other["id"]} <= {node["id"] for node in tree["passages"]}
    await call(client, "goto", story=story, passage=third["id"])
    read, _ = await call(client, "read", story=story, passage="2", count=2)
    assert (read["text"], [it["text"] for it in read["before"]]) == (second["text"], [first["text"]])
    found, _ = await call(client, "recall", story=story, about=pieces(first["text"])[0], count=1)
    assert found["found"][0]["id"] == first["id"]
    book, _ = await call(client, "export", story=story)
    assert all(it["text"].splitlines()[0] in book["text"] for it in (first, second, third))
    listed, _ = await call(client, "stories")
    assert [it["story"] for it in listed["stories"]] == [story]


async def test_every_tool_in_process(connected):
    async with connected() as client:
        await tell(client)


async def test_what_goes_wrong_is_said_in_one_sentence(connected):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        assert "from 1 to 3" in await refused(client, "choose_plan", story=first["story"], number=7)
        assert "no story 'nowhere'" in await refused(client, "read", story="nowhere")
        assert "some words" in await refused(client, "write_plan", story=first["story"], plan=" ")
        assert "count is between" in await refused(client, "read", story=first["story"], count=0)
        assert "9" in await refused(client, "goto", story=first["story"], passage="9")
        assert "words" in await refused(client, "start_story", premise="word " * 501)


async def test_a_numeral_as_an_own_plan_is_a_plan(connected):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        second, _ = await call(client, "write_plan", story=first["story"], plan="2")
        assert second["plan"] == "2"


async def test_over_standard_input_and_output(environment):
    command = StdioServerParameters(command=sys.executable, args=SERVE, env=environment)
    async with Client(command) as client:
        await tell(client)


async def test_over_http_on_this_machine_only(address):
    async with Client(address) as client:
        await tell(client)
    async with httpx.AsyncClient() as foreign:
        headers = {"host": "evil.example", "accept": "application/json"}
        answer = await foreign.post(address, json={}, headers=headers)
    assert answer.status_code in (403, 421), "a page elsewhere must not reach it by another name"


def answering(url, server):
    """Wait until the server answers."""
    until = time.monotonic() + 180
    while time.monotonic() < until and server.poll() is None:
        try:
            httpx.get(url, timeout=5)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the MCP server did not start")
