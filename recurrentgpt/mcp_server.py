"""Stories as tools of the Model Context Protocol: for assistants that start, read, steer and search them (extra `mcp`)."""

from __future__ import annotations

import asyncio
import functools
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from typing_extensions import TypedDict

from recurrentgpt.library import Library, default_library
from recurrentgpt.schema.errors import MissingExtra, RecurrentGPTError, SettingsError
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.stream_buffer import StreamBuffer
from recurrentgpt.story import Passage, Story

try:
    from mcp.server.mcpserver import Context as Call
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError as error:
    raise MissingExtra("The MCP server needs its library; install it with: pip install 'recurrentgpt[mcp]'") from error

P = ParamSpec("P")
T = TypeVar("T")

INSTRUCTIONS = """\
Stories of any length, written passage by passage. start_story writes the first passage and proposes plans for the next one.
choose_plan or write_plan writes the passage after it. Nothing is overwritten: retry and goto make branches, tree shows them.
A passage is named by its number on the present branch, its id, or the beginning of its id.
"""


class StoryReply(TypedDict):
    """One line of the list of stories."""

    story: str
    title: str
    genre: str
    passages: int


class StoriesReply(TypedDict):
    """The stories of the library."""

    stories: list[StoryReply]


class EarlierPassage(TypedDict):
    """A passage that was read along with a later one."""

    step: int
    id: str
    text: str


class PassageReply(TypedDict):
    """A passage with the plans proposed after it."""

    story: str
    title: str
    step: int
    id: str
    text: str
    plan: str
    plans: list[str]
    short_term_memory: str


class ReadReply(PassageReply):
    """A passage and those before it."""

    before: list[EarlierPassage]


class FoundPassage(TypedDict):
    """A passage that a search found, and its piece that is nearest in meaning."""

    step: int
    id: str
    score: float
    summary: str
    piece: str


class RecallReply(TypedDict):
    """What a search found, best first."""

    found: list[FoundPassage]


class BookReply(TypedDict):
    """The present branch as one text."""

    format: str
    text: str


def mcp_server(library: Library | None = None, **settings: Any) -> MCPServer[None]:
    """Return a server of all stories in `library` (default: the user's own); `settings` are fields of `Context`."""
    server: MCPServer[None] = MCPServer("recurrentgpt", instructions=INSTRUCTIONS)
    tools = _Tools(library, settings)
    for tool in (
        tools.start_story, tools.stories, tools.read, tools.choose_plan, tools.write_plan,
        tools.retry, tools.goto, tools.tree, tools.recall, tools.export,
    ):  # fmt: skip
        server.add_tool(_with_sentences(tool))
    return server


def _with_sentences(tool: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Return a tool that answers a failure with the sentence it comes with."""

    @functools.wraps(tool)
    async def call(*args: P.args, **named: P.kwargs) -> T:
        try:
            return await tool(*args, **named)
        except RecurrentGPTError as problem:
            raise ToolError(str(problem)) from problem

    return call


class _Tools:
    """What an assistant can do; each docstring is what it is told."""

    def __init__(self, library: Library | None, settings: Mapping[str, Any]) -> None:
        self._library, self._settings = library, settings

    async def start_story(
        self, call: Call[Any, Any], premise: str = "", genre: str = "", title: str = ""
    ) -> PassageReply:
        """Begin a new story and write its first passage; what is left out is made up."""
        library = await self._open_library()
        return await self._written(Story.new(genre, premise, title=title, library=library, **self._settings), call)

    async def stories(self) -> StoriesReply:
        """List all stories: id, title, genre and number of passages; the one written last at the end."""
        found = await (await self._open_library()).astories()
        return {
            "stories": [{"story": it.story, "title": it.title, "genre": it.genre, "passages": it.step} for it in found]
        }

    async def read(self, story: str, passage: str = "", count: int = 1) -> ReadReply:
        """Read a passage (default: the newest) and up to `count` before it, with the plans proposed after it and the memory."""
        if not 1 <= count <= 50:
            raise SettingsError(f"count is between 1 and 50; it is {count}.")
        opened = await self._open(story)
        last = await opened.apassage(passage or None)
        path = (await opened.atree()).path(last.id)[-count:]
        before = [await opened.apassage(id) for id in path[:-1]]
        earlier = [EarlierPassage(step=it.step, id=it.id, text=it.text) for it in before if it.step]
        return {**await _passage_reply(opened, last), "before": earlier}

    async def choose_plan(self, call: Call[Any, Any], story: str, number: int) -> PassageReply:
        """Choose one of the proposed plans by its number, from 1, and write the next passage from it."""
        opened = await self._open(story)
        await opened.achoose(number)
        return await self._written(opened, call)

    async def write_plan(self, call: Call[Any, Any], story: str, plan: str) -> PassageReply:
        """Say in your own words what happens next, in one to five sentences, and write the next passage from it."""
        opened = await self._open(story)
        await opened.achoose({"action": "write", "plan": plan})
        return await self._written(opened, call)

    async def retry(self, call: Call[Any, Any], story: str, passage: str = "") -> PassageReply:
        """Write a passage (default: the newest) once more from the same plan; both takes are kept."""
        opened = await self._open(story)
        return await self._written(opened, call, opened.aretry(passage or None))

    async def goto(self, story: str, passage: str) -> PassageReply:
        """Go back (or over) to any passage; what is written next follows it, on a branch of its own."""
        opened = await self._open(story)
        return await _passage_reply(opened, await opened.agoto(passage))

    async def tree(self, story: str) -> dict[str, object]:
        """Show all passages and branches of a story, and where it stands."""
        return (await (await self._open(story)).atree()).as_json()

    async def recall(self, story: str, about: str, count: int = 5) -> RecallReply:
        """Search the long-term memory of the present branch by meaning."""
        if not 1 <= count <= 20:
            raise SettingsError(f"count is between 1 and 20; it is {count}.")
        found = await (await self._open(story)).asearch(about, count)
        return {
            "found": [
                {"step": it.step, "id": it.id, "score": it.score, "summary": it.summary, "piece": it.piece}
                for it in found
            ]
        }

    async def export(self, story: str, format: Literal["md", "txt", "html"] = "md") -> BookReply:
        """Return the whole present branch as one text."""
        opened = await self._open(story)
        # As text, never to a file of the assistant's choice.
        with tempfile.TemporaryDirectory() as folder:
            path = await opened.aexport(Path(folder) / f"story.{format}")
            return {"format": format, "text": await asyncio.to_thread(path.read_text, encoding="utf-8")}

    async def _open_library(self) -> Library:
        return self._library if self._library is not None else await asyncio.to_thread(default_library)

    async def _open(self, story: str) -> Story:
        return await Story.aopen(story, library=await self._open_library(), **self._settings)

    async def _written(
        self, story: Story, call: Call[Any, Any], events: AsyncIterator[Event] | None = None
    ) -> PassageReply:
        """Write, report how far it is in words, and return the passage."""
        words, heard, doing = 0, StreamBuffer(), ""
        async for event in events if events is not None else story.astream():
            if event["event"] == "stage":
                doing = event["node"].replace("_", " ")
            elif event["event"] not in ("prose", "retract"):
                continue
            heard.apply(event)
            # Progress never goes back, though a sentence may be taken back.
            words = max(words, len(heard.text.split()))
            await call.report_progress(words, message=f"{doing}: {words} words")
        return await _passage_reply(story, await story.apassage())


async def _passage_reply(story: Story, passage: Passage) -> PassageReply:
    return {
        "story": story.id,
        "title": (await story.asnapshot()).title,
        "step": passage.step,
        "id": passage.id,
        "text": passage.text,
        "plan": passage.plan,
        "plans": passage.plans,
        "short_term_memory": passage.short_term_memory,
    }


def serve(port: int | None = None) -> None:
    """Serve on standard input and output, or with a port by streamable HTTP at http://127.0.0.1:port/mcp, until ended."""
    server = mcp_server()
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)
