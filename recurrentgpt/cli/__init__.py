"""The command line: `recurrentgpt`. Nothing heavy is imported before a command runs, so that help answers at once."""

from __future__ import annotations

import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from recurrentgpt.cli.entry_point import run

    # Whoever asks the command to end, or closes its terminal, is asked nothing back. What nohup ignores stays ignored.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)

    sys.exit(run())


def _end(number: int, frame: FrameType | None) -> None:
    from recurrentgpt.cli.terminal.interrupts import Ended

    raise Ended
