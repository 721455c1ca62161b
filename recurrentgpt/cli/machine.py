"""The commands about this machine: `doctor`, `models` and `config`; what does their work is loaded when one runs."""

from __future__ import annotations

from typing import Annotated

import typer

from recurrentgpt.cli.options import PLAIN, JsonLines

models = typer.Typer(rich_markup_mode=None, no_args_is_help=True, context_settings=PLAIN)
config = typer.Typer(rich_markup_mode=None, no_args_is_help=True, context_settings=PLAIN)


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
    from recurrentgpt.cli.console import print_text
    from recurrentgpt.infrastructure.settings import home

    print_text(str(home()))
