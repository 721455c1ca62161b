"""What of the story log is whole, and what can be saved of the rest: as `git fsck`, over rows from wherever they were read."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from recurrentgpt.checkpoints.read_only import Row
from recurrentgpt.engine.story_export import FORMAT, TABLES, VERSION, StoryExport, contradiction, is_name
from recurrentgpt.memory.corrections import Overlay
from recurrentgpt.memory.log_rows import ROOT, commit_id, is_as_written, link_of, now, row_digest, text_digest
from recurrentgpt.memory.row_shapes import fits
from recurrentgpt.models.meter import total_usage
from recurrentgpt.schema.log import Commit, Head, Link, StoryRecord
from recurrentgpt.schema.parts import Brief, Rationale
from recurrentgpt.schema.story_id import is_story_id

MOST_LOST = 100_000
"""Steps that are looked through for what is lost."""
_DECODER = json.JSONDecoder()
_FIELD = re.compile(r'[\s{,]*"(\w+)"\s*:\s*')
_NOTHING = {
    "summary": "",
    "rationale": Rationale(dropped=[], added=[]),
    "candidate_plans": [],
    "recalled": [],
    "usage": total_usage([]),
}


_BARE = ("id", "story", "parent", "amends", "step", "plan", "plan_author", "passage", "author", "created")
"""The fields of a commit that say which passage it is."""
_UNKNOWN = {"amends": "", "plan": "", "plan_author": "", "author": "model", "short_term_memory": "", "created": ""}


@dataclass
class Examined:
    """What is known of one story after all of its rows were looked at."""

    root: tuple[str, ...]
    """Below which namespace it is kept."""
    story: str
    title: str
    passages: int
    """Passages that are whole, on all branches."""
    damage: list[str] = field(default_factory=list)
    """What is not as it was written, a sentence each; none for a story that is whole."""
    archive: StoryExport | None = None
    """The story with all that is whole of it; None where no passage is."""

    @property
    def gap(self) -> str:
        """Which passages what is saved of the story lacks, in a sentence; empty for none."""
        record = self.archive["story"] if self.archive else None
        lost = record.get("lost", []) if record else []
        if not lost:
            return ""
        which = f"passage {lost[0]}" if len(lost) == 1 else f"passages {', '.join(map(str, lost[:10]))}"
        more = f" and {len(lost) - 10} more" if len(lost) > 10 else ""
        was = "was lost; those after it" if len(lost) == 1 else "were lost; those after them"
        return f"{self.title} lacks {which}{more}, which {was} are numbered anew."


def examine(rows: Iterable[Row]) -> list[Examined]:
    """Return every story of which there is a row, by id, whole or damaged; on a server with auth those of all its users."""
    tables: dict[tuple[tuple[str, ...], str], dict[str, dict[str, object]]] = defaultdict(lambda: defaultdict(dict))
    links: dict[str, object] = {}
    for row in rows:
        depth = 3 if row.namespace[:2] == (*ROOT, "users") else 1
        root, below = row.namespace[:depth], row.namespace[depth:]
        try:
            value = json.loads(row.value)
        except (ValueError, RecursionError):
            value = _whole_fields(row.value) or None
        if isinstance(value, dict) and value.keys() >= {"id", "story", "passage", "short_term_memory"}:
            # A commit says itself where it belongs: its key or its namespace may be what is damaged.
            place = (root if root[:1] == ROOT else ROOT, str(value["story"]))
            commits = tables[place]["commits"]
            if (below, row.key) == (("commits", value["story"]), value["id"]):
                commits[row.key] = value
            else:
                commits.setdefault(str(value["id"]), value)
                tables[place]["misplaced"][str(value["id"])] = value
        elif len(below) == 2 and below[0] in TABLES:
            tables[root, below[1]][below[0]][row.key] = value
            if below[0] == "links" and isinstance(value, dict):
                links[str(value.get("id"))] = value
        elif len(below) == 1 and below[0] in ("stories", "heads"):
            tables[root, row.key][below[0]][row.key] = value
    for table in tables.values():
        # A link says whose it is, too.
        for key in table["commits"].keys() & links.keys() - table["links"].keys():
            table["links"][key] = links[key]
            table["misplaced links"][key] = links[key]
    return [
        _examine(root, story, tables[root, story])
        for root, story in sorted(tables)
        if root[:1] == ROOT and is_story_id(story)
    ]


def _whole_fields(text: str) -> dict[str, object]:
    """Return a commit of the fields that stand before the damage in its row; empty where its text or its names are not there."""
    found: dict[str, object] = {}
    at = 0
    while field := _FIELD.match(text, at):
        try:
            found[field[1]], at = _DECODER.raw_decode(text, field.end())
        except (ValueError, RecursionError):
            break
    if not found.keys() >= {"id", "story", "parent", "step", "passage"}:
        return {}
    return _alone(found)


def _alone(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a passage and its place alone, with nothing in the others."""
    return {**_UNKNOWN, **_NOTHING, **{name: value for name, value in fields.items() if name in _BARE}}


def _examine(root: tuple[str, ...], story: str, tables: Mapping[str, Mapping[str, object]]) -> Examined:
    damage = [f"The row of passage {key} stands in another's place." for key in sorted(tables.get("misplaced", {}))]
    damage += [
        f"The link of passage {key} stands in another's place." for key in sorted(tables.get("misplaced links", {}))
    ]
    links = {key: row for key, row in tables.get("links", {}).items() if fits(Link, row)}
    overlays = {
        key: row
        for key, row in tables.get("overlays", {}).items()
        if fits(Overlay, row) and row_digest(cast(Overlay, row)) == key
    }
    commits: dict[str, Commit] = {}
    bare: set[str] = set()
    unsure: dict[str, Commit] = {}
    for key, row in tables.get("commits", {}).items():
        link = cast("Link | None", links.get(key))
        step = row.get("step", "?") if isinstance(row, dict) else "?"
        if isinstance(row, dict) and not fits(Commit, row):
            # What is damaged may be inflated all the same, into a field that is of no shape.
            row = _alone(row)
        if not fits(Commit, row) or (cast(Commit, row)["id"], cast(Commit, row)["story"]) != (key, story):
            damage.append(f"Passage {step} ({key}) cannot be read.")
            continue
        commit = cast(Commit, row)
        if commit["amends"] and not (link and ("digest" in link or "text" in link)):
            unsure[key] = commit
            continue
        if not is_as_written(commit, link):
            named = not commit["amends"] and is_as_written(commit)
            if not named and (link is None or link.get("text") != text_digest(commit["passage"])):
                damage.append(f"Passage {step} ({key}) is damaged.")
                continue
            # Where not even the id agrees, its plan may be what is damaged.
            commit = commit if named else {**commit, "plan": "", "plan_author": ""}
            bare.add(key)
            damage.append(f"The plan, memory or summary of passage {step} ({key}) is damaged; its text is whole.")
        commits[key] = commit
    for key in sorted(unsure, key=lambda key: unsure[key]["created"]):
        # The id of a corrected version cannot be told from its row; that its text is that of the version it corrects can.
        corrects = commits.get(unsure[key]["amends"])
        if corrects is None or corrects["passage"] != unsure[key]["passage"]:
            damage.append(f"Passage {unsure[key]['step']} ({key}) cannot be verified, for its link is damaged.")
            continue
        commits[key] = unsure[key]
        bare.add(key)
    for key in sorted(links.keys() - tables.get("commits", {}).keys()):
        damage.append(f"Passage {cast(Link, links[key])['step']} ({key}) is missing.")
    for key in sorted(commits.keys() - links.keys()):
        damage.append(f"The link of passage {commits[key]['step']} ({key}) is missing or damaged.")
    for key in tables.get("overlays", {}).keys() - overlays.keys():
        damage.append(f"The corrections {key} are damaged.")
    record, head = tables.get("stories", {}).get(story), tables.get("heads", {}).get(story)
    if not fits(StoryRecord, record):
        record = None
        damage.append("The title, brief and settings are damaged.")
    elif (kept := cast(StoryRecord, record))["story"] != story:
        record = {**kept, "story": story}
        damage.append("The row of the title, brief and settings names another story.")
    if not fits(Head, head) or cast(Head, head)["head"] not in commits:
        head = None
        damage.append("Where the story stands is damaged.")
    elif (at := cast(Head, head))["story"] != story:
        head = {**at, "story": story}
        damage.append("The row of where the story stands names another story.")
    names = {key: row for key, row in tables.get("names", {}).items() if is_name(key, row, commits)}
    if lost := tables.get("names", {}).keys() - names.keys():
        damage.append(
            "1 name of a branch is damaged." if len(lost) == 1 else f"{len(lost)} names of branches are damaged."
        )
    title = cast(StoryRecord, record)["title"] if record else f"Salvaged {story}"
    whole_ones = [commit for key, commit in commits.items() if commit["step"] and key not in bare]
    found = Examined(root, story, title, len(whole_ones), damage)
    whole: Any = {"links": links, "overlays": overlays, "commits": commits, "names": names}
    archive = cast(StoryExport, {"format": FORMAT, "version": VERSION, "story": record, "head": head, **whole})
    if not damage and (why := contradiction(archive)):
        damage.append(f"Its rows contradict each other: {why}.")
    found.archive = archive if not damage else _salvaged(story, title, archive, bare)
    return found


def _salvaged(story: str, title: str, archive: StoryExport, bare: set[str]) -> StoryExport | None:
    """Return a story of the passages that are whole, each behind the nearest one before it that is.

    A passage keeps its id as long as all before it are there; what stood behind a gap is written anew behind the gap, word
    for word, as a rebase does it.
    """
    commits = archive["commits"]
    if not any(commit["parent"] for commit in commits.values()):
        return None
    record = archive["story"] or StoryRecord(
        story=story,
        title=title,
        genre="fiction",
        premise="",
        brief=Brief(title=title, genre="fiction", premise="", characters=[], outline=[]),
        settings={},
        created=now(),
    )
    opening = next((key for key, commit in commits.items() if not commit["parent"]), "")
    if not opening:
        commits[opening := _opening(story)["id"]] = _opening(story)
    if lost := sorted({*record.get("lost", []), *_lost(archive, bare)}):
        record = {**record, "lost": lost}
    new: dict[str, Commit] = {}
    renamed: dict[str, str] = {}
    parents = {key: _nearest(commit, archive) or opening for key, commit in commits.items()} | {opening: ""}
    try:
        in_order = _in_order(commits, parents)
    except CycleError:
        # A step is damaged, by which it was told what a passage stood on.
        known = {key: commit["parent"] if commit["parent"] in commits else opening for key, commit in commits.items()}
        parents = known | {opening: ""}
        in_order = _in_order(commits, parents)
    for key in in_order:
        before = new[renamed[parents[key]]] if key != opening else None
        saved = _kept(commits[key], before, renamed, archive, bare=key in bare)
        renamed[key] = saved["id"]
        new.setdefault(saved["id"], saved)
    last = max(new.values(), key=lambda commit: (commit["step"], commit["created"]))
    standing = new[renamed[archive["head"]["head"]]] if archive["head"] else last
    status = "choosing" if standing["candidate_plans"] else "finished"
    head = Head(story=story, head=standing["id"], step=standing["step"], status=status, updated=now())
    return StoryExport(
        format=FORMAT,
        version=VERSION,
        story=record,
        head=head,
        commits=new,
        links={key: link_of(commit) for key, commit in new.items()},
        names={key: {**name, "at": renamed[name["at"]]} for key, name in archive["names"].items()},
        overlays=archive["overlays"],
    )


def _in_order(commits: Mapping[str, Commit], parents: Mapping[str, str]) -> list[str]:
    """Return passages after all that they stand on, be they before them or the version that they correct."""
    oldest_first = sorted(commits, key=lambda key: commits[key]["created"])
    before = {key: {parents[key], commits[key]["amends"]} & commits.keys() for key in oldest_first}
    return list(TopologicalSorter(before).static_order())


def _lost(archive: StoryExport, bare: set[str]) -> set[int]:
    """Return the steps of which a passage is lost, text and all."""
    commits, links = archive["commits"], archive["links"]
    texts = {text_digest(commit["passage"]) for commit in commits.values()}
    lost = {
        link["step"]
        for key, link in links.items()
        if key not in commits and link["step"] and link.get("text") not in texts
    }
    for key in commits.keys() - bare:
        # Where no link tells of what was before it, its own step does.
        before = _nearest(commits[key], archive)
        if before not in bare:
            lost |= {*range((commits[before]["step"] if before else 0) + 1, min(commits[key]["step"], MOST_LOST))}
    return lost


def _nearest(commit: Commit, archive: StoryExport) -> str:
    """Return the nearest passage before this one that is whole; empty where none is.

    Where a passage is lost with its link, nothing says any more what it stood on: it is taken to be the last one before it, of
    several one that nothing else stands on.
    """
    commits, links = archive["commits"], archive["links"]
    key, step = commit["parent"], commit["step"]
    passed: set[str] = set()
    while key and key not in commits and key not in passed:
        passed.add(key)
        if key not in links:
            below = {other["parent"] for other in commits.values()}
            earlier = [other for other in commits.values() if other["step"] < step - 1]
            nearest = max(earlier, key=lambda it: (it["step"], it["id"] not in below, it["created"]), default=None)
            return nearest["id"] if nearest else ""
        key, step = links[key]["parent"], links[key]["step"]
    return key if key in commits else ""


def _kept(
    commit: Commit, before: Commit | None, renamed: Mapping[str, str], archive: StoryExport, *, bare: bool
) -> Commit:
    """Return a commit as it is saved behind `before`; of a `bare` one, whose text alone is whole, with the memory from there."""
    overlay = commit.get("overlay", "")
    saved = cast(
        Commit,
        {
            **commit,
            "parent": before["id"] if before else "",
            "step": before["step"] + 1 if before else 0,
            "amends": renamed.get(commit["amends"], ""),
            "left": renamed.get(commit.get("left", ""), ""),
            "recalled": [
                {**entry, "id": renamed[entry["id"]]} for entry in commit["recalled"] if entry["id"] in renamed
            ],
            "overlay": overlay if overlay in archive["overlays"] else "",
        },
    )
    if saved.get("left_overlay", "") not in {"", *archive["overlays"]}:
        del saved["left_overlay"]
    if bare:
        memory = before["short_term_memory"] if before else ""
        saved = cast(Commit, {**saved, **_NOTHING, "short_term_memory": memory, "amends": ""})
    same = ("parent", "amends", "overlay")
    if any(saved.get(name, "") != commit.get(name, "") for name in same) or not is_as_written(saved):
        saved = cast(Commit, {**saved, "amends": "", "left": ""})
        saved["id"] = commit_id(
            saved["story"], saved["parent"], saved["plan"], saved["passage"], saved["overlay"] or None
        )
    return saved


def _opening(story: str) -> Commit:
    """Return an opening in the place of one that is lost."""
    return Commit(
        id=commit_id(story, "", "", ""),
        story=story,
        parent="",
        amends="",
        step=0,
        plan="",
        plan_author="",
        passage="",
        author="model",
        summary="",
        short_term_memory="",
        rationale=Rationale(dropped=[], added=[]),
        candidate_plans=[],
        recalled=[],
        usage=total_usage([]),
        created=now(),
        overlay="",
    )
