"""Every example runs as it stands, and is short enough to be read."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_answers

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    """Return an example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def endpoint(monkeypatch):
    """Give a model by the environment, as examples expect it, and close the user's own library behind them."""
    opened = {}
    monkeypatch.setattr(importlib.import_module("recurrentgpt.storage"), "_default", opened)
    with FaultyServer(text=story_answers) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RECURRENTGPT_MODEL", "scripted")
        yield server
        for engine in opened.values():
            call(engine.close)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) < 60


def test_every_example_is_run_by_a_test():
    tests = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    for path in EXAMPLES.glob("*.py"):
        assert f'example("{path.stem}")' in tests or f'"{path.name}"' in tests, path.name


async def test_subgraph(capsys):
    await example("subgraph").main()
    told = capsys.readouterr().out
    assert "Passage 1 asks" in told
    assert "Passage 3 asks" in told
    assert "The invoice says" in told


async def test_own_loop(capsys):
    await example("own_loop").main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(".")[0] for line in lines] == ["1", "2", "3", "Otherwise 2"]
    assert lines[1][3:] != lines[3][13:]


async def test_own_parts(capsys):
    from langchain_core.embeddings import DeterministicFakeEmbedding

    model = ScriptedChatModel()
    await example("own_parts").main(model, DeterministicFakeEmbedding(size=16))
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["Context: passage 2, 2 plans", "dict: passage 2, 2 plans", "NoneType: passage 2, 3 plans"]
    assert model.calls


@pytest.mark.filterwarnings("ignore:.langchain-community. is being sunset:DeprecationWarning")
async def test_vector_store(capsys):
    vectors = await example("vector_store").main(ScriptedChatModel())
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("Passage ")]) == 2
    assert vectors.index.ntotal > 6 * 2


class Calling(GenericFakeChatModel):
    """A model that calls tools as it is told."""

    def bind_tools(self, tools, **options):
        assert [tool.name for tool in tools] == ["start_story", "continue_story"]
        return self


def test_tool():
    import json

    found = []

    def replies():
        yield AIMessage("", tool_calls=[{"name": "start_story", "args": {"premise": "A lamp."}, "id": "1"}])
        yield AIMessage(
            "", tool_calls=[{"name": "continue_story", "args": {"story": found[0]["story"], "plan": "2"}, "id": "2"}]
        )
        yield AIMessage("It might end in fog.")

    built = example("tool").agent(Calling(messages=replies()))
    for update in built.stream({"messages": "Tell me a story."}, stream_mode="updates"):
        for message in update.get("tools", {}).get("messages", []):
            found.append(json.loads(message.content))
    assert [result["step"] for result in found] == [1, 2]
    assert found[1]["story"] == found[0]["story"]
    assert len(found[1]["plans"]) == 3


def test_remote_without_an_address_says_what_it_wants():
    told = subprocess.run([sys.executable, str(EXAMPLES / "remote.py")], capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == "Give the address of a server: python examples/remote.py http://127.0.0.1:2024\n"


async def test_fastapi_app():
    import json

    from httpx import ASGITransport, AsyncClient

    def events(answer):
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]

    transport = ASGITransport(example("fastapi_app").app)
    async with AsyncClient(transport=transport, base_url="http://example") as client:
        begun = events(await client.post("/stories", json={"premise": "A lamp."}))
        assert [event["event"] for event in begun][-1] == "done"
        assert sum(event["event"] == "prose" for event in begun) > 3
        story = begun[-1]["story"]
        passages = f"/stories/{story}/passages"
        second = events(await client.post(passages, json={"plan": 2}))
        assert next(event for event in second if event["event"] == "passage")["step"] == 2
        refused = await client.post(passages, json={"plan": 9})
        assert (refused.status_code, "from 1 to 3" in refused.json()["error"]) == (400, True)
        lost = await client.post("/stories/nowhere/passages", json={"plan": 1})
        assert (lost.status_code, lost.json()) == (404, {"error": "There is no such story."})
