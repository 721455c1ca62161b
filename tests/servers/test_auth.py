"""The example of auth on real servers: nobody reads, resumes or finds another's story, or has the server's key."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_client

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.real
HERS = "Ann hides the key of the salt mine."


@pytest.fixture(params=["dev", "aegra"])
def server(request, processes, environment, tmp_path):
    folder = tmp_path / "server"
    folder.mkdir()
    config = processes.config(ROOT, folder)
    example = ROOT / "examples" / "auth.py"
    auth = {"path": f"{example}:auth", "disable_studio_auth": True}
    config.write_text(json.dumps({**json.loads(config.read_text()), "auth": auth}))
    if request.param == "dev":
        command, ready = processes.dev_server(config), "/ok"
    else:
        python, database = request.getfixturevalue("aegra"), request.getfixturevalue("postgres_url")
        command, ready = processes.aegra_server(python, config, database), "/health"
    tokens = {"STORY_TOKENS": "ann-secret:ann,bob-secret:bob"}
    it = processes.ServerProcess(command, {**environment, **processes.QUIET, **tokens}, folder)
    it.start(ready)
    it.is_dev = request.param == "dev"
    yield it
    it.stop()


@pytest.fixture
async def ann(server):
    async with client(server, "ann-secret") as hers:
        yield hers


@pytest.fixture
async def bob(server):
    async with client(server, "bob-secret") as his:
        yield his


@pytest.fixture
def post(server):
    """Give a request as no SDK sends it."""

    async def post(path, token, body, headers=None):
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as plain:
            return await plain.post(path, json=body, headers=headers or {"Authorization": f"Bearer {token}"})

    return post


def client(server, token):
    return get_client(url=server.url, headers={"Authorization": f"Bearer {token}"} if token else {})


async def refused(call, *codes, what=""):
    with pytest.raises(httpx.HTTPStatusError) as caught:
        await call
    assert caught.value.response.status_code in codes, (what, caught.value.response.text)
    return caught.value.response.text


async def begun(by, premise="Bob looks for a key."):
    """Return a new thread and its story as a run gave it out."""
    thread = (await by.threads.create())["thread_id"]
    return thread, await by.runs.wait(thread, "novel", input={"premise": premise})


async def test_every_thread_is_its_owners(server, post, ann, bob):
    thread, _ = await begun(ann, HERS)
    assert len(await ann.assistants.search()) == 4
    async with client(server, "") as nobody:
        for other, codes in ((bob, (403, 404)), (nobody, (401, 403))):
            calls = {
                "get": lambda by: by.threads.get(thread),
                "state": lambda by: by.threads.get_state(thread),
                "history": lambda by: by.threads.get_history(thread),
                "edit": lambda by: by.threads.update_state(thread, {"short_term_memory": "Mine."}),
                "delete": lambda by: by.threads.delete(thread),
                "resume": lambda by: by.runs.create(thread, "novel", command={"resume": 1}),
                "log": lambda by: by.store.search_items(("recurrentgpt",)),
                "an assistant": lambda by: by.assistants.create("novel", context={"base_url": "http://127.0.0.1:9"}),
            }
            for name, call in calls.items():
                await refused(call(other), *codes, what=name)
    if server.is_dev:
        # A copy of what is not there and one of what is another's are the same to it.
        await refused(bob.threads.copy(thread), 409)
        assert (await post("/threads", "", {}, headers={"X-Auth-Scheme": "langsmith"})).status_code in (401, 403)
    assert await bob.threads.search() == []
    assert await bob.threads.search(metadata={"owner": "ann"}) == []
    assert [item["thread_id"] for item in await ann.threads.search()] == [thread]
    assert (await ann.runs.wait(thread, "novel", command={"resume": 2}))["step"] == 2


async def test_no_client_has_the_servers_key_or_disk(post, bob, playing):
    thread, _ = await begun(bob)
    with playing.Writer() as elsewhere:
        for name, value in {
            "base_url": elsewhere.base_url, "prompts": "/etc", "model": "dearest", "models": {"writer": "dearest"},
            "adapter": "/etc/passwd",
        }.items():  # fmt: skip
            for said in ({"context": {name: value}}, {"config": {"configurable": {name: value}}}):
                for where in (thread, None):
                    told = await refused(bob.runs.wait(where, "novel", input={}, **said), 403, what=said)
                    assert f"A client cannot set {name}" in told
                    assert ".." not in told
            run = {"assistant_id": "novel", "input": {}, "config": {"configurable": {name: value}}}
            told = await post(
                f"/threads/{thread}/commands", "bob-secret", {"id": 1, "method": "run.start", "params": run}
            )
            assert "cannot set" in told.text, "an error may come with status 200 there"
        emptied = {"base_url": "", "prompts": None, "models": {}, "plans": 2}
        assert (await bob.runs.wait(None, "one_step", input={}, context=emptied))["step"] == 1
        assert elsewhere.requests == []


async def test_a_storys_id_opens_nothing_to_others(server, ann, bob):
    """Whatever way it gets into a thread: as input, by a command, by an edit of the state or with a new thread."""
    thread, hers = await begun(ann, HERS)
    stolen = {"story": hers["story"], "head": hers["head"]}
    told = await bob.runs.wait(None, "one_step", input={"story": hers["story"]}, raise_error=False)
    assert hers["passage"] not in json.dumps(told)
    ways = [
        ("novel", {"input": stolen}),
        ("novel", {"command": {"update": stolen, "goto": "open_story"}}),
        ("one_step", {"command": {"update": {**stolen, "status": "retaking"}, "goto": "open_story"}}),
        ("novel", {"command": {"update": [["story", hers["story"]], ["head", hers["head"]]], "goto": "retrieve"}}),
        ("novel", {"command": {"goto": {"node": "open_story", "input": stolen}}}),
    ]
    threads = []
    for graph, said in ways:
        threads.append((await begun(bob))[0])
        await bob.runs.wait(threads[-1], graph, raise_error=False, **said)
    threads.append((await begun(bob))[0])
    await bob.threads.update_state(threads[-1], stolen, as_node="open_story")
    await bob.runs.wait(threads[-1], "novel", command={"resume": 1}, raise_error=False)
    if server.is_dev:
        steps = [{"updates": [{"values": stolen, "as_node": "__start__"}]}]
        threads.append((await bob.threads.create(graph_id="novel", supersteps=steps))["thread_id"])
        await bob.runs.wait(threads[-1], "novel", input=None, raise_error=False)
    for number, where in enumerate(threads):
        history = json.dumps(await bob.threads.get_history(where, limit=200))
        assert HERS not in history, number
        assert hers["passage"] not in history, number
    again = await ann.runs.wait(None, "one_step", input={"story": hers["story"], "plan": "She swallows it."})
    assert (again["step"], again["story"]) == (2, hers["story"])
    assert HERS in json.dumps(await ann.threads.get_history(thread, limit=200)), "this is where it stands"


def test_the_desk_is_not_there(server):
    """Behind a proxy everybody comes from this machine."""
    with httpx.Client(base_url=server.url) as nobody:
        for path in ("/desk/", "/desk/api/stories"):
            assert nobody.get(path).status_code in (401, 403, 404), path
            signed = nobody.get(path, headers={"Authorization": "Bearer ann-secret"})
            assert signed.status_code == 404, path


def test_the_command_line_says_what_the_server_refuses(server, tmp_path):
    def said(token, *options):
        env = {**os.environ, "RECURRENTGPT_HOME": str(tmp_path / "nowhere"), "RECURRENTGPT_REMOTE_TOKEN": token}
        command = [sys.executable, "-m", "recurrentgpt", "write", "--remote", server.url, "--steps", "1", *options]
        told = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
        assert told.returncode == 2, told
        return told.stderr

    assert f"The server at {server.url} refuses this: A client cannot set model.\n" in said(
        "bob-secret", "--model", "x"
    )
    assert "check RECURRENTGPT_REMOTE_TOKEN." in said("no-token")
