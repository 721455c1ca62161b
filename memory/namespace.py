"""Whose part of a store a run works in: on a server with auth every user has one, which no other user's run can name."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from langgraph.runtime import Runtime, get_runtime

from recurrentgpt.memory.log_rows import ROOT as ROOT


def own_root() -> tuple[str, ...]:
    """Return the namespace below which whoever this runs for keeps stories: `ROOT`, or that of the user a server signed in.

    The server alone says who that is; what a client writes in a run's input, context or state does not change it.
    """
    try:
        runtime: Runtime[Any] | None = get_runtime()
    except RuntimeError:
        # Outside of any run: the library, on the machine of whoever it belongs to.
        return ROOT
    user = runtime.server_info.user if runtime and runtime.server_info else None
    if user is None or not user.is_authenticated:
        return ROOT
    # A name may hold what no namespace may, such as the dots of an e-mail address.
    return (*ROOT, "users", sha256(user.identity.encode()).hexdigest()[:32])
