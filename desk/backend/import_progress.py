"""How far an import of a manuscript has come, by the log: what was stopped, or killed, may have more in it than was noted."""

from __future__ import annotations

from recurrentgpt.desk.backend.job_state import Progress
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.memory.log_reader import path_to
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.parts import KEPT_PLAN


async def as_far_as_read(log: StoryLog, story: str, noted: Progress) -> Progress:
    """Return how far an import had come, of which so much was noted."""
    return await acall(lambda: _as_far_as_read(log, story, noted))


async def _as_far_as_read(log: StoryLog, story: str, noted: Progress) -> Progress:
    head = await log.head(story)
    links = await log.links(story)
    path = path_to(head["head"], links) if head else []
    for commit in await log.get_many(story, [key for key in path if links[key]["step"] > noted["done"]]):
        if commit["plan_author"] != KEPT_PLAN:
            break
        noted = {"done": commit["step"], "total": max(noted["total"], commit["step"])}
    return noted
