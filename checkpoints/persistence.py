"""The saver and the store of one place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.store.base import BaseStore


@dataclass(frozen=True)
class Persistence:
    """An open saver and store; compile and invoke graphs with `durability="sync"` so that a crash loses one call.

    `description` says where they are and carries no secret.
    """

    saver: BaseCheckpointSaver[Any]
    store: BaseStore
    description: str
    holding: Callable[[str], AbstractAsyncContextManager[None]] | None = None
    """Holds the right to write a story against other machines; None where only this one can reach the place."""
    erased: Callable[[], Awaitable[None]] | None = None
    """Gives back to the disk what was erased; None where the place does so by itself."""
