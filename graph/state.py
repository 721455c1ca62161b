"""The state of a story between two super-steps: bounded, and plain JSON.

It holds the current timestep and nothing that grows. What grows is the story log (`recurrentgpt.memory.chronicle`),
of which the state carries only `head`. In the terms of the paper (arXiv 2305.13304, section 2): `passage` is the output o,
`plan` the input x, `short_term_memory` the hidden state h, and the log behind `head` the cell state c.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

MEMORY_SENTENCES = 20
"""Most sentences of a short-term memory."""

MEMORY_WORDS = 500
"""Most words of a short-term memory."""

Status = Literal["writing", "choosing", "retaking", "replanning", "finished"]
"""Where a story stands: inside a timestep, waiting for the choice of a plan, or at its end."""


class Brief(TypedDict):
    """What the story is and stays: pinned in every prompt, never forgotten."""

    title: str
    genre: str
    premise: str
    characters: list[str]
    """One string each, `Name: who they are`."""
    outline: list[str]


class Recalled(TypedDict):
    """One passage that the long-term memory gave back, and why."""

    id: str
    step: int
    score: float
    """Cosine similarity of the plan and the best piece, -1 to 1."""
    summary: str
    piece: str
    """The piece of the passage that matched best."""


class Dropped(TypedDict):
    """A sentence that left the short-term memory."""

    sentence: str
    why: str


class Added(TypedDict):
    """A sentence that entered the short-term memory."""

    sentence: str
    why: str


class Rationale(TypedDict):
    """What one rewriting of the short-term memory dropped and added, each with its reason (paper, section 2.2)."""

    dropped: list[Dropped]
    added: list[Added]


class Usage(TypedDict):
    """What model calls cost."""

    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    resamples: int
    """Calls made only because an earlier reply was not usable."""
    seconds: float


class Choice(TypedDict):
    """How the plan was chosen."""

    index: int | None
    """Which candidate, from 0; None for an own plan."""
    by: str
    why: str


def merge_usage(old: dict[str, Usage] | None, new: dict[str, Usage | None] | None) -> dict[str, Usage]:
    """Merge the usage of nodes by name; None clears a node's entry.

    A reducer, because `update_memory` and `propose_plans` report in the same super-step.
    """
    merged: dict[str, Usage | None] = {**(old or {}), **(new or {})}
    return {name: usage for name, usage in merged.items() if usage is not None}


class StoryInput(TypedDict):
    """What starts or reopens a story; every key may be left out."""

    genre: NotRequired[str]
    """For example `science fiction`."""
    premise: NotRequired[str]
    """What the story is about, in a few sentences."""
    title: NotRequired[str]
    short_term_memory: NotRequired[str]
    """To continue your own story: what has happened so far, one sentence a line."""
    plan: NotRequired[str]
    """What the first passage shall do."""
    story: NotRequired[str]
    """The id of a story in the log; a new one is made when it is absent."""
    head: NotRequired[str]
    """The commit to reopen that story at; its newest one when absent."""


class StoryOutput(TypedDict):
    """What a run returns."""

    story: str
    title: str
    head: str
    step: int
    passage: str
    plan: str
    short_term_memory: str
    candidate_plans: list[str]
    status: Status


class State(TypedDict, total=False):
    """The whole of one timestep."""

    story: str
    title: str
    genre: str
    premise: str
    brief: Brief
    head: str
    """Id of the newest commit on this branch; empty before the first."""
    step: int
    """Number of passages up to and with `passage`."""
    until: int
    """Step after which this run ends; 0 for no end."""
    plan: str
    plan_author: str
    """`model`, `simulator` or `human`."""
    written_plan: str
    """The plan that `passage` was written from. While `plan` is another one, it waits to be written."""
    recalled: list[Recalled]
    previous_passage: str
    passage: str
    author: str
    """Who wrote `passage`: `model`, `human` or `edited`."""
    summary: str
    short_term_memory: str
    """One sentence a line; at most 20 sentences and 500 words."""
    previous_memory: str
    """The short-term memory that `passage` was written from."""
    rationale: Rationale
    candidate_plans: list[str]
    choice: Choice
    take: int
    """How many times this timestep was asked for another take or new plans: it varies the seeds."""
    autopilot: int
    """Passages that the simulator still pilots after a human handed over; -1 for all that are left."""
    usage: Annotated[dict[str, Usage], merge_usage]
    status: Status
