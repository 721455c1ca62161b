"""What a server still has of a story, copied into memory, where everything that only reads can work on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from recurrentgpt.engine.archive import FORMAT, VERSION, put_story
from recurrentgpt.engine.engine import Engine
from recurrentgpt.engine.refs import NOTHING_WRITTEN
from recurrentgpt.library import Library
from recurrentgpt.memory.chronicle import now
from recurrentgpt.models.meter import total_usage
from recurrentgpt.remote.client import RemoteStory
from recurrentgpt.remote.history import links_of
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Commit, Head, Link, StoryRecord


async def acopied(story: RemoteStory) -> Library:
    """Return a library of this one story as the checkpoints of its thread tell it, oldest passages first to be missing.

    Raises StoryNotFound where nothing is written.
    """
    values, history = await story.avalues(), await story.ahistory()
    if not values.get("head"):
        raise StoryNotFound(NOTHING_WRITTEN)
    links = links_of(history)
    checkpoints = {item["checkpoint"]["checkpoint_id"]: item["values"] for item in history}
    commits: dict[str, Commit] = {}
    for item in sorted(history, key=lambda item: str(item["created_at"])):
        head = item["values"].get("head", "")
        if head in links and head not in commits:
            before = checkpoints.get((item.get("parent_checkpoint") or {}).get("checkpoint_id", ""), {})
            commits[head] = _commit(item["values"], links[head], before)
    newest = commits[values["head"]]
    engine = Engine(InMemorySaver(), InMemoryStore(), description="a copy of a server's story")
    await put_story(
        engine.log,
        {
            "format": FORMAT,
            "version": VERSION,
            # The brief is that of the head, corrections and all.
            "story": StoryRecord(
                story=values["story"],
                title=values["title"],
                genre=values["genre"],
                premise=values["premise"],
                brief=values["brief"],
                settings=story.settings,
                created=min(link.get("created", "") for link in links.values()),
            ),
            "head": Head(
                story=values["story"], head=newest["id"], step=newest["step"], status=values["status"], updated=now()
            ),
            "commits": {**_recalled_commits(commits, history), **commits},
            "links": links,
            "names": {},
            "overlays": {},
        },
    )
    return Library(engine)


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


def _recalled_commits(commits: dict[str, Commit], history: Sequence[dict[str, Any]]) -> dict[str, Commit]:
    """Return what is known of passages that were recalled and of which no checkpoint is left: their summaries."""
    entries = {entry["id"]: entry for item in history for entry in item["values"].get("recalled", [])}
    empty: Commit = {**next(iter(commits.values())), "passage": "", "recalled": [], "usage": total_usage([])}
    return {
        key: {**empty, "id": key, "step": entry["step"], "summary": entry["summary"]}
        for key, entry in entries.items()
        if key not in commits
    }
