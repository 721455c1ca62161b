"""The desk behind the page: one library, what is kept beside it, and a room for each story that somebody looks at."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from recurrentgpt.desk.disk_store import MACHINE, Shelf
from recurrentgpt.desk.read_model import Views
from recurrentgpt.desk.save_draft import Draft, Edit
from recurrentgpt.desk.settings_form import BUDGET, context_of
from recurrentgpt.desk.story_jobs import Room
from recurrentgpt.infrastructure import settings
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.library import Library, default_library
from recurrentgpt.models.embedded.fetch import set_progress
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.state import StoryInput
from recurrentgpt.story import Story

MOST_ROOMS = 200


class Desk:
    """Everything that the routes share. Used in the server's event loop only."""

    def __init__(
        self, library: Library | None = None, folder: Path | None = None, given: Mapping[str, Any] | None = None
    ) -> None:
        self._library, self._given = library, dict(given or {})
        self.shelf = Shelf(folder or settings.home() / "desk")
        self.rooms: dict[str, Room] = {}
        self._opening = asyncio.Lock()

    async def start(self) -> None:
        """Use the kept key, and listen for models that are fetched."""
        await asyncio.to_thread(self.shelf.use_key)
        loop = asyncio.get_running_loop()

        def hook(done: int, total: int, what: str) -> None:
            with suppress(RuntimeError):  # the server may be gone before a download is
                loop.call_soon_threadsafe(self._fetching, done, total, what)

        set_progress(hook)

    async def stop(self) -> None:
        """Let every page go and end all work."""
        set_progress(None)
        for room in self.rooms.values():
            room.close()
        await asyncio.gather(*(room.ended() for room in self.rooms.values()))

    def _fetching(self, done: int, total: int, what: str) -> None:
        for room in self.rooms.values():
            if room.busy:
                room.tell(progress={"done": done, "total": total, "what": what})

    async def library(self) -> Library:
        """Return the library, opened at the first call."""
        async with self._opening:
            if self._library is None:
                self._library = await asyncio.to_thread(default_library)
            return self._library

    async def views(self) -> Views:
        """Return the reader of the library's stories."""
        return Views(await self.library())

    async def room(self, story: str) -> Room:
        """Return the room of a story, made at the first call; raise StoryNotFound where there is no such story."""
        if story in self.rooms:
            return self.rooms[story]
        library, kept = await self.library(), self.shelf.read(story)
        opening: StoryInput | None = kept.get("opening")
        head = await acall(lambda: library.engine.log.head(story))
        if head is None and opening is None:
            raise StoryNotFound(f"There is no story {story[:60]!r}; it may have been begun on another machine.")
        began: dict[str, Any] = {}
        if head is not None:
            record = await acall(lambda: library.engine.log.record(story))
            began = record["settings"]
        if story in self.rooms:  # somebody else was faster
            return self.rooms[story]
        room = Room(Story(library.engine, story, self.context(story, began), opening), self.shelf)
        room.began = began
        room.aside = [Draft(**draft) for draft in kept.get("aside", [])]
        room.edit = Edit(**kept["edit"]) if "edit" in kept else None
        room.unread = kept.get("unread")
        if kept.get("draft"):
            draft = Draft(**kept["draft"])
            if draft.text.strip() and draft.head == (head["head"] if head else ""):
                room.take_up(draft)
        self.rooms[story] = room
        self._clear()
        return room

    async def begin(self, opening: StoryInput, story_settings: Mapping[str, Any]) -> Room:
        """Return the room of a new story, of which nothing is written; it is kept, so that a restart finds it again."""
        library = await self.library()
        own = {name: value for name, value in story_settings.items() if value is not None and name != BUDGET}
        fresh = Story.new(
            opening.get("genre", ""),
            opening.get("premise", ""),
            title=opening.get("title", ""),
            plan=opening.get("plan", ""),
            short_term_memory=opening.get("short_term_memory", ""),
            player=opening.get("player", ""),
            library=library,
            **{**self.given(), **own},
        )
        kept = {"opening": {**opening, "story": fresh.id}, "settings": dict(story_settings)}
        await asyncio.to_thread(self.shelf.write, fresh.id, kept)
        room = self.rooms[fresh.id] = Room(fresh, self.shelf)
        return room

    async def erase(self, room: Room) -> None:
        """Delete the story of a room for ever; whoever looks at it is sent away."""
        room.check_idle()
        library, story = await self.library(), room.story.id
        await library.aerase(story)
        self.rooms.pop(story, None)
        room.close()
        await room.kept()
        await asyncio.to_thread(self.shelf.remove, story)

    def context(self, story: str, began: Mapping[str, Any]) -> Any:
        """Return the settings that hold for a story: the machine's, those it was begun with, then those changed since."""
        machine, own = self.shelf.read(MACHINE).get("settings", {}), self.shelf.read(story).get("settings", {})
        return context_of(self._given, machine, began, own)

    def given(self) -> dict[str, Any]:
        """Return the settings that hold for every story: those that code gave, then the machine's."""
        given = {**self._given, **self.shelf.read(MACHINE).get("settings", {})}
        return {name: value for name, value in given.items() if value is not None}

    def settle(self, story: str | None = None) -> None:
        """Give changed settings to the stories that are open, from their next passage on."""
        for key, room in self.rooms.items():
            if story in (None, key):
                opening = self.shelf.read(key).get("opening")
                room.story = Story(room.story.engine, key, self.context(key, room.began), opening)

    def _clear(self) -> None:
        """Forget rooms that nobody looks at, the oldest first."""
        for key in [key for key, room in self.rooms.items() if not room.busy and not room.listeners][:-MOST_ROOMS]:
            del self.rooms[key]
