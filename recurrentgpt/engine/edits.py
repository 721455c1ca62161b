"""Corrections by hand of what surrounds the passages: memory, plans, summaries, brief, title.

Each is a corrected version of a commit beside it, to which the head moves; a fork that left before does not see it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from recurrentgpt.engine.refs import Ref, resolve
from recurrentgpt.engine.replacement import WordReplacement
from recurrentgpt.engine.replay import Replay
from recurrentgpt.engine.session import Session
from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.nodes.human.answers import LONG_WORD, check_memory, check_plan
from recurrentgpt.nodes.open_story import check_input
from recurrentgpt.nodes.validate_state import MOST_PLANS, MOST_WORDS
from recurrentgpt.prose.model_text import control_character, visible_line
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError
from recurrentgpt.schema.log import StoryRecord
from recurrentgpt.schema.outline import TurnStatus, describe_turns, read_marks
from recurrentgpt.schema.state import Brief, StoryInput

MOST_ENTRIES = 20
MOST_ENTRY_WORDS = 60
"""Of a character or a turn of the outline; each is in every prompt."""
MOST_PART_WORDS = {"synopsis": 200, "truth": 300, "voice": 80}
_MARKED: tuple[tuple[Literal["outline", "clues"], Literal["turns", "clues"]], ...] = (
    ("outline", "turns"),
    ("clues", "clues"),
)
"""Parts of the brief whose lines are marked with where they stand, and what of a commit holds that."""
MOST_TITLE_WORDS = 30
MOST_REPLACED_WORDS = 40


class Edits:
    """Correct one story by hand; `replay` edits its passages."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.replay = Replay(session)

    async def memory(self, text: str, at: Ref | None = None) -> str:
        """Replace the short-term memory after a passage (default: the newest) and return it, one sentence a line.

        The log keeps the old one, and the plans stay: `replan` proposes others from the new memory. Raises BadAnswer beyond
        the ceilings of 20 sentences and 500 words.
        """
        memory = check_memory(text)
        await self._correct(at, {"short_term_memory": memory})
        return memory

    async def plans(self, plans: Sequence[str], at: Ref | None = None) -> list[str]:
        """Replace the plans to choose from after a passage (default: the newest) and return them; raises BadAnswer."""
        if isinstance(plans, str) or not 1 <= len(plans) <= MOST_PLANS:
            raise BadAnswer(f"The plans are a list of 1 to {MOST_PLANS} texts.")
        checked = [check_plan(plan) for plan in plans]
        await self._correct(at, {"candidate_plans": checked})
        return checked

    async def plan(self, number: int, text: str, at: Ref | None = None) -> list[str]:
        """Replace one of the plans, counted from 1, and return them all; raises BadAnswer."""
        session, checked = self._session, check_plan(text)
        async with session.writing():
            commit, overlay = await session.commit_and_overlay(at)
            plans = list(commit["candidate_plans"])
            if not 1 <= number <= len(plans):
                raise BadAnswer(f"There are {len(plans)} plans to edit here; number {number} is none of them.")
            plans[number - 1] = checked
            await session.append_correction(commit, {"candidate_plans": plans}, overlay)
        return plans

    async def summary(self, ref: Ref | None, text: str) -> str:
        """Replace what the long-term memory holds of a passage, on this branch from now on, and return it in one line.

        Raises StoryError for a passage of another branch.
        """
        session, summary = self._session, check_line("summary", text, MOST_WORDS["summary"])
        if not summary:
            raise BadAnswer("The summary needs some words.")
        async with session.writing():
            (head, now), log = await session.commit_and_overlay(None), session.log
            meant = head["id"] if ref is None else await resolve(log, session.id, ref)
            path = await log.path(session.id, head["id"])
            if meant not in path:
                raise StoryError(f"Passage {meant} is not on the branch of the head: go to its branch first.")
            if meant == path[0]:
                raise StoryError("The opening has no passage and no summary; edit the memory or the brief instead.")
            corrected = await read_overlay(log, session.id, now)
            old = corrected["summaries"].get(meant) or (await log.get(session.id, meant))["summary"]
            # A small model's memory holds the same sentence.
            changes = {"short_term_memory": _replace_sentence(head["short_term_memory"], old, summary)}
            if meant == head["id"]:
                await session.append_correction(head, {**changes, "summary": summary}, now)
                return summary
            summaries = {**corrected["summaries"], meant: summary}
            await session.append_correction(head, changes, {**corrected, "summaries": summaries})
        return summary

    async def brief(
        self,
        *,
        premise: str | None = None,
        genre: str | None = None,
        characters: Sequence[str] | None = None,
        outline: Sequence[str] | None = None,
        synopsis: str | None = None,
        voice: str | None = None,
        truth: str | None = None,
        clues: Sequence[str] | None = None,
    ) -> Brief:
        """Replace parts of what every prompt of this branch holds, from now on, and return the whole brief.

        A turn of the outline may begin with where it stands, `[done]` or `[under way]`, and a clue with `[done]`; without that
        it is to come.
        """
        given = {"premise": premise, "genre": genre, "characters": characters, "outline": outline}
        given |= {"synopsis": synopsis, "voice": voice, "truth": truth, "clues": clues}
        changes = {name: _check_part(name, value) for name, value in given.items() if value is not None}
        session = self._session
        async with session.writing():
            brief = Brief(**{**await session.brief(), **changes})  # type: ignore[typeddict-item]
            (head, overlay), standing = await session.commit_and_overlay(None), dict[str, list[TurnStatus]]()
            for part, name in _MARKED:
                if part in brief:
                    brief[part], stands = read_marks(brief[part])
                    standing |= {name: stands} if describe_turns(stands) or name in head else {}
            corrected = await read_overlay(session.log, session.id, overlay)
            await session.append_correction(head, standing, {**corrected, "brief": brief})
        return await session.brief()

    async def rename(self, title: str) -> str:
        """Give the story another title, on all its branches, and return it."""
        title = _check_part("title", title)
        await self._record(lambda record: {**record, "title": title, "brief": {**record["brief"], "title": title}})
        return title

    async def chapter(self, ref: Ref | None, title: str | None) -> str | None:
        """Let a chapter of this title begin with a passage of this branch, and return the title: an empty one is its number.

        With None no chapter begins there: it is one with what stands before. Raises StoryError for a passage of another branch.
        """
        session = self._session
        checked = None if title is None else check_name("title of a chapter", title, MOST_TITLE_WORDS)
        async with session.writing():
            head, overlay = await session.commit_and_overlay(None)
            commit = await session.commit_at(ref)
            if not commit["step"] or commit["id"] not in await session.log.path(session.id, head["id"]):
                raise StoryError("A chapter begins with a passage of the branch where you are: go to its branch first.")
            corrected = await read_overlay(session.log, session.id, overlay)
            chapters = {**corrected.get("chapters", {}), str(commit["step"]): checked}
            await session.append_correction(head, {}, {**corrected, "chapters": chapters})
        return checked

    async def replace(self, old: str, new: str, *, whole_words: bool = True) -> int:
        """Put `new` in the place of `old`, letter by letter, in the whole branch, and return how many passages it changed.

        What belongs to the passages changes with them: memory, summaries, plans, codex and brief. No model is called, and
        `undo` takes all of it back as one. Raises BadAnswer where the branch has no such words.
        """
        session = self._session
        old, new = (check_line("text", text, MOST_REPLACED_WORDS) for text in (old, new))
        if not old or old == new:
            raise BadAnswer("Say which words are to be replaced, and by which others.")
        async with session.writing():
            return await WordReplacement(session, old, new, whole_words=whole_words).apply()

    async def settings(self, settings: Mapping[str, object]) -> None:
        """Keep these settings of the story; the others stay."""
        await self._record(lambda record: {**record, "settings": {**record["settings"], **settings}})

    async def archive(self) -> None:
        """Put the story away from the list of stories; it can be opened as before."""
        await self._record(lambda record: {**record, "archived": True})

    async def unarchive(self) -> None:
        """Put the story back into the list of stories."""
        await self._record(lambda record: {**record, "archived": False})

    async def _record(self, changed: Callable[[StoryRecord], StoryRecord]) -> None:
        session = self._session
        async with session.writing():
            record = await session.log.record(session.id)
            head = await session.head_commit()
            waiting = await session.waiting_choice(head["id"])
            await session.log.put_record(changed(record))
            await session.let_wait(head, waiting)

    async def _correct(self, at: Ref | None, changes: Mapping[str, object]) -> None:
        session = self._session
        async with session.writing():
            commit, overlay = await session.commit_and_overlay(at)
            await session.append_correction(commit, changes, overlay)


def _replace_sentence(memory: str, old: str, new: str) -> str:
    """Return a memory that says `new` where it said `old`, or nothing there if that would be too long for it."""
    lines = memory.splitlines()
    if old not in lines:
        return memory
    try:
        return check_memory([new if line == old else line for line in lines])
    except BadAnswer:
        return "\n".join(line for line in lines if line != old)


def check_line(what: str, text: object, most: int) -> str:
    """Return text as one line; raise BadAnswer for one that no prompt should carry."""
    if not isinstance(text, str):
        raise BadAnswer(f"The {what} is text; it is {text!r:.60}.")
    if odd := control_character(text):
        raise BadAnswer(f"The {what} holds the control character {odd!r}; take it out.")
    if count_words(text) > most or len(text) > most * LONG_WORD:
        raise BadAnswer(f"The {what} has {count_words(text):,} words in {len(text):,} characters; at most {most} fit.")
    return " ".join(text.split())


def check_name(what: str, text: object, most: int) -> str:
    """Return a name or a line of the brief, which begins with one, as one line without what nobody sees."""
    return visible_line(check_line(what, text, most))


def _check_part(name: str, value: object) -> Any:
    if name in ("title", "genre", "premise"):
        check_input(cast(StoryInput, {name: value}))
        line = visible_line(str(value))
        if not line:
            raise SettingsError(f"The {name} needs some words.")
        return line
    if name in MOST_PART_WORDS:
        return check_name(name, value, MOST_PART_WORDS[name])
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > MOST_ENTRIES:
        raise BadAnswer(f"The {name} is a list of at most {MOST_ENTRIES} lines.")
    return [line for entry in value if (line := check_name(f"line of the {name}", entry, MOST_ENTRY_WORDS))]
