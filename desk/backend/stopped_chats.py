"""Chats whose first reply was stopped: their story is known by its premise, and by the words of it that the chat was shown.

Whoever stops a reply, or loses the line, has no place line yet. The words that were sent are kept beside the story, so that the
chat which comes back with them is not taken for another one that was begun from the same premise.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from recurrentgpt.desk.backend.disk_store import DiskStore
from recurrentgpt.library import Library
from recurrentgpt.prose.model_text import visible_line
from recurrentgpt.schema.errors import StorageError, StoryBusy
from recurrentgpt.schema.log import Commit

MOST_SHOWN = 10
"""Stopped replies of one story whose words are kept."""


@dataclass(frozen=True)
class StoppedChat:
    """A chat of several messages without a place line: its premise, what came of the replies, and what was said last."""

    premise: str
    replies: Sequence[str]
    said: str

    def saw(self, text: str) -> bool:
        """Tell whether a text stands in one of the replies."""
        return any(visible_line(text) in visible_line(reply) for reply in self.replies)


def keep_shown(disk: DiskStore, story: str, text: str) -> None:
    """Keep the words of a stopped first reply beside its story."""
    shown = [*disk.read(story).get("shown", []), text]
    # Without them the chat is asked what it means, or begins anew: no reason to hide why it was stopped.
    with suppress(StorageError):
        disk.write(story, {"shown": shown[-MOST_SHOWN:]})


async def begun_from(library: Library, premise: str, mode: str) -> list[str]:
    """Return the stories that were begun from these words, the newest first."""
    return [
        record["story"]
        for record in reversed(await library.engine.log.records())
        if record["premise"] == visible_line(premise) and record["settings"].get("mode", "novel") == mode
    ]


async def just_begun(library: Library, premise: str, mode: str) -> str | None:
    """Return the newest story that was begun from these words and has not gone on: its first reply is asked for again.

    One that is being written is another chat's, and so is one whose first passage was written from somebody's answer.
    """
    for story in await begun_from(library, premise, mode):
        links = (await library.engine.log.links(story)).values()
        most = 1 if mode == "novel" else 0
        if any(link["step"] > most for link in links):
            continue
        if any(passage["plan_author"] == "human" for passage in await first_passages(library, story)):
            continue
        if not await _is_written(library, story):
            return story
    return None


async def story_of(library: Library, disk: DiskStore, chat: StoppedChat, mode: str) -> str | None:
    """Return the story of a chat whose first reply was stopped; None where there is none, or one cannot be told from others.

    First comes one that was shown to it and has gone on from its answer, which is then given once more; then one that has not
    gone on, or has from another answer. Raises StoryBusy where it may be one that is being written.
    """
    ranked: list[list[str]] = [[], [], [], []]
    said, reply, busy = visible_line(chat.said), visible_line(chat.replies[0]) if chat.replies else "", ""
    for story in await begun_from(library, chat.premise, mode):
        passages, shown = await first_passages(library, story), disk.read(story).get("shown", [])
        if reply:
            known = _was_shown(reply, shown) or any(_tells(passage["passage"], reply) for passage in passages)
        else:
            # A client may keep no message of a reply that was stopped.
            known = any(not (chat.replies and visible_line(text)) for text in shown)
        if any(passage["plan"] == said for passage in passages):
            ranked[0 if known else 3].append(story)
        elif not passages and await _is_written(library, story):
            busy = story
        elif known and not passages:
            ranked[1].append(story)
        elif known and reply:
            ranked[2].append(story)
    found: list[str] = next(filter(None, ranked), [])
    if not found and busy:
        raise StoryBusy(f"Story {busy} is being written: wait until it is done, then send this once more.")
    return found[0] if len(found) == 1 else None


async def place_of(library: Library, disk: DiskStore, story: str, chat: StoppedChat) -> str:
    """Return the passage at which such a chat stands: a first one that it was shown, or else the story's opening."""
    replies, shown = [*filter(None, map(visible_line, chat.replies))], disk.read(story).get("shown", [])
    for passage in await first_passages(library, story):
        if any(
            chat.saw(passage["passage"]) or (_tells(passage["passage"], reply) and not _was_shown(reply, shown))
            for reply in replies
        ):
            return passage["id"]
    head = await library.engine.log.head(story)
    return (await library.engine.log.path(story, head["head"] if head else ""))[0]


async def first_passages(library: Library, story: str) -> list[Commit]:
    """Return the takes of a story's first passage."""
    log = library.engine.log
    return await log.get_many(story, [key for key, link in (await log.links(story)).items() if link["step"] == 1])


def _was_shown(reply: str, shown: Sequence[str]) -> bool:
    return any(visible_line(text).startswith(reply) for text in shown)


def _tells(passage: str, reply: str) -> bool:
    """Tell whether a reply is a passage, or the beginning of one, perhaps with the plans after it."""
    told = visible_line(passage)
    return told.startswith(reply) or reply.startswith(told)


async def _is_written(library: Library, story: str) -> bool:
    with suppress(StoryBusy):
        async with library.engine.writing(story):
            return False
    return True
