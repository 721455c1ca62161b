"""One room per story: the work in hand, and what every page that shows the story is told about it.

Work belongs to the server and not to a page: it goes on when a tab closes, and a page that comes back is told what it
missed, or where things stand.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any

from recurrentgpt.desk.disk_store import Shelf
from recurrentgpt.desk.job_state import Doing, cancelled
from recurrentgpt.desk.save_draft import Draft, DraftEvent, Edit, keep
from recurrentgpt.desk.settings_form import told
from recurrentgpt.schema.errors import RecurrentGPTError, StoryBusy, StoryError
from recurrentgpt.schema.events import Event
from recurrentgpt.story import Story

log = logging.getLogger(__name__)

KEPT_EVENTS = 4000
SECONDS_BETWEEN_DRAFTS = 1.0
PASSAGES = ("write", "retry", "keep")
BEFORE_THE_WORDS = ("", "open_story", "retrieve", "simulator", "select_plan", "write")


class Room:
    """The work on one story, and its listeners. Used in the server's event loop only."""

    def __init__(self, story: Story, shelf: Shelf) -> None:
        self.story, self.shelf = story, shelf
        self.doing = Doing()
        self.draft: Draft | None = None
        self.aside: list[Draft] = []
        """Words of interrupted passages, in whose place something else was done."""
        self.unread: dict[str, int] | None = None
        """How far an import came that was stopped: passages `done` of `total`."""
        self.edit: Edit | None = None
        """The text of an edit that is not in the log yet."""
        self.began: dict[str, Any] = {}
        """The settings that the story's record keeps."""
        self.usage: dict[str, Any] = {}
        """What each passage has cost, as far as it was read."""
        self.listeners = 0
        self._epoch = secrets.token_hex(4)
        self._events: deque[tuple[int, Mapping[str, object]]] = deque(maxlen=KEPT_EVENTS)
        self._count = 0
        self._news = asyncio.Event()
        self._stop, self._halt = asyncio.Event(), asyncio.Event()
        self._job: asyncio.Task[None] | None = None
        self._saving: asyncio.TimerHandle | None = None
        self._kept: asyncio.Task[None] | None = None
        self._closed = False

    # Listening

    def publish(self, event: Mapping[str, object]) -> None:
        """Tell every listener."""
        self._count += 1
        self._events.append((self._count, event))
        self._news.set()
        self._news = asyncio.Event()

    def tell(self, **changes: Any) -> None:
        """Change what is being done, and tell every listener all of it."""
        self.doing = replace(self.doing, **changes)
        self.publish({"event": "state", **asdict(self.doing)})

    def changed(self) -> None:
        """Tell every listener that the story is no longer what it was."""
        self.tell(revision=self.doing.revision + 1)

    async def follow(self, last_id: str) -> AsyncGenerator[tuple[str, Mapping[str, object]]]:
        """Yield events with their ids: those since `last_id` where they are known, else first how things stand."""
        epoch, _, number = last_id.partition("-")
        at = int(number) if epoch == self._epoch and number.isdecimal() and len(number) < 16 else -1
        first = self._events[0][0] if self._events else self._count + 1
        if not first - 1 <= at <= self._count:
            at = self._count
            yield f"{self._epoch}-{at}", {"event": "state", **asdict(self.doing)}
        self.listeners += 1
        try:
            while not self._closed:
                news = self._news
                for count, event in [item for item in self._events if item[0] > at]:
                    at = count
                    yield f"{self._epoch}-{count}", event
                if at == self._count:
                    await news.wait()
        finally:
            self.listeners -= 1

    def close(self) -> None:
        """Let every listener go, and end the work; what was finished is in the log."""
        self._closed = True
        self._news.set()
        if self._job is not None:
            self._job.cancel()

    async def ended(self) -> None:
        """Wait until the work has let go of the story, and its draft is kept."""
        if self._job is not None:
            await asyncio.wait([self._job])
        await self.kept()

    async def kept(self) -> None:
        """Wait until what is not in the log is kept beside the story."""
        if self._kept is not None:
            await asyncio.wait([self._kept])

    # Working

    @property
    def busy(self) -> bool:
        """Whether work is in hand."""
        return self._job is not None and not self._job.done()

    def check_idle(self) -> None:
        """Raise StoryBusy where work is in hand."""
        if self.busy:
            raise StoryBusy(f"Story {self.story.id} is being written: wait until it is done, or stop it first.")

    def begin(
        self, kind: str, work: AsyncGenerator[Event | DraftEvent], *, asked: int = 0, draft: Draft | None = None
    ) -> None:
        """Start work that yields events; raise StoryBusy where other work is in hand."""
        self.check_idle()
        self._stop, self._halt = asyncio.Event(), asyncio.Event()
        if draft is None:
            self.set_aside()
        self.draft = draft
        self.doing = Doing(revision=self.doing.revision)
        self.tell(busy=True, kind=kind, since=time.time(), asked=asked, **self._shown(draft))
        self._job = asyncio.create_task(self._work(work))
        self._job.add_done_callback(self._ended)

    def take_up(self, draft: Draft | None) -> None:
        """Show a draft that an earlier server left, or none."""
        self.draft = draft
        self.doing = replace(self.doing, **{"draft": "", "plan": "", "error": "", "note": "", **self._shown(draft)})
        self.save_draft()
        self.changed()

    def set_aside(self) -> None:
        """Lay the words that an interruption left beside the story, because something else is done in their place."""
        if self.draft is not None and self.draft.whole and self.draft.after:
            self.aside = [*self.aside, self.draft]
        self.draft = None

    def pick(self, key: str) -> Draft:
        """Take words up again that were set aside; raise StoryError where there are none of this key."""
        found = next((draft for draft in self.aside if draft.key == key), None)
        if found is None:
            raise StoryError("These words are not here any more; another page may have taken them.")
        self.aside = [draft for draft in self.aside if draft.key != key]
        return found

    def stop(self) -> None:
        """End the work after what is in hand; a second time, at once."""
        if self.busy:
            (self._halt if self._stop.is_set() else self._stop).set()
            self.tell(stopping=True)

    @property
    def stopping(self) -> bool:
        """Whether somebody asked to stop."""
        return self._stop.is_set()

    async def _work(self, work: AsyncGenerator[Event | DraftEvent]) -> None:
        try:
            cut = await self._listen(work)
            if cut and self.draft and self.draft.whole:
                self._stop.clear()
                self.tell(kind="keep", stage="update_memory", since=time.time(), draft=self.draft.whole)
                await self._listen(keep(self.story, self.draft), words=False)
            elif cut:
                self.tell(note="Stopped before a whole sentence was written; the plan waits.")
                self.draft = None
        except RecurrentGPTError as error:
            self.tell(error=told(error))

    async def _listen(self, work: AsyncGenerator[Event | DraftEvent], *, words: bool = True) -> bool:
        """Take events until the work ends or is stopped among the words; return whether it was."""
        reading = asyncio.create_task(self._read(work))
        waits = [asyncio.create_task(event.wait()) for event in (self._stop, self._halt)]
        try:
            await asyncio.wait([reading, waits[0]], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done() and self.doing.kind not in PASSAGES:
                # An edit, an import and new plans lose nothing: what is done stays, and the rest can go on later.
                await cancelled(reading)
                return False
            if not reading.done() and words and self.doing.stage in BEFORE_THE_WORDS:
                await cancelled(reading)
                return True
            await asyncio.wait([reading, waits[1]], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await cancelled(reading)
                return False
            await reading
        finally:
            for wait in waits:
                wait.cancel()
            await cancelled(reading)
        return False

    async def _read(self, work: AsyncGenerator[Event | DraftEvent]) -> None:
        async with aclosing(work) as events:
            async for event in events:
                self._take(event)
        if self.doing.kind == "edit":
            self.edit = None

    def _take(self, event: Event | DraftEvent) -> None:
        match event["event"]:
            case "stage" if event["node"] == "write" and self.doing.kind != "keep":
                self.tell(stage="write", since=time.time(), draft="", progress=None)
            case "stage":
                self.tell(stage=event["node"], since=time.time(), progress=None)
            case "prose":
                self._write(self.doing.draft + event["text"])
                self.publish({"event": "prose", "text": event["text"]})
            case "retract":
                self._write(self.doing.draft[: event["length"]])
                # A browser counts in units of UTF-16.
                self.publish({"event": "retract", "length": len(self.doing.draft.encode("utf-16-le")) // 2})
            case "story":
                self.changed()
            case "draft":
                self.draft = event["draft"]
                self.tell(**self._shown(self.draft))
            case "plans" if event["plan"]:
                if self.draft is not None:
                    self.draft = replace(self.draft, plan=event["plan"])
                self.tell(plan=event["plan"])
            case "replay" | "import":
                self.tell(replay={"done": event["done"], "total": event["total"]})
            case "passage":
                self.publish(event)
                self.draft = None
                if self.doing.kind == "edit":
                    self.edit = None
                self.tell(done=self.doing.done + 1, revision=self.doing.revision + 1, draft="")
            case "memory" | "plans":
                self.changed()

    def _write(self, text: str) -> None:
        self.doing.draft = text
        if self.draft is not None:
            self.draft = replace(self.draft, text=text)
            self.save_soon()

    def save_soon(self) -> None:
        """Keep it within a second, however often this is asked."""
        if self._saving is None:
            self._saving = asyncio.get_running_loop().call_later(SECONDS_BETWEEN_DRAFTS, self.save_draft)

    def save_draft(self) -> None:
        """Keep what is not in the log beside the story, so that a server that dies loses no more than the last second."""
        if self._saving is not None:
            self._saving.cancel()
            self._saving = None
        kept = {
            "draft": asdict(self.draft) if self.draft else None,
            "aside": [asdict(draft) for draft in self.aside] or None,
            "edit": asdict(self.edit) if self.edit else None,
            "unread": self.unread,
        }
        self._kept = asyncio.create_task(self._keep(kept, self._kept))

    async def _keep(self, kept: dict[str, Any], before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await asyncio.to_thread(self.shelf.write, self.story.id, kept)
        except RecurrentGPTError as error:
            log.warning("The draft could not be kept: %s", error)

    def _shown(self, draft: Draft | None) -> dict[str, Any]:
        return {"step": draft.step, "plan": draft.plan, "draft": draft.text} if draft else {}

    def _ended(self, job: asyncio.Task[None]) -> None:
        error = None if job.cancelled() else job.exception()
        if error is not None:
            log.error("Work on story %s failed.", self.story.id, exc_info=error)
            self.doing.error = f"The desk failed ({type(error).__name__}); its terminal says where. The story is safe."
        if self.draft is not None and not self.draft.text.strip():
            self.draft = None
        self.save_draft()
        words, revision = self.draft.text if self.draft else "", self.doing.revision + 1
        self.tell(busy=False, stage="", stopping=False, progress=None, replay=None, draft=words, revision=revision)
