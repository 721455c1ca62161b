"""The plots of a report, as PNG files."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from recurrentgpt.errors import MissingExtra
from recurrentgpt.studies.measures.repetition import HUMAN_BAND, curve
from recurrentgpt.studies.measures.steps import prompt_tokens
from recurrentgpt.studies.statistics import wilson

try:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ImportError as error:  # pragma: no cover - the extra is installed where tests run
    raise MissingExtra("Plots need Matplotlib; install it with: pip install 'recurrentgpt[study]'") from error

_SIZE = (7.0, 4.2)
_META = {"Software": None}
"""Without the version of the plotting library, the same figures are the same file."""


def recall(rows: list[dict[str, Any]], level: str, path: Path) -> None:
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
        below = [max(0.0, rate - low) for rate, (low, _) in zip(rates, spans, strict=True)]
        above = [max(0.0, high - rate) for rate, (_, high) in zip(rates, spans, strict=True)]
        tries = min(tally[1] for tally in tallies.values())
        axes.errorbar(ways, rates, yerr=[below, above], marker="o", capsize=2, label=f"{row['system']} (n >= {tries})")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(all_ways), [str(way) for way in sorted(all_ways)])
    axes.set_ylim(-0.05, 1.05)
    _save(figure, axes, path)


def prompts(novels: list[dict[str, Any]], path: Path) -> None:
    """Plot prompt tokens per call against the step, the mean of each system's novels."""
    figure, axes = _axes("step", "prompt tokens per call")
    for system, values in _gathered(novels, lambda novel: list(enumerate(prompt_tokens(novel), start=1))).items():
        _line(axes, system, values)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _save(figure, axes, path)


def repeats(novels: list[dict[str, Any]], path: Path) -> None:
    """Plot the share of repeated 4-grams against words, with the human band at 6,000."""
    figure, axes = _axes("words", "repeated 4-grams")
    for system, values in _gathered(novels, lambda novel: curve(novel["text"])[:-1]).items():
        _line(axes, system, values)
    low, high = HUMAN_BAND["repeated_4grams"]
    axes.errorbar([6000], [(low + high) / 2], yerr=(high - low) / 2, color="black", capsize=4, label="four classics")
    _save(figure, axes, path)


def _gathered(novels: list[dict[str, Any]], points: Any) -> dict[str, dict[float, list[float]]]:
    """Return by system and place a value per premise: the mean of its seeds, which are no further premises."""
    seeds: dict[tuple[str, float], dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for novel in novels:
        for x, y in points(novel):
            seeds[novel["system"], x][novel["genre"], novel["number"]].append(y)
    found: dict[str, dict[float, list[float]]] = defaultdict(dict)
    for (system, x), premises in seeds.items():
        found[system][x] = [mean(values) for values in premises.values()]
    return found


def _line(axes: Any, system: str, values: dict[float, list[float]]) -> None:
    """Draw the mean, and the interval of 95 % where several premises reach so far."""
    places = sorted(values)
    means = [mean(values[place]) for place in places]
    reach = [1.96 * stdev(values[x]) / len(values[x]) ** 0.5 if len(values[x]) > 1 else 0.0 for x in places]
    most = max((len(found) for found in values.values()), default=0)
    (line,) = axes.plot(places, means, marker=".", label=f"{system} (n = {most} premises)")
    low = [middle - span for middle, span in zip(means, reach, strict=True)]
    high = [middle + span for middle, span in zip(means, reach, strict=True)]
    axes.fill_between(places, low, high, alpha=0.15, color=line.get_color())


def _axes(x: str, y: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def _save(figure: Figure, axes: Any, path: Path) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small")
    figure.savefig(path, dpi=120, metadata=_META)
