"""A whole story as one JSON file, and back: every passage of every branch, bit for bit.

What can be computed again (vectors, checkpoints) is left out. A file from elsewhere is checked before a row of it is
written: its shape, every parent, and that no passage follows itself.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

from langgraph.store.base import PutOp
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from recurrentgpt.books.writers import write_file
from recurrentgpt.engine.engine import Engine
from recurrentgpt.engine.refs import before
from recurrentgpt.memory.corrections import Overlay
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.errors import BookError
from recurrentgpt.schema.log import Commit, Head, Link, StoryRecord

FORMAT = "recurrentgpt-story"
VERSION = 1
MOST_BYTES = 500_000_000
ROWS_AT_ONCE = 2000


@with_config(ConfigDict(extra="forbid"))
class StoryExport(TypedDict):
    """One story, with everything that its log holds."""

    format: str
    version: int
    story: StoryRecord
    head: Head
    commits: dict[str, Commit]
    links: dict[str, Link]
    names: dict[str, dict[str, str]]
    overlays: dict[str, Overlay]


_SHAPE = TypeAdapter(StoryExport)
_TABLES = ("commits", "links", "names", "overlays")


async def read_story(log: StoryLog, story: str) -> StoryExport:
    """Return everything that the log holds of a story; raise StoryNotFound where it holds nothing."""
    record, head = await log.record(story), await log.head(story)
    tables = {name: {row.key: row.value for row in await log.scan((*log.root, name, story))} for name in _TABLES}
    return cast(StoryExport, {"format": FORMAT, "version": VERSION, "story": record, "head": head, **tables})


async def write_export(log: StoryLog, story: str, path: Path, *, force: bool) -> Path:
    """Write a story to a JSON file, which appears whole or not at all; the same story gives the same bytes."""
    content = await read_story(log, story)

    def rendered() -> bytes:
        return json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"

    return await asyncio.to_thread(write_file, path, rendered, force=force)


async def restore(engine: Engine, path: Path) -> str:
    """Write the story in a JSON file to the log and return its id; one that is there already must be the same."""
    export = load(path)
    story = export["story"]["story"]
    log = engine.log
    async with engine.writing(story):
        if await log.head(story) is not None:
            if await read_story(log, story) == export:
                return story
            raise BookError(
                f"Story {story} is here already and differs from {path}: restore it in another home, with RECURRENTGPT_HOME."
            )
        await put_story(log, export)
    return story


async def put_story(log: StoryLog, export: StoryExport) -> None:
    """Write every row of a story that the log has not."""
    story = export["story"]["story"]
    rows = [
        log.put((*log.root, name, story), key, row)
        for name in _TABLES
        for key, row in cast("dict[str, dict[str, Any]]", export[name]).items()  # type: ignore[literal-required]
    ]
    for start in range(0, len(rows), ROWS_AT_ONCE):
        await log.batch(rows[start : start + ROWS_AT_ONCE])
    # The two rows that make it a story come last: cut short before them, there is none, and it is restored anew.
    ends: list[PutOp] = [
        log.put_record_op(export["story"]),
        log.put((*log.root, "heads"), story, export["head"]),
    ]
    await log.batch(ends)


def load(path: Path) -> StoryExport:
    """Return the story in a JSON file; raise BookError in a sentence for everything that can be wrong with it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BookError(f"{path} is larger than {MOST_BYTES // 1_000_000} MB, too large for a story.")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise BookError(f"{path} is not JSON, or not all of it is there: export the story again.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BookError(f"{path} is not a story that was exported as JSON; other books are .txt, .md, .docx or .epub.")
    if content.get("version") != VERSION:
        raise BookError(
            f"{path} was exported by another version ({content.get('version')!r:.20}); this one reads {VERSION}."
        )
    try:
        # Strict, and the very rows of the file are kept: what comes back is what was written.
        _SHAPE.validate_python(content, strict=True)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise BookError(f"{path} is damaged at {where[:80]}: {error.errors()[0]['msg']}.") from error
    export = cast(StoryExport, content)
    if problem := _inconsistency(export):
        raise BookError(f"{path} is damaged: {problem}.")
    return export


def _inconsistency(export: StoryExport) -> str:
    """Return what contradicts itself in a story, or nothing."""
    commits, links, story = export["commits"], export["links"], export["story"]["story"]
    if commits.keys() != links.keys():
        return "passages and links do not match"
    if export["head"]["story"] != story or export["head"]["head"] not in commits:
        return "the head is no passage of the story"
    for key, commit in commits.items():
        link = links[key]
        if (commit["id"], commit["story"], link["id"], link["parent"]) != (key, story, key, commit["parent"]):
            return f"passage {key} and its rows do not match"
        if (overlay := commit.get("overlay")) and overlay not in export["overlays"]:
            return f"passage {key} has corrections that are missing"
        if not commit["parent"]:
            if commit["step"]:
                return f"passage {key} follows nothing"
        elif commit["parent"] not in commits or commits[commit["parent"]]["step"] != commit["step"] - 1:
            # A step more than its parent's: that alone rules out a circle.
            return f"passage {key} does not follow the one it names"
        if commit["amends"] and commit["amends"] not in commits:
            return f"passage {key} corrects one that is missing"
        if link["amends"] != commit["amends"] or (link.get("left") and link["left"] not in commits):
            return f"passage {key} and its rows do not match"
    done: set[str] = set()
    for key in commits:
        walked: dict[str, None] = {}
        while key and key not in done:
            if key in walked:
                return f"the way back from passage {key} leads to itself"
            walked[key] = None
            key = before(links[key])
        done |= walked.keys()
    if any(name.get("at") not in commits or not name.get("name") for name in export["names"].values()):
        return "a branch's name stands at no passage"
    return ""
