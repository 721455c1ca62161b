"""What a server still has of a story, copied into memory, where everything that only reads can work on it."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from recurrentgpt.engine.engine import Engine
from recurrentgpt.engine.refs import NOTHING_WRITTEN
from recurrentgpt.engine.story_export import FORMAT, VERSION, put_story
from recurrentgpt.library import Library
from recurrentgpt.memory.story_log import now
from recurrentgpt.models.meter import total_usage
from recurrentgpt.remote.client import RemoteStory
from recurrentgpt.remote.history import ThreadState, commit_of, links_of, parent_id
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Commit, Head, StoryRecord
from recurrentgpt.schema.state import State


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
            before = checkpoints.get(parent_id(item), State())
            spent = before.get("usage", {}) if before.get("step") == links[head]["step"] else {}
            commits[head] = commit_of(
                item["values"],
                plan=item["values"].get("written_plan", "") if links[head]["step"] else "",
                parent=links[head]["parent"],
                # Of one whose parent is gone the id cannot be told, as little as that of a corrected version.
                amends=links[head]["amends"] or (head if links[head]["step"] and not links[head]["parent"] else ""),
                usage=total_usage(list(spent.values())),
                created=links[head].get("created", ""),
            )
    if values["head"] not in commits:
        raise StoryNotFound(f"The server has no checkpoint of passage {values['head'][:60]!r} any more.")
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
                settings={"language": values.get("language", "English"), **story.settings},
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


def _recalled_commits(commits: dict[str, Commit], history: Sequence[ThreadState]) -> dict[str, Commit]:
    """Return what is known of passages that were recalled and of which no checkpoint is left: their summaries.

    Their ids cannot be told from that, as little as those of corrected versions, and as such they stand in the log.
    """
    entries = {entry["id"]: entry for item in history for entry in item["values"].get("recalled", [])}
    empty: Commit = {**next(iter(commits.values())), "passage": "", "recalled": [], "usage": total_usage([])}
    return {
        key: {**empty, "id": key, "amends": key, "step": entry["step"], "summary": entry["summary"]}
        for key, entry in entries.items()
        if key not in commits
    }
