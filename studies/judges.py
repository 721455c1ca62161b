"""Compare novels by model judges: blind, in both orders, one criterion per call, quotes before the verdict.

A judge whose two verdicts on a pair disagree has said that it is a tie. Before it is believed at all it has to tell stories from
spoilt copies of themselves.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from recurrentgpt.errors import ModelError
from recurrentgpt.loop import call
from recurrentgpt.models.calls import Meter, ask
from recurrentgpt.models.roles import ResolvedModel, aresolve_model
from recurrentgpt.nodes.conversation import FULL_REPLY_TOKENS
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.studies.context import StudyContext
from recurrentgpt.studies.faults import StudyError
from recurrentgpt.studies.folder import RunFolder
from recurrentgpt.studies.plan import Judge
from recurrentgpt.studies.surroundings import PROMPTS
from recurrentgpt.studies.tape import Recorder
from recurrentgpt.studies.taped import recording

QUESTIONS = {
    "interesting": "which is more interesting to read, so that one wants to know how it goes on?",
    "coherent": "which is more coherent, with events that follow from each other and people and facts that stay the same?",
}
QUALIFIED = 0.95
SPOILT_NOVELS = 8
"""Novels of which spoilt copies are made, three of each."""
AT_ONCE = 4

Side = Literal["A", "B", "tie"]


class Reply(BaseModel):
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
    """How often a judge preferred stories to spoilt copies of them."""

    judge: str
    pairs: int
    right: int
    by_kind: dict[str, float]

    @property
    def rate(self) -> float:
        """Return the share of pairs that were judged right in both orders."""
        return self.right / self.pairs if self.pairs else 0.0

    @property
    def qualified(self) -> bool:
        """Tell whether the judge's verdicts are used."""
        return self.rate >= QUALIFIED


def pairs(folder: RunFolder) -> list[tuple[Pair, dict[str, Any], dict[str, Any]]]:
    """Return the pairs of finished novels that are compared: the plan's first system with every other."""
    plan, by = folder.plan, {(novel["system"], novel["unit"]): novel for novel in folder.novels()}
    reference = plan.systems[0]
    found = []
    for unit in dict.fromkeys(job.unit for job in plan.jobs()):
        for other in plan.systems[1:]:
            if (reference, unit) in by and (other, unit) in by:
                found.append((Pair(unit, reference, other), by[reference, unit], by[other, unit]))
    return found


def spoilt(text: str, seed: int) -> dict[str, str]:
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
    return {"shuffled": shuffled, "doubled": "\n\n".join(doubled), "swapped": _swapped(text, dealer)}


def _swapped(text: str, dealer: random.Random) -> str:
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
) -> Reply:
    """Return one verdict on A and B; raise ModelReplyError for a judge that answers nonsense."""
    asked = Prompts("any", PROMPTS, mode="judge").fill(
        "compare", premise=premise, a=a, b=b, question=QUESTIONS.get(criterion, f"which is more {criterion}?")
    )
    return await ask(
        model, [HumanMessage(asked)], Reply, max_tokens=FULL_REPLY_TOKENS, temperature=0.0, seed=seed, meter=meter
    )


async def both_orders(
    model: ResolvedModel, criterion: str, premise: str, first: str, second: str, meter: Meter
) -> float:
    """Return 1 where the first text is preferred in both orders, 0 where the second is, and one half for all else."""
    there = await verdict(model, criterion, premise, first, second, seed=1, meter=meter)
    back = await verdict(model, criterion, premise, second, first, seed=2, meter=meter)
    return consolidated(there.verdict, back.verdict)


def consolidated(there: str, back: str) -> float:
    """Return the preference for the first text from the verdicts of both orders."""
    if (there, back) == ("A", "B"):
        return 1.0
    return 0.0 if (there, back) == ("B", "A") else 0.5


def judge_run(folder: RunFolder, report: Callable[[str], None], *, models: dict[str, Any] | None = None) -> None:
    """Let every judge of the plan qualify and compare; verdicts that are there already are not asked for again.

    `models` gives chat models for judges by name, for programs and tests. A judge that fails is noted and does not stop
    the others.
    """
    with folder.alone():
        call(lambda: _judge_all(folder, report, models or {}))


async def _judge_all(folder: RunFolder, report: Callable[[str], None], models: dict[str, Any]) -> None:
    compared = pairs(folder)
    if not compared:
        raise StudyError(f"{folder.path} holds no two finished novels of one premise to compare: run its plan first.")
    for judge in folder.plan.judges:
        try:
            await _judge_one(folder, judge, models.get(judge.model), compared, report)
        except ModelError as error:
            folder.append("judge_failures.jsonl", {"judge": judge.model, "error": str(error)})
            report(f"{judge.model} failed: {error}")


async def _judge_one(
    folder: RunFolder,
    judge: Judge,
    chat: Any,
    compared: list[tuple[Pair, dict[str, Any], dict[str, Any]]],
    report: Callable[[str], None],
) -> None:
    context = StudyContext(models={"judge": chat or judge.model}, base_url=judge.base_url)
    name = re.sub(r"[^\w.-]", "_", judge.model)
    recorder = Recorder(folder.path / "calls" / f"judge-{name}.jsonl", prompts=folder.plan.record_prompts)
    model = recording(await aresolve_model("judge", context), recorder, "judge", 0)
    known = {row["judge"]: row for row in folder.rows("qualification.jsonl")}
    if judge.model not in known:
        found = await qualify(model, judge.model, [first for _, first, _ in compared])
        folder.append("qualification.jsonl", asdict(found))
        report(f"{judge.model} told {found.right} of {found.pairs} stories from spoilt copies")
        known[judge.model] = asdict(found)
    if not Qualification(**known[judge.model]).qualified:
        report(f"{judge.model} is not qualified: its verdicts are not asked for")
        return
    done = {_key(row) for row in folder.rows("verdicts.jsonl")}
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(pair: Pair, first: dict[str, Any], second: dict[str, Any], criterion: str) -> None:
        row = {"judge": judge.model, **asdict(pair), "criterion": criterion}
        if _key(row) in done:
            return
        async with gate:
            try:
                preference = await both_orders(
                    model, criterion, first["premise"], first["text"], second["text"], Meter()
                )
            except ModelError as error:
                folder.append("judge_failures.jsonl", {**row, "error": str(error)})
                return
            folder.append("verdicts.jsonl", {**row, "preference": preference})

    await asyncio.gather(*(one(*found, criterion) for found in compared for criterion in folder.plan.criteria))
    report(f"{judge.model} has compared {len(compared)} pairs")


async def qualify(model: ResolvedModel, name: str, novels: Iterable[dict[str, Any]]) -> Qualification:
    """Return how often a judge prefers stories to spoilt copies, in both orders; nonsense counts as wrong."""
    right: dict[str, list[bool]] = {}
    chosen = list({novel["unit"]: novel for novel in novels}.values())[:SPOILT_NOVELS]
    for number, novel in enumerate(chosen):
        for kind, copy in spoilt(novel["text"], number).items():
            try:
                preference = await both_orders(model, "coherent", novel["premise"], novel["text"], copy, Meter())
            except ModelError:
                preference = 0.5
            right.setdefault(kind, []).append(preference == 1.0)
    flat = [each for found in right.values() for each in found]
    return Qualification(name, len(flat), sum(flat), {kind: sum(got) / len(got) for kind, got in right.items()})


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("judge", "unit", "first", "second", "criterion"))
