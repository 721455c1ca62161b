"""A story as its page shows it, read from the log, with the text of passages apart."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from recurrentgpt.books.file_text import language_tag
from recurrentgpt.desk.backend.save_draft import Edit
from recurrentgpt.desk.backend.schemas import (
    CodexEntryView,
    CodexHistoryView,
    ContradictionView,
    EditView,
    FoundWords,
    MemoryView,
    PassageView,
    StoryView,
)
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.engine.hidden_entries import Readers, for_readers, of_entries
from recurrentgpt.engine.replacement import words_pattern
from recurrentgpt.engine.snapshot import StorySnapshot
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.memory.corrections import in_force, read_overlay, with_summary
from recurrentgpt.memory.superseded import says, without_superseded
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.prose.shared_runs import place_of
from recurrentgpt.schema.codex import Change, Codex, Entry, Operation
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Commit, Link
from recurrentgpt.schema.names import DEFINITE, plain
from recurrentgpt.schema.parts import character_names
from recurrentgpt.schema.state import Recalled
from recurrentgpt.story import Story

RECENT = timedelta(days=2)
"""In which the day of a reader begins, wherever they are."""
IMPORTED = "human"
"""Author of a passage that was there before the story was."""
BEFORE_FOUND, AFTER_FOUND = 60, 120
"""Characters that are shown around words that were found."""

_ARTICLE = re.compile(rf"\b{DEFINITE}$")


async def story_view(jobs: StoryJobs) -> StoryView:
    """Return what the page of a story shows."""
    # Its number first: what changes while it is read makes the page read it again.
    revision, opening = jobs.state.revision, jobs.opening
    now = await jobs.story.asnapshot()
    brief, replay = now.brief, now.pending_replay
    view: StoryView = {
        "id": now.story,
        "revision": revision,
        "mode": jobs.story.context.mode,
        "language": language_tag(jobs.story.context.language),
        "opened": brief is not None,
        "title": now.title,
        "genre": brief["genre"] if brief else opening.get("genre", ""),
        "premise": brief["premise"] if brief else opening.get("premise", ""),
        "author": jobs.unrecorded.get("author", jobs.story.context.author),
        "characters": brief["characters"] if brief else [],
        "outline": brief["outline"] if brief else [],
        "archived": now.archived,
        "head": now.head,
        "step": now.step,
        "status": now.status,
        "branch": now.branch,
        "words": sum(link["words"] for link in now.path),
        "path": [],
        "recent": [],
        "plans": now.plans,
        "waiting_plan": now.waiting_plan,
        "memory": None,
        "root": "",
        "takes": [],
        "aside": [
            {"key": draft.key, "step": draft.step, "plan": draft.plan, "text": draft.whole_sentences}
            for draft in jobs.aside
        ],
        "unfinished_import": jobs.unfinished_import,
        "pending_edits": [],
        "pending_replay": None
        if replay is None
        else {"step": replay.step, "text": replay.text, "done": replay.done, "total": replay.total},
    }
    return await acall(lambda: _with_versions(jobs, view, now)) if now.head else view


async def _with_versions(jobs: StoryJobs, view: StoryView, now: StorySnapshot) -> StoryView:
    """Return the view of an opened story with what needs more than its branch: versions, takes, and the memory before."""
    story, log = jobs.story, jobs.story.engine.log
    links = await log.links(story.id)
    view["path"] = [(link["id"], link["words"], link["author"], _first_version(link["id"], links)) for link in now.path]
    view["recent"] = _recent(view["path"], links)
    view["root"], view["takes"] = _first_version(view["head"], links), _takes(view["head"], links)
    view["memory"] = await _memory_view(story, await log.get(story.id, view["head"]))
    # The text of a replay that was interrupted is offered with the replay.
    resumed = now.pending_replay.text if now.pending_replay else ""
    path = [link["id"] for link in now.path]
    views = [await _pending_edit(jobs, edit, links, path) for edit in jobs.edits if not is_same(edit.text, resumed)]
    view["pending_edits"] = [found for found in views if found is not None]
    return view


def _recent(path: Sequence[tuple[str, int, str, str]], links: Mapping[str, Link]) -> list[tuple[str, int]]:
    oldest = (datetime.now(UTC) - RECENT).isoformat()
    # A passage that is corrected was written when its first version was.
    firsts = [(links[first], words) for _, words, _, first in path]
    return [
        (first["created"], words)
        for first, words in firsts
        if first["author"] != IMPORTED and first.get("created", "") > oldest
    ]


async def _pending_edit(jobs: StoryJobs, edit: Edit, links: Mapping[str, Link], path: Sequence[str]) -> EditView | None:
    """Return the text of an edit that is not in the log: it failed, was stopped, or its server died."""
    if (jobs.busy and jobs.state.kind == "edit" and jobs.editing == edit.key) or edit.at not in links:
        return None
    root, here = _first_version(edit.at, links), version_on(path, edit.at, links)
    commit = await jobs.story.engine.log.get(jobs.story.id, here)
    if is_same(commit["passage"], edit.text):
        return None
    return {
        "key": edit.key,
        "at": root,
        "seen": edit.at,
        "step": links[here]["step"],
        "text": edit.text,
        "now": commit["passage"],
    }


def is_same(text: str, other: str) -> bool:
    """Return whether two texts differ in nothing but white space."""
    return text.split() == other.split()


def version_on(path: Sequence[str], key: str, links: Mapping[str, Link]) -> str:
    """Return the version of a passage that stands on a branch, where one does; else the passage itself."""
    first = _first_version(key, links)
    return next((other for other in path if _first_version(other, links) == first), key)


async def _memory_view(story: Story, commit: Commit) -> MemoryView:
    before = await story.engine.log.find(story.id, commit["parent"]) if commit["parent"] else None
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
    """Return the memory after a passage, with the pieces by which others were recalled for it.

    Whoever plays is not told what is kept from readers.
    """
    key = await story.aresolve(ref)
    codex = of_entries(await story.acodex()) if _is_played(story) else None
    return await acall(lambda: _memory_with_pieces(story, key, codex))


async def found_words(story: Story, words: str, *, whole_words: bool) -> list[FoundWords]:
    """Return the passages of the head's branch that have some words letter by letter, in their order."""
    pattern = words_pattern(words, whole_words=whole_words)
    return await acall(lambda: _found_words(story, pattern))


async def _found_words(story: Story, pattern: re.Pattern[str]) -> list[FoundWords]:
    log = story.engine.log
    head = await log.head(story.id)
    found = list[FoundWords]()
    for commit in await log.get_many(story.id, await log.path(story.id, head["head"])) if head else []:
        text = commit["passage"]
        places = [match.start() for match in pattern.finditer(text)]
        if places:
            around = text[max(0, places[0] - BEFORE_FOUND) : places[0] + AFTER_FOUND]
            found.append({"id": commit["id"], "step": commit["step"], "times": len(places), "piece": around})
    return found


async def _memory_with_pieces(story: Story, key: str, codex: Codex | None) -> MemoryView:
    log = story.engine.log
    commit = await log.get(story.id, key)
    memory = await _memory_view(story, commit)
    if memory["recalled"]:
        corrected = (await read_overlay(log, story.id, commit.get("overlay", "")))["summaries"]
        found = await log.get_many(story.id, [entry["id"] for entry in memory["recalled"]])
        pieces = await _pieces(story, commit, len(found) + 1, corrected)
        over = for_readers(codex, found, plays=True).over if codex is not None else {}
        for entry, passage in zip(memory["recalled"], found, strict=True):
            hidden = over.get(passage["id"], ())
            piece = pieces.get(passage["id"], "")
            entry["summary"] = without_superseded(with_summary(passage, corrected)["summary"], hidden)
            entry["piece"] = "" if says(piece, hidden) else piece
    return memory


async def _pieces(story: Story, commit: Commit, count: int, corrected: Mapping[str, str]) -> dict[str, str]:
    """Return by which piece each passage was recalled for this one: the log keeps which they were, so it asks again."""
    log, before = story.engine.log, commit["parent"]
    run = StoryRuntime(context=story.context, log=log, emit=lambda event: None)
    recall = await asyncio.to_thread(lambda: run.recall)  # it may load the embedding model
    hits = await recall.search(story.id, before, commit["plan"], count, without=before, corrected=corrected)
    found = await log.get_many(story.id, [hit.id for hit in hits])
    return {
        hit.id: recall.text(with_summary(passage, corrected), hit) for hit, passage in zip(hits, found, strict=True)
    }


async def codex_view(story: Story, ref: str) -> list[CodexEntryView]:
    """Return the codex as of a passage, those that the passage names first; whoever plays is not shown what readers are not."""
    passage, entries = await story.apassage(ref), await story.acodex(at=ref)
    player = ""
    if _is_played(story):
        player, entries = await _player(story), Readers(of_entries(entries), plays=True).entries()
    shown = of_entries(entries)
    named = [entry.name for entry in shown.named_in(passage.text)]
    ordered = [shown.entries[name.casefold()] for name in named]
    ordered += [entry for entry in entries if entry.name not in named]
    return [
        {
            "name": entry.name,
            "kind": entry.kind,
            "names": list(dict.fromkeys([entry.name, *shown.names_of(entry), *_said_of(entry, shown, passage.text)])),
            "here": entry.name in named,
            "pinned": entry.pinned,
            "hidden": entry.hidden,
            "player": player in entry.names,
            "lines": [
                {
                    "aspect": line.aspect,
                    "value": line.value,
                    "text": sentence_of(entry, line),
                    "rests_on": line.rests_on,
                    "passage": line.passage,
                    "step": line.step,
                    "author": line.by_author,
                }
                for line in reversed(entry.lines)
                if line.aspect != "pronouns" and not entry.is_former(line)
            ],
        }
        for entry in ordered
    ]


def _said_of(entry: Entry, codex: Codex, text: str) -> list[str]:
    """Return the shorter names and roles, with their articles, by which a text means an entry, and a family's with titles."""
    text, roles = plain(text), "|".join(map(re.escape, codex.own_roles(entry)))
    found = codex.titled(entry, text)
    found += [
        f"{article[0] if (article := _ARTICLE.search(text[:start])) else ''}{text[start:end]}"
        for start, end in codex.short_places(entry, text)
    ]
    if roles:
        found += [match[0] for match in re.finditer(rf"\b{DEFINITE}(?i:{roles})\b", text)]
    return list(dict.fromkeys(found))


def _is_played(story: Story) -> bool:
    return story.context.mode == "fiction"


async def _player(story: Story) -> str:
    """Return the name of who plays: the first of the story's people."""
    brief = (await story.asnapshot()).brief
    return next(iter(character_names(brief)), "") if brief else ""


_DONE: Mapping[Operation, str] = {
    "unpin": "Pinned no longer",
    "show": "Hidden no longer",
    "key": "Brought by the word:",
}
"""What the page has no words for of its own."""


def _told(change: Change) -> str:
    # What is taken out is numbered by its passage.
    said = change.get("text", "") or change.get("value", "") if change["do"] != "remove" else ""
    return f"{_DONE.get(change['do'], '')} {said}".strip()


async def codex_history_view(story: Story, name: str, ref: str) -> list[CodexHistoryView]:
    """Return what the passages up to a place changed in an entry, the oldest first; whoever plays is not shown what is hidden."""
    rows = await story.acodex_history(name, ref)
    if _is_played(story):
        readers = Readers(of_entries(await story.acodex(at=ref)), plays=True)
        rows = [row for row in rows if not readers.is_kept_change(row.change)]
    return [
        {
            "passage": row.passage,
            "step": row.step,
            "do": row.change["do"],
            "aspect": row.change.get("aspect", ""),
            "said": _told(row.change),
            "author": row.change.get("author", False),
        }
        for row in rows
    ]


async def passage_views(story: Story, keys: Sequence[str]) -> list[PassageView]:
    """Return passages with their text; raise StoryNotFound for one that the story has not."""
    views = await acall(lambda: _passage_views(story, keys))
    if _is_played(story) and any(view["contradictions"] for view in views):
        readers = Readers(of_entries(await story.acodex()), plays=True)
        for view in views:
            view["contradictions"] = [
                one for one in view["contradictions"] if not readers.is_kept_contradiction(one["entry"], one["holds"])
            ]
    return views


async def _passage_views(story: Story, keys: Sequence[str]) -> list[PassageView]:
    log = story.engine.log
    known = await log.links(story.id)
    if unknown := next((key for key in keys if key not in known), None):
        raise StoryNotFound(f"This story has no passage {unknown[:60]!r}.")
    head = await log.head(story.id)
    overlay = await in_force(log, await log.get(story.id, head["head"])) if head else ""
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
            "contradictions": _contradiction_views(commit),
        }
        for commit in await log.get_many(story.id, list(keys))
    ]


def _contradiction_views(commit: Commit) -> list[ContradictionView]:
    views = list[ContradictionView]()
    for number, one in enumerate(commit.get("contradictions", []), 1):
        # A sentence that stands nowhere as it was noted may be any of the passage.
        start, end = place_of(one["said"], commit["passage"]) or (0, len(commit["passage"]))
        views.append(
            {
                "number": number,
                "start": start,
                "end": end,
                "entry": one["entry"],
                "said": one["said"],
                "holds": one["holds"],
                "rests_on": one["rests_on"],
                "passage": one["passage"],
                "step": one["step"],
            }
        )
    return views


def _first_version(key: str, links: Mapping[str, Link]) -> str:
    """Return the version of a passage that its corrections began from: what a page types belongs to all of them."""
    while links[key]["amends"] in links:
        key = links[key]["amends"]
    return key


async def root_of(story: Story, key: str) -> str:
    """Return the version of a passage that its corrections began from."""
    return _first_version(key, await acall(lambda: story.engine.log.links(story.id)))


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
