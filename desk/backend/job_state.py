"""What every page of a story is told about the job that runs on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from typing_extensions import TypedDict

from recurrentgpt.desk.backend.asked_change import AskedChange
from recurrentgpt.desk.backend.memory_change import MemoryChange

JobKind = Literal["", "write", "retry", "replan", "edit", "keep", "import", "rework"]


class Progress(TypedDict):
    """How far something is: passages, or bytes while a model is fetched."""

    done: int
    total: int


class Download(Progress):
    """How far a model is fetched, and `what` happens to it."""

    what: str


class Difference(TypedDict):
    """A run of words that two texts share or not."""

    kind: Literal["same", "removed", "added", "changed"]
    before: str
    after: str


class Suggestion(TypedDict):
    """Other words for a part of a passage, its characters from `start` up to `end`, or why there are none."""

    key: str
    """Its name in requests."""
    at: str
    """The version of the passage whose characters are counted."""
    root: str
    """The version that the corrections of its passage began from: it waits wherever one of them stands."""
    start: int
    end: int
    how: str
    take: int
    """How often other words were asked for before."""
    text: str
    """Empty until they are here."""
    changes: list[Difference]
    error: str
    working: bool
    """Whether other words are in the making; what was suggested before them stays until they are here."""


class SuggestionEvent(TypedDict):
    """What is suggested for a selection from here on."""

    event: Literal["suggestion"]
    suggestion: Suggestion


@dataclass
class JobState:
    """The job that runs on a story, or how the last one ended."""

    busy: bool = False
    kind: JobKind = ""
    stage: str = ""
    """The graph's node that runs."""
    attempt: int = 1
    """How often this stage was begun: more than once where a model failed and is asked again."""
    since: float = 0.0
    """When this stage began, in seconds since 1970."""
    step: int = 0
    plan: str = ""
    draft: str = ""
    """The words of the passage in the making, or of one that was interrupted."""
    asked: int = 0
    done: int = 0
    stopping: bool = False
    progress: Download | None = None
    founding: str = ""
    """What is known of a story that is being founded: its title and, as far as it is written, its premise."""
    replay: Progress | None = None
    suggestions: list[Suggestion] = field(default_factory=list)
    """What is suggested for selections, in the order of asking; each waits until somebody takes it or leaves it."""
    queue: list[str] = field(default_factory=list)
    """Plans that wait to be written after the passage in the making, in their order."""
    memory_changes: list[MemoryChange] = field(default_factory=list)
    """Edits of the memory that wait for the one that the passage in the making leaves, in their order."""
    codex_changes: list[AskedChange] = field(default_factory=list)
    """Changes of the codex that wait until what is in the making is there, in their order."""
    ready: list[str] = field(default_factory=list)
    """Plans whose passages were written ahead: chosen, they are there at once."""
    error: str = ""
    note: str = ""
    revision: int = 0
    """Grows with whatever changes the story: a page that has another number reads it again."""
