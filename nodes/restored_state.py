"""The state of a story as a commit of its log left it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from recurrentgpt.memory.corrections import in_force, read_overlay
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.schema.errors import StoryError, StoryNotFound
from recurrentgpt.schema.log import Commit, StoryRecord
from recurrentgpt.schema.parts import KEPT_PLAN, Brief

if TYPE_CHECKING:
    from recurrentgpt.schema.state import State


async def restored(
    log: LogReader, record: StoryRecord, commit: Commit, *, retake: bool = False, overlay: str | None = None
) -> State:
    """Return the whole state as it was after `commit`; with `retake`, as it was before its passage was written from its plan.

    `overlay` names the corrections in force; by default they are those in force at `commit`. Raises StoryError for a passage that
    cannot be taken again.
    """
    plan, author = commit["plan"], commit["plan_author"]
    overlay = await in_force(log, commit) if overlay is None else overlay
    corrected = await read_overlay(log, commit["story"], overlay)
    brief = Brief(**{**corrected.get("brief", record["brief"]), "title": record["title"]})
    if retake:
        if not commit["parent"]:
            raise StoryNotFound("The opening of a story has no passage to take again; choose one of its plans.")
        if not plan:
            raise StoryError(
                f"Passage {commit['step']} was not written from a plan: go to the one before it and choose or write one."
            )
        author = "human" if author == KEPT_PLAN else author
        commit = await log.get(commit["story"], commit["parent"])
    before = await log.get(commit["story"], commit["parent"]) if commit["parent"] else None
    recalled = await log.get_many(commit["story"], [entry["id"] for entry in commit["recalled"]])
    summaries = {earlier["id"]: earlier["summary"] for earlier in recalled} | corrected["summaries"]
    state = {
        "story": commit["story"],
        "title": record["title"],
        "genre": brief["genre"],
        "premise": brief["premise"],
        "language": record["settings"].get("language") or "English",
        "brief": brief,
        "head": commit["id"],
        "overlay": overlay,
        "step": commit["step"],
        "plan": plan,
        "plan_author": author,
        "next_plan": plan if retake else "",
        "written_plan": "" if retake else plan,
        "passage": commit["passage"],
        "author": commit["author"],
        "summary": commit["summary"],
        "short_term_memory": commit["short_term_memory"],
        "rationale": commit["rationale"],
        "entries": [],
        "codex": commit.get("codex", []),
        "contradictions": commit.get("contradictions", []),
        "sent": commit.get("sent", ""),
        "candidate_plans": commit["candidate_plans"],
        "recalled": [
            {**entry, "summary": summaries[entry["id"]], "piece": summaries[entry["id"]]}
            for entry in commit["recalled"]
        ],
        "previous_passage": before["passage"] if before else "",
        "previous_memory": before["short_term_memory"] if before else "",
        "turns": commit.get("turns", []),
        "previous_turns": before.get("turns", []) if before else [],
        "clues": commit.get("clues", []),
        "previous_clues": before.get("clues", []) if before else [],
        "unreached": commit.get("unreached", ""),
        "previous_unreached": before.get("unreached", "") if before else "",
        "memory_is_behind": not retake and before is not None and _only_summed_up(commit, before),
        "status": "writing" if retake else "choosing",
        "take": 0,
        "autopilot": 0,
        "digests": {},
    }
    return cast("State", state)


def _only_summed_up(commit: Commit, before: Commit) -> bool:
    """Return whether a passage was to be the last: it has no plans after it, and the memory is the one it was written from."""
    memory, rationale = commit["short_term_memory"], commit["rationale"]
    changed = memory != before["short_term_memory"] or rationale["added"] or rationale["dropped"]
    return bool(memory and not changed and not commit["candidate_plans"])
