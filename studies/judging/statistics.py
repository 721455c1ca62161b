"""Whether one system is preferred, and how sure that is. The unit is the premise; single labels are not independent.

Verdicts are 1 for the first system, 0 for the second, 0.5 for a tie. A premise's preference is the mean of its verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recurrentgpt.studies.errors import StudyError

try:
    from scipy.stats import (
        binomtest,
        bootstrap,
        false_discovery_control,
        permutation_test,
        t,
        ttest_1samp,
    )  # fmt: skip
except ImportError as error:  # pragma: no cover - the extra is installed where tests run
    raise StudyError("Statistics need SciPy; install it with: pip install 'recurrentgpt[study]'") from error

RESAMPLES = 9999
CONFIDENCE = 0.95
_EXACT = 12
"""Premises up to which all sign flips are counted instead of sampled."""
FEWEST_FOR_INTERVAL = 3
"""Premises from which on a mean has an interval: Student's of two is a dozen times as long as they lie apart."""
FEW = 30
"""Values below which Student's interval is taken: of fewer, BCa covers the true mean less often (by simulation)."""

Preferences = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """One system against another on one criterion."""

    premises: int
    wins: int
    losses: int
    ties: int
    rate: float
    """Mean preference, 0 to 1, ties counted as half."""
    low: float
    high: float
    """Interval of the rate over premises, 95 %."""
    p: float
    """Sign-flip permutation test of a rate of one half, two-sided."""
    sign_p: float
    """Exact sign test, ties left out."""


def compare(preferences: Sequence[float], *, seed: int = 0) -> Comparison:
    """Return the comparison of two systems from one preference per premise; raise StudyError for none."""
    values = np.asarray(preferences, dtype=float)
    if not len(values):
        raise StudyError("There is no premise on which both systems were judged: nothing can be compared.")
    if ((values < 0) | (values > 1)).any():
        raise StudyError("A preference is between 0 and 1.")
    wins, losses = int((values > 0.5).sum()), int((values < 0.5).sum())
    low, high = interval(values, seed=seed)
    decided = wins + losses
    return Comparison(
        premises=len(values),
        wins=wins,
        losses=losses,
        ties=len(values) - decided,
        rate=float(values.mean()),
        low=low,
        high=high,
        p=sign_flip(values, seed=seed),
        sign_p=float(binomtest(wins, decided).pvalue) if decided else 1.0,
    )


def sign_flip(values: Preferences, *, seed: int = 0) -> float:
    """Return the p-value of the sign-flip permutation test that the mean preference is one half."""
    centred = values - 0.5
    if len(centred) < 2:
        return 1.0
    if abs(centred.sum()) < 1e-9:
        return 1.0
    sizes = np.abs(centred[centred != 0])
    if np.ptp(sizes) < 1e-9:
        # Of differences of one size the sign test counts every flip, however many there are.
        return float(binomtest(int((centred > 0).sum()), len(sizes)).pvalue)
    exact = len(centred) <= _EXACT
    found = permutation_test(
        (centred,),
        lambda sample, axis: sample.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf if exact else RESAMPLES,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def interval(values: Preferences, *, seed: int = 0) -> tuple[float, float]:
    """Return the interval of 95 % of a mean preference, 0 to 1; Wilson's for values that are all the same."""
    if len(values) < 2 or (values == values[0]).all():
        # What such a sample says of the spread is nothing, and Wilson's interval is the honest one.
        return wilson(float(values.sum()), len(values))
    low, high = mean_interval(values, seed=seed)
    return max(0.0, low), min(1.0, high)


def mean_interval(values: Sequence[float] | Preferences, *, seed: int = 0) -> tuple[float, float]:
    """Return the interval of 95 % of a mean: Student's of fewer than FEW values, the BCa bootstrap's from there on.

    Of values that are all the same, and of one alone, it is that value.
    """
    found = np.asarray(values, dtype=float)
    if (found == found[0]).all():
        return float(found[0]), float(found[0])
    if len(found) < FEW:
        reach = float(t.ppf(0.5 + CONFIDENCE / 2, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found)))
        return float(found.mean()) - reach, float(found.mean()) + reach
    drawn = bootstrap(
        (found,),
        np.mean,
        confidence_level=CONFIDENCE,
        n_resamples=RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(seed),
    )
    low, high = drawn.confidence_interval
    return float(low), float(high)


def wilson(wins: float, total: int) -> tuple[float, float]:
    """Return Wilson's interval of a rate, ties counted as half a win."""
    if not total:
        return 0.0, 1.0
    z, rate = 1.959964, wins / total
    centre, spread = rate + z * z / (2 * total), z * np.sqrt(rate * (1 - rate) / total + z * z / (4 * total**2))
    scale = 1 + z * z / total
    return float(max(0.0, (centre - spread) / scale)), float(min(1.0, (centre + spread) / scale))


FEWEST_FOR_LENGTH = 5
"""Premises below which nothing is said of a preference at equal length."""


def at_equal_length(preferences: Sequence[float], lengths: Sequence[tuple[float, float]]) -> float | None:
    """Return the preference, 0 to 1, that a straight line over the logarithm of both novels' lengths has where they are equal.

    None of fewer than five premises, and where all novels differ in length by the same factor.
    """
    ratios = np.log([first / second for first, second in lengths]) if lengths else np.zeros(0)
    if len(preferences) < FEWEST_FOR_LENGTH or np.ptp(ratios) < 1e-9:
        return None
    _, there = np.polyfit(ratios, np.asarray(preferences, dtype=float), 1)
    return float(min(1.0, max(0.0, there)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for how many there are (Holm 1979), in their order."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def krippendorff(ratings: Sequence[Sequence[float | None]]) -> float | None:
    """Return Krippendorff's alpha of nominal labels, a row per rater and a column per unit, None for no label.

    None where fewer than two raters met, or all labels are one and the same: then there is no disagreement to expect.
    """
    columns = (
        [[row[unit] for row in ratings if row[unit] is not None] for unit in range(len(ratings[0]))] if ratings else []
    )
    pairable = [column for column in columns if len(column) > 1]
    kinds = sorted({value for column in pairable for value in column if value is not None})
    if len(kinds) < 2:
        return None
    place = {value: at for at, value in enumerate(kinds)}
    met = np.zeros((len(kinds), len(kinds)))
    for column in pairable:
        counts = np.zeros(len(kinds))
        for value in column:
            if value is not None:
                counts[place[value]] += 1
        met += (np.outer(counts, counts) - np.diag(counts)) / (len(column) - 1)
    totals, n = met.sum(axis=1), met.sum()
    observed = n - np.trace(met)
    expected = (n * n - (totals**2).sum()) / (n - 1)
    return float(1 - observed / expected)


def agreement(
    ratings: Sequence[Sequence[float | None]],
    premises: Sequence[str] | None = None,
    *,
    seed: int = 0,
    resamples: int = 999,
) -> dict[str, float | None] | None:
    """Return Krippendorff's alpha with a percentile bootstrap interval, or None where it is not defined.

    Fewer than `FEWEST_FOR_INTERVAL` premises have no interval. `premises` names the premise of every unit: units of one premise
    are alike, so premises are drawn, each with all its units.
    """
    alpha = krippendorff(ratings)
    if alpha is None:
        return None
    blocks: dict[object, list[int]] = {}
    for unit, premise in enumerate(premises or range(len(ratings[0]))):
        blocks.setdefault(premise, []).append(unit)
    if len(blocks) < FEWEST_FOR_INTERVAL:
        return {"alpha": alpha, "low": None, "high": None}
    dealer, drawn, found = np.random.default_rng(seed), list(blocks.values()), list[float]()
    for _ in range(resamples):
        chosen = [unit for block in dealer.integers(0, len(drawn), len(drawn)) for unit in drawn[block]]
        again = krippendorff([[row[at] for at in chosen] for row in ratings])
        if again is not None:
            found.append(again)
    low, high = np.percentile(found, [2.5, 97.5]) if found else (alpha, alpha)
    return {"alpha": alpha, "low": float(low), "high": float(high)}


@dataclass(frozen=True)
class AltTest:
    """Whether a judge may stand for the annotators: the alternative annotator test (Calderon, Reichart and Dror 2025)."""

    annotators: int
    premises: int
    """Premises, or units, on which each annotator was compared with the judge: the fewest of any."""
    beaten: int | None
    """Annotators against whom the judge is no worse by `epsilon` or more, with the false discovery rate controlled.

    None with fewer than `FEWEST_TESTED` premises: nothing is decided.
    """
    winning_rate: float | None
    """Their share, the paper's omega."""
    advantage: float
    """Mean probability that the judge is at least as close to the others as the annotator left out, the paper's rho."""
    epsilon: float
    passes: bool | None


FEWEST_ANNOTATORS = 3
FEWEST_TESTED = 30
"""Premises, or units, from which the test decides. Of fewer, signed ranks, which were published for them, let a coin pass in up
to 63 % of simulated studies: of differences of 0 and 1 they rank a loss behind epsilon first, and Student's t fails a good judge.
"""
EPSILON = 0.1
"""What a judge may fall short, being cheaper: as published 0.1 for lay annotators, 0.15 for skilled ones, 0.2 for experts."""
FALSE_DISCOVERIES = 0.05
MAJORITY = 0.5


def alt_test(
    judge: Mapping[str, float],
    annotators: Mapping[str, Mapping[str, float]],
    premise_of: Mapping[str, str] | None = None,
    *,
    epsilon: float = EPSILON,
) -> AltTest | None:
    """Return whether a judge may stand for the annotators; preferences are given by unit and read as A, B or tie.

    Each annotator is left out in turn. On each unit the share of the others who gave the same label is compared, the judge's
    with that of the one left out; who has at least as much wins the unit, and of equals both do. The judge beats an
    annotator where the mean of (annotator wins - judge wins) is below epsilon, one-sided, after Benjamini and Yekutieli. Units
    of one premise, where `premise_of` names it, are averaged before they are tested, for they are alike. Nothing is decided
    with fewer than `FEWEST_TESTED` of them. None with fewer than three annotators who share units with others and the judge.
    """
    advantages, compared = list[float](), list[Preferences]()
    for name, own in annotators.items():
        others = [labels for other, labels in annotators.items() if other != name]
        units = [unit for unit in own if unit in judge and any(unit in labels for labels in others)]
        if not units:
            continue
        of_judge = np.array([_alignment(judge[unit], unit, others) for unit in units])
        of_annotator = np.array([_alignment(own[unit], unit, others) for unit in units])
        judge_wins, annotator_wins = of_judge >= of_annotator, of_annotator >= of_judge
        advantages.append(float(judge_wins.mean()))
        differences: dict[str, list[float]] = {}
        for unit, difference in zip(units, annotator_wins.astype(float) - judge_wins, strict=True):
            differences.setdefault(premise_of[unit] if premise_of else unit, []).append(float(difference))
        compared.append(np.array([np.mean(each) for each in differences.values()]))
    if len(compared) < FEWEST_ANNOTATORS:
        return None
    tested = min(map(len, compared))
    beaten = winning_rate = passes = None
    if tested >= FEWEST_TESTED:
        p_values = [_p_below(differences, epsilon) for differences in compared]
        beaten = int((false_discovery_control(p_values, method="by") < FALSE_DISCOVERIES).sum())
        winning_rate = beaten / len(compared)
        passes = winning_rate >= MAJORITY
    return AltTest(len(compared), tested, beaten, winning_rate, float(np.mean(advantages)), epsilon, passes)


def _p_below(differences: Preferences, bound: float) -> float:
    """Return the one-sided p-value that the mean of paired differences is not below `bound`."""
    if (differences == differences[0]).all():
        # No spread: the test is undefined, and each further unit would say the same.
        return 0.0 if differences[0] < bound else 1.0
    return float(ttest_1samp(differences, bound, alternative="less").pvalue)


def _alignment(preference: float, unit: str, others: Sequence[Mapping[str, float]]) -> float:
    """Return the share of the others' labels of a unit that say the same: the one, the other, or a tie."""
    return float(np.mean([np.sign(preference - 0.5) == np.sign(them[unit] - 0.5) for them in others if unit in them]))
