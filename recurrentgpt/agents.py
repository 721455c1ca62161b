"""Parts for other people's agents, a line each: tools, a subagent for deepagents, an agent for a supervisor of LangGraph's.

    from recurrentgpt.agents import as_agent, as_subagent, as_tools

    create_agent(model, as_tools())
    create_deep_agent(model, subagents=[as_subagent()])
    create_supervisor([as_agent()], model=model)

Stories are kept in a library, by default the user's own, and go on by their id from any of these and from the command line.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, TypeVar

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.config import get_config
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

from recurrentgpt.agent_tasks import (
    GO_ON,
    NO_STORY,
    asked_answer,
    asked_story,
    begins_another,
    begins_none,
    named_story,
    premise_of,
)
from recurrentgpt.infrastructure.background_loop import acall, call
from recurrentgpt.library import Library, default_library
from recurrentgpt.nodes.human.chat import asked_words
from recurrentgpt.nodes.human.phrases import told_premise
from recurrentgpt.nodes.select_plan import question
from recurrentgpt.prose.sentences import numbered
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BadAnswer, RecurrentGPTError, SettingsError, StoryNotFound
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import State
from recurrentgpt.story import AsyncStory
from recurrentgpt.take_turn import StoryLeft, take_turn
from recurrentgpt.tool_arguments import TextOrNumber, Whole, wrong_arguments
from recurrentgpt.tool_errors import without_commands

T = TypeVar("T")
Agent = CompiledStateGraph[MessagesState, None, MessagesState, MessagesState]

DESCRIPTION = (
    "Writes a story of any length, a passage at a time, and remembers all of it. A request without a story's id begins one "
    "from that request as the premise. To go on, give the id that the reply names and the number of a plan, or what "
    "happens next in a sentence: 'Story 0123456789ab: 2'."
)
_CHECKPOINTER = "__pregel_checkpointer"
"""Where LangGraph's config says whether a run is saved; an interrupt of one that is not ends it without a word."""

Premise = Annotated[str, Field(description="What the story is about, in a sentence or more; empty to have it made up")]
Genre = Annotated[str, Field(description="The genre; the premise's own if left empty")]
Language = Annotated[str, Field(description="The language, such as French; the premise's own if left empty")]
StoryId = Annotated[str, Field(description="Id of the story, as start_story returned it")]
Plan = Annotated[
    TextOrNumber, Field(description="The number of a proposed plan, or what happens next in a sentence of your own")
]

Last = Annotated[Whole, Field(description="In how many passages it ends", ge=1, le=5)]


class StoryReply(TypedDict):
    """A passage that was written, and the plans for the next one with the question that they answer.

    The opening of a story to play is step 0: it has no passage, and its plans are people to be.
    """

    story: str
    title: str
    step: int
    passage: str
    question: str
    plans: list[str]


class Subagent(TypedDict):
    """A subagent as deepagents takes it: its `CompiledSubAgent`."""

    name: str
    description: str
    runnable: Runnable[Any, Any]


def as_tools(library: Library | None = None, *, ask: bool = False, **settings: Any) -> list[BaseTool]:
    """Return the tools `start_story`, `continue_story` and `finish_story`; `settings` are fields of `Context`.

    With `ask` a person chooses the plan, by an interrupt of the host's graph, which needs a checkpointer; without it the
    model that calls the tool does.
    """
    writer = _Writer(library, settings, ask=ask)

    def start_story(premise: Premise = "", genre: Genre = "", language: Language = "") -> StoryReply:
        return writer.call(lambda library: writer.start(library, premise, genre, language))

    async def astart_story(premise: Premise = "", genre: Genre = "", language: Language = "") -> StoryReply:
        return await writer.acall(lambda library: writer.start(library, premise, genre, language))

    def continue_story(story: StoryId, plan: Plan) -> StoryReply:
        return writer.call(lambda library: writer.go_on(library, story, plan))

    async def acontinue_story(story: StoryId, plan: Plan) -> StoryReply:
        return await writer.acall(lambda library: writer.go_on(library, story, plan))

    def finish_story(story: StoryId, passages: Last = 3) -> StoryReply:
        return writer.call(lambda library: writer.finish(library, story, passages))

    async def afinish_story(story: StoryId, passages: Last = 3) -> StoryReply:
        return await writer.acall(lambda library: writer.finish(library, story, passages))

    def ask_and_continue_story(story: StoryId) -> StoryReply:
        return continue_story(story, "")

    async def aask_and_continue_story(story: StoryId) -> StoryReply:
        return await acontinue_story(story, "")

    goes_on, agoes_on = (ask_and_continue_story, aask_and_continue_story) if ask else (continue_story, acontinue_story)
    begins = "Begin a story and write its first passage; returns its id, the passage, and plans for the next."
    if writer.plays:
        begins = "Begin a story to play; returns its id, the question who the player is, and people to choose from as its plans."
    how = "the plan that a person is asked for" if ask else "a plan: the number of a proposed one, or one of your own"
    return [
        _tool("start_story", begins,
              start_story, astart_story),
        _tool("continue_story", f"Write the next passage of a story from {how}.", goes_on, agoes_on),
        _tool("finish_story", "Write the last passages of a story, led to a close, and return the last of them.",
              finish_story, afinish_story),
    ]  # fmt: skip


def as_agent(name: str = "storyteller", library: Library | None = None, *, ask: bool = False, **settings: Any) -> Agent:
    """Return an agent over `messages` that writes one passage a turn, for a supervisor or any graph of messages.

    It begins a story from the last human message that tells of one, or goes on with the one that was named last (see
    `DESCRIPTION`), as that message says. Where it has answered that message already, the simulator chooses. `ask` and
    `settings` are as in `as_tools`.
    """
    writer = _Writer(library, settings, ask=ask)

    def reply(state: MessagesState) -> dict[str, list[AnyMessage]]:
        return {"messages": [writer.call(lambda library: writer.reply(library, state["messages"], name))]}

    async def areply(state: MessagesState) -> dict[str, list[AnyMessage]]:
        return {"messages": [await writer.acall(lambda library: writer.reply(library, state["messages"], name))]}

    node: RunnableLambda[MessagesState, Any] = RunnableLambda(reply, areply, name="write")
    return StateGraph(MessagesState).add_node("write", node).add_edge(START, "write").compile(name=name)


def as_subagent(
    name: str = "storyteller", library: Library | None = None, *, ask: bool = False, **settings: Any
) -> Subagent:
    """Return the agent of `as_agent` as a subagent for deepagents."""
    return Subagent(name=name, description=DESCRIPTION, runnable=as_agent(name, library, ask=ask, **settings))


class _Writer:
    """What all of them do: begin a story, or write one passage more of it."""

    def __init__(self, library: Library | None, settings: Mapping[str, Any], *, ask: bool) -> None:
        # A setting that cannot be used is told of here.
        self.plays = Context(**settings).mode == "fiction"
        self._library, self._settings, self._ask = library, settings, ask

    def call(self, work: Callable[[Library], Coroutine[Any, Any, T]]) -> T:
        """Do the work in the library's own event loop, in a copy of this context, where LangGraph keeps the run."""
        library = self._library if self._library is not None else default_library()
        return call(lambda: work(library))

    async def acall(self, work: Callable[[Library], Coroutine[Any, Any, T]]) -> T:
        """Do the work like `call`, without blocking the event loop."""
        library = self._library if self._library is not None else await asyncio.to_thread(default_library)
        return await acall(lambda: work(library))

    async def start(self, library: Library, premise: str, genre: str = "", language: str = "") -> StoryReply:
        premise = told_premise(premise, genre)
        settings = {**self._settings, **({"language": language} if language.strip() else {})}
        story = AsyncStory.new(genre, premise, library=library, **settings)
        return await _written(story, story.begin())

    async def go_on(self, library: Library, name: str, task: str, asked: str = "") -> StoryReply:
        story = await AsyncStory.open(name, library=library, **self._settings)
        if self._ask:
            return await _written(story, await _asked(story))
        return await _written(story, await take_turn(story, asked_answer(task, await story.plans(), asked)))

    async def finish(self, library: Library, name: str, passages: int) -> StoryReply:
        story = await AsyncStory.open(name, library=library, **{**self._settings, "ending": True})
        return await _written(story, story.stream(passages))

    async def reply(self, library: Library, messages: Sequence[AnyMessage], name: str) -> AIMessage:
        last = next((at for at in reversed(range(len(messages))) if messages[at].type == "human"), -1)
        said = messages[last].text if last >= 0 else ""
        # A supervisor that hands over twice in a turn has nothing new to say.
        answered = any(message.type == "ai" and message.name == name for message in messages[last + 1 :])
        another = not answered and begins_another(said)
        named = None if another else asked_story(said)
        if named is None and not another:
            named = await _named_before(library, messages)
        if named is None and not another and begins_none(said):
            return AIMessage(NO_STORY, name=name)
        try:
            if named is None:
                stands = await self.start(library, premise_of(said))
            else:
                before = (message.text for message in reversed(messages[:last]) if message.name == name)
                stands = await self.go_on(library, named, GO_ON if answered else said, next(before, ""))
            told = stands["passage"]
        except RecurrentGPTError as problem:
            told = _sentence(problem)
            if named is None or not isinstance(problem, BadAnswer):
                return AIMessage(told, name=name)
            stands = await _stands(await AsyncStory.open(named, library=library))
        where = f"passage {stands['step']} of {stands['title']}" if stands["step"] else stands["title"]
        asked = stands["question"] if stands["question"] != asked_words(1, played=False) else "Plans for the next one:"
        parts = (told, f"Story {stands['story']}: {where}. {asked}", numbered(stands["plans"]))
        return AIMessage("\n\n".join(filter(None, parts)), name=name)


async def _named_before(library: Library, messages: Sequence[AnyMessage]) -> str | None:
    """Return the story that was named last of those that there are: an id that was mistyped is no thread's story."""
    for message in reversed(messages):
        if (name := named_story(message.text)) and await library.engine.log.head(name) is not None:
            return name
    return None


async def _asked(story: AsyncStory) -> AsyncGenerator[Event]:
    """Ask a person for the plan, by an interrupt, until the answer can be used, and return what follows from it.

    Raises StoryLeft where they end it there.
    """
    _check_asking()
    stands, problem = await story.snapshot(), ""
    assert stands.passage is not None
    asked = State(
        story=story.id,
        title=stands.title,
        step=stands.step,
        passage=stands.passage.text,
        candidate_plans=stands.plans,
        short_term_memory=stands.memory,
        rationale=stands.rationale,
    )
    while True:
        try:
            answer = interrupt(question(asked, problem, played=story.context.mode == "fiction"))
            return await take_turn(story, answer, asked=problem)
        except StoryLeft:
            raise
        except BadAnswer as fault:
            problem = str(fault)


def _check_asking() -> None:
    try:
        saved = get_config().get("configurable", {}).get(_CHECKPOINTER)
    except RuntimeError:  # as LangGraph says that nothing of it runs here
        saved = None
    if not saved:
        raise SettingsError(
            "Nothing was written: with ask=True a person is asked by an interrupt, which needs a graph with a checkpointer."
        )


def _sentence(problem: RecurrentGPTError) -> str:
    if isinstance(problem, StoryNotFound):
        return without_commands(problem, {}, "Give the id that a reply names, or begin a story.")
    return without_commands(problem, {}, "Whoever runs this program can mend it there.")


async def _written(story: AsyncStory, events: AsyncGenerator[Event]) -> StoryReply:
    async with aclosing(events):
        async for _ in events:
            pass
    return await _stands(story)


async def _stands(story: AsyncStory) -> StoryReply:
    stands = await story.snapshot()
    passage = stands.passage.text if stands.passage else ""
    return StoryReply(
        story=story.id,
        title=stands.title,
        step=stands.step,
        passage=passage,
        question=asked_words(stands.step, played=story.context.mode == "fiction"),
        plans=stands.plans,
    )


def _tool(
    name: str,
    description: str,
    blocking: Callable[..., StoryReply],
    awaited: Callable[..., Coroutine[Any, Any, StoryReply]],
) -> BaseTool:
    """Return a tool whose failure is told to the model in the sentence that it comes with."""

    def run(**arguments: Any) -> StoryReply:
        try:
            return blocking(**arguments)
        except RecurrentGPTError as problem:
            raise ToolException(_sentence(problem)) from problem

    async def arun(**arguments: Any) -> StoryReply:
        try:
            return await awaited(**arguments)
        except RecurrentGPTError as problem:
            raise ToolException(_sentence(problem)) from problem

    read = StructuredTool.from_function(blocking, name=name, description=description)
    # As LangChain reads a function, an argument that it does not have is left out, and nothing said.
    base = read.args_schema
    assert isinstance(base, type)
    assert issubclass(base, BaseModel)
    schema = create_model(name, __base__=base, __cls_kwargs__={"extra": "forbid"})
    return StructuredTool.from_function(
        run,
        arun,
        name=name,
        description=description,
        args_schema=schema,
        handle_tool_error=True,
        handle_validation_error=lambda problem: wrong_arguments(name, problem, list(read.args)),
    )
