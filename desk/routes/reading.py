"""Routes that read: the stories, one story, its passages, memory, tree, and what happens in it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event

from recurrentgpt.desk.schemas import FAULTS, Ref, Short, TheDesk, TheRoom
from recurrentgpt.models.prices import price
from recurrentgpt.nodes.open_story import GENRES
from recurrentgpt.schema.state import Usage

router = APIRouter(tags=["reading"], responses=FAULTS)
MOST_PASSAGES = 100
MOST_FOUND = 12
EVENTS = "text/event-stream"
AGAIN = 500
"""Milliseconds after which a page that lost its connection comes back."""


@router.get("/stories")
async def stories(desk: TheDesk) -> dict[str, Any]:
    """List the stories, the one written last first, and the genres that a new one may have."""
    library = await desk.library()
    found = [dataclasses.asdict(summary) for summary in await library.astories(archived=True)]
    return {"stories": found[::-1], "genres": list(GENRES)}


@router.get("/stories/{story}")
async def story(desk: TheDesk, room: TheRoom) -> dict[str, Any]:
    """Return a story as its page shows it, but for the texts."""
    return await (await desk.views()).story(room)


@router.get("/stories/{story}/events", response_class=StreamingResponse, responses={200: {"content": {EVENTS: {}}}})
async def events(room: TheRoom, last_event_id: Annotated[str, Header(max_length=100)] = "") -> StreamingResponse:
    """Tell what happens in a story as it happens: first how things stand, or what came after `Last-Event-ID`."""

    # FastAPI's own streaming of events logs a fault whenever a page goes while something is being sent.
    async def lines() -> AsyncGenerator[bytes]:
        async with aclosing(room.follow(last_event_id)) as following:
            async for number, event in following:
                yield format_sse_event(id=number, data_str=json.dumps(event), retry=AGAIN)

    return StreamingResponse(lines(), media_type=EVENTS, headers={"X-Accel-Buffering": "no"})


@router.get("/stories/{story}/passages")
async def passages(desk: TheDesk, room: TheRoom, ids: Annotated[str, Query(max_length=4_000)]) -> list[dict[str, Any]]:
    """Return passages with their text, by their ids, divided by commas."""
    keys = [key for key in ids.split(",") if key][:MOST_PASSAGES]
    return await (await desk.views()).passages(room.story, keys)


@router.get("/stories/{story}/usage")
async def usage(desk: TheDesk, room: TheRoom) -> dict[str, Any]:
    """Return what the story has cost on the head's branch; in money where the reader has written prices down."""
    used = await (await desk.views()).usage(room)
    return {**used, "cost": await asyncio.to_thread(price, cast(Usage, used))}


@router.get("/stories/{story}/memory")
async def memory(desk: TheDesk, room: TheRoom, at: Annotated[Ref, Query()]) -> dict[str, Any]:
    """Return the memory after a passage: what it dropped and added and why, and what was recalled by which piece."""
    return await (await desk.views()).memory(room, at)


@router.get("/stories/{story}/search")
async def search(room: TheRoom, query: Annotated[Short, Query(min_length=1)]) -> list[dict[str, Any]]:
    """Return the passages of this branch that are nearest to a query in meaning, best first."""
    return [dataclasses.asdict(found) for found in await room.story.asearch(query, MOST_FOUND)]


@router.get("/stories/{story}/tree")
async def tree(room: TheRoom) -> dict[str, Any]:
    """Return all passages and branches."""
    return (await room.story.atree()).as_json()


@router.get("/stories/{story}/diff")
async def diff(room: TheRoom, a: Annotated[Ref, Query()], b: Annotated[Ref, Query()]) -> dict[str, Any]:
    """Return what differs between two passages in plan, words and memory."""
    return (await room.story.adiff(a, b)).as_json()


@router.get("/stories/{story}/replay-cost")
async def replay_cost(room: TheRoom, ref: Annotated[Ref, Query()]) -> dict[str, Any]:
    """Return about what it costs to edit a passage and keep the later ones."""
    return (await room.story.areplay_cost(ref)).as_json()
