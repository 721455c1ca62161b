"""Routes that write: begin, choose, go on, another take, stop; and the moves in the tree."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from recurrentgpt.desk import jobs as work
from recurrentgpt.desk.save_draft import keep
from recurrentgpt.desk.schemas import FAULTS, Begun, Body, Count, Done, Long, Ref, Short, TheDesk, TheRoom
from recurrentgpt.desk.settings_form import checked
from recurrentgpt.schema.errors import BadAnswer, StoryError
from recurrentgpt.schema.state import StoryInput

router = APIRouter(tags=["writing"], responses=FAULTS)


WordsKey = Annotated[
    Short, Query(description="Words that were set aside; those of the passage that was interrupted last when empty")
]


class NewStory(Body):
    """What a new story begins from; all may be empty. `player` is who plays, where it is played."""

    genre: Short = ""
    premise: Long = ""
    title: Short = ""
    play: bool = False
    player: Short = ""
    settings: dict[str, Any] = Field(default_factory=dict)


class Write(Body):
    """What to write: the plan of this number, or this plan; without either the one that waits, else the model chooses."""

    number: Annotated[int, Field(ge=1, le=9)] | None = None
    plan: Long | None = None
    at: Ref | None = None
    steps: Count = 1


class At(Body):
    """A passage; the newest when empty."""

    at: Ref | None = None


class Name(Body):
    """The name of a branch."""

    name: Short
    at: Ref | None = None


@router.post("/stories")
async def begin(desk: TheDesk, wish: NewStory) -> Begun:
    """Begin a story: a novel with its first passage, a story to play with its first choice."""
    player = {"player": wish.player} if wish.play and wish.player.strip() else {}
    opening = StoryInput(genre=wish.genre, premise=wish.premise, title=wish.title, **player)  # type: ignore[typeddict-item]
    own = checked(wish.settings, machine=False)
    room = await desk.begin(opening, {**own, **({"mode": "fiction"} if wish.play else {})})
    room.begin("write", work.passages(room, await desk.views(), 1), asked=1)
    return Begun(story=room.story.id)


@router.post("/stories/{story}/write")
async def write(desk: TheDesk, room: TheRoom, wish: Write) -> Begun:
    """Write passages."""
    room.check_idle()
    if wish.number is not None and wish.plan is not None:
        answer: object = {"action": "edit", "number": wish.number, "plan": wish.plan}
    elif wish.plan is not None:
        answer = {"action": "write", "plan": wish.plan}
    else:
        answer = wish.number
    if answer is not None:
        await room.story.achoose(answer, at=wish.at)
    elif wish.at is not None:
        raise BadAnswer("To write after another passage, choose one of its plans or give your own.")
    room.begin("write", work.passages(room, await desk.views(), wish.steps), asked=wish.steps)
    return Begun(story=room.story.id)


@router.post("/stories/{story}/retry")
async def retry(desk: TheDesk, room: TheRoom, wish: At) -> Begun:
    """Write a passage once more from the same plan; the log keeps both."""
    room.check_idle()
    if (await room.story.apassage(wish.at)).step == 0:
        raise StoryError("The opening has no passage to write once more; ask for new plans instead.")
    room.begin("retry", work.another_take(room, await desk.views(), wish.at), asked=1)
    return Begun(story=room.story.id)


@router.post("/stories/{story}/replan")
async def replan(desk: TheDesk, room: TheRoom, wish: At) -> Begun:
    """Propose other plans."""
    room.check_idle()
    await room.story.apassage(wish.at)
    room.begin("replan", work.events_of(room, await desk.views(), lambda story: story.areplan(wish.at)))
    return Begun(story=room.story.id)


@router.post("/stories/{story}/stop")
async def stop(room: TheRoom) -> Done:
    """End the writing and keep the whole sentences that are there; a second time, end at once."""
    room.stop()
    return Done()


@router.post("/stories/{story}/keep")
async def keep_draft(room: TheRoom, key: WordsKey = "") -> Begun:
    """Make a passage of the words that an interruption left."""
    room.check_idle()
    if key:
        draft = room.pick(key)
        room.set_aside()
    elif room.draft is not None and room.draft.whole:
        draft = room.draft
    else:
        raise StoryError("There is no whole sentence to keep.")
    room.begin("keep", keep(room.story, draft), draft=draft)
    return Begun(story=room.story.id)


@router.post("/stories/{story}/drop")
async def drop_draft(room: TheRoom, key: WordsKey = "") -> Done:
    """Forget the words that an interruption left; their plan still waits."""
    room.check_idle()
    if key:
        room.pick(key)
    room.take_up(room.draft if key else None)
    return Done()


@router.post("/stories/{story}/undo")
async def undo(room: TheRoom) -> Done:
    """Take back what was done last; nothing leaves the log."""
    room.check_idle()
    await room.story.aundo()
    return moved(room)


@router.post("/stories/{story}/redo")
async def redo(room: TheRoom) -> Done:
    """Do again what was undone last."""
    room.check_idle()
    await room.story.aredo()
    return moved(room)


@router.post("/stories/{story}/goto")
async def goto(room: TheRoom, wish: At) -> Done:
    """Go to a passage; what is written next follows it."""
    room.check_idle()
    if wish.at is None:
        raise BadAnswer("Say where to go.")
    await room.story.agoto(wish.at)
    return moved(room)


@router.post("/stories/{story}/names")
async def name(room: TheRoom, wish: Name) -> Done:
    """Give a branch a name."""
    room.check_idle()
    await room.story.aname_branch(wish.name, wish.at)
    return moved(room)


@router.delete("/stories/{story}/names")
async def remove_name(room: TheRoom, name: Annotated[Short, Query()]) -> Done:
    """Take a branch's name away; its passages stay."""
    room.check_idle()
    await room.story.aremove_name(name)
    return moved(room)


def moved(room: TheRoom) -> Done:
    """Tell every page that the story has changed; a draft belonged to where it stood before."""
    room.set_aside()
    room.take_up(None)
    return Done()
