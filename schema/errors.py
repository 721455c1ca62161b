"""Every failure that a caller can meet, as one typed hierarchy.

Each message is for the person at the keyboard: what happened, then what to do about it.
"""

from __future__ import annotations


class RecurrentGPTError(RuntimeError):
    """Report a failure in one sentence that says what happened and what to do.

    A RuntimeError, for LangGraph's server hides from its clients what exceptions of other kinds say.
    """


class SettingsError(RecurrentGPTError):
    """Report a setting, flag or input that cannot be used."""


class PromptError(RecurrentGPTError):
    """Report a prompt template that is missing or does not fit its variables."""


class StoryError(RecurrentGPTError):
    """Report something wrong with one story."""


class StateError(StoryError, ValueError):
    """Report a graph's state that cannot be used; servers answer a ValueError with its sentence."""


class StoryNotFound(StoryError):
    """Report that no story, or more than one, answers to the given name."""


class EntryNotFound(StoryError):
    """Report that no entry of the codex, or more than one, answers to the given name."""


class StoryBusy(StoryError):
    """Report that another process is writing this story at this moment."""


class BadAnswer(RecurrentGPTError):
    """Report an answer to the choice of a plan that cannot be used, in words for the person who gave it."""


class StorageError(RecurrentGPTError):
    """Report that stories cannot be read from or written to their place."""


class ExtensionError(RecurrentGPTError):
    """Report that something which another package adds cannot be used."""


class BookError(RecurrentGPTError):
    """Report a book file that cannot be read or written."""


class ModelError(RecurrentGPTError):
    """Report that a model gave no usable answer."""


class ModelUnavailable(ModelError):
    """Report a fault that may pass: a timeout, a rate limit, a server error, a cut stream."""


class ReasoningShown(ModelUnavailable):
    """Report reasoning that came as if it were the reply: nothing of it is kept, and the next reply comes without it."""


class ModelTooSlow(ModelError):
    """Report a reply that took many times the timeout: it is not paid for again unasked, and what there is of it is kept."""


class ModelRefused(ModelError):
    """Report a fault that trying again cannot mend: a wrong key, an unknown model, a bad request.

    `status` is the HTTP status of a server's refusal of the request as it is; None where the message tells more of the fault.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ModelReplyError(ModelError):
    """Report a reply that stayed unusable after every repair that is allowed."""


class BudgetReached(ModelError):
    """Report that the next call might use more tokens than the run may; what was written before it is kept."""


class FetchError(ModelError):
    """Report that model files could not be fetched or did not verify."""


class MissingExtra(RecurrentGPTError):
    """Report an optional dependency that is not installed, and name the extra that brings it."""


BAD_USAGE = (SettingsError, BadAnswer)
"""What a caller can mend by asking for something else; every other error is a failure of what was asked for."""
