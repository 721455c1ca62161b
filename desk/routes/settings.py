"""Routes of the settings: those of the machine, among them a key that is never sent back, and those of a story."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from recurrentgpt.desk.disk_store import MACHINE
from recurrentgpt.desk.schemas import FAULTS, Body, Short, TheDesk, TheRoom
from recurrentgpt.desk.service import Desk
from recurrentgpt.desk.settings_form import BUDGET, checked, context_of, fields
from recurrentgpt.infrastructure.settings import resolve
from recurrentgpt.schema.context import STORY_SETTINGS

router = APIRouter(tags=["settings"], responses=FAULTS)


class Values(Body):
    """Settings by name; null or an empty text brings the default back. An empty key is forgotten."""

    values: dict[str, Any] = Field(default_factory=dict, max_length=60)
    key: Short | None = None


@router.get("/settings")
async def machine(desk: TheDesk) -> dict[str, Any]:
    """Return the form, what is set for the machine, and where the key comes from; never the key."""
    return _of_the_machine(desk)


@router.put("/settings")
async def set_machine(desk: TheDesk, wish: Values) -> dict[str, Any]:
    """Change settings of the machine, for the next passage of every story."""
    changes = await asyncio.to_thread(checked, wish.values, machine=True)
    kept = {**desk.shelf.read(MACHINE).get("settings", {}), **changes}
    context_of(kept)
    if wish.key is not None:
        await asyncio.to_thread(desk.shelf.keep_key, wish.key)
    chosen = {name: value for name, value in kept.items() if value is not None}
    await asyncio.to_thread(desk.shelf.write, MACHINE, {"settings": chosen})
    desk.settle()
    return _of_the_machine(desk)


@router.get("/stories/{story}/settings")
async def of_story(desk: TheDesk, room: TheRoom) -> dict[str, Any]:
    """Return what is in force for a story."""
    return _of_story(desk, room)


@router.put("/stories/{story}/settings")
async def set_story(desk: TheDesk, room: TheRoom, wish: Values) -> dict[str, Any]:
    """Change settings of a story, from its next passage on."""
    room.check_idle()
    changes = checked(wish.values, machine=False)
    told = {name: value for name, value in changes.items() if name in STORY_SETTINGS}
    if told and await (await desk.views()).head(room.story):
        # How a story is told stands in its own record, and holds wherever it is opened.
        defaults = {field["name"]: field["default"] for field in fields()}
        set_now = {name: defaults[name] if value is None else value for name, value in told.items()}
        room.began = await room.story.achange_settings(**set_now)
        changes = {name: value for name, value in changes.items() if name not in told}
    kept = {**desk.shelf.read(room.story.id).get("settings", {}), **changes}
    context_of(room.began, kept)
    chosen = {name: value for name, value in kept.items() if value is not None}
    await asyncio.to_thread(desk.shelf.write, room.story.id, {"settings": chosen})
    desk.settle(room.story.id)
    room.changed()
    return _of_story(desk, room)


def _of_the_machine(desk: Desk) -> dict[str, Any]:
    kept = desk.shelf.read(MACHINE).get("settings", {})
    return {"fields": fields(), "values": kept, "key": desk.shelf.key_is, "in_force": _in_force(desk)}


def _in_force(desk: Desk) -> dict[str, Any]:
    """Return which model writes and where it is asked, and for each where that comes from."""
    given = desk.given()
    found: dict[str, Any] = {}
    for name in ("model", "base_url"):
        chosen = given.get(name)
        if chosen is not None and not isinstance(chosen, str):
            found[name] = {"value": type(chosen).__name__, "source": "code", "variable": ""}
            continue
        now = resolve(name, chosen)
        source = "here" if now.source == "given" else now.source
        found[name] = {"value": now.value, "source": source, "variable": now.setting.variable}
    return found


def _of_story(desk: Desk, room: TheRoom) -> dict[str, Any]:
    context = dataclasses.asdict(
        dataclasses.replace(room.story.context, model=None, embeddings=None, vector_store=None)
    )
    names = [field["name"] for field in fields() if not field["machine"] and field["name"] != BUDGET]
    budget = desk.shelf.read(room.story.id).get("settings", {}).get(BUDGET, 0)
    return {"fields": fields(), "values": {**{name: context[name] for name in names}, BUDGET: budget}}
