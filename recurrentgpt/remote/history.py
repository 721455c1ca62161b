"""The tree of a story on a server, from the history of its thread: a checkpoint knows the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recurrentgpt.engine.tree import Tree
from recurrentgpt.memory.log_rows import text_digest
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Link

COMMITTED = ("choosing", "finished")


def tree_of(values: dict[str, Any], history: Sequence[dict[str, Any]]) -> Tree:
    """Return the tree of the thread that stands at `values`; what its history no longer has, is not in it.

    A version that was corrected in the middle of a run is told as the passage that it corrects.
    """
    return Tree(values.get("story", ""), values.get("title", ""), values.get("head", ""), links_of(history).values())


def links_of(history: Sequence[dict[str, Any]]) -> dict[str, Link]:
    """Return the links of all commits that a thread's history tells of, by id."""
    checkpoints = {item["checkpoint"]["checkpoint_id"]: item for item in history}
    links: dict[str, Link] = {}
    for item in sorted(history, key=lambda item: str(item["created_at"])):
        there = item["values"]
        before = checkpoints.get((item.get("parent_checkpoint") or {}).get("checkpoint_id", ""))
        if not there.get("head") or there["head"] in links:
            continue
        # Later checkpoints of the same head may be inside of the next timestep; where the history begins, one cannot tell.
        if before is not None or there.get("status") in COMMITTED:
            head = before["values"].get("head", "") if before else ""
            links[there["head"]] = _link(there, head, links, str(item["created_at"]))
    return links


def checkpoint_of(head: str, history: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the newest checkpoint at which the thread stood at a commit and nothing was under way."""
    for item in history:
        if item["values"].get("head") == head and item["values"].get("status") in COMMITTED:
            return item
    raise StoryNotFound(f"The server has no checkpoint of passage {head[:60]!r} any more.")


def _link(values: dict[str, Any], before: str, links: dict[str, Link], created: str) -> Link:
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
