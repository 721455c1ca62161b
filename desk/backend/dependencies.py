"""What routes are given: the desk of the app, and the story that is in the path."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request

from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.story_jobs import StoryJobs


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
