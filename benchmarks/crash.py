"""Kill a running story again and again, and look whether its log holds every finished passage exactly once.

    python -m benchmarks.crash --kills 200

Every process writes the same story on SQLite with a scripted model, and dies by `kill -9`: half of them by their own hand
at a random write to a database or step of the graph, half from outside at a random moment. What a process had finished
it noted in a journal. The last process is left alone. Prints one JSON object; exits with 1 when anything was lost, doubled
or stuck. Processes are forked, since starting Python anew takes longer than a whole life here.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.log import Link
from recurrentgpt.story import Story
from recurrentgpt.testing import ScriptedChatModel, story_replies

TICKS = 150
"""Most database writes and graph steps of a process that kills itself; a passage takes about fifty."""
SECONDS = 0.4
"""Longest life of a process that is killed from outside."""
LAST_STEPS = 2


def _reply(messages: list[BaseMessage]) -> str:
    """Answer never twice the same, so that work that is done twice shows."""
    return story_replies([*messages, HumanMessage(uuid.uuid4().hex)])


def _story(library: Library) -> Story:
    settings: dict[str, Any] = {
        "model": ScriptedChatModel(replies=_reply),
        "embeddings": HashEmbeddings(),
        "min_words": 20,
        "max_words": 60,
        "plans": 2,
    }
    known = library.stories()
    if known:
        return Story.open(known[0].story, library=library, **settings)
    return Story.new("mystery", "A clerk of lost property finds his own name.", library=library, **settings)


def _fuse(library: Library, ticks: int) -> Callable[[], None]:
    """Return a function that kills this process at its call number `ticks`, and call it at every database statement."""
    left = ticks

    def tick() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            tick()
            return work(*args, **kwargs)

        return run

    for half in (library.engine.saver, library.engine.log.store):
        connection: Any = half.conn  # type: ignore[attr-defined]
        for name in ("execute", "commit"):
            setattr(connection, name, before(getattr(connection, name)))
    return tick


def _live(folder: Path, journal: Path, ticks: int, ready: int) -> None:
    """Write on until killed; with no ticks, write `LAST_STEPS` passages and leave."""
    library = Library.open(folder)
    tick = _fuse(library, ticks)
    story = _story(library)
    os.write(ready, b".")
    with journal.open("a") as notes:
        for event in story.stream(10_000 if ticks else LAST_STEPS):
            if event["event"] == "passage":
                notes.write(f"{event['id']}\n")
                notes.flush()
            elif event["event"] == "stage":
                tick()
    library.close()


def _run(folder: Path, journal: Path, ticks: int, seconds: float | None) -> str:
    """Let one process live, and return how it ended: "killed", "left", or what it said when it failed."""
    reading, writing = os.pipe()
    last_words = folder / "last-words"
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            os.close(reading)
            _live(folder, journal, ticks, writing)
        except BaseException:  # noqa: BLE001 - whatever it is, the parent is to see it
            last_words.write_text(traceback.format_exc())
            code = 1
        os._exit(code)
    os.close(writing)
    alive = os.read(reading, 1)
    os.close(reading)
    if alive and seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return "killed"
    return last_words.read_text() if os.WEXITSTATUS(status) else "left"


async def _log(library: Library, story: str) -> tuple[list[str], dict[str, Link]]:
    head = await library.engine.log.head(story)
    assert head is not None
    return await library.engine.log.path(story, head["head"]), await library.engine.log.links(story)


def check(folder: Path, journal: Path) -> dict[str, Any]:
    """Return what the log holds beside what the processes had finished."""
    noted = journal.read_text().split()
    with Library.open(folder) as library:
        stories = library.stories()
        story = _story(library)
        path, links = call(lambda: _log(library, story.id))
        passages = story.passages()
    steps = [links[commit]["step"] for commit in path]
    return {
        "stories": len(stories),
        "steps": len(passages),
        "finished": len(set(noted)),
        "lost": len(set(noted) - set(path)),
        "doubled": sum(count - 1 for count in Counter(link["step"] for link in links.values()).values()),
        "orphans": len(set(links) - set(path)),
        "in_order": steps == list(range(len(path))) and all(passage.text for passage in passages),
        "resumed": noted[-LAST_STEPS:] == path[-LAST_STEPS:],
    }


def crash(kills: int, seed: int) -> dict[str, Any]:
    """Kill `kills` processes that write one story, let a last one finish, and return the report."""
    dealer, began = random.Random(seed), time.monotonic()
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        folder, journal = Path(place), Path(place) / "journal"
        journal.touch()
        for number in range(kills):
            outside = number % 2 == 1
            seconds = dealer.uniform(0, SECONDS) if outside else None
            ends[_run(folder, journal, dealer.randint(1, TICKS) if not outside else 10**9, seconds)] += 1
        last = _run(folder, journal, 0, None)
        report = check(folder, journal)
    failures = [words for words in (*ends, last) if words not in ("killed", "left")]
    whole = not (report["lost"] or report["doubled"] or report["orphans"] or failures) and report["stories"] == 1
    return {
        "kills": ends["killed"],
        **report,
        "ok": bool(whole and report["in_order"] and report["resumed"] and ends["killed"] == kills and last == "left"),
        "failures": failures,
        "seconds": round(time.monotonic() - began, 1),
    }


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    report = crash(arguments.kills, arguments.seed)
    print(json.dumps(report))
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
