"""A story as its page shows it, read from the log, with the text of passages apart."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from recurrentgpt.desk.schemas import BranchUsage, EditView, MemoryView, PassageView, StoryView
from recurrentgpt.desk.story_jobs import StoryJobs
from recurrentgpt.engine.session import pending
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.memory.chronicle import Commit, Head, Link, path_to
from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.memory.recall import piece_text, with_summary
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.routes import plan_waits
from recurrentgpt.nodes.runtime import Run
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.state import Brief, Recalled
from recurrentgpt.story import Story

COMMITS_AT_ONCE = 200
"""Commits that are read together, so that a long story does not hold the log for seconds."""


async def head_of(story: Story) -> Head | None:
    """Return where a story stands; None before it is opened."""
    return await acall(lambda: story.library.chronicle.head(story.id))


async def waiting_plan(story: Story) -> str | None:
    """Return the plan that is chosen and not written yet."""
    return await acall(lambda: _waiting_plan(story))


async def _waiting_plan(story: Story) -> str | None:
    config: RunnableConfig = {"configurable": {"thread_id": story.id}}
    snapshot = await story.library.graph.aget_state(config)
    head = await story.library.chronicle.head(story.id)
    here = bool(pending(snapshot)) and head is not None and snapshot.values.get("head", "") == head["head"]
    return snapshot.values["plan"] if here and plan_waits(cast(Any, snapshot.values)) else None


async def story_view(jobs: StoryJobs) -> StoryView:
    """Return what the page of a story shows."""
    # Its number first: what changes while it is read makes the page read it again.
    revision = jobs.state.revision
    replay = await jobs.story.apending_replay()
    view = await acall(lambda: _story_view(jobs))
    view["revision"] = revision
    if replay:
        view["pending_replay"] = {"step": replay.step, "done": replay.done, "total": replay.total}
        view["pending_edit"] = None  # the same text is in what waits to go on
    return view


async def _story_view(jobs: StoryJobs) -> StoryView:
    story, log = jobs.story.id, jobs.story.library.chronicle
    head = await log.head(story)
    view: StoryView = {
        "id": story,
        "revision": 0,
        "mode": jobs.story.context.mode,
        "opened": head is not None,
        "title": jobs.opening.get("title", ""),
        "genre": jobs.opening.get("genre", ""),
        "premise": jobs.opening.get("premise", ""),
        "characters": [],
        "outline": [],
        "archived": False,
        "head": "",
        "step": 0,
        "status": "",
        "branch": "",
        "words": 0,
        "path": [],
        "plans": [],
        "waiting_plan": None,
        "memory": None,
        "root": "",
        "takes": [],
        "aside": [
            {"key": draft.key, "step": draft.step, "plan": draft.plan, "text": draft.whole_sentences}
            for draft in jobs.aside
        ],
        "unfinished_import": jobs.unfinished_import,
        "pending_edit": None,
        "pending_replay": None,
    }
    if head is None:
        return view
    record, links = await log.record(story), await log.links(story)
    commit = await log.get(story, head["head"])
    overlay = await read_overlay(log, story, commit.get("overlay", ""))
    brief: Brief = {**record["brief"], **cast(Brief, overlay.get("brief", {}))}
    path = [links[key] for key in path_to(head["head"], links) if links[key]["step"]]
    return {
        **view,
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
        "path": [(link["id"], link["words"], link["author"], _first_version(link["id"], links)) for link in path],
        "plans": commit["candidate_plans"],
        "waiting_plan": await _waiting_plan(jobs.story),
        "memory": await _memory_view(jobs.story, commit),
        "root": _first_version(head["head"], links),
        "takes": _takes(head["head"], links),
        "pending_edit": await _pending_edit(jobs, links, [link["id"] for link in path]),
    }


async def _pending_edit(jobs: StoryJobs, links: Mapping[str, Link], path: Sequence[str]) -> EditView | None:
    """Return the text of an edit that is not in the log: it failed, was stopped, or its server died."""
    edit = jobs.edit
    if edit is None or (jobs.busy and jobs.state.kind == "edit") or edit.at not in links:
        return None
    root = _first_version(edit.at, links)
    here = next((key for key in path if _first_version(key, links) == root), edit.at)
    commit = await jobs.story.library.chronicle.get(jobs.story.id, here)
    if commit["passage"].split() == edit.text.split():
        return None
    return {"at": root, "step": links[here]["step"], "text": edit.text}


async def _memory_view(story: Story, commit: Commit) -> MemoryView:
    before = await story.library.chronicle.find(story.id, commit["parent"]) if commit["parent"] else None
    return {
        "id": commit["id"],
        "step": commit["step"],
        "now": commit["short_term_memory"].splitlines(),
        "before": before["short_term_memory"].splitlines() if before else [],
        "dropped": commit["rationale"]["dropped"],
        "added": commit["rationale"]["added"],
        "recalled": [cast(Recalled, {**entry, "piece": "", "summary": ""}) for entry in commit["recalled"]],
    }


async def memory_view(story: Story, ref: str) -> MemoryView:
    """Return the memory after a passage, with the pieces by which others were recalled for it."""
    key = await story.aresolve(ref)
    return await acall(lambda: _memory_with_pieces(story, key))


async def _memory_with_pieces(story: Story, key: str) -> MemoryView:
    log = story.library.chronicle
    commit = await log.get(story.id, key)
    memory = await _memory_view(story, commit)
    if memory["recalled"]:
        found = await log.get_many(story.id, [entry["id"] for entry in memory["recalled"]])
        pieces = await _pieces(story, commit, len(found) + 1)
        for entry, passage in zip(memory["recalled"], found, strict=True):
            entry["summary"] = passage["summary"]
            entry["piece"] = pieces.get(passage["id"], "")
    return memory


async def _pieces(story: Story, commit: Commit, count: int) -> dict[str, str]:
    """Return by which piece each passage was recalled for this one: the log keeps which they were, so it asks again."""
    log, before = story.library.chronicle, commit["parent"]
    run = Run(context=story.context, chronicle=log, emit=lambda event: None)
    recall = await asyncio.to_thread(lambda: run.recall)  # it may load the embedding model
    corrected = (await read_overlay(log, story.id, commit.get("overlay", "")))["summaries"]
    hits = await recall.search(story.id, before, commit["plan"], count, without=before, corrected=corrected)
    found = await log.get_many(story.id, [hit.id for hit in hits])
    return {
        hit.id: piece_text(with_summary(passage, corrected), hit.piece)
        for hit, passage in zip(hits, found, strict=True)
    }


async def passage_views(story: Story, keys: Sequence[str]) -> list[PassageView]:
    """Return passages with their text; raise StoryNotFound for one that the story has not."""
    return await acall(lambda: _passage_views(story, keys))


async def _passage_views(story: Story, keys: Sequence[str]) -> list[PassageView]:
    log = story.library.chronicle
    known = await log.links(story.id)
    if unknown := next((key for key in keys if key not in known), None):
        raise StoryNotFound(f"This story has no passage {unknown[:60]!r}.")
    head = await log.head(story.id)
    overlay = (await log.get(story.id, head["head"])).get("overlay", "") if head else ""
    corrected = (await read_overlay(log, story.id, overlay))["summaries"]
    return [
        {
            "id": commit["id"],
            "parent": commit["parent"],
            "step": commit["step"],
            "plan": commit["plan"],
            "plan_author": commit["plan_author"],
            "author": commit["author"],
            "summary": with_summary(commit, corrected)["summary"],
            "text": commit["passage"],
            "created": commit["created"],
            "amends": commit["amends"],
        }
        for commit in await log.get_many(story.id, list(keys))
    ]


async def branch_usage(jobs: StoryJobs) -> BranchUsage:
    """Return what the passages of the head's branch have cost, and how many they are."""
    return await acall(lambda: _branch_usage(jobs))


async def _branch_usage(jobs: StoryJobs) -> BranchUsage:
    """Read the cost of each passage once: a story of thousands is counted again after every one."""
    story, log = jobs.story.id, jobs.story.library.chronicle
    head, links = await log.head(story), await log.links(story)
    wanted: list[str] = path_to(head["head"], links) if head else []
    # A corrected version stands beside the one that was paid for.
    for key in wanted:
        if (amended := links[key]["amends"]) and amended not in wanted:
            wanted.append(amended)
    missing = [key for key in wanted if key not in jobs.usage]
    for first in range(0, len(missing), COMMITS_AT_ONCE):
        for commit in await log.get_many(story, missing[first : first + COMMITS_AT_ONCE]):
            jobs.usage[commit["id"]] = commit["usage"]
    return {**total_usage([jobs.usage[key] for key in wanted]), "passages": head["step"] if head else 0}


def _first_version(key: str, links: Mapping[str, Link]) -> str:
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
        newest[_first_version(link["id"], links)] = link["id"]
    return [newest[first] for first in sorted(newest, key=lambda key: (links[key].get("created", ""), key))]
