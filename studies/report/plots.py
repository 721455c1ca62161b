"""The plots of a report, as PNG files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import nan
from pathlib import Path
from statistics import mean
from typing import Any

from recurrentgpt.schema.errors import MissingExtra
from recurrentgpt.studies.baselines.catalogue import all_systems
from recurrentgpt.studies.judging.statistics import mean_interval, wilson
from recurrentgpt.studies.measures.repetition import HUMAN_BAND, curve
from recurrentgpt.studies.measures.step_contract import prompt_tokens
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.runs.schemas import NovelRecord

try:
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
    from matplotlib.transforms import ScaledTranslation
except ImportError as error:  # pragma: no cover - the extra is installed where tests run
    raise MissingExtra("Plots need Matplotlib; install it with: pip install 'recurrentgpt[study]'") from error

_SIZE = (9.5, 4.2)
_BARS = "mean over premises;\nbars: its interval, 95 %"
_COLOURS = colormaps["tab20"]
_MARKERS, _LINES = "osD^v<>PXd", ("-", "--", "-.", ":")


def _place(system: str) -> int:
    """Return a system's place in the catalogue, which decides how it looks in every plot and how far aside it stands."""
    return list(all_systems()).index(system)


def _look(system: str) -> dict[str, Any]:
    """Return how a system is drawn; no line hides another: markers are hollow, and dots lie upon what is solid."""
    number = _place(system)
    return {
        "color": _COLOURS((2 * number + number // 10) % 20),
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _LINES[number % len(_LINES)],
        "markersize": 10 - 5 * number / len(all_systems()),
        "fillstyle": "none",
        "zorder": 2 + number % 4 / 10,
    }


_NO_BAR = (nan, nan)
_META = {"Software": None}
"""Without the version of the plotting library, the same figures are the same file."""


def recall(rows: list[Row], level: str, path: Path) -> None:
    """Plot how often planted facts were there against distance, with Wilson's intervals."""
    figure, axes = _axes("passages since the fact was told", f"facts there: {level}")
    all_ways: set[int] = set()
    for row in rows:
        tallies = {int(distance): tally for distance, tally in row[level].items()}
        if not tallies:
            continue
        ways = sorted(tallies)
        all_ways.update(ways)
        rates = [tallies[way][0] / tallies[way][1] for way in ways]
        spans = [wilson(*tallies[way]) for way in ways]
        counts = [tally[1] for tally in tallies.values()]
        _bars(axes, row["system"], ways, rates, spans, f"{row['system']}, {_counted(min(counts), max(counts), 'fact')}")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(all_ways), [str(way) for way in sorted(all_ways)])
    axes.set_ylim(-0.05, 1.05)
    _save(figure, axes, path, "bars: Wilson's interval, 95 %")


def prompts(novels: list[NovelRecord], path: Path) -> None:
    """Plot prompt tokens per call against the step, the mean of each system's premises."""
    figure, axes = _axes("step", "prompt tokens per call")
    _lines(axes, _gathered(novels, lambda novel: list(enumerate(prompt_tokens(novel), start=1))))
    axes.set_xlim(0.5, 0.5 + max((len(novel["passages"]) for novel in novels), default=1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    _save(figure, axes, path, _BARS)


def repeats(novels: list[NovelRecord], path: Path) -> None:
    """Plot the share of repeated 4-grams against words, with the human band at 6,000."""
    figure, axes = _axes("words", "repeated 4-grams")
    low, high = HUMAN_BAND["repeated_4grams"]
    _lines(axes, _gathered(novels, lambda novel: curve(novel["text"])[:-1]), least=high)
    label = "bar: all windows of four classics"
    axes.errorbar([6000], [(low + high) / 2], yerr=(high - low) / 2, color="black", capsize=4, label=label)
    axes.set_xlim(left=0)
    _save(figure, axes, path, _BARS)


def _gathered(novels: list[NovelRecord], points: Any) -> dict[str, dict[float, list[float]]]:
    """Return by system and place a value per premise: the mean of its seeds, which are no further premises."""
    seeds: dict[tuple[str, float], dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for novel in novels:
        for x, y in points(novel):
            seeds[novel["system"], x][novel["genre"], novel["number"]].append(y)
    found: dict[str, dict[float, list[float]]] = defaultdict(dict)
    for (system, x), premises in seeds.items():
        found[system][x] = [mean(values) for values in premises.values()]
    return found


def _lines(axes: Any, systems: dict[str, dict[float, list[float]]], least: float = 0.0) -> None:
    """Draw every system's mean, and its interval where several premises reach so far; the means say how high the picture is."""
    highest, reached = least, least
    for system, values in systems.items():
        places = sorted(values)
        means = [mean(values[place]) for place in places]
        spans = [mean_interval(values[place]) for place in places]
        counts = [len(values[place]) for place in places]
        label = f"{system}, {_counted(min(counts), max(counts), 'premise')}"
        _bars(
            axes,
            system,
            places,
            means,
            [span if n > 1 else _NO_BAR for n, span in zip(counts, spans, strict=True)],
            label,
        )
        highest, reached = max(highest, *means), max(reached, *(high for _, high in spans))
    axes.set_ylim(0, 1.05 * min(reached, 1.5 * highest) or 1.0)


def _bars(
    axes: Any, system: str, places: Sequence[float], means: list[float], spans: list[tuple[float, float]], label: str
) -> None:
    """Draw a line with an interval at every place, moved aside by a point or two, so that none stands upon another's."""
    aside = 0.7 * (_place(system) - len(all_systems()) / 2) / 72
    beside = axes.transData + ScaledTranslation(aside, 0, axes.figure.dpi_scale_trans)
    reach = [[abs(middle - low) for middle, (low, _) in zip(means, spans, strict=True)]]
    reach.append([abs(high - middle) for middle, (_, high) in zip(means, spans, strict=True)])
    axes.update_datalim(list(zip(places, means, strict=True)))
    axes.errorbar(places, means, yerr=reach, label=label, transform=beside, capsize=2, elinewidth=0.8, **_look(system))


def _counted(fewest: int, most: int, what: str) -> str:
    """Return how many there are, `1 premise` or `3 to 5 premises`."""
    many = f"{most}" if fewest == most else f"{fewest} to {most}"
    return f"{many} {what}{'' if most == 1 else 's'}"


def _axes(x: str, y: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def _save(figure: Figure, axes: Any, path: Path, title: str) -> None:
    """Write the plot with its legend beside it, where it hides nothing."""
    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside right upper", fontsize="small", title=title, title_fontsize="small", handlelength=3)
    figure.savefig(path, dpi=120, metadata=_META)
