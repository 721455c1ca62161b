"""The figures of a run: what every novel measures, how systems compare, how far judges and people agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import mean
from typing import Any

from recurrentgpt.studies.baselines.catalogue import find_system
from recurrentgpt.studies.judging.pairwise import counted_judges
from recurrentgpt.studies.judging.statistics import (
    FEWEST_FOR_INTERVAL,
    Comparison,
    agreement,
    alt_test,
    at_equal_length,
    compare,
    holm,
    mean_interval,
)
from recurrentgpt.studies.measures.catalogue import all_measures
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.runs.folder import RunFolder, missing_rivals
from recurrentgpt.studies.runs.plan import Plan, Price
from recurrentgpt.studies.runs.schemas import NovelRecord
from recurrentgpt.studies.study_context import TOLERANCE

POOLED = "all genres"
STOPPED = ", stopped"
"""Behind the name of a system whose novel failed, as far as it was written."""
_FILES = {"judges": ("verdicts.jsonl", "judge"), "people": ("labels.jsonl", "annotator")}
"""Where verdicts are kept, and the field that tells whose they are."""


@dataclass(frozen=True)
class Result:
    """One comparison and where it comes from."""

    source: str
    """`judges` or `people`."""
    genre: str
    criterion: str
    first: str
    second: str
    found: Comparison
    holm: float | None
    """p adjusted over pairs of systems and criteria; only pooled results are tested."""
    novels: int
    """Novels of each of the two."""
    words: tuple[float, float]
    """Mean words of the novels of both."""
    equal_length: float | None
    """Mean preference that is to be expected of novels of the same length; None of too few premises."""
    off: tuple[int, int]
    """How many of the novels of each are longer or shorter than asked for by more than a tenth."""
    failed: tuple[int, int]
    """How many novels each failed to finish where the other did."""
    failures_lost: float | None
    """The rate where each of those counts as lost; None as long as not all pairs that are finished have been compared."""


def measured_row(novel: NovelRecord, price: Price | None = None) -> Row:
    """Return everything that is measured of one novel, flat, as a row; what it cost where there is a price."""
    system, usage = find_system(novel["system"]), novel["usage"]
    read: dict[str, int | None] = {name: usage[name] for name in ("input_tokens", "cached_tokens")}
    if novel["outdated"]:
        # A recording's count is of the prompts that it answered, and these are others.
        read = dict.fromkeys(read)
    row: dict[str, Any] = {
        "novel": novel["id"],
        **{name: novel[name] for name in ("system", "genre", "number", "unit", "words", "target")},
        "off_target": round(novel["words"] / novel["target"] - 1, 4),
        "off_by_over_a_tenth": int(is_off(novel)),
        "words_a_passage": round(novel["words"] / max(1, len(novel["passages"]))),
        "calls": usage["calls"],
        **read,
        "output_tokens": usage["output_tokens"],
        "tokens_per_1000_words": None if novel["outdated"] else _per_1000(novel),
        "seconds": round(usage["seconds"], 1),
        "changed_prompts": novel["outdated"],
    }
    if price:
        spent = usage["input_tokens"] * price.input + usage["output_tokens"] * price.output
        row["money"] = None if novel["outdated"] else round(spent / 1_000_000, 4)
    for measure in all_measures().values():
        values = measure.compute(novel, system)
        row |= {column: values.get(column) for column in measure.columns}
    return row


def _per_1000(novel: NovelRecord) -> int:
    spent = novel["usage"]["input_tokens"] + novel["usage"]["output_tokens"]
    return round(1000 * spent / max(1, novel["words"]))


def measured_rows(folder: RunFolder) -> list[Row]:
    """Return what is measured of every novel of a run; those that stopped before their end stand under a name of their own."""
    price = folder.plan.price
    rows = [{**measured_row(novel, price), "stopped": 0} for novel in folder.novels()]
    for novel in folder.stopped_novels():
        rows.append({**measured_row(novel, price), "system": f"{novel['system']}{STOPPED}", "stopped": 1})
    return rows


def named_systems(plan: Plan, rows: list[Row]) -> list[str]:
    """Return the names under which rows have measures, in the order of the plan."""
    known = {row["system"] for row in rows}
    return [name for system in plan.systems for name in (system, f"{system}{STOPPED}") if name in known]


def preferences(folder: RunFolder, source: str) -> dict[tuple[str, str, str], dict[str, float]]:
    """Return by (first, second, criterion) the mean preference for the first on every unit.

    Only judges of the plan count that qualified and are not of the generator's own family, and rivals whose runs are there.
    """
    (name, who), missing = _FILES[source], missing_rivals(folder.plan)
    counted = counted_judges(folder)
    # By who gave it: the last verdict counts, so that what somebody said twice counts once.
    gathered: dict[tuple[str, str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in folder.rows(name):
        if row["second"] not in missing and (source == "people" or row["criterion"] in counted.get(row["judge"], ())):
            key = (row["first"], row["second"], row["criterion"])
            gathered[key][row["unit"]][row[who]] = float(row["preference"])
    return {key: {unit: mean(given.values()) for unit, given in units.items()} for key, units in gathered.items()}


@dataclass(frozen=True)
class Orders:
    """What a judge said in both orders of the pairs that it was shown."""

    judge: str
    pairs: int
    agree: int
    """Pairs on which both orders name the same text."""
    flips: int
    """Pairs on which the verdict follows the order: whichever text is shown first, or second, wins."""
    ties: int
    """Pairs of which a tie is said in both orders."""
    half: int
    """Pairs of which a tie is said in one order."""
    first: float | None
    """Share of verdicts, ties left out, for the text that is shown first; one half follows no order."""


def orders(folder: RunFolder) -> list[Orders]:
    """Return per judge of the plan how its verdicts depend on the order; verdicts of earlier versions kept none."""
    said: dict[str, list[tuple[str, str]]] = {judge.model: [] for judge in folder.plan.judges}
    for row in folder.rows("verdicts.jsonl"):
        if row["judge"] in said and "orders" in row:
            said[row["judge"]].append(tuple(row["orders"]))
    found: list[Orders] = []
    for judge, pairs in said.items():
        decided = [side for pair in pairs for side in pair if side != "tie"]
        flips, ties = sum(pair in (("A", "A"), ("B", "B")) for pair in pairs), pairs.count(("tie", "tie"))
        agree = pairs.count(("A", "B")) + pairs.count(("B", "A"))
        first = decided.count("A") / len(decided) if decided else None
        if pairs:
            found.append(Orders(judge, len(pairs), agree, flips, ties, len(pairs) - agree - flips - ties, first))
    return found


def results(folder: RunFolder) -> list[Result]:
    """Return every comparison in the order of the plan, per genre and pooled, of judges and of people.

    Pooled ones have Holm's adjustment. Seeds are no further premises: their preferences are averaged before anything else.
    """
    plan, novels = folder.plan, folder.compared_novels()
    gone = {row["novel"] for row in folder.failures()}
    failed = {(job.system, job.unit) for job in plan.jobs() if job.id in gone}
    found: list[Result] = []
    for source in ("judges", "people"):
        said = preferences(folder, source)
        keys = [(*pair, criterion) for criterion in plan.criteria for pair in _pairs(plan, said)]
        gathered = {key: by_premise(said[key], plan) for key in keys if key in said}
        pooled = {key: compare(list(values.values())) for key, values in gathered.items() if values}
        adjusted = dict(zip(pooled, holm([one.p for one in pooled.values()]), strict=True))
        for key in pooled:
            for genre in (*plan.genres, POOLED):
                values = [value for premise, value in gathered[key].items() if genre in (premise[0], POOLED)]
                if not values:
                    continue
                asked = dict.fromkeys(job.unit for job in plan.jobs() if genre in (job.genre, POOLED))
                units = [
                    unit for unit in asked if unit in said[key] and all((system, unit) in novels for system in key[:2])
                ]
                both = [[novels[system, unit] for unit in units] for system in key[:2]]
                mine = {premise: gathered[key][premise] for premise in gathered[key] if genre in (premise[0], POOLED)}
                # What a rival failed is its own run's.
                lost = [
                    [unit for unit in asked if (one, unit) in failed and (other, unit) in novels]
                    for one, other in (key[:2], key[1::-1])
                    if key[1] not in plan.rivals
                ] or [[], []]
                is_whole = all(unit in said[key] for unit in asked if all((one, unit) in novels for one in key[:2]))
                counted = {unit: said[key][unit] for unit in asked if unit in said[key]}
                counted |= dict.fromkeys(lost[0], 0.0) | dict.fromkeys(lost[1], 1.0)
                found.append(
                    Result(
                        source,
                        genre,
                        key[2],
                        *key[:2],
                        found=pooled[key] if genre == POOLED else compare(values),
                        holm=adjusted[key] if genre == POOLED else None,
                        novels=len(both[0]),
                        words=(mean_words(both[0]), mean_words(both[1])),
                        equal_length=at_equal_length(list(mine.values()), _lengths(mine, both)),
                        off=(sum(map(is_off, both[0])), sum(map(is_off, both[1]))),
                        failed=(len(lost[0]), len(lost[1])),
                        failures_lost=mean(by_premise(counted, plan).values()) if is_whole else None,
                    )
                )
    return found


def _pairs(plan: Plan, said: Iterable[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Return the pairs that a plan compares, and the others of its systems that have been compared, as verdicts name them."""
    others = {(first, second) for first, second, _ in said}
    return list(dict.fromkeys([*plan.compared(), *(pair for pair in combinations(plan.systems, 2) if pair in others)]))


def _lengths(premises: Iterable[tuple[str, int]], both: list[list[NovelRecord]]) -> list[tuple[float, float]]:
    """Return for each premise the mean words of the novels of both systems; 1 and 1 where one is not there."""
    found = []
    for premise in premises:
        mine = [[novel for novel in side if (novel["genre"], novel["number"]) == premise] for side in both]
        found.append((max(1.0, mean_words(mine[0])), max(1.0, mean_words(mine[1]))))
    return found


def win_rates(folder: RunFolder, source: str) -> dict[str, dict[tuple[str, str], float]]:
    """Return by criterion and two systems the mean preference for the first over premises, of all pairs compared."""
    shares: dict[str, dict[tuple[str, str], float]] = {criterion: {} for criterion in folder.plan.criteria}
    for (first, second, criterion), units in preferences(folder, source).items():
        values = by_premise(units, folder.plan) if criterion in shares else {}
        if values:
            shares[criterion][first, second] = mean(values.values())
            shares[criterion][second, first] = 1 - mean(values.values())
    return {criterion: pairs for criterion, pairs in shares.items() if pairs}


def by_premise(units: dict[str, float], plan: Plan) -> dict[tuple[str, int], float]:
    """Return by genre and number the mean over the seeds of a premise, in the order of the plan."""
    seeds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for unit, (genre, number) in {job.unit: (job.genre, job.number) for job in plan.jobs()}.items():
        if unit in units:
            seeds[genre, number].append(units[unit])
    return {premise: mean(values) for premise, values in seeds.items()}


def mean_words(novels: list[NovelRecord]) -> float:
    """Return the mean length of novels; 0 for none."""
    return float(sum(novel["words"] for novel in novels)) / max(1, len(novels))


def is_off(novel: NovelRecord) -> bool:
    """Tell whether a novel is longer or shorter than asked for by more than a tenth."""
    return bool(abs(novel["words"] / novel["target"] - 1) > TOLERANCE)


def slopes(rows: list[Row]) -> dict[str, tuple[float, float, float]]:
    """Return by system the slope of its prompts with the interval of 95 %, from novels long enough to have one.

    Of one premise it is the novels' own; of several, that of their mean, each premise the mean of its seeds; of two, which have
    none to speak of, both slopes.
    """
    names = ("prompt_slope", "prompt_slope_low", "prompt_slope_high")
    gathered: dict[str, dict[tuple[str, int], list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["prompt_slope"] is not None:
            gathered[row["system"]][row["genre"], row["number"]].append([row[name] for name in names])
    found: dict[str, tuple[float, float, float]] = {}
    for system, premises in gathered.items():
        of_each = [[mean(column) for column in zip(*novels, strict=True)] for novels in premises.values()]
        if len(of_each) == 1:
            found[system] = (of_each[0][0], of_each[0][1], of_each[0][2])
        else:
            steepness = sorted(each[0] for each in of_each)
            low, high = mean_interval(steepness) if len(steepness) >= FEWEST_FOR_INTERVAL else steepness
            found[system] = (mean(steepness), low, high)
    return found


def agreements(folder: RunFolder) -> list[Row]:
    """Return by criterion Krippendorff's alpha among judges and among people, and whether judges may stand for people."""
    return [row for criterion in folder.plan.criteria for row in _agreements(folder, criterion)]


def _agreements(folder: RunFolder, criterion: str) -> list[Row]:
    counted = counted_judges(folder)
    premise_of = {job.unit: f"{job.genre} {job.number}" for job in folder.plan.jobs()}
    raters: dict[str, dict[str, dict[str, float]]] = {"judges": {}, "people": {}}
    for source, (file, who) in _FILES.items():
        for row in folder.rows(file):
            is_heard = source == "people" or criterion in counted.get(row[who], ())
            if row["unit"] in premise_of and row["criterion"] == criterion and is_heard:
                item = "/".join((row["unit"], row["first"], row["second"]))
                raters[source].setdefault(row[who], {})[item] = float(row["preference"])
    rows: list[Row] = []
    for source, labels in raters.items():
        items = sorted({item for given in labels.values() for item in given})
        premises = [premise_of[item.partition("/")[0]] for item in items]
        ratings = [[given.get(item) for item in items] for given in labels.values()]
        alpha = agreement(ratings, premises) if items else None
        if alpha:
            rows.append({"criterion": criterion, "among": source, "raters": len(labels), "items": len(items), **alpha})
    people = {name: _over_seeds(given, premise_of) for name, given in raters["people"].items()}
    named = {item: item.rsplit("/", 2)[0] for given in people.values() for item in given}
    for judge, given in raters["judges"].items():
        if found := alt_test(_over_seeds(given, premise_of), people, named):
            rows.append(
                {"criterion": criterion, "among": f"{judge} for people", "raters": found.annotators, **asdict(found)}
            )
    return rows


def _over_seeds(given: dict[str, float], premise_of: dict[str, str]) -> dict[str, float]:
    """Return labels by premise instead of by unit, the mean of the seeds."""
    seeds: dict[str, list[float]] = defaultdict(list)
    for item, label in given.items():
        unit, _, rest = item.partition("/")
        seeds[f"{premise_of[unit]}/{rest}"].append(label)
    return {item: mean(labels) for item, labels in seeds.items()}


def by_system(rows: list[Row], name: str) -> dict[str, float]:
    """Return per system the mean of a measure over premises, each the mean of its seeds; novels without it are left out."""
    return {system: mean(premises.values()) for system, premises in of_premises(rows, name).items()}


def of_premises(rows: list[Row], name: str) -> dict[str, dict[tuple[str, int], float]]:
    """Return per system and premise, by genre and number, the mean of a measure over seeds; novels without it are left out."""
    values: dict[str, dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row[name] is not None:
            values[row["system"]][row["genre"], row["number"]].append(float(row[name]))
    return {
        system: {premise: mean(seeds) for premise, seeds in premises.items()} for system, premises in values.items()
    }
