"""What the catalogue knows of a system: its graph, its prompts, what its novels cost and which measures apply to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langgraph.graph import StateGraph

from recurrentgpt.studies.study_context import StudyContext

Builder = StateGraph[Any, StudyContext, Any, Any]


@dataclass(frozen=True)
class Cost:
    """Estimated calls and tokens."""

    calls: float = 0
    input_tokens: float = 0
    output_tokens: float = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def times(self, factor: float) -> Cost:
        """Return the cost of so many."""
        return Cost(self.calls * factor, self.input_tokens * factor, self.output_tokens * factor)


def linear_cost(per_1000_words: Cost, fixed: Cost = Cost()) -> Callable[[int], Cost]:
    """Return the estimate of a system whose novels cost `fixed` and so much per 1,000 words."""
    return lambda words: fixed + per_1000_words.times(words / 1000)


@dataclass(frozen=True, kw_only=True)
class System:
    """One system of the comparison."""

    name: str
    description: str
    build: Callable[[], Builder]
    cost: Callable[[int], Cost]
    """Estimate of one novel of so many words, with the system's own number of drafts."""
    published_cost: Callable[[int], Cost] | None = None
    """The same where it is run as its authors ran it; None for a system that has no such option."""
    prompts: Path | None = None
    """Folder of its own templates; None for one that has the engine's alone."""
    drafts: int = 0
    """Drafts that it compares per passage unless a plan says otherwise; 0 for a system that compares none."""
    window: int | None = None
    """Tokens of the story that it sees, where nothing else of the story reaches its prompts."""
    mode: Literal["novel", "fiction"] = "novel"
    """What its texts are: novels to read, or stories that are played."""
    recurrent: bool = False
    """Whether each of its steps proposes plans, which have a contract to be held to."""
    remembers: bool = False
    """Whether it keeps a short-term memory."""
    recalls: bool = False
    """Whether it searches a long-term memory."""
    paced: bool = True
    """Whether its passages have 200 to 400 words each; those of one_shot, re3 and doc have lengths of their own."""
    deals_plans: bool = False
    """Whether its plans are the engine's: each after a move that is dealt, and asked for again where two are alike or one has
    happened."""
    own_guards: frozenset[str] = frozenset()
    """What it has that not every system has, where guards are `own`: what keeps `copies` and `loops` out, a grammar of `scenes`
    or of `sentences`, worked `examples`."""
    own_samples: int = 0
    """Samples of a passage, each going on from the last, where guards are `own`; 0 where a passage is asked for in one piece."""
    watched: bool = False
    """Whether its passages are kept from copying earlier ones, where guards are `shared`."""
    plants_facts: bool = False
    """Whether the scripted author of planted facts can answer its prompts."""

    def novel_cost(self, words: int, drafts: int = 0, *, published: bool = False) -> Cost:
        """Return the estimate of one novel; `drafts` per passage, 0 for the system's own number."""
        cost = (self.published_cost if published and self.published_cost else self.cost)(words)
        # Beside each draft a passage has about two calls more: a summary and the grades.
        return cost.times((drafts + 2) / (self.drafts + 2)) if self.drafts and drafts else cost
