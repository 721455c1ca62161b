"""A whole story as one JSON file, and back: every passage of every branch, bit for bit.

What can be computed again (vectors, checkpoints) is left out. A file from elsewhere is checked before a row of it is
written: its shape, every parent, that no passage follows itself, that each is what its id and its digest say, and that what
is told of passages elsewhere, where the story stands above all, is what they say themselves.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from recurrentgpt.books.writers import write_file
from recurrentgpt.engine.refs import before, fault_of_name
from recurrentgpt.memory.corrections import Overlay
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.memory.log_rows import commit_id, is_as_written, link_of, row_digest
from recurrentgpt.prose.model_text import control_character, model_text
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import BookError, SettingsError
from recurrentgpt.schema.log import Commit, Head, Link, StoryRecord
from recurrentgpt.schema.parts import Status
from recurrentgpt.schema.story_id import check_story_id

if TYPE_CHECKING:
    from langgraph.store.base import PutOp

    from recurrentgpt.engine.engine import Engine
    from recurrentgpt.memory.story_log import StoryLog

FORMAT = "recurrentgpt-story"
VERSION = 1
MOST_BYTES = 500_000_000
LONGEST_NUMBER = 15
"""Digits of a whole number; a database that keeps numbers in 64 bits refuses more."""
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


_COMMIT_ID = re.compile("[0-9a-f]{24}")
_DAMAGE = {"missing": "something is missing there", "extra_forbidden": "nothing of that name belongs there"}
_SHAPE = TypeAdapter(StoryExport)
TABLES = ("commits", "links", "names", "overlays")


async def read_story(log: LogReader, story: str) -> StoryExport:
    """Return everything that the log holds of a story; raise StoryNotFound where it holds nothing."""
    record, head = await log.record(story), await log.head(story)
    tables = {name: {row.key: row.value for row in await log.scan((*log.root, name, story))} for name in TABLES}
    return cast(StoryExport, {"format": FORMAT, "version": VERSION, "story": record, "head": head, **tables})


async def write_export(log: LogReader, story: str, path: Path, *, force: bool) -> Path:
    """Write a story to a JSON file, which appears whole or not at all; the same story gives the same bytes."""
    content = await read_story(log, story)

    def rendered() -> bytes:
        return json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"

    return await asyncio.to_thread(write_file, path, rendered, force=force)


async def restore(engine: Engine, path: Path, *, copy: str = "") -> str:
    """Write the story in a JSON file to the log and return its id; one that is there already must be the same.

    With a `copy` it is another story, whatever is there.
    """
    export = load(path)
    if copy:
        export = copied(export, copy)
    gated = _gated(export)
    story = export["story"]["story"]
    log = engine.log
    async with engine.writing(story):
        if await log.head(story) is not None:
            if _sealed(await read_story(log, story)) in (_sealed(export), _sealed(gated)):
                return story
            raise BookError(
                f"Story {story} is here already and differs from {path}: `recurrentgpt import {path} --copy NAME` makes another "
                "story of the file."
            )
        await put_story(log, gated)
    return story


def _gated(export: StoryExport) -> StoryExport:
    """Return a story as it may come in: what a prompt repeats of it went through the gate of what a model says.

    Plans that were written from and corrections are named by their content, and stay as they are: no prompt holds the marks of
    chats and of reasoning that stand in them.
    """
    commits = {key: _gated_commit(commit) for key, commit in export["commits"].items()}
    links = {
        key: {**link, "digest": row_digest(commits[key])}
        if "digest" in link and commits[key] != export["commits"][key]
        else link
        for key, link in export["links"].items()
    }
    record = export["story"]
    brief = {
        name: [*filter(None, map(model_text, part))] if isinstance(part, list) else model_text(str(part))
        for name, part in record["brief"].items()
    }
    told = {name: model_text(record[name]) for name in ("title", "genre", "premise")}
    story = {**record, **told, "brief": brief}
    return cast(StoryExport, {**export, "story": story, "commits": commits, "links": links})


def _gated_commit(commit: Commit) -> Commit:
    told = {name: model_text(commit[name]) for name in ("summary", "short_term_memory")}
    return cast(Commit, {**commit, **told, "candidate_plans": [*map(model_text, commit["candidate_plans"])]})


def copied(export: StoryExport, name: str) -> StoryExport:
    """Return the same story under an id of its own, made of the old one and `name`, which its title has too.

    An id of a passage names all that it stands on, the story included, so every passage gets another one.
    """
    record = export["story"]
    story = hashlib.sha256(f"{record['story']} {name}".encode()).hexdigest()[:12]
    new, overlays = {"": ""}, {"": ""}
    commits: dict[str, Commit] = {}
    kept: dict[str, Overlay] = {}
    for key in TopologicalSorter(
        {key: _rests_on(commit, export) for key, commit in export["commits"].items()}
    ).static_order():
        old = export["commits"][key]
        overlay = old.get("overlay", "")
        if overlay not in overlays:
            found = export["overlays"][overlay]
            moved = cast(Overlay, {**found, "summaries": {new[at]: said for at, said in found["summaries"].items()}})
            overlays[overlay] = row_digest(moved)
            kept[overlays[overlay]] = moved
        made = cast(Commit, {**old, "story": story, "parent": new[old["parent"]], "amends": new[old["amends"]]})
        made["recalled"] = [{**one, "id": new.get(one["id"], one["id"])} for one in old["recalled"]]
        if "overlay" in old:
            made["overlay"] = overlays[overlay]
        corrects = [made["amends"], key] if made["amends"] else overlays[overlay] or None
        made["id"] = new[key] = commit_id(story, made["parent"], made["plan"], made["passage"], corrects)
        commits[made["id"]] = made
    for made in commits.values():
        if left := made.get("left"):
            made["left"] = new[left]
        if found_in := made.get("contradictions"):
            made["contradictions"] = [{**one, "passage": new.get(one["passage"], "")} for one in found_in]
    head = export["head"]
    return StoryExport(
        format=FORMAT,
        version=VERSION,
        story={**record, "story": story, "title": f"{record['title']} ({name})"},
        head={**head, "story": story, "head": new[head["head"]], "undone": new.get(head.get("undone", ""), "")},
        commits=commits,
        links={key: link_of(commit) for key, commit in commits.items()},
        names={key: {**row, "at": new[row["at"]]} for key, row in export["names"].items()},
        overlays=kept,
    )


def _rests_on(commit: Commit, export: StoryExport) -> set[str]:
    """Return the passages that the id of a commit depends on."""
    corrections = export["overlays"].get(commit.get("overlay", ""))
    return {commit["parent"], commit["amends"], *(corrections["summaries"] if corrections else ())} - {""}


def _sealed(export: StoryExport) -> StoryExport:
    """Return an export whose links have all that they have today, to compare with one of another edition."""
    links = {key: {**link_of(commit), **export["links"].get(key, {})} for key, commit in export["commits"].items()}
    return cast(StoryExport, {**export, "links": links})


async def put_story(log: StoryLog, export: StoryExport) -> None:
    """Write every row of a story that the log has not."""
    story = export["story"]["story"]
    rows = [
        log.put((*log.root, name, story), key, row)
        for name in TABLES
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
        content = json.loads(path.read_text(encoding="utf-8"), parse_int=_whole_number, parse_constant=_whole_number)
        json.dumps(content, ensure_ascii=False).encode()  # half a surrogate pair is legal JSON, and no text
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}).") from error
    except _NoNumber as error:
        raise BookError(f"{path} is damaged: it holds the number {error}, which nothing of a story is.") from error
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
        what = _DAMAGE.get(error.errors()[0]["type"], "what is there is of another kind than belongs there")
        raise BookError(f"{path} is damaged at {where[:80]}: {what}. Export the story again.") from error
    export = cast(StoryExport, content)
    _check_record(export["story"], path)
    if problem := contradiction(export):
        raise BookError(f"{path} is damaged: {problem}.")
    return export


class _NoNumber(ValueError):
    """A number that no database keeps."""


def _whole_number(numeral: str) -> int:
    """Return a number of a file; raise _NoNumber for one that no database keeps, and for NaN and its like."""
    if len(numeral) > LONGEST_NUMBER:
        raise _NoNumber(f"{numeral[:LONGEST_NUMBER]}...")
    try:
        return int(numeral)
    except ValueError as error:
        raise _NoNumber(numeral) from error


def _check_record(record: StoryRecord, path: Path) -> None:
    """Raise BookError for a story that could be written to the log and not be opened."""
    settings = {name: value for name, value in record["settings"].items() if name in STORY_SETTINGS}
    try:
        check_story_id(record["story"])
        Context(**settings)  # type: ignore[arg-type]
    except SettingsError as error:
        raise BookError(f"{path} is damaged: {error}") from error
    told = [record["title"], record["genre"], record["premise"]]
    for part in record["brief"].values():
        told += map(str, part) if isinstance(part, list) else [str(part)]
    if odd := next(filter(None, map(control_character, told)), None):
        raise BookError(f"{path} is damaged: its title or brief holds the control character {odd!r}.")


def contradiction(export: StoryExport) -> str:
    """Return what contradicts itself in a story, or nothing."""
    commits, links, story = export["commits"], export["links"], export["story"]["story"]
    if commits.keys() != links.keys():
        return "passages and links do not match"
    if fault := _fault_of_head(export):
        return fault
    for key, commit in commits.items():
        link = links[key]
        told = (link["id"], link["parent"], link["step"])
        if (commit["id"], commit["story"], *told) != (key, story, key, commit["parent"], commit["step"]):
            return f"passage {key} and its rows do not match"
        if not _COMMIT_ID.fullmatch(key) or not is_as_written(commit, link):
            return f"passage {key} is not what its id says"
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
        if (link["words"], link["author"]) != (count_words(commit["passage"]), commit["author"]):
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
    if not all(is_name(key, row, commits) for key, row in export["names"].items()):
        return "a branch's name stands at no passage, or is none"
    if any(row_digest(overlay) != key for key, overlay in export["overlays"].items()):
        return "corrections are not what their id says"
    return ""


def _fault_of_head(export: StoryExport) -> str:
    """Return what is wrong with where a story stands, or nothing."""
    head, commits = export["head"], export["commits"]
    if head["story"] != export["story"]["story"] or head["head"] not in commits:
        return "the head is no passage of the story"
    if head["step"] != commits[head["head"]]["step"]:
        return f"the story stands at passage {commits[head['head']]['step']}, and says that it is another one"
    if head["status"] not in get_args(Status):
        return f"the story is in no known state ({head['status']!r:.40})"
    if (undone := head.get("undone", "")) and undone not in commits:
        return "what was undone last is no passage of the story"
    if head.get("branch", "").casefold() not in {"", *export["names"]}:
        return "the branch that the story stands on has no such name"
    return ""


def is_name(key: str, row: object, commits: Mapping[str, object]) -> bool:
    """Tell whether a row is the name of a branch, in the shape that such names have, at one of the commits."""
    if not isinstance(row, dict) or row.get("at") not in commits:
        return False
    name = str(row.get("name"))
    return name.casefold() == key and not fault_of_name(name)
