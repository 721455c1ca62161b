"""Somebody's own book as a story: split into passages, remembered as if it had been written here, and ready to go on.

The story's id comes from the book's text, and every passage's from what stands before it: the same file again finds what
is done and goes on after it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from recurrentgpt.engine.engine import Engine
from recurrentgpt.engine.refs import is_version
from recurrentgpt.engine.session import Session
from recurrentgpt.engine.written_from import TOKENS_PER_WORD
from recurrentgpt.models.calls import total_usage
from recurrentgpt.models.roles import tier_of_role
from recurrentgpt.nodes.codex_changes import MOST_CHANGES, from_manuscript
from recurrentgpt.nodes.codex_newcomers import find_names
from recurrentgpt.nodes.commit import append_opening, append_passage, entry
from recurrentgpt.nodes.continuity import no_longer_gone
from recurrentgpt.nodes.hear_voice import hear_voice
from recurrentgpt.nodes.prompt_values import codex_before
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.model_text import model_text, visible_text
from recurrentgpt.prose.sentences import count_words, language_name, limit_words
from recurrentgpt.schema.codex import Change, Codex, Entry
from recurrentgpt.schema.context import SETTINGS, Context
from recurrentgpt.schema.errors import BookError
from recurrentgpt.schema.events import Event, done_event, import_event, memory_event, plans_event, story_event
from recurrentgpt.schema.genres import NEUTRAL_GENRE
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import Usage
from recurrentgpt.schema.state import MEMORY_WORDS, Added, Brief, Dropped, Rationale, State

if TYPE_CHECKING:
    from recurrentgpt.books.book import Chapter, Manuscript
    from recurrentgpt.books.extract import Vocabulary

FAST_MEMORY = 14
"""Summaries of the last passages that make the short-term memory of a fast import."""

CHARACTERS = 6
"""Names of the book that its brief holds; whoever imports can say more of them, or fewer."""

MOST_PREMISE_WORDS = 80
PROMPT_TOKENS, REPLY_TOKENS = 900, 180
"""Of the call that remembers a passage, apart from its words: measured on the small tier; a capable model takes more."""

CHAPTER = "Chapter: "
MOST_AUTHOR = SETTINGS["author"].most_characters
"""What the plan of a passage begins with where a chapter does; the rest is the chapter's title."""


LanguageFrom = Literal["settings", "file", "words", "nowhere"]
"""What tells the language of a book; where nothing does, English is taken."""


@dataclass(frozen=True)
class Preview:
    """What an import would do, and what it may cost where the model writes the memory."""

    title: str
    author: str
    language: str
    language_from: LanguageFrom
    format: str
    encoding: str
    """What a text file was guessed to be written in; empty where it is known."""
    story: str
    """Id of the story that this makes."""
    chapters: int
    passages: int
    words: int
    first: str
    calls: int
    input_tokens: int
    output_tokens: int

    def as_json(self) -> dict[str, str | int]:
        """Return the preview as plain JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class BookSource:
    """A book that was read and split."""

    manuscript: Manuscript
    chapters: list[Chapter]
    vocabulary: Vocabulary
    language: str
    language_from: LanguageFrom
    id: str

    @property
    def passages(self) -> list[tuple[str, str]]:
        """The passages in their order, each with the title of the chapter that begins with it, or nothing."""
        return [
            (passage, "" if at else chapter.title or (str(number) if len(self.chapters) > 1 else ""))
            for number, chapter in enumerate(self.chapters, 1)
            for at, passage in enumerate(chapter.passages)
        ]

    @cached_property
    def named(self) -> Codex:
        """The people and places that the book names, those named most first; none where no rules read its language."""
        if not is_english(self.language):
            return Codex()
        found = find_names([passage for passage, _ in self.passages], Codex())
        places = [Entry(name, "place") for name in found.places]
        return Codex({entry.name.casefold(): entry for entry in (*found.people, *places)})


def read_source(path: Path, settings: Mapping[str, Any], copy: str = "") -> tuple[BookSource, Context]:
    """Return a book, read and split, and how its story is told; raise BookError for a file that is none or holds no words.

    Language and author are the book's own, unless `settings` say another; a file that does not say its language is known by
    its words. Each `copy` of a book is a story of its own.
    """
    from recurrentgpt.books.extract import vocabulary
    from recurrentgpt.books.readers import read_book
    from recurrentgpt.books.readers.language import find_language
    from recurrentgpt.books.split import split_passages

    manuscript = read_book(path)
    language_from: LanguageFrom = "file"
    if not manuscript.language:
        manuscript = dataclasses.replace(manuscript, language=find_language(manuscript))
        language_from = "words" if manuscript.language else "nowhere"
    if settings.get("language"):
        language_from = "settings"
    manuscript = dataclasses.replace(manuscript, title=model_text(manuscript.title) or path.stem)
    author = "".join(filter(str.isprintable, model_text(manuscript.author)))[:MOST_AUTHOR]
    own = {"language": language_name(manuscript.language) or "English", "author": author}
    context = Context(**{**own, **settings})
    chapters = split_passages(manuscript, context.min_words, context.max_words)
    texts = [passage for chapter in chapters for passage in chapter.passages]
    if not texts:
        raise BookError(f"{path} holds no words.")
    content = [manuscript.title, context.min_words, context.max_words, texts, *([copy] if copy else [])]
    key = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:12]
    known = vocabulary(texts, context.language)
    return BookSource(manuscript, chapters, known, context.language, language_from, key), context


def preview(path: Path, settings: Mapping[str, Any], copy: str = "") -> Preview:
    """Return what an import of this file would do."""
    from recurrentgpt.books.readers.decoding import guessed_encoding

    source, context = read_source(path, settings, copy)
    kind = path.suffix.lstrip(".").lower()
    texts = [passage for passage, _ in source.passages]
    words = sum(count_words(text) for text in texts)
    # The memory after each passage, the plans, and how the book is told.
    calls = len(texts) + 1 + (tier_of_role("memory", context) == "full")
    return Preview(
        title=source.manuscript.title,
        author=context.author,
        language=context.language,
        language_from=source.language_from,
        format=kind,
        encoding=guessed_encoding(path.read_bytes()) if kind in ("txt", "md", "markdown") else "",
        story=source.id,
        chapters=len(source.chapters),
        passages=len(texts),
        words=words,
        first=limit_words(texts[0], 60),
        calls=calls,
        input_tokens=round(words * TOKENS_PER_WORD + calls * PROMPT_TOKENS),
        output_tokens=calls * REPLY_TOKENS,
    )


async def import_book(
    engine: Engine,
    path: Path,
    settings: Mapping[str, Any],
    *,
    genre: str = "",
    title: str = "",
    fast: bool = False,
    copy: str = "",
) -> AsyncGenerator[Event]:
    """Append a book's passages to the log, as far as they are not there, and yield what happens.

    A capable model first says how the book is told. `fast` takes the telling sentence of a passage for its summary and
    calls no model; plans are then proposed when the story goes on.
    """
    source, context = await asyncio.to_thread(read_source, path, settings, copy)
    session = Session(engine, source.id, context)
    log, story = session.log, session.id
    async with session.writing():
        spent: list[Usage] = []
        if await log.head(story) is None:
            opening = await _open(session, source, genre, title, fast=fast)
            spent.append(opening["usage"])
        yield story_event(await log.record(story))
        branch = await log.path(story, await session.head())
        before = await log.get(story, branch[0])
        passages, written = source.passages, 0
        for done, (passage, chapter) in enumerate(passages, 1):
            plan = f"{CHAPTER}{chapter}" if chapter else ""
            state = await session.state_with(before, passage, plan, "human", ask_judge=False)
            known = await log.find(story, _entry(state, before)["id"])
            stands = branch[before["step"]] if before["step"] < len(branch) else before["id"]
            if known is None and stands != before["id"] and await is_version(log, story, stands, before["id"]):
                # What was corrected since an import was stopped stands.
                before = await log.get(story, stands)
                state = await session.state_with(before, passage, plan, "human", ask_judge=False)
                known = await log.find(story, _entry(state, before)["id"])
            commit = known or await _remember(session, source, state, before, fast=fast)
            if known is None:
                await append_passage(commit, "choosing", session.runtime())
                spent.append(commit["usage"])
                written += 1
            yield import_event(commit, done, len(passages), kept=known is not None)
            before = commit
        yield memory_event(before)
        # Whoever wrote on behind the book stays where they are.
        if fast or (await session.head()) != before["id"] or before["candidate_plans"]:
            yield plans_event(before)
            yield done_event(story, written, total_usage(spent))
            return
        async with aclosing(session.propose_others(before, before.get("overlay", ""))) as events:
            async for event in events:
                if event["event"] == "done":
                    event = done_event(story, written, total_usage([*spent, event["usage"]]))
                if event["event"] != "story":
                    yield event


async def _open(session: Session, source: BookSource, genre: str, title: str, *, fast: bool) -> Commit:
    """Append and return the opening of an imported story: its brief, and nothing yet that happened."""
    manuscript = source.manuscript
    texts = [passage for passage, _ in source.passages]
    premise = limit_words(model_text(" ".join(_summary(text, source) for text in texts[:2])), MOST_PREMISE_WORDS)
    people = await asyncio.to_thread(_people, source)
    brief = Brief(
        title=visible_text(title).strip() or manuscript.title,
        genre=genre or NEUTRAL_GENRE,
        premise=premise,
        characters=people[:CHARACTERS],
        outline=[],
    )
    runtime = session.runtime()
    if not fast and (voice := await hear_voice(runtime, texts[0])):
        brief["voice"] = voice
    about = State(title=brief["title"], genre=brief["genre"], premise=premise, brief=brief)
    usage = {"open_story": runtime.meter.usage} if runtime.meter.calls else {}
    return await append_opening({**about, "story": session.id, "step": 0, "usage": usage}, runtime)


async def _remember(session: Session, source: BookSource, state: State, before: Commit, *, fast: bool) -> Commit:
    """Return the commit of a passage, with its summary and the memory after it."""
    if fast:
        summary = model_text(await asyncio.to_thread(_summary, state["passage"], source))
        lines = [*before["short_term_memory"].splitlines(), summary]
        kept = lines[-FAST_MEMORY:]
        while sum(count_words(line) for line in kept) > MEMORY_WORDS:
            kept = kept[1:]
        gone = lines[: len(lines) - len(kept)]
        rationale = Rationale(
            dropped=[
                Dropped(sentence=line, why=f"a fast import keeps the last {FAST_MEMORY} summaries") for line in gone
            ],
            added=[Added(sentence=summary, why="it is the telling sentence of the passage")],
        )
        known = await codex_before(state, session.runtime())
        codex = await asyncio.to_thread(_changes, state["passage"], before["passage"], known, source)
        update: dict[str, Any] = {
            "summary": summary,
            "short_term_memory": "\n".join(kept),
            "rationale": rationale,
            "codex": codex,
        }
        return _entry(cast(State, {**state, **update}), before)
    values = await session.engine.rewrite_graph(plans=False).ainvoke(state, context=session.context)
    return _entry(cast(State, values), before)


def _entry(state: State, before: Commit) -> Commit:
    """Return the commit of a passage behind another one, with the corrections that are in force there."""
    return entry(state, parent=before["id"], overlay=before.get("overlay", ""))


def _changes(passage: str, before: str, known: Codex, source: BookSource) -> list[Change]:
    """Return what a passage, behind the one `before` it, changes in the codex by rule."""
    back = no_longer_gone(passage, known, before=before) if is_english(source.language) else []
    return [*back, *from_manuscript(passage, known, source.named)][:MOST_CHANGES]


def _people(source: BookSource) -> list[str]:
    """Return whom a book names most."""
    from recurrentgpt.books.extract import names

    if is_english(source.language):
        return [entry.name for entry in source.named.entries.values() if entry.kind == "person"]
    return names("\n\n".join(passage for passage, _ in source.passages), CHARACTERS, source.language)


def _summary(passage: str, source: BookSource) -> str:
    from recurrentgpt.books.extract import key_sentence

    # A passage of dialogue scraps may have no sentence to speak of.
    return key_sentence(passage, source.vocabulary, source.language) or limit_words(" ".join(passage.split()), 40)
