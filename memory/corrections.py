"""What was corrected for a branch as a whole: its brief, its codex, and the summaries of passages further back.

A correction of an earlier passage must not change the log, and a fork that left before it must not see it. So it is kept
beside the log, in a row named by its content, and the commits that it holds for carry that name: a branch of any length
costs one row for each correction, which holds those before it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NotRequired

from typing_extensions import TypedDict

from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.memory.log_rows import row_digest
from recurrentgpt.memory.row_shapes import shaped
from recurrentgpt.schema.codex import Change
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import Brief

if TYPE_CHECKING:
    from langgraph.store.base import PutOp

    from recurrentgpt.memory.story_log import StoryLog


class Overlay(TypedDict):
    """Corrections in force on a branch."""

    summaries: dict[str, str]
    """Corrected summaries by commit id."""
    brief: NotRequired[Brief]
    """The whole corrected brief; the story's own where it is absent."""
    codex: NotRequired[list[Change]]
    """What the author says of the branch as a whole: entries of their own, merged, pinned and hidden ones."""
    chapters: NotRequired[dict[str, str | None]]
    """By step, the title of the chapter that begins with a passage, in place of what its plan says; None for no chapter."""


async def read_overlay(log: LogReader, story: str, overlay: str) -> Overlay:
    """Return the corrections of this id; none for an empty one. Raises StoryError where the log lacks them."""
    if not overlay:
        return Overlay(summaries={})
    value = await log.value((*log.root, "overlays", story), overlay)
    if value is None:
        raise StoryError(f"The log of story {story} lacks corrections {overlay}; restore the database from a backup.")
    return shaped(Overlay, value, story)


async def in_force(log: LogReader, commit: Commit) -> str:
    """Return the id of the corrections in force at a commit: its own, or those that were brought along to it by the head."""
    head = await log.head(commit["story"])
    own = commit.get("overlay", "")
    return head.get("overlay", own) if head and head["head"] == commit["id"] else own


def with_summary(commit: Commit, corrected: Mapping[str, str]) -> Commit:
    """Return a commit with the summary that stands for it on a branch."""
    return {**commit, "summary": corrected.get(commit["id"], commit["summary"])}


def overlay_op(log: StoryLog, story: str, overlay: Overlay) -> tuple[str, PutOp]:
    """Return the id of corrections, and the operation that writes them, to join a batch."""
    key = row_digest(overlay)
    return key, log.put((*log.root, "overlays", story), key, overlay)
