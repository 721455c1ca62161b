"""The job that runs on one story, and what every page that shows the story is told about it.

A job belongs to the server and not to a page: it goes on when a tab closes, and a page that comes back is told what it
missed, or how things stand.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, replace
from typing import Any, Literal, TypeVar, get_args

from recurrentgpt.desk.backend.asked_change import AskedChange, make_asked_change
from recurrentgpt.desk.backend.disk_store import DiskStore
from recurrentgpt.desk.backend.job_state import JobKind, JobState, Progress, Suggestion, SuggestionEvent
from recurrentgpt.desk.backend.ledger import Ledger
from recurrentgpt.desk.backend.memory_change import MemoryChange
from recurrentgpt.desk.backend.save_draft import Draft, DraftEvent, Edit, write_draft
from recurrentgpt.desk.backend.settings_form import BUDGET, page_message
from recurrentgpt.infrastructure.telemetry import counting
from recurrentgpt.models.embedded.fetch import Progress as FetchProgress
from recurrentgpt.models.embedded.fetch import showing_progress
from recurrentgpt.schema.errors import BadAnswer, RecurrentGPTError, StoryBusy, StoryError
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import StoryInput
from recurrentgpt.schema.stream_buffer import StreamBuffer
from recurrentgpt.story import Story

logger = logging.getLogger(__name__)

JobEvent = Event | DraftEvent | SuggestionEvent

MOST_EVENTS_KEPT = 4000
MOST_SUGGESTIONS = 20
"""Suggestions for selections of one story that may wait, on all its branches."""
SECONDS_BETWEEN_SAVES = 1.0
JOBS_OF_A_PASSAGE = ("write", "retry", "keep")
STAGES_BEFORE_WORDS = ("", "open_story", "retrieve", "simulator", "select_plan", "write")


Item = TypeVar("Item")
Queue = Literal["queue", "memory_changes", "codex_changes"]
"""What may wait for the passage in the making, by its name in `JobState`."""


def without(items: Sequence[Item], number: int, item: Item) -> list[Item]:
    """Return what waits without this item, the one of this number, counted from 1; raise StoryError where that is another."""
    if list(items[number - 1 : number]) != [item]:
        raise StoryError("What waits has changed meanwhile: look at it again.")
    return [*items[: number - 1], *items[number:]]


def _first_but(passed: Sequence[AskedChange], changes: Sequence[AskedChange]) -> AskedChange | None:
    """Return the first change that is none of those passed over, though it may say the same as one of them."""
    return next((change for change in changes if all(change is not one for one in passed)), None)


def _with(changes: Sequence[AskedChange], old: AskedChange, new: Sequence[AskedChange]) -> list[AskedChange]:
    """Return the changes with others in the place of one."""
    return [one for change in changes for one in (new if change is old else [change])]


class StoryJobs:
    """The jobs on one story, one at a time, and the pages that listen. Used in the server's event loop only."""

    def __init__(self, story: Story, disk: DiskStore, opening: StoryInput | None = None) -> None:
        self.story, self.disk = story, disk
        self.opening = opening or StoryInput()
        """What a story is to begin from; empty once it is opened."""
        self.state = JobState()
        self.draft: Draft | None = None
        self.aside: list[Draft] = []
        """Words of interrupted passages, in whose place something else was done."""
        self.unfinished_import: Progress | None = None
        """How far an import came that was stopped."""
        self.edits: list[Edit] = []
        """The texts of edits that are not in the log yet."""
        self.editing = ""
        """The key of the edit in hand; empty where no text of it is kept."""
        self.record_settings: dict[str, Any] = {}
        """The settings that the story's own record holds."""
        self.unrecorded: dict[str, Any] = {}
        """Settings that were changed while a passage was written; they hold from the next one on."""
        self.ledger = Ledger(story)
        self.listeners = 0
        self._making: AskedChange | None = None
        """The change of the codex that is made just now."""
        self._epoch = secrets.token_hex(4)
        self._events: deque[tuple[int, Mapping[str, object]]] = deque(maxlen=MOST_EVENTS_KEPT)
        self._count = 0
        self._news = asyncio.Event()
        self._stop, self._stop_now = asyncio.Event(), asyncio.Event()
        self._drop = False
        self._stream = StreamBuffer()
        self._attempts: Counter[str] = Counter()
        self._job: asyncio.Task[None] | None = None
        self._save_timer: asyncio.TimerHandle | None = None
        self._saving: asyncio.Task[RecurrentGPTError | None] | None = None
        self._closed = False
        self._background: set[asyncio.Task[None]] = set()

    # Events for pages

    def publish(self, event: Mapping[str, object]) -> None:
        """Send an event to every page."""
        self._count += 1
        self._events.append((self._count, event))
        self._news.set()
        self._news = asyncio.Event()

    def update(self, **changes: Any) -> None:
        """Change the state of the job, and send all of it to every page."""
        self.state = replace(self.state, **changes)
        self.publish(self._told())

    def _told(self) -> Mapping[str, object]:
        """Return the event that tells how things stand.

        Thousands are kept, and what is suggested may be long: it is shared among them, for its list is never changed in place.
        """
        suggestions = self.state.suggestions
        return {"event": "state", **asdict(replace(self.state, suggestions=[])), "suggestions": suggestions}

    def story_changed(self) -> None:
        """Make every page read the story again."""
        self.update(revision=self.state.revision + 1)
        self.write_ahead()

    def write_ahead(self) -> None:
        """Let the next passages be written while somebody reads, where that is wanted and nothing else is to be done."""
        if self.listeners and not self.busy and not self._closed:
            self._begin_in_background(self._write_ahead())

    async def _write_ahead(self) -> None:
        # What keeps the log from being read is told by what somebody asks for.
        with suppress(RecurrentGPTError):
            left = await self.ledger.left(self.disk.settings(self.story.id).get(BUDGET, 0))
            if left is None or left > 0:
                await self.story.awrite_ahead(left or 0, tell=self._ready_teller())
            await self._show_ready()

    def _ready_teller(self) -> Callable[[], None]:
        """Return what has pages told which plans are ready; it is called from another thread."""
        loop = asyncio.get_running_loop()

        def tell() -> None:
            with suppress(RuntimeError):  # the server may be gone before a passage is there
                loop.call_soon_threadsafe(lambda: self._begin_in_background(self._show_ready()))

        return tell

    async def _show_ready(self) -> None:
        with suppress(RecurrentGPTError):
            ready = await self.story.aready_plans()
            if ready != self.state.ready and not self.busy:
                self.update(ready=ready)

    def _begin_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def follow(self, last_event_id: str) -> AsyncGenerator[tuple[str, Mapping[str, object]]]:
        """Yield events with their ids: those since `last_event_id` where they are known, else first how things stand."""
        epoch, _, number = last_event_id.partition("-")
        at = int(number) if epoch == self._epoch and number.isdecimal() and len(number) < 16 else -1
        first = self._events[0][0] if self._events else self._count + 1
        if not first - 1 <= at <= self._count:
            at = self._count
            yield f"{self._epoch}-{at}", self._told()
        self.listeners += 1
        self.write_ahead()
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
            if not self.listeners:
                self._begin_in_background(self.story.astop_ahead())

    def close(self) -> None:
        """Let every page go, and end the job; what was finished is in the log."""
        self._closed = True
        self._news.set()
        if self._job is not None:
            self._job.cancel()

    async def ended(self) -> None:
        """Wait until the job has let go of the story, and its draft is on disk."""
        if self._job is not None:
            await asyncio.wait([self._job])
        await self.saved()

    # The job

    @property
    def busy(self) -> bool:
        """Whether a job runs."""
        return self._job is not None and not self._job.done()

    @property
    def stopping(self) -> bool:
        """Whether somebody asked the job to stop."""
        return self._stop.is_set()

    def check_idle(self) -> None:
        """Raise StoryBusy while a job runs."""
        if self.busy:
            raise StoryBusy(f"Story {self.story.id} is being written: wait until it is done, or stop it first.")

    def start(
        self, kind: JobKind, events: AsyncGenerator[JobEvent], *, asked: int = 0, draft: Draft | None = None
    ) -> None:
        """Start a job that yields events; raise StoryBusy while another one runs."""
        self.check_idle()
        self._stop, self._stop_now = asyncio.Event(), asyncio.Event()
        self._attempts.clear()
        if draft is None:
            self.lay_aside()
        self.draft = draft
        self._drop = False
        waiting: dict[str, Any] = {queue: self._waiting(queue) for queue in get_args(Queue)}
        self.state = JobState(revision=self.state.revision, suggestions=self.state.suggestions, **waiting)
        self.update(busy=True, kind=kind, since=time.time(), asked=asked, **_fields(draft))
        with showing_progress(self._fetch_progress()), counting(self.ledger.count):
            self._job = asyncio.create_task(self._run(events))
        self._job.add_done_callback(self._finished)

    def start_edit(self, key: str, events: AsyncGenerator[Event]) -> None:
        """Start an edit of a passage: once it is in the log, the text that is kept under this key goes."""
        self.start("edit", events)
        self.editing = key

    def stop(self, *, drop: bool = False) -> None:
        """End the job after what it is doing; a second time, at once. With `drop` no words of an unfinished passage are kept."""
        if self.busy:
            self._drop = self._drop or drop
            (self._stop_now if self._stop.is_set() else self._stop).set()
            self.update(stopping=True)

    async def record_unrecorded(self) -> None:
        """Put the settings that were changed during a passage into the story's record; nothing may be writing it."""
        if changed := self.unrecorded:
            self.record_settings = await self.story.achange_settings(**changed)
            # One that was changed once more meanwhile waits on.
            self.unrecorded = {name: value for name, value in self.unrecorded.items() if changed.get(name) != value}
            self.save()

    async def keep_settings(self, chosen: Mapping[str, Any]) -> None:
        """Put settings into the story's record, or on the disk while it is written; where that fails, they do not hold."""
        before, self.unrecorded = self.unrecorded, {**self.unrecorded, **chosen}
        try:
            if not self.busy:
                await self.record_unrecorded()
            else:
                self.save()
                if failure := await self.saved():
                    raise failure
        except RecurrentGPTError:
            self.unrecorded = before
            raise

    async def let_wait(self, queue: Queue, item: Any) -> None:
        """Let a plan, or an edit, wait for the passage in the making; where it cannot be put on the disk it does not wait.

        Raises why it cannot.
        """
        self._wait_with(queue, [*self._waiting(queue), item])
        failure, waiting = await self.saved(), self._waiting(queue)
        # One that was taken up meanwhile is in the log.
        if failure and item in waiting and item is not self._making:
            self.withdraw(queue, len(waiting) - waiting[::-1].index(item), item)
            raise failure

    def withdraw(self, queue: Queue, number: int, item: Any) -> None:
        """Take this item, the one of this number, out of those that wait; raise StoryError where that is another one by now."""
        before = self._waiting(queue)
        others = without(before, number, item)
        if before[number - 1] is self._making:
            raise StoryError("This change is tried just now: take it out when that is done.")
        self._wait_with(queue, others)

    def _waiting(self, queue: Queue) -> list[Any]:
        waiting: list[Any] = getattr(self.state, queue)
        return waiting

    def _wait_with(self, queue: Queue, waiting: list[Any]) -> None:
        self.update(**{queue: waiting})
        self.save()

    async def goes_on_from_before(self) -> bool:
        """Whether an edit or an import that was stopped may go on from what was there before: a change made now is not in it."""
        if self.state.kind in JOBS_OF_A_PASSAGE and self.state.done:
            # Whoever wrote on has left both behind.
            return False
        unread = self.unfinished_import
        if unread is not None and (await self.story.apassage()).step <= unread["done"]:
            return True
        return await self.story.apending_replay() is not None

    async def make_waiting_changes(self) -> None:
        """Make the changes of memory and codex that waited for the last passage; nothing may be writing the story."""
        await self._make_memory_changes()
        await self._make_asked_changes()

    async def _make_memory_changes(self) -> None:
        while self.state.memory_changes:
            # Out of the list before anything is awaited: what is being made can be withdrawn no more.
            change, *others = self.state.memory_changes
            self.update(memory_changes=others)
            try:
                await self.make_memory_change(change)
            except BaseException:
                self.update(memory_changes=[change, *self.state.memory_changes])
                raise

    async def _make_asked_changes(self) -> None:
        """Make the changes of the codex that wait; those that the codex refuses go on waiting, with the reason."""
        refused: list[AskedChange] = []
        while (change := _first_but(refused, self.state.codex_changes)) is not None:
            # In its place until it is made: a page would tell of one that comes and goes as of a new one.
            self._making = change
            try:
                await self.make_asked_change(change)
            except StoryBusy:
                raise
            except (BadAnswer, StoryError) as error:
                refused.append({**change, "problem": page_message(error)})
                self._wait_with("codex_changes", _with(self.state.codex_changes, change, refused[-1:]))
            finally:
                self._making = None

    async def edit_memory(self, text: str, at: str | None, before: str | None) -> None:
        """Replace the memory after a passage; nothing may be writing the story.

        Edits that wait were before whoever edits the newest one, where `before`, from which they began, has them: they are kept
        or taken back with it, and wait no more.
        """
        at_newest = (await self.story.apassage(at)).id == (await self.story.apassage()).id
        made, waiting = list[MemoryChange](), list[MemoryChange]()
        for change in self.state.memory_changes:
            is_shown = at_newest and before is not None and change.is_made_in(before)
            (made if is_shown else waiting).append(change)
        self.update(memory_changes=waiting)
        try:
            await self.story.aedit_memory(text, at)
        except BaseException:
            self.update(memory_changes=[*made, *self.state.memory_changes])
            raise

    async def make_memory_change(self, change: MemoryChange) -> None:
        """Make an edit of the memory in the one that the last passage left; nothing may be writing the story."""
        before = (await self.story.apassage()).short_term_memory
        await self._make_change(lambda: self.story.aedit_memory(change.made_in(before)))

    async def make_asked_change(self, change: AskedChange) -> None:
        """Make a change of the codex; nothing may be writing the story."""

        async def make() -> None:
            await make_asked_change(self.story, change)
            self.state.codex_changes = _with(self.state.codex_changes, change, [])

        await self._make_change(make)

    async def _make_change(self, make: Callable[[], Awaitable[object]]) -> None:
        """Make a correction of the newest passage; what belongs to that passage belongs to it as it is then."""
        before = await self.story.apassage()
        await make()
        now = {before.id: (await self.story.apassage()).id}
        if self.draft is not None:
            # Kept, the words of a passage that was interrupted shall not go back behind it.
            after, head = (now.get(key, key) for key in (self.draft.after, self.draft.head))
            self.draft = replace(self.draft, after=after, head=head)
        self.story_changed()
        self.save()

    async def choose_queued_plan(self) -> None:
        """Choose the first of the plans that wait; nothing may be writing the story."""
        # Out of the list before anything is awaited: what is being chosen can be taken out no more.
        plan, *others = self.state.queue
        self.update(queue=others)
        try:
            await self.story.achoose({"action": "write", "plan": plan})
        except BaseException:
            self.update(queue=[plan, *self.state.queue])
            raise
        self.save()

    def _fetch_progress(self) -> FetchProgress:
        """Return what shows a fetch of the job's models; it is called from other threads."""
        loop = asyncio.get_running_loop()

        def show(done: int, total: int, what: str) -> None:
            told = {"done": done, "total": total, "what": what} if what else None
            with suppress(RuntimeError):  # the server may be gone before a download is
                loop.call_soon_threadsafe(lambda: self.update(progress=told))

        return show

    async def _run(self, events: AsyncGenerator[JobEvent]) -> None:
        try:
            await self.ledger.begin()
            interrupted = await self._run_until_stopped(events)
            if interrupted and self._drop:
                self.update(note="Stopped, and the words are dropped; the plan waits.")
                self.draft = None
            elif interrupted and self.draft and self.draft.whole_sentences:
                self._stop.clear()
                self.update(kind="keep", stage="update_memory", since=time.time(), draft=self.draft.whole_sentences)
                await self._run_until_stopped(write_draft(self.story, self.draft), keep_words=False)
            elif interrupted:
                self.update(note="Stopped before a whole sentence was written; the plan waits.")
                self.draft = None
        except RecurrentGPTError as error:
            self._failed(page_message(error))
        finally:
            # What keeps the log from being read was told of by the work itself.
            with suppress(RecurrentGPTError):
                await self.ledger.settle()
                await self.record_unrecorded()
                if not await self.goes_on_from_before():
                    await self.make_waiting_changes()

    async def _run_until_stopped(self, events: AsyncGenerator[JobEvent], *, keep_words: bool = True) -> bool:
        """Apply events until the job ends or is stopped; return whether it was stopped among the words of a passage."""
        reading = asyncio.create_task(self._apply_all(events))
        waits = [asyncio.create_task(event.wait()) for event in (self._stop, self._stop_now)]
        try:
            await asyncio.wait([reading, waits[0]], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done() and self.state.kind not in JOBS_OF_A_PASSAGE:
                # An edit, an import and new plans lose nothing: what is done stays, and the rest can go on later.
                await _cancel(reading)
                return False
            if not reading.done() and keep_words and self.state.stage in STAGES_BEFORE_WORDS:
                await _cancel(reading)
                return True
            await asyncio.wait([reading, waits[1]], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await _cancel(reading)
                return False
            await reading
        finally:
            for wait in waits:
                wait.cancel()
            await _cancel(reading)
        return False

    async def _apply_all(self, events: AsyncGenerator[JobEvent]) -> None:
        async with aclosing(events) as source:
            async for event in source:
                self._apply(event)
        if self.state.kind == "edit":
            self.forget_edit(self.editing)

    def _apply(self, event: JobEvent) -> None:
        if event["event"] not in ("stage", "founding", "prose", "retract"):
            self._attempts.clear()
        if event["event"] in ("passage", "plans"):
            # It is in the log now: were it erased there, nothing of it shall be found here.
            self.opening = StoryInput()
        self._stream.apply(event)
        match event["event"]:
            case "stage":
                node = event["node"]
                # A node that begins once more has failed, and is tried again by the graph's retry policy.
                self._attempts[node] += 1
                fresh = {"draft": ""} if node == "write" and self.state.kind != "keep" else {}
                self.update(
                    stage=node, since=time.time(), progress=None, founding="", attempt=self._attempts[node], **fresh
                )
            case "founding":
                self.update(founding=" - ".join(filter(None, (event["title"], event["premise"]))), attempt=1)
            case "prose":
                if self.state.attempt > 1:
                    # It answers again.
                    self.update(attempt=1)
                self._set_words(self._stream.text)
                self.publish({"event": "prose", "text": event["text"]})
            case "retract":
                self._set_words(self._stream.text)
                # A browser counts in units of UTF-16.
                self.publish({"event": "retract", "length": len(self.state.draft.encode("utf-16-le")) // 2})
            case "story" if self.state.kind == "write" and self.state.step > 1:
                # Nothing new, and a page that read the story again now would make its passage wait.
                pass
            case "story" | "memory":
                self.story_changed()
            case "draft":
                self.draft = event["draft"]
                self.update(**_fields(self.draft))
            case "plans" if event["plan"]:
                if self.draft is not None:
                    self.draft = replace(self.draft, plan=event["plan"])
                self.update(plan=event["plan"])
            case "plans":
                self.story_changed()
            case "suggestion":
                self._suggest(event["suggestion"])
            case "replay" | "import":
                self.update(replay={"done": event["done"], "total": event["total"]})
            case "passage":
                self.publish(event)
                self.draft = None
                if self.state.kind == "edit":
                    self.forget_edit(self.editing)
                self.update(done=self.state.done + 1, revision=self.state.revision + 1, draft="")

    def _failed(self, why: str) -> None:
        """Say why the work failed: what was asked for a selection stands beside the selection."""
        at_work = next((one for one in self.state.suggestions if one["working"]), None)
        if at_work is not None:
            self._suggest({**at_work, "error": why, "working": False})
        else:
            self.update(error=why)

    def _suggest(self, suggestion: Suggestion) -> None:
        """Show what is suggested, in the place of what had its key."""
        before = self.state.suggestions
        if any(one["key"] == suggestion["key"] for one in before):
            now = [suggestion if one["key"] == suggestion["key"] else one for one in before]
        else:
            now = [*before, suggestion]
        self.update(suggestions=now)
        self.save()

    def work_on_suggestion(self, key: str) -> None:
        """Show of a suggestion that other words are made for it: were that stopped at once, why it has none is told no more."""
        waiting = self.state.suggestions
        self.update(
            suggestions=[{**one, "error": "", "working": True} if one["key"] == key else one for one in waiting]
        )

    def take_out_suggestion(self, key: str) -> tuple[int, Suggestion] | None:
        """Take a suggestion out of those that wait and return it with its place; None for one that is gone already."""
        waiting = self.state.suggestions
        place = next((at for at, one in enumerate(waiting) if one["key"] == key), None)
        if place is None:
            return None
        self.update(suggestions=[*waiting[:place], *waiting[place + 1 :]])
        return place, waiting[place]

    def put_back_suggestion(self, taken: tuple[int, Suggestion] | None) -> None:
        """Let a suggestion wait on in its place, for it could not be let go."""
        if taken is not None:
            (place, suggestion), waiting = taken, self.state.suggestions
            self.update(suggestions=[*waiting[:place], suggestion, *waiting[place:]])

    async def drop_suggestion(self, key: str) -> None:
        """Let a suggestion go, because somebody leaves it; raise why it cannot be, where the disk keeps it."""
        taken = self.take_out_suggestion(key)
        self.save()
        if failure := await self.saved():
            self.put_back_suggestion(taken)
            self.save()
            raise failure

    def _set_words(self, text: str) -> None:
        self.state.draft = text
        if self.draft is not None:
            self.draft = replace(self.draft, text=text)
            self.save_soon()

    def _finished(self, job: asyncio.Task[None]) -> None:
        error = None if job.cancelled() else job.exception()
        if error is not None:
            logger.error("The job on story %s failed.", self.story.id, exc_info=error)
            self._failed(f"The desk failed ({type(error).__name__}); its terminal says where. The story is safe.")
        if self.draft is not None and not self.draft.text.strip():
            self.draft = None
        self.save()
        self.update(
            # One that was stopped has neither words nor a reason for having none.
            suggestions=[{**one, "working": False} for one in self.state.suggestions if one["text"] or one["error"]],
            busy=False,
            stage="",
            stopping=False,
            progress=None,
            founding="",
            replay=None,
            draft=self.draft.text if self.draft else "",
            revision=self.state.revision + 1,
        )
        self.write_ahead()

    # Words that are not in the log

    def show_draft(self, draft: Draft | None) -> None:
        """Show the words that an earlier job left, or none."""
        self.draft = draft
        self.state = replace(self.state, **{"draft": "", "plan": "", "error": "", "note": "", **_fields(draft)})
        self.save()
        self.story_changed()

    def lay_aside(self) -> None:
        """Keep the words that an interruption left beside the story, because something else is done in their place."""
        if self.draft is not None and self.draft.whole_sentences and self.draft.after:
            self.aside = [*self.aside, self.draft]
        self.draft = None

    def take_aside(self, key: str) -> Draft:
        """Take back words that were laid aside; raise StoryError where there are none of this key."""
        found = next((draft for draft in self.aside if draft.key == key), None)
        if found is None:
            raise StoryError("These words are not here any more; another page may have taken them.")
        self.aside = [draft for draft in self.aside if draft.key != key]
        return found

    def forget_edit(self, key: str) -> None:
        """Let the text of an edit go, because it is in the log or nobody wants it; one that is not here is gone already."""
        self.edits = [edit for edit in self.edits if edit.key != key]

    def save_soon(self) -> None:
        """Save within a second, however often this is asked."""
        if self._save_timer is None:
            self._save_timer = asyncio.get_running_loop().call_later(SECONDS_BETWEEN_SAVES, self.save)

    def save(self) -> None:
        """Write what is not in the log to disk, so that a server that dies loses no more than the last second."""
        if self._save_timer is not None:
            self._save_timer.cancel()
            self._save_timer = None
        changes = {
            "draft": asdict(self.draft) if self.draft else None,
            "aside": [asdict(draft) for draft in self.aside] or None,
            "edits": [asdict(edit) for edit in self.edits] or None,
            "edit": None,
            "unread": self.unfinished_import,
            "opening": self.opening or None,
            "uncommitted": self.ledger.uncommitted,
            "queue": self.state.queue or None,
            "memory_changes": [asdict(change) for change in self.state.memory_changes] or None,
            "codex_changes": self.state.codex_changes or None,
            "unrecorded": self.unrecorded or None,
            "suggestions": [{**one, "error": "", "working": False} for one in self.state.suggestions if one["text"]]
            or None,
        }
        self._saving = asyncio.create_task(self._write_to_disk(changes, self._saving))

    async def saved(self) -> RecurrentGPTError | None:
        """Wait until all of it is on disk; return why it is not, or None."""
        if self._saving is None:
            return None
        await asyncio.wait([saving := self._saving])
        return saving.result()

    async def _write_to_disk(
        self, changes: dict[str, Any], before: asyncio.Task[RecurrentGPTError | None] | None
    ) -> RecurrentGPTError | None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await asyncio.to_thread(self.disk.write, self.story.id, changes)
        except RecurrentGPTError as error:
            logger.warning("The draft could not be saved: %s", error)
            return error
        return None


def _fields(draft: Draft | None) -> dict[str, Any]:
    """Return what a page is told of a draft."""
    return {"step": draft.step, "plan": draft.plan, "draft": draft.text} if draft else {}


async def _cancel(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait until it has let go of the story."""
    if not task.done():
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
