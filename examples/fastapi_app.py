"""A web service of our stories, with events as they happen (Server-Sent Events).

uvicorn --app-dir examples --host 127.0.0.1 fastapi_app:app
curl -N 'http://127.0.0.1:8000/stories' -d '{"premise": "A parcel that nobody ordered."}' -H 'content-type: application/json'
"""

import json
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel

from recurrentgpt import Event, RecurrentGPTError, Story, StoryNotFound

app = FastAPI(title="Stories")


class NewStory(BaseModel):
    """What a story begins with; everything may be left out."""

    genre: str = ""
    premise: str = ""


class ChosenPlan(BaseModel):
    """A number from 1, or a plan in one's own words."""

    plan: int | str


@app.post("/stories")
async def begin(opening: NewStory) -> StreamingResponse:
    """Begin a story and stream the writing of its first passage."""
    return streamed(Story.new(opening.genre, opening.premise).astream())


@app.post("/stories/{story}/passages")
async def go_on(story: str, choice: ChosenPlan) -> StreamingResponse:
    """Choose a plan and stream the writing of the next passage."""
    opened = await Story.aopen(story)
    await opened.achoose(choice.plan)
    return streamed(opened.astream())


def streamed(events: AsyncIterator[Event]) -> StreamingResponse:
    """Return events as they come; a client that hangs up ends the writing, and what was written is kept."""
    return StreamingResponse(
        (f"data: {json.dumps(event)}\n\n" async for event in events), media_type="text/event-stream"
    )


@app.exception_handler(RecurrentGPTError)
async def refuse(request: Request, error: RecurrentGPTError) -> JSONResponse:
    """Say in one sentence what is wrong; a client has no shell for what to do about a story that is not there."""
    if isinstance(error, StoryNotFound):
        return JSONResponse({"error": "There is no such story."}, status_code=404)
    return JSONResponse({"error": str(error)}, status_code=400)
