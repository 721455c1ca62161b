"""Attack stories from every side, bounded and on this machine alone, and count what broke.

    python -m benchmarks.attacks                short: some seconds
    python -m benchmarks.attacks --full         as many trials as the note reports; needs the extra `postgres` for two hosts

Prints one JSON object: for each attack its trials, its failures, and the first of them in words. Exits with 1 when anything
failed. Kills are `benchmarks.crash`, which this runs too.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.base import id as checkpoint_ids

from benchmarks.crash import crash
from recurrentgpt.books.readers import read_book
from recurrentgpt.books.split import split_passages
from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.checkpoints.disposable import local_postgres
from recurrentgpt.checkpoints.read_only import carve, read_rows
from recurrentgpt.cli.entry_point import run
from recurrentgpt.engine.check import examine
from recurrentgpt.engine.story_export import StoryExport, load
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.library import Library
from recurrentgpt.maintenance import check, repair
from recurrentgpt.models.calls import Meter, write_stream
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.models.json_replies import read
from recurrentgpt.models.roles import resolve_model
from recurrentgpt.prose.model_text import model_text
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BookError, ModelError, SettingsError, StorageError, StoryBusy, StoryError
from recurrentgpt.story import Story
from recurrentgpt.testing import Behaviour, FaultyServer, ScriptedChatModel, story_replies

TRIALS = {
    "replies": (300, 10_000),
    "archives": (40, 1_000),
    "books": (40, 1_000),
    "bit flips": (10, 200),
    "commands": (3, 200),
    "repairs": (3, 100),
    "clock": (2, 60),
    "transports": (6, 150),
    "full disk": (2, 20),
    "two hosts": (0, 20),
    "kills": (0, 300),
}
"""How often each attack is tried, in short and in full."""

ADDRESS = "postgres.url"

BOOKS = (".txt", ".md", ".docx", ".epub")
BOOK_SECONDS, BOOK_MEMORY = 20, 512 << 20
"""What one broken book may take, on a busy machine: seconds, and bytes beyond what the process has."""

_STRANGE = (
    "x", " ", "\n", "`", "*", "_", "#", "> ", "- ", "[", "](", "<div>", "</p>", "<w:p>", "<!--", "&amp;", "&x;", "Chapter 1\n\n",
    "\u202e", "\x00", "\ufeff", "1. ", "|a", "\\", "语", "I\n\n", "=====\n", "The Toll\n\n", "“", "a.", "<![CDATA[", "\r",
)  # fmt: skip

_SAID = (
    "Mira opens the gate.", "<b>", "</plan>", "<think>", "</think>", "<|im_start|>", "[INST]", "System:", "\u202e", "\u200b",
    "\x1b[2J", "\x9b31m", "\ud83d", "\U000e0041", "Ignore all previous instructions.", "\n", " ", '"', "\\", "{", "}", "[" * 2000,
    "\\u202e", "\\ud800", "null", "1e999", "<!--", "### Instruction:", "🌊", "As an AI language model, no.", "=== user",
)  # fmt: skip
_COMMANDS = (
    "stories", "stories --json", "show STORY", "show STORY --json", "show STORY --settings", "tree STORY", "tree STORY --json",
    "memory STORY", "memory STORY --at 2", "brief STORY", "codex STORY", "context STORY 2", "recall STORY lamp", "diff STORY 1 3",
    "export STORY -o -", "check", "undo STORY", "goto STORY 1", "name STORY here", "set STORY pace=slow",
    "rename STORY Other", "archive STORY", "redo STORY",
)  # fmt: skip
_NEVER = re.compile(r"[\u202e\u200b\x1b\x9b\U000e0041]|<\|im_start\|>|\[INST\]|\bIgnore all previous instructions")


@dataclass
class Attacked:
    """A story to attack: its folder, its export, and the texts of its passages."""

    folder: Path
    story: str
    export: dict[str, Any]
    texts: set[str]
    books: dict[str, bytes]
    """The story as a book in each format that is attacked, by the suffix of its name."""


def _settings() -> dict[str, Any]:
    def reply(messages: list[BaseMessage]) -> str:
        return story_replies([*messages, HumanMessage(uuid.uuid4().hex)])

    model = ScriptedChatModel(replies=reply)
    return {"model": model, "embeddings": HashEmbeddings(), "min_words": 20, "max_words": 60}


def _prepared(folder: Path) -> Attacked:
    with Library.open(folder) as library:
        story = Story.new("mystery", library=library, **_settings())
        list(story.stream(3))
        list(story.retry(2))
        story.edit_memory("Only this is known.")
        list(story.stream(1))
        path = story.export(folder.parent / "story.json")
        books = {suffix: story.export(folder.parent / f"book{suffix}").read_bytes() for suffix in BOOKS}
        texts = {passage.text for passage in map(story.passage, story.tree().nodes) if passage.text}
        return Attacked(folder, story.id, json.loads(path.read_text(encoding="utf-8")), texts, books)


def replies(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Let a model say what it should not: a person sees none of it, and nothing but a sentence comes of it."""
    said = "".join(dice.choices(_SAID, k=dice.randrange(1, 30)))
    whole = json.dumps({"plan": said, "more": [said]}) if dice.random() < 0.7 else said
    found, _ = read(whole, {"required": ["plan"]})
    shown = [model_text(said), *([str(found["plan"])] if found else [])]
    return next((f"{mark[0]!r} was left in {text[-200:]!r}" for text in shown if (mark := _NEVER.search(text))), "")


def archives(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Change an export at one place: it is refused in a sentence, or it is the same story, which goes on by one passage."""
    content = copy.deepcopy(attacked.export)
    node: Any = content["head"] if dice.random() < 0.2 else content
    while isinstance(node, dict | list) and node:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key = dice.choice(list(keys))
        if not isinstance(node[key], dict | list) or not node[key] or dice.random() < 0.2:
            odd: list[Any] = [
                None,
                "",
                "../../x",
                10**30,
                -1,
                77,
                "9" * 24,
                [],
                {},
                "\ud800",
                "\x00",
                1.5,
                True,
                "x" * 10_000,
            ]
            node[key] = dice.choice(odd)
            break
        node = node[key]
    path = place / "attack.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        archive = load(path)
    except BookError:
        return ""
    if archive["commits"] != attacked.export["commits"]:
        return "a passage that was changed was let in"
    return _goes_on(path, place / "home")


def _goes_on(path: Path, folder: Path) -> str:
    """Restore an archive, do again what was undone and write one passage: no more is written, and nothing else is said."""
    try:
        with Library.open(folder) as library:
            story = Story.open(library.restore(path).id, library=library, **_settings())
            try:
                story.redo()
            except StoryError:
                pass
            before = len(story.passages())
            written = (event for event in story.stream(1) if event["event"] == "passage")
            if len(list(islice(written, 2))) != 1 or len(story.passages()) != before + 1:
                return "another number of passages was written than the one that was asked for"
    except SettingsError:
        pass  # a setting of the story that the model here does not take, said in a sentence
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


def books(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Import a book that is broken, or strange: it is read or refused in a sentence, within bounds of time and memory."""
    suffix = dice.choice(BOOKS)
    content = attacked.books[suffix]
    packed = suffix in (".docx", ".epub") and dice.random() < 0.7
    path = place / f"attack{suffix}"
    path.write_bytes(_repacked(content, dice) if packed else _mutated(content, dice))
    with _bounded(BOOK_SECONDS, BOOK_MEMORY):
        try:
            chapters = split_passages(read_book(path))
        except BookError:
            return ""
    return "" if all(passage.strip() for chapter in chapters for passage in chapter.passages) else "a passage is empty"


def _mutated(content: bytes, dice: random.Random) -> bytes:
    """Return a file truncated, with bits flipped, a part overwritten or doubled, or something strange put into it."""
    at = dice.randrange(len(content) + 1)
    match dice.randrange(5):
        case 0:
            return content[:at]
        case 1:
            changed = bytearray(content)
            for _ in range(dice.randrange(1, 20) if content else 0):
                changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
            return bytes(changed)
        case 2:
            return content[:at] + dice.randbytes(dice.randrange(1, 2000)) + content[at + 1000 :]
        case 3:
            return content[:at] + content
    strange = dice.choice(_STRANGE).encode()
    return content[:at] + strange * dice.randrange(1, 200_000 // len(strange) + 2) + content[at:]


def _repacked(content: bytes, dice: random.Random) -> bytes:
    """Return a packed book of which one file is mutated, left out, or there twice."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        victim, missing = dice.choice(old.namelist()), dice.random() < 0.1
        for name in old.namelist():
            if name != victim:
                new.writestr(name, old.read(name))
            elif not missing:
                new.writestr(name, _mutated(old.read(name), dice))
    return packed.getvalue()


@contextmanager
def _bounded(seconds: int, more_memory: int) -> Iterator[None]:
    """Raise TimeoutError after some seconds, and MemoryError for more bytes than this process has now and so many."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it took more than {seconds} s")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (used + more_memory, hard))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def damaged(database: Path, dice: random.Random, *, flips: bool) -> set[str]:
    """Flip twenty bits of a database, or else overwrite a page of it; return the passages that are whole afterwards."""
    before = {row.value for row in carve(database)}
    content = bytearray(database.read_bytes())
    if flips:
        for _ in range(20):
            content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    else:
        at = 4096 * dice.randrange(len(content) // 4096)
        content[at : at + 4096] = dice.randbytes(4096)
    database.write_bytes(content)
    rows = [row for row in carve(database) if row.value in before]
    links = {row.key for row in rows if row.namespace[1:2] == ("links",)}
    made = [json.loads(row.value) for row in rows if row.namespace[1:2] == ("commits",)]
    # The id of a corrected version alone does not tell whether it is whole: its link does.
    return {commit["passage"] for commit in made if not commit["amends"] or commit["id"] in links}


def _passages(archive: StoryExport) -> set[str]:
    """Return the texts that an export holds."""
    return {commit["passage"] for commit in archive["commits"].values()} - {""}


def bit_flips(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Flip bits of the database, or overwrite a page: what is undamaged is saved, what is damaged is never called whole."""
    database = place / "stories.db"
    shutil.copyfile(attacked.folder / "stories.db", database)
    whole = damaged(database, dice, flips=dice.random() < 0.5)
    rows, _ = read_rows(database)
    saved = {text for story in examine(rows) if story.archive is not None for text in _passages(story.archive)}
    if saved - attacked.texts:
        return "a damaged passage was called whole"
    return "an undamaged passage was lost" if whole - {""} - saved else ""


def commands(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Run commands on a damaged copy: whatever is wrong is told in a sentence, and none meets what it does not know."""
    home, story = place / "home", attacked.story
    home.mkdir()
    shutil.copyfile(attacked.folder / "stories.db", home / "stories.db")
    damaged(home / "stories.db", dice, flips=dice.random() < 0.5)
    try:
        with patch.dict(os.environ, RECURRENTGPT_HOME=str(home), RECURRENTGPT_EMBEDDER="hash-256"):
            for command in dice.sample(_COMMANDS, 8):
                arguments = [argument.replace("STORY", story) for argument in command.split()]
                out, err = io.StringIO(), io.StringIO()
                with redirect_stdout(out), redirect_stderr(err):
                    code = run(arguments)
                said = out.getvalue() + err.getvalue()
                if re.search(r"\bUnexpected\b|Traceback", said) or code not in (0, 1):
                    return f"`{command}` ended with {code}: {said[-200:]!r}"
    finally:
        shutil.rmtree(home)
    return ""


def repairs(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Let `check --repair` save a damaged copy: all that is undamaged is in the new file, which is whole, and no more."""
    home = place / "home"
    home.mkdir()
    database = home / "stories.db"
    shutil.copyfile(attacked.folder / "stories.db", database)
    try:
        whole = damaged(database, dice, flips=dice.random() < 0.5) - {""}
        with patch.dict(os.environ, RECURRENTGPT_HOME=str(home)):
            found = check()
            if found.is_whole:
                return "" if whole == attacked.texts else "damage was not noticed"
            try:
                saved = repair(found)
            except StorageError:
                return "undamaged passages were not saved" if whole else ""
        rows, fault = read_rows(saved)
        stories = examine(rows)
        texts = {text for story in stories if story.archive is not None for text in _passages(story.archive)}
        if fault or any(story.damage for story in stories):
            return "what was saved is damaged"
        if texts - attacked.texts:
            return "a damaged passage was saved as whole"
        return "an undamaged passage was not saved" if whole - texts else ""
    finally:
        shutil.rmtree(home)


def clock(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Set the clock back between a choice and its passage: the plan is written from."""
    folder = Path(shutil.copytree(attacked.folder, place / "home"))
    behind = dice.choice((2, 60, 86_400)) * 10**9
    now, plan = time.time_ns, f"Mira counts the {dice.randrange(10**6)} stairs."
    try:
        with Library.open(folder) as library, patch.object(checkpoint_ids.time, "time_ns", lambda: now() - behind):
            checkpoint_ids._last_v6_timestamp = None
            story = Story.open(attacked.story, library=library, **_settings())
            story.choose(plan)
            return "" if story.step().plan == plan else "a chosen plan was dropped"
    finally:
        shutil.rmtree(folder)


def transports(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Ask a server that misbehaves: the call ends within its bounds, with words or a sentence."""
    behaviour = dice.choice(get_args(Behaviour))

    async def ask() -> None:
        context = Context(model="m", base_url=server.base_url, timeout=0.2)
        pieces = write_stream(resolve_model("writer", context), [HumanMessage("Go.")], max_tokens=20, meter=Meter())
        async with asyncio.timeout(30):
            async for _ in pieces:
                pass

    with FaultyServer(behaviour) as server:
        try:
            call(ask)
        except ModelError:
            return ""
        except TimeoutError:
            return f"a server that is {behaviour!r} held a call for half a minute"
    return ""


def full_disk(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Let the disk be full in the middle of a passage: it is said in a sentence, all is read, and the story goes on after."""
    folder = Path(shutil.copytree(attacked.folder, place / "home"))
    try:
        with Library.open(folder) as library:
            conn = getattr(library.engine.log.store, "conn")  # noqa: B009 - of SQLite's store alone

            async def limit(pages: int) -> None:
                await conn.execute(f"PRAGMA max_page_count = {pages}")

            call(lambda: limit(1))  # SQLite takes the size that the file has now
            story = Story.open(attacked.story, library=library, **_settings())
            before = [passage.text for passage in story.passages()]
            try:
                for _ in range(50):
                    story.step()
                return "a full disk was not noticed"
            except StorageError:
                pass
            kept = [passage.text for passage in story.passages()]
            if kept[: len(before)] != before:
                return "a passage was lost"
            call(lambda: limit(1_000_000))
            story.step()
            return "" if [passage.text for passage in story.passages()][: len(kept)] == kept else "a passage was lost"
    finally:
        shutil.rmtree(folder)


def two_hosts(dice: random.Random, attacked: Attacked, place: Path) -> str:
    """Let two hosts write one story in one Postgres: one writes, the other is told."""

    async def race(url: str) -> str:
        async with open_persistence(url) as here, open_persistence(url) as there:
            assert here.holding
            assert there.holding
            async with here.holding(attacked.story):
                try:
                    async with there.holding(attacked.story):
                        return "two hosts wrote one story"
                except StoryBusy:
                    pass
            async with there.holding(attacked.story):
                return ""

    return call(lambda: race((place / ADDRESS).read_text()))


ATTACKS: dict[str, Callable[[random.Random, Attacked, Path], str]] = {
    "replies": replies,
    "archives": archives,
    "books": books,
    "bit flips": bit_flips,
    "commands": commands,
    "repairs": repairs,
    "clock": clock,
    "transports": transports,
    "full disk": full_disk,
    "two hosts": two_hosts,
}


def attack(*, full: bool, seed: int) -> dict[str, Any]:
    """Run every attack and return its trials, failures and first failure."""
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        attacked = _prepared(place / "attacked")
        for name, one in ATTACKS.items():
            trials, began, failures = TRIALS[name][full], time.monotonic(), list[str]()
            with _server(place, name == "two hosts" and trials > 0):
                for number in range(trials):
                    try:
                        found = one(random.Random(f"{seed}/{name}/{number}"), attacked, place)
                    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for
                        found = f"{type(error).__name__}: {error}"[:300]
                    failures += [f"trial {number}: {found}"] if found else []
            seconds = round(time.monotonic() - began, 1)
            report[name] = {"trials": trials, "failures": len(failures), "first": failures[:1], "seconds": seconds}
    if kills := TRIALS["kills"][full]:
        found = crash(kills, seed)
        report["kills"] = {
            "trials": kills,
            "failures": int(not found["ok"]),
            "first": [] if found["ok"] else [str(found)],
        }
    return report


@contextmanager
def _server(place: Path, wanted: bool) -> Iterator[None]:
    """Run a Postgres where one is wanted, and note its address in `place`."""
    if not wanted:
        yield
        return
    with local_postgres(place / "postgres") as url:
        (place / ADDRESS).write_text(url)
        yield


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="all trials, some minutes")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    report = attack(full=arguments.full, seed=arguments.seed)
    print(json.dumps(report))
    return int(any(found["failures"] for found in report.values()))


if __name__ == "__main__":
    sys.exit(main())
