"""The examples of other people's agents and clients, each with the real package and a scripted model."""

import os
import subprocess
import sys

import openai
import pytest
from fastapi.testclient import TestClient
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from recurrentgpt import Library, Story
from recurrentgpt.desk.app import create_app
from recurrentgpt.testing import FaultyServer, story_answers
from tests.examples.test_examples import EXAMPLES, example


class Calling(GenericFakeChatModel):
    """A model that calls tools as it is told."""

    def bind_tools(self, tools, **options):
        return self


def calling(*planned):
    """Return a model that makes these calls of tools, and says `done` for None."""
    replies = (
        AIMessage("done")
        if it is None
        else AIMessage("", tool_calls=[{"name": it[0], "args": it[1], "id": str(number)}])
        for number, it in enumerate(planned)
    )
    return Calling(messages=replies)


@pytest.fixture
def environment(monkeypatch):
    """Give the model of stories by the environment."""
    with FaultyServer(text=story_answers) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RECURRENTGPT_MODEL", "scripted")
        yield


@pytest.fixture
def library(environment, tmp_path):
    """Give a library for what an example writes."""
    with Library.open(tmp_path / "stories") as opened:
        yield opened


def test_create_agent(library, capsys):
    pytest.importorskip("langchain.agents")
    story = Story.new(premise="A lamp.", library=library)
    plans = story.step().plans
    said = example("create_agent").main(
        calling(("continue_story", {"story": story.id}), None), "Go on.", library=library
    )
    assert said == "done"
    assert plans[1] in capsys.readouterr().out
    assert story.passage().plan == plans[1]


def test_deep_agent(library, capsys):
    pytest.importorskip("deepagents")
    task = {"description": "A lighthouse that must stay dark.", "subagent_type": "storyteller"}
    example("deep_agent").main(calling(("task", task), None), "Have a story written.", library=library)
    (line,) = library.stories()
    assert Story.open(line.story, library=library).passage().text in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")  # langgraph-supervisor is made with it
def test_supervisor(library, capsys):
    pytest.importorskip("langgraph_supervisor")
    hand_over = ("transfer_to_storyteller", {})
    model = calling(hand_over, None, hand_over, None)
    example("supervisor").main(model, ["A lighthouse that must stay dark.", "2"], library=library)
    (line,) = library.stories()
    told = capsys.readouterr().out
    assert all(passage.text in told for passage in Story.open(line.story, library=library).passages())
    assert line.step == 2


def test_mcp_client(environment, tmp_path):
    environ = {**os.environ, "RECURRENTGPT_HOME": str(tmp_path / "home")}
    command = [sys.executable, str(EXAMPLES / "mcp_client.py")]
    lines = subprocess.run(command, capture_output=True, text=True, env=environ, check=True).stdout.splitlines()
    assert [line[:2] for line in lines[-2:]] == ["1.", "2."]


def test_openai_client(library, tmp_path, capsys):
    app = create_app(library, folder=tmp_path / "desk", chat=True)
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 5)) as http:
        client = openai.OpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=http)
        example("openai_client").main(client, ["A lighthouse that must stay dark.", "2"])
    (line,) = library.stories()
    told = capsys.readouterr().out
    assert all(passage.text in told for passage in Story.open(line.story, library=library).passages())
