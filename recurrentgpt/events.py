"""Deprecated path of `recurrentgpt.Event`; it goes with version 0.3."""

import warnings

from recurrentgpt.schema.events import *  # noqa: F403
from recurrentgpt.schema.events import Event as Event

warnings.warn(
    "recurrentgpt.events is recurrentgpt.Event now; the old path goes with version 0.3.",
    DeprecationWarning,
    stacklevel=2,
)
