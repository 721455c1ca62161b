"""The rows of the story log as types: a commit, its link, where a story stands, and what a story is."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from recurrentgpt.schema.codex import Change, Contradiction, Told
from recurrentgpt.schema.outline import TurnStatus
from recurrentgpt.schema.parts import Brief, Rationale, Recalled, RowKind, Usage


class RecalledId(TypedDict):
    """Which passage was recalled, without its text."""

    id: str
    """Id of its commit."""
    step: int
    """Number of the passage."""
    score: float
    """How well it answers what was asked for, by its meaning and its rare words: 1 for the same text."""
    row: NotRequired[int]
    """Number of what matched best among the texts of that passage; absent in commits from before it was kept."""
    kind: NotRequired[RowKind]
    """What that text is."""


def recalled_id(recalled: Recalled) -> RecalledId:
    """Return what a commit keeps of a passage that was recalled."""
    kept = RecalledId.__annotations__
    return cast(RecalledId, {name: value for name, value in recalled.items() if name in kept})


class Commit(TypedDict):
    """One passage and the whole LSTM state after it."""

    id: str
    story: str
    parent: str
    """Id of the commit before it; empty for the opening."""
    amends: str
    """Id of the commit of which this is a corrected version (same passage, other memory or plans); mostly empty."""
    step: int
    plan: str
    plan_author: str
    passage: str
    author: str
    summary: str
    short_term_memory: str
    rationale: Rationale
    candidate_plans: list[str]
    recalled: list[RecalledId]
    usage: Usage
    created: str
    turns: NotRequired[list[TurnStatus]]
    """Where the turns of the outline stand after the passage; absent while nobody keeps count."""
    clues: NotRequired[list[TurnStatus]]
    """Which clues of the brief a reader has been given up to and with the passage; absent while nobody keeps count."""
    unreached: NotRequired[str]
    """What of its plan the passage did not reach, in a sentence; absent for nothing, and where nobody has said."""
    overlay: NotRequired[str]
    """Id of the corrections in force on this branch; absent or empty for none."""
    left: NotRequired[str]
    """Where the head stood when this corrected version was made, if that was not at the commit it amends."""
    left_overlay: NotRequired[str]
    """Id of the corrections in force there, if they were others than that commit's own: what undo returns to."""
    codex: NotRequired[list[Change]]
    """What the passage changed in the codex; absent for nothing."""
    told: NotRequired[list[Told]]
    """What the writer was told of people and things; absent in commits from before it was kept."""
    contradictions: NotRequired[list[Contradiction]]
    """What of the passage contradicts the codex as it was before it; absent for nothing."""
    sent: NotRequired[str]
    """Which templates asked for the passage and a digest of what they were filled to, as `full 0f4c2a19`; absent where no
    model was asked, and in commits from before it was kept."""


class Link(TypedDict):
    """What a tree needs to know of a commit."""

    id: str
    parent: str
    amends: str
    step: int
    words: int
    author: str
    created: NotRequired[str]
    left: NotRequired[str]
    text: NotRequired[str]
    """Digest of the passage: equal for versions that differ in memory, plans or summary alone."""
    digest: NotRequired[str]
    """Digest of the whole commit, by which damage to it is told; commits of the first edition have none."""


class StoryRecord(TypedDict):
    """What a story is, apart from its passages."""

    story: str
    title: str
    genre: str
    premise: str
    brief: Brief
    settings: dict[str, object]
    created: str
    archived: NotRequired[bool]
    lost: NotRequired[list[int]]
    """Steps of the passages that were missing when the story was saved from a damaged file; absent for none."""


class Head(TypedDict):
    """Where a story stands."""

    story: str
    head: str
    step: int
    status: str
    updated: str
    undone: NotRequired[str]
    """Where the head stood before it was taken back; empty since something new was written."""
    branch: NotRequired[str]
    """The name that the head carries along; mostly empty."""
    overlay: NotRequired[str]
    """Id of the corrections in force where the story was gone back to, if they are others than the commit's own."""


class AheadTally(TypedDict):
    """What writing ahead of the choices was good for."""

    choices: int
    """Choices that were made while passages were written ahead."""
    ready: int
    """Those of them whose passage was there."""
    usage: Usage
    """What was spent on passages that nobody has chosen: no commit tells it."""


class ReplayRow(TypedDict):
    """An edit with replay that was interrupted."""

    ref: str
    step: int
    text: str
    head: str
    overlay: str
    done: int
    total: int
    created: str
