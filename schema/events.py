"""What happens while a story is written, as plain dictionaries; `recurrentgpt write --json` prints the same objects."""

from __future__ import annotations

from typing import Any

from recurrentgpt.memory.chronicle import Commit, StoryRecord
from recurrentgpt.schema.state import Usage

Event = dict[str, Any]
"""One thing that happened; `event` names it."""


def story_event(record: StoryRecord) -> Event:
    """Return the event that tells which story is being written."""
    return {"event": "story", "story": record["story"], "title": record["title"], "genre": record["genre"]}


def passage_event(commit: Commit) -> Event:
    """Return the event of a finished passage."""
    return {
        "event": "passage",
        "story": commit["story"],
        "id": commit["id"],
        "parent": shown_parent(commit),
        "step": commit["step"],
        "plan": commit["plan"],
        "text": commit["passage"],
    }


def memory_event(commit: Commit) -> Event:
    """Return the event of a rewritten memory."""
    return {
        "event": "memory",
        "step": commit["step"],
        "short_term_memory": commit["short_term_memory"],
        "dropped": commit["rationale"]["dropped"],
        "added": commit["rationale"]["added"],
        "recalled": commit["recalled"],
    }


def replay_event(commit: Commit, done: int, total: int, *, kept: bool) -> Event:
    """Return the event of a passage that an edit with replay has put in place; `kept` when the log had it already."""
    return {
        "event": "replay",
        "story": commit["story"],
        "id": commit["id"],
        "step": commit["step"],
        "done": done,
        "total": total,
        "kept": kept,
    }


def plans_event(commit: Commit, chosen: int | None, plan: str | None, why: str) -> Event:
    """Return the event of proposed plans; nothing is chosen where the run ends."""
    return {
        "event": "plans",
        "step": commit["step"],
        "plans": commit["candidate_plans"],
        "chosen": chosen,
        "plan": plan,
        "why": why,
    }


def done_event(story: str, steps: int, usage: Usage, *, stopped: str | None = None) -> Event:
    """Return the event of a run's end: how many passages it wrote, what they cost, and what stopped it early (`budget`)."""
    return {"event": "done", "story": story, "steps": steps, "usage": usage, "stopped": stopped}


def shown_parent(commit: Commit) -> str | None:
    """Return the passage before this one; a story's opening is none."""
    return commit["parent"] if commit["step"] > 1 else None
