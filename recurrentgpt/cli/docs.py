"""Render docs/cli.md from the help texts: `python -m recurrentgpt.cli.docs > docs/cli.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from recurrentgpt.cli.app import app

WIDTH = 98
"""Columns of the help at a terminal that is wide enough."""

HEAD = """# The command line

What `recurrentgpt COMMAND --help` prints. This page is made by `python -m recurrentgpt.cli.docs > docs/cli.md`, and a
test keeps it true.
"""


def render() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *_sections(typer.main.get_command(app), "recurrentgpt", None)])


def _sections(command: Any, name: str, parent: Any) -> Iterator[str]:
    settings = {**command.context_settings, "terminal_width": WIDTH}
    context = type(command).context_class(command, info_name=name, parent=parent, **settings)
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"## {context.command_path}\n\n```text\n{text}\n```\n"
    for below, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _sections(child, below, context)


if __name__ == "__main__":
    sys.stdout.write(render())
