"""Where a story stands, as one picture: what every face of it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recurrentgpt.engine.passage import Passage
from recurrentgpt.schema.log import AheadTally, Link
from recurrentgpt.schema.parts import Brief, Rationale, Status, Usage


@dataclass(frozen=True)
class PendingReplay:
    """An edit with replay that was interrupted."""

    ref: str
    """Id of the passage that is edited."""
    step: int
    text: str
    head: str
    """Up to where the later passages are kept."""
    overlay: str
    done: int
    """Passages in place, of `total`."""
    total: int
    created: str


@dataclass(frozen=True)
class StorySnapshot:
    """Where a story stands at one moment."""

    story: str
    """Id of the story."""
    settings: Mapping[str, object]
    """How it is told: the fields of `Context` that the story keeps."""
    title: str = ""
    brief: Brief | None = None
    """What every prompt of this branch holds, corrections included; None before the story is opened."""
    passage: Passage | None = None
    """The newest passage of the branch, or the opening, with memory and plans after it; None before the story is opened."""
    path: tuple[Link, ...] = ()
    """The links of the branch's passages, from the first to the newest; the opening is none."""
    branch: str = ""
    """The name that the head carries along; mostly empty."""
    names: Mapping[str, str] | None = None
    """Which passage each name of a branch stands at; None where nobody can tell, as of a story on a server."""
    status: Status = "writing"
    waiting_plan: str | None = None
    """The plan that is chosen and not written yet, if there is one."""
    pending_replay: PendingReplay | None = None
    """The edit with replay that was interrupted, if there is one."""
    archived: bool = False
    usage: Usage | None = None
    """What the passages of the branch have cost; None where it was not asked for."""
    ahead: AheadTally | None = None
    """How many choices were ready, of those made while passages were written ahead; None where nobody can tell."""

    @property
    def head(self) -> str:
        """Id of the newest passage or of the opening; empty before the story is opened."""
        return self.passage.id if self.passage else ""

    @property
    def step(self) -> int:
        """Number of passages on the branch."""
        return self.passage.step if self.passage else 0

    @property
    def memory(self) -> str:
        """The short-term memory, one sentence a line."""
        return self.passage.short_term_memory if self.passage else ""

    @property
    def rationale(self) -> Rationale:
        """What the newest passage dropped from the memory and added to it, with reasons."""
        return self.passage.rationale if self.passage else Rationale(dropped=[], added=[])

    @property
    def plans(self) -> list[str]:
        """The plans to choose from."""
        return self.passage.plans if self.passage else []
