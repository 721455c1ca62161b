"""What the commands of `recurrentgpt study` do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recurrentgpt.cli.console import note, print_json, print_table, print_text
from recurrentgpt.errors import MissingExtra
from recurrentgpt.studies.faults import StudyError
from recurrentgpt.studies.folder import RunFolder
from recurrentgpt.studies.plan import Plan, estimate, read_plan

if TYPE_CHECKING:
    from recurrentgpt.studies.runner import Outcome, Progress, Report


def run_plan(name: str, output: Path | None, *, live: bool, remote: str | None, only_estimate: bool, yes: bool) -> None:
    """Write the novels of a plan, telling the cost first and the progress on the way."""
    plan = read_plan(name)
    if live:
        plan = plan.model_copy(update={"replay": ""})
    if only_estimate:
        note(_cost(plan, None))
        print_json(estimate(list(plan.jobs()), plan))
        return
    from recurrentgpt.studies.measures.planted import measure

    run = _runner(plan, remote)
    folder = RunFolder.create(output or Path(plan.name), plan)
    note(_cost(plan, folder))
    if not (plan.replay or yes) and (plan.model or remote is not None) and sys.stdin.isatty():
        note("Go on? [y/N]")
        if input().strip().casefold() not in ("y", "yes"):
            raise StudyError("Nothing was spent; --yes goes on without asking.")

    def tell(event: Progress) -> None:
        words = f", {event.words:,} words" if event.words else ""
        note(f"[{event.done}/{event.total}] {event.job.id}: {event.what}{words}")

    outcome = run(folder, tell)
    if plan.recall:
        measure(folder, note)
    if plan.judges and not plan.replay:
        from recurrentgpt.studies.judges import judge_run

        judge_run(folder, note)
    print_text(str(folder.path))
    failures = folder.failures()
    for row in failures:
        note(f"{row['novel']} failed: {row['error']}")
    if failures:
        raise StudyError(
            f"{len(failures)} of {outcome.finished + outcome.kept + outcome.failed} novels failed: run the plan again to try "
            "them again; the others are kept."
        )


def report_run(path: Path, output: Path) -> None:
    """Write the report of a run."""
    folder = RunFolder.open(path)
    try:
        from recurrentgpt.studies.report.pages import write_report
    except ModuleNotFoundError as error:
        raise MissingExtra("A report needs SciPy and Matplotlib: pip install 'recurrentgpt[study]'") from error
    write_report(folder, output, note)
    print_text(str(output / "report.html"))


def annotate_run(path: Path, port: int) -> None:
    """Serve the reading page until Ctrl-C."""
    from recurrentgpt.studies.annotate import serve

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
    from recurrentgpt.studies.measures.author import half_life
    from recurrentgpt.studies.measures.planted import SYSTEMS, edge, levels
    from recurrentgpt.studies.report.sections import recall_section

    if unknown := [name for name in systems if name not in SYSTEMS]:
        raise StudyError(f"Facts are not planted for {unknown[0]}: one of {', '.join(SYSTEMS)}.")
    found = []
    for name in systems:
        note(f"{name} writes until facts are {distance:,} passages old; this takes minutes")
        found.append(asdict(levels(name, distance, embeddings=default_embeddings())))
    edges = {name: round(at, 1) for name in systems if (at := edge(name)) is not None}
    if json:
        print_json({"levels": found, "half_life": round(half_life(), 2), "edges": edges})
        return
    for table in recall_section(found).tables:
        print_table(tuple(table.headings), [tuple(row) for row in table.rows])
    note(f"The scripted author's memory has a half-life of {half_life():.1f} passages.")
    for name, at in edges.items():
        note(f"{name} reaches {at:.1f} passages back.")


def _runner(plan: Plan, remote: str | None) -> Callable[[RunFolder, Report], Outcome]:
    """Return what runs the plan: this machine, or a server."""
    if remote is None:
        from recurrentgpt.studies.runner import run

        return run
    from recurrentgpt.cli.on_server import TOKEN
    from recurrentgpt.studies.remote import refuse, run_remote

    refuse(plan)
    return partial(run_remote, url=remote, token=os.environ.get(TOKEN))


def _cost(plan: Plan, folder: RunFolder | None) -> str:
    """Return in one line what is left to do and what it costs about."""
    jobs = [job for job in plan.jobs() if folder is None or folder.novel(job) is None]
    cost = estimate(jobs, plan)
    money = f", {cost['money']:,.2f} at the plan's price" if "money" in cost else ""
    source = " from recorded calls" if plan.replay else ""
    calls, tokens = (
        f"{cost['calls']:,.0f} calls",
        f"{cost['input_tokens']:,.0f} tokens in and {cost['output_tokens']:,.0f} out",
    )
    return f"{len(jobs)} novels{source}, {cost['words']:,.0f} words: about {calls}, {tokens}{money}"
