"""The command line: which commands there are, in the order in which help lists them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from recurrentgpt.cli.commands import branches, edit, import_export, maintenance, manage, read, regenerate, setup
from recurrentgpt.cli.commands.codex import codex, context
from recurrentgpt.cli.commands.desk import desk, serve
from recurrentgpt.cli.commands.doctor import doctor
from recurrentgpt.cli.commands.mcp import mcp
from recurrentgpt.cli.commands.options import PLAIN
from recurrentgpt.cli.commands.play import play
from recurrentgpt.cli.commands.study import study
from recurrentgpt.cli.commands.write import write

WRITE, READ, BRANCH, EDIT, FILES = "Write", "Read", "Branch", "Edit", "Files"


OTHER_WORDS = {"search": "recall", "find": "recall"}
"""What somebody may call a command, and no likeness of letters would find."""


class InGroups(TyperGroup):
    """A command whose help lists the commands below it by what they are for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is meant; offer the one whose other word it is."""
        if meant := OTHER_WORDS.get(args[0]):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one list for each group, and last the commands of none."""
        groups: dict[str, list[tuple[str, str]]] = {group: [] for group in (WRITE, READ, BRANCH, EDIT, FILES, "More")}
        width = max(map(len, self.commands))
        for name, command in self.commands.items():
            if command.hidden:
                continue
            group = getattr(command, "rich_help_panel", None)
            group = group if group in groups else "More"
            groups[group].append((name.ljust(width), command.get_short_help_str(formatter.width - width - 6)))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)


app = typer.Typer(
    cls=InGroups,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings=PLAIN,
)


@app.callback(invoke_without_command=True)
def recurrentgpt(
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and leave.")] = False,
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

        from recurrentgpt.cli.terminal.console import print_text

        print_text(f"recurrentgpt {version_of('recurrentgpt')}")
        raise typer.Exit
    if log_json:
        from recurrentgpt.infrastructure import logs

        logs.log_json()


def _complete_commands(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the commands that a word of `help` may become, below those named before it."""
    group: Any = typer.main.get_command(app)
    for name in ctx.params.get("command") or []:
        group = getattr(group, "commands", {}).get(name)
    known = getattr(group, "commands", {})
    return [name for name, command in known.items() if name.startswith(incomplete) and not command.hidden]


def help_page(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="The command; all when left out.", autocompletion=_complete_commands),
    ] = None,
) -> None:
    """Print the help of a command, as its --help does.

    \b
    Examples:
      recurrentgpt help
      recurrentgpt help models pull
    """
    typer.main.get_command(app).main([*(command or []), "--help"], prog_name="recurrentgpt", standalone_mode=False)


for group, commands in {
    WRITE: (write, play, regenerate.choose, regenerate.retry, regenerate.replan),
    READ: (read.stories, read.show, read.memory, read.brief, codex, context, read.recall),
    BRANCH: (branches.tree, branches.goto, branches.undo, branches.redo, branches.name, branches.diff),
    EDIT: (edit.edit, manage.rename, manage.set_settings, manage.archive, manage.unarchive, manage.erase),
    FILES: (import_export.import_file, import_export.export, maintenance.backup, maintenance.restore, maintenance.check),
}.items():  # fmt: skip
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, name="edit", rich_help_panel=group)
            continue
        # Two whose names mean something else in Python.
        name = {"import_file": "import", "set_settings": "set"}.get(command.__name__)
        app.command(name, rich_help_panel=group)(command)
for former in (edit.edit_memory, edit.edit_plan, edit.edit_summary, edit.edit_brief):
    name = former.__name__.replace("_", " ")
    app.command(name.replace(" ", "-"), hidden=True)(edit.deprecated(former, name))
app.add_typer(import_export.prompts, name="prompts", rich_help_panel=FILES)
app.command("help")(help_page)
app.command()(doctor)
app.command()(desk)
app.command()(serve)
app.command()(mcp)
app.add_typer(setup.models, name="models")
app.add_typer(setup.config, name="config")
app.add_typer(study, name="study")
