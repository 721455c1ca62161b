"""Passages that are kept upon a correction before them: appended anew behind it with all that they say, and by no model.

The head stays where it was until the last one is in the log, so whoever is killed meanwhile stands on the old branch; what was
appended until then is found there the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from recurrentgpt.engine.refs import Ref
from recurrentgpt.engine.session import Session
from recurrentgpt.memory.corrections import Overlay, in_force, overlay_op, read_overlay, with_summary
from recurrentgpt.memory.story_log import Commit, commit_id, now
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.by_hand import amend, as_edited
from recurrentgpt.nodes.prompt_values import memory_lines
from recurrentgpt.schema.errors import StoryError

if TYPE_CHECKING:
    from langgraph.store.base import PutOp

AT_ONCE = 200
"""Passages that are read and appended together."""


class Over(NamedTuple):
    """A line of an entry that a correction takes back, as a contradiction names it."""

    entry: str
    holds: str
    """The line as a sentence."""
    passage: str
    """Id of the passage that made it so; empty for what the author or the brief says."""


async def commit_on_branch(session: Session, ref: Ref | None) -> tuple[Commit, str, list[str]]:
    """Return the commit that a reference names, the corrections in force on the head's branch, and the ids after it there.

    Raises StoryError for a commit of another branch.
    """
    commit, overlay = await session.commit_and_overlay(ref)
    path = await session.log.path(session.id, await session.head())
    if commit["id"] not in path:
        raise StoryError(f"Passage {commit['id']} is not on the branch of the head: go to its branch first.")
    return commit, overlay, path[path.index(commit["id"]) + 1 :]


async def correct_and_keep(
    session: Session,
    commit: Commit,
    changes: Mapping[str, object],
    overlay: str | Overlay,
    later: Sequence[str],
    over: Collection[Over] = (),
    forgotten: Callable[[Commit], Collection[str]] = lambda commit: (),
) -> Commit:
    """Append a corrected version of a commit, and upon it the passages of the ids in `later`; the head goes to the last one.

    `overlay` is that of `Session.append_correction`, and holds for all of them; nothing in the later ones contradicts any more
    what is `over`, and the memory of each is without its sentences that are `forgotten`. What was there before stays as it was;
    `undo` returns to it. The caller holds the lock.
    """
    changes = {**without_sentences(commit, forgotten(commit)), **changes}
    if of_branch := [line for line in over if not line.passage]:
        changes = {**changes, **_not_against(cast(Commit, {**commit, **changes}), of_branch)}
    if not later:
        return await session.append_correction(commit, changes, overlay)
    log, story = session.log, session.id
    waiting, stands = await session.waiting_choice(later[-1], begun=True), await log.head(story)
    status = stands["status"] if stands else "choosing"
    # Corrected summaries are named by ids: they go into the commits themselves.
    head = await session.head_commit()
    summaries = (await read_overlay(log, story, await in_force(log, head)))["summaries"]
    also: list[PutOp] = []
    if not isinstance(overlay, str):
        overlay, put = overlay_op(log, story, overlay)
        also = [put]
    begun = with_summary(commit, summaries)
    changed = {"overlay": overlay, **changes}
    corrected = await amend(session.runtime(), begun, changed, passage=commit["passage"], also=also, move=False)
    moved, last = {commit["id"]: corrected["id"]}, corrected
    for first in range(0, len(later), AT_ONCE):
        made: list[Commit] = []
        copied: dict[tuple[str, str], str] = {}
        for old in await log.get_many(story, later[first : first + AT_ONCE]):
            told = cast(
                Commit,
                {**with_summary(old, summaries), **_not_against(old, over), **without_sentences(old, forgotten(old))},
            )
            kept = moved_upon(told, moved, overlay, [old["id"], overlay])
            made.append(kept)
            moved[old["id"]] = kept["id"]
            if kept["summary"] == old["summary"]:
                copied[old["id"], kept["id"]] = kept["parent"]
        vectors = await log.copy_vectors_ops(story, copied)
        last = made[-1]
        if last["amends"] == later[-1]:
            await log.append_all(story, made[:-1], also=vectors)
            await log.append(last, status)
        else:
            await log.append_all(story, made, also=vectors)
    await session.let_wait(last, waiting)
    return corrected


def without_sentences(commit: Commit, forgotten: Collection[str]) -> dict[str, object]:
    """Return the memory of a commit as it changes, without the sentences that are `forgotten`; nothing where it has none."""
    held = memory_lines(commit["short_term_memory"])
    left = [line for line in held if line not in forgotten]
    if len(left) == len(held):
        return {}
    memory = "\n".join(left)
    rationale = as_edited(commit["rationale"], commit["short_term_memory"], memory)
    return {"short_term_memory": memory, "rationale": rationale}


def _not_against(commit: Commit, over: Collection[Over]) -> dict[str, object]:
    """Return the contradictions of a commit as they change, without those that rest on what is over; nothing where none does."""
    found = commit.get("contradictions", [])
    left = [one for one in found if Over(one["entry"], one["holds"], one["passage"]) not in over]
    return {"contradictions": left} if len(left) < len(found) else {}


def moved_upon(old: Commit, moved: Mapping[str, str], overlay: str, about: Sequence[str]) -> Commit:
    """Return a commit as it is appended anew where those before it were; `moved` are their ids by what they were.

    `about` is what else names it: what it says may be no other than before.
    """
    parent = moved.get(old["parent"], old["parent"])
    made = cast(Commit, {**old, "parent": parent, "amends": old["id"], "overlay": overlay})
    made["recalled"] = [{**one, "id": moved.get(one["id"], one["id"])} for one in old["recalled"]]
    if "contradictions" in old:
        made["contradictions"] = [
            {**one, "passage": moved.get(one["passage"], one["passage"])} for one in old["contradictions"]
        ]
    made.pop("left", None)
    made.pop("left_overlay", None)
    made["usage"], made["created"] = total_usage([]), now()
    made["id"] = commit_id(old["story"], parent, old["plan"], old["passage"], amendment=[*about])
    return made
