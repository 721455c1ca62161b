"""Names that are still understood, and the version that takes them away."""

from __future__ import annotations

import warnings


def warn_renamed(old: str, new: str) -> None:
    """Warn whoever calls the caller that `old` is called `new` now."""
    warnings.warn(f"{old} goes with version 0.3.0; use {new}.", DeprecationWarning, stacklevel=3)
