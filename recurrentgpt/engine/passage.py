"""One passage of a story, as a reader is given it."""

from __future__ import annotations

from dataclasses import dataclass, field

from recurrentgpt.schema.codex import Change, Contradiction
from recurrentgpt.schema.events import shown_parent
from recurrentgpt.schema.log import Commit, RecalledId
from recurrentgpt.schema.parts import Rationale, Usage


@dataclass(frozen=True)
class Passage:
    """One passage of the story and what it left behind."""

    id: str
    parent: str | None
    step: int
    plan: str
    text: str
    summary: str
    short_term_memory: str
    author: str
    usage: Usage
    plans: list[str] = field(default_factory=list)
    """The plans proposed for the passage after it."""
    plan_author: str = "model"
    """`model`, `simulator`, `human`; `kept` where the text was edited, or an earlier one, and the plan is history."""
    amends: str = ""
    """Id of the version that this one corrects."""
    rationale: Rationale = field(default_factory=lambda: Rationale(dropped=[], added=[]))
    """What it dropped from the memory and added to it, with reasons."""
    recalled: list[RecalledId] = field(default_factory=list)
    """The passages that were recalled for it."""
    unreached: str = ""
    """What of its plan it did not reach, in a sentence."""
    codex: list[Change] = field(default_factory=list)
    """What it changed in the codex."""
    contradictions: list[Contradiction] = field(default_factory=list)
    """What in it contradicts the codex as it was before it."""

    @classmethod
    def of(cls, commit: Commit) -> Passage:
        """Return the passage of a commit."""
        return cls(
            id=commit["id"],
            parent=shown_parent(commit),
            step=commit["step"],
            plan=commit["plan"],
            text=commit["passage"],
            summary=commit["summary"],
            short_term_memory=commit["short_term_memory"],
            author=commit["author"],
            usage=commit["usage"],
            plans=commit["candidate_plans"],
            plan_author=commit["plan_author"],
            amends=commit["amends"],
            rationale=commit["rationale"],
            recalled=commit["recalled"],
            unreached=commit.get("unreached", ""),
            codex=commit.get("codex", []),
            contradictions=commit.get("contradictions", []),
        )
