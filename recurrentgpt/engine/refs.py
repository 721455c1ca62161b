"""Which passage somebody means, and the head that goes there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from recurrentgpt.memory.log_reader import LogReader, path_to
from recurrentgpt.prose.model_text import control_character, visible_text
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Commit, Link
from recurrentgpt.schema.parts import KEPT_PLAN

if TYPE_CHECKING:
    from langgraph.store.base import PutOp

    from recurrentgpt.memory.story_log import StoryLog

Ref = str | int
"""A passage: its id, the unique beginning of an id, its step on the head's branch, `opening`, or the name of a branch."""

OPENING = "opening"
LONGEST_NAME = 60
"""Characters of a branch's name."""
MOST_LISTED = 5
"""Passages or names that a message lists."""
NOTHING_WRITTEN = "Nothing of this story is written yet: write its first passage."


def fault_of_name(name: str) -> str:
    """Return why a branch cannot have a name, in a sentence, or nothing."""
    if odd := control_character(name):
        return f"The name of a branch holds {odd!r}, a character that nobody sees: take it out."
    if not name or len(name) > LONGEST_NAME or name != " ".join(name.split()):
        return f"The name of a branch is 1 to {LONGEST_NAME} characters; {name[:LONGEST_NAME]!r} is not."
    if name.isdigit() or name.casefold() == OPENING or re.fullmatch("[0-9a-f]{24}", name.casefold()):
        return f"{name!r} would be taken for a passage: give the branch a name that is none."
    return ""


async def is_version(log: LogReader, story: str, commit: str, first: str) -> bool:
    """Return whether a commit is the `first` version of a passage, or a correction or edit of it."""
    while commit and commit != first:
        commit = (await log.get(story, commit))["amends"]
    return bool(commit)


async def resolve(log: LogReader, story: str, ref: Ref, links: Mapping[str, Link] | None = None) -> str:
    """Return the id of the passage that is meant; raise StoryNotFound for none or several, with what else was possible.

    A name goes before a step; a number of up to eight digits is a step, and never the beginning of an id. Steps are those of
    the head's branch, and of what was taken back on it. `links` saves reading them again.
    """
    wanted = visible_text(str(ref)).strip().casefold()
    head = await log.head(story)
    if head is None:
        raise StoryNotFound(NOTHING_WRITTEN)
    names = {name.casefold(): at for name, at in (await log.names(story)).items()}
    if wanted in names:
        return names[wanted]
    links = await log.links(story) if links is None else links
    if wanted in links:
        return wanted
    path = path_to(head.get("undone") or head["head"], links)
    if head["head"] not in path:
        path = path_to(head["head"], links)
    if wanted == OPENING:
        return path[0]
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 9:
        if int(wanted) < len(path):
            return path[int(wanted)]
        raise StoryNotFound(
            f"The branch has no passage {wanted}: its newest is {len(path) - 1}. One of another branch is named by its id; "
            f"`recurrentgpt tree {story}` shows them."
        )
    found = sorted(key for key in links if wanted and key.startswith(wanted))
    if len(found) == 1:
        return found[0]
    if found:
        which = ", ".join(f"{key} (step {links[key]['step']})" for key in found[:MOST_LISTED])
        more = f" and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
        raise StoryNotFound(f"{len(found)} passages begin with {wanted!r}: {which}{more}. Give more of the id.")
    known = f", the name of a branch ({', '.join(sorted(names)[:MOST_LISTED])})" if names else ""
    raise StoryNotFound(
        f"This story has no passage {str(ref)[:60]!r}: give a step of its branch from 0 to {len(path) - 1}{known} or the "
        f"beginning of an id; `recurrentgpt tree {story}` shows them."
    )


def before(link: Link) -> str:
    """Return where the story stood before a commit was made: what one step back leads to; empty for the opening."""
    return link.get("left", "") or link["amends"] or link["parent"]


def taken_back(tip: str, head: str, links: Mapping[str, Link]) -> list[str] | None:
    """Return the commits from `tip` back to `head`, which is left out; None where the steps back do not lead there."""
    undone: list[str] = []
    while tip and tip != head:
        undone.append(tip)
        tip = before(links[tip])
    return undone if tip else None


def is_along_passages(way: Sequence[str], links: Mapping[str, Link]) -> bool:
    """Return whether a way in the tree goes from passage to passage, forward or back, and over no correction of one."""
    return all(here == links[there]["parent"] or there == links[here]["parent"] for here, there in pairwise(way))


async def move_head(
    log: StoryLog,
    commit: Commit,
    *,
    name: str = "",
    undone: str = "",
    overlay: str | None = None,
    also: Sequence[PutOp] = (),
) -> None:
    """Move the head to a commit; it carries along `name`, or else the only name that stands there.

    `overlay` names the corrections in force there, None the commit's own.
    """
    there = [known for known, at in (await log.names(commit["story"])).items() if at == commit["id"]]
    carried = name or (there[0] if len(there) == 1 else "")
    # A passage kept upon an edited one may have no plans yet; otherwise none are left at the end of a story only.
    ended = not commit["candidate_plans"] and commit["plan_author"] != KEPT_PLAN
    status = "finished" if ended else "choosing"
    await log.move_head(commit, status, branch=carried, undone=undone, overlay=overlay, also=also)
