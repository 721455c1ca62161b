"""The plots of a report: what stands at their axes, what an interval is of, and that no system hides another."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.judging.statistics import compare, mean_interval
from recurrentgpt.studies.report import plots
from recurrentgpt.studies.report.figures import Result


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


def novel(number, seed, tokens, system="doc"):
    usage = [{"usage": {"input_tokens": count, "calls": 1}} for count in tokens]
    return {
        "system": system,
        "genre": "mystery",
        "number": number,
        "seed": seed,
        "passages": usage,
        "text": "a b " * 400,
    }


def test_seeds_of_a_premise_are_one_value(drawn):
    axes = drawn(plots.prompts, [novel(1, 1, [100, 300]), novel(1, 2, [300, 500]), novel(2, 1, [800, 600])])
    ((line, _, _),) = axes.containers
    assert line.get_ydata().tolist() == [500, 500]
    assert labels(axes) == ["doc, 2 premises"]


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def test_a_plot_says_how_many_premises_reach_how_far(drawn):
    assert labels(drawn(plots.prompts, [novel(1, 1, [100, 300])])) == ["doc, 1 premise"]
    axes = drawn(plots.prompts, [novel(1, 1, [100, 300]), novel(2, 1, [100])])
    assert labels(axes) == ["doc, 2 premises, 1 where fewest"]
    (legend,) = axes.figure.legends
    assert "bars: its interval, 95 %" in legend.get_title().get_text()


def test_bars_are_the_intervals_of_the_tables_and_a_single_premise_has_none(drawn):
    axes = drawn(plots.prompts, [novel(1, 1, [100, 300]), novel(2, 1, [120]), novel(3, 1, [170])])
    ((_, _, (bars,)),) = axes.containers
    both, alone = bars.get_segments()
    assert both[:, 1].tolist() == pytest.approx(mean_interval([100, 120, 170]))
    assert not len(alone)
    assert axes.get_ylim()[0] == 0


def test_a_system_has_one_colour_whichever_others_are_drawn(drawn):
    def of(*systems):
        axes = drawn(plots.prompts, [novel(1, 1, [100, 300], system) for system in systems])
        names = [label.partition(",")[0] for label in labels(axes)]
        return dict(zip(names, (container[0].get_color() for container in axes.containers), strict=True))

    everybody = of(*SYSTEMS)
    assert len(set(everybody.values())) == len(SYSTEMS)
    assert of("re3", "doc") == {name: everybody[name] for name in ("re3", "doc")}
    rows = [{"system": "doc", "text": {"1": [5, 5], "4": [3, 6]}}]
    ((line, _, _),) = drawn(plots.recall, rows, "text").containers
    assert line.get_color() == everybody["doc"]


@pytest.mark.parametrize("apart", [1, 4])
def test_no_curve_is_hidden_under_another(drawn, apart):
    # Every fourth system has the same dashes.
    for pair in zip(SYSTEMS, list(SYSTEMS)[apart:], strict=False):
        axes = drawn(plots.prompts, [novel(1, 1, [100, 300, 200], system) for system in pair])
        canvas = FigureCanvasAgg(axes.figure)
        canvas.draw()
        shown = np.asarray(canvas.buffer_rgba())[:, : int(axes.bbox.x1), :3].reshape(-1, 3)
        for handle in axes.get_legend_handles_labels()[0]:
            colour = np.round(np.array(to_rgb(handle[0].get_color())) * 255)
            assert (np.abs(shown - colour).max(axis=1) <= 40).sum() > 150, pair


def test_steps_are_whole_numbers(drawn):
    axes = drawn(plots.prompts, [novel(1, 1, [100, 300, 200, 250])])
    assert all(place == int(place) for place in axes.get_xticks())


def test_steps_of_novels_of_very_different_lengths_stand_on_a_logarithmic_axis(drawn):
    axes = drawn(plots.prompts, [novel(1, 1, [100] * 4, "re3"), novel(1, 1, [100] * 24, "doc")])
    assert axes.get_xscale() == "log"
    assert drawn(plots.prompts, [novel(1, 1, [100] * 4, "re3"), novel(1, 1, [100] * 9)]).get_xscale() == "linear"


def test_the_human_band_lies_under_novels_of_its_length_alone(drawn):
    long = {**novel(1, 1, [100]), "text": "a b c d " * 1700}
    assert labels(drawn(plots.repeats, [long]))[0] == "four classics at 6,000 words"
    axes = drawn(plots.repeats, [{**long, "text": "a b c d " * 300}])
    assert labels(axes) == ["doc, 1 premise"]
    assert 400 < axes.get_xlim()[0] < 500, "nothing stands before the first 500 words"
    assert axes.get_xlim()[1] < 1500


def test_of_two_premises_both_are_shown_and_everything_fits(drawn):
    axes = drawn(plots.prompts, [novel(1, 1, [100, 900]), novel(2, 1, [500, 300]), novel(3, 1, [90])])
    ((_, _, (bars,)),) = axes.containers
    three, two = bars.get_segments()
    assert not len(two), "an interval of two premises would be most of the picture"
    (dots,) = [line for line in axes.get_lines() if line.get_linestyle() == "None" and line.get_markersize() == 3]
    assert dots.get_ydata().tolist() == [900, 300]
    assert axes.get_ylim()[1] > max(three[:, 1].max(), 900)


def test_who_wins_is_drawn_as_a_matrix_and_as_intervals(drawn):
    shares = {("a", "b"): 0.75, ("b", "a"): 0.25}
    matrix = drawn(plots.wins, shares, ["a", "b"])
    assert [text.get_text() for text in matrix.texts] == ["75", "25"]
    result = Result(
        "judges",
        "all genres",
        "coherent",
        "a",
        "b",
        compare([1.0, 1.0, 0.5, 1.0]),
        0.5,
        4,
        (9, 9),
        None,
        (0, 0),
        (0, 0),
        0.88,
    )
    forest = drawn(plots.preferences, [result])
    assert forest.get_xlim() == (0, 100)
    assert [label.get_text() for label in forest.get_yticklabels()] == ["b"]
    ((_, _, (bars,)),) = forest.containers
    assert bars.get_segments()[0][:, 0].max() <= 100


def test_distances_are_told_in_passages_and_a_system_without_the_level_is_not_drawn(drawn):
    rows = [{"system": "recurrentgpt", "text": {"1": [5, 5], "4": [3, 6]}}, {"system": "rolling_1024", "text": {}}]
    axes = drawn(plots.recall, rows, "text")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "4"]
    assert axes.get_legend_handles_labels()[1] == ["recurrentgpt, 6 facts, 5 where fewest"]
