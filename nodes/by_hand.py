"""What somebody changed by hand in a thread's state is appended to the log before anything is made of it.

A correction of a passage is a sibling of its commit; one of the brief, title, genre or premise is a correction of the branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast

from langgraph.store.base import PutOp

from recurrentgpt.memory.corrections import overlay_op, read_overlay
from recurrentgpt.memory.story_log import Commit, StoryLog, commit_id, now
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.routes import waiting_plan
from recurrentgpt.nodes.validate_state import (
    BUILT_ON,
    beyond,
    corrections,
    edited_brief,
    is_to_be_remembered,
    refuse,
    refused_in_flight,
    unchangeable,
    unusable,
)
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.schema.state import BY_HAND, Added, Brief, Dropped, Rationale, State, Usage


class Search(Protocol):
    """The search over the log, as far as it is needed here."""

    async def vectors_op(self, commit: Commit) -> PutOp:
        """Return the operation that keeps what a commit is found by."""


class Surroundings(Protocol):
    """What is needed of a node's runtime."""

    @property
    def log(self) -> StoryLog:
        """The story log."""

    @property
    def recall(self) -> Search:
        """The search over the log."""


async def amend(
    runtime: Surroundings,
    head: Commit,
    changes: Mapping[str, Any],
    *,
    passage: str,
    usage: Usage | None = None,
    also: Sequence[PutOp] = (),
    move: bool = True,
) -> Commit:
    """Return `head` as corrected, appended as its sibling; `head` itself when nothing differs.

    `usage` is what the correction cost; what the passage cost is counted with the commit it amends. The rows in `also`
    are written with it, and with `move` the story's head.
    """
    kept = {name: value for name, value in head.items() if name not in ("left", "left_overlay")}
    changes = {name: value for name, value in changes.items() if value != kept.get(name, "")}
    if passage != head["passage"]:
        changes = {**changes, "passage": passage, "author": "edited"}
    if not changes:
        if also:
            await runtime.log.batch(also)
        return head
    if "short_term_memory" in changes and "rationale" not in changes:
        rationale = as_edited(head["rationale"], head["short_term_memory"], changes["short_term_memory"])
        changes = {**changes, "rationale": rationale}
    corrected = cast(Commit, {**kept, **changes})
    corrected["id"] = commit_id(
        head["story"], head["parent"], head["plan"], corrected["passage"], amendment=[head["id"], changes]
    )
    corrected["amends"] = head["id"]
    corrected["usage"] = usage or total_usage([])
    corrected["created"] = now()
    if changes.keys() & {"passage", "summary"}:
        also = [*also, await runtime.recall.vectors_op(corrected)]
    # Else the vectors, a cache, are made when something is recalled: an edit need not wait for the embedding model.
    await runtime.log.append(corrected, "choosing", also=also, move=move)
    return corrected


def as_edited(made: Rationale, before: str, after: str) -> Rationale:
    """Return a step's rationale as it is true of its memory after somebody edited that."""
    old, new = before.splitlines(), after.splitlines()
    added = [entry for entry in made["added"] if entry["sentence"] in new]
    dropped = [entry for entry in made["dropped"] if entry["sentence"] not in new]
    return Rationale(
        added=added + [Added(sentence=line, why=BY_HAND) for line in new if line not in old],
        dropped=dropped + [Dropped(sentence=line, why=BY_HAND) for line in old if line not in new],
    )


class BranchCorrection(NamedTuple):
    """What was changed by hand of a branch as a whole."""

    overlay: str
    """Id of the corrections in force."""
    brief: Brief | None
    """The brief as it was changed, or has another title by now; None where the state has it."""
    title: str
    """The new title; empty where the state has it."""
    also: list[PutOp]
    """What writes it."""


async def correct_branch(state: State, overlay: str, log: StoryLog) -> BranchCorrection:
    """Return what was changed in the state's brief, title, genre and premise; `overlay` names the corrections before that."""
    record = await log.record(state["story"])
    corrected = await read_overlay(log, state["story"], overlay)
    kept = Brief(**{**corrected.get("brief", record["brief"]), "title": record["title"]})
    brief = edited_brief({"brief": kept, **state}, kept)
    if brief is None and state.get("title", kept["title"]) != kept["title"]:
        # Named anew by somebody else.
        return BranchCorrection(overlay, kept, kept["title"], [])
    if brief is None:
        return BranchCorrection(overlay, None, "", [])
    overlay, put = overlay_op(log, state["story"], {**corrected, "brief": brief})
    title = brief["title"] if brief["title"] != record["title"] else ""
    return BranchCorrection(overlay, brief, title, [put, log.put_record_op({**record, "title": brief["title"]})])


async def correct_passage(state: State, runtime: Surroundings, *, recalled: bool, replans: bool) -> State:
    """Append what was changed of the passage at which a state stands, and return what that makes of the state.

    `recalled` is that of `unchangeable`. Where a node `replans`, which `commit` appends with every other change, changed plans
    alone are appended. Raises StoryError for a change of what the engine did.
    """
    kept = await runtime.log.remembered(state["story"], state["head"])
    refuse(unchangeable(state, kept, await _parent(kept, runtime.log), recalled=recalled))
    refuse(await _unknown_overlay(state, kept, runtime.log))
    changes = dict(corrections(state, kept))
    refuse(beyond(changes))
    if replans and "candidate_plans" not in changes:
        return {}
    made = await amend(runtime, kept, changes, passage=changes.pop("passage", kept["passage"]))
    return {} if made is kept else {"head": made["id"], "author": made["author"], "rationale": made["rationale"]}


@dataclass(frozen=True)
class Settled:
    """Where a thread stands once what was changed in its state is in the log."""

    head: str
    title: str
    """The new title; empty where it is the old one."""
    refused: dict[str, str]
    """What was changed that cannot be, by field."""


async def settle(state: State, runtime: Surroundings) -> Settled:
    """Append what was changed in the state of a thread since its last commit, and tell what of it cannot be changed.

    What a step in flight has made so far is no change by hand, and is left out; where its passage is not remembered yet, the
    memory in the state is still the one before it.
    """
    kept = await runtime.log.find(state["story"], state["head"])
    if kept is None:
        # Whoever opens the story there says so.
        return Settled(state["head"], "", {})
    # The plan may be this run's own: a number, too.
    others: State = {name: value for name, value in state.items() if name != "plan"}  # type: ignore[assignment]
    refused = unusable(others)
    refused |= refused_in_flight({name: value for name, value in others.items() if name not in refused})  # type: ignore[arg-type]
    usable: State = {name: value for name, value in state.items() if name not in refused}  # type: ignore[assignment]
    refused |= await _unknown_overlay(usable, kept, runtime.log)
    overlay = kept.get("overlay", "") if "overlay" in refused else usable.get("overlay", kept.get("overlay", ""))
    changes: dict[str, Any] = {}
    if _in_flight(usable, kept):
        if is_to_be_remembered(usable):
            changes = {name: value for name, value in corrections(usable, kept).items() if name in BUILT_ON}
    else:
        standing: State = {"step": kept["step"], **usable}
        before = await _parent(kept, runtime.log)
        refused |= unchangeable(standing, kept, before, recalled=not waiting_plan(standing))
        changes = dict(corrections(usable, kept))
    refused |= beyond(changes)
    changes = {name: value for name, value in changes.items() if name not in refused}
    branch = await correct_branch(usable, overlay, runtime.log)
    changes["overlay"] = branch.overlay
    passage = changes.pop("passage", kept["passage"])
    made = await amend(runtime, kept, changes, passage=passage, also=branch.also)
    return Settled(made["id"], branch.title, refused)


def _in_flight(state: State, kept: Commit) -> bool:
    """Return whether a state is ahead of its last commit by what nodes have made since."""
    if "written_plan" in state.get("digests", {}) or (state.get("status") == "replanning" and state.get("usage")):
        return True
    return state.get("step") == kept["step"] + 1 and state.get("passage") != kept["passage"]


async def _unknown_overlay(state: State, kept: Commit, log: StoryLog) -> dict[str, str]:
    """Return what is wrong where a state names corrections, others than its commit does, that the log has not."""
    overlay = state.get("overlay", "")
    if overlay != kept.get("overlay", ""):
        try:
            await read_overlay(log, kept["story"], overlay)
        except StoryError:
            return {"overlay": "`overlay` names corrections that the log has not"}
    return {}


async def _parent(commit: Commit, log: StoryLog) -> Commit | None:
    return await log.remembered(commit["story"], commit["parent"]) if commit["parent"] else None
