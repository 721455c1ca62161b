"""What the report computes of rows: means and slopes over premises."""

import pytest

from recurrentgpt.studies.report.figures import by_system, slopes


def test_slopes_have_an_interval_and_short_novels_have_none():
    def row(system, number, slope, low=None, high=None):
        names = ("prompt_slope", "prompt_slope_low", "prompt_slope_high")
        return {
            "system": system,
            "genre": "mystery",
            "number": number,
            **dict(zip(names, (slope, low, high), strict=True)),
        }

    rows = [row("a", 1, 2.0, 1.0, 3.0), row("b", 1, 0.0, -9, 9), row("b", 1, 2.0, -9, 9), row("b", 2, 3.0, -9, 9)]
    found = slopes([*rows, row("c", 1, None)])
    assert found["a"] == (2.0, 1.0, 3.0)
    assert found["b"] == (2.0, 1.0, 3.0), "two premises have no interval to speak of: both are told"
    # Three premises, 1, 3 and 2: Student's t with two degrees of freedom, 4.303, times a standard error of 1 / sqrt(3).
    assert slopes([*rows, row("b", 3, 2.0, -9, 9)])["b"] == pytest.approx((2.0, 2 - 2.484, 2 + 2.484), abs=1e-3)
    assert "c" not in found


def test_a_mean_is_of_premises_and_one_with_more_seeds_weighs_no_more():
    rows = [
        {"system": "doc", "genre": "mystery", "number": number, "words": words}
        for number, words in ((1, 100), (1, 300), (2, 600))
    ]
    assert by_system(rows, "words") == {"doc": 400}
