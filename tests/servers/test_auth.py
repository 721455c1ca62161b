"""The example of auth on a real server: nobody reads, resumes or finds another's story."""

import json
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_client

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.real


@pytest.fixture
def server(processes, environment, tmp_path):
    folder = tmp_path / "server"
    folder.mkdir()
    config = processes.config(ROOT, folder)
    auth = ROOT / "examples" / "auth.py"
    guarded = {**json.loads(config.read_text()), "auth": {"path": f"{auth}:auth"}}
    config.write_text(json.dumps(guarded))
    tokens = {"STORY_TOKENS": "ann-secret:ann,bob-secret:bob"}
    it = processes.ServerProcess(processes.dev_server(config), {**environment, **processes.QUIET, **tokens}, folder)
    it.start()
    yield it
    it.stop()


def client(server, token):
    return get_client(url=server.url, headers={"Authorization": f"Bearer {token}"} if token else {})


async def refused(call, *codes, what=""):
    with pytest.raises(httpx.HTTPStatusError) as caught:
        await call
    assert caught.value.response.status_code in codes, what


async def test_every_story_is_its_owners(server):
    async with client(server, "ann-secret") as ann, client(server, "bob-secret") as bob, client(server, "") as nobody:
        assert len(await ann.assistants.search()) == 4
        thread = (await ann.threads.create())["thread_id"]
        begun = await ann.runs.wait(thread, "novel", input={})
        story = begun["story"]
        for other, codes in ((bob, (403, 404)), (nobody, (401, 403))):
            calls = {
                "get": lambda by: by.threads.get(thread),
                "state": lambda by: by.threads.get_state(thread),
                "history": lambda by: by.threads.get_history(thread),
                "edit": lambda by: by.threads.update_state(thread, {"short_term_memory": "Mine."}),
                "delete": lambda by: by.threads.delete(thread),
                "resume": lambda by: by.runs.create(thread, "novel", command={"resume": 1}),
                "runs": lambda by: by.runs.list(thread),
                "log": lambda by: by.store.search_items(("recurrentgpt",)),
            }
            for name, call in calls.items():
                await refused(call(other), *codes, what=name)
        assert await bob.threads.search() == []
        assert [item["thread_id"] for item in await ann.threads.search()] == [thread]
        own = (await bob.threads.create())["thread_id"]
        for said in ({"input": {"story": story}}, {"input": {}, "context": {"base_url": "http://127.0.0.1:9"}},
                     {"input": {}, "context": {"prompts": "/etc"}}):  # fmt: skip
            await refused(bob.runs.create(own, "novel", **said), 403)
        await refused(bob.runs.create(None, "one_step", input={"story": story}), 403)
        answered = await ann.runs.wait(thread, "novel", command={"resume": 2})
        assert answered["step"] == 2
