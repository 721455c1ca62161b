"""The figures of a run: what every novel measures, how systems compare, how far judges and people agree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

from recurrentgpt.studies.folder import RunFolder
from recurrentgpt.studies.judges import Qualification
from recurrentgpt.studies.measures.entities import entities
from recurrentgpt.studies.measures.repetition import in_band, repetition
from recurrentgpt.studies.measures.steps import contract, prompt_tokens, slope
from recurrentgpt.studies.statistics import Comparison, agreement, alt_test, compare, holm
from recurrentgpt.studies.systems.catalogue import SYSTEMS

POOLED = "all genres"


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
    """p adjusted over baselines and criteria; only pooled results are tested."""


def measures(novel: dict[str, Any]) -> dict[str, Any]:
    """Return everything that is measured of one novel, flat, as a row."""
    system, text, usage = SYSTEMS[novel["system"]], novel["text"], novel["usage"]
    said, people = repetition(text), entities(text)
    remembers = system.recurrent and system.name != "no_short_term_memory"
    kept = contract(novel, recurrent=system.recurrent, remembers=remembers)
    grows = slope(prompt_tokens(novel), warm_up=min(3, len(novel["passages"]) // 4))
    band = in_band(said)
    return {
        "novel": novel["id"],
        "system": novel["system"],
        "genre": novel["genre"],
        "unit": novel["unit"],
        "words": novel["words"],
        "target": novel["target"],
        "off_target": round(novel["words"] / novel["target"] - 1, 4),
        "calls": usage["calls"],
        "input_tokens": usage["input_tokens"],
        "cached_tokens": usage["cached_tokens"],
        "output_tokens": usage["output_tokens"],
        "seconds": round(usage["seconds"], 1),
        **{name: round(value, 5) for name, value in asdict(said).items() if name != "words"},
        "in_human_band": None if band is None else sum(band.values()),
        "names": people.names,
        "conflicts": len(people.conflicts),
        "vanished": len(people.vanished),
        "steps": kept.steps,
        "passages_in_length": kept.passage,
        "memories_in_ceilings": kept.memory,
        "steps_with_3_plans": kept.plans,
        "first_try": round(kept.first_try, 4),
        "retries": kept.retries,
        "prompt_slope": round(grows.per_step, 3),
        "prompt_mean": round(grows.mean, 1),
    }


def preferences(folder: RunFolder, source: str) -> dict[tuple[str, str, str], dict[str, float]]:
    """Return by (first, second, criterion) the mean preference for the first on every unit.

    Only qualified judges are heard.
    """
    name = "verdicts.jsonl" if source == "judges" else "labels.jsonl"
    heard = {judge for judge, found in qualifications(folder).items() if found.qualified}
    gathered: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in folder.rows(name):
        if source == "people" or row["judge"] in heard:
            key = (row["first"], row["second"], row["criterion"])
            gathered[key][row["unit"]].append(float(row["preference"]))
    return {key: {unit: mean(values) for unit, values in units.items()} for key, units in gathered.items()}


def qualifications(folder: RunFolder) -> dict[str, Qualification]:
    """Return how each judge did on spoilt copies."""
    return {row["judge"]: Qualification(**row) for row in folder.rows("qualification.jsonl")}


def results(folder: RunFolder) -> list[Result]:
    """Return every comparison, per genre and pooled, of judges and of people; pooled ones with Holm's adjustment."""
    plan = folder.plan
    genre_of = {job.unit: job.genre for job in plan.jobs()}
    found: list[Result] = []
    for source in ("judges", "people"):
        gathered = preferences(folder, source)
        pooled = {key: compare(list(units.values())) for key, units in gathered.items()}
        adjusted = dict(zip(pooled, holm([one.p for one in pooled.values()]), strict=True))
        for key, units in gathered.items():
            first, second, criterion = key
            for genre in plan.genres:
                values = [value for unit, value in units.items() if genre_of.get(unit) == genre]
                if values:
                    found.append(Result(source, genre, criterion, first, second, compare(values), None))
            found.append(Result(source, POOLED, criterion, first, second, pooled[key], adjusted[key]))
    return found


def agreements(folder: RunFolder) -> list[dict[str, Any]]:
    """Return Krippendorff's alpha with its interval among judges and among people, and whether judges may stand for people."""
    heard = {judge for judge, found in qualifications(folder).items() if found.qualified}
    raters: dict[str, dict[str, dict[str, float]]] = {"judges": {}, "people": {}}
    for source, file, who in (("judges", "verdicts.jsonl", "judge"), ("people", "labels.jsonl", "annotator")):
        for row in folder.rows(file):
            if source == "people" or row[who] in heard:
                item = "/".join((row["unit"], row["first"], row["second"], row["criterion"]))
                raters[source].setdefault(row[who], {})[item] = float(row["preference"])
    rows: list[dict[str, Any]] = []
    for source, labels in raters.items():
        items = sorted({item for given in labels.values() for item in given})
        alpha = agreement([[given.get(item) for item in items] for given in labels.values()]) if items else None
        if alpha:
            rows.append({"among": source, "raters": len(labels), "items": len(items), **alpha})
    for judge, given in raters["judges"].items():
        stand = alt_test(given, raters["people"])
        if stand:
            rows.append({"among": f"{judge} for people", "raters": stand.humans, **asdict(stand)})
    return rows


def by_system(rows: list[dict[str, Any]], name: str) -> dict[str, float]:
    """Return the mean of a measure per system, novels without it left out."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row[name] is not None:
            values[row["system"]].append(float(row[name]))
    return {system: mean(found) for system, found in values.items()}
