"""What the commands of `recurrentgpt study` do."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from recurrentgpt.cli.console import counted, note, print_json, print_table, print_text
from recurrentgpt.cli.work import confirmed
from recurrentgpt.schema.errors import MissingExtra
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.runs.costs import CORRUPTION_KINDS, estimate, judging_cost
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Job, Judge, Plan, read_plan

if TYPE_CHECKING:
    from recurrentgpt.studies.runs.runner import Outcome, Progress, Report


def run_plan(
    name: str,
    output: Path | None,
    judges: list[str],
    *,
    live: bool,
    remote: str | None,
    only_estimate: bool,
    yes: bool,
) -> None:
    """Write the novels of a plan, telling the cost first and the progress on the way."""
    plan = read_plan(name)
    known = {judge.model for judge in plan.judges}
    added = [Judge(model=model) for model in dict.fromkeys(judges) if model not in known]
    plan = plan.model_copy(update={"judges": [*plan.judges, *added]} | ({"replay": ""} if live else {}))
    target = output or Path(plan.name)
    if only_estimate:
        RunFolder(target).check(plan)
        note(_told(plan, *(left := _left(plan, RunFolder(target)))))
        print_json(left[1])
        return
    try:
        _run_plan(plan, target, remote, yes=yes)
    except KeyboardInterrupt:
        given = [("-o", output), ("--remote", remote), *(("--judge", model) for model in judges)]
        options = [part for option, value in given if value is not None for part in (option, str(value))]
        again = shlex.join(["recurrentgpt", "study", "run", name, *options, *(["--live"] if live else [])])
        note("Stopped. What was finished is kept, and so is every passage of the others.")
        note(f"Continue: {again}")
        raise typer.Exit(130) from None


def _run_plan(plan: Plan, target: Path, remote: str | None, *, yes: bool) -> None:
    from recurrentgpt.studies.measures.planted import measure
    from recurrentgpt.studies.runs.endpoints import asks_paid_model, check_keys

    run = _runner(plan, remote)
    RunFolder(target).check(plan)
    if not plan.replay:
        check_keys(plan)
    jobs, cost = _left(plan, RunFolder(target))
    note(_told(plan, jobs, cost))
    asked = cost["calls"] > 0 and (asks_paid_model(plan) or remote is not None)
    if asked and not confirmed("Go on, and have tokens spent?", yes=yes):
        raise StudyError("Nothing was spent; --yes goes on without asking.")
    folder = RunFolder.create(target, plan)

    def tell(event: Progress) -> None:
        words = f", {event.words:,} words" if event.words else ""
        note(f"[{event.done}/{event.total}] {event.job.id}: {event.what}{words}")

    outcome = run(folder, tell)
    if plan.recall:
        measure(folder, note)
    silent = _judge(folder)
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


def _judge(folder: RunFolder) -> int:
    """Let the judges of a run compare its novels, where it has any of both; return how many failed."""
    if not folder.plan.judges:
        return 0
    from recurrentgpt.studies.judging.judge_runner import judge_run
    from recurrentgpt.studies.judging.pairwise import pairs

    if not pairs(folder):
        note("No premise has two finished novels, so there is nothing to judge.")
        return 0
    return judge_run(folder, note)


def report_run(path: Path, output: Path) -> None:
    """Write the report of a run."""
    folder = RunFolder.open(path)
    try:
        from recurrentgpt.studies.report.write_report import write_report
    except ModuleNotFoundError as error:
        raise MissingExtra("A report needs SciPy and Matplotlib: pip install 'recurrentgpt[study]'") from error
    write_report(folder, output, note)
    print_text(str(output / "report.html"))


def annotate_run(path: Path, port: int) -> None:
    """Serve the reading page until Ctrl-C."""
    from recurrentgpt.studies.judging.annotate import serve

    serve(RunFolder.open(path), port, lambda address: note(f"Read at {address} and stop with Ctrl-C."))


def measure_recall(distance: int, facts: int, *, json: bool) -> None:
    """Print hit@4 at every distance."""
    from recurrentgpt.models.embeddings import default_embeddings
    from recurrentgpt.studies.measures.planted import retrieval

    note(f"embedding {distance + facts:,} passages; this takes minutes")
    found = retrieval(default_embeddings(), distance, facts=facts)
    if json:
        print_json({"facts": facts, "hit_at_4": {str(way): rate for way, rate in found.items()}})
        return
    print_table(("Distance", "Found in the first 4"), [(str(way), f"{rate:.3f}") for way, rate in found.items()])


def measure_levels(systems: list[str], distance: int, *, json: bool) -> None:
    """Print how often planted facts were there when each system needed them, at four levels and every distance."""
    from dataclasses import asdict

    from recurrentgpt.models.embeddings import default_embeddings
    from recurrentgpt.studies.measures.planted import levels, measurable_systems, window_reach
    from recurrentgpt.studies.measures.world_author import memory_half_life
    from recurrentgpt.studies.report.sections import recall_section

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
    for table in recall_section(found).tables:
        print_table(tuple(table.headings), [tuple(row) for row in table.rows])
    note(f"The scripted author's memory has a half-life of {memory_half_life():.1f} passages.")
    for name, at in edges.items():
        note(f"{name} reaches {at:.1f} passages back.")


def _runner(plan: Plan, remote: str | None) -> Callable[[RunFolder, Report], Outcome]:
    """Return what runs the plan: this machine, or a server, which has to answer."""
    if remote is None:
        from recurrentgpt.studies.runs.runner import run

        return run
    from recurrentgpt.cli.on_server import TOKEN
    from recurrentgpt.studies.runs.remote_runner import check_server, run_remote

    token = os.environ.get(TOKEN)
    check_server(plan, remote, token)
    return partial(run_remote, url=remote, token=token)


def _left(plan: Plan, folder: RunFolder) -> tuple[list[Job], dict[str, float]]:
    """Return the novels that are left to write in a folder, and what they and what is left to judge cost about."""
    from recurrentgpt.studies.judging.pairwise import Qualification, verdict_key

    known = {row["judge"]: Qualification.of(row) for row in folder.rows("qualification.jsonl")}
    told = {name: one.qualified for name, one in known.items()}
    shown = {name: one.pairs // CORRUPTION_KINDS for name, one in known.items()}
    done = {verdict_key(row) for row in folder.rows("verdicts.jsonl")}
    jobs = [job for job in plan.jobs() if folder.novel(job) is None]
    cost = estimate(jobs, plan, judging_cost(plan, done, told, shown))
    return jobs, {
        name: amount if name in ("novels", "words") else 0 for name, amount in cost.items()
    } if plan.replay else cost


def _told(plan: Plan, jobs: list[Job], cost: dict[str, float]) -> str:
    """Return in one line what there is to do and what it costs about."""
    if plan.replay:
        return f"{counted(len(jobs), 'novel')}, {cost['words']:,.0f} words, from recorded calls: no model is asked."
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
