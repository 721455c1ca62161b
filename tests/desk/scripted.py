"""A desk with a model that follows a script, as a process of its own: python -m tests.desk.scripted --home DIR.

The model writes as slowly as `--delay` says, and waits in the middle of a passage while DIR/hold exists, before the memory
while DIR/hold-memory does. While DIR/refuse exists it is refused, while DIR/refuse-memory does every call but a passage's.
While DIR/fail does it fails, as a busy server would.
When a passage's first word came, in seconds since 1970, is in DIR/first-word. The words of its replies follow from the number of
the call: from that in DIR/calls on, so that a test reads the same words every time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import subprocess
import sys
import time
import uuid
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk

from recurrentgpt.desk.app import create_app
from recurrentgpt.desk.serve import bound, serve
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.schema.errors import ModelRefused, ModelUnavailable
from recurrentgpt.testing import ScriptedChatModel, Streaming, pieces_of, story_replies
from tests.same_ids import ids_of

ROOT = Path(__file__).parents[2]
HELD_AFTER = 60
"""Words after which the model waits."""


class Drawn:
    """Numbers of calls and ids of stories, anew from what DIR/calls says, and so the same in a test every time."""

    def __init__(self, home: Path) -> None:
        self._file, self._said = home / "calls", ""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
        self._begin(zlib.crc32(test.encode()) if test else os.getpid())

    def _begin(self, first: int) -> None:
        self._calls, self._ids = itertools.count(first), ids_of(str(first))

    def _look(self) -> None:
        said = self._file.read_text() if self._file.exists() else ""
        if said and said != self._said:
            self._said = said
            self._begin(int(said))

    def call(self) -> int:
        """Return the number of the next call."""
        self._look()
        return next(self._calls)

    def id(self) -> uuid.UUID:
        """Return an id, in the place of `uuid.uuid4`."""
        self._look()
        return self._ids()


class PacedModel(ScriptedChatModel):
    """Follow the script at the pace of a slow machine."""

    delay: float = 0.0
    hold: Path | None = None

    def _there(self, name: str) -> bool:
        return self.hold is not None and self.hold.with_name(name).exists()

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        words, prose = 0, not any(SCHEMA_HEADING in str(message.text) for message in messages)
        if self._there("refuse"):
            raise ModelRefused("The server refused the request with status 401: check OPENAI_API_KEY.")
        if self._there("fail"):
            raise ModelUnavailable("The model's server is busy.")
        if not prose and self._there("refuse-memory"):
            raise ModelRefused("The server refused the request with status 402: there is no credit left.")
        while not prose and self._there("hold-memory"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        async for chunk in super()._astream(messages, *args, **kwargs):
            before, words = words, words + len(chunk.text.split())
            if self.delay:
                await asyncio.sleep(self.delay)
            if prose and not before and words and self.hold is not None:
                self.hold.with_name("first-word").write_text(str(time.time()))
            while prose and before < HELD_AFTER <= words and self.hold is not None and self.hold.exists():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            yield chunk


def paced(home: Path, delay: float, drawn: Drawn | None = None) -> PacedModel:
    """Return a model that never says the same twice, also in another process."""
    numbers = drawn or Drawn(home)

    def reply(messages: list[BaseMessage]) -> str:
        return story_replies([*messages, HumanMessage(f"call {numbers.call()}")])

    return PacedModel(tier="full", replies=reply, delay=delay, hold=home / "hold")


DESK = ("recurrentgpt.desk.app", "recurrentgpt.desk.serve")
"""What a process that serves a desk imports."""


@contextmanager
def scripted_desk(home: Path, delay: float = 0.0) -> Iterator[str]:
    """Serve the stories of a folder from a process of its own, and give the desk's address."""
    command = [sys.executable, "-m", "tests.desk.scripted", "--home", str(home), "--delay", str(delay)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/desk/"
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Serve until the process is ended."""
    options = argparse.ArgumentParser()
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--delay", type=float, default=0.0)
    given = options.parse_args()
    given.home.mkdir(parents=True, exist_ok=True)
    Streaming.pieces = pieces_of(1)  # here, pages look at words
    listening = bound("127.0.0.1", given.port)
    drawn = Drawn(given.home)
    uuid.uuid4 = drawn.id
    with Library.open(given.home) as library:
        settings = {
            "model": paced(given.home, given.delay, drawn),
            "embeddings": HashEmbeddings(),
            "new_character": 0.0,
        }
        app = create_app(library, folder=given.home / "desk", given=settings)
        serve(app, listening, ready=lambda: print(listening.getsockname()[1], flush=True))


if __name__ == "__main__":
    main()
