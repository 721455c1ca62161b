"""Statistics against cases whose answer is known, and by simulation."""

import itertools
import json
import math
import operator
from bisect import bisect_left

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from benchmarks.statistics import acceptance, counted_rejections, main
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.statistics import (
    FEW,
    agreement,
    alt_test,
    at_equal_length,
    compare,
    holm,
    interval,
    krippendorff,
    mean_interval,
    sign_flip,
    wilson,
)
from recurrentgpt.studies.report.preferences import HOW


def preferences(dealer, premises, win, tie=0.2):
    """Return preferences of premises of which `tie` are ties and `win` of the rest are wins."""
    decided = dealer.random(premises) >= tie
    return np.where(decided, (dealer.random(premises) < win).astype(float), 0.5)


def rejections(premises, win, rounds, monkeypatch):
    monkeypatch.setattr("recurrentgpt.studies.judging.statistics.RESAMPLES", 499)
    dealer = np.random.default_rng(11)
    return np.mean([sign_flip(preferences(dealer, premises, win), seed=number) < 0.05 for number in range(rounds)])


def test_no_preference_is_found_about_as_often_as_the_level_says(monkeypatch):
    assert rejections(60, 0.5, 400, monkeypatch) == pytest.approx(0.05, abs=0.03)


def test_sixty_per_cent_of_the_decided_is_found_with_many_premises_and_missed_with_few(monkeypatch):
    # A fifth of ties: the normal approximation of the power is 0.80 and 0.13.
    many, few = rejections(240, 0.6, 200, monkeypatch), rejections(20, 0.6, 200, monkeypatch)
    assert many > 0.7
    assert few < 0.3


def fewest_wins(decided):
    """Return the fewest wins of so many decided premises that the test finds, which grows with the wins."""
    tried = range(decided // 2, decided + 1)
    found = bisect_left(tried, True, key=lambda wins: sign_flip(np.repeat([1.0, 0.0], [wins, decided - wins])) < 0.05)
    return decided // 2 + found


def power(premises, win, tie):
    """Return how often the test finds a preference, over every likely number of ties and all wins; a tie is flipped in vain."""
    weights = {decided: binom.pmf(decided, premises, 1 - tie) for decided in range(1, premises + 1)}
    likely = {decided: weight for decided, weight in weights.items() if weight > 0.02}
    found = 0.0
    for decided, weight in likely.items():
        wins = fewest_wins(decided)
        found += weight * (binom.sf(wins - 1, decided, win) + binom.cdf(decided - wins, decided, win))
    return found / sum(likely.values())


@pytest.mark.parametrize(
    ("premises", "tie", "known"), [(20, 0.0, 0.127), (20, 0.2, 0.085), (120, 0.0, 0.540), (120, 0.2, 0.464)]
)
def test_the_power_that_the_report_tells_is_that_of_the_test_it_uses(premises, tie, known):
    # Sampled sign flips shift the fewest wins by one now and then: hence the hundredth.
    assert power(premises, 0.6, tie) == pytest.approx(known, abs=0.012)
    if premises == 120 or not tie:
        assert f"{known:.0%}".replace("%", " %") in HOW


def test_the_interval_covers_the_true_rate(monkeypatch):
    monkeypatch.setattr("recurrentgpt.studies.judging.statistics.RESAMPLES", 499)
    dealer = np.random.default_rng(5)
    covered = 0
    for number in range(150):
        found = compare(preferences(dealer, 60, 0.6), seed=number)
        covered += found.low <= 0.2 * 0.5 + 0.8 * 0.6 <= found.high
    assert covered / 150 > 0.88


@pytest.mark.parametrize("premises", [2, 3, 4, 6, 12, 20])
@pytest.mark.parametrize("kind", ["means of labels", "many ties", "six labels"])
def test_the_interval_of_few_premises_covers_the_true_rate(premises, kind):
    dealer = np.random.default_rng(premises)

    def drawn():
        if kind == "means of labels":
            return np.clip(dealer.normal(0.6, 0.15, premises), 0, 1)
        if kind == "many ties":
            return preferences(dealer, premises, 0.6, tie=0.6)
        return np.mean([preferences(dealer, premises, 0.6, tie=0.3) for _ in range(6)], axis=0)

    true = {"means of labels": 0.6, "many ties": 0.54, "six labels": 0.57}[kind]
    spans = [interval(drawn()) for _ in range(600)]
    # With 600 rounds, 0.915 is four standard errors below 0.95.
    assert np.mean([low <= true <= high for low, high in spans]) > 0.915
    assert all(0 <= low <= high <= 1 for low, high in spans)


def test_many_premises_have_the_interval_of_the_bootstrap_and_few_students(monkeypatch):
    monkeypatch.setattr("recurrentgpt.studies.judging.statistics.RESAMPLES", 499)
    skewed = np.tile([0.9, 0.9, 0.9, 0.9, 0.1], FEW)
    (few, many) = (mean_interval(skewed[: FEW - 5]), mean_interval(skewed[:FEW]))
    assert few[1] - 0.74 == pytest.approx(0.74 - few[0])
    assert many[1] - 0.74 < 0.9 * (0.74 - many[0])


def test_a_mean_of_one_value_or_of_equal_ones_has_no_spread():
    assert mean_interval([7.0]) == mean_interval([7.0] * 40) == (7.0, 7.0)
    # 5, 7: Student's t with one degree of freedom, 12.706, times a standard error of 1.
    assert mean_interval([5.0, 7.0]) == pytest.approx((6 - 12.706, 6 + 12.706), abs=1e-3)


def test_ties_count_half_and_the_sign_test_leaves_them_out():
    found = compare([1, 1, 1, 1, 1, 0, 0.5, 0.5])
    assert (found.wins, found.losses, found.ties) == (5, 1, 2)
    assert found.rate == 6 / 8
    # 2 * (1 + 6) / 64 for six decided.
    assert found.sign_p == pytest.approx(14 / 64)


def test_a_preference_at_equal_length_is_what_is_left_without_length():
    lengths = [(1000.0 * 2**step, 1000.0) for step in range(6)]
    # Each doubling is worth a tenth, and nothing else is preferred.
    assert at_equal_length([0.5 + 0.1 * step for step in range(6)], lengths) == pytest.approx(0.5)
    assert at_equal_length([0.7] * 6, lengths) == pytest.approx(0.7)
    assert at_equal_length([0.7] * 6, [(900.0, 1000.0)] * 6) is None
    assert at_equal_length([0.7] * 4, lengths[:4]) is None


def test_a_small_sample_is_tested_exactly():
    # All of five in favour: two of 32 sign patterns are as extreme.
    assert compare([1, 1, 1, 1, 1]).p == pytest.approx(2 / 32)


def test_of_differences_of_one_size_all_flips_are_counted_however_many_there_are():
    values = np.array([1.0] * 72 + [0.0] * 48 + [0.5] * 20)
    as_far = sum(math.comb(120, wins) for wins in range(121) if abs(wins - 60) >= 12) / 2**120
    assert [sign_flip(values, seed=seed) for seed in range(3)] == pytest.approx([as_far] * 3)


def test_a_mean_of_one_half_is_no_evidence_whatever_it_is_made_of():
    assert sign_flip(np.array([0.6, 0.4, 0.9, 0.1, 0.5, 0.8, 0.2])) == 1.0


def test_flips_of_differences_of_several_sizes_are_counted():
    values = np.array([1.0, 0.9, 0.75, 0.75, 0.4, 0.5])
    sums = [abs(sum(map(operator.mul, signs, values - 0.5))) for signs in itertools.product((1, -1), repeat=6)]
    as_far = sum(total >= abs((values - 0.5).sum()) - 1e-9 for total in sums)
    assert sign_flip(values) == pytest.approx(as_far / len(sums))


def test_nothing_but_ties_is_no_evidence():
    found = compare([0.5] * 9)
    assert (found.p, found.sign_p, found.rate) == (1.0, 1.0, 0.5)
    assert found.low < 0.5 < found.high


def test_a_clean_sweep_has_an_interval_and_not_a_point():
    found = compare([1.0] * 20)
    assert found.low < 0.9
    assert found.high == 1.0


def test_the_same_seed_gives_the_same_figures():
    values = preferences(np.random.default_rng(1), 40, 0.55).tolist()
    assert compare(values, seed=3) == compare(values, seed=3)


def test_nothing_to_compare_is_said():
    with pytest.raises(StudyError, match="nothing can be compared"):
        compare([])
    with pytest.raises(StudyError, match="between 0 and 1"):
        compare([2.0])


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_wilson_by_hand():
    low, high = wilson(5, 10)
    assert (low, high) == pytest.approx((0.2366, 0.7634), abs=1e-3)


def test_alpha_against_the_published_example():
    # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), part C: nominal, with missing labels, 0.743.
    first = [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None]
    second = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3]
    third = [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None]
    fourth = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]
    assert krippendorff([first, second, third, fourth]) == pytest.approx(0.743, abs=1e-3)


def test_alpha_of_perfect_and_of_random_raters():
    labels = [float(value) for value in np.random.default_rng(2).integers(0, 2, 200)]
    others = [float(value) for value in np.random.default_rng(3).integers(0, 2, 200)]
    assert krippendorff([labels, labels]) == 1.0
    found = agreement([labels, others], resamples=200)
    assert found is not None
    assert found["low"] < 0 < found["high"]
    assert krippendorff([[1.0, 1.0], [1.0, 1.0]]) is None
    assert agreement([]) is None


def test_the_interval_of_alpha_draws_premises_and_not_their_units():
    dealer = np.random.default_rng(4)
    # Ten premises whose eight units are all alike: eighty units that say no more than ten.
    first = np.repeat(dealer.integers(0, 2, 10), 8).astype(float).tolist()
    second = np.repeat(dealer.integers(0, 2, 10), 8).astype(float).tolist()
    units = agreement([first, second], resamples=300)
    premises = agreement([first, second], [str(at // 8) for at in range(80)], resamples=300)
    assert units is not None
    assert premises is not None
    assert premises["high"] - premises["low"] > 2 * (units["high"] - units["low"])


def published_alt_test(judge, annotators, epsilon=0.1):
    """Follow the paper's formulas, a unit and an annotator at a time, without this package's code."""
    p_values = []
    for name, own in annotators.items():
        differences = []
        for unit, label in own.items():
            others = [labels[unit] for other, labels in annotators.items() if other != name]
            of_judge = sum(judge[unit] == other for other in others) / len(others)
            of_annotator = sum(label == other for other in others) / len(others)
            differences.append((of_annotator >= of_judge) - (of_judge >= of_annotator))
        n, mean = len(differences), sum(differences) / len(differences)
        spread = (sum((value - mean) ** 2 for value in differences) / (n - 1)) ** 0.5
        p_values.append(float(student.cdf((mean - epsilon) / (spread / n**0.5), n - 1)))
    m = len(p_values)
    harmonic = sum(1 / rank for rank in range(1, m + 1))
    passing = [rank for rank, p in enumerate(sorted(p_values), start=1) if p <= 0.05 * rank / (m * harmonic)]
    return max(passing, default=0) / m >= 0.5


def test_the_alternative_annotator_test_decides_as_the_published_one():
    for seed in range(8):
        dealer = np.random.default_rng(seed)
        truth = {f"u{number}": float(dealer.integers(0, 2)) for number in range(60)}
        people = {
            name: {unit: label if dealer.random() < 0.8 else 1 - label for unit, label in truth.items()}
            for name in "abcd"
        }
        for share in (0.5, 0.6, 0.7, 0.75, 0.8, 0.9):
            judge = {unit: label if dealer.random() < share else 1 - label for unit, label in truth.items()}
            found = alt_test(judge, people)
            assert found is not None
            assert found.passes == published_alt_test(judge, people), (seed, share)


@pytest.mark.parametrize("reliability", [0.7, 0.9])
def test_each_kind_of_judge_is_accepted_as_often_as_by_the_published_procedure(reliability):
    assert acceptance(15, reliability, 3) == acceptance(15, reliability, 3, test=published_alt_test)


def test_only_a_good_judge_may_stand_for_people():
    accepted = acceptance(60, 0.8, seed=1)
    assert accepted.pop("good") >= 0.85
    assert set(accepted) == {"coin", "always A", "always tie", "contrary"}
    assert max(accepted.values()) <= 0.05


def test_annotators_who_agree_with_nobody_let_no_tie_judge_pass_for_its_ties():
    people = {name: {f"u{number}": float((number + at) % 2) for number in range(60)} for at, name in enumerate("abc")}
    found = alt_test({f"u{number}": 0.5 for number in range(60)}, people)
    assert found is not None
    assert found.beaten < 2


def test_fewer_than_three_annotators_are_too_few_to_be_replaced():
    labels = {f"u{number}": float(number % 2) for number in range(40)}
    assert alt_test(labels, {"a": labels, "b": labels}) is None
    assert alt_test(labels, {"a": labels, "b": labels, "c": labels}).passes


def test_units_of_one_premise_are_no_further_evidence():
    dealer = np.random.default_rng(5)
    # A judge who is right where it knows the premise, as it knows 23 of 30.
    truth = {f"p{premise}/u{unit}": float(dealer.integers(0, 2)) for premise in range(30) for unit in range(20)}
    people = {
        name: {unit: label if dealer.random() < 0.8 else 1 - label for unit, label in truth.items()} for name in "abc"
    }
    premise_of = {unit: unit.partition("/")[0] for unit in truth}
    unknown = {f"p{premise}" for premise in range(7)}
    judge = {unit: 1 - label if premise_of[unit] in unknown else label for unit, label in truth.items()}
    by_unit, by_premise = alt_test(judge, people), alt_test(judge, people, premise_of)
    assert (by_unit.premises, by_unit.passes) == (600, True)
    assert (by_premise.premises, by_premise.passes) == (30, False)
    assert alt_test(judge, people, {unit: unit for unit in truth}) == by_unit


@pytest.mark.parametrize("premises", [2, 20, 29])
def test_of_fewer_than_thirty_premises_nothing_is_decided(premises):
    labels = {f"u{number}": float(number % 2) for number in range(premises)}
    found = alt_test(labels, {"a": labels, "b": labels, "c": labels})
    assert (found.premises, found.beaten, found.winning_rate, found.passes) == (premises, None, None, None)
    assert found.advantage == 1
    assert set(acceptance(5, 0.7, 1, premises=premises).values()) == {0.0}


def test_a_coin_does_not_pass_on_the_pairs_of_thirty_premises():
    accepted = acceptance(40, 0.8, 1, premises=30, pairs=3)
    assert accepted["good"] >= 0.85
    assert max(accepted[kind] for kind in ("coin", "always A", "always tie", "contrary")) <= 0.05


@pytest.mark.parametrize(("rate", "ties"), [(0.5, 0.0), (0.5, 0.3), (0.7, 0.2)])
def test_how_often_the_test_rejects_is_counted_as_the_test_decides(rate, ties):
    chances = {1.0: (1 - ties) * rate, 0.0: (1 - ties) * (1 - rate), 0.5: ties}
    verdicts = [values for values in itertools.product(chances, repeat=8) if math.prod(map(chances.get, values))]
    decided = {counts: sign_flip(np.array(counts)) < 0.05 for counts in {tuple(sorted(values)) for values in verdicts}}
    by_test = sum(math.prod(map(chances.get, values)) * decided[tuple(sorted(values))] for values in verdicts)
    assert counted_rejections(8, rate, ties) == pytest.approx(by_test)


def test_the_simulations_of_all_statistics_are_one_command(capsys, monkeypatch):
    monkeypatch.setattr("recurrentgpt.studies.judging.statistics.RESAMPLES", 99)
    monkeypatch.setattr("sys.argv", ["statistics", "--studies", "4"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("| alt test acceptance | ")]) == 12
    assert "| good high, the others .00; of 29 nothing is decided |" in lines[-1]
    assert "99 resamples each" in lines[0]
    monkeypatch.setattr("sys.argv", ["statistics", "--studies", "4", "--json"])
    main()
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"false_positives", "power_at_60_percent", "coverage_of_95_percent", "alt_test_acceptance"}
