"""Stories as tools of the Model Context Protocol: for assistants that start, read, steer and search them (extra `mcp`)."""

from __future__ import annotations

import asyncio
import functools
import hmac
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from pydantic import Field, ValidationError
from typing_extensions import TypedDict

import recurrentgpt
from recurrentgpt.engine.hidden_entries import Readers, of_entries
from recurrentgpt.infrastructure.listening import listening
from recurrentgpt.library import Library, default_library
from recurrentgpt.nodes.human.answers import is_played, parse_answer
from recurrentgpt.nodes.human.chat import asked_words
from recurrentgpt.nodes.human.phrases import TO_END, told_premise
from recurrentgpt.prose.model_text import visible_line
from recurrentgpt.schema.choice import Action
from recurrentgpt.schema.errors import BadAnswer, MissingExtra, RecurrentGPTError, SettingsError
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.stream_buffer import StreamBuffer
from recurrentgpt.story import Passage, Story
from recurrentgpt.tool_arguments import TextOrNumber, Whole, unknown_argument, wrong_arguments
from recurrentgpt.tool_errors import without_commands

try:
    from mcp.server.mcpserver import Context as Call
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ResourceError, ToolError
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.shared.exceptions import MCPError
    from mcp.types import INVALID_PARAMS, CallToolResult, GetPromptResult, InputRequiredResult, ToolAnnotations
    from starlette.datastructures import Headers
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Receive, Scope, Send
except ImportError as error:
    raise MissingExtra("The MCP server needs its library; install it with: pip install 'recurrentgpt[mcp]'") from error

P = ParamSpec("P")
T = TypeVar("T")

StoryName = Annotated[str, Field(description="Id of the story, the unique beginning of it, or its title")]
PassageName = Annotated[
    TextOrNumber,
    Field(
        description="A passage: its number on the present branch, its id, or the beginning of its id; newest if empty"
    ),
]


def _whole(description: str, least: int, most: int | None = None) -> Any:
    """Return how a whole number is described; its bounds are checked by the tool, which says them in a sentence."""
    bounds: dict[str, Any] = {"minimum": least} | ({} if most is None else {"maximum": most})
    return Field(description=description, json_schema_extra=bounds)


Words = Annotated[
    Whole | None, _whole("About how many words a passage has; as the story keeps it if left out", 20, 2000)
]
Offset = Annotated[Whole, _whole("How many to leave out at the beginning", 0)]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
"""Whatever is written, nothing is overwritten."""
MOVES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

MOST_LISTED, MOST_READ, MOST_FOUND, MOST_LAST = 200, 10, 20, 5
PAGE = 20_000
"""Characters of a book in one reply."""
TOOLS_OF_ACTIONS: Mapping[Action, str] = {
    "another_take": "the tool retry writes the passage once more",
    "new_plans": "the tool new_plans proposes others",
    "simulator": "take one yourself with the tool choose_plan",
    "end": "the tool finish brings the story to its close",
}
TOOLS_OF_COMMANDS = {"show": "read", "recall": "recall", "stories": "stories", "tree": "tree", "goto": "goto"}
ELSEWHERE = "Whoever runs this server can mend it there."

INSTRUCTIONS = """\
Stories of any length, written passage by passage. start_story writes the first passage and proposes plans for the next one.
choose_plan or write_plan writes the passage after it; new_plans proposes others, and finish brings the story to a close.
Nothing is overwritten: retry, goto and edit_memory make branches, tree shows them. A story to play (mode fiction) first asks who
the player is: its question says so, and its first plans are roles.
A passage is named by its number on the present branch, its id, or the beginning of its id.
"""


def _told(description: str) -> Any:
    return Field(description=description)


StoryId = Annotated[str, _told("Id of the story")]
PassageId = Annotated[str, _told("Id of the passage")]
Step = Annotated[int, _told("Number of the passage on its branch, from 1; the opening, without words, is 0")]
Total = Annotated[int, _told("How many there are in all")]


class StoryReply(TypedDict):
    """One line of the list of stories."""

    story: StoryId
    title: Annotated[str, _told("Its title")]
    genre: Annotated[str, _told("Its genre")]
    passages: Annotated[int, _told("Passages on its present branch")]


class StoriesReply(TypedDict):
    """Stories of the library, a page of them."""

    stories: Annotated[list[StoryReply], _told("This page, the story written last first")]
    total: Total


class EarlierPassage(TypedDict):
    """A passage that was read along with a later one."""

    step: Step
    id: PassageId
    text: Annotated[str, _told("The passage, ready to read")]


class PassageReply(TypedDict):
    """A passage with the plans proposed after it."""

    story: StoryId
    title: Annotated[str, _told("Title of the story")]
    step: Step
    id: PassageId
    text: Annotated[str, _told("The passage, ready to read")]
    plan: Annotated[str, _told("The plan that it was written from")]
    question: Annotated[
        str, _told("What the plans answer: in a novel what happens next, in fiction who the player is or what they do")
    ]
    plans: Annotated[list[str], _told("Answers to the question; choose_plan takes their numbers, from 1")]
    short_term_memory: Annotated[str, _told("What is in mind after the passage, one sentence a line")]


class ReadReply(PassageReply):
    """A passage and those before it."""

    before: Annotated[list[EarlierPassage], _told("The passages before it, the oldest first")]


class FoundPassage(TypedDict):
    """A passage that a search found, and its piece that is nearest in meaning."""

    step: Step
    id: PassageId
    score: Annotated[float, _told("How near it is, at most 1")]
    summary: Annotated[str, _told("The passage in a sentence")]
    piece: Annotated[str, _told("Its words that are nearest")]


class RecallReply(TypedDict):
    """What a search found."""

    found: Annotated[list[FoundPassage], _told("The passages, the nearest first")]


class BookReply(TypedDict):
    """A page of the present branch as one text."""

    format: Annotated[str, _told("md, txt or html")]
    text: Annotated[str, _told("This page of it")]
    next_offset: Annotated[int | None, _told("Where the next page begins; null for the last one")]


class TreePassage(TypedDict):
    """A passage in the tree of a story."""

    id: PassageId
    parent: Annotated[str, _told("Id of the passage before it; empty for the opening")]
    step: Step
    words: Annotated[int, _told("Its words")]
    names: Annotated[list[str], _told("Names that were given to it")]


class TreeBranch(TypedDict):
    """A branch of a story."""

    tip: Annotated[str, _told("Id of its last passage")]
    left: Annotated[str, _told("Id of the passage where it left another branch; empty for the one with the opening")]
    first_step: Annotated[int, _told("Number of its first own passage")]
    last_step: Annotated[int, _told("Number of its last passage")]
    is_head: Annotated[bool, _told("Whether the story stands on it")]


class TreeReply(TypedDict):
    """The passages and branches of a story, a page of them."""

    story: StoryId
    title: Annotated[str, _told("Title of the story")]
    head: Annotated[str, _told("Id of the passage where the story stands")]
    passages: Annotated[list[TreePassage], _told("This page of the passages of all branches, by number")]
    total: Total
    branches: Annotated[list[TreeBranch], _told("As many of the branches, the present one first")]
    total_branches: Annotated[int, _told("How many branches there are")]


class _Server(MCPServer[None]):
    """A server that says in a sentence what is wrong with the arguments of a call, as it says all that goes wrong."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Call[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; raise ToolError for what it cannot use or do."""
        takes = {tool.name: list(tool.input_schema.get("properties", {})) for tool in await self.list_tools()}
        if name not in takes:
            raise ToolError(f"There is no tool {name!r:.60}: the tools are {', '.join(takes)}.")
        if unknown := unknown_argument(name, arguments, takes[name]):
            raise ToolError(unknown)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as problem:
            if not isinstance(problem.__cause__, ValidationError):
                raise
            raise ToolError(wrong_arguments(name, problem.__cause__, takes[name])) from problem.__cause__

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Call[None, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Fill in a prompt; raise MCPError, as for a call's wrong parameters, where that cannot be done."""
        takes = {prompt.name: prompt.arguments or [] for prompt in await self.list_prompts()}
        if name not in takes:
            raise MCPError(INVALID_PARAMS, f"There is no prompt {name!r:.60}: the prompts are {', '.join(takes)}.")
        given = arguments or {}
        if unknown := unknown_argument(name, given, [argument.name for argument in takes[name]]):
            raise MCPError(INVALID_PARAMS, unknown)
        for argument in takes[name]:
            if argument.required and not visible_line(str(given.get(argument.name, ""))):
                told = f"The prompt {name} needs its argument {argument.name!r}. {argument.description or ''}"
                raise MCPError(INVALID_PARAMS, f"{told.strip().rstrip('.')}.")
        return await super().get_prompt(name, arguments, context)


def mcp_server(library: Library | None = None, **settings: Any) -> MCPServer[None]:
    """Return a server of all stories in `library` (default: the user's own); `settings` are fields of `Context`."""
    # At its default of INFO it writes to standard error for every call, its own and those of the model.
    server = _Server("recurrentgpt", instructions=INSTRUCTIONS, version=recurrentgpt.__version__, log_level="WARNING")
    tools = _Tools(library, settings)
    for tool, hints in (
        (tools.start_story, WRITES), (tools.stories, READS), (tools.read, READS), (tools.choose_plan, WRITES),
        (tools.write_plan, WRITES), (tools.new_plans, WRITES), (tools.edit_memory, WRITES), (tools.finish, WRITES),
        (tools.retry, WRITES), (tools.goto, MOVES), (tools.tree, READS), (tools.recall, READS), (tools.export, READS),
    ):  # fmt: skip
        server.add_tool(_with_sentences(tool, ToolError), annotations=hints)
    server.resource("story://{story}/passages/{passage}", mime_type="text/plain")(
        _with_sentences(tools.passage, ResourceError)
    )
    server.resource("story://{story}/codex", mime_type="application/json")(_with_sentences(tools.codex, ResourceError))
    server.prompt()(tell_me_a_story)
    return server


def tell_me_a_story(premise: Annotated[str, Field(description="What the story is about")]) -> str:
    """Begin a story and let the person choose what happens after every passage."""
    return (
        f"Begin a story with start_story from this premise: {premise}\n\nShow me its passage word for word, then its question "
        "with its plans and their numbers, and ask me which one to take, or what happens instead. Go on with choose_plan or "
        "write_plan."
    )


def _with_sentences(tool: Callable[P, Awaitable[T]], raised: type[Exception]) -> Callable[P, Awaitable[T]]:
    """Return a tool that answers a failure with the sentence it comes with, as whoever has no shell can use it."""

    @functools.wraps(tool)
    async def call(*args: P.args, **named: P.kwargs) -> T:
        try:
            return await tool(*args, **named)
        except RecurrentGPTError as problem:
            raise raised(without_commands(problem, TOOLS_OF_COMMANDS, ELSEWHERE)) from problem

    return call


class _Tools:
    """What an assistant can do; each docstring is what it is told."""

    def __init__(self, library: Library | None, settings: Mapping[str, Any]) -> None:
        self._library, self._settings = library, settings

    async def start_story(
        self,
        call: Call[Any, Any],
        premise: Annotated[str, Field(description="What the story is about")] = "",
        genre: Annotated[str, Field(description="Its genre, such as mystery; the premise's own if left out")] = "",
        title: Annotated[str, Field(description="Its title")] = "",
        mode: Annotated[
            Literal["novel", "fiction"] | None, Field(description="A novel to read, or interactive fiction to play")
        ] = None,
        player: Annotated[str, Field(description="In fiction, who the player is; asked for if left out")] = "",
        words: Words = None,
        language: Annotated[str, Field(description="Its language, such as French; the premise's own if left out")] = "",
    ) -> PassageReply:
        """Begin a new story and write its first passage; what is left out is made up. Fiction first asks who the player is."""
        premise = told_premise(premise, genre, title, player)
        library = await self._open_library()
        settings = {**self._settings, **({"mode": mode} if mode else {}), **_length(words)}
        settings |= {"language": language} if language.strip() else {}
        story = Story.new(genre, premise, title=title, player=player, library=library, **settings)
        if player.strip() and story.context.mode != "fiction":
            raise SettingsError("A player is of a story to play: set mode to fiction, too, or leave player out.")
        return await self._written(story, call, story.abegin())

    async def stories(
        self, offset: Offset = 0, count: Annotated[Whole, _whole("How many to list", 1, MOST_LISTED)] = 50
    ) -> StoriesReply:
        """List stories, the one written last first: id, title, genre and number of passages."""
        _check("offset", offset, 0)
        _check("count", count, 1, MOST_LISTED)
        found = (await (await self._open_library()).astories())[::-1]
        page = [StoryReply(story=it.story, title=it.title, genre=it.genre, passages=it.step) for it in found]
        return {"stories": page[offset : offset + count], "total": len(found)}

    async def read(
        self,
        story: StoryName,
        passage: PassageName = "",
        count: Annotated[Whole, _whole("How many passages up to that one", 1, MOST_READ)] = 1,
    ) -> ReadReply:
        """Read a passage (default: the newest) and up to `count` before it, with the plans proposed after it and the memory."""
        _check("count", count, 1, MOST_READ)
        opened = await self._open(story)
        last = await opened.apassage(passage or None)
        path = (await opened.atree()).path(last.id)[-count:]
        before = [await opened.apassage(id) for id in path[:-1]]
        earlier = [EarlierPassage(step=it.step, id=it.id, text=it.text) for it in before if it.step]
        return {**await _passage_reply(opened, last), "before": earlier}

    async def choose_plan(
        self,
        call: Call[Any, Any],
        story: StoryName,
        number: Annotated[Whole, Field(description="Number of the plan, from 1")],
        words: Words = None,
    ) -> PassageReply:
        """Choose one of the proposed plans by its number, from 1, and write the next passage from it."""
        opened = await self._open(story, **_length(words))
        await opened.achoose(number)
        return await self._written(opened, call)

    async def write_plan(
        self,
        call: Call[Any, Any],
        story: StoryName,
        plan: Annotated[str, Field(description="What happens next; in fiction, what the player does")],
        words: Words = None,
    ) -> PassageReply:
        """Say in your own words what happens next, in one to five sentences, and write the next passage from it."""
        opened = await self._open(story, **_length(words))
        here = await opened.apassage()
        played = is_played(opened.context.mode, here.step)
        # What a player types here is what they would type in a chat.
        written = plan if played else {"action": "write", "plan": plan}
        try:
            action = parse_answer(written, here.plans, played=played).action
        except BadAnswer as fault:
            if str(fault) != TO_END:
                raise
            action = "end"
        if action in TOOLS_OF_ACTIONS:
            raise BadAnswer(f"`{visible_line(plan)}` is no plan of your own: {TOOLS_OF_ACTIONS[action]}.")
        await opened.achoose(written)
        return await self._written(opened, call)

    async def new_plans(self, call: Call[Any, Any], story: StoryName, passage: PassageName = "") -> PassageReply:
        """Propose other plans after a passage (default: the newest); the old ones are kept on a branch of their own."""
        opened = await self._open(story)
        return await self._written(opened, call, opened.areplan(passage or None))

    async def edit_memory(
        self,
        story: StoryName,
        memory: Annotated[
            str, Field(description="The whole memory as it should be, one sentence a line, at most 20 sentences")
        ],
        passage: PassageName = "",
    ) -> PassageReply:
        """Replace the short-term memory after a passage (default: the newest); what is written next goes on from it."""
        opened = await self._open(story)
        await opened.aedit_memory(memory, passage or None)
        return await _passage_reply(opened, await opened.apassage())

    async def finish(
        self,
        call: Call[Any, Any],
        story: StoryName,
        passages: Annotated[Whole, _whole("In how many passages it ends", 1, MOST_LAST)] = 3,
        words: Words = None,
    ) -> PassageReply:
        """Write the last passages of a story, by plans that lead to a close, and return the last; read shows those before it."""
        _check("passages", passages, 1, MOST_LAST)
        opened = await self._open(story, ending=True, **_length(words))
        return await self._written(opened, call, opened.astream(passages))

    async def retry(
        self, call: Call[Any, Any], story: StoryName, passage: PassageName = "", words: Words = None
    ) -> PassageReply:
        """Write a passage (default: the newest) once more from the same plan; both takes are kept."""
        opened = await self._open(story, **_length(words))
        return await self._written(opened, call, opened.aretry(passage or None))

    async def goto(self, story: StoryName, passage: PassageName) -> PassageReply:
        """Go back (or over) to any passage; what is written next follows it, on a branch of its own."""
        opened = await self._open(story)
        return await _passage_reply(opened, await opened.agoto(passage))

    async def tree(
        self,
        story: StoryName,
        offset: Offset = 0,
        count: Annotated[Whole, _whole("How many passages and branches to list", 1, MOST_LISTED)] = 100,
    ) -> TreeReply:
        """Show the passages and branches of a story, a page at a time, and where it stands."""
        _check("offset", offset, 0)
        _check("count", count, 1, MOST_LISTED)
        tree = await (await self._open(story)).atree()
        nodes, branches = list(tree.nodes.values())[offset:], tree.branches[offset:]
        return {
            "story": tree.story,
            "title": tree.title,
            "head": tree.head,
            "passages": [
                {"id": it.id, "parent": it.parent, "step": it.step, "words": it.words, "names": list(it.names)}
                for it in nodes[:count]
            ],
            "total": len(tree.nodes),
            "branches": [
                {
                    "tip": it.tip,
                    "left": it.left,
                    "first_step": it.first_step,
                    "last_step": it.last_step,
                    "is_head": it.is_head,
                }
                for it in branches[:count]
            ],
            "total_branches": len(tree.branches),
        }

    async def recall(
        self,
        story: StoryName,
        about: Annotated[str, Field(description="What to look for, in words")],
        count: Annotated[Whole, _whole("How many passages", 1, MOST_FOUND)] = 5,
    ) -> RecallReply:
        """Search the long-term memory of the present branch by meaning."""
        _check("count", count, 1, MOST_FOUND)
        found = await (await self._open(story)).asearch(about, count)
        return {
            "found": [
                {"step": it.step, "id": it.id, "score": it.score, "summary": it.summary, "piece": it.piece}
                for it in found
            ]
        }

    async def export(
        self,
        story: StoryName,
        format: Annotated[Literal["md", "txt", "html"], Field(description="Format of the text")] = "md",
        offset: Annotated[Whole, _whole("Characters to leave out: next_offset of the page before", 0)] = 0,
    ) -> BookReply:
        """Return the present branch as one text, a page of 20,000 characters at a time."""
        _check("offset", offset, 0)
        opened = await self._open(story)
        # As text, never to a file of the assistant's choice.
        with tempfile.TemporaryDirectory() as folder:
            path = await opened.aexport(Path(folder) / f"story.{format}")
            text = await asyncio.to_thread(path.read_text, encoding="utf-8")
        end = offset + PAGE
        return {"format": format, "text": text[offset:end], "next_offset": end if end < len(text) else None}

    async def passage(self, story: str, passage: str) -> str:
        """Read the text of a passage."""
        return (await (await self._open(story)).apassage(passage)).text

    async def codex(self, story: str) -> str:
        """Read who and what there is in the story on its present branch; of a story to play, what its player may know."""
        opened = await self._open(story)
        entries = await opened.acodex()
        if opened.settings["mode"] == "fiction":
            entries = Readers(of_entries(entries), plays=True).entries()
        return json.dumps([asdict(entry) for entry in entries], ensure_ascii=False)

    async def _open_library(self) -> Library:
        return self._library if self._library is not None else await asyncio.to_thread(default_library)

    async def _open(self, story: str, **settings: Any) -> Story:
        return await Story.aopen(story, library=await self._open_library(), **{**self._settings, **settings})

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
            await call.report_progress(words, message=f"{doing}: {words} word{'' if words == 1 else 's'}")
        return await _passage_reply(story, await story.apassage())


async def _passage_reply(story: Story, passage: Passage) -> PassageReply:
    return {
        "story": story.id,
        "title": (await story.asnapshot()).title,
        "step": passage.step,
        "id": passage.id,
        "text": passage.text,
        "plan": passage.plan,
        "question": asked_words(passage.step, played=story.context.mode == "fiction"),
        "plans": passage.plans,
        "short_term_memory": passage.short_term_memory,
    }


def _check(name: str, value: int, least: int, most: int | None = None) -> None:
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise SettingsError(f"{name} is {bounds}; it is {value}.")


def _length(words: int | None) -> dict[str, int]:
    """Return the settings of passages of about so many words."""
    if words is not None:
        _check("words", words, 20, 2000)
    return {} if words is None else {"min_words": max(20, words * 3 // 4), "max_words": min(2000, words * 5 // 4)}


class _Bearer:
    """Let in requests that bring the token, as ASGI middleware."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with the reason why not."""
        if scope["type"] == "http":
            scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
            if scheme.casefold() != "bearer" or not hmac.compare_digest(given.strip().encode(), self.token.encode()):
                why = {"error": "This server needs its token, as the header: Authorization: Bearer TOKEN."}
                answer = JSONResponse(why, status_code=401, headers={"WWW-Authenticate": "Bearer"})
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)


_GUARDED = ("127.0.0.1", "localhost", "::1")
"""Hosts at which the SDK itself lets no page of a browser in by another name."""


def http_app(server: MCPServer[None], *, host: str = "127.0.0.1", token: str = "") -> ASGIApp:
    """Return a server's tools by streamable HTTP at /mcp, for whoever brings the token if there is one.

    Raises SettingsError for an address that other machines reach where there is none.
    """
    if token and (len(token) < 16 or not token.isascii() or not token.isalnum()):
        raise SettingsError("A token is 16 or more letters and digits.")
    here = host in _GUARDED
    if not here and not token:
        raise SettingsError(
            f"Whoever reaches {host} could read and write your stories: give a --token that clients send."
        )
    # No page of a browser knows the token; without one, it must not get here by a name that leads to this machine.
    security = None if here else TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(host=host, transport_security=security)
    return _Bearer(app, token) if token else app


def serve(port: int | None = None, host: str = "127.0.0.1", token: str = "") -> None:
    """Serve on standard input and output, or with a port by streamable HTTP at http://host:port/mcp, until ended.

    An address that other machines reach asks for a token, which clients send as a bearer token.
    """
    server = mcp_server()
    if port is None:
        if token or host != "127.0.0.1":
            raise SettingsError("--host and --token are for a server by HTTP: name a --port, too.")
        server.run("stdio")
        return
    import uvicorn

    app = http_app(server, host=host, token=token)
    with listening(host, port, "The MCP server") as taken, suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(app, host=host, port=port)).run([taken])
