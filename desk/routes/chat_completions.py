"""An endpoint for OpenAI's clients, where a chat is a story: the first message is the premise, later ones choose or act.

Clients keep no id of ours and send a whole chat every time. So every reply ends with a line that names the story and the
passage; the last such line in a chat is where it stands. A chat that was cut there, by an edit or to have a reply written
again, is a branch there or another take.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field, ValidationInfo, field_validator

from recurrentgpt.desk.backend.dependencies import DeskDep
from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.side_tasks import PLACE, SideTask, is_nudge, side_task
from recurrentgpt.infrastructure.background_loop import acall, aiterate
from recurrentgpt.library import Library
from recurrentgpt.prose.sentences import numbered
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BadAnswer, RecurrentGPTError, SettingsError, StoryBusy, StoryNotFound
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import StoryInput
from recurrentgpt.schema.story_id import check_story_id, is_story_id
from recurrentgpt.schema.stream_buffer import StreamBuffer
from recurrentgpt.story import AsyncStory
from recurrentgpt.take_turn import take_turn

router = APIRouter(tags=["chat"])

MODELS = {"recurrentgpt": "novel", "recurrentgpt-fiction": "fiction"}
"""What a client may name as the model, and the mode of the stories that it begins."""
_NO_ANSWER = (
    "Nothing was written, for this chat does not end with an answer of yours: the story goes on when you send the number of a "
    "plan, or what happens next in a sentence."
)
_NO_PREMISE = "Nothing was written, for this chat has no message of yours: a story begins when you send its premise."


class ChatMessage(BaseModel):
    """A message of a chat; what else a client sends with it is left out."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The text of it, without pictures."""
        if isinstance(self.content, list):
            return "\n".join(str(part.get("text") or "") for part in self.content if part.get("type") == "text")
        return self.content or ""


class _Request(BaseModel):
    """What a client sends; null is as if it were left out."""

    @field_validator("*", mode="before")
    @classmethod
    def _without_null(cls, value: object, info: ValidationInfo) -> object:
        field = cls.model_fields[info.field_name or ""]
        return field.default if value is None and not field.is_required() else value


class StreamOptions(_Request):
    """How a reply is streamed."""

    include_usage: bool = False


class ChatRequest(_Request):
    """A chat; settings of sampling are left out, for the story has its own."""

    model: str = "recurrentgpt"
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    n: Literal[1] | None = None


@dataclass
class ChatTurn:
    """What a chat asks for: which story, after which passage, and what was said."""

    story: AsyncStory
    said: str
    at: str | None
    what: Literal["begin", "begin again", "answer", "nothing"]

    async def events(self) -> AsyncGenerator[Event]:
        """Yield what happens, in the library's event loop; raise BadAnswer where nothing does."""
        match self.what:
            case "nothing":
                raise BadAnswer(_NO_ANSWER)
            case "begin":
                found = self.story.begin()
            case "begin again":
                found = await _first_again(self.story)
            case "answer":
                found = await take_turn(self.story, self.said, self.at)
        async with aclosing(found) as events:
            async for event in events:
                yield event
        # From here on the head may be where another client went.
        self.at = await self.story.head()

    async def ending(self) -> str:
        """Return the end of a reply: the plans to choose from, and the line that says where the chat stands."""
        if self.at == "":
            return ""
        stands = await acall(lambda: self.story.passage(self.at))
        return f"\n\n{numbered(stands.plans)}\n\n(story {self.story.id}, passage {stands.id})"


@router.get("/models", response_model=None)
async def models() -> JSONResponse:
    """List what a client may name as the model."""
    return JSONResponse({"object": "list", "data": list(map(_described, MODELS))})


@router.get("/models/{name}", response_model=None)
async def model(name: str) -> JSONResponse:
    """Describe one model."""
    _check_model(name)
    return JSONResponse(_described(name))


def _described(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "recurrentgpt"}


def _check_model(name: str) -> None:
    if name not in MODELS:
        raise SettingsError(f"There is no model {name[:60]!r}: name {' or '.join(MODELS)}.")


@router.post("/chat/completions", response_model=None)
async def complete(
    desk: DeskDep,
    body: ChatRequest,
    x_story: Annotated[str | None, Header()] = None,
    x_openwebui_chat_id: Annotated[str | None, Header()] = None,
) -> JSONResponse | StreamingResponse:
    """Write the next passage of a chat, at once or as it comes; what is asked on the side is answered from the story."""
    _check_model(body.model)
    chat_id = x_openwebui_chat_id if is_story_id(x_openwebui_chat_id or "") else None
    task = side_task([(message.role, message.text) for message in body.messages], body.metadata)
    turn = (
        await _turn(desk, body, x_story, chat_id)
        if task is None
        else await _aside(desk, task, x_story or chat_id, body.messages[-1].text)
    )
    reply = _Reply(turn, body.model)
    headers = {} if isinstance(turn, str) else {"X-Story": turn.story.id}
    if not body.stream:
        text = "".join([piece async for piece in reply.pieces()])
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return JSONResponse(reply.body("chat.completion", [choice], usage=reply.usage), headers=headers)
    pieces = reply.pieces()
    first = await anext(pieces)  # what fails before a word is there has a status of its own
    usage = body.stream_options is not None and body.stream_options.include_usage
    return StreamingResponse(reply.chunks(first, pieces, usage=usage), media_type="text/event-stream", headers=headers)


async def _aside(desk: Desk, task: SideTask, named: str | None, asked: str) -> str:
    """Return the answer to what a client asks on the side; raise SettingsError where nobody knows what that is."""
    if task.kind is None:
        raise SettingsError(
            "This endpoint writes stories and does not know this task on the side: choose another model for it."
        )
    library = await desk.library()
    known = task.story or named
    story = known if known else await acall(lambda: _told_of(library, asked))
    if not is_story_id(story):
        return task.answer(None, None)
    opened = AsyncStory(library.engine, story, Context(**desk.given()))
    try:
        passage = await acall(lambda: opened.passage(task.at or None))
    except StoryNotFound:
        return task.answer(None, None)
    return task.answer(await acall(opened.snapshot), passage)


async def _told_of(library: Library, chat: str) -> str:
    """Return the newest story whose premise is said in a chat that is told without its place; empty for none."""
    told = f"{_one_line(chat)} ".casefold()
    records = reversed(await library.engine.log.records())
    premises = ((record["story"], record["premise"].casefold()) for record in records)
    return next((story for story, premise in premises if premise and f": {premise} " in told), "")


async def _turn(desk: Desk, body: ChatRequest, named: str | None, chat_id: str | None) -> ChatTurn | str:
    """Return what a chat asks for, which may be named by its story or by the client's id of the chat; or why it asks nothing."""
    # What front ends put behind an answer, such as SillyTavern its instructions after the history, is none of it.
    last = next((message for message in reversed(body.messages) if message.role not in ("system", "developer")), None)
    answers = (
        last is not None and last.role == "user" and not is_nudge(last.text) and not is_nudge(body.messages[-1].text)
    )
    said = last.text.strip() if last is not None else ""
    library = await desk.library()
    log = library.engine.log

    async def known(story: str | None) -> bool:
        return story is not None and await acall(lambda: log.head(story)) is not None

    async def begun_so(story: str) -> bool:
        return (await acall(lambda: log.record(story)))["premise"] == _one_line(said)

    places = [
        place
        for message in body.messages
        if message.role == "assistant" or is_nudge(message.text)
        for place in PLACE.findall(message.text)
    ]
    if places:
        story, at = places[-1]
        return ChatTurn(await _opened(desk, story), said, at, "answer" if answers else "nothing")
    # Others put a name of a person there, which is the id of no story.
    if not named and body.user and is_story_id(body.user) and await known(body.user):
        named = body.user
    if not answers:
        for name in (named and check_story_id(named), chat_id):
            if name and await known(name):
                return ChatTurn(await _opened(desk, name), said, None, "nothing")
        return _NO_PREMISE
    if named and await known(check_story_id(named)):
        return ChatTurn(await _opened(desk, named), said, None, "begin again" if await begun_so(named) else "answer")
    again, mode = None, MODELS[body.model]
    if not named and await known(chat_id) and chat_id and await begun_so(chat_id):
        again = chat_id
    elif not named and (not chat_id or await known(chat_id)):
        again = await acall(lambda: _just_begun(library, said, mode))
    if again:
        return ChatTurn(await _opened(desk, again), said, None, "begin again")
    settings = {**desk.given(), "mode": mode}
    begun = AsyncStory.new(premise=said, library=library, **settings)
    if story := named or (None if await known(chat_id) else chat_id):
        begun = AsyncStory(library.engine, story, begun.context, StoryInput(premise=said, story=story))
    return ChatTurn(begun, said, None, "begin")


async def _just_begun(library: Library, said: str, mode: str) -> str | None:
    """Return the newest story that was begun from these words and has not gone on: its first reply is asked for again.

    One that is being written is another chat's.
    """
    log = library.engine.log
    for record in reversed(await log.records()):
        if record["premise"] != _one_line(said) or record["settings"].get("mode", "novel") != mode:
            continue
        first = 1 if mode == "novel" else 0
        if all(link["step"] <= first for link in (await log.links(record["story"])).values()):
            with suppress(StoryBusy):
                async with library.engine.writing(record["story"]):
                    return record["story"]
    return None


async def _opened(desk: Desk, story: str) -> AsyncStory:
    jobs = await desk.story_jobs(check_story_id(story))
    jobs.check_idle()
    return AsyncStory((await desk.library()).engine, story, jobs.story.context)


async def _first_again(story: AsyncStory) -> AsyncGenerator[Event]:
    """Return what writes the beginning of a story once more: its first passage, or whom a player may be."""
    head = await story.head()
    path = await story.engine.log.path(story.id, head)
    if story.context.mode == "fiction":
        return story.replan(path[0])
    return story.retry(path[1]) if len(path) > 1 else story.stream(1)


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Reply:
    """A reply while it is written, in the words of OpenAI's API."""

    def __init__(self, turn: ChatTurn | str, model: str) -> None:
        self.turn, self.model = turn, model
        story = "aside" if isinstance(turn, str) else turn.story.id
        self.id, self.created = f"chatcmpl-{story}-{time.time_ns():x}", int(time.time())
        self.usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

    async def pieces(self) -> AsyncGenerator[str]:
        """Yield the text piece by piece; what was yielded is never taken back."""
        if isinstance(self.turn, str):
            yield self.turn
            return
        heard, sent = StreamBuffer(), ""
        try:
            async for event in aiterate(self.turn.events):
                heard.apply(event)
                if piece := heard.release():
                    sent += piece
                    yield piece
                if event["event"] == "passage":
                    yield event["text"].removeprefix(sent) if event["text"].startswith(sent) else "\n\n" + event["text"]
                    sent = ""
                elif event["event"] == "done":
                    self._count(event["usage"])
        except BadAnswer as problem:
            yield str(problem)
        yield await self.turn.ending()

    async def chunks(self, first: str, pieces: AsyncGenerator[str], *, usage: bool) -> AsyncIterator[str]:
        """Yield server-sent events, the last of them [DONE]; a failure in the middle is an event, too."""
        async with aclosing(pieces):
            yield self._chunk({"role": "assistant", "content": first})
            try:
                async for piece in pieces:
                    yield self._chunk({"content": piece})
            except RecurrentGPTError as error:
                yield _event(
                    {"error": {"message": str(error), "type": type(error).__name__, "param": None, "code": None}}
                )
                return
            yield self._chunk({}, finish="stop")
            if usage:
                yield _event(self.body("chat.completion.chunk", [], usage=self.usage))
            yield "data: [DONE]\n\n"

    def body(self, kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        """Return a body of this reply."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices, **more}

    def _chunk(self, delta: Mapping[str, str], finish: str | None = None) -> str:
        return _event(self.body("chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": finish}]))

    def _count(self, usage: Mapping[str, Any]) -> None:
        asked, answered = usage["input_tokens"], usage["output_tokens"]
        self.usage = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


def _event(body: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(body)}\n\n"
