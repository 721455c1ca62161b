"""`study`: run the systems of the paper, measure them and compare them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recurrentgpt.cli.commands.options import GROUP, JsonLines, JsonObject
from recurrentgpt.cli.commands.story_context import confirmed
from recurrentgpt.cli.terminal.console import counted, note, print_json, print_table, print_text
from recurrentgpt.schema.errors import MissingExtra

if TYPE_CHECKING:
    from recurrentgpt.studies.baselines.system import Cost
    from recurrentgpt.studies.runs.folder import RunFolder
    from recurrentgpt.studies.runs.plan import Job, Judge, Plan
    from recurrentgpt.studies.runs.runner import Outcome, Progress, Report

study = typer.Typer(**GROUP)
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")]
JudgeAddress = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Its address; the generator's if left out.")
]
JudgeKey = Annotated[
    str | None, typer.Option("--api-key-env", metavar="NAME", help="Environment variable of its own key.")
]
JudgeFamily = Annotated[
    str, typer.Option("--family", metavar="NAME", help="Who made it, where its name does not say so.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before tokens are spent.")]


@study.callback()
def _study() -> None:
    """Run the systems of the paper, and compare them.

    \b
    Examples:
      recurrentgpt study systems
      recurrentgpt study run toy
      recurrentgpt study report toy -o toy-report
    """


@study.command()
def systems(json: JsonLines = False) -> None:
    """List the systems, with calls and tokens per 1,000 words of a novel of 3,000.

    \b
    Example:
      recurrentgpt study systems
    """
    from recurrentgpt.studies.baselines.catalogue import all_systems
    from recurrentgpt.studies.runs.costs import per_1000_words

    known = all_systems()
    costs = {name: per_1000_words(name) for name in known}
    if json:
        for system in known.values():
            print_json({"system": system.name, "what": system.description, **costs[system.name].__dict__})
        return
    rows = [
        (name, f"{cost.calls:g}", f"{cost.input_tokens:,.0f}", f"{cost.output_tokens:,.0f}", known[name].description)
        for name, cost in costs.items()
    ]
    print_table(("System", "Calls", "Tokens in", "Tokens out", "What"), rows, uncut=(0, 1, 2, 3))


@study.command()
def run(
    plan: Annotated[
        str, typer.Argument(metavar="PLAN", help="TOML file, or toy, table1, table2, long, sessions, plays.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="RUN", help="Folder of the run; the plan's name if left out."),
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the model, where the plan has recorded calls.")] = False,
    remote: Annotated[
        str | None,
        typer.Option(
            "--remote",
            metavar="URL",
            help="A server with the graphs of langgraph-studies.json that writes the novels; its token is "
            "RECURRENTGPT_REMOTE_TOKEN.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="A model that compares the novels, beside the plan's own judges, also where novels come from recorded "
            "calls; asked at the generator's address. May be given again.",
        ),
    ] = None,
    guards: Annotated[
        str | None,
        typer.Option("--guards", metavar="WHICH", help="shared, own or none, in place of the plan's."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="NAME", help="A system in place of the plan's. May be given again."),
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what it will cost, and leave.")] = False,
    yes: Yes = False,
) -> None:
    """Write the novels of a plan, and let its judges compare them.

    A run that was stopped goes on where it was; finished novels are never written again.

    \b
    Examples:
      recurrentgpt study run toy                 from recorded calls, without a model
      recurrentgpt study run table1 --judge gpt-4o --estimate
      recurrentgpt study run table1 --guards shared -o table1-shared
      recurrentgpt study run toy --live --system recurrentgpt --system paper --system bare -o toy-live
      recurrentgpt study run my-plan.toml -o my-run --yes
      recurrentgpt study run my-plan.toml -o my-run --remote http://127.0.0.1:2024
    """
    from recurrentgpt.studies.runs.folder import RunFolder
    from recurrentgpt.studies.runs.plan import read_plan, with_guards, with_systems

    judges = judge or []
    read = read_plan(plan) if guards is None else with_guards(read_plan(plan), guards)
    read = with_systems(read, system) if system else read
    known = {one.model for one in read.judges}
    added = _judges([model for model in judges if model not in known], None, None, "")
    target = output or Path(read.name)
    wanted = read.model_copy(update={"judges": [*read.judges, *added]} | ({"replay": ""} if live else {}))
    wanted = RunFolder(target).with_added(wanted)
    if estimate:
        RunFolder(target).check(wanted)
        jobs, cost = _left(wanted, RunFolder(target), judges)
        note(_summary(wanted, jobs, cost))
        print_json(cost)
        return
    try:
        _run(wanted, target, remote, live=judges, yes=yes)
    except KeyboardInterrupt:
        given = [("-o", output), ("--remote", remote), ("--guards", guards), *(("--judge", model) for model in judges)]
        given += [("--system", name) for name in system or ()]
        options = [part for option, value in given if value is not None for part in (option, str(value))]
        again = shlex.join(["recurrentgpt", "study", "run", plan, *options, *(["--live"] if live else [])])
        note("Stopped. What was finished is kept, and so is every passage of the others.")
        note(f"Continue: {again}")
        raise typer.Exit(130) from None


@study.command()
def judge(
    run: RunPath,
    judge: Annotated[
        list[str],
        typer.Option("--judge", metavar="MODEL", help="A model that compares the novels. May be given again."),
    ],
    base_url: JudgeAddress = None,
    api_key_env: JudgeKey = None,
    family: JudgeFamily = "",
    rival: Annotated[
        list[str] | None,
        typer.Option(
            "--rival",
            metavar="NAME=RUN",
            help="Another run, whose first system is compared with this one's under that name, for example the same system "
            "on a stronger model. May be given again.",
        ),
    ] = None,
    every_pair: Annotated[
        bool, typer.Option("--every-pair", help="Compare all systems with each other, and not only with the first.")
    ] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what it will cost, and leave.")] = False,
    yes: Yes = False,
) -> None:
    """Add a judge to a finished run, also to one that was answered from recorded calls.

    No novel is written again. A judge of the generator's own family is refused.

    \b
    Examples:
      recurrentgpt study judge toy --judge gpt-4o-mini
      recurrentgpt study judge table2 --rival gpt4=table2-gpt4 --judge o3
      recurrentgpt study judge toy --judge m --base-url https://elsewhere.example/v1 --api-key-env ELSEWHERE_KEY
    """
    from recurrentgpt.studies.errors import StudyError
    from recurrentgpt.studies.runs.endpoints import asks_paid_model
    from recurrentgpt.studies.runs.folder import RunFolder

    folder = RunFolder.open(run)
    added = _judges(judge, base_url, api_key_env, family)
    names = {one.model for one in added}
    kept = [one for one in folder.plan.judges if one.model not in names]
    changes: dict[str, object] = {"judges": [*kept, *added]}
    if rival:
        changes["rivals"] = {**folder.plan.rivals, **_rivals(rival)}
    if every_pair:
        changes["compare"] = "all"
    wanted = folder.plan.model_copy(update=changes)
    _check_judges(folder, wanted, added)
    if not folder.novels():
        raise StudyError(f"No novel of {run} is finished: run its plan first.")
    cost = _judges_cost(wanted, folder, names)
    note(f"{counted(len(added), 'judge')}: about {cost['calls']:,.0f} calls, {cost['input_tokens']:,.0f} tokens in.")
    if estimate:
        print_json(cost)
        return
    asked = wanted.model_copy(update={"judges": added, "replay": "", "model": "", "base_url": wanted.base_url})
    if cost["calls"] and asks_paid_model(asked, names):
        _confirm_spending(yes=yes)
    failed = _judge(RunFolder.create(run, wanted), names)
    if failed:
        raise StudyError(f"{counted(failed, 'judge')} failed: run the command again; verdicts that are there are kept.")


@study.command()
def adherence(
    run: RunPath,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MODEL", help="A model to ask; without one, what judges have said is shown."),
    ] = None,
    base_url: JudgeAddress = None,
    api_key_env: JudgeKey = None,
    family: JudgeFamily = "",
    yes: Yes = False,
    json: JsonLines = False,
) -> None:
    """Show whether passages carry out the plan that was taken, and not those that were left.

    A judge is shown each passage with the plans, shuffled, and quotes where a plan happens.

    \b
    Examples:
      recurrentgpt study adherence sessions --judge gpt-4o-mini
      recurrentgpt study adherence sessions --json
    """
    from recurrentgpt.studies.judging.adherence import adherence as figures
    from recurrentgpt.studies.judging.adherence import judge_adherence, unasked
    from recurrentgpt.studies.report.sections import adherence_table
    from recurrentgpt.studies.runs.endpoints import asks_paid_model
    from recurrentgpt.studies.runs.folder import RunFolder

    folder = RunFolder.open(run)
    if judge is not None:
        (asked,) = _judges([judge], base_url, api_key_env, family)
        plan = folder.plan.model_copy(update={"judges": [asked]})
        _check_judges(folder, plan, [asked])
        left = len(unasked(folder, judge))
        note(f"{counted(left, 'passage')} to ask about, a call each.")
        if left and asks_paid_model(plan.model_copy(update={"replay": "-"}), {judge}):
            _confirm_spending(yes=yes)
        if left and (failed := judge_adherence(folder, asked, note)):
            note(f"{counted(failed, 'answer')} could not be used: run the command again to ask again.")
    found = figures(folder)
    if json:
        for one in found:
            print_json(one.__dict__)
        return
    if not found:
        note("Nobody was asked yet: name a --judge. Systems that offer no plans have nothing to be asked about.")
        return
    table = adherence_table(found)
    print_table(tuple(table.headings), [tuple(row) for row in table.rows])


@study.command()
def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs; several are put side by side.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write.")],
    site: Annotated[
        bool,
        typer.Option("--site", help="Write a folder to publish: reports, novels to read blind, recordings to replay."),
    ] = False,
) -> None:
    """Write tables, tests and plots of one run or several, as HTML, Markdown, LaTeX, JSONL and CSV.

    \b
    Examples:
      recurrentgpt study report toy -o toy-report
      recurrentgpt study report table1 table1-shared -o both
      recurrentgpt study report table1 --site -o results
    """
    from recurrentgpt.studies.runs.folder import RunFolder

    folders = [RunFolder.open(run) for run in runs]
    try:
        from recurrentgpt.studies.report.site import write_site
        from recurrentgpt.studies.report.write_report import write_reports
    except ModuleNotFoundError as error:
        raise MissingExtra("A report needs SciPy and Matplotlib: pip install 'recurrentgpt[study]'") from error
    (write_site if site else write_reports)(folders, output, note)
    print_text(str(output / ("index.html" if site else "report.html")))


@study.command()
def annotate(
    run: RunPath,
    reader: Annotated[
        list[str] | None,
        typer.Option(
            "--reader",
            metavar="NAME",
            help="Print a link of this reader's own, and let nobody else in. May be given again.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Address of this machine to listen on, for readers elsewhere."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8765,
) -> None:
    """Serve a blind reading page, and store its labels.

    Readers go on where they were, also after the page was stopped: a reader's link stays the same.

    \b
    Examples:
      recurrentgpt study annotate toy
      recurrentgpt study annotate toy --reader Ada --reader Bob --host 192.168.1.20
    """
    from recurrentgpt.studies.judging.annotate import serve
    from recurrentgpt.studies.runs.folder import RunFolder

    serve(RunFolder.open(run), port, note, reader or (), host)


@study.command()
def forget(
    run: RunPath,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A reader's name, or the model of a judge.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before answers are deleted.")] = False,
) -> None:
    """Delete all answers of a reader, or a judge with its verdicts and calls.

    Stop the reading page first. Reports that are written already keep what they say: write them again.

    \b
    Example:
      recurrentgpt study forget toy Ada
    """
    from recurrentgpt.studies.errors import StudyError
    from recurrentgpt.studies.runs.folder import RunFolder

    folder = RunFolder.open(run)
    if name not in (known := folder.speakers()):
        there = f"there are {', '.join(sorted(known))}" if known else "there is nobody"
        raise StudyError(f"{run} has no reader and no judge named {name!r:.60}: {there}.")
    if not confirmed(f"Delete all that {name} has said of {run}?", yes=yes):
        raise StudyError("Nothing was deleted; --yes deletes without asking.")
    note(f"{counted(folder.forget(name), 'answer')} deleted.")


@study.command()
def agreement(run: RunPath, json: JsonLines = False) -> None:
    """Show how far people and judges of a run agree, and whether a judge may stand for people.

    \b
    Examples:
      recurrentgpt study agreement toy
      recurrentgpt study agreement toy --json > agreement.jsonl
    """
    from recurrentgpt.studies.judging.statistics import FEWEST_TESTED
    from recurrentgpt.studies.report.figures import agreements
    from recurrentgpt.studies.runs.folder import RunFolder

    rows = agreements(RunFolder.open(run))
    if json:
        for row in rows:
            print_json(row)
        return
    if not rows:
        note(
            "Two people or two judges are needed who labelled the same pairs by one criterion, and not all of them alike: "
            "`recurrentgpt study annotate` has people read."
        )
        return
    alphas = [row for row in rows if "alpha" in row]
    tests = [row for row in rows if "passes" in row]
    shown = [
        (
            row["criterion"],
            row["among"],
            str(row["raters"]),
            str(row["items"]),
            f"{row['alpha']:.2f}",
            "" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}",
        )
        for row in alphas
    ]
    print_table(("Criterion", "Among", "Raters", "Items", "Krippendorff's alpha", "95 %"), shown)
    for row in tests:
        if row["passes"] is None:
            note(
                f"{row['among']} on {row['criterion']}: it cannot be told yet, for the alternative annotator test wants "
                f"{FEWEST_TESTED} premises, and there are {row['premises']}."
            )
            continue
        may = "may" if row["passes"] else "may not"
        note(
            f"{row['among']} on {row['criterion']}: {may}, by the alternative annotator test (it beats {row['beaten']} of "
            f"{row['annotators']})."
        )


@study.command()
def recall(
    distance: Annotated[
        int, typer.Option("--distance", min=1, max=1024, help="Greatest distance, in passages.")
    ] = 1024,
    facts: Annotated[
        int | None, typer.Option("--facts", min=1, max=250, help="Facts per distance; 200 unless told.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system", help="Let this system write, and measure its memory, prompts and text too; repeatable."
        ),
    ] = None,
    world: Annotated[
        list[str] | None,
        typer.Option(
            "--world",
            help="Ask for facts of people who are everywhere, in other words than they are told in: harbour, station or "
            "newsroom; repeatable.",
        ),
    ] = None,
    json: JsonObject = False,
) -> None:
    """Measure how far back a planted fact is found.

    Without --system it is the long-term memory alone that is asked, for many facts per distance: what somebody with a
    rare name has told, or with --world what is told of people who are in every passage. It needs no model but the
    embedder, the default one or that of RECURRENTGPT_EMBEDDER.

    \b
    Examples:
      recurrentgpt study recall --distance 64
      RECURRENTGPT_EMBEDDER=hash-256 recurrentgpt study recall
      recurrentgpt study recall --system recurrentgpt --system rolling_1024
      recurrentgpt study recall --world newsroom --distance 16
    """
    from recurrentgpt.studies.errors import StudyError

    if system and world:
        raise StudyError("--system and --world do not go together: of a world the long-term memory alone is asked.")
    if facts is not None and (system or world):
        raise StudyError("--facts goes with neither --system nor --world, which have facts of their own: leave it out.")
    if world:
        _measure_worlds(world, distance, json=json)
    elif system:
        _measure_systems(system, distance, json=json)
    else:
        _measure_memory(distance, facts, json=json)


def _confirm_spending(*, yes: bool) -> None:
    """Raise StudyError unless somebody agrees that tokens are spent."""
    if not confirmed("Go on, and have tokens spent?", yes=yes):
        from recurrentgpt.studies.errors import StudyError

        raise StudyError("Nothing was spent; --yes goes on without asking.")


def _judges(names: Sequence[str], base_url: str | None, api_key_env: str | None, family: str) -> list[Judge]:
    """Return judges of these names; raise StudyError where one cannot be asked."""
    from pydantic import ValidationError

    from recurrentgpt.studies.errors import StudyError, first_error
    from recurrentgpt.studies.runs.plan import FIELD_MEANINGS, Judge

    try:
        return [
            Judge(model=name, base_url=base_url, api_key_env=api_key_env, family=family, added=True)
            for name in dict.fromkeys(names)
        ]
    except ValidationError as error:
        raise StudyError(f"The judge cannot be asked: {first_error(error, FIELD_MEANINGS)}.") from error


def _check_judges(folder: RunFolder, plan: Plan, added: Sequence[Judge]) -> None:
    """Raise StudyError where a judge of the generator's family is added to a plan, or one whose key is not there."""
    from recurrentgpt.studies.errors import StudyError
    from recurrentgpt.studies.judging.pairwise import same_family_judges
    from recurrentgpt.studies.runs.endpoints import check_keys

    if kin := sorted(same_family_judges(folder, plan) & {one.model for one in added}):
        raise StudyError(
            f"{kin[0]} is of the generator's own family, and its verdicts would not count: name a judge of another family."
        )
    check_keys(plan.model_copy(update={"judges": [*added]}))


def _rivals(given: list[str]) -> dict[str, Path]:
    """Return the folders of rivals by name; raise StudyError for what is no NAME=RUN."""
    from recurrentgpt.studies.baselines.catalogue import all_systems
    from recurrentgpt.studies.errors import StudyError
    from recurrentgpt.studies.runs.folder import RunFolder

    found: dict[str, Path] = {}
    for text in given:
        name, _, path = text.partition("=")
        if not re.fullmatch(r"[A-Za-z0-9_]{1,24}", name) or not path or name in all_systems():
            raise StudyError(f"--rival is NAME=RUN with a name that no system has, not {text!r:.60}.")
        found[name] = RunFolder.open(Path(path)).path.resolve()
    return found


def _run(plan: Plan, target: Path, remote: str | None, *, live: Sequence[str] = (), yes: bool) -> None:
    from recurrentgpt.studies.errors import StudyError
    from recurrentgpt.studies.judging.pairwise import same_family_judges
    from recurrentgpt.studies.measures.planted import measure
    from recurrentgpt.studies.runs.endpoints import asks_paid_model, check_keys
    from recurrentgpt.studies.runs.folder import RunFolder

    run_novels = _runner(plan, remote)
    RunFolder(target).check(plan)
    if not plan.replay:
        check_keys(plan)
    for name in sorted(same_family_judges(RunFolder(target), plan)):
        note(f"{name} is of the generator's own family, and is not asked.")
    jobs, cost = _left(plan, RunFolder(target), live)
    note(_summary(plan, jobs, cost))
    if cost["calls"] > 0 and (asks_paid_model(plan, live) or remote is not None):
        _confirm_spending(yes=yes)
    folder = RunFolder.create(target, plan)

    def tell(event: Progress) -> None:
        words = f", {event.words:,} words" if event.words else ""
        note(f"[{event.done}/{event.total}] {event.job.id}: {event.what}{words}")

    outcome = run_novels(folder, tell)
    if plan.recall:
        measure(folder, note)
    silent = _judge(folder, live)
    print_text(str(folder.path))
    failures = folder.failures()
    for row in failures:
        note(f"{row['novel']} failed: {row['error']}")
    if failures:
        raise StudyError(
            f"{len(failures)} of {outcome.finished + outcome.kept + outcome.failed} novels failed: run the plan again to try "
            "them again; the others are kept."
        )
    if silent:
        raise StudyError(
            f"{counted(silent, 'judge')} of {len(plan.judges)} failed: run the plan again to ask again; novels and verdicts "
            "that are there are kept."
        )


def _judge(folder: RunFolder, live: Collection[str]) -> int:
    """Let the judges of a run compare its novels, where it has any of both; return how many failed."""
    if not folder.plan.judges:
        return 0
    from recurrentgpt.studies.judging.judge_runner import judge_run
    from recurrentgpt.studies.judging.pairwise import pairs

    if not pairs(folder):
        note("No premise has two finished novels, so there is nothing to judge.")
        return 0
    return judge_run(folder, note, live=live)


def _runner(plan: Plan, remote: str | None) -> Callable[[RunFolder, Report], Outcome]:
    """Return what runs the plan: this machine, or a server, which has to answer."""
    if remote is None:
        from recurrentgpt.studies.runs.runner import run

        return run
    from recurrentgpt.cli.commands.remote import TOKEN
    from recurrentgpt.studies.runs.remote_runner import check_server, run_remote

    token = os.environ.get(TOKEN)
    check_server(plan, remote, token)
    return partial(run_remote, url=remote, token=token)


def _left(plan: Plan, folder: RunFolder, live: Collection[str]) -> tuple[list[Job], dict[str, float]]:
    """Return the novels that are left to write in a folder, and what they and what is left to judge cost about."""
    from recurrentgpt.studies.runs.costs import estimate

    jobs = [job for job in plan.jobs() if folder.novel(job) is None]
    judging = _judging_left(plan, folder, live)
    cost = estimate(jobs, plan, judging)
    if plan.replay:
        # Novels cost nothing; what is asked are the judges alone.
        cost |= estimate([], plan, judging) | {name: cost[name] for name in ("novels", "words")}
    return jobs, cost


def _judging_left(plan: Plan, folder: RunFolder, live: Collection[str]) -> Cost:
    """Return what is left to judge costs about: nothing of judges that are answered from recorded calls, or of kin."""
    from recurrentgpt.studies.judging.pairwise import Qualification, same_family_judges, verdict_key
    from recurrentgpt.studies.runs.costs import CORRUPTION_KINDS, judging_cost

    asked = (
        plan.model_copy(update={"judges": [one for one in plan.judges if one.model in live]}) if plan.replay else plan
    )
    known = [Qualification.of(row) for row in folder.rows("qualification.jsonl")]
    shown = {(one.judge, one.criterion): one.pairs // CORRUPTION_KINDS for one in known}
    # Of one that has not seen all its corrupted copies nothing is known yet.
    told = {(one.judge, one.criterion): one.qualified for one in known if one.qualified or one.finished}
    done = {verdict_key(row) for row in folder.rows("verdicts.jsonl")}
    return judging_cost(asked, done, told, shown, same_family_judges(folder, plan))


def _judges_cost(plan: Plan, folder: RunFolder, names: Collection[str]) -> dict[str, float]:
    """Return what the judges named still cost about."""
    from recurrentgpt.studies.runs.costs import estimate

    alone = plan.model_copy(update={"judges": [one for one in plan.judges if one.model in names]})
    return estimate([], alone, _judging_left(alone, folder, names))


def _summary(plan: Plan, jobs: list[Job], cost: dict[str, float]) -> str:
    """Return in one line what there is to do and what it costs about."""
    if plan.replay:
        judges = f"the judges are asked, about {cost['calls']:,.0f} calls" if cost["calls"] else "no model is asked"
        return f"{counted(len(jobs), 'novel')}, {cost['words']:,.0f} words, from recorded calls: {judges}."
    money = f", {cost['money']:,.2f} at the plan's price" if "money" in cost else ""
    judging = "" if len(plan.systems) < 2 else "; no judge is named (--judge MODEL), so there will be no preferences"
    if plan.judges:
        judging = (
            f"; {cost['judges_calls']:,.0f} of the calls and {cost['judges_input_tokens']:,.0f} of the tokens in are of "
            f"{counted(len(plan.judges), 'judge')}, qualification included"
        )
    return (
        f"{counted(len(jobs), 'novel')}, {cost['words']:,.0f} words: about {cost['calls']:,.0f} calls, "
        f"{cost['input_tokens']:,.0f} tokens in and {cost['output_tokens']:,.0f} out{money}{judging}"
    )


def _measure_memory(distance: int, facts: int | None, *, json: bool) -> None:
    """Print hit@4 at every distance."""
    from recurrentgpt.models.embeddings import default_embeddings
    from recurrentgpt.studies.measures.planted import FACTS, retrieval

    facts = facts or FACTS
    note(f"embedding {distance + facts:,} passages; this takes minutes")
    found = retrieval(default_embeddings(), distance, facts=facts)
    if json:
        print_json({"facts": facts, "hit_at_4": {str(way): rate for way, rate in found.items()}})
        return
    print_table(("Distance", "Found in the first 4"), [(str(way), f"{rate:.3f}") for way, rate in found.items()])


def _measure_worlds(worlds: list[str], distance: int, *, json: bool) -> None:
    """Print what the long-term memory finds of hidden worlds, by sort of question."""
    from recurrentgpt.models.embeddings import default_embeddings
    from recurrentgpt.studies.measures.hidden_recall import AMONG, ASKED_FOR, find_world, hidden_recall
    from recurrentgpt.studies.measures.hidden_world import PLANTED

    asked, embeddings, found = list(map(find_world, dict.fromkeys(worlds))), default_embeddings(), {}
    for world in asked:
        note(f"embedding {PLANTED + distance:,} passages of {world.name}; this takes minutes")
        found[world.name] = hidden_recall(world, embeddings, distance)
    if json:
        print_json({"among": AMONG, "worlds": found})
        return
    print_table(
        ("World", "Asked for", "Passages later", *(f"Among {many}" for many in AMONG)),
        [
            (name, ASKED_FOR[sort], f"{way:,}", *(f"{share:.2f}" for share in shares))
            for name, by_sort in found.items()
            for sort, by_distance in by_sort.items()
            for way, shares in by_distance.items()
        ],
    )


def _measure_systems(systems: list[str], distance: int, *, json: bool) -> None:
    """Print how often planted facts were there when each system needed them, at four levels and every distance."""
    from dataclasses import asdict

    from recurrentgpt.models.embeddings import default_embeddings
    from recurrentgpt.studies.errors import StudyError
    from recurrentgpt.studies.measures.planted import levels, measurable_systems, window_reach
    from recurrentgpt.studies.measures.world_author import memory_half_life
    from recurrentgpt.studies.report.sections import known_levels, recall_section

    known = measurable_systems()
    if unknown := [name for name in systems if name not in known]:
        raise StudyError(f"Facts are not planted for {unknown[0]}: one of {', '.join(known)}.")
    found = []
    for name in systems:
        note(f"{name} writes until facts are {distance:,} passages old; this takes minutes")
        found.append(asdict(levels(name, distance, embeddings=default_embeddings())))
    edges = {name: round(at, 1) for name in systems if (at := window_reach(name)) is not None}
    if json:
        print_json({"levels": found, "half_life": round(memory_half_life(), 2), "edges": edges})
        return
    for table in recall_section(found, known_levels(found)).tables:
        print_table(tuple(table.headings), [tuple(row) for row in table.rows])
    note(f"The scripted author's memory has a half-life of {memory_half_life():.1f} passages.")
    for name, at in edges.items():
        note(f"{name} reaches {at:.1f} passages back.")
