"""The tools, told and called by the SDK's own client: in process, over standard input and output, and over HTTP."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import INVALID_PARAMS

import recurrentgpt
from recurrentgpt import Library, Story
from recurrentgpt.mcp_server import ELSEWHERE, TOOLS_OF_COMMANDS, http_app, mcp_server
from recurrentgpt.memory.row_texts import pieces
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.errors import RecurrentGPTError, SettingsError
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_answers
from recurrentgpt.tool_errors import without_commands
from tests.conftest import NEVER

TOOLS = ["start_story", "stories", "read", "choose_plan", "write_plan", "new_plans", "edit_memory", "finish", "retry",
         "goto", "tree", "recall", "export"]  # fmt: skip
TOKEN = "0123456789abcdef0123"
SERVE = ["-m", "recurrentgpt.cli", "mcp"]
MCP = ["recurrentgpt.mcp_server"]


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


@asynccontextmanager
async def opened(folder):
    """Open a library and close it."""
    library = await Library.aopen(folder)
    try:
        yield library
    finally:
        await library.aclose()


@pytest.fixture
def connected(user_folder):
    """Give a client in this process; it is to be opened and closed by the test's own task."""

    @asynccontextmanager
    async def connect():
        settings = {"model": ScriptedChatModel(), "embeddings": HashEmbeddings()}
        async with opened(user_folder) as library, Client(mcp_server(library, **settings)) as client:
            yield client

    return connect


@pytest.fixture
def address(environment, warm):
    """Give the address of a server by HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/mcp"
    command = (*SERVE, "--port", str(port))
    server = warm.start(*command, env={**os.environ, **environment}, stderr=subprocess.DEVNULL, imports=MCP)
    try:
        answering(url, server)
        yield url
    finally:
        server.terminate()
        server.wait()


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


def asked_of(model):
    """Return the whole prompts of all calls."""
    return ["\n".join(str(message.content) for message in messages) for messages in model.calls]


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
    offered, _ = await call(client, "new_plans", story=story)
    assert (offered["step"], offered["text"]) == (2, again["text"])
    edited, _ = await call(client, "edit_memory", story=story, memory="Mira keeps the lamp.")
    assert (edited["short_term_memory"], edited["plans"]) == ("Mira keeps the lamp.", offered["plans"])
    last, _ = await call(client, "finish", story=story, passages=1)
    assert last["step"] == 3
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


async def test_a_story_begins_in_a_genre_and_a_language(connected, user_folder):
    async with connected() as client:
        first, _ = await call(client, "start_story", premise="A gothic story about a mill.", language="Italian")
        other, _ = await call(
            client, "start_story", premise="Ein Müller zählt nachts die Säcke und kommt auf einen zu viel."
        )
        listed, _ = await call(client, "stories")
        genres = {line["story"]: line["genre"] for line in listed["stories"]}
        assert genres[first["story"]] == "gothic"
    async with opened(user_folder) as library:
        told = [await library.engine.log.record(reply["story"]) for reply in (first, other)]
    assert [record["settings"]["language"] for record in told] == ["Italian", "German"]


async def test_every_tool_in_process(connected):
    async with connected() as client:
        await tell(client)


async def test_what_goes_wrong_is_said_in_one_sentence(connected):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        assert "from 1 to 3" in await refused(client, "choose_plan", story=first["story"], number=7)
        assert "no story 'nowhere'" in await refused(client, "read", story="nowhere")
        assert "some words" in await refused(client, "write_plan", story=first["story"], plan=" ")
        assert "count is between 1 and 10; it is 0." in await refused(client, "read", story=first["story"], count=0)
        assert "passages is between 1 and 5; it is 9." in await refused(
            client, "finish", story=first["story"], passages=9
        )
        assert "words is between 20 and 2000" in await refused(client, "retry", story=first["story"], words=5)
        assert "offset is at least 0; it is -1." in await refused(client, "tree", story=first["story"], offset=-1)
        assert "9" in await refused(client, "goto", story=first["story"], passage="9")
        assert "words" in await refused(client, "start_story", premise="word " * 501)


async def test_what_is_no_sentence_is_no_plan_of_its_own(connected):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        second, _ = await call(client, "write_plan", story=first["story"], plan="2")
        assert second["plan"] == first["plans"][1]
        assert "number from 1 to 3" in await refused(client, "write_plan", story=first["story"], plan="help")
        assert "the tool finish" in await refused(client, "write_plan", story=first["story"], plan="end")


async def test_over_standard_input_and_output(environment, tmp_path):
    command = StdioServerParameters(command=sys.executable, args=SERVE, env=environment)
    with (tmp_path / "stderr").open("w+") as written:
        async with Client(stdio_client(command, errlog=written)) as client:
            await tell(client)
            assert "no story" in await refused(client, "read", story="nowhere")
        written.seek(0)
        assert written.read() == "", "a line for each call would stand around what the assistant prints"


async def test_over_http_on_this_machine_only(address):
    async with Client(address) as client:
        await tell(client)
    async with httpx.AsyncClient() as foreign:
        headers = {"host": "evil.example", "accept": "application/json"}
        answer = await foreign.post(address, json={}, headers=headers)
    assert answer.status_code in (403, 421), "a page elsewhere must not reach it by another name"


def answering(url, server):
    """Wait until the server answers."""
    until = time.monotonic() + NEVER
    while time.monotonic() < until and server.poll() is None:
        try:
            httpx.get(url, timeout=5)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the MCP server did not start")


async def test_tools_say_what_each_parameter_is_and_whether_they_write(connected):
    async with connected() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in tools.values():
        assert all(field.get("description") for field in tool.input_schema["properties"].values()), tool.name
        shapes = [tool.output_schema, *tool.output_schema.get("$defs", {}).values()]
        assert all(field.get("description") for shape in shapes for field in shape["properties"].values()), tool.name
        assert tool.annotations.read_only_hint or tool.annotations.destructive_hint is False
    reading = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert reading == {"stories", "read", "tree", "recall", "export"}


async def test_long_lists_and_books_come_in_pages(connected, monkeypatch):
    monkeypatch.setattr("recurrentgpt.mcp_server.PAGE", 400)
    async with connected() as client:
        told = [(await call(client, "start_story", premise=f"Lamp {number}."))[0] for number in range(3)]
        page, _ = await call(client, "stories", offset=1, count=1)
        assert ([it["story"] for it in page["stories"]], page["total"]) == ([told[1]["story"]], 3)
        for plan in ("Mira runs.", "Bo hides a spoon."):
            await call(client, "goto", story=told[0]["story"], passage="1")
            await call(client, "write_plan", story=told[0]["story"], plan=plan)
        tree, _ = await call(client, "tree", story=told[0]["story"], offset=1, count=2)
        assert ([it["step"] for it in tree["passages"]], tree["total"]) == ([1, 2], 4)
        assert (len(tree["branches"]), tree["total_branches"]) == (1, 2)
        text, at = "", 0
        while at is not None:
            book, _ = await call(client, "export", story=told[0]["story"], format="txt", offset=at)
            text, at = text + book["text"], book["next_offset"]
            assert len(book["text"]) <= 400
        assert all(line in text for line in told[0]["text"].splitlines())


async def test_passages_and_the_codex_are_resources_and_there_is_a_prompt(connected):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        templates = (await client.list_resource_templates()).resource_templates
        assert {it.uri_template for it in templates} == {"story://{story}/passages/{passage}", "story://{story}/codex"}
        read = await client.read_resource(f"story://{first['story']}/passages/1")
        assert read.contents[0].text == first["text"]
        codex = json.loads((await client.read_resource(f"story://{first['story']}/codex")).contents[0].text)
        assert all(entry["name"] for entry in codex)
        assert codex
        (prompt,) = (await client.list_prompts()).prompts
        asked = await client.get_prompt(prompt.name, {"premise": "A lamp."})
        assert "A lamp." in asked.messages[0].content.text


async def test_the_codex_of_a_story_to_play_keeps_from_its_player_what_is_hidden(user_folder):
    settings = {"model": ScriptedChatModel(), "embeddings": HashEmbeddings()}
    async with opened(user_folder) as library, Client(mcp_server(library, **settings)) as client:
        first, _ = await call(client, "start_story", mode="fiction", player="Una")
        story = await Story.aopen(first["story"], library=library, **settings)
        await story.aadd_entry("Bela", "person", ["Bela keeps the ferry."])
        await story.aadd_entry("Ottoline", "person", ["Ottoline is the murderer."])
        await story.ahide_entry("Ottoline")
        read = await client.read_resource(f"story://{first['story']}/codex")
    assert "Ottoline" not in read.contents[0].text
    assert "Bela keeps the ferry." in read.contents[0].text


async def test_no_error_sends_an_assistant_to_a_shell(connected):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        said = await refused(client, "goto", story=first["story"], passage="9")
        assert "the tool tree" in said
        assert "recurrentgpt" not in said + await refused(client, "read", story="nowhere")


async def test_wrong_arguments_are_told_in_a_sentence(connected):
    async with connected() as client:
        said = await refused(client, "choose_plan", number="second")
        assert "choose_plan cannot use these arguments. " in said
        assert "number: Input should be a valid integer" in said
        assert "story: Field required" in said
        assert "pydantic" not in said
        assert "\n" not in said
        assert client.server_info.version == recurrentgpt.__version__


@pytest.mark.parametrize("tool", ["read", "goto", "retry", "new_plans", "edit_memory"])
async def test_a_passage_is_named_by_its_number_as_replies_tell_it(connected, tool):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        await call(client, "choose_plan", story=first["story"], number=1)
        more = {"memory": "The chess player is tired."} if tool == "edit_memory" else {}
        told, _ = await call(client, tool, story=first["story"], passage=first["step"], **more)
        assert told["step"] == 1
        tools = {it.name: it.input_schema["properties"] for it in (await client.list_tools()).tools}
        assert tools[tool]["passage"]["anyOf"] == [{"type": "string"}, {"type": "integer"}]
        assert tools[tool]["passage"]["description"]


async def test_a_story_to_play_first_asks_who_the_player_is(connected):
    async with connected() as client:
        asked, _ = await call(client, "start_story", premise="A lighthouse.", mode="fiction")
        assert (asked["step"], asked["text"]) == (0, "")
        assert asked["plans"]
        assert asked["question"] == "Who are you? Choose somebody by number, or say it in a sentence."
        first, _ = await call(client, "choose_plan", story=asked["story"], number=1)
        assert first["question"].startswith("What do you do?")
        second, _ = await call(client, "write_plan", story=asked["story"], plan="I climb the stairs.")
        assert [it["step"] for it in (first, second)] == [1, 2]
        assert "from 1 to 3" in await refused(client, "write_plan", story=asked["story"], plan="help")
        third, _ = await call(client, "write_plan", story=asked["story"], plan="thanks")
        assert (third["step"], third["plan"]) == (3, "thanks")
        novel, _ = await call(client, "start_story", premise="A lighthouse.")
        assert novel["question"].startswith("What happens next?")


async def test_a_passage_has_the_length_that_is_asked_for(user_folder):
    model = ScriptedChatModel()
    async with opened(user_folder) as library:
        server = mcp_server(library, model=model, embeddings=HashEmbeddings())
        async with Client(server) as client:
            first, _ = await call(client, "start_story", words=200)
            kept = (await Story.aopen(first["story"], library=library)).settings
            await call(client, "retry", story=first["story"], words=280)
            assert "2000" in await refused(client, "start_story", words=9000)
            after = (await Story.aopen(first["story"], library=library)).settings
    assert (kept["min_words"], kept["max_words"]) == (150, 250)
    assert after == kept, "the length of one passage is not kept"
    assert any("210 to 350 words" in prompt for prompt in asked_of(model))


async def test_an_ending_is_asked_of_the_last_passages(user_folder):
    model = ScriptedChatModel()
    async with opened(user_folder) as library:
        server = mcp_server(library, model=model, embeddings=HashEmbeddings())
        async with Client(server) as client:
            first, _ = await call(client, "start_story")
            before = len(model.calls)
            last, _ = await call(client, "finish", story=first["story"], passages=2)
    assert last["step"] == 3
    assert any("novel's last" in prompt for prompt in asked_of(model)[before:])


async def test_the_second_of_two_clients_is_told_that_a_story_is_busy(user_folder):
    asked, go_on = threading.Event(), threading.Event()
    go_on.set()

    def answer(body):
        asked.set()
        go_on.wait(60)
        return story_answers(body)

    with FaultyServer(text=answer) as model:
        async with opened(user_folder) as library:
            settings = {"model": "scripted", "base_url": model.base_url, "embeddings": HashEmbeddings()}
            async with Client(mcp_server(library, **settings)) as one, Client(mcp_server(library, **settings)) as other:
                story = (await call(one, "start_story"))[0]["story"]
                asked.clear()
                go_on.clear()
                try:
                    writing = asyncio.create_task(call(one, "choose_plan", story=story, number=1))
                    assert await asyncio.to_thread(asked.wait, 60)
                    for tool, more in (
                        ("choose_plan", {"number": 2}),
                        ("edit_memory", {"memory": "Mira."}),
                        ("retry", {}),
                    ):
                        said = await refused(other, tool, story=story, **more)
                        assert said.endswith(
                            "being written at this moment, by somebody else: wait until it is done, then try again."
                        )
                    assert (await call(other, "read", story=story))[0]["step"] == 1, "reading is free"
                finally:
                    go_on.set()
                assert (await writing)[0]["step"] == 2
                assert (await call(other, "choose_plan", story=story, number=1))[0]["step"] == 3


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("There is no story 'x'; `recurrentgpt stories` lists them.", "There is no story 'x'; the tool stories lists them."),
        ("The edit of passage 3 is unfinished: go on with it (`recurrentgpt edit x --resume`), or give it up (`--drop`).",
         "The edit of passage 3 is unfinished. Whoever runs this server can mend it there."),
        ("The server at x knows no such model: check RECURRENTGPT_MODEL or --model, and OPENAI_BASE_URL.",
         "The server at x knows no such model. Whoever runs this server can mend it there."),
        ("A plan of your own needs some words.", "A plan of your own needs some words."),
    ],
)  # fmt: skip
def test_what_only_a_shell_can_do_is_left_to_whoever_runs_the_server(message, told):
    assert without_commands(RecurrentGPTError(message), TOOLS_OF_COMMANDS, ELSEWHERE) == told


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "tower.example"])
def test_other_machines_need_a_token(host):
    with pytest.raises(SettingsError, match="--token"):
        http_app(mcp_server(), host=host)
    with pytest.raises(SettingsError, match="16"):
        http_app(mcp_server(), host=host, token="short")


async def test_with_a_token_only_whoever_brings_it_is_served(user_folder):
    async with opened(user_folder) as library:
        server = mcp_server(library, model=ScriptedChatModel(), embeddings=HashEmbeddings())
        app = http_app(server, host="0.0.0.0", token=TOKEN)
        transport = httpx.ASGITransport(app)
        async with (
            server.session_manager.run(),
            httpx.AsyncClient(transport=transport, base_url="http://tower.example") as http,
        ):
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}  # fmt: skip
            headers = {"Accept": "application/json, text/event-stream"}
            status = []
            for key in (None, "Bearer wrong", TOKEN, f"Bearer {TOKEN}"):
                given = headers | ({"Authorization": key} if key else {})
                status.append((await http.post("/mcp", json=hello, headers=given)).status_code)
    assert status == [401, 401, 401, 200]


def test_the_command_refuses_other_machines_without_a_token(environment, warm):
    command = (*SERVE, "--port", "9", "--host", "0.0.0.0")
    ended = warm.run(*command, env={**os.environ, **environment}, imports=MCP)
    assert ended.returncode == 2
    assert "--token" in ended.stderr


async def test_unknown_arguments_and_tools_are_refused_in_a_sentence(connected):
    async with connected() as client:
        said = await refused(client, "start_story", foo=1, premise="A lamp.")
        assert said == (
            "start_story has no argument 'foo': it takes premise, genre, title, mode, player, words, language."
        )
        assert (await call(client, "stories"))[0]["total"] == 0
        assert "no tool 'sing'" in await refused(client, "sing")
        assert "mode" in await refused(client, "start_story", premise="A barn.", player="A cook")
        assert (await call(client, "stories"))[0]["total"] == 0


@pytest.mark.parametrize(("tool", "argument"), [
    ("choose_plan", "number"), ("write_plan", "words"), ("finish", "passages"), ("read", "count"), ("tree", "offset"),
    ("goto", "passage"),
])  # fmt: skip
async def test_a_boolean_is_no_number(connected, tool, argument):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        given = {"story": first["story"], argument: True} | ({"plan": "Mira runs."} if tool == "write_plan" else {})
        assert f"{argument}: This is true or false, and no number." in await refused(client, tool, **given)
        assert (await call(client, "read", story=first["story"]))[0]["step"] == 1
        second, _ = await call(client, "choose_plan", story=first["story"], number="2")
        assert second["plan"] == first["plans"][1]


@pytest.mark.parametrize("premise", ["hi", "help", "2"])
async def test_what_begins_no_story_in_a_chat_begins_none(connected, premise):
    async with connected() as client:
        told = await refused(client, "start_story", premise=premise, genre="horror")
        assert "Nothing was written, for this tells nothing of a story" in told
        assert (await call(client, "stories"))[0]["total"] == 0
        assert (await call(client, "start_story", premise="Dracula"))[0]["step"] == 1


async def test_a_premise_that_may_be_anything_is_made_up_and_a_title_is_one(connected):
    async with connected() as client:
        assert (await call(client, "start_story", premise="anything", genre="horror"))[0]["step"] == 1
        assert (await call(client, "start_story", premise="The End", title="The End"))[0]["step"] == 1


@pytest.mark.parametrize(("typed", "tool"), [
    ("end the story", "finish"), ("finish the story", "finish"), ("write the ending", "finish"),
    ("another take", "retry"), ("new plans", "new_plans"), ("you choose", "choose_plan"),
])  # fmt: skip
async def test_what_asks_for_an_action_names_the_tool_that_does_it(connected, typed, tool):
    async with connected() as client:
        first, _ = await call(client, "start_story")
        assert f"the tool {tool}" in await refused(client, "write_plan", story=first["story"], plan=typed)
        assert (await call(client, "read", story=first["story"]))[0]["step"] == 1


@pytest.mark.parametrize(("name", "arguments", "told"), [
    ("tell_me_a_story", {}, "needs its argument 'premise'"),
    ("tell_me_a_story", {"premise": " "}, "needs its argument 'premise'"),
    ("tell_me_a_story", {"premise": "A lamp.", "mood": "dark"}, "has no argument 'mood'"),
    ("sing", {}, "There is no prompt 'sing'"),
])  # fmt: skip
async def test_a_prompt_that_cannot_be_filled_in_is_refused_in_a_sentence(connected, name, arguments, told):
    async with connected() as client:
        with pytest.raises(MCPError, match=told) as refusal:
            await client.get_prompt(name, arguments)
    assert refusal.value.code == INVALID_PARAMS


def test_the_command_says_that_a_port_is_taken(environment, warm):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = (*SERVE, "--port", str(port))
        ended = warm.run(*command, env={**os.environ, **environment}, imports=MCP)
    assert ended.returncode == 2
    assert f"cannot listen at 127.0.0.1 port {port}" in ended.stderr
    assert "--port" in ended.stderr
