"""Routes of the codex: what is true of people, places and things as of a passage, and the author's word on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, UploadFile
from pydantic import Field

from recurrentgpt.books.file_names import safe_name
from recurrentgpt.books.readers.lorebook import tell_left_out
from recurrentgpt.desk.backend import read_model
from recurrentgpt.desk.backend.asked_change import MOST_CHANGES, AskedChange, Do
from recurrentgpt.desk.backend.dependencies import IdleJobsDep, JobsDep
from recurrentgpt.desk.backend.schemas import (
    ERROR_RESPONSES,
    Changed,
    CodexEntryView,
    CodexHistoryView,
    Count,
    LongText,
    LorebookAdded,
    Ref,
    RequestBody,
    ShortText,
)
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.desk.routes.books import temporary_folder, told_by_name
from recurrentgpt.desk.routes.writing import moved
from recurrentgpt.schema.codex import Aspect, Kind
from recurrentgpt.schema.errors import BadAnswer

router = APIRouter(tags=["codex"], responses=ERROR_RESPONSES)


class NewEntry(RequestBody):
    """An entry of the author's own, or more of one that is there."""

    name: ShortText
    kind: Kind
    facts: Annotated[list[ShortText], Field(max_length=20, default_factory=list)]
    keys: Annotated[list[ShortText], Field(max_length=20, default_factory=list)]
    """Words that bring it to the writer, beside its name."""


class EntryChange(RequestBody):
    """What changes of an entry for the whole branch; what is absent stays as it is."""

    name: ShortText
    alias: ShortText | None = None
    rename: ShortText | None = None
    merge: ShortText | None = None
    """Another entry that is the same, and goes into this one."""
    pinned: bool | None = None
    hidden: bool | None = None


class LineChange(RequestBody):
    """What is true of an entry from the newest passage on, or with `end` what is no longer."""

    name: ShortText
    aspect: Aspect
    value: ShortText
    end: bool = False


class WaitingChange(RequestBody):
    """A change of the codex that waits."""

    do: Do
    name: ShortText
    args: dict[str, Any]
    problem: LongText = ""


class Meant(RequestBody):
    """A contradiction of a passage that is meant so, by its number."""

    at: Ref
    number: Count = 1


@router.get("/stories/{story}/codex")
async def codex(jobs: JobsDep, at: Annotated[Ref, Query()]) -> list[CodexEntryView]:
    """Return what is true of people, places and things as of a passage, those that it names first."""
    return await read_model.codex_view(jobs.story, at)


@router.get("/stories/{story}/codex/history")
async def history(
    jobs: JobsDep, name: Annotated[ShortText, Query()], at: Annotated[Ref, Query()]
) -> list[CodexHistoryView]:
    """Return what the passages up to a place changed in an entry, the oldest first."""
    return await read_model.codex_history_view(jobs.story, name, at)


@router.post("/stories/{story}/codex")
async def add(jobs: JobsDep, body: NewEntry) -> Changed:
    """Add an entry of the author's own."""
    return await _make(jobs, "add", body.name, kind=body.kind, facts=body.facts, keys=body.keys)


@router.post("/stories/{story}/codex/lorebook")
async def import_lorebook(jobs: IdleJobsDep, file: UploadFile) -> LorebookAdded:
    """Add the entries of a lorebook of SillyTavern or NovelAI, or of a character card, and tell what is left out."""
    left_out: dict[str, Sequence[str]] = {}
    async with temporary_folder() as folder:
        path = folder / safe_name((file.filename or "lorebook").replace("\0", ""))
        await asyncio.to_thread(path.write_bytes, await file.read())
        with told_by_name(path):
            added = await jobs.story.aimport_lorebook(path, on_left_out=left_out.update)
    moved(jobs)
    return LorebookAdded(added=added, left_out=tell_left_out(left_out))


@router.put("/stories/{story}/codex")
async def change(jobs: JobsDep, body: EntryChange) -> Changed:
    """Let an entry answer to another name or have it for its own, merge one into it, pin it, or hide it from readers."""
    if body.alias is not None:
        await _make(jobs, "alias", body.name, alias=body.alias)
    if body.merge is not None:
        await _make(jobs, "merge", body.name, other=body.merge)
    if body.rename is not None:
        await _make(jobs, "rename", body.name, new=body.rename)
    if body.pinned is not None:
        await _make(jobs, "pin", body.name, pinned=body.pinned)
    if body.hidden is not None:
        await _make(jobs, "hide", body.name, hidden=body.hidden)
    return Changed()


@router.put("/stories/{story}/codex/line")
async def change_line(jobs: JobsDep, body: LineChange) -> Changed:
    """Set what is true of an entry from the newest passage on, or end it."""
    return await _make(jobs, "line", body.name, aspect=body.aspect, value=body.value, end=body.end)


@router.post("/stories/{story}/codex/meant")
async def accept(jobs: IdleJobsDep, body: Meant) -> Changed:
    """Say that a contradiction is meant so: the entry says from its passage on what that says, and later passages stay."""
    await jobs.story.aaccept_contradiction(body.number, body.at)
    return moved(jobs)


@router.delete("/stories/{story}/codex")
async def remove(jobs: JobsDep, name: Annotated[ShortText, Query()]) -> Changed:
    """Take an entry out of the codex of this branch."""
    return await _make(jobs, "remove", name)


@router.delete("/stories/{story}/codex/waiting")
async def withdraw_change(jobs: JobsDep, number: Annotated[int, Query(ge=1)], body: WaitingChange) -> Changed:
    """Take a change of the codex, the one of this number, out of those that wait."""
    jobs.withdraw("codex_changes", number, body.model_dump())
    return Changed()


async def _make(jobs: StoryJobs, do: Do, name: str, **args: object) -> Changed:
    """Make a change of the codex; it waits while the desk is at work on the story, or has stopped what may go on without it."""
    change = AskedChange(do=do, name=name, args=args, problem="")
    if not jobs.busy and not await jobs.goes_on_from_before():
        await jobs.make_asked_change(change)
        return Changed()
    # What was asked of the entry since may take it back: only the last of it waits already.
    last = next((waits for waits in reversed(jobs.state.codex_changes) if waits["name"] == name), None)
    if last is not None and {**last, "problem": ""} == change:
        return Changed()
    if len(jobs.state.codex_changes) >= MOST_CHANGES:
        raise BadAnswer(f"{MOST_CHANGES} changes of the codex wait already; take some of them out first.")
    await jobs.let_wait("codex_changes", change)
    return Changed()
