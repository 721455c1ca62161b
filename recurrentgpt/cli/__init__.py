"""The command line: `recurrentgpt`. Nothing heavy is imported before a command runs, so that help answers at once."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from recurrentgpt.cli.entry_point import run

    # Whoever asks the command to end, or closes its terminal, means what Ctrl-C means. What nohup ignores stays ignored.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)

    sys.exit(run())
