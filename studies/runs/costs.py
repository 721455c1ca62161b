"""What a study costs about, before it is spent: calls and tokens of the novels, of the judges, and money.

The figures of the systems are means of what novels of 600 to 6,000 words took with scripted authors, with and without a
server that holds replies to a schema; a model that needs more tries, or thinks aloud, takes more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from recurrentgpt.studies.runs.plan import Job, Options, Plan

TOKENS_PER_WORD = 1.36
VERDICT_TOKENS = (250, 250)
"""Tokens of a judge's question beside the two novels, and of its reply."""
SPOILT_NOVELS = 8
"""Novels of which a judge is shown spoilt copies to qualify, and how many copies of each."""
SPOILT_KINDS = 3
NOBODY: Mapping[str, bool] = MappingProxyType({})
_UNTOLD: Mapping[str, int] = MappingProxyType({})
_WINDOW_TOKENS = 1400
"""Tokens by which the window of a rolling system fills in 1,000 words, header and all."""


@dataclass(frozen=True)
class Cost:
    """Calls and tokens, as they are estimated."""

    calls: float
    input_tokens: float
    output_tokens: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def times(self, factor: float) -> Cost:
        """Return the cost of so many."""
        return Cost(self.calls * factor, self.input_tokens * factor, self.output_tokens * factor)


_FIXED = {"one_shot": Cost(1, 110, 0), "doc": Cost(60, 30000, 10000)}
"""What a novel of any length costs."""
_PER_1000 = {
    "recurrentgpt": Cost(12.3, 19000, 2300),
    "no_short_term_memory": Cost(12.3, 17000, 1600),
    "no_long_term_memory": Cost(12.3, 14500, 2300),
    "single_call": Cost(7.2, 11500, 2300),
    "rolling_1024": Cost(3.5, 0, 1500),
    "rolling_4096": Cost(3.5, 0, 1500),
    "rolling_unlimited": Cost(3.5, 0, 1500),
    "one_shot": Cost(0, 0, 1600),
    "re3": Cost(41, 24000, 7900),
    "doc": Cost(95, 57000, 15500),
}
_USUAL_DRAFTS = {"re3": 4, "doc": 8}


def novel_cost(system: str, words: int, drafts: int = 0) -> Cost:
    """Return what one novel of a system costs about; `drafts` per passage, 0 for the system's own number."""
    thousands = words / 1000
    cost = _FIXED.get(system, Cost(0, 0, 0)) + _PER_1000[system].times(thousands)
    if system.startswith("rolling_"):
        # The prompts grow with the story until the window is full.
        window = system.removeprefix("rolling_")
        full = min(thousands, int(window) / _WINDOW_TOKENS if window.isdigit() else thousands)
        cost += Cost(0, 2000 * full**2 + 4000 * full * (thousands - full), 0)
    usual = _USUAL_DRAFTS.get(system)
    return cost.times((drafts + 2) / (usual + 2)) if usual and drafts else cost


def per_1000_words(system: str, words: int = 3000) -> Cost:
    """Return what 1,000 words cost in a novel of `words`: calls to one place, tokens to a hundred."""
    cost = novel_cost(system, words).times(1000 / words)
    return Cost(round(cost.calls, 1), round(cost.input_tokens, -2), round(cost.output_tokens, -2))


def judging_cost(
    plan: Plan,
    judged: Collection[tuple[str, ...]] = (),
    qualified: Mapping[str, bool] = NOBODY,
    shown: Mapping[str, int] = _UNTOLD,
) -> Cost:
    """Return what the plan's judges cost about, if all qualify: each compares the first system with every other, twice.

    Left out are verdicts in `judged` (judge, unit, first, second, criterion), the verdicts of judges that `qualified` says are
    not, and the novels of which `shown` says that a judge has seen spoilt copies; all of them, if only `qualified` has it.
    """
    units = {job.unit: job.words for job in plan.jobs()}
    reference, total = plan.systems[0], Cost(0, 0, 0)
    if len(plan.systems) < 2:
        return total
    for judge in plan.judges:
        seen = shown.get(judge.model, SPOILT_NOVELS if judge.model in qualified else 0)
        total += _verdicts(list(units.values())[seen:SPOILT_NOVELS]).times(SPOILT_KINDS)
        if not qualified.get(judge.model, True):
            continue
        wanted = [
            words
            for unit, words in units.items()
            for other in plan.systems[1:]
            for criterion in plan.criteria
            if (judge.model, unit, reference, other, criterion) not in judged
        ]
        total += _verdicts(wanted)
    return total


def _verdicts(lengths: Iterable[int]) -> Cost:
    """Return what it costs to compare two novels of each of these lengths, in both orders."""
    asked, said = VERDICT_TOKENS
    each = [Cost(1, 2 * words * TOKENS_PER_WORD + asked, said) for words in lengths]
    return sum(each, Cost(0, 0, 0)).times(2)


def estimate(jobs: list[Job], plan: Plan, judging: Cost | None = None) -> dict[str, float]:
    """Return what these novels and the judging cost about, and the money where the plan has a price.

    The price is the generator's; judges are counted at the same one.
    """
    novels = sum((_novel(job, plan) for job in jobs), Cost(0, 0, 0))
    judging = judging_cost(plan) if judging is None else judging
    total = novels + judging
    found = {
        "novels": float(len(jobs)),
        "words": float(sum(job.words for job in jobs)),
        "calls": total.calls,
        "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens,
        "judges_calls": judging.calls,
        "judges_input_tokens": judging.input_tokens,
    }
    found = {name: float(round(value)) for name, value in found.items()}
    if plan.price:
        found["money"] = (total.input_tokens * plan.price.input + total.output_tokens * plan.price.output) / 1_000_000
    return found


def _novel(job: Job, plan: Plan) -> Cost:
    return novel_cost(job.system, job.words, plan.options.get(job.system, Options()).candidates)
