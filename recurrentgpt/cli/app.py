"""The commands and their options, and the one place where errors become a sentence and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from recurrentgpt.cli.write import write
from recurrentgpt.errors import RecurrentGPTError

JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON Lines.")]
JsonObject = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
StoryName = Annotated[str, typer.Argument(metavar="STORY", help="Id, unique prefix of an id, or title.")]

PLAIN = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings=PLAIN,
)
models = typer.Typer(rich_markup_mode=None, no_args_is_help=True, context_settings=PLAIN)
config = typer.Typer(rich_markup_mode=None, no_args_is_help=True, context_settings=PLAIN)

app.command()(write)


@app.callback(invoke_without_command=True)
def recurrentgpt(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Write novels and interactive stories of any length.

    \b
    Examples:
      recurrentgpt write --genre mystery --premise "A lighthouse keeper finds a stranger's diary."
      recurrentgpt write -i                  choose what happens next, passage by passage
      recurrentgpt stories                   list what there is
      recurrentgpt write 3f2a                go on with the story whose id begins with 3f2a
      recurrentgpt export 3f2a -o novel.md

    Without a key and without an endpoint, the embedded model writes on this machine; nothing is sent anywhere. For
    another model set OPENAI_BASE_URL, OPENAI_API_KEY and RECURRENTGPT_MODEL, or use the options of `write`.

    Stories and other data go to standard output, everything else to standard error.

    Exit codes: 0 done; 1 a failure, said in one sentence; 2 bad usage; 130 stopped by Ctrl-C, with everything saved.
    """
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"recurrentgpt {version_of('recurrentgpt')}")
        raise typer.Exit


@app.command()
def stories(json: JsonLines = False) -> None:
    """List the stories, the one written last at the end.

    \b
    Examples:
      recurrentgpt stories
      recurrentgpt stories --json | jq -r .title
    """
    from recurrentgpt.cli import read

    read.list_stories(json=json)


@app.command()
def show(story: StoryName, json: JsonObject = False) -> None:
    """Print a story, passage by passage.

    \b
    Examples:
      recurrentgpt show "The Lantern Keeper" | less
      recurrentgpt show 3f2a --json | jq -r '.passages[-1].text'
    """
    from recurrentgpt.cli import read

    read.show_story(story, json=json)


@app.command()
def memory(story: StoryName, json: JsonObject = False) -> None:
    """Print what a story remembers, and why.

    That is its short-term memory, what the newest passage added and dropped, and which passages were recalled for it.

    \b
    Examples:
      recurrentgpt memory 3f2a
      recurrentgpt memory 3f2a --json | jq -r .short_term_memory
    """
    from recurrentgpt.cli import read

    read.show_memory(story, json=json)


@app.command()
def export(
    story: StoryName,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a story to a Markdown file.

    \b
    Examples:
      recurrentgpt export 3f2a -o novel.md
      recurrentgpt export 3f2a -o - | pandoc -o novel.epub
    """
    from recurrentgpt.cli import read

    read.export_story(story, output, force=force)


@app.command()
def doctor(json: JsonLines = False) -> None:
    """Check this machine, and say what to do.

    It looks at Python, SQLite, FAISS, the stories, the models, the endpoint and the disk, and exits
    with 1 when something would keep a story from being written.

    \b
    Examples:
      recurrentgpt doctor
      recurrentgpt doctor --json | jq 'select(.status != "ok")'
    """
    from recurrentgpt.cli.doctor import examine

    raise typer.Exit(examine(json=json))


@models.callback()
def _models() -> None:
    """List and fetch the models that run on this machine.

    \b
    Examples:
      recurrentgpt models list
      recurrentgpt models pull
      recurrentgpt models path all-MiniLM-L6-v2
    """


@models.command("list")
def models_list(json: JsonLines = False) -> None:
    """List the models, and whether they are on this machine.

    \b
    Example:
      recurrentgpt models list
    """
    from recurrentgpt.cli.models import list_models

    list_models(json=json)


@models.command("pull")
def models_pull(
    model: Annotated[str, typer.Argument(metavar="ID", help="Model to fetch; all when left out.")] = "",
) -> None:
    """Fetch models now; `write` does it by itself at first use. An interrupted fetch goes on where it stopped.

    \b
    Example:
      recurrentgpt models pull
    """
    from recurrentgpt.cli.models import pull_models

    pull_models(model)


@models.command("path")
def models_path(
    model: Annotated[str, typer.Argument(metavar="ID", help="The embedded writer when left out.")] = "",
) -> None:
    """Print where a model is, or will be.

    \b
    Example:
      ls -lh "$(recurrentgpt models path)"
    """
    from recurrentgpt.cli.models import print_path

    print_path(model)


@config.callback()
def _config() -> None:
    """Show the settings, and where each comes from.

    \b
    Examples:
      recurrentgpt config show
      recurrentgpt config path
    """


@config.command("show")
def config_show(json: JsonLines = False) -> None:
    """Print every setting, its value, and where that came from; secrets stay hidden.

    \b
    Example:
      recurrentgpt config show
    """
    from recurrentgpt.cli.config import show_settings

    show_settings(json=json)


@config.command("path")
def config_path() -> None:
    """Print the folder of stories, checkpoints and models.

    \b
    Example:
      du -sh "$(recurrentgpt config path)"
    """
    from recurrentgpt.settings import home

    typer.echo(home())


app.add_typer(models, name="models")
app.add_typer(config, name="config")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; the only place where an exception ends."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _prepare_streams()
    try:
        code = typer.main.get_command(app).main(args=arguments, prog_name="recurrentgpt", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except (BrokenPipeError, SystemExit):
        # Whoever read the output has had enough, as `head` does; for that, typer raises SystemExit.
        _silence_stdout()
        return 0
    except Exception as error:  # noqa: BLE001 - whatever it is, the user is told in a sentence
        return _report(error, json="--json" in arguments)
    return code if isinstance(code, int) else 0


def _report(error: Exception, *, json: bool) -> int:
    """Say what went wrong and return the exit code."""
    from recurrentgpt.cli.console import complain, print_json, visible

    if os.environ.get("RECURRENTGPT_DEBUG"):
        traceback.print_exception(error)
    show = getattr(error, "show", None)
    if show is not None:
        # An error of usage. Releases of typer differ in its class, and all of them have these.
        message, code = str(getattr(error, "format_message", error.__str__)()), int(getattr(error, "exit_code", 2))
        show()
    elif isinstance(error, RecurrentGPTError):
        message, code = str(error), 1
        complain(message)
    else:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message, code = f"Unexpected {what}. Set RECURRENTGPT_DEBUG=1 to see where it happened.", 1
        complain(message)
    if json and message:
        try:
            print_json({"event": "error", "message": visible(message)})
        except BrokenPipeError:
            _silence_stdout()
    return code


def _prepare_streams() -> None:
    """Make every character printable: pipes and files carry UTF-8, a terminal shows ? for what it lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace", **({} if stream.isatty() else {"encoding": "utf-8"}))


def _silence_stdout() -> None:
    """Keep Python from complaining at exit that nobody reads its output any more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - it lives as long as the process
