"""Whether one system is preferred, and how sure that is. The unit is the premise; single labels are not independent.

Verdicts are 1 for the first system, 0 for the second, 0.5 for a tie. A premise's preference is the mean of its verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recurrentgpt.studies.errors import StudyError

try:
    from scipy.stats import binomtest, bootstrap, permutation_test, t
except ImportError as error:  # pragma: no cover - the extra is installed where tests run
    raise StudyError("Statistics need SciPy; install it with: pip install 'recurrentgpt[study]'") from error

RESAMPLES = 9999
CONFIDENCE = 0.95
_EXACT = 12
"""Premises up to which all sign flips are counted instead of sampled."""
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
) -> dict[str, float] | None:
    """Return Krippendorff's alpha with a percentile bootstrap interval, or None where it is not defined.

    `premises` names the premise of every unit: units of one premise are alike, so premises are drawn, each with all its units.
    """
    alpha = krippendorff(ratings)
    if alpha is None:
        return None
    blocks: dict[object, list[int]] = {}
    for unit, premise in enumerate(premises or range(len(ratings[0]))):
        blocks.setdefault(premise, []).append(unit)
    dealer, drawn, found = np.random.default_rng(seed), list(blocks.values()), list[float]()
    for _ in range(resamples):
        chosen = [unit for block in dealer.integers(0, len(drawn), len(drawn)) for unit in drawn[block]]
        again = krippendorff([[row[at] for at in chosen] for row in ratings])
        if again is not None:
            found.append(again)
    low, high = np.percentile(found, [2.5, 97.5]) if found else (alpha, alpha)
    return {"alpha": alpha, "low": float(low), "high": float(high)}


@dataclass(frozen=True)
class Stand:
    """Whether a judge may stand for the human annotators (alt-test, Calderon et al. 2025), with its winning rate."""

    rate: float
    humans: int
    beaten: int
    """Annotators whom the judge agrees with the others at least as well as."""
    passes: bool


def alt_test(judge: dict[str, float], humans: dict[str, dict[str, float]], *, margin: float = 0.1) -> Stand | None:
    """Return whether a judge agrees with the annotators as well as each of them with the rest, less a margin for its cost.

    Labels are given by unit. None with fewer than two annotators who labelled common units.
    """
    beaten, rates = 0, list[float]()
    p_values: list[float] = []
    for name, own in humans.items():
        others = [labels for other, labels in humans.items() if other != name]
        units = [unit for unit in own if unit in judge and any(unit in labels for labels in others)]
        if len(units) < 2:
            continue
        for_judge = np.array([_closeness(judge[unit], unit, others) for unit in units])
        for_human = np.array([_closeness(own[unit], unit, others) for unit in units])
        rates.append(float((for_judge >= for_human).mean()))
        won, lost = int((for_judge >= for_human - margin).sum()), int((for_judge < for_human - margin).sum())
        p_values.append(float(binomtest(won, won + lost, alternative="greater").pvalue))
    if len(p_values) < 2:
        return None
    beaten = sum(p < 0.05 for p in holm(p_values))
    rate = float(np.mean(rates))
    return Stand(rate, len(p_values), beaten, beaten / len(p_values) >= 0.5)


def _closeness(label: float, unit: str, others: list[dict[str, float]]) -> float:
    """Return how near a label is to those that others gave to the same unit, 0 to 1."""
    return float(np.mean([1 - abs(label - labels[unit]) for labels in others if unit in labels]))
