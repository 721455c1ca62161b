"""Where a story stands, and where else it could: the head that moves in the tree, and the names of branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from langgraph.store.base import PutOp

from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import (
    LONGEST_NAME,
    NOTHING_WRITTEN,
    Ref,
    before,
    fault_of_name,
    move_head,
    resolve,
    taken_back,
)
from recurrentgpt.engine.session import Session
from recurrentgpt.prose.model_text import visible_line, visible_text
from recurrentgpt.schema.errors import SettingsError, StoryError, StoryNotFound
from recurrentgpt.schema.log import Head, Link


class Branches:
    """The head of one story, moved in its tree, and the names of branches; the text of no passage is touched."""

    def __init__(self, session: Session) -> None:
        self._session, self._log, self._id = session, session.log, session.id

    async def goto(self, ref: Ref) -> Passage:
        """Go to a passage and return it; what is written next follows it.

        Gone to by its name, a branch carries that name along as it grows. After going back, `redo` leads forward again. What was
        corrected for the whole branch (brief, codex, summaries, chapters) holds wherever it is gone to; another branch has its
        own.
        """
        async with self._session.writing():
            head, links = await self._head_and_links()
            names = {name.casefold(): name for name in await self._log.names(self._id)}
            meant = await resolve(self._log, self._id, ref, links)
            tip = head.get("undone") or head["head"]
            back = taken_back(tip, meant, links)
            commit, overlay = await self._session.commit_and_overlay(meant)
            name = names.get(str(ref).strip().casefold(), "")
            await move_head(self._log, commit, name=name, undone=tip if back else "", overlay=overlay)
        return Passage.of(commit)

    async def undo(self, steps: int = 1) -> Passage:
        """Take back what was done last on this branch, and return the passage where the story stands then.

        A step is a new passage, or an edit or new plans for one; an edit with replay is one step, and after an edit further
        back the story returns to where it stood. What was corrected for the whole branch holds until that correction itself is
        taken back. Nothing leaves the log. Raises StoryError where there are fewer steps, and then nothing has changed.
        """
        _check_positive(steps)
        async with self._session.writing():
            head, links = await self._head_and_links()
            at, way = head["head"], list[str]()
            for done in range(steps):
                if not (earlier := before(links[at])):
                    raise StoryError(f"{_only(done)} can be undone here: the story begins there.")
                way.append(at := earlier)
            return await self._walk(head, links, way, undone=head.get("undone") or head["head"])

    async def redo(self, steps: int = 1) -> Passage:
        """Do again what was undone last, and return the passage where the story stands then.

        Whatever is written or edited in between ends it, and so does another branch that was gone to. Raises StoryError
        where there is less to do again.
        """
        _check_positive(steps)
        async with self._session.writing():
            head, links = await self._head_and_links()
            undone = taken_back(head.get("undone", ""), head["head"], links) or []
            if steps > len(undone):
                raise StoryError(
                    f"{_only(len(undone))} can be done again here: whatever is written or edited ends the list."
                )
            way = undone[-steps:][::-1]
            return await self._walk(head, links, way, undone=undone[0] if steps < len(undone) else "")

    async def name(self, name: str, ref: Ref | None = None) -> str:
        """Give a branch a name, at its newest passage or another one, and return the name.

        A name that the head carries moves along with each new passage and edit of the head; `goto` takes it up again. Undo,
        another take and a fork leave it where it was.
        """
        given = " ".join(name.split())
        name = visible_line(given)
        if fault := fault_of_name(given) or fault_of_name(name):
            raise SettingsError(fault)
        async with self._session.writing():
            commit = await self._session.commit_at(ref)
            head, _ = await self._head_and_links()
            carried = head.get("branch", "")
            if head["head"] == commit["id"]:
                carried = name
            elif carried.casefold() == name.casefold():
                carried = ""  # it was taken elsewhere
            await self._carry(head, carried, self._log.name_op(self._id, name, commit["id"]))
        return name

    async def remove_name(self, name: str) -> None:
        """Take a branch's name away; its passages stay."""
        async with self._session.writing():
            key, known = (
                visible_text(name).strip().casefold(),
                {known.casefold(): known for known in await self._log.names(self._id)},
            )
            if key not in known:
                listed = f"the names are {', '.join(known.values())}" if known else "no branch has a name"
                raise StoryError(f"No branch is called {name[:LONGEST_NAME]!r}; {listed}.")
            head, _ = await self._head_and_links()
            carried = head.get("branch", "")
            gone = await self._log.remove_name_ops(self._id, known[key])
            await self._carry(head, "" if carried.casefold() == key else carried, *gone)

    async def _walk(self, head: Head, links: Mapping[str, Link], way: list[str], *, undone: str) -> Passage:
        """Move the head along a way: back over edits, or forward over them, the name that it carries goes along."""
        at, name = head["head"], head.get("branch", "")
        steps = list(pairwise([at, *way]))
        if any(there == links[here]["parent"] or here == links[there]["parent"] for here, there in steps):
            name = ""  # another passage: the name stays at its branch
        elif (await self._log.names(self._id)).get(name) != at:
            name = ""
        moved = [self._log.name_op(self._id, name, way[-1])] if name else []
        commit = await self._log.get(self._id, way[-1])
        overlay = await self._overlay_after(head, links, steps)
        await move_head(self._log, commit, name=name, undone=undone, overlay=overlay, also=moved)
        return Passage.of(commit)

    async def _overlay_after(
        self, head: Head, links: Mapping[str, Link], steps: Sequence[tuple[str, str]]
    ) -> str | None:
        """Return the corrections in force where these steps lead; None for those of the commit there."""
        overlay = head.get("overlay")
        for here, there in steps:
            made = await self._session.if_whole(here)
            own = made.get("overlay", "") if made else None
            if before(links[here]) != there:  # forward
                if links[there]["amends"] or overlay == own:
                    overlay = None
            elif links[here]["amends"]:
                overlay = made.get("left_overlay") if made else None
            elif overlay is None:
                overlay = own  # a new passage is taken back, and not what was said of the branch
        return overlay

    async def _head_and_links(self) -> tuple[Head, Mapping[str, Link]]:
        """Return where the story stands and all its links; raise StoryNotFound before the story is opened."""
        head = await self._log.head(self._id)
        if head is None:
            raise StoryNotFound(NOTHING_WRITTEN)
        return head, await self._log.links(self._id)

    async def _carry(self, head: Head, name: str, *changes: PutOp) -> None:
        """Let the head stay where it is and carry `name`, with a change of the names."""
        commit = await self._log.get(self._id, head["head"])
        await self._log.move_head(commit, head["status"], undone=head.get("undone", ""), branch=name, also=changes)


def _check_positive(steps: int) -> None:
    if steps < 1:
        raise SettingsError(f"The number of steps to take is 1 or more; it is {steps}.")


def _only(count: int) -> str:
    return "Nothing" if not count else f"Only {count} {'step' if count == 1 else 'steps'}"
