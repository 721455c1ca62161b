"""The plots of a report, as PNG files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from statistics import mean
from typing import Any

from recurrentgpt.schema.errors import MissingExtra
from recurrentgpt.studies.baselines.catalogue import all_systems
from recurrentgpt.studies.judging.statistics import FEWEST_FOR_INTERVAL, mean_interval, wilson
from recurrentgpt.studies.measures.repetition import BAND_WORDS, HUMAN_BAND, curve
from recurrentgpt.studies.measures.step_contract import prompt_tokens
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.report.figures import Result
from recurrentgpt.studies.runs.schemas import NovelRecord

try:
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
    from matplotlib.transforms import ScaledTranslation
except ImportError as error:  # pragma: no cover - the extra is installed where tests run
    raise MissingExtra("Plots need Matplotlib; install it with: pip install 'recurrentgpt[study]'") from error

_SIZE = (9.5, 4.2)
_BARS = "mean over premises;\nbars: its interval, 95 %;\ndots: both of two premises"
_FAR = 4
"""How many times as long as another system's a novel is where steps stand on a logarithmic axis."""
_COLOURS, _PREFERENCE = colormaps["tab10"], "RdBu"
_MARKERS, _LINES = "osD^v<>PXd*hp8H+x1234", ("-", "--", "-.", ":")


def _place(system: str) -> int:
    """Return a system's place in the catalogue, which decides how it looks in every plot and how far aside it stands."""
    return list(all_systems()).index(system)


def _look(system: str) -> dict[str, Any]:
    """Return how a system is drawn: none larger or paler than another, with hollow markers that hide none, and dots on dashes."""
    number = _place(system)
    ten = number // 10
    return {
        # The second ten are darker, and begin at another hue.
        "color": tuple(0.6**ten * part for part in _COLOURS((number + 5 * ten) % 10)[:3]),
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _LINES[number % len(_LINES)],
        "markersize": 7,
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
    longest = max([1, *(len(novel["passages"]) for novel in novels)])
    if longest >= _FAR * min((len(novel["passages"]) for novel in novels), default=1):
        axes.set_xscale("log", base=2)
        axes.set_xlim(0.8, 1.25 * longest)
        axes.xaxis.set_major_formatter("{x:.0f}")
    else:
        axes.set_xlim(0.5, 0.5 + longest)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    _save(figure, axes, path, _BARS)


def repeats(novels: list[NovelRecord], path: Path) -> None:
    """Plot the share of repeated 4-grams against words, over the band of four classics where novels are as long as that."""
    figure, axes = _axes("words", "repeated 4-grams, share of all")
    points = _gathered(novels, lambda novel: curve(novel["text"])[:-1])
    low, high = HUMAN_BAND["repeated_4grams"]
    if is_as_long := any(place >= BAND_WORDS for values in points.values() for place in values):
        axes.axhspan(low, high, color="black", alpha=0.12, linewidth=0, label=f"four classics at {BAND_WORDS:,} words")
    _lines(axes, points, least=high if is_as_long else 0.0)
    # From the first point on: there is none before 500 words, which is half of a short novel.
    if places := sorted({place for values in points.values() for place in values}):
        beside = 0.05 * (places[-1] - places[0]) or 50
        axes.set_xlim(places[0] - beside, places[-1] + beside)
    _save(figure, axes, path, _BARS)


def preferences(results: Sequence[Result], path: Path) -> None:
    """Plot the mean preference for the first system over each other, all genres, with its interval; a panel per criterion."""
    criteria = list(dict.fromkeys(one.criterion for one in results))
    others = list(dict.fromkeys(one.second for one in results))[::-1]
    figure = Figure(figsize=(_SIZE[0], 1.2 + 0.4 * len(others)), layout="constrained")
    for axes, criterion in zip(figure.subplots(1, len(criteria), sharey=True, squeeze=False)[0], criteria, strict=True):
        mine = [one for one in results if one.criterion == criterion]
        rates = [100 * one.found.rate for one in mine]
        reach = [[100 * (one.found.rate - max(0.0, one.found.low)) for one in mine]]
        reach.append([100 * (min(1.0, one.found.high) - one.found.rate) for one in mine])
        places = [others.index(one.second) for one in mine]
        axes.errorbar(rates, places, xerr=reach, fmt="o", color="black", capsize=3, clip_on=False)
        axes.axvline(50, color="black", linewidth=0.8, linestyle=":")
        axes.set_xlim(0, 100)
        axes.set_ylim(-0.6, len(others) - 0.4)
        axes.set_yticks(range(len(others)), others)
        axes.set_xlabel(f"{criterion}: {mine[0].first} preferred, %")
        axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=120, metadata=_META)


def wins(shares: Mapping[tuple[str, str], float], systems: Sequence[str], path: Path) -> None:
    """Plot who is preferred to whom: a cell is the mean preference for its row over its column."""
    side = 1.6 + 0.62 * len(systems)
    figure = Figure(figsize=(side + 1.2, side), layout="constrained")
    axes = figure.subplots()
    cells = [[100 * shares.get((row, column), nan) for column in systems] for row in systems]
    axes.imshow(cells, cmap=_PREFERENCE, vmin=0, vmax=100)
    for y, row in enumerate(cells):
        for x, share in enumerate(row):
            if not isnan(share):
                axes.text(
                    x, y, f"{share:.0f}", ha="center", va="center", color="white" if abs(share - 50) > 35 else "black"
                )
    axes.set_xticks(range(len(systems)), systems, rotation=40, ha="right")
    axes.set_yticks(range(len(systems)), systems)
    axes.set_xlabel("over")
    axes.set_ylabel("preferred, %")
    figure.savefig(path, dpi=120, metadata=_META)


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
    """Draw every system's mean, and its interval, or both premises where there are two; the picture holds all of it."""
    highest = least
    for system, values in systems.items():
        places = sorted(values)
        means = [mean(values[place]) for place in places]
        counts = [len(values[place]) for place in places]
        spans = [
            mean_interval(values[place]) if len(values[place]) >= FEWEST_FOR_INTERVAL else _NO_BAR for place in places
        ]
        _bars(axes, system, places, means, spans, f"{system}, {_counted(min(counts), max(counts), 'premise')}")
        few = [place for place in places if 1 < len(values[place]) < FEWEST_FOR_INTERVAL]
        pairs = [(place, value) for place in few for value in values[place]]
        look = {**_look(system), "linestyle": "none", "markersize": 3}
        axes.plot([x for x, _ in pairs], [y for _, y in pairs], transform=_aside(axes, system), **look)
        reached = [high for _, high in spans if not isnan(high)]
        highest = max(highest, *means, *reached, *(value for _, value in pairs))
    axes.set_ylim(0, 1.05 * highest or 1.0)


def _bars(
    axes: Any, system: str, places: Sequence[float], means: list[float], spans: list[tuple[float, float]], label: str
) -> None:
    """Draw a line with an interval at every place, moved aside by a point or two, so that none stands upon another's."""
    reach = [[abs(middle - low) for middle, (low, _) in zip(means, spans, strict=True)]]
    reach.append([abs(high - middle) for middle, (_, high) in zip(means, spans, strict=True)])
    axes.update_datalim(list(zip(places, means, strict=True)))
    axes.errorbar(
        places,
        means,
        yerr=reach,
        label=label,
        transform=_aside(axes, system),
        capsize=2,
        elinewidth=0.8,
        **_look(system),
    )


def _aside(axes: Any, system: str) -> Any:
    """Return where a system's points stand, a point or two beside those of others."""
    aside = 0.7 * (_place(system) - len(all_systems()) / 2) / 72
    return axes.transData + ScaledTranslation(aside, 0, axes.figure.dpi_scale_trans)


def _counted(fewest: int, most: int, what: str) -> str:
    """Return how many there are, `1 premise` or `5 premises, 3 where fewest`."""
    many = f"{most} {what}{'' if most == 1 else 's'}"
    return many if fewest == most else f"{many}, {fewest} where fewest"


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
