"""What the choices of a novel were, whether its passages carry them out, and how much text a minute of attention gives.

By rules, from the plans that were offered, the plan that was taken and the passage written from it. `recurrentgpt study
adherence` asks a judge the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from recurrentgpt.prose.sentences import count_words
from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.measures.measure import Measure
from recurrentgpt.studies.runs.schemas import NovelRecord, PassageRecord

READING_SPEED = 260
"""Words of fiction that a grown-up reads in a minute (Brysbaert 2019, a mean over 190 studies)."""
TYPING_SPEED = 52
"""Words a minute that people type (Dhakal, Feit, Kristensson and Oulasvirta 2018, 168,000 volunteers)."""
EDITED = 0.5
"""Share of a plan's words in the offered one from which it is that one, changed."""
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True)
class Step:
    """One choice: what was offered, what was taken, and what came of it."""

    how: Literal["accepted", "edited", "own"]
    follows: float
    """Share of the longer words of the taken plan that the passage has."""
    follows_others: float | None
    """The same of the plans that were left, their mean; None where there was none."""
    minutes: float
    """What it takes to read the passage and the plans, and to type what was typed."""


def steps(passages: Sequence[PassageRecord]) -> list[Step]:
    """Return the choices of a novel; a passage before which nothing was offered has none."""
    return [_step(passage, offered) for passage in passages if (offered := passage.get("offered"))]


def _step(passage: PassageRecord, offered: list[str]) -> Step:
    plan, text = passage.get("plan", ""), passage.get("text", "")
    source = origin(plan, offered)
    how: Literal["accepted", "edited", "own"] = "own" if source is None else "accepted" if source == plan else "edited"
    typed = count_words(plan) * (1 - _shared(plan, source or ""))
    left = [one for one in offered if one != source]
    read = count_words(text) + sum(map(count_words, offered))
    return Step(
        how=how,
        follows=_shared(plan, text),
        follows_others=mean(_shared(one, text) for one in left) if left else None,
        minutes=read / READING_SPEED + typed / TYPING_SPEED,
    )


def origin(plan: str, offered: Sequence[str]) -> str | None:
    """Return the offered plan that a plan is, or was made of; None for one of the writer's own."""
    if plan in offered:
        return plan
    near = max(offered, key=lambda one: _shared(plan, one), default="")
    return near if _shared(plan, near) >= EDITED else None


def _shared(plan: str, text: str) -> float:
    """Return the share of the longer words of a plan that a text has, in whatever form: their beginnings are compared."""
    wanted, there = _beginnings(plan), _beginnings(text)
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _beginnings(text: str) -> set[str]:
    return {word[:4] for word in _LONG_WORD.findall(text.casefold())}


def _compute(novel: NovelRecord, system: System) -> dict[str, float | None]:
    found = steps(novel["passages"]) if system.recurrent else []
    if not found:
        return dict.fromkeys(MEASURE.columns)
    others = [step.follows_others for step in found if step.follows_others is not None]
    follows = mean(step.follows for step in found)
    shares = {how: sum(step.how == how for step in found) / len(found) for how in ("accepted", "edited", "own")}
    return {
        **{how: round(share, 4) for how, share in shares.items()},
        "follows_plan": round(follows, 4),
        "follows_others": round(mean(others), 4) if others else None,
        "words_per_minute": round(novel["words"] / sum(step.minutes for step in found), 1),
    }


MEASURE = Measure(
    name="choices",
    description="The choices, of systems that offer plans: shares of passages whose plan was `accepted` as it was offered, "
    "`edited`, or the writer's `own` (the simulator of recurrentgpt may revise what it picks). `follows plan` is the share of "
    "the longer words of the plan that its passage has, `follows others` that of the plans that were left: what the first is "
    "above the second came by the choice; both are high where a passage copies its plan, which is no merit. `words per minute` "
    f"are words of the novel per minute of attention, reading at {READING_SPEED} words a minute and typing at {TYPING_SPEED}. "
    "Words tell little of sense: `study adherence` asks a judge.",
    columns=("accepted", "edited", "own", "follows_plan", "follows_others", "words_per_minute"),
    compute=_compute,
)
