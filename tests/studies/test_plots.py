"""The plots of a report: what stands at their axes, and what an interval is of."""

import pytest
from matplotlib.figure import Figure

from recurrentgpt.studies.report import plots


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Give a function that draws a plot and returns its axes."""
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *args, **kwargs: figures.append(figure))

    def draw(plot, *given):
        plot(*given, tmp_path / "plot.png")
        figures[-1].canvas.draw()
        return figures[-1].axes[0]

    return draw


def novel(number, seed, tokens):
    usage = [{"usage": {"input_tokens": count, "calls": 1}} for count in tokens]
    return {
        "system": "doc",
        "genre": "mystery",
        "number": number,
        "seed": seed,
        "passages": usage,
        "text": "a b " * 400,
    }


def test_seeds_of_a_premise_are_one_value(drawn):
    axes = drawn(plots.prompts, [novel(1, 1, [100, 300]), novel(1, 2, [300, 500]), novel(2, 1, [800, 600])])
    (line,) = axes.get_lines()
    assert line.get_ydata().tolist() == [500, 500]
    assert line.get_label() == "doc (n = 2 premises)"


def test_steps_are_whole_numbers(drawn):
    axes = drawn(plots.prompts, [novel(1, 1, [100, 300, 200, 250])])
    assert all(place == int(place) for place in axes.get_xticks())


def test_distances_are_told_in_passages_and_a_system_without_the_level_is_not_drawn(drawn):
    rows = [{"system": "recurrentgpt", "text": {"1": [5, 5], "4": [3, 6]}}, {"system": "rolling_1024", "text": {}}]
    axes = drawn(plots.recall, rows, "text")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "4"]
    assert axes.get_legend_handles_labels()[1] == ["recurrentgpt (n >= 5)"]
