"""`recurrentgpt study`: run the systems of the paper, measure them and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

study = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")]


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
def systems(json: Annotated[bool, typer.Option("--json", help="Print JSON Lines.")] = False) -> None:
    """List the systems, with calls and tokens per 1,000 words of a novel of 3,000.

    \b
    Example:
      recurrentgpt study systems
    """
    from recurrentgpt.cli.console import print_json, print_table
    from recurrentgpt.studies.baselines.catalogue import all_systems
    from recurrentgpt.studies.runs.costs import per_1000_words

    systems = all_systems()
    costs = {name: per_1000_words(name) for name in systems}
    if json:
        for system in systems.values():
            print_json({"system": system.name, "what": system.description, **costs[system.name].__dict__})
        return
    rows = [
        (name, f"{cost.calls:g}", f"{cost.input_tokens:,.0f}", f"{cost.output_tokens:,.0f}", systems[name].description)
        for name, cost in costs.items()
    ]
    print_table(("System", "Calls", "Tokens in", "Tokens out", "What"), rows, whole=(0, 1, 2, 3))


@study.command()
def run(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="TOML file, or toy, table1, table2.")],
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
            help="A model that compares the novels, beside the plan's own judges; asked at the generator's address. May be "
            "given again.",
        ),
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what it will cost, and leave.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before tokens are spent.")] = False,
) -> None:
    """Write the novels of a plan, and let its judges compare them.

    A run that was stopped goes on where it was; finished novels are never written again.

    \b
    Examples:
      recurrentgpt study run toy                 from recorded calls, without a model
      recurrentgpt study run table1 --judge gpt-4o --estimate
      recurrentgpt study run my-plan.toml -o my-run --yes
      recurrentgpt study run my-plan.toml -o my-run --remote http://127.0.0.1:2024
    """
    from recurrentgpt.cli import studies

    studies.run_plan(plan, output, judge or [], live=live, remote=remote, only_estimate=estimate, yes=yes)


@study.command()
def report(
    run: RunPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write.")],
) -> None:
    """Write tables, tests and plots of a run, as HTML, Markdown, JSONL and CSV.

    \b
    Example:
      recurrentgpt study report toy -o toy-report
    """
    from recurrentgpt.cli import studies

    studies.report_run(run, output)


@study.command()
def annotate(
    run: RunPath,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8765,
) -> None:
    """Serve a blind reading page on this machine, and store its labels.

    \b
    Example:
      recurrentgpt study annotate toy
    """
    from recurrentgpt.cli import studies

    studies.annotate_run(run, port)


@study.command()
def recall(
    distance: Annotated[
        int, typer.Option("--distance", min=1, max=1024, help="Greatest distance, in passages.")
    ] = 1024,
    facts: Annotated[int, typer.Option("--facts", min=1, max=250, help="Facts per distance.")] = 200,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system", help="Let this system write, and measure its memory, prompts and text too; repeatable."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure how far back a planted fact is found.

    Without --system it is the long-term memory alone that is asked, for many facts per distance. It needs no model but
    the embedder, the default one or that of RECURRENTGPT_EMBEDDER.

    \b
    Examples:
      recurrentgpt study recall --distance 64
      RECURRENTGPT_EMBEDDER=hash-256 recurrentgpt study recall
      recurrentgpt study recall --system recurrentgpt --system rolling_1024
    """
    from recurrentgpt.cli import studies

    if system:
        studies.measure_levels(system, distance, json=json)
    else:
        studies.measure_recall(distance, facts, json=json)
