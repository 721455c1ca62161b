"""Whether what somebody edited is still what stands in the story: it may have been changed meanwhile."""

from __future__ import annotations

from typing import Literal

from recurrentgpt.desk.backend.read_model import is_same, version_on
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.story import Story

_SAID = {"passage": "The text of passage {}", "short_term_memory": "The memory after passage {}"}


async def check_seen(
    story: Story, at: str | None, seen: str | None, part: Literal["passage", "short_term_memory"], *, saved: str = ""
) -> None:
    """Raise StoryError where the version that was edited reads otherwise than the one that stands on the branch.

    What the same page has `saved` last may stand there, too: somebody typed on while it was saved.

    `at` is any version of the passage; the newest passage when None. Of a version that the story has not, nothing is known and
    nothing is refused.
    """
    if seen is None:
        return
    now, passage, log = await story.asnapshot(), await story.apassage(at), story.engine.log

    async def texts() -> tuple[str, str]:
        links = await log.links(story.id)
        path = [*(link["id"] for link in now.path), now.head]
        standing = await log.get(story.id, version_on(path, passage.id, links))
        edited = await log.get(story.id, seen) if seen in links else standing
        return edited[part], standing[part]

    edited, standing = await acall(texts)
    if not any(is_same(text, standing) for text in (edited, saved)):
        raise StoryError(
            f"{_SAID[part].format(passage.step)} was changed meanwhile: look at what stands there now, then save "
            "yours all the same, or let it go. Nothing of either is lost."
        )
