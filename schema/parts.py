"""What the state and the rows of the story log are both made of, as types: plain JSON, and nothing of LangGraph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

_T = TypeVar("_T")


def described(kind: type[_T]) -> type[_T]:
    """Have forms and schemas say of a type's fields what their docstrings say."""
    # As Pydantic's `with_config` does, which takes as long to import as the command line to answer.
    kind.__pydantic_config__ = {"use_attribute_docstrings": True}  # type: ignore[attr-defined]
    return kind


BY_HAND = "edited by hand"
"""Why a sentence came or went that somebody added or took out."""

MOST_TITLE_CHARACTERS = 2000
"""Longest title of a story that is edited or comes in: those of old books take up to a page."""

KEPT_PLAN = "kept"
"""`plan_author` of a passage that was edited, or kept upon an edited one: it was not written from its plan as the story now
goes, and no prompt tells that plan again."""

Status = Literal["writing", "choosing", "retaking", "replanning", "finished"]
"""Where a story stands: inside a timestep, waiting for the choice of a plan, or at its end."""


Rework = Literal["rewrite", "expand", "shorten", "describe", "rephrase"]
"""How a part of a passage is put in other words."""


@described
class Brief(TypedDict):
    """What the story is and stays: pinned in every prompt, never forgotten."""

    title: str
    """Its title."""
    genre: str
    """Its genre."""
    premise: str
    """What it is about."""
    characters: list[str]
    """One string each, `Name: who they are`."""
    outline: list[str]
    """The turns that it is to take, in their order."""
    synopsis: NotRequired[str]
    """What the model made of a premise that somebody gave, which stands beside it."""
    truth: NotRequired[str]
    """What really happened, or what the story is really about: kept from the reader."""
    clues: NotRequired[list[str]]
    """What points to the truth, and where each of them appears: kept from the reader."""
    voice: NotRequired[str]
    """How the story is told: viewpoint, distance, diction, dialect."""


def reworded(brief: Brief, reword: Callable[[str], str]) -> Brief:
    """Return a brief of which `reword` has put every text in other words; the title and the genre stay."""
    texts: dict[str, str | list[str]] = {
        part: [reword(line) for line in text] if isinstance(text, list) else reword(str(text))
        for part, text in brief.items()
        if part not in ("title", "genre")
    }
    return Brief(**{**brief, **texts})  # type: ignore[typeddict-item]


def character_names(brief: Brief) -> list[str]:
    """Return the names of the main characters, whole, as their lines begin with them."""
    return [name for character in brief["characters"] if (name := character.partition(":")[0].strip())]


RowKind = Literal["sentence", "summary", "fact", "piece"]
"""What a text is that a passage is found by."""


@described
class Recalled(TypedDict):
    """One passage that the long-term memory gave back, and why."""

    id: str
    """Id of the passage."""
    step: int
    """Its number on the branch."""
    score: float
    """Cosine similarity of the plan and the best piece, -1 to 1."""
    summary: str
    """The passage in a sentence."""
    piece: str
    """What matched best: words of the passage, or its summary, or a fact that it told."""
    quoted: NotRequired[bool]
    """Whether `piece` is the passage's own words."""
    row: NotRequired[int]
    """Number of what matched best among the texts that the passage is found by."""
    kind: NotRequired[RowKind]
    """What that text is."""


@described
class Dropped(TypedDict):
    """A sentence that left the short-term memory."""

    sentence: str
    """The sentence."""
    why: str
    """Why it left."""


@described
class Added(TypedDict):
    """A sentence that entered the short-term memory."""

    sentence: str
    """The sentence."""
    why: str
    """Why it entered."""


@described
class Rationale(TypedDict):
    """What one rewriting of the short-term memory dropped and added, each with its reason (paper, section 2.2)."""

    dropped: list[Dropped]
    """Sentences that left."""
    added: list[Added]
    """Sentences that entered."""


@described
class Usage(TypedDict):
    """What model calls cost."""

    calls: int
    """Calls of a model."""
    input_tokens: int
    """Tokens of their prompts."""
    cached_tokens: int
    """Those of them that a server had read before."""
    output_tokens: int
    """Tokens of the replies."""
    resamples: int
    """Calls made only because an earlier reply was not usable."""
    seconds: float
    """Time that they took."""


@described
class Choice(TypedDict):
    """How the plan was chosen."""

    index: int | None
    """Which candidate, from 0; None for an own plan."""
    by: str
    """`human` or `simulator`."""
    why: str
    """The reason that was given; mostly empty."""
