"""Routes that edit: a passage, the memory, a long-term entry, plans, the brief, the title."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from recurrentgpt.desk import jobs as work
from recurrentgpt.desk.routes.writing import moved
from recurrentgpt.desk.save_draft import Edit
from recurrentgpt.desk.schemas import FAULTS, Begun, Body, Done, Long, Ref, Short, TheDesk, TheRoom
from recurrentgpt.schema.errors import StoryBusy, StoryError

router = APIRouter(tags=["editing"], responses=FAULTS)


class Passage(Body):
    """Another text for a passage; with `replay` the later passages are kept and the memory rewritten for each."""

    at: Ref
    text: Long
    replay: bool = False


class Text(Body):
    """A text that replaces another one, at a passage or at the newest."""

    text: Long
    at: Ref | None = None


class Plans(Body):
    """The plans to choose from."""

    plans: Annotated[list[Long], Field(max_length=9)]
    at: Ref | None = None


class Brief(Body):
    """What every prompt holds; what is absent stays as it is."""

    premise: Long | None = None
    genre: Short | None = None
    characters: Annotated[list[Short], Field(max_length=50)] | None = None
    outline: Annotated[list[Short], Field(max_length=50)] | None = None


class Title(Body):
    """A title."""

    title: Short


class Put(Body):
    """Whether the story is put away from the list."""

    archived: bool


@router.post("/stories/{story}/passage")
async def passage(desk: TheDesk, room: TheRoom, wish: Passage) -> Begun:
    """Give a passage another text, with the memory rewritten from it. Until it is in the log, the desk keeps the text."""
    room.check_idle()
    at, views = await room.story.aresolve(wish.at), await desk.views()
    room.check_idle()
    work_on = work.events_of(room, views, lambda story: story.aedit_passage(wish.at, wish.text, replay=wish.replay))
    # First the text, then the work: work that fails at once must not be told of before this is answered, for the page lets go of
    # the text when it is.
    before, room.edit = room.edit, Edit(at, wish.text)
    room.save_draft()
    await room.kept()
    try:
        room.begin("edit", work_on)
    except StoryBusy:
        room.edit = before
        room.save_draft()
        raise
    return Begun(story=room.story.id)


@router.delete("/stories/{story}/passage")
async def drop_edit(room: TheRoom) -> Done:
    """Forget the text of an edit that was interrupted."""
    room.check_idle()
    room.edit = None
    room.take_up(room.draft)
    return Done()


@router.post("/stories/{story}/replay")
async def resume_replay(desk: TheDesk, room: TheRoom) -> Begun:
    """Go on with an edit that was interrupted."""
    room.check_idle()
    if await room.story.apending_replay() is None:
        raise StoryError("No replay of this story is unfinished.")
    room.begin("edit", work.events_of(room, await desk.views(), lambda story: story.aresume_replay()))
    return Begun(story=room.story.id)


@router.delete("/stories/{story}/replay")
async def drop_replay(room: TheRoom) -> Done:
    """Forget an edit that was interrupted; what it wrote stays in the log."""
    room.check_idle()
    await room.story.adrop_replay()
    room.edit = None
    return moved(room)


@router.put("/stories/{story}/memory")
async def memory(room: TheRoom, wish: Text) -> Done:
    """Replace the short-term memory."""
    room.check_idle()
    await room.story.aedit_memory(wish.text, wish.at)
    return moved(room)


@router.put("/stories/{story}/plans")
async def plans(room: TheRoom, wish: Plans) -> Done:
    """Replace the plans to choose from."""
    room.check_idle()
    await room.story.aedit_plans(wish.plans, wish.at)
    return moved(room)


@router.put("/stories/{story}/summary")
async def summary(room: TheRoom, wish: Text) -> Done:
    """Replace what the long-term memory holds of a passage."""
    room.check_idle()
    await room.story.aedit_summary(wish.at, wish.text)
    return moved(room)


@router.put("/stories/{story}/brief")
async def brief(room: TheRoom, wish: Brief) -> Done:
    """Replace parts of what every prompt holds."""
    room.check_idle()
    await room.story.aedit_brief(
        premise=wish.premise, genre=wish.genre, characters=wish.characters, outline=wish.outline
    )
    return moved(room)


@router.put("/stories/{story}/title")
async def title(room: TheRoom, wish: Title) -> Done:
    """Give the story another title."""
    room.check_idle()
    await room.story.arename(wish.title)
    return moved(room)


@router.delete("/stories/{story}")
async def erase(desk: TheDesk, room: TheRoom) -> Done:
    """Delete the story for ever, with its branches and its memory."""
    await desk.erase(room)
    return Done()


@router.put("/stories/{story}/archived")
async def archived(room: TheRoom, wish: Put) -> Done:
    """Put the story away from the list, or back."""
    room.check_idle()
    await (room.story.aarchive() if wish.archived else room.story.aunarchive())
    return moved(room)
