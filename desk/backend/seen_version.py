"""Whether what somebody edited is still what stands in the story: it may have been changed meanwhile."""

from __future__ import annotations

from typing import Literal

from recurrentgpt.desk.backend.read_model import is_same, version_on
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.schema.log import Commit
from recurrentgpt.story import Story

_SAID = {"passage": "The text of passage {}", "short_term_memory": "The memory after passage {}"}


async def standing_version(story: Story, at: str | None, *, seen: object) -> str:
    """Return which version of a passage, by default the newest, somebody edits who has `seen` one of it.

    A page that has not heard yet of what another one saved asks by the version that it shows, and means the one that stands on
    the branch. Whoever has seen none means the very one that they name.
    """
    named, log = (await story.apassage(at)).id, story.engine.log
    if seen is None:
        return named

    async def standing() -> str:
        head = await log.head(story.id)
        path = await log.path(story.id, head["head"]) if head else []
        return version_on(path, named, await log.links(story.id))

    return await acall(standing)


async def check_seen(
    story: Story, at: str, seen: str | None, part: Literal["passage", "short_term_memory"], *, saved: str = ""
) -> None:
    """Raise StoryError where the version that was edited reads otherwise than the one that stands, `at`.

    What the same page has `saved` last may stand there, too: somebody typed on while it was saved. Of a version that the
    story has not, nothing is known and nothing is refused.
    """
    if seen is None:
        return
    log = story.engine.log

    async def commits() -> tuple[Commit, Commit]:
        standing = await log.get(story.id, at)
        return await log.get(story.id, seen) if seen in await log.links(story.id) else standing, standing

    edited, standing = await acall(commits)
    if not any(is_same(text, standing[part]) for text in (edited[part], saved)):
        raise StoryError(
            f"{_SAID[part].format(standing['step'])} was changed meanwhile: look at what stands there now, then save "
            "yours all the same, or let it go. Nothing of either is lost."
        )
