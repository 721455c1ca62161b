"""What a study costs about, before it is spent: calls and tokens of the novels, of the judges, and money.

A system's own estimate is a mean of what novels of 600 to 6,000 words took with scripted authors, with and without a
server that holds replies to a schema; a model that needs more tries, or thinks aloud, takes more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import cycle, islice, product
from types import MappingProxyType

from recurrentgpt.studies.baselines.catalogue import find_system
from recurrentgpt.studies.baselines.system import Cost
from recurrentgpt.studies.runs.plan import Job, Options, Plan

TOKENS_PER_WORD = 1.36
VERDICT_TOKENS = (250, 250)
"""Tokens of a judge's question beside the two novels, and of its reply."""
CORRUPTED_NOVELS = 8
"""Novels of which a judge is shown corrupted copies to qualify, and how many copies of each."""
CORRUPTION_KINDS = 3
By = tuple[str, str]
"""A judge's model, and a criterion."""
_NO_JUDGES: Mapping[By, bool] = MappingProxyType({})
_NO_OPTIONS = Options()
_NO_COUNTS: Mapping[By, int] = MappingProxyType({})


def novel_cost(system: str, words: int, options: Options = _NO_OPTIONS) -> Cost:
    """Return what one novel of a system costs about."""
    return find_system(system).novel_cost(words, options.candidates, published=options.published)


def per_1000_words(system: str, words: int = 3000) -> Cost:
    """Return what 1,000 words cost in a novel of `words`: calls to one place, tokens to a hundred."""
    cost = novel_cost(system, words).times(1000 / words)
    return Cost(round(cost.calls, 1), round(cost.input_tokens, -2), round(cost.output_tokens, -2))


def judging_cost(
    plan: Plan,
    judged: Collection[tuple[str, ...]] = (),
    qualified: Mapping[By, bool] = _NO_JUDGES,
    shown: Mapping[By, int] = _NO_COUNTS,
    refused: Collection[str] = (),
) -> Cost:
    """Return what the plan's judges cost about, if all qualify: each is shown every pair of the plan twice.

    Left out are verdicts in `judged` (judge, unit, first, second, criterion), the verdicts of judges that `qualified` says are
    not, the novels of which `shown` says that a judge has seen corrupted copies (all of them, if only `qualified` has it), and
    judges that are `refused`.
    """
    units = {job.unit: job.words for job in plan.jobs()}
    total = Cost()
    if not plan.compared():
        return total
    for judge, criterion in product(plan.judges, plan.judged_criteria):
        if judge.model in refused:
            continue
        by = (judge.model, criterion)
        seen = shown.get(by, CORRUPTED_NOVELS if by in qualified else 0)
        # Of fewer novels some are corrupted again.
        total += _verdicts_cost(islice(cycle(units.values()), seen, CORRUPTED_NOVELS)).times(CORRUPTION_KINDS)
        if qualified.get(by, True):
            total += _verdicts_cost(
                words
                for unit, words in units.items()
                for first, second in plan.compared()
                if (judge.model, unit, first, second, criterion) not in judged
            )
    return total


def _verdicts_cost(lengths: Iterable[int]) -> Cost:
    """Return what it costs to compare two novels of each of these lengths, in both orders."""
    question, reply = VERDICT_TOKENS
    each = [Cost(1, 2 * words * TOKENS_PER_WORD + question, reply) for words in lengths]
    return sum(each, Cost()).times(2)


def estimate(jobs: list[Job], plan: Plan, judging: Cost | None = None) -> dict[str, float]:
    """Return what these novels and the judging cost about, and the money where the plan has a price.

    The price is the generator's; judges are counted at the same one.
    """
    judging = judging_cost(plan) if judging is None else judging
    options = {name: plan.options.get(name, Options()) for name in plan.systems}
    total = sum((novel_cost(job.system, job.words, options[job.system]) for job in jobs), judging)
    found = {
        "novels": len(jobs),
        "words": sum(job.words for job in jobs),
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
