"""A story as its page shows it: plain JSON, read from the log, with the text of passages apart."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from recurrentgpt.desk.story_jobs import Room
from recurrentgpt.engine.session import pending
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.library import Library
from recurrentgpt.memory.chronicle import Chronicle, path_to
from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.memory.recall import Recall, piece_text, with_summary
from recurrentgpt.models.calls import total_usage
from recurrentgpt.models.embeddings import default_embeddings
from recurrentgpt.nodes.routes import waiting_plan
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Commit, Head, Link
from recurrentgpt.schema.state import Usage
from recurrentgpt.story import Story

AT_ONCE = 200
"""Commits that are read together, so that a long story does not hold the log for seconds."""


class Views:
    """Read stories of one library for their pages."""

    def __init__(self, library: Library) -> None:
        self.library = library

    @property
    def _log(self) -> Chronicle:
        return self.library.engine.log

    async def head(self, story: Story) -> Head | None:
        """Return where a story stands; None before it is opened."""
        return await acall(lambda: self._log.head(story.id))

    async def waiting_plan(self, story: Story) -> str | None:
        """Return the plan that is chosen and not written yet."""
        return await acall(lambda: self._waiting_plan(story.id))

    async def _waiting_plan(self, story: str) -> str | None:
        config: RunnableConfig = {"configurable": {"thread_id": story}}
        snapshot = await self.library.engine.graph.aget_state(config)
        head = await self._log.head(story)
        here = bool(pending(snapshot)) and head is not None and snapshot.values.get("head", "") == head["head"]
        return waiting_plan(cast(Any, snapshot.values)) or None if here else None

    async def story(self, room: Room) -> dict[str, Any]:
        """Return what the page of a story shows, but for the texts of its passages."""
        # Its number first: what changes while it is read makes the page read it again.
        revision = room.doing.revision
        pending = await room.story.apending_replay()
        view = await acall(lambda: self._story(room))
        aside = [
            {"key": draft.key, "step": draft.step, "plan": draft.plan, "text": draft.whole} for draft in room.aside
        ]
        more = {
            "aside": aside,
            "unread": room.unread,
            "pending_replay": dataclasses.asdict(pending) if pending else None,
        }
        if pending:
            more["pending_edit"] = None  # the same text is in what waits to go on
        return {**view, "revision": revision, **more}

    async def _story(self, room: Room) -> dict[str, Any]:
        story, log = room.story.id, self._log
        head = await log.head(story)
        fixed = {
            "id": story,
            "mode": room.story.context.mode,
            "opened": head is not None,
        }
        if head is None:
            empty = {
                "title": "",
                "genre": "",
                "premise": "",
                "head": "",
                "step": 0,
                "path": [],
                "plans": [],
                "takes": [],
            }
            return {**fixed, **empty, "pending_edit": None}
        record, links = await log.record(story), await log.links(story)
        commit = await log.get(story, head["head"])
        overlay = await read_overlay(log, story, commit.get("overlay", ""))
        brief = {**record["brief"], **overlay.get("brief", {})}
        path = [links[key] for key in path_to(head["head"], links) if links[key]["step"]]
        return {
            **fixed,
            "title": record["title"],
            "genre": brief["genre"],
            "premise": brief["premise"],
            "characters": brief["characters"],
            "outline": brief["outline"],
            "archived": record.get("archived", False),
            "head": head["head"],
            "step": head["step"],
            "status": head["status"],
            "branch": head.get("branch", ""),
            "words": sum(link["words"] for link in path),
            "path": [[link["id"], link["words"], link["author"], _first(link["id"], links)] for link in path],
            "root": _first(head["head"], links),
            "takes": _takes(head["head"], links),
            "pending_edit": await self._pending_edit(room, links, [link["id"] for link in path]),
            "plans": commit["candidate_plans"],
            "waiting_plan": await self._waiting_plan(story),
            "memory": await self._memory(commit),
        }

    async def _pending_edit(self, room: Room, links: Mapping[str, Link], path: Sequence[str]) -> dict[str, Any] | None:
        """Return the text of an edit that is not in the log: it failed, was stopped, or its server died."""
        edit = room.edit
        if edit is None or (room.busy and room.doing.kind == "edit") or edit.at not in links:
            return None
        root = _first(edit.at, links)
        here = next((key for key in path if _first(key, links) == root), edit.at)
        if (await self._log.get(room.story.id, here))["passage"].split() == edit.text.split():
            return None
        return {"at": root, "step": links[here]["step"], "text": edit.text}

    async def _memory(self, commit: Commit) -> dict[str, Any]:
        before = await self._log.find(commit["story"], commit["parent"]) if commit["parent"] else None
        return {
            "id": commit["id"],
            "step": commit["step"],
            "now": commit["short_term_memory"].splitlines(),
            "before": before["short_term_memory"].splitlines() if before else [],
            "dropped": commit["rationale"]["dropped"],
            "added": commit["rationale"]["added"],
            "recalled": [{**entry, "piece": "", "summary": ""} for entry in commit["recalled"]],
        }

    async def memory(self, room: Room, ref: str) -> dict[str, Any]:
        """Return the memory after a passage, with the pieces by which others were recalled for it."""
        key = await room.story.aresolve(ref)
        return await acall(lambda: self._recalled(room.story, key))

    async def _recalled(self, story: Story, key: str) -> dict[str, Any]:
        commit = await self._log.get(story.id, key)
        memory = await self._memory(commit)
        if not memory["recalled"]:
            return memory
        found = await self._log.get_many(story.id, [entry["id"] for entry in memory["recalled"]])
        pieces = await self._pieces(story, commit, len(found) + 1)
        for entry, passage in zip(memory["recalled"], found, strict=True):
            entry["summary"] = passage["summary"]
            entry["piece"] = pieces.get(passage["id"], "")
        return memory

    async def _pieces(self, story: Story, commit: Commit, count: int) -> dict[str, str]:
        """Return by which piece each passage was recalled for this one: the log keeps which they were, so it asks again."""
        embeddings = story.context.embeddings or await asyncio.to_thread(default_embeddings)
        corrected = (await read_overlay(self._log, story.id, commit.get("overlay", "")))["summaries"]
        before, recall = commit["parent"], Recall(self._log, embeddings)
        hits = await recall.search(story.id, before, commit["plan"], count, without=before, corrected=corrected)
        found = await self._log.get_many(story.id, [hit.id for hit in hits])
        return {
            hit.id: piece_text(with_summary(passage, corrected), hit.piece)
            for hit, passage in zip(hits, found, strict=True)
        }

    async def passages(self, story: Story, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Return passages with their text; raise StoryNotFound for one that the story has not."""
        commits = await acall(lambda: self._log_many(story.id, keys))
        return [
            {name: commit[name] for name in ("id", "step", "plan", "plan_author", "author", "summary", "created")}
            | {"text": commit["passage"], "parent": commit["parent"], "amends": commit["amends"]}
            for commit in commits
        ]

    async def _log_many(self, story: str, keys: Sequence[str]) -> list[Commit]:
        known = await self._log.links(story)
        if unknown := next((key for key in keys if key not in known), None):
            raise StoryNotFound(f"This story has no passage {unknown[:60]!r}.")
        head = await self._log.head(story)
        overlay = (await self._log.get(story, head["head"])).get("overlay", "") if head else ""
        corrected = (await read_overlay(self._log, story, overlay))["summaries"]
        return [with_summary(commit, corrected) for commit in await self._log.get_many(story, list(keys))]

    async def usage(self, room: Room) -> dict[str, Any]:
        """Return what the passages of the head's branch have cost, and how many they are."""
        return await acall(lambda: self._usage(room))

    async def _usage(self, room: Room) -> dict[str, Any]:
        """Read the cost of each passage once: a story of thousands is counted again after every one."""
        story = room.story.id
        head, links = await self._log.head(story), await self._log.links(story)
        wanted: list[str] = path_to(head["head"], links) if head else []
        # A corrected version stands beside the one that was paid for.
        for key in wanted:
            if (amended := links[key]["amends"]) and amended not in wanted:
                wanted.append(amended)
        missing = [key for key in wanted if key not in room.usage]
        for first in range(0, len(missing), AT_ONCE):
            for commit in await self._log.get_many(story, missing[first : first + AT_ONCE]):
                room.usage[commit["id"]] = commit["usage"]
        usages = [cast(Usage, room.usage[key]) for key in wanted]
        return {**total_usage(usages), "passages": head["step"] if head else 0}


def _first(key: str, links: Mapping[str, Link]) -> str:
    """Return the version of a passage that its corrections began from: what a page types belongs to all of them."""
    while links[key]["amends"] in links:
        key = links[key]["amends"]
    return key


def _takes(head: str, links: Mapping[str, Link]) -> list[str]:
    """Return the takes of the newest passage, the oldest first: of each its newest version, or the one on the page."""
    here = links[head]
    if not here["step"]:
        return []
    same = [link for link in links.values() if link["parent"] == here["parent"] and link["id"] != head]
    newest: dict[str, str] = {}
    for link in sorted([*same, here], key=lambda link: (link["id"] == head, link.get("created", ""))):
        newest[_first(link["id"], links)] = link["id"]
    return [newest[first] for first in sorted(newest, key=lambda key: (links[key].get("created", ""), key))]
