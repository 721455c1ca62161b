"""What happens while a story is written, as plain dictionaries; `recurrentgpt write --json` prints the same objects.

`event` says which kind it is. docs/events.md lists every kind with its fields.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

from typing_extensions import TypedDict

from recurrentgpt.schema.log import Commit, RecalledId, StoryRecord
from recurrentgpt.schema.parts import Added, Dropped, Usage


class StoryEvent(TypedDict):
    """Which story is being written; comes once in a run, at the latest before its first finished passage."""

    event: Literal["story"]
    story: str
    """Id of the story."""
    title: str
    genre: str


class StageEvent(TypedDict):
    """A node of the graph begins its work. At `write` a listener starts from an empty passage."""

    event: Literal["stage"]
    node: str
    """`open_story`, `retrieve`, `write`, `update_memory`, `propose_plans`, `commit` or `simulator`."""


class FoundingEvent(TypedDict):
    """More is known of a story that is being founded; another try begins it anew."""

    event: Literal["founding"]
    title: str
    premise: str
    """As far as it is written, in whole sentences; empty until then."""


class ProseEvent(TypedDict):
    """More of the passage in the making, to be put behind what came before."""

    event: Literal["prose"]
    text: str
    """May be empty, where only `settled` has changed."""
    settled: int
    """Characters of the passage that will not be taken back, unless the passage begins again."""


class RetractEvent(TypedDict):
    """The end of the passage in the making is taken back."""

    event: Literal["retract"]
    length: int
    """Characters of the passage that stay."""
    why: str
    """Why the passage is written again from there, in a sentence; empty where only its end is put right."""


class PassageEvent(TypedDict):
    """A passage is finished and in the log."""

    event: Literal["passage"]
    story: str
    id: str
    parent: str | None
    """Id of the passage before it; null for the first."""
    step: int
    """Number of the passage on its branch, from 1."""
    plan: str
    """The plan that it was written from."""
    text: str
    contradictions: int
    """How often it contradicts the codex."""


class MemoryEvent(TypedDict):
    """The short-term memory was rewritten after a passage."""

    event: Literal["memory"]
    step: int
    short_term_memory: str
    """One sentence a line."""
    dropped: list[Dropped]
    """Sentences that left it, each with the reason."""
    added: list[Added]
    """Sentences that entered it, each with the reason."""
    recalled: list[RecalledId]
    """Passages that were recalled for this one, with their scores."""


class PlansEvent(TypedDict):
    """Plans for the next passage, and which was chosen."""

    event: Literal["plans"]
    step: int
    """The passage after which they were proposed; 0 for the opening."""
    plans: list[str]
    chosen: int | None
    """Which plan, from 0; null for an own plan, and where nothing is chosen yet."""
    plan: str | None
    """The chosen plan; null where the choice is open."""
    why: str
    """The simulator's reason; may be empty."""


class ReplayEvent(TypedDict):
    """An edit with replay has put a passage in place."""

    event: Literal["replay"]
    story: str
    id: str
    step: int
    done: int
    """Passages in place, of `total`."""
    total: int
    kept: bool
    """Whether the log had it already, from an earlier try."""


class ImportEvent(TypedDict):
    """An import has put a passage of a book in place."""

    event: Literal["import"]
    story: str
    id: str
    step: int
    done: int
    """Passages in place, of `total`."""
    total: int
    kept: bool
    """Whether the log had it already, from an earlier try."""


class DoneEvent(TypedDict):
    """The run has ended."""

    event: Literal["done"]
    story: str
    steps: int
    """Passages that it wrote."""
    usage: Usage
    """What they cost."""
    stopped: str | None
    """What ended it early: `budget`, where the next passage might use more tokens than are left; else null."""


Event: TypeAlias = (
    StoryEvent
    | StageEvent
    | FoundingEvent
    | ProseEvent
    | RetractEvent
    | PassageEvent
    | MemoryEvent
    | PlansEvent
    | ReplayEvent
    | ImportEvent
    | DoneEvent
)
"""One thing that happened."""


def from_stream(chunk: object) -> Event:
    """Return what a node wrote to LangGraph's `custom` stream as the event that it is."""
    return cast(Event, chunk)


def story_event(record: StoryRecord) -> StoryEvent:
    """Return the event that says which story is being written."""
    return {"event": "story", "story": record["story"], "title": record["title"], "genre": record["genre"]}


def passage_event(commit: Commit) -> PassageEvent:
    """Return the event of a finished passage."""
    return {
        "event": "passage",
        "story": commit["story"],
        "id": commit["id"],
        "parent": shown_parent(commit),
        "step": commit["step"],
        "plan": commit["plan"],
        "text": commit["passage"],
        "contradictions": len(commit.get("contradictions", [])),
    }


def memory_event(commit: Commit) -> MemoryEvent:
    """Return the event of a rewritten memory."""
    return {
        "event": "memory",
        "step": commit["step"],
        "short_term_memory": commit["short_term_memory"],
        "dropped": commit["rationale"]["dropped"],
        "added": commit["rationale"]["added"],
        "recalled": commit["recalled"],
    }


def replay_event(commit: Commit, done: int, total: int, *, kept: bool) -> ReplayEvent:
    """Return the event of a passage that an edit with replay has put in place; `kept` when the log had it already."""
    return {
        "event": "replay",
        "story": commit["story"],
        "id": commit["id"],
        "step": commit["step"],
        "done": done,
        "total": total,
        "kept": kept,
    }


def import_event(commit: Commit, done: int, total: int, *, kept: bool) -> ImportEvent:
    """Return the event of a passage that an import has put in place; `kept` when the log had it already."""
    return {**replay_event(commit, done, total, kept=kept), "event": "import"}


def plans_event(commit: Commit, chosen: int | None = None, plan: str | None = None, why: str = "") -> PlansEvent:
    """Return the event of proposed plans; nothing is chosen where the run ends."""
    return {
        "event": "plans",
        "step": commit["step"],
        "plans": commit["candidate_plans"],
        "chosen": chosen,
        "plan": plan,
        "why": why,
    }


def done_event(story: str, steps: int, usage: Usage, *, stopped: str | None = None) -> DoneEvent:
    """Return the event of a run's end: how many passages it wrote, what they cost, and what stopped it early (`budget`)."""
    return {"event": "done", "story": story, "steps": steps, "usage": usage, "stopped": stopped}


def shown_parent(commit: Commit) -> str | None:
    """Return the passage before this one; a story's opening is none."""
    return (commit["parent"] or None) if commit["step"] > 1 else None
