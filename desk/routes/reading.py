"""Routes that read: the stories, one story, its passages, memory, tree, and what happens in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from typing_extensions import TypedDict

from recurrentgpt.desk.backend import read_model
from recurrentgpt.desk.backend.dependencies import DeskDep, JobsDep, OpenedJobsDep
from recurrentgpt.desk.backend.schemas import (
    ERROR_RESPONSES,
    FoundWords,
    HiddenView,
    MemoryView,
    PassageView,
    Ref,
    ShortText,
    StoryLine,
    StoryUsage,
    StoryView,
)
from recurrentgpt.engine.replay import ReplayCost
from recurrentgpt.engine.search import SearchResult
from recurrentgpt.models.prices import price
from recurrentgpt.schema.genres import GENRES

router = APIRouter(tags=["reading"], responses=ERROR_RESPONSES)
MOST_PASSAGES = 100
MOST_FOUND = 12
EVENTS = "text/event-stream"
RECONNECT_MS = 500
"""Milliseconds after which a page that lost its connection comes back."""


class StoryList(TypedDict):
    """The stories, the one written last first, and the genres that a new one may have."""

    stories: list[StoryLine]
    genres: list[str]


@router.get("/stories")
async def stories(desk: DeskDep) -> StoryList:
    """List the stories, also those that were begun here and never opened."""
    return {"stories": await desk.summaries(), "genres": list(GENRES)}


@router.get("/stories/{story}")
async def story(jobs: JobsDep) -> StoryView:
    """Return a story as its page shows it, but for the texts."""
    return await read_model.story_view(jobs)


@router.get("/stories/{story}/events", response_class=StreamingResponse, responses={200: {"content": {EVENTS: {}}}})
async def events(jobs: JobsDep, last_event_id: Annotated[str, Header(max_length=100)] = "") -> StreamingResponse:
    """Tell what happens in a story as it happens: first how things stand, or what came after `Last-Event-ID`."""

    # FastAPI's own streaming of events logs a fault whenever a page goes while something is being sent.
    async def lines() -> AsyncGenerator[bytes]:
        async with aclosing(jobs.follow(last_event_id)) as following:
            async for number, event in following:
                yield format_sse_event(id=number, data_str=json.dumps(event), retry=RECONNECT_MS)

    return StreamingResponse(lines(), media_type=EVENTS, headers={"X-Accel-Buffering": "no"})


@router.get("/stories/{story}/passages")
async def passages(jobs: JobsDep, ids: Annotated[str, Query(max_length=4_000)]) -> list[PassageView]:
    """Return passages with their text, by their ids, divided by commas."""
    return await read_model.passage_views(jobs.story, [key for key in ids.split(",") if key][:MOST_PASSAGES])


@router.get("/stories/{story}/usage")
async def usage(jobs: JobsDep) -> StoryUsage:
    """Return what the story has cost on the head's branch and in all; in money where the reader has written prices down."""
    (branch, passages), everything = await jobs.ledger.branch(), await jobs.ledger.in_all()
    costs = [await asyncio.to_thread(price, used) for used in (branch, everything)]
    ahead = await jobs.story.aahead_tally()
    return {
        **branch,
        "cost": costs[0],
        "passages": passages,
        "in_all": {**everything, "cost": costs[1]},
        "choices": ahead["choices"],
        "ready": ahead["ready"],
    }


@router.get("/stories/{story}/memory")
async def memory(jobs: JobsDep, at: Annotated[Ref, Query()]) -> MemoryView:
    """Return the memory after a passage: what it dropped and added and why, and what was recalled by which piece."""
    return await read_model.memory_view(jobs.story, at)


@router.get("/stories/{story}/hidden")
async def hidden(jobs: JobsDep) -> HiddenView:
    """Return what the story keeps from its reader, for the author who asks for it."""
    brief = (await jobs.story.asnapshot()).brief
    return {"truth": brief.get("truth", ""), "clues": brief.get("clues", [])} if brief else {"truth": "", "clues": []}


@router.get("/stories/{story}/chapters")
async def chapters(jobs: JobsDep) -> dict[int, str]:
    """Return the titles of the branch's chapters by the step of their first passages; an empty one is a number."""
    return await jobs.story.achapters()


@router.get("/stories/{story}/search")
async def search(jobs: JobsDep, query: Annotated[ShortText, Query(min_length=1)]) -> list[SearchResult]:
    """Return the passages of this branch that are nearest to a query in meaning, best first; a player sees nothing hidden."""
    return await jobs.story.asearch(query, MOST_FOUND, truth=jobs.story.context.mode != "fiction")


@router.get("/stories/{story}/words")
async def find_words(
    jobs: JobsDep, words: Annotated[ShortText, Query(min_length=1)], whole_words: bool = True
) -> list[FoundWords]:
    """Return the passages of this branch that have these words letter by letter, in their order."""
    return await read_model.found_words(jobs.story, words, whole_words=whole_words)


@router.get("/stories/{story}/tree")
async def tree(jobs: OpenedJobsDep) -> dict[str, object]:
    """Return all passages and branches."""
    return (await jobs.story.atree()).as_json()


@router.get("/stories/{story}/diff")
async def diff(jobs: JobsDep, a: Annotated[Ref, Query()], b: Annotated[Ref, Query()]) -> dict[str, object]:
    """Return what differs between two passages in plan, words, sentences and memory."""
    return (await jobs.story.adiff(a, b)).as_json()


@router.get("/stories/{story}/replay-cost")
async def replay_cost(jobs: JobsDep, ref: Annotated[Ref, Query()]) -> ReplayCost:
    """Return about what it costs to edit a passage and keep the later ones."""
    return await jobs.story.areplay_cost(ref)
