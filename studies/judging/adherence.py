"""Ask a judge which of the plans that were offered a passage carries out: the one that was taken, and no other?

One call a passage. The judge is not told which plan was taken; the plans are shuffled, and what happens has to be quoted.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.types import RetryPolicy
from pydantic import BaseModel

from recurrentgpt.graph.story import RETRY
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.models.calls import Meter, ask
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.prompts import Prompts
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.studies.baselines.runtime import PROMPTS
from recurrentgpt.studies.judging.judge_runner import with_retry
from recurrentgpt.studies.judging.pairwise import misquoted
from recurrentgpt.studies.judging.statistics import FEWEST_FOR_INTERVAL, mean_interval
from recurrentgpt.studies.measures.choices import origin
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.recording.recording import FileRecorder
from recurrentgpt.studies.recording.recording_models import record_model
from recurrentgpt.studies.runs.endpoints import aresolve_judge
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge
from recurrentgpt.studies.runs.schemas import NovelRecord, PassageRecord

Happens = Literal["yes", "partly", "no"]
_WORTH: dict[Happens, float] = {"yes": 1.0, "partly": 0.5, "no": 0.0}
FILE = "adherence.jsonl"


class _PlanReply(BaseModel, title="Plan"):
    number: int
    quote: str
    happens: Happens


class _Reply(BaseModel, title="Reply"):
    plans: list[_PlanReply]


@dataclass(frozen=True)
class Adherence:
    """How far the passages of a system carry out plans, from 0 to 1, as a judge sees it."""

    judge: str
    system: str
    premises: int
    passages: int
    taken: float
    """The plans that were taken, the mean over premises."""
    left: float | None
    """The plans that were left: what would have happened anyway; None where none ever was."""
    effect: float | None
    """What is taken less what is left of the same premise, the mean over premises that left any."""
    low: float | None
    high: float | None
    """Its interval of 95 % over premises; None of fewer than FEWEST_FOR_INTERVAL, and where all are equal."""


def judge_adherence(
    folder: RunFolder, judge: Judge, report: Callable[[str], None], *, model: Any = None, retry: RetryPolicy = RETRY
) -> int:
    """Ask a judge about every passage that it has not been asked about, and return how many answers could not be used.

    `model` is a chat model in the judge's place, for programs and tests; `retry` says how often it is asked again where it
    cannot be reached.
    """
    with folder.writing_lock():
        return call(lambda: _judge(folder, judge, report, model, retry))


def unasked(folder: RunFolder, judge: str) -> list[tuple[NovelRecord, PassageRecord]]:
    """Return the passages that were written from a choice and that a judge has not been asked about."""
    known = {(row["novel"], row["step"]) for row in folder.rows(FILE) if row["judge"] == judge}
    return [
        (novel, passage)
        for novel in folder.novels()
        for passage in novel["passages"]
        if passage.get("offered") and (novel["id"], passage["step"]) not in known
    ]


async def _judge(folder: RunFolder, judge: Judge, report: Callable[[str], None], chat: Any, retry: RetryPolicy) -> int:
    resolved = await aresolve_judge(judge, folder.plan, chat)
    recorder = FileRecorder(folder.path / "calls" / f"adherence-{judge.file}", prompts=folder.plan.record_prompts)
    model, failed = record_model(resolved, recorder, "judge", 0), 0
    wanted = unasked(folder, judge.model)
    for number, (novel, passage) in enumerate(wanted, start=1):
        try:
            said = await with_retry(partial(_ask, model, passage), retry)
            folder.append(FILE, {"judge": judge.model, "novel": novel["id"], **said})
        except ModelReplyError as error:
            failed += 1
            report(f"{novel['id']}, passage {passage['step']}: {error}")
        report(f"{number} of {len(wanted)} passages")
    return failed


async def _ask(model: ResolvedModel, passage: PassageRecord) -> dict[str, Any]:
    text, taken = passage.get("text", ""), passage.get("plan", "")
    offered = passage.get("offered", [])
    # A plan that was changed and the one that it was made of may well happen both: that one was not left.
    others = [plan for plan in dict.fromkeys(offered) if plan not in (taken, origin(taken, offered))]
    plans = [taken, *others]
    random.Random(f"{passage['step']} {taken}").shuffle(plans)
    asked = Prompts("any", PROMPTS, mode="judge").fill("adherence", passage=text, plans=plans)

    def check(reply: _Reply) -> str | None:
        if [one.number for one in reply.plans] != list(range(1, len(plans) + 1)):
            return f"plans has to hold each plan once, from 1 to {len(plans)}."
        happening = [one for one in reply.plans if one.happens != "no"]
        if unquoted := next((one for one in happening if not one.quote.strip()), None):
            return f"Plan {unquoted.number} happens, and has no quote: copy the words of the passage in which it does."
        return misquoted([one.quote for one in happening], text, "the passage")

    reply = await ask(
        model,
        [HumanMessage(asked)],
        _Reply,
        max_tokens=FULL_REPLY_TOKENS,
        temperature=0.0,
        seed=1,
        meter=Meter(),
        check=check,
    )
    said = {plans[one.number - 1]: one.happens for one in reply.plans}
    quotes = {plans[one.number - 1]: one.quote for one in reply.plans}
    return {
        "step": passage["step"],
        "taken": said[taken],
        "left": [said[plan] for plan in others],
        "quote": quotes[taken],
        "left_quotes": [quotes[plan] for plan in others],
        # Where each was shown: a judge may favour a place.
        "place": 1 + plans.index(taken),
        "left_places": [1 + plans.index(plan) for plan in others],
    }


def adherence(folder: RunFolder) -> list[Adherence]:
    """Return by judge and system how far passages carry out the plans that were taken, and those that were left."""
    return list(_figures(folder.rows(FILE), {novel["id"]: novel for novel in folder.novels()}, folder.plan.systems))


def _figures(rows: list[Row], novels: Mapping[str, NovelRecord], order: list[str]) -> Iterator[Adherence]:
    for judge in sorted({row["judge"] for row in rows}):
        for system in order:
            premises: dict[tuple[str, int], list[Row]] = defaultdict(list)
            for row in rows:
                novel = novels.get(row["novel"])
                if row["judge"] == judge and novel and novel["system"] == system:
                    premises[novel["genre"], novel["number"]].append(row)
            taken = [mean(_WORTH[row["taken"]] for row in told) for told in premises.values()]
            left = [_mean([_WORTH[one] for row in told for one in row["left"]]) for told in premises.values()]
            if taken:
                known = [other for other in left if other is not None]
                effects = [one - other for one, other in zip(taken, left, strict=True) if other is not None]
                has_spread = len(effects) >= FEWEST_FOR_INTERVAL and len(set(effects)) > 1
                low, high = mean_interval(effects) if has_spread else (None, None)
                passages = sum(map(len, premises.values()))
                yield Adherence(
                    judge, system, len(taken), passages, mean(taken), _mean(known), _mean(effects), low, high
                )


def _mean(values: list[float]) -> float | None:
    return mean(values) if values else None
