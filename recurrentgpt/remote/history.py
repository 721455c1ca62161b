"""The tree of a story on a server, from the history of its thread: a checkpoint knows the one before it."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from recurrentgpt.engine.tree import Tree
from recurrentgpt.memory.log_rows import text_digest
from recurrentgpt.models.meter import total_usage
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Commit, Link, recalled_id
from recurrentgpt.schema.state import Rationale, State, Usage

COMMITTED = ("choosing", "finished")


class CheckpointId(TypedDict):
    """How a server names a checkpoint, as far as it is needed here."""

    checkpoint_id: str


class ThreadState(TypedDict):
    """A checkpoint of a thread, as a server sends it."""

    values: State
    next: list[str]
    checkpoint: CheckpointId
    parent_checkpoint: CheckpointId | None
    created_at: str


def tree_of(values: State, history: Sequence[ThreadState]) -> Tree:
    """Return the tree of the thread that stands at `values`; what its history no longer has, is not in it.

    A version that was corrected in the middle of a run is told as the passage that it corrects.
    """
    return Tree(values.get("story", ""), values.get("title", ""), values.get("head", ""), links_of(history).values())


def links_of(history: Sequence[ThreadState]) -> dict[str, Link]:
    """Return the links of all commits that a thread's history tells of, by id."""
    checkpoints = {item["checkpoint"]["checkpoint_id"]: item for item in history}
    links: dict[str, Link] = {}
    for item in sorted(history, key=lambda item: str(item["created_at"])):
        there = item["values"]
        before = checkpoints.get(parent_id(item))
        if not there.get("head") or there["head"] in links:
            continue
        # Later checkpoints of the same head may be inside of the next timestep; where the history begins, one cannot tell.
        if before is not None or there.get("status") in COMMITTED:
            head = before["values"].get("head", "") if before else ""
            links[there["head"]] = _link(there, head, links, str(item["created_at"]))
    return links


def commit_of(
    values: State, *, plan: str, parent: str = "", amends: str = "", usage: Usage | None = None, created: str = ""
) -> Commit:
    """Return the commit behind a state, as far as the state tells of it."""
    commit = Commit(
        id=values["head"],
        story=values["story"],
        parent=parent,
        amends=amends,
        step=values["step"],
        plan=plan,
        plan_author=values.get("plan_author", "") if plan == values.get("plan") else "",
        passage=values.get("passage", ""),
        author=values.get("author", "model"),
        summary=values.get("summary", ""),
        short_term_memory=values["short_term_memory"],
        rationale=values.get("rationale") or Rationale(dropped=[], added=[]),
        candidate_plans=values["candidate_plans"],
        recalled=[recalled_id(one) for one in values.get("recalled", [])],
        usage=usage or total_usage([]),
        created=created,
    )
    if values.get("unreached"):
        commit["unreached"] = values["unreached"]
    if values.get("codex"):
        commit["codex"] = values["codex"]
    if values.get("contradictions"):
        commit["contradictions"] = values["contradictions"]
    return commit


def parent_id(item: ThreadState) -> str:
    """Return the id of the checkpoint before one; empty for the first."""
    before = item.get("parent_checkpoint")
    return before["checkpoint_id"] if before else ""


def checkpoint_of(head: str, history: Sequence[ThreadState]) -> ThreadState:
    """Return the newest checkpoint at which the thread stood at a commit and nothing was under way."""
    for item in history:
        if item["values"].get("head") == head and item["values"].get("status") in COMMITTED:
            return item
    raise StoryNotFound(f"The server has no checkpoint of passage {head[:60]!r} any more.")


def _link(values: State, before: str, links: dict[str, Link], created: str) -> Link:
    """Return the link of a commit, before which the thread stood at another one."""
    step, text = values.get("step", 0), text_digest(values.get("passage", ""))
    parent = amends = ""
    if before in links and links[before]["step"] == step - 1:
        parent = before
    elif before in links and links[before]["step"] == step:
        parent, amends = links[before]["parent"], before
    else:
        # It went back, to a version of a passage that is known.
        same = (link for link in links.values() if (link["step"], link.get("text")) == (step, text))
        if known := next(same, None):
            parent, amends = known["parent"], known["id"]
    return Link(
        id=values["head"],
        parent=parent,
        amends=amends,
        step=step,
        words=count_words(values.get("passage", "")),
        author=values.get("author", "model"),
        created=created,
        text=text,
    )
