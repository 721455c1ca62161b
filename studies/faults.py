"""What can go wrong in a study, told to the person at the keyboard."""

from __future__ import annotations

from recurrentgpt.errors import RecurrentGPTError


class StudyError(RecurrentGPTError):
    """Report a plan, a run or a recording that cannot be used, and what to do."""


class RunStopped(StudyError):
    """Report that none of a run's novels can be gone on with for now."""
