"""What a report says of costs, measures, recall, judges and the run itself; `preferences` holds what it says of preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path
from statistics import mean
from typing import Any

from scipy.stats import binom

from recurrentgpt.studies.baselines.catalogue import find_system
from recurrentgpt.studies.baselines.write_prose import SAMPLES
from recurrentgpt.studies.judging import pairwise as judges
from recurrentgpt.studies.judging.adherence import Adherence, adherence
from recurrentgpt.studies.judging.statistics import FEW, FEWEST_FOR_INTERVAL, FEWEST_TESTED, mean_interval
from recurrentgpt.studies.measures.catalogue import all_measures
from recurrentgpt.studies.measures.planted import passages_in, window_reach
from recurrentgpt.studies.measures.step_contract import PROMPT_GROWTH, slope
from recurrentgpt.studies.measures.world_author import memory_half_life
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.recording.recording import recorded_days
from recurrentgpt.studies.report.document import Picture, Section, Table
from recurrentgpt.studies.report.figures import (
    STOPPED,
    agreements,
    by_system,
    measured_rows,
    named_systems,
    of_premises,
    orders,
    slopes,
)
from recurrentgpt.studies.runs.costs import CORRUPTED_NOVELS, CORRUPTION_KINDS
from recurrentgpt.studies.runs.folder import RunFolder, missing_rivals
from recurrentgpt.studies.runs.plan import Plan, recordings_folder
from recurrentgpt.studies.runs.schemas import NovelRecord
from recurrentgpt.studies.study_context import Guards

_BARS = (
    "a line is the mean over premises, each the mean of its seeds; bars are its 95 % intervals, Student's of fewer than "
    f"{FEW} premises and the BCa bootstrap's from there on; of two premises both are dots, and systems stand side by side"
)
_SPREAD = (
    "In brackets behind a mean stands its 95 % interval over premises, as in plots, or what both have where there are two, and "
    "nothing where all are equal; `n` where a figure is of fewer premises than its row. What all novels have alike stands below "
    "the table. None of these intervals is adjusted for how many there are."
)
_PAIRED = "A second table has what each system has less what {first} has of the same premises."
_EXCERPT = 40
"""Words of a novel's beginning and of its end that are shown."""
_LISTED = 20
"""Novels off their target that are listed."""
FEWEST_TO_DECIDE = 6
"""Premises below which the sign-flip test cannot have p below .05."""
WARM_UP = 20
"""Steps in which memories and windows fill."""
_Cell = Callable[[str, Sequence[float], int], str]
"""What stands in a table for a figure of this name, with these values, of so many premises."""

GUARDS: dict[Guards, str] = {
    "own": "Guards: own. Each system has those it was made with, and recurrentgpt has most: repetition and format do not compare "
    'like with like here. A plan with `guards = "none"` or `"shared"` does.',
    "shared": "Guards: shared. Copies and loops are kept out of every system that writes an earlier passage which it could "
    "copy. How many samples a passage has is not alike: the table says it. Where none of them can be used it comes in one piece, "
    "and of that what is mostly repetition stands: no system fails for it, and none is without repetition.",
    "none": "Guards: none, of any system's passages: a passage is what the model said in one call, cut to its length. Plans keep "
    "theirs, which the last column has: what stands in a plan comes into the passage. A dealt move is one of the program's own "
    "turns of a story (somebody leaves, a promise is kept), after which the model makes up a plan.",
}


def cost_section(folder: RunFolder, rows: list[Row]) -> Section:
    """Return what the novels are and what they cost."""
    names: tuple[str, ...] = (
        "words", "off_target", "words_a_passage", "calls", "input_tokens", "output_tokens", "tokens_per_1000_words"
    )  # fmt: skip
    timed = "`seconds` and `cached tokens` are in measures.csv: those of a recording depend on what its machine did beside it."
    if not folder.plan.replay:
        names += ("cached_tokens", "seconds")
        timed = (
            "`cached tokens` are those of the input that a server had read before and says so. `seconds` are those of a novel's "
            "calls: novels that were written side by side have waited for each other."
        )
    if folder.plan.price:
        names += ("money",)
    if any(row["changed_prompts"] for row in rows):
        names += ("changed_prompts",)
    section = Section(
        "Novels and their cost",
        [
            _about(folder),
            *_cautions(folder),
            Table(
                ["system", "what it is"],
                [[name, find_system(name).description] for name in folder.plan.systems],
                "What the systems are",
            ),
            "What a novel has and costs: the mean over premises, each the mean of its seeds. `off target` is the share by which "
            "novels are longer or shorter than asked for, whichever it is; `words a passage` are 200 to 400 where a system keeps "
            "to what it is asked, but for one_shot, re3 and doc, whose passages have lengths of their own. Where a reader cut a "
            f"reply short, its tokens are estimates. {timed}",
            _systems_table(
                folder,
                [{**row, "off_target": abs(row["off_target"])} for row in rows],
                names,
                "What a novel has and costs",
                _mean,
            ),
        ],
    )
    ended = sum(not row["stopped"] for row in rows)
    off = [
        [row["novel"], f"{row['words']:,}", f"{row['target']:,}", f"{100 * row['off_target']:+.1f} %"]
        for row in rows
        if row["off_by_over_a_tenth"] and not row["stopped"]
    ]
    if off:
        listed = f"; the first {_LISTED} are listed, and all are in measures.csv" if len(off) > _LISTED else ""
        section.parts += [
            f"Off by more than a tenth are {len(off)} of {ended} novels{listed}.",
            Table(["novel off its target", "words", "asked for", "off"], off[:_LISTED], "Novels off their target"),
        ]
    return section


def _about(folder: RunFolder) -> str:
    """Return what the novels are, who wrote them, and who has judged them."""
    novels = [*folder.novels(), *folder.stopped_novels()]
    asked = sorted({novel["target"] for novel in novels})
    words = " or ".join(f"{one:,}" for one in asked) if len(asked) < 4 else f"{asked[0]:,} to {asked[-1]:,}"
    models = " and ".join(_models(novels)) or "a model that is not known"
    heard = [who for file, who in (("verdicts.jsonl", "judges"), ("labels.jsonl", "people")) if folder.rows(file)]
    judged = (
        f"{' and '.join(heard).capitalize()} have compared them."
        if heard
        else "Neither a judge nor anybody else has compared them."
    )
    wrote = f"{len(novels)} novel{'s' * (len(novels) > 1)} of {words} words asked for"
    systems = len({novel["system"] for novel in novels})
    return f"{wrote}, by {systems} system{'s' * (systems > 1)} on {models}, guards: {folder.plan.guards}. {judged}"


def _models(novels: Sequence[NovelRecord]) -> list[str]:
    """Return the names of the models that wrote some novels."""
    return sorted({name for novel in novels for name in novel["models"]})


def excerpts_section(folder: RunFolder) -> Section:
    """Return how the novels of the first premise begin and end, as they were written."""
    novels = [*folder.novels(), *folder.stopped_novels()]
    first = next(iter(novels))
    mine = [novel for novel in novels if novel["unit"] == first["unit"]]
    rows = []
    for novel in mine:
        words = novel["text"].split()
        ends = " ".join(words[max(_EXCERPT, len(words) - _EXCERPT) :])
        rows.append([novel["system"], " ".join(words[:_EXCERPT]), ends])
    return Section(
        "How they read",
        [
            f"The first and the last {_EXCERPT} words of each novel of {first['genre']} {first['number']}, untouched. Of all: "
            f"{first['premise']}",
            Table(["system", "begins", "ends"], rows, "How the novels read"),
        ],
    )


def _cautions(folder: RunFolder) -> list[str]:
    """Return what a reader has to know before the first table, a sentence each."""
    novels, said = folder.novels(), list[str]()
    if outdated := sum(novel["outdated"] for novel in novels):
        said.append(
            f"{outdated} prompts have changed since the recording was made, `changed prompts` by novel, and got the next reply "
            "of the same role and step, or the last one again: this shows that the program runs, and not how a model writes "
            "with these prompts. Calls and output tokens are those of this replay, which asks again where such a reply cannot be "
            "used; what would be counted of the prompts themselves is blank."
        )
    premises = len({(novel["genre"], novel["number"]) for novel in novels})
    if premises < FEWEST_TO_DECIDE:
        said.append(
            f"{'1 premise decides' if premises == 1 else f'{premises} premises decide'} nothing: even if all went one way, the "
            f"sign-flip test would give p = {min(1.0, 2 / 2**premises):.2g}. What differs here may be chance."
        )
    return said


def runs_section(folders: Mapping[str, RunFolder]) -> Section:
    """Return what is measured of the systems of one run or several without a judge, by the name of each run."""
    names = ("words", "words_a_passage", "input_tokens", "first_try", "repeated_4grams", "contradictions_per_10000")
    rows, cautions = list[list[str]](), list[str]()
    for run, folder in folders.items():
        measured = measured_rows(folder)
        values = {name: of_premises(measured, name) for name in names}
        models = " and ".join(_models(folder.novels())) or "not known"
        cautions += [f"{run}: {caution}" for caution in (f"the model is {models}.", *_cautions(folder))]
        for system in named_systems(folder.plan, measured):
            many = _premises(measured, system)
            figures = [_spread(list(values[name].get(system, {}).values()), many) for name in names]
            rows.append([run, system, folder.plan.guards, str(many), *figures])
    title = "Runs side by side" if len(folders) > 1 else "The systems side by side"
    return Section(
        title,
        [
            *cautions,
            "Means over premises, each the mean of its seeds, with the interval or, of two premises, both values; `n` where a "
            "figure is of fewer premises than its row. Runs with other guards, models or lengths do not compare like with like, "
            "except in that one thing. The report of each run is in the folder of its name.",
            Table(
                ["run", "system", "guards", "premises", *(name.replace("_", " ") for name in names)],
                rows,
                title,
            ),
        ],
    )


def guards_table(plan: Plan) -> Table:
    """Return which guards the systems of a plan have, as the plan has it; those that have the same stand in one row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in plan.systems:
        alike.setdefault(_guards_of(name, plan.guards), []).append(name)
    headings = [
        f"guards: {plan.guards}",
        "copies",
        "loops",
        "a passage",
        "grammar, embedded model",
        "examples, embedded model",
        "plans",
    ]
    return Table(headings, [[", ".join(names), *cells] for cells, names in alike.items()], f"Guards: {plan.guards}")


def _guards_of(name: str, guards: Guards) -> tuple[str, ...]:
    """Return what a row says of a system's guards."""
    system = find_system(name)
    dealt = "dealt moves, embedded model; asked again where alike" if guards == "own" else "dealt moves, embedded model"
    samples = SAMPLES[guards] if guards != "own" else system.own_samples
    own = system.own_guards if guards == "own" else frozenset[str]()
    kept_out = {"copies", "loops"} if guards == "shared" and system.watched else own
    grammar = next((what for what in ("scenes", "sentences") if what in own), "")
    return (
        *("kept out" if what in kept_out else "let stand" for what in ("copies", "loops")),
        f"up to {samples} samples, each going on{', then one piece' * (guards == 'shared')}"
        if system.own_samples and samples > 1
        else "comes in one piece",
        f"of {grammar}" if grammar else "none",
        "yes" if "examples" in own else "none",
        dealt if system.deals_plans else "as said" if system.recurrent else "none",
    )


def measure_section(folder: RunFolder, rows: list[Row]) -> Section:
    """Return the measures without a judge, each as its text, its table and its plot."""
    section = Section(
        "Measures without a judge",
        [
            GUARDS[folder.plan.guards],
            guards_table(folder.plan),
            f"{_SPREAD} {_PAIRED.format(first=folder.plan.systems[0])}" if _is_paired(rows) else _SPREAD,
            f"In plots, {_BARS}.",
        ],
    )
    plots = {
        "repetition": Picture(
            "repetition.png",
            "Repeated 4-grams of the first 500 words, 1,000 and so on; people repeat less the shorter the text, and a novel of "
            "fewer words has no point",
        ),
        "prompt growth": Picture("prompts.png", "Prompt tokens per call against the step"),
    }
    for name, measure in all_measures().items():
        if all(row[column] is None for row in rows for column in measure.columns):
            continue  # no system of these has it
        caption = f"{name.capitalize()}, guards: {folder.plan.guards}"
        section.parts.append(measure.description)
        if measure is PROMPT_GROWTH:
            section.parts.append(_slopes(folder, rows, caption))
        else:
            apart = tuple(column for column in measure.columns if not _saturated(rows, column))
            if _known(rows, apart):
                shown = _systems_table(folder, rows, apart, caption, lambda _, own, many: _spread(own, many))
                section.parts.append(shown)
            if _is_paired(rows):
                section.parts += _less_first(folder, rows, apart, caption)
        section.parts += [
            f"All of {column.replace('_', ' ')} is {shared}: it tells no systems apart.{_room(rows, column)}"
            for column in measure.columns
            if (shared := _saturated(rows, column))
        ]
        section.parts += [plots[name]] if name in plots else []
    return section


def _saturated(rows: list[Row], column: str) -> str:
    """Return the value that all novels of several systems have; empty where they differ."""
    values = {row[column] for row in rows} - {None}
    systems = {row["system"] for row in rows if row[column] is not None}
    return _number(values.pop()) if len(values) == 1 and len(systems) > 1 else ""


def _room(rows: list[Row], column: str) -> str:
    """Return what could be there where no contradiction was found; nothing of other figures."""
    read = [row["words"] for row in rows if row[column] is not None]
    if column != "contradictions_per_10000" or _saturated(rows, column) != "0":
        return ""
    return (
        f" The {len(read)} novels of which it is have {sum(read):,} words: even of rules that missed nothing, none in all of "
        f"them would leave room for {30_000 / sum(read):.1f} per 10,000, and none in one of them for "
        f"{30_000 * len(read) / sum(read):.0f}."
    )


def _is_paired(rows: list[Row]) -> bool:
    """Tell whether there are premises enough for differences of systems to have an interval."""
    return len({(row["genre"], row["number"]) for row in rows}) >= FEWEST_FOR_INTERVAL


def _slopes(folder: RunFolder, rows: list[Row], caption: str) -> Table:
    means, steps, found = by_system(rows, "prompt_mean"), by_system(rows, "prompt_of_step"), slopes(rows)
    body: list[list[str]] = []
    for system in named_systems(folder.plan, rows):
        cells, many = ["", ""], _premises(rows, system)
        if system in found:
            middle, low, high = found[system]
            steep = {
                (row["genre"], row["number"])
                for row in rows
                if row["system"] == system and row["prompt_slope"] is not None
            }
            fewer = "" if len(steep) == many else f" (n = {len(steep)})"
            cells = [f"{middle:.3f}", f"{low:.3f} {'and' if len(steep) == 2 else 'to'} {high:.3f}{fewer}"]
        body.append([system, _number(means.get(system)), _number(steps.get(system)), *cells])
    headings = ["prompt tokens", "a call", "a step", "slope of a call per step", "interval, or both slopes of two"]
    return Table(headings, body, caption)


LEVELS = ("retrieval", "memory", "prompt", "text")


def shown_levels(rows: list[Row]) -> list[str]:
    """Return the levels of recall that a report shows: those that a system has, and that are not those of the one before."""
    shown: list[str] = []
    for level in known_levels(rows):
        if not shown or any(row[level] != row[shown[-1]] for row in rows):
            shown.append(level)
    return shown


def drawn_levels(rows: list[Row]) -> list[str]:
    """Return the levels of recall that are drawn: the memory's are the script's own, and need no picture."""
    return [level for level in shown_levels(rows) if level != "memory"]


def known_levels(rows: list[Row]) -> list[str]:
    """Return the levels of recall that a system has."""
    return [level for level in LEVELS if any(row[level] for row in rows)]


def recall_section(rows: list[Row], levels: Sequence[str] = (), systems: Sequence[str] = ()) -> Section:
    """Return the recall of planted facts at these levels, by default those of `shown_levels`.

    Of `systems`, those that have no rows are named.
    """
    section = Section(
        "Recall of planted facts",
        [
            "A scripted author of the full tier, and not the model of the novels, plants a fact in every passage; a later plan "
            "needs it without saying it. Shown is how often it was there whenever needed: found by the long-term memory, held "
            "by the short-term memory, in the prompt, in the text. This author uses what its prompt holds, always: the text "
            "follows from the prompt, and says nothing of what a model would do with it. The plan has the rare name "
            "of the fact's passage: the easiest case (`study recall --world` has harder ones). What it does not need its memory "
            f"forgets by chance, with a half-life of {memory_half_life():.1f} passages: the memory's figures are the script's "
            "and no model's. What a system does not have is left blank, and so is retrieval at distance 1: the last passage is "
            "in the prompt and is not searched for. Systems have prompts of different lengths, see the last table of this part.",
            f"Each figure is of {_tries(rows)} facts; passages are found by hashes of their words in place of an embedding "
            "model, whatever the novels were written with.",
        ],
    )
    unmeasured = [name for name in systems if not find_system(name).plants_facts]
    if "rolling_unlimited" in unmeasured:
        section.parts.append("rolling_unlimited is not measured: its prompts hold all, as long as they fit.")
    if others := [name for name in unmeasured if name != "rolling_unlimited"]:
        section.parts.append(
            f"Not measured {'is' if len(others) == 1 else 'are'} {', '.join(others)}: the scripted author cannot answer their "
            "prompts."
        )
    reaches = [(row["system"], reach) for row in rows if (reach := window_reach(row["system"])) is not None]
    section.parts += [
        f"By its arithmetic the window of {system} holds {reach:.1f} passages: beyond it facts should not be there."
        for system, reach in reaches
    ]
    budgets = [
        f"{passages_in(mean(row['prompt_tokens'][WARM_UP:])):.1f} passages for {row['system']}"
        for row in rows
        if find_system(row["system"]).window is None and row["prompt_tokens"][WARM_UP:]
    ]
    if budgets:
        section.parts.append(
            "These are no equal budgets. As many tokens as all prompts of a step have are, by the same arithmetic, a window of "
            f"{', '.join(budgets)}: it would have every fact up to there, and none beyond, and so do better than a table below "
            "shows where that ends before."
        )
    shown = levels or shown_levels(rows)
    if "text" not in shown:
        section.parts.append("The text has what the prompt had, without exception, and is not shown by itself.")
    for level in shown:
        ways = sorted({int(way) for row in rows for way in row[level]})
        body = [
            [
                row["system"],
                *(_share(dict((int(key), value) for key, value in row[level].items()).get(way)) for way in ways),
            ]
            for row in rows
        ]
        full = [name for name, *cells in body if {cell for cell in cells if cell} == {"1.00"}]
        if full:
            section.parts.append(
                f"{level.capitalize()} of {', '.join(full)} is 1.00 throughout: how far it would reach, it does not tell."
            )
        section.parts.append(Table([level, *map(str, ways)], body, f"Facts there against distance: {level}"))
        if level in drawn_levels(rows):
            caption = f"Facts there against distance: {level}; bars are Wilson's 95 % intervals"
            section.parts.append(Picture(f"recall-{level}.png", caption))
    section.parts.append(
        f"Prompt tokens of each step of these runs, the first {WARM_UP} left out while memories fill: the slope per step "
        "with its interval of 95 %. A wide interval with 0 in it shows neither that prompts grow nor that they do not: those of "
        "recurrentgpt grow by a line for each passage while all fit into their share of the window, and fall where they do not."
    )
    slopes = [(row["system"], slope(row["prompt_tokens"], warm_up=WARM_UP)) for row in rows]
    section.parts.append(
        Table(
            ["prompt tokens", "steps", "mean", "slope per step", "interval"],
            [
                [system, str(one.steps), f"{one.mean:,.0f}", f"{one.per_step:.3f}", f"{one.low:.3f} to {one.high:.3f}"]
                for system, one in slopes
            ],
            "Prompt tokens of a step",
        )
    )
    return section


def _tries(rows: list[Row]) -> str:
    """Return of how many facts the figures of recall are."""
    counts = {tally[1] for row in rows for level in LEVELS for tally in row[level].values()}
    return str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def adherence_section(folder: RunFolder) -> Section | None:
    """Return what judges have said of plans and passages; None where none has been asked."""
    if not (found := adherence(folder)):
        return None
    return Section(
        "Adherence to plans",
        [
            "A judge is shown a passage with the plan that was taken and those that were left, shuffled, and says of each "
            "whether it happens, with a quote: yes counts 1, partly 0.5. What is taken less what is left is the effect of the "
            "choice. Means over premises, with the interval of 95 % from three on; `adherence.jsonl` has every answer.",
            adherence_table(found),
        ],
    )


def adherence_table(found: Sequence[Adherence]) -> Table:
    """Return how far passages carry out plans, by judge and system."""
    headings = [
        "judge",
        "system",
        "premises",
        "passages",
        "plan taken happens",
        "plans left happen",
        "difference, 95 %",
    ]
    rows = [
        [
            one.judge,
            one.system,
            str(one.premises),
            str(one.passages),
            f"{one.taken:.2f}",
            "" if one.left is None else f"{one.left:.2f}",
            ("" if one.effect is None else f"{one.effect:.2f}")
            + ("" if one.low is None else f" ({one.low:.2f} to {one.high:.2f})"),
        ]
        for one in found
    ]
    return Table(headings, rows, "Adherence to plans")


def judge_section(folder: RunFolder) -> Section:
    """Return which judges are believed, how far they agree, and where they failed."""
    section = Section(
        "Judges and annotators",
        [
            "A judge qualifies, for each criterion, by telling stories from corrupted copies (sentences shuffled, paragraphs "
            f"doubled, two people exchanged) in both orders, {100 * judges.QUALIFIED:.0f} % of the time, of "
            f"{CORRUPTED_NOVELS * CORRUPTION_KINDS} pairs: {_odds()}. By a criterion for which it does not it is not asked, and "
            "one of the generator's own family never. A verdict that does not quote each text, at least four words in a row, or "
            "quotes what is not there, is spoilt. Of the pairs that it got wrong, a `flip` follows the order, and `contrary` is "
            "the copy preferred in both orders."
        ],
    )
    kin = judges.same_family_judges(folder)
    rows = [
        [
            found.judge + (" (the generator's own family)" if found.judge in kin else ""),
            found.criterion,
            f"{found.right}/{found.pairs}",
            *(f"{found.by_kind.get(kind, 0):.2f}" for kind in ("shuffled", "doubled", "swapped")),
            *(str(found.wrong.get(how, 0)) for how in judges.WRONG),
            "qualified" if found.qualified else "not qualified",
        ]
        for found in judges.qualifications(folder).values()
        if found.pairs
    ]
    if rows:
        headings = ["judge", "asked which is", "right", "shuffled", "doubled", "swapped", *judges.WRONG, ""]
        section.parts.append(Table(headings, rows, "How judges qualify"))
    else:
        section.parts.append("No judge has been asked.")
    if turned := orders(folder):
        section.parts += [
            "Each pair is judged in both orders. Kept of them is the raw verdict: a judge whose verdict flips follows the "
            "order, one that says tie twice sees no difference, and both count as ties.",
            Table(
                ["judge", "pairs", "same both times", "flips", "tie twice", "tie once", "for the first shown"],
                [
                    [one.judge, *map(str, (one.pairs, one.agree, one.flips, one.ties, one.half)), _share_of(one.first)]
                    for one in turned
                ],
                "Verdicts in both orders",
            ),
            *(
                f"The verdicts of {one.judge} follow the order on {one.flips} of {one.pairs} pairs: these are ties, and draw "
                "every preference towards 50."
                for one in turned
                if 2 * one.flips > one.pairs
            ),
        ]
    for row in agreements(folder):
        if "alpha" in row:
            section.parts.append(
                f"Krippendorff's alpha of {row['criterion']} among {row['raters']} {row['among']} on {row['items']} items, a "
                f"tie as far from either as they are from each other: {row['alpha']:.2f}"
                + ("." if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f}).")
            )
        elif row["passes"] is None:
            section.parts.append(
                f"On {row['criterion']} it cannot be told yet whether {row['among'].removesuffix(' for people')} may stand for "
                f"the {row['annotators']} annotators: the alternative annotator test wants {FEWEST_TESTED} premises, and of "
                f"{row['premises']} it would let a coin pass (mean advantage probability so far {row['advantage']:.2f})."
            )
        else:
            may = "may stand for" if row["passes"] else "may not stand for"
            section.parts.append(
                f"On {row['criterion']}, {row['among'].removesuffix(' for people')} {may} the {row['annotators']} annotators "
                f"(alternative annotator "
                f"test, epsilon {row['epsilon']:g}: it beats {row['beaten']}, winning rate {row['winning_rate']:.2f}, mean "
                f"advantage probability {row['advantage']:.2f})."
            )
    section.parts += judges.remarks(folder)
    if failures := judges.failures(folder):
        section.parts.append(f"{len(failures)} verdicts or judges failed; the first: {failures[0]['error']}")
    return section


def run_section(folder: RunFolder) -> Section:
    """Return what ran, what failed, and where the protocol differs from the paper's."""
    manifest, plan = folder.manifest, folder.plan
    novels = folder.novels()
    total, done = len(list(plan.jobs())), len(novels)
    models = _models(novels)
    facts = [
        ["plan", plan.name],
        ["novels", f"{done} of {total}"],
        ["begun", manifest["created"]],
        ["commit", manifest["commit"]],
    ]
    facts += [["models", ", ".join(models)]]
    facts += [[name, value] for name, value in manifest["versions"].items()]
    facts += [["seeds", ", ".join(map(str, plan.seeds))], ["answered from", plan.replay or "a model"]]
    facts += [["guards", plan.guards], ["embedder", plan.embedder]]
    own = "the program's for each kind of call, and the model's where it has none (see Deviations)"
    facts += [["temperature", own if plan.temperature is None else f"{plan.temperature:g}"]]
    facts += [
        [f"options of {name}", _options(chosen.model_dump(exclude_defaults=True))]
        for name, chosen in plan.options.items()
    ]
    premises = {(novel["genre"], str(novel["number"])): novel["premise"] for novel in novels}
    section = Section(
        "The run",
        [
            Table(["", ""], facts, "The run"),
            Table(["genre", "number", "premise"], [[*key, text] for key, text in premises.items()], "Premises"),
        ],
    )
    if plan.replay:
        place = recordings_folder(plan) or Path()
        days = recorded_days(place / f"{novel['id']}.jsonl" for novel in novels)
        made = f" was made {'on ' + days[0] if len(days) == 1 else f'from {days[0]} to {days[-1]}'} and" if days else ""
        section.parts.append(
            "Date, commit and versions are those of this replay. The seconds and the models are those of the recording, which"
            f"{made} does not name its machine."
        )
    section.parts += [
        f"The run of the rival {rival} is no longer in {path}: it is in no table until it is there again."
        for rival, path in missing_rivals(plan).items()
    ]
    section.parts += _outcomes(folder)
    stopped = {novel["id"]: novel for novel in folder.stopped_novels()}
    if stopped:
        section.parts += [
            "Novels that stopped before their end are measured as far as they were written, under the name of their system with "
            f"`{STOPPED.strip(', ')}` behind it, and are compared with none:",
            Table(
                ["novel", "passages", "words", "asked for", "error"],
                [
                    [
                        row["novel"],
                        str(len(known["passages"])),
                        f"{known['words']:,}",
                        f"{known['target']:,}",
                        row["error"],
                    ]
                    for row in folder.failures()
                    if (known := stopped.get(row["novel"]))
                ],
                "Novels that stopped",
            ),
        ]
    failures = [row for row in folder.failures() if row["novel"] not in stopped]
    if failures:
        many = "1 novel has failed and is" if len(failures) == 1 else f"{len(failures)} novels have failed and are"
        section.parts.append(f"{many} in no figure:")
        table = Table(["novel", "error"], [[row["novel"], row["error"]] for row in failures], "Novels that failed")
        section.parts.append(table)
    return section


def _outcomes(folder: RunFolder) -> list[str | Table]:
    """Return how many novels each system finished; nothing where none has failed."""
    failed = {row["novel"] for row in folder.failures()}
    finished = [novel["system"] for novel in folder.novels()]
    body: list[list[str]] = []
    for system in folder.plan.systems:
        ids = [job.id for job in folder.plan.jobs() if job.system == system]
        counts = (len(ids), finished.count(system), len(failed.intersection(ids)))
        body.append([system, *map(str, counts)])
    text = (
        "A system that fails where it writes badly is compared where it wrote well, and one that finished nothing with none. "
        "Where novels are compared, `failures as losses` counts what one system failed to finish and the other did not."
    )
    return [text, Table(["system", "asked for", "finished", "failed"], body, "Novels by system")] if failed else []


def _systems_table(folder: RunFolder, rows: list[Row], names: tuple[str, ...], caption: str, cell: _Cell) -> Table:
    """Return a table of figures by system, without what none of them has."""
    names = _known(rows, names)
    values = {name: of_premises(rows, name) for name in names}
    body: list[list[str]] = []
    for system in named_systems(folder.plan, rows):
        novels = sum(row["system"] == system for row in rows)
        many = _premises(rows, system)
        cells = [cell(name, list(values[name].get(system, {}).values()), many) for name in names]
        body.append([system, str(many), str(novels), *cells])
    return Table(["system", "premises", "novels", *(name.replace("_", " ") for name in names)], body, caption)


def _less_first(folder: RunFolder, rows: list[Row], names: tuple[str, ...], caption: str) -> list[Table]:
    """Return a table of what each system has less what the plan's first has, premise by premise; none where nothing is left."""
    names = _known(rows, names)
    values = {name: of_premises(rows, name) for name in names}
    first, body = folder.plan.systems[0], list[list[str]]()
    for system in named_systems(folder.plan, rows):
        pairs = [_paired(values[name].get(system, {}), values[name].get(first, {})) for name in names]
        if system != first and any(pairs) and not system.endswith(STOPPED):
            many = _premises(rows, system)
            body.append([system, *(_spread(own, many) for own in pairs)])
    headings = [f"less {first}", *(name.replace("_", " ") for name in names)]
    return [Table(headings, body, f"{caption}: less {first}")] if body else []


def _known(rows: list[Row], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if any(row[name] is not None for row in rows))


def _premises(rows: list[Row], system: str) -> int:
    return len({(row["genre"], row["number"]) for row in rows if row["system"] == system})


def _paired(own: Mapping[tuple[str, int], float], other: Mapping[tuple[str, int], float]) -> list[float]:
    """Return what one system has less what another has, premise by premise."""
    return [value - other[premise] for premise, value in own.items() if premise in other]


def _spread(values: Sequence[float], premises: int) -> str:
    """Return a mean with its interval, or with both values where there are two; and how many there are, if not all."""
    if not values:
        return ""
    notes = [f"n = {len(values)}"] if len(values) != premises else []
    if len(values) >= FEWEST_FOR_INTERVAL and len(set(values)) > 1:
        notes.insert(0, " to ".join(map(_number, mean_interval(values))))
    elif len(set(values)) == 2:
        notes.insert(0, " and ".join(map(_number, values)))
    return _number(mean(values)) + (f" ({'; '.join(notes)})" if notes else "")


def _odds() -> str:
    """Return how many judges of some strength qualify, by chance."""
    pairs, shares = CORRUPTED_NOVELS * CORRUPTION_KINDS, (0.99, 0.95, 0.9)
    most_wrong = pairs - ceil(judges.QUALIFIED * pairs)
    chances = [float(binom.cdf(most_wrong, pairs, 1 - share)) for share in shares]
    right, qualified = (", ".join(f"{100 * value:.0f}" for value in values) for values in (shares, chances))
    return f"of judges that would get {right} % of all such pairs right, {qualified} % qualify"


def _mean(name: str, values: Sequence[float], premises: int) -> str:
    """Return the mean of a figure over premises, and of how many it is, if not all."""
    if not values:
        return ""
    figure = f"{round(100 * mean(values))} %" if name == "off_target" else _number(mean(values))
    return figure if len(values) == premises else f"{figure} (n = {len(values)})"


def _options(chosen: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in chosen.items())


def _share_of(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _share(tally: Any) -> str:
    return f"{tally[0] / tally[1]:.2f}" if tally and tally[1] else ""
