"""commit: append the timestep to the story log. The only node that writes to the store, and idempotent."""

from __future__ import annotations

from typing import Any

from recurrentgpt.graph.context import STORY_SETTINGS
from recurrentgpt.graph.state import Rationale, State, Usage
from recurrentgpt.memory.chronicle import Commit, RecalledId, StoryRecord, commit_id, now
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.run import Run, Update

AMENDABLE = ("short_term_memory", "candidate_plans", "summary")


async def commit(state: State, run: Run) -> Update:
    """Append the passage with the whole LSTM state after it, and move the head there.

    What somebody changed by hand in the state since the last commit (its passage, memory, summary or plans) is first
    appended as a corrected sibling of that commit, so that the log always tells what the passage was written from.
    """
    head = await run.chronicle.get(state["story"], state["head"]) if state.get("head") else None
    if head is None:
        return await _open(state, run)
    if state["step"] == head["step"]:
        changes = {name: state[name] for name in AMENDABLE}  # type: ignore[literal-required]
        amended = await amend(run, head, changes, passage=state["passage"], usage=_spent(state))
        update = _committed(amended, state if amended is not head else None)
        if state.get("status") != "finished":
            return update
        await run.chronicle.move_head(amended, "finished")
        return {**update, "status": "finished"}
    changed: dict[str, Any] = {"short_term_memory": state["previous_memory"]}
    head = await amend(run, head, changed, passage=state["previous_passage"])
    entry = _entry(state, parent=head["id"])
    status = "finished" if state.get("status") == "finished" else "choosing"
    await run.chronicle.append(entry, status, also=[await run.recall.vectors_op(entry)])
    return {**_committed(entry, state), "status": status}


async def amend(run: Run, head: Commit, changes: dict[str, Any], *, passage: str, usage: Usage | None = None) -> Commit:
    """Return `head` as corrected, appended as its sibling; `head` itself when nothing differs.

    `usage` is what the correction cost; what the passage cost is counted with the commit it amends.
    """
    changes = {name: value for name, value in changes.items() if value != head[name]}  # type: ignore[literal-required]
    if passage != head["passage"]:
        changes = {**changes, "passage": passage, "author": "edited"}
    if not changes:
        return head
    corrected: Commit = {**head, **changes}  # type: ignore[typeddict-item]
    corrected["id"] = commit_id(
        head["story"], head["parent"], head["plan"], corrected["passage"], amendment=[head["id"], changes]
    )
    corrected["amends"] = head["id"]
    corrected["usage"] = usage or total_usage([])
    corrected["created"] = now()
    await run.chronicle.append(corrected, "choosing", also=[await run.recall.vectors_op(corrected)])
    return corrected


async def _open(state: State, run: Run) -> Update:
    """Append the opening: step 0, with no passage, and the first plans to choose from."""
    entry = _entry(state, parent="")
    record = StoryRecord(
        story=state["story"],
        title=state["title"],
        genre=state["genre"],
        premise=state["premise"],
        brief=state["brief"],
        settings={name: getattr(run.context, name) for name in STORY_SETTINGS},
        created=entry["created"],
    )
    await run.chronicle.append(entry, "choosing", also=[run.chronicle.put_record_op(record)])
    return _committed(entry, state)


def _entry(state: State, *, parent: str) -> Commit:
    step, story = state.get("step", 0), state["story"]
    # An opening was written from no plan: `plan` there is what the first passage shall do.
    plan = state["plan"] if step else ""
    passage = state.get("passage", "")
    return Commit(
        id=commit_id(story, parent, plan, passage),
        story=story,
        parent=parent,
        amends="",
        step=step,
        plan=plan,
        plan_author=state.get("plan_author", "model") if step else "",
        passage=passage,
        author=state.get("author", "model"),
        summary=state.get("summary", ""),
        short_term_memory=state["short_term_memory"],
        rationale=state.get("rationale") or Rationale(dropped=[], added=[]),
        candidate_plans=state["candidate_plans"],
        recalled=[RecalledId(id=r["id"], step=r["step"], score=r["score"]) for r in state.get("recalled", [])],
        usage=_spent(state),
        created=now(),
    )


def _spent(state: State) -> Usage:
    return total_usage(list(state.get("usage", {}).values()))


def _committed(entry: Commit, state: State | None = None) -> Update:
    update: Update = {"head": entry["id"], "status": "choosing"}
    if state is not None:
        # The next timestep counts anew; merge_usage drops what is None.
        update["usage"] = dict.fromkeys(state.get("usage", {}), None)
        update["written_plan"] = entry["plan"]
    return update
