"""What the tests of the command line share: a scripted endpoint, and the command in this process or in its own."""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.types import RetryPolicy

from recurrentgpt.cli.entry_point import run
from recurrentgpt.graph.rewrite import build_rewrite_graph
from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.endpoint_errors import is_transient
from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.story import Story
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_replies
from tests.conftest import HIDDEN, NEVER
from tests.same_ids import ids_of
from tests.warm_process import Forked, WarmProcess

QUICK = RetryPolicy(initial_interval=0.001, max_interval=0.001, max_attempts=5, retry_on=is_transient)
COMMAND = (sys.executable, "-m", "recurrentgpt")
"""The command in a process of its own."""


def reply(body: dict[str, Any]) -> str:
    """Answer any call of the graph as a capable model would, differently for different prompts."""
    asked = "\n".join(str(message["content"]) for message in body["messages"])
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema:
        asked += f"\n{SCHEMA_HEADING}\n{json.dumps(schema)}"
    return story_replies([HumanMessage(f"{asked} {body.get('seed')}"), HumanMessage(asked)])


def wait_for_requests(server: FaultyServer, count: int) -> None:
    """Return once `server` was asked so often; fail where that never happens."""
    deadline = time.monotonic() + NEVER
    while len(server.requests) < count:
        assert time.monotonic() < deadline, f"only {len(server.requests)} requests of {count} came"
        time.sleep(0.05)


@dataclass
class Result:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The JSON Lines of standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


Cli = Callable[..., Result]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    """Give an endpoint that writes stories, and make it the user's."""
    with FaultyServer("ok", text=reply) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("RECURRENTGPT_MODEL", "scripted")
        yield endpoint


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Give the command in this process: quicker, and without waits between retries."""
    for build in (build_story_graph, build_rewrite_graph):
        # The last word: an engine names the retry itself.
        quick = functools.partial(_with_quick_retry, build)
        monkeypatch.setattr(f"recurrentgpt.engine.engine.{build.__name__}", quick)
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments: str, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = run(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return command


def _with_quick_retry(build: Callable[..., Any], **settings: Any) -> Any:
    return build(**settings | {"retry": QUICK})


@pytest.fixture
def process(warm: WarmProcess) -> Callable[..., Forked]:
    """Give the command as a process of its own."""

    def start(*arguments: str, **options: Any) -> Forked:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return warm.start("-m", "recurrentgpt", *arguments, **(pipes | options))

    return start


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Write a story of two passages once; give the user folder that holds it, and its id."""
    folder = tmp_path_factory.mktemp("written") / "home"
    command = ["write", "--genre", "mystery", "--title", "The Glass Bridge", "--steps", "2", "--json"]
    with FaultyServer("ok", text=reply) as endpoint, pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.startswith(HIDDEN)]:
            environment.delenv(name)
        for name, value in {
            "RECURRENTGPT_HOME": str(folder),
            "RECURRENTGPT_EMBEDDER": "hash-256",
            "RECURRENTGPT_MODEL": "scripted",
            "OPENAI_BASE_URL": endpoint.base_url,
            "OPENAI_API_KEY": "a-key",
        }.items():
            environment.setenv(name, value)
        environment.setattr(uuid, "uuid4", ids_of("written"))
        with redirect_stdout(io.StringIO()) as out:
            assert run(command) == 0
    return folder, str(json.loads(out.getvalue().splitlines()[0])["story"])


@pytest.fixture
def story(server: FaultyServer, written: tuple[Path, str], user_folder: Path) -> str:
    """Give the id of a story of two passages, which the user's folder holds."""
    folder, story = written
    shutil.copytree(folder, user_folder)
    return story


DIES = (
    "Mist came over the fields before noon. Bastian Cole fell from the wall and died before anybody reached him. Signe Orrin "
    "covered his face. The bread cooled on the sill near a blue jug."
)
WALKS = (
    "The jug stood empty on the sill.\n\nBastian Cole walked to the stove and lit it again. Rain fell on the yard, and the "
    "gutters sang all night. A dog slept under the cart beside three wet sacks."
)
FELL = "Bastian Cole fell from the wall and died before anybody reached him."


@pytest.fixture
def contradicting(user_folder: Path) -> str:
    """Give the id of a story in whose second passage a man walks who died in the first."""
    passages = iter([DIES, WALKS])
    dead = {"name": "Bastian Cole", "kind": "person", "change": "set", "aspect": "status", "value": "dead"}

    def replies(messages: list[BaseMessage]) -> str:
        if not any(SCHEMA_HEADING in str(message.text) for message in messages):
            return next(passages)
        answer = json.loads(story_replies(messages))
        if "codex" in answer:
            answer["codex"] = (
                [{**dead, "sentence": FELL}] if FELL in str(messages) and WALKS not in str(messages) else []
            )
        return json.dumps(answer)

    model = ScriptedChatModel(tier="full", replies=replies)
    settings = {"min_words": 20, "max_words": 80, "selector": "simulator", "new_character": 0.0, "seed": 7}
    with Library.open(user_folder) as library:
        opened = Story.new(
            "fantasy", "Two wardens.", library=library, model=model, embeddings=HashEmbeddings(), **settings
        )
        opened.step()
        opened.choose("Bastian lights the stove for Signe.")
        opened.step()
        return opened.id
