"""What a report says of preferences: tables in the paper's shape, who wins against whom, and the paper's own figures."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources

from recurrentgpt.studies.judging.statistics import FEW
from recurrentgpt.studies.report.document import Picture, Section, Table
from recurrentgpt.studies.report.figures import POOLED, Result, win_rates
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Plan
from recurrentgpt.studies.study_context import Guards

_TESTS = (
    "won/tied/lost", "p", "Holm p", "sign test", "words", "off target", "at equal length", "failures as losses"
)  # fmt: skip
_PRINTED_ONLY = {"table2": ("gpt4",)}
"""Systems of the paper's tables that no plan has here."""
_TITLES = {"table1": "Table 1", "table2": "Table 2"}
HOW = (
    "A row is a system, a column a genre. A cell is the mean preference in per cent, `{first} : the row's system`: each premise "
    "counts 100 for the system that is preferred, ties 50 : 50, and the mean of its judges and seeds where there are several. "
    f"In brackets the interval of 95 % over premises: Student's of fewer than {FEW} premises, the BCa bootstrap's from there on, "
    "Wilson's where all say the same. "
    "`won/tied/lost` counts premises of all genres. "
    "p: sign-flip permutation test over premises; Holm over all pairs of systems and criteria of this part. Per genre nothing "
    "is tested: twenty premises find a true preference of 60 % in 13 % of studies, six times twenty in 54 %, and in 46 % where "
    "a fifth are ties."
)
_WORDS = (
    "`words` are the means of the novels compared, `off target` counts those longer or shorter than asked for by more than a "
    "tenth, of {first} and of the row's system: where there are any, a preference may be one for length. `at equal length` is "
    "the preference for {first} where a straight line over the logarithm of both lengths has them equal, from five premises on. "
    "`failures as losses` counts as lost what one of the two failed to finish and the other did not, and says how many those "
    "are; it is blank where there are none, for rivals, and as long as finished novels are left to compare."
)
_GUARDS: dict[Guards, str] = {
    "own": "Guards are each system's own: a preference may be one for them, so that these are no headline figures.",
    "shared": "Copies and loops are kept out of all systems alike; samples are not alike, see the table of guards.",
    "none": "No system has guards.",
}
_PAPER = (
    "Rows of the paper are its own figures as printed (arXiv 2305.13304, per cent of its readers, three people for each of 20 "
    "novels a genre, preferring RecurrentGPT : the other): 18 of its 48 add up to more than 100, as they do where a tie goes to "
    "both sides, and 30 to less; other premises, lengths, models and readers, and a RecurrentGPT that is nearer to `paper` here "
    "than to recurrentgpt. Compare the direction, not the digits. Its gpt4 is RecurrentGPT on a stronger model: here a run of "
    "its own, of which `rivals` makes a row."
)


def table_section(plan: Plan, results: list[Result], source: str) -> Section:
    """Return the preferences in the shape of the paper's tables: a table per criterion, systems by genres, the paper's below."""
    section = Section(f"{_TITLES.get(plan.name, 'Preferences')}: preferred by {source}, guards: {plan.guards}")
    compared = [one for one in results if one.source == source]
    found = {(one.criterion, one.second, one.genre): one for one in compared if one.first == plan.systems[0]}
    first, judged = plan.systems[0], any(one.source == "judges" for one in results)
    explains = source == "judges" or not judged
    if not compared:
        section.parts.append(_nobody(plan, source))
    else:
        if explains:
            section.parts += [HOW.format(first=first), _WORDS.format(first=first), _GUARDS[plan.guards]]
        else:
            section.parts.append("To be read as the tables of the judges are.")
        if found:
            section.parts.append(Picture(f"preferences-{source}.png", f"Preferences by {source}, all genres"))
    tables, printed = _tables(plan, found, paper_figures() if found else {}, f"Preferences by {source}")
    section.parts += tables
    if others := [one for one in compared if one.first != first and one.genre == POOLED]:
        rows = [[f"{one.first} : {one.second}", one.criterion, _cell(one), *_tests(one)] for one in others]
        headings = ["other pairs", "criterion", POOLED, *_TESTS]
        section.parts += [
            "Of other pairs, a preference is for the system that is named first.",
            Table(headings, rows, f"Preferences by {source}: other pairs"),
        ]
    if explains and printed:
        section.parts.append(_PAPER)
    return section


def nobody_section(plan: Plan) -> Section:
    """Return that nobody has compared the novels of a plan, and how that is done."""
    return Section(f"Preferences, guards: {plan.guards}", [_nobody(plan, "judges"), _nobody(plan, "people")])


def of_first(plan: Plan, results: list[Result], source: str) -> list[Result]:
    """Return the comparisons of a plan's first system with the others, all genres."""
    return [one for one in results if (one.source, one.genre, one.first) == (source, POOLED, plan.systems[0])]


def paper_section(plan: Plan) -> Section | None:
    """Return the paper's figures for the systems of a plan, to stand alone where nobody has compared anything yet."""
    tables, printed = _tables(plan, {}, paper_figures(), "Preferences of the paper's readers")
    # How they are to be read stands before them: of these novels they say nothing.
    return Section("What the paper's readers preferred", [_PAPER, *tables]) if printed else None


def _tables(
    plan: Plan, found: Mapping[tuple[str, str, str], Result], paper: Mapping[str, str], whose: str
) -> tuple[list[Table], bool]:
    """Return a table per criterion, the paper's row below each of ours, and whether there is any of the paper's."""
    first, places, printed = plan.systems[0], [*plan.genres, POOLED], False
    tables: list[Table] = []
    for criterion in plan.criteria:
        rows: list[list[str]] = []
        for system in dict.fromkeys([*plan.systems[1:], *plan.rivals, *_PRINTED_ONLY.get(plan.name, ())]):
            if (pooled := found.get((criterion, system, POOLED))) is not None:
                cells = [found.get((criterion, system, genre)) for genre in places]
                rows.append([system, *(_cell(one) if one else "" for one in cells), *_tests(pooled)])
            theirs = [paper.get(f"{genre}/{first}/{system}/{criterion}", "") for genre in places]
            if any(theirs):
                # The paper does not say how long its window was.
                other = "rolling" if system.startswith("rolling_") else system
                rows.append([f"{other}, the paper", *theirs, *[""] * len(_TESTS)])
                printed = True
        if rows:
            # The paper tests nothing, and has no figure for all genres.
            heads = [criterion, *places, *_TESTS] if found else [f"{criterion}: RecurrentGPT over", *plan.genres]
            tables.append(Table(heads, [row[: len(heads)] for row in rows], f"{whose}: {criterion}"))
    return tables, printed


def _nobody(plan: Plan, source: str) -> str:
    if source == "people":
        return "Nobody has labelled these novels yet: `study annotate` makes a page to read them blind."
    if plan.judges:
        return "No qualified judge has compared these novels."
    return (
        "The plan names no judge: give it a table `[[judges]]` for each and run it into the same folder again; what is "
        "written is kept."
    )


def _cell(one: Result) -> str:
    rate = one.found
    shares = f"{100 * rate.rate:.0f} : {100 - 100 * rate.rate:.0f}"
    return f"{shares} ({100 * rate.low:.0f} to {100 * rate.high:.0f}; n = {rate.premises})"


def _tests(pooled: Result) -> list[str]:
    rate = pooled.found
    return [
        f"{rate.wins}/{rate.ties}/{rate.losses}",
        f"{rate.p:.4f}",
        f"{pooled.holm or 0:.4f}",
        f"{rate.sign_p:.4f}",
        f"{pooled.words[0]:,.0f} : {pooled.words[1]:,.0f}",
        f"{pooled.off[0]} : {pooled.off[1]} of {pooled.novels}",
        "" if pooled.equal_length is None else f"{100 * pooled.equal_length:.0f}",
        _with_failures(pooled),
    ]


def _with_failures(pooled: Result) -> str:
    if not any(pooled.failed) or pooled.failures_lost is None:
        return ""
    return f"{100 * pooled.failures_lost:.0f} ({pooled.failed[0]} : {pooled.failed[1]})"


def matrix_section(folder: RunFolder) -> Section | None:
    """Return who is preferred to whom, pooled over genres: by criterion a table for judges and one for people."""
    plan = folder.plan
    pairs = "every pair of systems" if plan.compare == "all" else "the pairs that were compared; `compare` has more"
    section = Section(
        "Win matrix",
        [
            f"Mean preference for the row over the column in per cent, all genres: {pairs}. How many premises each is of, and "
            "with what interval, the tables of preferences say."
        ],
    )
    for source in ("judges", "people"):
        for criterion, shares in win_rates(folder, source).items():
            known, title = compared_systems(plan, shares), f"Win matrix by {source}: {criterion}"
            body = [[row, *(_percent(shares.get((row, other))) for other in known)] for row in known]
            section.parts += [
                Table([f"{criterion}, by {source}", *known], body, title),
                Picture(wins_picture(plan, source, criterion), title),
            ]
    return section if section.tables else None


def wins_picture(plan: Plan, source: str, criterion: str) -> str:
    """Return the name of the file that a win matrix is drawn in, which has the number of its criterion: words are anybody's."""
    return f"wins-{source}-{1 + plan.criteria.index(criterion)}.png"


def compared_systems(plan: Plan, shares: Mapping[tuple[str, str], float]) -> list[str]:
    """Return the systems and rivals that have been compared with any other, in the order of the plan."""
    return [system for system in (*plan.systems, *plan.rivals) if any(system in pair for pair in shares)]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}"


def paper_figures() -> dict[str, str]:
    """Return the paper's figures of both tables by `genre/system/other/criterion`, as far as they are noted.

    A comparison is the paper's whatever a plan is called, so that those of `table1` and `table2` are one.
    """
    text = (resources.files("recurrentgpt.studies") / "data" / "paper.toml").read_text(encoding="utf-8")
    noted = tomllib.loads(text)
    return {
        f"{genre}/recurrentgpt/{rest}": figure
        for table in _TITLES
        for key, figure in noted.get(table, {}).items()
        for genre, _, rest in [key.partition("/")]
    }
