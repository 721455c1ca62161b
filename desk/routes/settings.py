"""Routes of the settings: those of the machine, among them a key that is never sent back, and those of a story."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from typing_extensions import TypedDict

from recurrentgpt.desk.backend.dependencies import DeskDep, JobsDep
from recurrentgpt.desk.backend.disk_store import MACHINE
from recurrentgpt.desk.backend.endpoint_trial import Trial, models_of, try_endpoint
from recurrentgpt.desk.backend.schemas import ERROR_RESPONSES, RequestBody, SettingField, ShortText
from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.settings_form import BUDGET, PLACES, Place, checked_settings, fields, make_context
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.infrastructure.settings import resolve
from recurrentgpt.schema.context import STORY_SETTINGS

router = APIRouter(tags=["settings"], responses=ERROR_RESPONSES)


class Values(RequestBody):
    """Settings by name; null or an empty text brings the default back. An empty key is forgotten."""

    values: dict[str, Any] = Field(default_factory=dict, max_length=60)
    key: ShortText | None = None


class EndpointBody(RequestBody):
    """What stands in the form, saved or not; what is empty is as it is in force."""

    model: ShortText = ""
    base_url: ShortText = ""
    key: ShortText = ""


class InForce(TypedDict):
    """A value that is in force, and where it comes from: `here`, `environment`, `default` or `code`."""

    value: str | None
    source: str
    variable: str


class StorySettings(TypedDict):
    """The form, and what is in force for a story."""

    fields: list[SettingField]
    values: Mapping[str, Any]


class MachineSettings(StorySettings):
    """The form, what is set for the machine, which model writes, and where the key comes from; never the key."""

    places: list[Place]
    key: str
    in_force: dict[str, InForce]


@router.get("/settings")
async def machine_settings(desk: DeskDep) -> MachineSettings:
    """Return what is set for every story."""
    return {
        "fields": fields(),
        "values": desk.disk.settings(),
        "places": PLACES,
        "key": desk.disk.key_source,
        "in_force": {name: _in_force(desk, name) for name in ("model", "base_url")},
    }


@router.put("/settings")
async def change_machine_settings(desk: DeskDep, body: Values) -> MachineSettings:
    """Change settings of the machine, for the next passage of every story."""
    changes = await asyncio.to_thread(checked_settings, body.values, machine=True)
    settings = {**desk.disk.settings(), **changes}
    make_context(settings)
    if body.key is not None:
        await asyncio.to_thread(desk.disk.write_key, body.key)
    await asyncio.to_thread(desk.disk.write_settings, MACHINE, settings)
    desk.apply_settings()
    return await machine_settings(desk)


@router.post("/settings/models")
async def list_endpoint_models(desk: DeskDep, body: EndpointBody) -> Trial:
    """Return which models an endpoint lists. Nothing is kept."""
    return await models_of(desk, body.base_url.strip(), body.key)


@router.post("/settings/test")
async def try_settings(desk: DeskDep, body: EndpointBody) -> Trial:
    """Ask a model for a word, and say in a sentence whether it answers. Nothing is kept."""
    return await try_endpoint(desk, body.model.strip(), body.base_url.strip(), body.key)


@router.get("/stories/{story}/settings")
async def story_settings(jobs: JobsDep) -> StorySettings:
    """Return what is in force for a story."""
    return _story_settings(jobs)


@router.put("/stories/{story}/settings")
async def change_story_settings(desk: DeskDep, jobs: JobsDep, body: Values) -> StorySettings:
    """Change settings of a story, from its next passage on; while one is written, from the one after it."""
    changes = checked_settings(body.values, machine=False)
    recorded = {name: value for name, value in changes.items() if name in STORY_SETTINGS}
    if recorded and (await jobs.story.asnapshot()).head:
        # How a story is told stands in its own record, and holds wherever it is opened.
        defaults = {field["name"]: field["default"] for field in fields()}
        chosen = {name: defaults[name] if value is None else value for name, value in recorded.items()}
        make_context(jobs.record_settings, chosen)
        await jobs.keep_settings(chosen)
        changes = {name: value for name, value in changes.items() if name not in recorded}
    settings = {**desk.disk.settings(jobs.story.id), **changes}
    make_context(jobs.record_settings, settings)
    await asyncio.to_thread(desk.disk.write_settings, jobs.story.id, settings)
    desk.apply_settings(jobs.story.id)
    jobs.story_changed()
    return _story_settings(jobs)


def _in_force(desk: Desk, name: str) -> InForce:
    chosen = desk.given().get(name)
    if chosen is not None and not isinstance(chosen, str):
        return {"value": type(chosen).__name__, "source": "code", "variable": ""}
    now = resolve(name, chosen)
    source = "here" if now.source == "given" else now.source
    return {"value": now.value, "source": source, "variable": now.setting.variable}


def _story_settings(jobs: StoryJobs) -> StorySettings:
    names = [field["name"] for field in fields() if not field["machine"] and field["name"] != BUDGET]
    values = {name: jobs.unrecorded.get(name, getattr(jobs.story.context, name)) for name in names}
    return {"fields": fields(), "values": {**values, BUDGET: jobs.disk.settings(jobs.story.id).get(BUDGET, 0)}}
