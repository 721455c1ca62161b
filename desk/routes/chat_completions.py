"""An endpoint for OpenAI's clients, where a chat is a story: the first message is the premise, later ones choose or act.

Clients keep no id of ours and send a whole chat every time. So every reply ends with a line that names the story and the
passage; the last such line in a chat is where it stands. A chat that was cut there, by an edit or to have a reply written
again, is a branch there or another take.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from starlette.types import Receive, Scope, Send

from recurrentgpt.desk.backend.dependencies import DeskDep
from recurrentgpt.desk.backend.disk_store import DiskStore
from recurrentgpt.desk.backend.opening_scene import OpeningScene, opening_scene
from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.settings_form import client_message
from recurrentgpt.desk.backend.side_tasks import PLACE, SideTask, is_nudge, side_task
from recurrentgpt.desk.backend.stopped_chats import StoppedChat, begun_from, just_begun, keep_shown, place_of, story_of
from recurrentgpt.infrastructure.background_loop import acall, aiterate
from recurrentgpt.library import Library
from recurrentgpt.nodes.human.answers import is_played, parse_answer
from recurrentgpt.nodes.human.phrases import NO_PREMISE, is_no_premise, names_plan_or_action
from recurrentgpt.nodes.select_plan import question
from recurrentgpt.prose.model_text import visible_line
from recurrentgpt.prose.sentences import numbered
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BadAnswer, RecurrentGPTError, SettingsError, StorageError, StoryNotFound
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import State, StoryInput
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
_NO_WORDS = (
    "Nothing was written, for your message has no words: pictures, sounds and files are not looked at here. Say in a sentence "
    "what the story is about, or what happens next."
)
_UNSEEN = (
    "Nothing was written, for the reply was stopped before it came to its plans: choose one of these by its number, or say in a "
    "sentence what happens."
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


def _as_number(value: object) -> object:
    """Return what some clients send as text, or as 1.0."""
    return 1 if value in ("1", 1) and not isinstance(value, bool) else None if value is None else str(value)


class ChatRequest(_Request):
    """A chat; settings of sampling are left out, for the story has its own."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    model: str = "recurrentgpt"
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    n: Annotated[Literal[1], BeforeValidator(_as_number)] | None = None


@dataclass
class ChatTurn:
    """What a chat asks for: which story, after which passage, and what was said; or why nothing can follow."""

    story: AsyncStory
    said: str
    asked: str
    """The last reply of the chat, which may have asked what was meant."""
    at: str | None
    what: Literal["begin", "begin again", "answer", "nothing"]
    why: str = ""
    stopped: StoppedChat | None = None
    """The chat where it was stopped before it had a place, and may not have seen the plans."""
    user: str = ""
    """Whose chat begins the story with its only message, as the client names them."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the story is let go of."""

    async def events(self) -> AsyncGenerator[Event]:
        """Yield what happens, in the library's event loop; raise BadAnswer where nothing does."""
        try:
            async with aclosing(self._events()) as events:
                async for event in events:
                    yield event
        finally:
            self.ended.set()

    async def _events(self) -> AsyncGenerator[Event]:
        match self.what:
            case "nothing":
                raise BadAnswer(self.why)
            case "begin":
                found = self.story.begin()
            case "begin again":
                found = await _first_again(self.story)
            case "answer":
                found = await take_turn(self.story, await self._answer(), self.at, asked=self.asked)
        async with aclosing(found) as events:
            async for event in events:
                yield event
        # From here on the head may be where another client went.
        self.at = await self.story.head()

    async def _answer(self) -> object:
        """Return what was said as an answer after the passage; raise BadAnswer for a plan that nobody was shown."""
        if self.stopped:
            here = await self.story.passage(self.at)
            played = is_played(self.story.context.mode, here.step)
            answer = parse_answer(self.said, here.plans, here.short_term_memory, played=played)
            if answer.index is not None and not self.stopped.saw(numbered(here.plans)):
                raise BadAnswer(_UNSEEN)
        return self.said

    async def ending(self) -> str:
        """Return the end of a reply: the plans to choose from, and the line that says where the chat stands."""
        if self.at == "":
            return ""
        stands = await acall(lambda: self.story.passage(self.at))
        asked = ""
        if self.story.context.mode == "fiction" and not stands.step:
            state = State(story=self.story.id, title="", candidate_plans=stands.plans, short_term_memory="")
            asked = f"\n\n{question(state, played=True)['question']}"
        return f"{asked}\n\n{numbered(stands.plans)}\n\n(story {self.story.id}, passage {stands.id})"


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
    await desk.let_go()
    turn = (
        await _turn(desk, body, x_story, chat_id)
        if task is None
        else await _aside(desk, task, x_story or chat_id, body.messages[-1].text)
    )
    reply = _Reply(turn, body.model, desk)
    headers = {} if isinstance(turn, str) else {"X-Story": turn.story.id}
    if not body.stream:
        text = "".join([piece async for piece in reply.pieces()])
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return JSONResponse(reply.body("chat.completion", [choice], usage=reply.usage), headers=headers)
    pieces = reply.pieces()
    first = await anext(pieces)  # what fails before a word is there has a status of its own
    usage = body.stream_options is not None and body.stream_options.include_usage
    return _Stream(reply.chunks(first, pieces, usage=usage), headers)


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
    told = f"{visible_line(chat)} ".casefold()
    records = reversed(await library.engine.log.records())
    premises = ((record["story"], record["premise"].casefold()) for record in records)
    return next((story for story, premise in premises if premise and f": {premise} " in told), "")


async def _begun_by(library: Library, disk: DiskStore, user: str, mode: str) -> str | None:
    """Return the newest story that a user began with a message alone; None for none."""
    for record in reversed(await library.engine.log.records()):
        if record["settings"].get("mode", "novel") == mode and disk.read(record["story"]).get("user") == user:
            return record["story"]
    return None


async def _turn(desk: Desk, body: ChatRequest, named: str | None, chat_id: str | None) -> ChatTurn | str:
    """Return what a chat asks for, which may be named by its story or by the client's id of the chat; or why it asks nothing."""
    # What front ends put behind an answer, such as SillyTavern its instructions after the history, is none of it.
    messages = [message for message in body.messages if message.role not in ("system", "developer")]
    last = messages[-1] if messages else None
    said = last.text.strip() if last is not None else ""
    asked = next((message.text for message in reversed(messages) if message.role == "assistant"), "")
    why = ""
    if last is None or last.role != "user" or is_nudge(said) or is_nudge(body.messages[-1].text):
        why = _NO_ANSWER
    elif not visible_line(said):
        why = _NO_WORDS
    library = await desk.library()
    log = library.engine.log

    async def known(story: str | None) -> bool:
        return story is not None and await acall(lambda: log.head(story)) is not None

    async def turn(story: str, what: Literal["begin again", "answer"], at: str | None = None) -> ChatTurn:
        stopped = chat if what == "answer" and chat is not begun else None
        return ChatTurn(await _opened(desk, story), said, asked, at, "nothing" if why else what, why, stopped)

    scene = opening_scene((message.role, message.text) for message in body.messages)
    told = scene.premise(said)
    begun = chat = StoppedChat(told, (), said)
    places = [
        place
        for message in body.messages
        if message.role == "assistant" or is_nudge(message.text)
        for place in PLACE.findall(message.text)
    ]
    if places:
        story, at = places[-1]
        return await turn(story, "answer", at)
    # Others put a name of a person there, which is the id of no story.
    if not named and body.user and is_story_id(body.user) and await known(body.user):
        named = body.user
    if why:
        for name in (named and check_story_id(named), chat_id):
            if name and await known(name):
                return await turn(name, "answer")
        return why if why == _NO_WORDS else _NO_PREMISE
    chat = _stopped_chat(messages, scene) or chat
    premise, mode = chat.premise, MODELS[body.model]
    user = body.user if body.user and chat is begun else ""
    if user and not named and not chat_id and names_plan_or_action(said):
        # A client that sends the last message alone: no story begins with "2".
        named = await acall(lambda: _begun_by(library, desk.disk, user, mode))

    async def begun_so(story: str) -> bool:
        return (await acall(lambda: log.record(story)))["premise"] == visible_line(premise)

    # A premise that is sent once more asks for its reply.
    again = visible_line(premise) == visible_line(told)
    own = named and check_story_id(named)
    if own and await known(own):
        begins = again and await begun_so(own)
        return await turn(own, "begin again" if begins else "answer")
    found = None
    if not own and chat_id and await known(chat_id) and await begun_so(chat_id):
        found = chat_id
    elif not own and (not chat_id or await known(chat_id)):
        found = await acall(
            lambda: just_begun(library, told, mode) if chat is begun else story_of(library, desk.disk, chat, mode)
        )
    if found and again:
        return await turn(found, "begin again")
    if found:
        at = await acall(lambda: place_of(library, desk.disk, found, chat))
        return await turn(found, "answer", at)
    plan = "" if again else _own_plan(said)
    if plan and not await acall(lambda: _was_begun_here(library, chat, mode)):
        premise, plan = told, ""
    if is_no_premise(premise):
        return NO_PREMISE
    settings = {**desk.given(), "mode": mode}
    story_begun = AsyncStory.new(premise=premise, plan=plan, library=library, **settings)
    if name := own or (None if await known(chat_id) else chat_id):
        opening = StoryInput(premise=premise, plan=plan, story=name)
        story_begun = AsyncStory(library.engine, name, story_begun.context, opening)
    return ChatTurn(story_begun, said, "", None, "begin", user=user)


def _stopped_chat(messages: Sequence[ChatMessage], scene: OpeningScene) -> StoppedChat | None:
    """Return a chat of several messages without a place; None for one that has only its premise."""
    *before, last = messages
    first = next(
        (
            number
            for number, message in enumerate(before)
            if message.role == "user"
            and visible_line(message.text)
            and not is_no_premise(scene.premise(message.text.strip()))
        ),
        None,
    )
    if first is None:
        return None
    replies = tuple(message.text for message in before[first:] if message.role == "assistant")
    return StoppedChat(scene.premise(before[first].text.strip()), replies, last.text.strip())


async def _was_begun_here(library: Library, chat: StoppedChat, mode: str) -> bool:
    """Tell whether a chat without a place has asked this endpoint for its first reply.

    Else it was begun with another model, or a client tells something before the premise.
    """
    if not chat.replies:
        return False
    return not any(map(visible_line, chat.replies)) or bool(await begun_from(library, chat.premise, mode))


def _own_plan(said: str) -> str:
    """Return what is said as the plan of a first passage; empty for what chooses among plans that are not there yet."""
    try:
        answer = parse_answer(said, [])
    except BadAnswer:
        return ""
    return answer.plan if answer.action == "write" else ""


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


class _Stream(StreamingResponse):
    """A reply as it comes, whose work ends with the connection: a client that hangs up leaves no story locked."""

    def __init__(self, chunks: AsyncGenerator[str], headers: Mapping[str, str]) -> None:
        super().__init__(chunks, media_type="text/event-stream", headers=headers)
        self.chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the chunks."""
        async with aclosing(self.chunks):
            await super().__call__(scope, receive, send)


class _Reply:
    """A reply while it is written, in the words of OpenAI's API."""

    def __init__(self, turn: ChatTurn | str, model: str, desk: Desk) -> None:
        self.turn, self.model, self.desk = turn, model, desk
        story = "aside" if isinstance(turn, str) else turn.story.id
        self.id, self.created = f"chatcmpl-{story}-{time.time_ns():x}", int(time.time())
        self.usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

    async def pieces(self) -> AsyncGenerator[str]:
        """Yield the text piece by piece; what was yielded is never taken back.

        What was sent of a first reply is kept where it does not come to its end, for the chat has no other sign of its story.
        """
        if isinstance(self.turn, str):
            yield self.turn
            return
        sent, whole = "", False
        try:
            async with aclosing(self._told(self.turn)) as pieces:
                async for piece in pieces:
                    sent += piece
                    yield piece
            ending = await self.turn.ending()
            whole = True
            yield ending if sent else ending.lstrip()
        finally:
            # Whoever was cancelled waits for nothing here; whoever comes next does.
            if not whole:
                self.desk.letting_go.append(self.turn.ended)
            if not whole and self.turn.what in ("begin", "begin again"):
                keep_shown(self.desk.disk, self.turn.story.id, sent)
            if self.turn.user:
                # Without it their next message asks back: no reason to hide what was written.
                with suppress(StorageError):
                    self.desk.disk.write(self.turn.story.id, {"user": self.turn.user})

    async def _told(self, turn: ChatTurn) -> AsyncGenerator[str]:
        """Yield what is told until the end of a reply."""
        heard, sent = StreamBuffer(), ""
        try:
            async for event in aiterate(turn.events):
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

    async def chunks(self, first: str, pieces: AsyncGenerator[str], *, usage: bool) -> AsyncGenerator[str]:
        """Yield server-sent events, the last of them [DONE]; a failure in the middle is an event, too."""
        async with aclosing(pieces):
            yield self._chunk({"role": "assistant", "content": first})
            try:
                async for piece in pieces:
                    yield self._chunk({"content": piece})
            except RecurrentGPTError as error:
                yield _event(
                    {
                        "error": {
                            "message": client_message(error),
                            "type": type(error).__name__,
                            "param": None,
                            "code": None,
                        }
                    }
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
