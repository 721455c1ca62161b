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
from collections.abc import Callable, Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from recurrentgpt.books.writers import write_file
from recurrentgpt.engine.refs import before, fault_of_name
from recurrentgpt.memory.corrections import Overlay
from recurrentgpt.memory.log_reader import LogReader, NameRow
from recurrentgpt.memory.log_rows import commit_id, is_as_written, link_of, row_digest
from recurrentgpt.prose.model_text import LeftOut, control_character, model_text, visible_line, visible_text
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.codex import Change
from recurrentgpt.schema.context import STORY_SETTINGS, Context
from recurrentgpt.schema.errors import BookError, SettingsError
from recurrentgpt.schema.log import Commit, Head, Link, StoryRecord
from recurrentgpt.schema.parts import MOST_TITLE_CHARACTERS, Brief, Status
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
_GATED_SETTINGS = ("language", "style", "note")
"""Settings that prompts repeat and that may be in anybody's words."""


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


Gate = Callable[[str], str]
"""What takes out of a text what may not come in."""

_COMMIT_ID = re.compile("[0-9a-f]{24}")
_DAMAGE = {"missing": "something is missing there", "extra_forbidden": "nothing of that name belongs there"}
_SHAPE = TypeAdapter(StoryExport)
_SHAPES: Mapping[str, type[Any]] = {"commits": Commit, "links": Link, "names": NameRow, "overlays": Overlay}
TABLES = tuple(_SHAPES)


async def read_story(log: LogReader, story: str) -> StoryExport:
    """Return everything that the log holds of a story; raise StoryNotFound where it holds nothing, StorageError for damage."""
    record, head = await log.record(story), await log.head(story)
    tables = {name: await log.rows(shape, name, story) for name, shape in _SHAPES.items()}
    return cast(StoryExport, {"format": FORMAT, "version": VERSION, "story": record, "head": head, **tables})


async def write_export(log: LogReader, story: str, path: Path, *, force: bool) -> Path:
    """Write a story to a JSON file, which appears whole or not at all; the same story gives the same bytes."""
    content = await read_story(log, story)

    def rendered() -> bytes:
        return json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"

    return await asyncio.to_thread(write_file, path, rendered, force=force)


async def restore(engine: Engine, path: Path, *, copy: str = "") -> tuple[str, LeftOut]:
    """Write the story in a JSON file to the log; return its id, and what the gate took out of it.

    One that is there already must be the same, and nothing is taken out of it. With a `copy` it is another story, whatever is
    there.
    """
    export = load(path)
    if copy:
        export = copied(export, copy)
    left_out = LeftOut()
    gated = _gated(export, partial(model_text, left_out=left_out))
    if (length := len(gated["story"]["title"])) > MOST_TITLE_CHARACTERS:
        raise BookError(f"{path} has a title of {length:,} characters; at most {MOST_TITLE_CHARACTERS:,} fit.")
    story = export["story"]["story"]
    log = engine.log
    async with engine.writing(story):
        if await log.head(story) is not None:
            if _sealed(await read_story(log, story)) in (_sealed(export), _sealed(gated)):
                return story, LeftOut()
            raise BookError(
                f"Story {story} is here already and differs from {path}: `recurrentgpt import {path} --copy NAME` makes another "
                "story of the file."
            )
        await put_story(log, gated)
    return story, left_out


_LEFT_OUT = {
    "orders": ("sentence that tells a model what to do", "sentences that tell a model what to do"),
    "marked": ("text's marks of chats, reasoning or tags", "texts' marks of chats, reasoning or tags"),
    "hidden": ("text's signs that nobody sees", "texts' signs that nobody sees"),
    "emptied": ("text of which that leaves nothing", "texts of which that leaves nothing"),
}


def tell_left_out(counts: Mapping[str, int]) -> str:
    """Return a sentence on what did not come in with a restored story, by kind; empty where all did."""
    parts = [f"{count:,} {_LEFT_OUT[kind][count != 1]}" for kind, count in counts.items() if count]
    if not parts:
        return ""
    return f"What prompts repeat came in cleaned; the passages are as they were. Left out: {'; '.join(parts)}."


def _gated(export: StoryExport, gate: Gate) -> StoryExport:
    """Return a story as it may come in: what a prompt repeats of it, but its prose, went through the gate of what a model says.

    What is named by its content has another name where the gate has changed that, and so has all that stands on it.
    """
    record = export["story"]
    settings = {
        name: gate(value) if name in _GATED_SETTINGS and isinstance(value, str) else value
        for name, value in record["settings"].items()
    }
    told = {name: gate(record[name]) for name in ("title", "genre", "premise")}
    story = {**record, **told, "settings": settings, "brief": _gated_brief(record["brief"], gate)}
    story["title"] = told["title"] or record["story"]
    commits = {key: _gated_commit(commit, gate) for key, commit in export["commits"].items()}
    overlays = {key: _gated_overlay(overlay, commits, gate) for key, overlay in export["overlays"].items()}
    names = _visible_names(export["names"])
    head = cast(Head, {**export["head"]})
    if branch := head.get("branch", ""):
        head["branch"] = visible_text(branch) if visible_text(branch).casefold() in names else ""
    parts = {"story": story, "head": head, "commits": commits, "names": names, "overlays": overlays}
    gated = cast(StoryExport, {**export, **parts})
    if commits == export["commits"] and overlays == export["overlays"]:
        return gated
    return _renamed(gated, export)


def _visible_names(names: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return names of branches as they are seen, without those of which nothing is; one that was so already comes first."""
    found: dict[str, dict[str, str]] = {}
    for row in sorted(names.values(), key=lambda row: visible_text(row["name"]) != row["name"]):
        name = visible_line(row["name"])
        if name and not fault_of_name(name):
            found.setdefault(name.casefold(), {**row, "name": name})
    return found


def _gated_commit(commit: Commit, gate: Gate) -> Commit:
    names = ("plan", "summary", "short_term_memory", "unreached")
    told: dict[str, Any] = {name: gate(str(commit[name])) for name in names if name in commit}  # type: ignore[literal-required]
    told["candidate_plans"] = [*filter(None, map(gate, commit["candidate_plans"]))]
    if "codex" in commit:
        told["codex"] = _gated_changes(commit["codex"], gate)
    return cast(Commit, {**commit, **told})


def _gated_overlay(overlay: Overlay, commits: Mapping[str, Commit], gate: Gate) -> Overlay:
    """Return corrections as they may come in, without those of passages that are missing."""
    summaries = {key: gate(said) for key, said in overlay["summaries"].items() if key in commits}
    told: dict[str, Any] = {"summaries": summaries}
    if "chapters" in overlay:
        told["chapters"] = {step: title and gate(title) for step, title in overlay["chapters"].items()}
    if "brief" in overlay:
        told["brief"] = _gated_brief(overlay["brief"], gate)
    if "codex" in overlay:
        told["codex"] = _gated_changes(overlay["codex"], gate)
    return cast(Overlay, {**overlay, **told})


def _gated_brief(brief: Brief, gate: Gate) -> Brief:
    return cast(
        Brief,
        {
            name: [*filter(None, map(gate, part))] if isinstance(part, list) else gate(str(part))
            for name, part in brief.items()
        },
    )


def _gated_changes(changes: list[Change], gate: Gate) -> list[Change]:
    """Return what changed in a codex, without the changes of which the gate leaves nothing."""
    gated = [
        (change, {name: gate(str(value)) for name, value in change.items() if name in ("entry", "value", "text")})
        for change in changes
    ]
    return [
        cast(Change, {**change, **told})
        for change, told in gated
        if all(told[name] or not change[name] for name in told)  # type: ignore[literal-required]
    ]


def copied(export: StoryExport, name: str) -> StoryExport:
    """Return the same story under an id of its own, made of the old one and `name`, which its title has too.

    An id of a passage names all that it stands on, the story included, so every passage gets another one.
    """
    record = export["story"]
    story = hashlib.sha256(f"{record['story']} {name}".encode()).hexdigest()[:12]
    moved = {**record, "story": story, "title": f"{record['title']} ({name})"}
    return _renamed(cast(StoryExport, {**export, "story": moved}), export)


def _renamed(export: StoryExport, old: StoryExport) -> StoryExport:
    """Return a story that came of an `old` one, with every row named by its content, which may be another now."""
    story = export["story"]["story"]
    new, overlays = {"": ""}, {"": ""}
    commits: dict[str, Commit] = {}
    kept: dict[str, Overlay] = {}
    for key in TopologicalSorter(
        {key: _rests_on(commit, export) for key, commit in export["commits"].items()}
    ).static_order():
        before = export["commits"][key]
        overlay, left_overlay = before.get("overlay", ""), before.get("left_overlay", "")
        for named in {overlay, left_overlay} - overlays.keys():
            found = export["overlays"][named]
            summaries = {new.get(at, at): said for at, said in found["summaries"].items()}
            moved = cast(Overlay, {**found, "summaries": summaries})
            overlays[named] = row_digest(moved)
            kept[overlays[named]] = moved
        made = cast(
            Commit, {**before, "story": story, "parent": new[before["parent"]], "amends": new[before["amends"]]}
        )
        if "overlay" in before:
            made["overlay"] = overlays[overlay]
        if "left_overlay" in before:
            made["left_overlay"] = overlays[left_overlay]
        if _named_by(made) != _named_by(old["commits"][key]):
            corrects = [made["amends"], key] if made["amends"] else overlays[overlay] or None
            made["id"] = commit_id(story, made["parent"], made["plan"], made["passage"], corrects)
        new[key] = made["id"]
        commits[made["id"]] = made
    for made in commits.values():
        made["recalled"] = [{**one, "id": new.get(one["id"], one["id"])} for one in made["recalled"]]
        if left := made.get("left"):
            made["left"] = new[left]
        if found_in := made.get("contradictions"):
            made["contradictions"] = [{**one, "passage": new.get(one["passage"], "")} for one in found_in]
    head = export["head"]
    moved_head = {**head, "story": story, "head": new[head["head"]]}
    if "undone" in head:
        moved_head["undone"] = new.get(head["undone"], "")
    if "overlay" in head:
        moved_head["overlay"] = overlays[head["overlay"]]
    return StoryExport(
        format=FORMAT,
        version=VERSION,
        story=export["story"],
        head=cast(Head, moved_head),
        commits=commits,
        links={
            key: old["links"][key] if commit == old["commits"].get(key) else link_of(commit)
            for key, commit in commits.items()
        },
        names={key: {**row, "at": new[row["at"]]} for key, row in export["names"].items()},
        overlays=kept,
    )


def _named_by(commit: Commit) -> tuple[str, ...]:
    """Return what the id of a commit depends on, as far as the commit holds it."""
    overlay = commit.get("overlay", "")
    return commit["story"], commit["parent"], commit["amends"], commit["plan"], commit["passage"], overlay


def _rests_on(commit: Commit, export: StoryExport) -> set[str]:
    """Return the passages that the ids of a commit and of the corrections it names depend on."""
    named = [export["overlays"].get(commit.get("overlay", "")), export["overlays"].get(commit.get("left_overlay", ""))]
    corrected = {key for overlay in named if overlay for key in overlay["summaries"]} & export["commits"].keys()
    return {commit["parent"], commit["amends"], *corrected} - {""}


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
        content = json.loads(
            path.read_text(encoding="utf-8-sig"), parse_int=_whole_number, parse_constant=_whole_number
        )
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
        # Its digest says that it was not damaged, its id that nobody gave it another place or plan.
        if not (_COMMIT_ID.fullmatch(key) and is_as_written(commit, link) and is_as_written(commit)):
            return f"passage {key} is not what its id says"
        if {commit.get("overlay", ""), commit.get("left_overlay", "")} - {"", *export["overlays"]}:
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
    try:
        TopologicalSorter({key: _rests_on(commit, export) for key, commit in commits.items()}).prepare()
    except CycleError as error:
        return f"passage {error.args[1][0]} rests on itself"
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
    if head.get("overlay", "") not in {commit.get("overlay", "") for commit in commits.values()} | {""}:
        return "the corrections in force where the story stands are of no passage of it"
    if head.get("branch", "").casefold() not in {"", *export["names"]}:
        return "the branch that the story stands on has no such name"
    return ""


def is_name(key: str, row: object, commits: Mapping[str, object]) -> bool:
    """Tell whether a row is the name of a branch, in the shape that such names have, at one of the commits."""
    if not isinstance(row, dict) or row.get("at") not in commits:
        return False
    name = str(row.get("name"))
    return name.casefold() == key and not fault_of_name(name)
