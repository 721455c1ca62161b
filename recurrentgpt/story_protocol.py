"""What the faces of a story need of it: a `Story` of this machine has it, and so has one on a server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import Ref
from recurrentgpt.engine.replay import PendingReplay, ReplayCost
from recurrentgpt.engine.snapshot import StorySnapshot
from recurrentgpt.engine.tree import Tree
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import Brief


class StoryProtocol(Protocol):
    """A story to write, choose in, go back in and look at; each member is documented at `Story`.

    A story on a server raises StoryError where only the log could do what is asked.
    """

    context: Context

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def head(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def brief(self) -> Brief: ...  # noqa: D102
    @property
    def memory(self) -> str: ...  # noqa: D102
    @property
    def plans(self) -> list[str]: ...  # noqa: D102
    @property
    def waiting_plan(self) -> str | None: ...  # noqa: D102
    @property
    def pending_replay(self) -> PendingReplay | None: ...  # noqa: D102

    def snapshot(self) -> StorySnapshot: ...  # noqa: D102
    def passage(self, ref: Ref | None = None, /) -> Passage: ...  # noqa: D102
    def tree(self) -> Tree: ...  # noqa: D102
    def names(self) -> dict[str, str]: ...  # noqa: D102

    def begin(self) -> Iterator[Event]: ...  # noqa: D102
    def choose(self, answer: object, /) -> str: ...  # noqa: D102
    def stream(self, steps: int = 1) -> Iterator[Event]: ...  # noqa: D102
    def retry(self, at: Ref | None = None, /) -> Iterator[Event]: ...  # noqa: D102
    def replan(self, at: Ref | None = None, /) -> Iterator[Event]: ...  # noqa: D102

    def goto(self, ref: Ref, /) -> Passage: ...  # noqa: D102
    def undo(self, steps: int = 1, /) -> Passage: ...  # noqa: D102
    def redo(self, steps: int = 1, /) -> Passage: ...  # noqa: D102
    def name_branch(self, name: str, ref: Ref | None = None, /) -> str: ...  # noqa: D102
    def replay_cost(self, ref: Ref, /) -> ReplayCost: ...  # noqa: D102
    def edit_passage(self, ref: Ref, text: str, /, *, replay: bool = False) -> Iterator[Event]: ...  # noqa: D102
    def resume_replay(self) -> Iterator[Event]: ...  # noqa: D102
    def edit_memory(self, text: str, at: Ref | None = None, /) -> str: ...  # noqa: D102
