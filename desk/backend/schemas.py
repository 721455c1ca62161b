"""The shapes of what pages send and are told; desk/web/src/types.ts is the other side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from recurrentgpt.desk.backend.job_state import Progress
from recurrentgpt.library import StorySummary
from recurrentgpt.schema.codex import Aspect, Kind
from recurrentgpt.schema.state import Added, Dropped, Recalled, Usage

LONGEST_TEXT = 200_000

ShortText = Annotated[str, Field(max_length=1_000)]
LongText = Annotated[str, Field(max_length=LONGEST_TEXT)]
Ref = Annotated[
    str, Field(min_length=1, max_length=80, description="A passage: its id, a step, `opening`, a branch's name")
]
Count = Annotated[int, Field(ge=1, le=100)]

ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": what,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
    }
    for status, what in {
        400: "The host name is not the desk's",
        401: "The token is missing",
        403: "The request comes from another page",
        404: "There is no such story or passage",
        409: "The story does not allow it at this moment",
        413: "Too large",
        422: "It cannot be used as it is",
        424: "A model failed",
        507: "The machine failed",
    }.items()
}


class RequestBody(BaseModel):
    """What a page sends; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class ErrorBody(BaseModel):
    """Why a request was refused, in one sentence for the person at the page."""

    error: str


class Changed(BaseModel):
    """A change was made; the page reads what it shows again."""

    ok: bool = True


class LorebookAdded(Changed):
    """The entries of a lorebook were added: their names, and in words what was left out."""

    added: list[str]
    left_out: str


class JobStarted(BaseModel):
    """A job was started; its events tell the rest."""

    story: str
    left_out: str = ""
    """Of a story that was restored, a sentence on what did not come in; empty where all did."""


class MemoryView(TypedDict):
    """The memory after a passage, with what it dropped and added and why, and what was recalled for the passage."""

    id: str
    step: int
    now: list[str]
    before: list[str]
    dropped: list[Dropped]
    added: list[Added]
    recalled: list[Recalled]


class CodexLine(TypedDict):
    """One thing that is true, and the passage that it comes from; `passage` is empty for what the author or the brief says."""

    aspect: Aspect
    value: str
    """In a few words; a fact has them in `text` alone."""
    text: str
    rests_on: str
    passage: str
    step: int
    author: bool
    """Whether the author said so as of the passage, which need not tell of it."""


class CodexHistoryView(TypedDict):
    """What a passage, or the author, changed in an entry."""

    passage: str
    step: int
    do: str
    aspect: str
    said: str
    author: bool


class CodexEntryView(TypedDict):
    """A person, place, thing, promise or question as of a passage; `here` where the passage names it."""

    name: str
    kind: Kind
    names: list[str]
    """All that it is called."""
    here: bool
    pinned: bool
    """Whether the writer is always told it."""
    hidden: bool
    """Whether readers are not shown it; whoever plays is not even sent it."""
    player: bool
    """Whether it is who plays."""
    lines: list[CodexLine]


class LaidAside(TypedDict):
    """Words of an interrupted passage in whose place something else was done."""

    key: str
    step: int
    plan: str
    text: str


class EditView(TypedDict):
    """The text of an edit that is not in the log."""

    key: str
    at: str
    """The version that the corrections of its passage began from."""
    seen: str
    """The version that it was to take the place of."""
    step: int
    text: str
    now: str
    """What its passage reads, on this branch where it stands there."""


class ReplayView(Progress):
    """An edit that keeps the later passages, and was interrupted."""

    step: int
    text: str


class HiddenView(TypedDict):
    """What a story keeps from its reader: what lies behind it, and its clues, each marked as it stands."""

    truth: str
    clues: list[str]


@dataclass(frozen=True)
class StoryLine(StorySummary):
    """One line of the list of stories, with what tells two of the same title apart."""

    premise: str = ""
    words: int = 0


class StoryView(TypedDict):
    """What the page of a story shows, but for the texts of its passages; of an unopened one, what it is to begin from."""

    id: str
    revision: int
    mode: str
    language: str
    """The tag of the language that it is told in."""
    opened: bool
    title: str
    genre: str
    premise: str
    author: str
    """Who wrote it, as its books say."""
    characters: list[str]
    outline: list[str]
    archived: bool
    head: str
    step: int
    status: str
    branch: str
    words: int
    path: list[tuple[str, int, str, str]]
    """Of each passage its id, words, author, and the version that its corrections began from."""
    recent: list[tuple[str, int]]
    """When passages of this branch were written in the last two days, and their words as they stand; imported ones are none."""
    plans: list[str]
    waiting_plan: str | None
    memory: MemoryView | None
    root: str
    takes: list[str]
    aside: list[LaidAside]
    unfinished_import: Progress | None
    pending_edits: list[EditView]
    pending_replay: ReplayView | None


class ContradictionView(TypedDict):
    """A sentence of a passage that cannot be true together with the codex."""

    number: int
    """By which it is said that it is meant so."""
    start: int
    end: int
    """Where in the text it stands, in characters."""
    entry: str
    said: str
    holds: str
    """What the codex says."""
    rests_on: str
    """The earlier sentence that this rests on."""
    passage: str
    """Id of that sentence's passage; empty where the author or the brief says so."""
    step: int


class PassageView(TypedDict):
    """A passage with its text."""

    id: str
    parent: str
    step: int
    plan: str
    plan_author: str
    author: str
    summary: str
    text: str
    created: str
    amends: str
    contradictions: list[ContradictionView]
    """Whoever plays is not sent those of an entry that is hidden."""


class FoundWords(TypedDict):
    """A passage that has some words letter by letter: how often, and the text around the first of them."""

    id: str
    step: int
    times: int
    piece: str


class PricedUsage(Usage):
    """What calls have cost, in money where the reader has written prices down."""

    cost: str | None


class StoryUsage(PricedUsage):
    """What the passages of the head's branch have cost, how many they are, and what every call for the story has.

    Of `choices`, those made while passages were written ahead, so many were `ready`.
    """

    passages: int
    in_all: PricedUsage
    choices: int
    ready: int


class SettingField(TypedDict):
    """One field of a form of settings."""

    name: str
    label: str
    kind: str
    description: str
    unit: str
    minimum: float | None
    maximum: float | None
    default: Any
    choices: list[str]
    machine: bool
