"""What a server still has of a story, copied into memory, where everything that only reads can work on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from recurrentgpt.checkpoints import Persistence
from recurrentgpt.library import Library
from recurrentgpt.memory.chronicle import Chronicle, Commit, Link, StoryRecord
from recurrentgpt.models.meter import total_usage
from recurrentgpt.remote.client import RemoteStory
from recurrentgpt.remote.history import links_of
from recurrentgpt.schema.errors import StoryNotFound


async def acopied(story: RemoteStory) -> Library:
    """Return a library of this one story as the checkpoints of its thread tell it, oldest passages first to be missing.

    Raises StoryNotFound where nothing is written.
    """
    values, history = await story.avalues(), await story.ahistory()
    if not values.get("head"):
        raise StoryNotFound("Nothing of this story is written yet: write a passage first.")
    library = Library(
        Persistence(saver=InMemorySaver(), store=InMemoryStore(), description="a copy of a server's story")
    )
    log, links = library.chronicle, links_of(history)
    checkpoints = {item["checkpoint"]["checkpoint_id"]: item["values"] for item in history}
    commits: dict[str, Commit] = {}
    for item in sorted(history, key=lambda item: str(item["created_at"])):
        head = item["values"].get("head", "")
        if head in links and head not in commits:
            before = checkpoints.get((item.get("parent_checkpoint") or {}).get("checkpoint_id", ""), {})
            commits[head] = _commit(item["values"], links[head], before)
    # The brief is that of the head, corrections and all.
    record = StoryRecord(
        story=values["story"],
        title=values["title"],
        genre=values["genre"],
        premise=values["premise"],
        brief=values["brief"],
        settings=story.settings,
        created=min(link.get("created", "") for link in links.values()),
    )
    await _written(log, record, links, [*commits.values(), *_remembered(commits, history)])
    await log.move_head(commits[values["head"]], values["status"])
    return library


async def _written(log: Chronicle, record: StoryRecord, links: dict[str, Link], commits: Sequence[Commit]) -> None:
    story = record["story"]
    await log.batch(
        [
            log.put_record_op(record),
            *(log.put((*log.root, "links", story), key, link) for key, link in links.items()),
            *(log.put((*log.root, "commits", story), commit["id"], commit) for commit in commits),
        ]
    )


def _commit(values: dict[str, Any], link: Link, before: dict[str, Any]) -> Commit:
    """Return the commit behind a state; `before` is the state that was committed, which knows what it cost."""
    same = before.get("step") == link["step"]
    plan = values.get("written_plan", "") if link["step"] else ""
    return Commit(
        id=link["id"],
        story=values["story"],
        parent=link["parent"],
        amends=link["amends"],
        step=link["step"],
        plan=plan,
        plan_author=values.get("plan_author", "") if plan == values.get("plan") else "",
        passage=values.get("passage", ""),
        author=link["author"],
        summary=values.get("summary", ""),
        short_term_memory=values["short_term_memory"],
        rationale=values.get("rationale", {"dropped": [], "added": []}),
        candidate_plans=values["candidate_plans"],
        recalled=[
            {"id": entry["id"], "step": entry["step"], "score": entry["score"]} for entry in values.get("recalled", [])
        ],
        usage=total_usage(list(before.get("usage", {}).values()) if same else []),
        created=link.get("created", ""),
    )


def _remembered(commits: dict[str, Commit], history: Sequence[dict[str, Any]]) -> list[Commit]:
    """Return what is known of passages that were recalled and of which no checkpoint is left: their summaries."""
    entries = {entry["id"]: entry for item in history for entry in item["values"].get("recalled", [])}
    nothing: dict[str, Any] = {**next(iter(commits.values())), "passage": "", "recalled": [], "usage": total_usage([])}
    return [
        cast(Commit, {**nothing, "id": key, "step": entry["step"], "summary": entry["summary"]})
        for key, entry in entries.items()
        if key not in commits
    ]
