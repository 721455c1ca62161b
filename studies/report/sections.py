"""What a report says: headings, sentences, tables and pictures, in a form that becomes HTML and Markdown alike."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from recurrentgpt.studies.folder import RunFolder
from recurrentgpt.studies.measures.steps import slope
from recurrentgpt.studies.report.figures import POOLED, Result, agreements, by_system, qualifications

WARM_UP = 20
"""Steps in which memories and windows fill."""

DEVIATIONS = (
    "The paper credits ties to both sides somewhere (18 of its 48 rows sum to over 100): here a tie is half a win, "
    "and the two sides sum to 100. The protocol and the direction are compared, not the digits.",
    "The unit of every test is the premise. The paper's three annotators per pair are not independent, and are not "
    "counted as if they were.",
    "rolling_unlimited is a control that the paper lacks: where its prompts fit the model's context, it forgets "
    "nothing.",
    "The window of rolling holds header and story together, in tokens of four characters.",
    "re3 and doc grade drafts by one call that grades them all: log-probabilities are constant on chat endpoints. "
    "doc is without its trained controller, as in the paper, and its leaf ends early only once it has half its "
    "words, so that lengths match.",
    "Prose of recurrentgpt and rolling passes the same guard against headings, scripts and loops; recurrentgpt "
    "alone is also watched for copies of its earlier passages, and on the embedded model it alone has a grammar of "
    "scenes. Drafts of re3 and doc are judged by their own rules.",
    "Automatic verdicts on what is interesting are weak evidence. The measures without a judge come first for that "
    "reason.",
)


@dataclass(frozen=True)
class Table:
    """Rows of text under headings."""

    headings: list[str]
    rows: list[list[str]]


@dataclass
class Section:
    """One part of a report."""

    heading: str
    texts: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    """File and caption."""


def cost_section(folder: RunFolder, rows: list[dict[str, Any]]) -> Section:
    """Return what the novels are and what they cost."""
    names = ("words", "off_target", "calls", "input_tokens", "cached_tokens", "output_tokens", "seconds")
    return Section(
        "Novels and their cost",
        ["Means per novel. `off target` is the share by which novels are longer or shorter than asked for."],
        [_means(folder, rows, names)],
    )


def measure_section(folder: RunFolder, rows: list[dict[str, Any]]) -> Section:
    """Return the measures without a judge."""
    names = (
        "repeated_4grams", "zlib_ratio", "mtld", "distinct_2", "in_human_band", "names", "conflicts", "vanished",
    )  # fmt: skip
    kept = ("steps", "passages_in_length", "memories_in_ceilings", "steps_with_3_plans", "first_try", "retries")
    return Section(
        "Measures without a judge",
        [
            "Repetition: four classics have in windows of 6,000 words 0.2-1.5 % of repeated 4-grams, a zlib "
            "ratio of 2.37-2.56 and "
            "an MTLD of 84-134, and 0.87-0.93 of different word pairs in windows of 1,000. `in human band` "
            "counts how many of the four "
            "lie there, for novels of that length. These detect repetition, never coherence.",
            "`conflicts` are eyes, hair, ages and hands that change; `vanished` are names of the first half "
            "that the second never has.",
            "The contract of each step, and prompt tokens per call against the step: a slope of 0 is a prompt "
            "that does not grow.",
        ],
        [_means(folder, rows, names), _means(folder, rows, (*kept, "prompt_slope", "prompt_mean"))],
        [("prompts.png", "Prompt tokens per call against the step"), ("repetition.png", "Repetition against words")],
    )


def recall_section(rows: list[dict[str, Any]]) -> Section:
    """Return the recall of planted facts at four levels."""
    section = Section(
        "Recall of planted facts",
        [
            "A scripted author plants a fact in every passage; a later plan needs it without saying it. Shown "
            "is how often it was "
            "there: found by the long-term memory, held by the short-term memory, in the prompt, in the text. A "
            "window of tokens falls "
            "off where it ends, which shows that the measure works."
        ],
    )
    for level in ("retrieval", "memory", "prompt", "text"):
        ways = sorted({int(way) for row in rows for way in row[level]})
        body = [
            [
                row["system"],
                *(_share(dict((int(key), value) for key, value in row[level].items()).get(way)) for way in ways),
            ]
            for row in rows
        ]
        section.tables.append(Table([level, *map(str, ways)], body))
        section.pictures.append((f"recall-{level}.png", f"Facts there against distance: {level}"))
    section.texts.append(
        f"Prompt tokens of each step of these runs, the first {WARM_UP} left out while memories fill: the slope per step "
        "with its interval of 95 %. 0 within the interval is a prompt that does not grow."
    )
    slopes = [(row["system"], slope(row["prompt_tokens"], warm_up=WARM_UP)) for row in rows]
    section.tables.append(
        Table(
            ["prompt tokens", "steps", "mean", "slope per step", "interval"],
            [
                [system, str(one.steps), f"{one.mean:,.0f}", f"{one.per_step:.3f}", f"{one.low:.3f} to {one.high:.3f}"]
                for system, one in slopes
            ],
        )
    )
    return section


def table_section(results: list[Result], source: str, name: str) -> Section:
    """Return the preferences in the shape of the paper's tables: genre by criterion, both systems' shares, the paper's beside."""
    found = [result for result in results if result.source == source]
    paper = _paper(name)
    section = Section(f"{_title(name)}: preferred by {source}")
    if not found:
        section.texts.append(
            "No qualified judge has compared these novels."
            if source == "judges"
            else "Nobody has labelled these novels yet."
        )
        return section
    section.texts.append(
        "Per cent of premises on which each system is preferred, ties as half. Intervals: BCa bootstrap over "
        "premises, 95 %. "
        "p: sign-flip permutation test, Holm over baselines and criteria; per genre nothing is tested, for "
        "twenty premises "
        "have a power of a fifth at a true rate of 60 %."
    )
    if not paper:
        section.texts.append(
            "The paper's own figures are not part of this program's notes, so that its column is empty."
        )
    rows = []
    for one in found:
        rate = one.found
        key = f"{one.genre}/{one.second}/{one.criterion}"
        rows.append(
            [
                one.genre,
                one.criterion,
                f"{one.first} : {one.second}",
                f"{100 * rate.rate:.0f} : {100 - 100 * rate.rate:.0f}",
                f"{100 * rate.low:.0f} to {100 * rate.high:.0f}",
                f"{rate.wins}/{rate.ties}/{rate.losses}",
                "" if one.holm is None else f"{rate.p:.4f}",
                "" if one.holm is None else f"{one.holm:.4f}",
                "" if one.holm is None else f"{rate.sign_p:.4f}",
                paper.get(key, ""),
            ]
        )
    headings = [
        "genre", "criterion", "systems", "preferred, %", "interval", "won/tied/lost", "p", "Holm p", "sign "
        "test", "paper",
    ]  # fmt: skip
    section.tables.append(Table(headings, rows))
    return section


def matrix_section(folder: RunFolder, results: list[Result]) -> Section:
    """Return who wins against whom, pooled over genres and criteria."""
    systems = folder.plan.systems
    shares: dict[tuple[str, str], list[float]] = {}
    for one in results:
        if one.genre == POOLED:
            shares.setdefault((one.first, one.second), []).append(one.found.rate)
            shares.setdefault((one.second, one.first), []).append(1 - one.found.rate)
    body = [
        [row, *(f"{100 * sum(got) / len(got):.0f}" if (got := shares.get((row, column))) else "" for column in systems)]
        for row in systems
    ]
    return Section(
        "Win matrix",
        ["Per cent of premises on which the row is preferred to the column, all genres, criteria and sources."],
        [Table(["", *systems], body)],
    )


def judge_section(folder: RunFolder) -> Section:
    """Return which judges are believed, how far they agree, and where they failed."""
    section = Section(
        "Judges and annotators",
        [
            "A judge qualifies by telling stories from spoilt copies (sentences shuffled, paragraphs doubled, "
            "names swapped) in both "
            "orders, 95 % of the time. The verdicts of one that does not are not used."
        ],
    )
    family = folder.plan.family
    kin = {judge.model for judge in folder.plan.judges if family and judge.family == family}
    rows = [
        [
            found.judge + (" (the generator's own family)" if found.judge in kin else ""),
            f"{found.right}/{found.pairs}",
            *(f"{found.by_kind.get(kind, 0):.2f}" for kind in ("shuffled", "doubled", "swapped")),
            "qualified" if found.qualified else "not qualified",
        ]
        for found in qualifications(folder).values()
    ]
    section.tables.append(Table(["judge", "right", "shuffled", "doubled", "swapped", ""], rows))
    for row in agreements(folder):
        if "alpha" in row:
            section.texts.append(
                f"Krippendorff's alpha among {row['raters']} {row['among']} on {row['items']} items: {row['alpha']:.2f} "
                f"({row['low']:.2f} to {row['high']:.2f})."
            )
        else:
            may = "may stand for" if row["passes"] else "may not stand for"
            section.texts.append(
                f"{row['among'].removesuffix(' for people')} {may} the {row['humans']} annotators (alt-test: it beats "
                f"{row['beaten']}, mean winning rate {row['rate']:.2f})."
            )
    if failures := folder.rows("judge_failures.jsonl"):
        section.texts.append(f"{len(failures)} verdicts or judges failed; the first: {failures[0]['error']}")
    return section


def run_section(folder: RunFolder) -> Section:
    """Return what ran, what failed, and where the protocol differs from the paper's."""
    manifest, plan = folder.manifest, folder.plan
    novels = folder.novels()
    total, done = len(list(plan.jobs())), len(novels)
    models = sorted({name for novel in novels for name in novel["models"]})
    outdated = sum(novel["outdated"] for novel in novels)
    facts = [
        ["plan", plan.name],
        ["novels", f"{done} of {total}"],
        ["begun", manifest["created"]],
        ["commit", manifest["commit"]],
    ]
    facts += [["models", ", ".join(models)]]
    facts += [[name, value] for name, value in manifest["versions"].items()]
    facts += [["seeds", ", ".join(map(str, plan.seeds))], ["answered from", plan.replay or "a model"]]
    section = Section("The run", tables=[Table(["", ""], facts)])
    if outdated:
        section.texts.append(
            f"{outdated} prompts have changed since the recording was made and were answered in its order: this shows that "
            "the program runs, and not how a model writes with these prompts."
        )
    failures = folder.failures()
    if failures:
        section.texts.append(f"{len(failures)} novels failed and are in no figure:")
        section.tables.append(Table(["novel", "error"], [[row["novel"], row["error"]] for row in failures]))
    return section


def deviation_section() -> Section:
    """Return where the protocol differs from the paper's."""
    return Section("Deviations from the paper", list(DEVIATIONS))


def _means(folder: RunFolder, rows: list[dict[str, Any]], names: tuple[str, ...]) -> Table:
    columns = {name: by_system(rows, name) for name in names}
    count = {system: sum(row["system"] == system for row in rows) for system in folder.plan.systems}
    body = [
        [system, str(count[system]), *(_number(columns[name].get(system)) for name in names)]
        for system in folder.plan.systems
        if count[system]
    ]
    return Table(["system", "n", *(name.replace("_", " ") for name in names)], body)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _share(tally: Any) -> str:
    return f"{tally[0] / tally[1]:.2f}" if tally and tally[1] else ""


def _title(name: str) -> str:
    return {"table1": "Table 1", "table2": "Table 2"}.get(name, "Table 1 and 2, in small")


def _paper(name: str) -> dict[str, str]:
    """Return the paper's figures of a table, `ours : theirs` by genre, system and criterion, as far as noted."""
    text = (resources.files("recurrentgpt.studies") / "data" / "paper.toml").read_text(encoding="utf-8")
    table: dict[str, str] = tomllib.loads(text).get(name, {})
    return table
