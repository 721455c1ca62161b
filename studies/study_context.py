"""What a run of a study is told beside what any story is: how long the novel is, and where its calls are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from recurrentgpt.schema.context import CodeOnly, Context, setting

TOLERANCE = 0.1
"""Share by which a novel may be shorter or longer than its target."""

PASSAGE_WORDS = 300
MOST_ENDINGS = 3
"""Passages that a system may add after its planned last one, where the novel is still too short."""

Finale = Literal["", "near", "last"]
Guards = Literal["shared", "own", "none"]
"""Which guards systems have: those that every system can have, each system's own, or none."""


@dataclass(kw_only=True)
class StudyContext(Context):
    """Settings of one novel of a study."""

    keeps_whole_passages: ClassVar[bool] = False

    selector: Literal["human", "simulator"] = setting("simulator", "Always simulated", scope="run")
    ending: bool = setting(True, "Every novel is brought to its end", scope="run")
    target_words: int = setting(3000, "Length of the novel", scope="run", unit="words", ge=200, le=1_000_000)
    candidates: int = setting(0, "Drafts per passage of re3 and doc; 0 for their own", scope="run", ge=0, le=20)
    published: bool = setting(
        False,
        "doc as its authors ran it: three levels of outline, 64 tokens a passage, graded with its leaf",
        scope="run",
    )
    guards: Guards = setting(
        "own",
        "Which guards systems have: shared (no copies, 8 samples), own (also grammar of scenes and worked examples, not in "
        "every system), none",
        scope="run",
    )
    adapter: str | None = setting(
        "none",
        "LoRA adapter of the embedded model: storyteller, PATH or PATH@STRENGTH; none, so that no system's prompts are favoured",
        scope="machine",
    )
    embedder: Literal["default", "hash-256"] = setting(
        "default", "The embedding model of where it runs, or hashes in its place", scope="machine"
    )
    record: Literal["no", "calls", "prompts"] = setting(
        "no", "Whether the graph's store keeps each call, and with its prompt", scope="run"
    )
    recorder: CodeOnly = setting(None, "Where calls are written", scope="code")
    recording: CodeOnly = setting(None, "What answers in place of a model", scope="code")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.embedder == "hash-256":
            from recurrentgpt.models.embeddings import HashEmbeddings

            self.embeddings = HashEmbeddings()

    @property
    def own_voice(self) -> bool:
        """Tell whether templates show their worked examples and scenes are held to their grammar, which others have not."""
        return self.guards == "own" and super().own_voice

    @property
    def checks_plans(self) -> bool:
        """Tell whether recurrentgpt asks for plans again; doc asks for its outline again whatever the guards."""
        return self.guards == "own"


@dataclass(frozen=True)
class Pace:
    """How long the next passage is, and how many are left with it."""

    least: int
    most: int
    left: int

    @property
    def aim(self) -> int:
        """Return the words to ask for."""
        return (self.least + self.most) // 2

    @property
    def finale(self) -> Finale:
        """Return how near the end of the novel the passage is."""
        return "last" if self.left <= 1 else "near" if self.left <= 3 else ""


def pace(written: int, target: int, *, passage: int = PASSAGE_WORDS, bounds: tuple[int, int] = (200, 400)) -> Pace:
    """Return the length of the next passage after `written` words, so that the novel ends within a tenth of `target`.

    Passages keep within `bounds`, except for the last, which fills what is left.
    """
    rest = max(1, target - written)
    left = max(1, round(rest / passage))
    if left == 1:
        slack = min(0.8 * TOLERANCE * target, 0.8 * passage)
        most = min(rest + slack, 1.5 * passage + slack)
        return Pace(max(20, round(max(0.6 * rest, rest - slack))), max(40, round(most)), 1)
    aim = rest / left
    least = max(bounds[0], round(0.8 * aim))
    # The last passage must be left enough words to be one.
    most = min(bounds[1], round(1.3 * aim), rest - passage // 2)
    return Pace(min(least, most), most, left)


def is_full(words: int, target: int) -> bool:
    """Tell whether a novel is as long as it should be, within the tolerance."""
    return words >= (1 - TOLERANCE) * target
