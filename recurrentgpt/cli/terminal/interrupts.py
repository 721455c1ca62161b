"""What an interrupt of the command line may mean beside Ctrl-C itself."""

from __future__ import annotations


class Ended(KeyboardInterrupt):
    """Somebody ended the command from outside, or closed its terminal: there is nobody to ask."""


class DraftDropped(KeyboardInterrupt):
    """Ctrl-C dropped words that were typed, and asks to leave nothing else."""


class UserLeaves(KeyboardInterrupt):
    """Somebody was asked what now, and leaves."""
