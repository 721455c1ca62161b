"""The command line: `recurrentgpt`. Nothing heavy is imported before a command runs, so that help answers at once."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from recurrentgpt.cli.run import run

    sys.exit(run())
