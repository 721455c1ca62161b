"""Check the studies' statistics by simulation: `python -m benchmarks.statistics --studies 400`.

False positives and power of the test of preferences, which are counted exactly too, coverage of its intervals, and how often
five kinds of judges pass the alternative annotator test, of which only the good one should. Needs the extra `study`. Prints a
table, or JSON with --json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
from scipy.stats import binom

from recurrentgpt.studies.judging import statistics

ALPHA = 0.05
RESAMPLES = 1999
"""Permutations and resamples of each simulated study, in place of the program's 9,999."""
UNDRAWN = 25
"""How many times as many studies are simulated whose tests draw no permutations, for verdicts are all of one size."""
COMPARISONS = 14
"""Of one study, as table1 has them: seven other systems, two criteria."""
PREMISES = (20, 120)
"""Of one genre and of six."""
TIES = (0.0, 0.2)
WIN_RATE = 0.6
ANNOTATORS = 3
UNITS = 80
STUDIES_OF = {"29 premises": (29, 1), "30 premises": (30, 1), "80 premises": (80, 1), "40 premises of 4 pairs": (40, 4)}
"""Premises, and pairs of each, of the studies in which judges are tested."""
RELIABILITY = (0.7, 0.8, 0.9)
"""How often an annotator's label is the true one."""


def preferences(dealer: np.random.Generator, premises: int, rate: float, ties: float = 0.0) -> list[float]:
    """Return a study's preferences: 1 with probability `rate` among those that are no tie."""
    won = (dealer.random(premises) < rate).astype(float)
    return np.where(dealer.random(premises) < ties, 0.5, won).tolist()


def rejections(studies: int, premises: int, rate: float, ties: float, seed: int) -> float:
    """Return the share of studies whose comparison has p below 0.05."""
    dealer = np.random.default_rng(seed)
    drawn = (np.array(preferences(dealer, premises, rate, ties)) for _ in range(studies))
    return sum(statistics.sign_flip(values) < ALPHA for values in drawn) / studies


def counted_rejections(premises: int, rate: float, ties: float) -> float:
    """Return the same counted over all verdicts that there can be, with all flips tried: of wins and ties it is the sign test."""
    found = 0.0
    for decided in range(premises + 1):
        wins = np.arange(decided + 1)
        p = np.minimum(1.0, 2 * binom.cdf(np.minimum(wins, decided - wins), decided, 0.5))
        found += binom.pmf(decided, premises, 1 - ties) * binom.pmf(wins, decided, rate)[p < ALPHA].sum()
    return float(found)


def family_errors(studies: int, premises: int, seed: int) -> float:
    """Return the share of studies of so many comparisons without any difference in which Holm leaves one below 0.05."""
    dealer, wrong = np.random.default_rng(seed), 0
    for _ in range(studies):
        values = [np.array(preferences(dealer, premises, 0.5)) for _ in range(COMPARISONS)]
        wrong += min(statistics.holm([statistics.sign_flip(one) for one in values])) < ALPHA
    return wrong / studies


def coverage(studies: int, premises: int, seed: int) -> float:
    """Return how often the interval of 95 % holds the true mean of preferences around 0.6, each the mean of some labels."""
    dealer, held = np.random.default_rng(seed), 0
    for _ in range(studies):
        low, high = statistics.interval(np.clip(dealer.normal(WIN_RATE, 0.15, premises), 0, 1))
        held += low <= WIN_RATE <= high
    return held / studies


def coverage_of_verdicts(studies: int, premises: int, seed: int) -> float:
    """Return how often the interval holds the true mean of single verdicts, of which a fifth are ties."""
    dealer, held, ties = np.random.default_rng(seed), 0, TIES[1]
    true = WIN_RATE * (1 - ties) + 0.5 * ties
    for _ in range(studies):
        low, high = statistics.interval(np.array(preferences(dealer, premises, WIN_RATE, ties)))
        held += low <= true <= high
    return held / studies


def judges(dealer: np.random.Generator, truth: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the labels of five kinds of judges."""

    def right(share: float) -> dict[str, float]:
        return {unit: label if dealer.random() < share else 1 - label for unit, label in truth.items()}

    return {
        "good": right(0.9),
        "coin": right(0.5),
        "always A": dict.fromkeys(truth, 1.0),
        "always tie": dict.fromkeys(truth, 0.5),
        "contrary": right(0.1),
    }


Test = Callable[[Mapping[str, float], Mapping[str, Mapping[str, float]]], bool]


def passes(judge: Mapping[str, float], annotators: Mapping[str, Mapping[str, float]]) -> bool:
    """Tell whether a judge passes this package's test."""
    found = statistics.alt_test(judge, annotators, {unit: unit.partition("/")[0] for unit in judge})
    return found is not None and bool(found.passes)


def acceptance(
    studies: int, reliability: float, seed: int, test: Test = passes, premises: int = UNITS, pairs: int = 1
) -> dict[str, float]:
    """Return by kind of judge the share of simulated studies in which it passes, with annotators that reliable."""
    dealer, passed = np.random.default_rng(seed), dict[str, int]()
    for _ in range(studies):
        units = [f"{premise}/{pair}" for premise in range(premises) for pair in range(pairs)]
        truth = {unit: float(dealer.integers(0, 2)) for unit in units}
        annotators = {
            f"annotator {number}": {
                unit: label if dealer.random() < reliability else 1 - label for unit, label in truth.items()
            }
            for number in range(ANNOTATORS)
        }
        for kind, labels in judges(dealer, truth).items():
            passed[kind] = passed.get(kind, 0) + test(labels, annotators)
    return {kind: count / studies for kind, count in passed.items()}


def measure(studies: int, seed: int) -> dict[str, object]:
    """Return every figure, by what was simulated."""
    statistics.RESAMPLES = min(statistics.RESAMPLES, RESAMPLES)
    coverages = {"means of labels": coverage, "verdicts, 20% ties": coverage_of_verdicts}
    return {
        "studies": studies,
        "seed": seed,
        "resamples": statistics.RESAMPLES,
        "false_positives": _simulated_and_counted(studies, 0.5, seed),
        "false_positives_of_a_family_after_holm": family_errors(4 * studies, PREMISES[0], seed),
        "power_at_60_percent": _simulated_and_counted(studies, WIN_RATE, seed),
        "coverage_of_95_percent": {
            f"{premises} premises, {what}": of(studies, premises, seed)
            for what, of in coverages.items()
            for premises in (2, 4, 12, 20, 40)
        },
        "alt_test_acceptance": {
            f"{what}, annotators right {reliability:.0%}": acceptance(
                studies, reliability, seed, premises=premises, pairs=pairs
            )
            for what, (premises, pairs) in STUDIES_OF.items()
            for reliability in RELIABILITY
        },
    }


def _simulated_and_counted(studies: int, rate: float, seed: int) -> dict[str, dict[str, float]]:
    return {
        f"{premises} premises, {ties:.0%} ties": {
            "simulated": rejections(UNDRAWN * studies, premises, rate, ties, seed),
            "counted": counted_rejections(premises, rate, ties),
        }
        for premises in PREMISES
        for ties in TIES
    }


NOMINAL = {
    "false_positives": "at most .05",
    "false_positives_of_a_family_after_holm": "at most .05",
    "power_at_60_percent": "as high as can be",
    "coverage_of_95_percent": ".95",
    "alt_test_acceptance": "good high, the others .00; of 29 nothing is decided",
}
"""What each figure should be."""


def table(found: Mapping[str, object]) -> str:
    """Return the figures as a Markdown table."""
    drawn = (
        f"{found['studies']} simulated studies, seed {found['seed']}, {found['resamples']:,} resamples each; {UNDRAWN} times as "
        "many for false positives and power, and four times for the family."
    )
    lines = [drawn, "", "| what | of | found | should be |"]
    lines.append("| --- | --- | --- | --- |")
    for name, wanted in NOMINAL.items():
        figures = found[name] if isinstance(found[name], Mapping) else {"": found[name]}
        for of, figure in cast("Mapping[str, object]", figures).items():
            kinds = figure.items() if isinstance(figure, Mapping) else [("", figure)]
            shown = ", ".join(
                f"{kind} {share:{'.3f' if kind == 'counted' else '.2f'}}".strip() for kind, share in kinds
            )
            lines.append(f"| {name.replace('_', ' ')} | {of} | {shown} | {wanted} |")
    return "\n".join(lines)


def main() -> None:
    """Parse the command line, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.studies, options.seed)
    print(json.dumps(found, indent=2) if options.json else table(found))


if __name__ == "__main__":
    main()
