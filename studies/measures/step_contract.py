"""What every step kept of its contract, and whether prompts grow with the story."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import linregress, t

from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS
from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.measures.measure import Measure
from recurrentgpt.studies.runs.schemas import NovelRecord, PassageRecord

FEWEST_SENTENCES = 10
PASSAGE_WORDS = (200, 400)
PLANS = 3
FEWEST_STEPS = 10
"""Steps of a novel below which its prompts have no slope to speak of."""


@dataclass(frozen=True)
class Contract:
    """Which share of the steps of one novel kept each clause; None for what a system does not have, and of no steps."""

    steps: int
    passage: float | None
    """Of passages of 200 to 400 words, None for systems whose passages have other lengths; the last, which fills what is
    left, is not counted."""
    memory: float | None
    """Of memories of at most 20 sentences and 500 words, and 10 sentences at least from the sixth step on."""
    plans: float | None
    """Of steps with three plans, no two of them the same; after the last there are none."""
    first_try: float | None
    """Share of calls whose reply was usable at once; None where replies are to other prompts than those that were asked."""
    retries: int | None


@dataclass(frozen=True)
class Slope:
    """How prompt tokens go with the step."""

    per_step: float
    low: float
    high: float
    """The interval of 95 %."""
    mean: float
    steps: int

    @property
    def flat(self) -> bool:
        """Tell whether nothing speaks against a slope of 0."""
        return self.low <= 0 <= self.high


def contract(novel: NovelRecord, *, recurrent: bool, remembers: bool, paced: bool) -> Contract:
    """Return how a finished novel kept the contract of each step."""
    passages = novel["passages"]
    low, high = PASSAGE_WORDS
    calls, retries = novel["usage"]["calls"], novel["usage"]["resamples"]
    return Contract(
        steps=len(passages),
        passage=_share([low <= passage["words"] <= high for passage in passages[:-1]]) if paced else None,
        memory=_share(map(_memory_fits, passages)) if remembers else None,
        plans=_share(map(_plans_differ, passages[:-1])) if recurrent else None,
        first_try=None if novel["outdated"] else 1 - retries / calls if calls else 1.0,
        retries=None if novel["outdated"] else retries,
    )


def _share(kept: Iterable[bool]) -> float | None:
    found = list(kept)
    return sum(found) / len(found) if found else None


def _plans_differ(passage: PassageRecord) -> bool:
    # Early runs counted the plans and kept no words of them.
    return len(set(passage.get("offered", range(passage["plans"])))) == passage["plans"] == PLANS


def _memory_fits(passage: PassageRecord) -> bool:
    memory = passage["short_term_memory"]
    lines = [line for line in memory.splitlines() if line.strip()]
    enough = len(lines) >= FEWEST_SENTENCES or passage["step"] < 6
    return enough and len(lines) <= MEMORY_SENTENCES and count_words(memory) <= MEMORY_WORDS


def slope(values: Sequence[float], *, warm_up: int = 0) -> Slope:
    """Return the least-squares slope of `values` against their step, the first `warm_up` left out.

    Neighbouring steps are alike, so the interval counts as many independent values as their correlation leaves (lag 1).
    """
    kept = np.asarray(values[warm_up:], dtype=float)
    if len(kept) < 3:
        return Slope(0.0, float("-inf"), float("inf"), float(kept.mean()) if len(kept) else 0.0, len(kept))
    steps = np.arange(len(kept), dtype=float)
    fit = linregress(steps, kept)
    rest = kept - (fit.intercept + fit.slope * steps)
    spread = float((rest**2).sum())
    if spread <= 1e-9:
        # All on one line: there is no noise, and rounding leaves a slope that is not quite 0.
        steepness = round(float(fit.slope), 9)
        return Slope(steepness, steepness, steepness, float(kept.mean()), len(kept))
    alike = float((rest[1:] * rest[:-1]).sum() / spread)
    alike = min(0.99, max(0.0, alike))
    independent = max(3.0, len(kept) * (1 - alike) / (1 + alike))
    error = float(fit.stderr) * (len(kept) / independent) ** 0.5
    reach = float(t.ppf(0.975, max(1.0, independent - 2))) * error
    return Slope(float(fit.slope), float(fit.slope) - reach, float(fit.slope) + reach, float(kept.mean()), len(kept))


def prompt_tokens(novel: NovelRecord) -> list[int]:
    """Return the prompt tokens per call of every step."""
    return [
        round(passage["usage"]["input_tokens"] / max(1, passage["usage"]["calls"])) for passage in novel["passages"]
    ]


def _contract_columns(novel: NovelRecord, system: System) -> dict[str, float | None]:
    found = contract(novel, recurrent=system.recurrent, remembers=system.remembers, paced=system.paced)
    return {
        "steps": found.steps,
        "passages_in_length": _rounded(found.passage),
        "memories_in_bounds": _rounded(found.memory),
        "three_different_plans": _rounded(found.plans),
        "first_try": _rounded(found.first_try),
        "retries": found.retries,
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


CONTRACT = Measure(
    name="contract",
    description="The contract: how many steps a novel has, and which share of them keeps to it: passages of "
    f"{PASSAGE_WORDS[0]} to {PASSAGE_WORDS[1]} words, memories of at most {MEMORY_SENTENCES} sentences and {MEMORY_WORDS} words "
    f"(and from the sixth step on, which not every novel reaches, of at least {FEWEST_SENTENCES} sentences), {PLANS} plans of "
    "which no two are the same. Of the last step neither the passage, which fills what is left, nor the plans, of which there "
    "are none, can count. `first try` is the share of calls whose reply was usable at "
    "once, `retries` is how often another one was asked for: for its form, for what a guard found, or to go on from a short "
    "one; both are blank where prompts differ from those of a recording. What a system does not have is left blank.",
    columns=("steps", "passages_in_length", "memories_in_bounds", "three_different_plans", "first_try", "retries"),
    compute=_contract_columns,
)


def _growth_columns(novel: NovelRecord, system: System) -> dict[str, float | None]:
    grows = slope(prompt_tokens(novel), warm_up=min(3, len(novel["passages"]) // 4))
    is_own = not novel["outdated"]
    known = grows.steps >= FEWEST_STEPS and is_own
    return {
        "prompt_slope": round(grows.per_step, 3) if known else None,
        "prompt_slope_low": round(grows.low, 3) if known else None,
        "prompt_slope_high": round(grows.high, 3) if known else None,
        "prompt_mean": round(novel["usage"]["input_tokens"] / max(1, novel["usage"]["calls"]), 1) if is_own else None,
        "prompt_of_step": round(novel["usage"]["input_tokens"] / max(1, len(novel["passages"])), 1) if is_own else None,
    }


PROMPT_GROWTH = Measure(
    name="prompt growth",
    description="Prompt tokens per call: the mean of all calls of a novel, and how they go with the step, with the interval of "
    "95 %; of two premises the slopes of both. A wide interval with 0 in it shows neither that prompts grow nor that they do "
    f"not. Novels of fewer than {FEWEST_STEPS} steps, their first few left out, have no slope. A call is any: grades and "
    "summaries too, of which systems have more or fewer a step, so that what a passage costs is `a step`, all that is read for "
    "a novel over its passages. Where prompts differ from those of a recording, whose tokens were counted, all are blank.",
    columns=("prompt_slope", "prompt_slope_low", "prompt_slope_high", "prompt_mean", "prompt_of_step"),
    compute=_growth_columns,
)
