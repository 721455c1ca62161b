"""The shapes of requests, and what every route shares."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from recurrentgpt.desk.service import Desk
from recurrentgpt.desk.story_jobs import Room

LONGEST = 200_000

Short = Annotated[str, Field(max_length=1_000)]
Long = Annotated[str, Field(max_length=LONGEST)]
Ref = Annotated[
    str, Field(min_length=1, max_length=80, description="A passage: its id, a step, `opening`, a branch's name")
]
Count = Annotated[int, Field(ge=1, le=100)]

FAULTS: dict[int | str, dict[str, Any]] = {
    status: {"description": what, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Fault"}}}}
    for status, what in {
        400: "The host name is not the desk's",
        401: "The token is missing",
        403: "The request comes from another page",
        404: "There is no such story or passage",
        409: "The story does not allow it at this moment",
        413: "Too large",
        422: "It cannot be used as it is",
        424: "A model failed",
        507: "The machine failed",
    }.items()
}


class Body(BaseModel):
    """What a page sends; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class Fault(BaseModel):
    """Why a request was refused, in one sentence for the person at the page."""

    error: str


class Done(BaseModel):
    """A change was made; the page reads what it shows again."""

    ok: bool = True


class Begun(BaseModel):
    """Work was begun; its events tell the rest."""

    story: str


def the_desk(request: Request) -> Desk:
    """Return the desk of the app."""
    desk: Desk = request.app.state.desk
    return desk


TheDesk = Annotated[Desk, Depends(the_desk)]


async def the_room(desk: TheDesk, story: Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$")]) -> Room:
    """Return the room of the story in the path."""
    return await desk.room(story)


TheRoom = Annotated[Room, Depends(the_room)]
