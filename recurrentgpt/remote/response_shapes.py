"""What a server answers, checked where it is read: another kind of server, or a broken one, is told of in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypeVar, cast, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from recurrentgpt.remote.history import CheckpointId, ThreadState
from recurrentgpt.schema.codex import Change, Contradiction
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.schema.events import Event, from_stream
from recurrentgpt.schema.state import Brief, Rationale, State, Status, Usage

T = TypeVar("T")


def foreign(url: str) -> StoryError:
    """Return what to tell of a server that speaks another protocol, or none."""
    return StoryError(f"The server at {url} does not answer as a LangGraph server does: check the address.")


class Created(TypedDict):
    """A thread that was begun."""

    thread_id: str


class FoundThread(Created):
    """A thread of the list; what its metadata are, whoever began it may say."""

    metadata: dict[str, Any] | None
    updated_at: str | None


class _Standing(TypedDict):
    values: dict[str, Any] | list[Any] | None
    next: list[str] | None


class _State(_Standing):
    checkpoint: dict[str, Any] | None


class _Saved(_Standing):
    checkpoint: CheckpointId
    parent_checkpoint: NotRequired[CheckpointId | None]
    created_at: str | None


class _Recalled(TypedDict):
    id: str
    step: int
    summary: str


class _Values(TypedDict, total=False):
    """What is read of the state of a story."""

    story: str
    title: str
    genre: str
    premise: str
    brief: Brief
    head: str
    step: int
    passage: str
    author: str
    summary: str
    plan: str
    next_plan: str
    written_plan: str
    plan_author: str
    unreached: str
    short_term_memory: str
    candidate_plans: list[str]
    status: Status
    rationale: Rationale
    recalled: list[_Recalled]
    codex: list[Change]
    contradictions: list[Contradiction]
    usage: dict[str, Usage | None]


_OPENED = frozenset(
    {"story", "title", "genre", "premise", "brief", "step", "short_term_memory", "candidate_plans", "status"}
)
"""What the state of every story has that is opened."""


class _AnyEvent(TypedDict):
    event: str


CREATED = TypeAdapter(Created)
FOUND = TypeAdapter(list[FoundThread])
UPDATES = TypeAdapter(dict[str, Any])
_ANY_EVENT = TypeAdapter(_AnyEvent)
_EVENTS: Mapping[str, TypeAdapter[Any]] = {
    get_type_hints(kind)["event"].__args__[0]: TypeAdapter(kind) for kind in get_args(Event)
}
_STATE = TypeAdapter(_State)
_HISTORY = TypeAdapter(list[_Saved])
_VALUES = TypeAdapter(_Values)


def answered(url: str, shape: TypeAdapter[T], answer: object) -> T:
    """Return what the server at `url` answered; raise StoryError where it has not the shape that LangGraph's servers give it."""
    try:
        shape.validate_python(answer, strict=True)
    except ValidationError:
        raise foreign(url) from None
    # The answer as it came: what was checked lacks the fields that nobody reads here.
    return cast(T, answer)


def state_of(url: str, answer: object) -> ThreadState:
    """Return where a thread stands."""
    answered(url, _STATE, answer)
    return _with_values(url, cast("Mapping[str, Any]", answer))


def history_of(url: str, answer: object) -> list[ThreadState]:
    """Return checkpoints of a thread, in the order of the server."""
    answered(url, _HISTORY, answer)
    return [_with_values(url, item) for item in cast("list[Mapping[str, Any]]", answer)]


def event_of(url: str, data: object) -> Event:
    """Return an event of the stream; one of a kind that this version does not know yet is passed on as it is."""
    kind = answered(url, _ANY_EVENT, data)["event"]
    if kind in _EVENTS:
        answered(url, _EVENTS[kind], data)
    return from_stream(data)


def values_of(url: str, values: object) -> State:
    """Return the state of a story, which is whole where the story is opened."""
    if not isinstance(values, dict):
        return State()  # a thread on which nothing ran has a list there, or nothing
    if values.get("head") and not values.keys() >= _OPENED:
        raise foreign(url)
    return update_of(url, values)


def update_of(url: str, update: object) -> State:
    """Return what a node changed in the state."""
    return cast(State, answered(url, _VALUES, update))


def _with_values(url: str, item: Mapping[str, Any]) -> ThreadState:
    return cast(ThreadState, {**item, "values": values_of(url, item["values"])})
