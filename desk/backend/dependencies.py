"""What routes are given: the desk of the app, and the story that is in the path."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request

from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.engine.refs import NOTHING_WRITTEN
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.schema.errors import StoryNotFound


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


DeskDep = Annotated[Desk, Depends(_desk)]


async def _jobs(desk: DeskDep, story: Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$")]) -> StoryJobs:
    return await desk.story_jobs(story)


JobsDep = Annotated[StoryJobs, Depends(_jobs)]


async def _idle_jobs(jobs: JobsDep) -> StoryJobs:
    jobs.check_idle()
    return jobs


IdleJobsDep = Annotated[StoryJobs, Depends(_idle_jobs)]
"""The same, for what cannot be done while a job runs on the story."""


async def _opened_jobs(jobs: JobsDep) -> StoryJobs:
    if await acall(lambda: jobs.story.engine.log.head(jobs.story.id)) is None:
        raise StoryNotFound(NOTHING_WRITTEN)
    return jobs


OpenedJobsDep = Annotated[StoryJobs, Depends(_opened_jobs)]
"""The same, for what only a story has that is in the log: that of any other is no story there is."""
