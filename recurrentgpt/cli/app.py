"""The command line: which commands there are, in the order in which help lists them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from recurrentgpt.cli import branching, desk, editing, files, machine, mcp, reading
from recurrentgpt.cli.options import PLAIN
from recurrentgpt.cli.study import study
from recurrentgpt.cli.write import play, write

WRITE, READ, MOVE, EDIT, FILES = "Write", "Read", "Branch", "Edit", "Files"


class InGroups(TyperGroup):
    """A command whose help lists the commands below it by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one list for each group, and last the commands of none."""
        groups: dict[str, list[tuple[str, str]]] = {group: [] for group in (WRITE, READ, MOVE, EDIT, FILES, "More")}
        width = max(map(len, self.commands))
        for name, command in self.commands.items():
            group = getattr(command, "rich_help_panel", None)
            group = group if group in groups else "More"
            groups[group].append((name.ljust(width), command.get_short_help_str(formatter.width - width - 6)))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)


app = typer.Typer(
    cls=InGroups,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings=PLAIN,
)


@app.callback(invoke_without_command=True)
def recurrentgpt(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    log_json: Annotated[
        bool,
        typer.Option(
            "--log-json", help="Log to standard error, one JSON object a line; without prompts, stories and keys."
        ),
    ] = False,
) -> None:
    """Write novels and interactive stories of any length.

    \b
    Examples:
      recurrentgpt write --genre mystery --premise "A lighthouse keeper finds a stranger's diary."
      recurrentgpt write -i                  choose what happens next, passage by passage
      recurrentgpt stories                   list what there is
      recurrentgpt write 3f2a                go on with the story whose id begins with 3f2a
      recurrentgpt play --genre horror       be the main character
      recurrentgpt tree 3f2a                 everything that was written, branch by branch
      recurrentgpt export 3f2a -o novel.epub

    Without a key and without an endpoint, the embedded model writes on this machine; nothing is sent anywhere. For
    another model set OPENAI_BASE_URL, OPENAI_API_KEY and RECURRENTGPT_MODEL, or use the options of `write`.

    Stories and other data go to standard output, everything else to standard error.

    Exit codes: 0 done; 1 a failure, said in one sentence; 2 bad usage; 130 stopped (Ctrl-C), with everything saved.
    """
    if version:
        from importlib.metadata import version as version_of

        from recurrentgpt.cli.console import print_text

        print_text(f"recurrentgpt {version_of('recurrentgpt')}")
        raise typer.Exit
    if log_json:
        from recurrentgpt.infrastructure import logs

        logs.log_json()


for group, commands in {
    WRITE: (write, play, branching.choose, branching.retry, branching.replan),
    READ: (reading.stories, reading.show, reading.memory, reading.recall),
    MOVE: (branching.tree, branching.goto, branching.undo, branching.redo, branching.name, branching.diff),
    EDIT: (editing.edit, editing.edit_memory, editing.edit_plan, editing.edit_summary, editing.edit_brief,
           editing.rename, editing.set_settings, editing.archive, editing.unarchive, editing.erase),
    FILES: (files.import_file, files.export),
}.items():  # fmt: skip
    for command in commands:
        app.command({"import_file": "import", "set_settings": "set"}.get(command.__name__), rich_help_panel=group)(
            command
        )
app.add_typer(files.prompts, name="prompts", rich_help_panel=FILES)
app.command()(machine.doctor)
app.command()(desk.desk)
app.command()(mcp.mcp)
app.add_typer(machine.models, name="models")
app.add_typer(machine.config, name="config")
app.add_typer(study, name="study")
