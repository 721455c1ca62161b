"""What a run of a study is told beside what any story is: how long the novel is, and where its calls are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic.json_schema import SkipJsonSchema

from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.context import Context
from recurrentgpt.studies.errors import StudyError

TOLERANCE = 0.1
"""Share by which a novel may be shorter or longer than its target."""

PASSAGE_WORDS = 300
MOST_ENDINGS = 3
"""Passages that a system may add after its planned last one, where the novel is still too short."""

Finale = Literal["", "near", "last"]


@dataclass(kw_only=True)
class StudyContext(Context):
    """Settings of one novel of a study."""

    selector: Literal["human", "simulator"] = field(default="simulator", metadata={"description": "Always simulated"})
    ending: bool = field(default=True, metadata={"description": "Every novel is brought to its end"})
    target_words: int = field(default=3000, metadata={"description": "Length of the novel"})
    candidates: int = field(default=0, metadata={"description": "Drafts per passage of re3 and doc; 0 for their own"})
    embedder: Literal["default", "hash-256"] = field(
        default="default", metadata={"description": "The embedding model of where it runs, or hashes in its place"}
    )
    record: Literal["no", "calls", "prompts"] = field(
        default="no", metadata={"description": "Whether the graph's store keeps each call, and with its prompt"}
    )
    recorder: SkipJsonSchema[Any] = field(default=None, metadata={"description": "Where calls are written"})
    tape: SkipJsonSchema[Any] = field(default=None, metadata={"description": "What answers in place of a model"})

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("embedder", ("default", "hash-256")), ("record", ("no", "calls", "prompts"))):
            if getattr(self, name) not in known:
                raise StudyError(f"{name} is one of {', '.join(known)}; it is {getattr(self, name)!r:.60}.")
        if self.embedder == "hash-256":
            from recurrentgpt.models.embeddings import HashEmbeddings

            self.embeddings = HashEmbeddings()
        if not 200 <= self.target_words <= 1_000_000:
            raise StudyError(f"A novel of a study has 200 to 1,000,000 words; this one has {self.target_words}.")
        if not 0 <= self.candidates <= 20:
            raise StudyError(f"candidates is 1 to 20, or 0 for the system's own number; it is {self.candidates}.")


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


def story_words(passages: list[str]) -> int:
    """Return the words of a novel."""
    return sum(map(count_words, passages))
