"""The desk behind the page: one library, what is kept beside it, and the stories that somebody looks at."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from recurrentgpt.desk.backend.disk_store import DiskStore
from recurrentgpt.desk.backend.import_progress import as_far_as_read
from recurrentgpt.desk.backend.ledger import Ledger
from recurrentgpt.desk.backend.memory_change import MemoryChange
from recurrentgpt.desk.backend.save_draft import Draft, Edit
from recurrentgpt.desk.backend.schemas import StoryLine
from recurrentgpt.desk.backend.settings_form import BUDGET, make_context
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.engine.refs import NOTHING_WRITTEN
from recurrentgpt.infrastructure import settings
from recurrentgpt.infrastructure.background_loop import PATIENCE, acall
from recurrentgpt.infrastructure.unsaved_texts import DESK
from recurrentgpt.library import Library, StorySummary, default_library
from recurrentgpt.memory.log_reader import path_to
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.nodes.open_story import check_input, language_of
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import RecurrentGPTError, StorageError, StoryError, StoryNotFound
from recurrentgpt.schema.state import StoryInput
from recurrentgpt.story import Story
from recurrentgpt.story_list import DAMAGED

MOST_IDLE_STORIES = 200


class _AtHead(TypedDict):
    """What the line of a story says as of its head: an edit of the brief holds for one branch."""

    genre: str
    premise: str
    words: int


async def _read_at_head(library: Library, summary: StorySummary) -> _AtHead:
    log = library.engine.log
    links = await log.links(summary.story)
    brief = await StoryReader(log, summary.story).brief()
    words = sum(links[key]["words"] for key in path_to(summary.head, links))
    return {"genre": brief["genre"], "premise": brief["premise"], "words": words}


async def _forget_beginning(story: Story) -> bool:
    """Let a story begin anew: its thread would go on with what it was begun from. Return whether nothing of it is in the log."""
    async with story.engine.writing(story.id):
        if await story.engine.log.head(story.id) is not None:
            return False
        await story.engine.saver.adelete_thread(story.id)
        return True


async def _is_nowhere(log: StoryLog, story: str, draft: Draft) -> bool:
    """Whether the words of a draft stand in no passage after the one that they follow: its server may have died in between."""
    links = await log.links(story)
    if draft.after not in links:
        return False
    words = "".join(draft.text.split())
    following = await log.get_many(story, [key for key, link in links.items() if link["parent"] == draft.after])
    texts = ("".join(passage["passage"].split()) for passage in following)
    # The last second of a passage was not saved, and one that was stopped ends with a sentence.
    return not any(text.startswith(words) or words.startswith(text) for text in texts)


class Desk:
    """Everything that the routes share. Used in the server's event loop only."""

    def __init__(
        self, library: Library | None = None, folder: Path | None = None, given: Mapping[str, Any] | None = None
    ) -> None:
        self._library, self._given = library, dict(given or {})
        self.disk = DiskStore(folder or settings.home() / DESK)
        self.stories: dict[str, StoryJobs] = {}
        self._as_of: dict[str, tuple[str, _AtHead]] = {}
        """The head of each story that was listed, and what its line says of it as of that head."""
        self.letting_go: list[threading.Event] = []
        """What is set when the work of a request that was stopped has let go of its story."""
        self._opening = asyncio.Lock()

    async def start(self) -> None:
        """Use the kept key."""
        await asyncio.to_thread(self.disk.apply_key)

    async def stop(self) -> None:
        """Let every page go and end all jobs."""
        for jobs in self.stories.values():
            jobs.close()
        await asyncio.gather(*(jobs.ended() for jobs in self.stories.values()))

    async def let_go(self) -> None:
        """Wait until stopped requests have let go of their stories: whoever stops a reply may go on at once."""
        stopped, self.letting_go = self.letting_go, []
        for ended in stopped:
            await asyncio.to_thread(ended.wait, PATIENCE)

    async def library(self) -> Library:
        """Return the library, opened at the first call."""
        async with self._opening:
            if self._library is None:
                self._library = await asyncio.to_thread(default_library)
            return self._library

    async def summaries(self) -> list[StoryLine]:
        """Return a line for each story, the one written last first, and among them those that were never opened."""
        library = await self.library()
        listed = await library.astories(archived=True)
        records = {record["story"]: record for record in await acall(library.engine.log.records)}
        opened = [
            StoryLine(
                **{**vars(summary), **(await self._at_head(library, summary))},
            )
            for summary in listed
            if summary.story in records or summary.status == DAMAGED
        ]
        known = {summary.story for summary in opened}
        unopened = [
            StoryLine(
                story=opening["story"],
                title=opening.get("title") or opening.get("premise", ""),
                genre=opening.get("genre", ""),
                step=0,
                status="unopened",
                head="",
                updated=datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds"),
                premise=opening.get("premise", ""),
            )
            for opening, written in await asyncio.to_thread(self.disk.openings)
            if opening["story"] not in known
        ]
        return sorted([*opened[::-1], *unopened], key=lambda summary: summary.updated, reverse=True)

    async def _at_head(self, library: Library, summary: StorySummary) -> _AtHead:
        """Return what differs from branch to branch of a story, read once for each head."""
        if summary.story not in self._as_of or self._as_of[summary.story][0] != summary.head:
            try:
                self._as_of[summary.story] = summary.head, await acall(lambda: _read_at_head(library, summary))
            except (StorageError, StoryError):
                # Erased or damaged: it is told when the story is opened.
                return {"genre": summary.genre, "premise": "", "words": 0}
        return self._as_of[summary.story][1]

    async def story_jobs(self, story: str) -> StoryJobs:
        """Return the jobs of a story, made at the first call; raise StoryNotFound where there is no such story."""
        if story in self.stories:
            return self.stories[story]
        library, kept = await self.library(), self.disk.read(story)
        opening: StoryInput | None = kept.get("opening")
        head = await acall(lambda: library.engine.log.head(story))
        if head is None and opening is None:
            raise StoryNotFound(f"There is no story {story[:60]!r}; it may have been begun on another machine.")
        record = await acall(lambda: library.engine.log.record(story)) if head is not None else None
        draft = Draft(**kept["draft"]) if kept.get("draft") else None
        goes_on = draft is not None and draft.head == (head["head"] if head else "")
        nowhere = (
            draft is not None and not goes_on and await acall(lambda: _is_nowhere(library.engine.log, story, draft))
        )
        if unread := kept.get("unread"):
            unread = await as_far_as_read(library.engine.log, story, unread)
        if story in self.stories:  # somebody else was faster
            return self.stories[story]
        own = record["settings"] if record is not None else {}
        jobs = StoryJobs(
            Story(library.engine, story, self.context(story, own), opening),
            self.disk,
            opening if head is None else None,
        )
        jobs.record_settings = own
        jobs.ledger = Ledger(jobs.story, kept.get("uncommitted"))
        jobs.aside = [Draft(**draft) for draft in kept.get("aside", [])]
        jobs.edits = [Edit(**edit) for edit in [*kept.get("edits", []), *([kept["edit"]] if "edit" in kept else [])]]
        jobs.unfinished_import = unread
        jobs.state.queue = kept.get("queue", [])
        jobs.state.memory_changes = [MemoryChange(**change) for change in kept.get("memory_changes", [])]
        jobs.state.codex_changes = kept.get("codex_changes", [])
        jobs.state.suggestions = kept.get("suggestions", [])
        jobs.unrecorded = kept.get("unrecorded", {})
        if draft is not None and draft.text.strip():
            if goes_on:
                jobs.show_draft(draft)
            elif draft.whole_sentences and nowhere:
                jobs.aside = [*jobs.aside, draft]
        self.stories[story] = jobs
        self._forget_idle()
        # Where somebody else writes the story they wait on.
        with suppress(RecurrentGPTError):
            await jobs.record_unrecorded()
        return jobs

    async def new_story(self, opening: StoryInput, story_settings: Mapping[str, Any]) -> StoryJobs:
        """Return the jobs of a new story, of which nothing is written; it is on disk, so that a restart finds it again."""
        library = await self.library()
        own = {name: value for name, value in story_settings.items() if value is not None and name != BUDGET}
        fresh = Story.new(**opening, library=library, **{**self.given(), **own})
        kept: StoryInput = {**opening, "story": fresh.id}
        if not fresh.context.has_language and (language := await language_of(opening.get("premise", ""))):
            # Kept as what was chosen in the form is: whoever opens the settings sees it.
            fresh.context.language = language
            story_settings = {**story_settings, "language": language}
        await asyncio.to_thread(self.disk.write, fresh.id, {"opening": kept, "settings": dict(story_settings)})
        jobs = self.stories[fresh.id] = StoryJobs(fresh, self.disk, kept)
        return jobs

    async def change_opening(self, jobs: StoryJobs, changes: Mapping[str, Any]) -> bool:
        """Let a story begin from another premise or genre; return whether it could, for nothing of it is written yet."""
        story, before = jobs.story, jobs.opening
        if not before or await acall(lambda: story.engine.log.head(story.id)) is not None:
            return False
        if not changes.keys() <= {"premise", "genre"}:
            raise StoryNotFound(NOTHING_WRITTEN)
        opening = StoryInput(**{**before, **changes})  # type: ignore[typeddict-item]
        check_input(opening)
        was, language = await language_of(before.get("premise", "")), await language_of(opening.get("premise", ""))
        if not await acall(lambda: _forget_beginning(story)):
            return False
        jobs.check_idle()
        # Nothing is awaited until all of it is in place: whoever begins the story meanwhile begins it from this.
        kept = self.disk.settings(story.id)
        # One that was taken from the premise is now taken from this one.
        follows = "language" in kept and kept["language"] == was != language
        if follows:
            kept = {**kept, "language": language or None}
        ledger, context = jobs.ledger, make_context(self._given, self.disk.settings(), {}, kept)
        jobs.opening, jobs.story = opening, Story(story.engine, story.id, context, opening)
        jobs.ledger = Ledger(jobs.story, ledger.uncommitted)
        jobs.show_draft(None)
        if (failure := await jobs.saved()) and jobs.opening is opening and not jobs.busy:
            jobs.opening, jobs.story, jobs.ledger = before, story, ledger
            jobs.story_changed()
            raise failure
        if follows:
            await asyncio.to_thread(self.disk.write_settings, story.id, kept)
        return True

    async def erase(self, jobs: StoryJobs) -> None:
        """Delete a story for ever; whoever looks at it is sent away."""
        library, story = await self.library(), jobs.story.id
        if await acall(lambda: library.engine.log.head(story)) is not None:
            await library.aerase(story)
        self.stories.pop(story, None)
        jobs.close()
        await jobs.saved()
        await asyncio.to_thread(self.disk.remove, story)

    def context(self, story: str, record_settings: Mapping[str, Any]) -> Context:
        """Return the settings that hold for a story: the machine's, those of its record, then those changed since."""
        return make_context(self._given, self.disk.settings(), record_settings, self.disk.settings(story))

    def given(self) -> Mapping[str, Any]:
        """Return the settings that hold for every story: those that code gave, then the machine's."""
        return {**self.given_by_code(), **self.disk.settings()}

    def given_by_code(self) -> Mapping[str, Any]:
        """Return the settings that the program which runs the desk gave: they hold where a field of the form is empty."""
        return {name: value for name, value in self._given.items() if value is not None}

    def apply_settings(self, story: str | None = None) -> None:
        """Give changed settings to one story, or to all that are open, from their next passage on."""
        for key, jobs in self.stories.items():
            if story in (None, key):
                jobs.story.context = self.context(key, jobs.record_settings)
                if jobs.state.error and not jobs.busy:
                    # What stopped the last work may be mended by them.
                    jobs.update(error="")
                jobs.write_ahead()

    def _forget_idle(self) -> None:
        """Forget stories that nobody looks at, the oldest first."""
        idle = [key for key, jobs in self.stories.items() if not jobs.busy and not jobs.listeners]
        for key in idle[:-MOST_IDLE_STORIES]:
            del self.stories[key]
