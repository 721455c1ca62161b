"""Compare novels by model judges: blind, in both orders, one criterion per call, quotes before the verdict.

A judge whose two verdicts on a pair disagree has said that it is a tie. Before it is believed at all it has to tell stories from
corrupted copies of themselves.
"""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from recurrentgpt.models.calls import Meter, ask
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.prompt_messages import FULL_REPLY_TOKENS
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.studies.baselines.runtime import PROMPTS
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.runs.costs import CORRUPTED_NOVELS, CORRUPTION_KINDS
from recurrentgpt.studies.runs.folder import VERDICT, RunFolder
from recurrentgpt.studies.runs.schemas import NovelRecord

QUESTIONS = {
    "interesting": "which is more interesting to read, so that one wants to know how it goes on?",
    "coherent": "which is more coherent, with events that follow from each other and people and facts that stay the same?",
}
QUALIFIED = 0.95
FEWEST = 3
"""Judges that a comparison should have."""

Side = Literal["A", "B", "tie"]
Prefer = Callable[[str, str, str, str], Awaitable[float]]
"""Given a criterion, the premise and two texts, how far a judge prefers the first: what `both_orders` returns."""


class JudgeReply(BaseModel, title="Reply"):
    """A judge's reply; quotes come first, so that the verdict follows from the text."""

    quotes_a: list[str]
    quotes_b: list[str]
    verdict: Side


@dataclass(frozen=True)
class Pair:
    """Two novels of one premise."""

    unit: str
    first: str
    second: str
    """Names of the systems."""


@dataclass(frozen=True)
class Qualification:
    """How often a judge preferred stories to corrupted copies of them."""

    judge: str
    pairs: int
    right: int
    by_kind: dict[str, float]
    units: tuple[str, ...] = ()
    """Novels whose corrupted copies it was shown."""

    @classmethod
    def of(cls, row: Row) -> Qualification:
        """Return the qualification that a row of `qualification.jsonl` holds."""
        return cls(row["judge"], row["pairs"], row["right"], row["by_kind"], tuple(row.get("units", ())))

    def lacks(self, novels: Iterable[NovelRecord]) -> list[NovelRecord]:
        """Return the novels that it is still to be shown corrupted, until it has seen as many as qualify a judge."""
        left = {novel["unit"]: novel for novel in novels if novel["unit"] not in self.units}
        return list(left.values())[: max(0, CORRUPTED_NOVELS - self.pairs // CORRUPTION_KINDS)]

    @property
    def rate(self) -> float:
        """Return the share of pairs that were judged right in both orders."""
        return self.right / self.pairs if self.pairs else 0.0

    @property
    def qualified(self) -> bool:
        """Tell whether the judge's verdicts are used."""
        return self.rate >= QUALIFIED


def pairs(folder: RunFolder) -> list[tuple[Pair, NovelRecord, NovelRecord]]:
    """Return the pairs of finished novels that are compared: the plan's first system with every other."""
    plan, by = folder.plan, {(novel["system"], novel["unit"]): novel for novel in folder.novels()}
    reference = plan.systems[0]
    found = []
    for unit in dict.fromkeys(job.unit for job in plan.jobs()):
        for other in plan.systems[1:]:
            if (reference, unit) in by and (other, unit) in by:
                found.append((Pair(unit, reference, other), by[reference, unit], by[other, unit]))
    return found


def corrupted_copies(text: str, seed: str) -> dict[str, str]:
    """Return copies of a story that anybody who reads it finds worse: sentences shuffled, paragraphs twice, names swapped."""
    dealer = random.Random(f"spoilt {seed}")
    lines = sentences(text)
    dealer.shuffle(lines)
    per = max(1, len(lines) // 20)
    shuffled = "\n\n".join(" ".join(lines[at : at + per]) for at in range(0, len(lines), per))
    parts = text.split("\n\n")
    doubled = list(parts)
    for at in sorted(dealer.sample(range(len(parts)), max(1, len(parts) // 3)), reverse=True):
        doubled.insert(dealer.randrange(at + 1, len(doubled) + 1), parts[at])
    return {"shuffled": shuffled, "doubled": "\n\n".join(doubled), "swapped": _swap_names(text, dealer)}


def _swap_names(text: str, dealer: random.Random) -> str:
    """Return the story with its two most frequent names exchanged in every other sentence or so."""
    from recurrentgpt.studies.measures.entities import names_of

    known = names_of(text)[:2]
    if len(known) < 2:
        known = [*known, "Somebody", "Nobody"][:2]
    other = {known[0]: known[1], known[1]: known[0]}
    either = re.compile(rf"\b({'|'.join(map(re.escape, known))})\b")
    changed = [
        either.sub(lambda match: other[match[1]], line) if dealer.random() < 0.5 else line for line in sentences(text)
    ]
    return " ".join(changed)


async def verdict(
    model: ResolvedModel, criterion: str, premise: str, a: str, b: str, *, seed: int, meter: Meter
) -> JudgeReply:
    """Return one verdict on A and B; raise ModelReplyError for a judge that answers nonsense."""
    asked = Prompts("any", PROMPTS, mode="judge").fill(
        "compare", premise=premise, a=a, b=b, question=QUESTIONS.get(criterion, f"which is more {criterion}?")
    )
    return await ask(
        model, [HumanMessage(asked)], JudgeReply, max_tokens=FULL_REPLY_TOKENS, temperature=0.0, seed=seed, meter=meter
    )


async def judge_both_orders(
    model: ResolvedModel, criterion: str, premise: str, first: str, second: str, meter: Meter
) -> float:
    """Return 1 where the first text is preferred in both orders, 0 where the second is, and one half for all else."""
    there = await verdict(model, criterion, premise, first, second, seed=1, meter=meter)
    back = await verdict(model, criterion, premise, second, first, seed=2, meter=meter)
    return consolidate(there.verdict, back.verdict)


def consolidate(there: str, back: str) -> float:
    """Return the preference for the first text from the verdicts of both orders."""
    if (there, back) == ("A", "B"):
        return 1.0
    return 0.0 if (there, back) == ("B", "A") else 0.5


async def qualify(known: Qualification, prefer: Prefer, novel: NovelRecord) -> Qualification:
    """Return what is known of a judge with how often it prefers one more story to corrupted copies; nonsense counts as wrong.

    A judge that cannot be reached is not a wrong one: what `prefer` raises of that is raised here.
    """
    right: dict[str, bool] = {}
    for kind, copy in corrupted_copies(novel["text"], novel["unit"]).items():
        try:
            right[kind] = await prefer("coherent", novel["premise"], novel["text"], copy) == 1.0
        except ModelReplyError:
            right[kind] = False
    shown = known.pairs // CORRUPTION_KINDS
    by_kind = {kind: (known.by_kind.get(kind, 0.0) * shown + told) / (shown + 1) for kind, told in right.items()}
    units = (*known.units, novel["unit"])
    return Qualification(known.judge, known.pairs + len(right), known.right + sum(right.values()), by_kind, units)


def counted_judges(folder: RunFolder) -> dict[str, Qualification]:
    """Return the judges whose verdicts count: of the plan, qualified, and not of the generator's own family."""
    kin = same_family_judges(folder)
    return {name: found for name, found in _qualifications(folder).items() if found.qualified and name not in kin}


def same_family_judges(folder: RunFolder) -> set[str]:
    """Return the judges of the plan that are of the generator's own family, or the generator itself."""
    plan = folder.plan
    writers = {name for role, names in folder.manifest.get("models", {}).items() if role != "judge" for name in names}
    family = plan.family.strip().casefold()
    return {
        judge.model
        for judge in plan.judges
        if judge.model in {plan.model, *writers} or (family and judge.family.strip().casefold() == family)
    }


def remarks(folder: RunFolder) -> list[str]:
    """Return what a reader must know of the plan's judges, a sentence each; nothing where there are none."""
    plan, found, said = folder.plan, counted_judges(folder), list[str]()
    if not plan.judges:
        return said
    for name in sorted(same_family_judges(folder)):
        said.append(f"{name} is of the generator's own family: its verdicts are kept out of every figure and test.")
    unknown = [judge.model for judge in plan.judges if not judge.family.strip()]
    if not plan.family.strip() or unknown:
        of = "the generator" if not plan.family.strip() else ", ".join(unknown)
        said.append(f"The plan does not say the `family` of {of}, so that kinship between them cannot be told.")
    if len(found) < FEWEST:
        said.append(
            f"Verdicts of {len(found)} of {len(plan.judges)} judges count: fewer than {FEWEST} are weak evidence."
        )
    families = {judge.family.strip().casefold() for judge in plan.judges if judge.model in found}
    if len(found) > 1 and len(families) == 1 and "" not in families:
        said.append("All judges that count are of one family.")
    return said


def failures(folder: RunFolder) -> list[Row]:
    """Return the last failure of every judge and verdict that has not been mended since."""
    done = {verdict_key(row) for row in folder.rows("verdicts.jsonl")}
    last = {tuple(str(row.get(name)) for name in VERDICT): row for row in folder.rows("judge_failures.jsonl")}
    return [row for key, row in last.items() if row["error"] and key not in done]


def verdict_key(row: Row) -> tuple[str, ...]:
    """Return what a verdict is about, by whom."""
    return tuple(str(row[name]) for name in VERDICT)


def _qualifications(folder: RunFolder) -> dict[str, Qualification]:
    wanted = {judge.model for judge in folder.plan.judges}
    rows = folder.rows("qualification.jsonl")
    return {row["judge"]: Qualification.of(row) for row in rows if row["judge"] in wanted}
