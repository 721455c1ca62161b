"""Where a story stands, and where else it could: the tree, the head that moves in it, and the names of branches."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recurrentgpt.engine.diff import Diff
from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import OPENING, Ref, before, resolve, stand_at, taken_back
from recurrentgpt.engine.session import Session
from recurrentgpt.engine.tree import Tree
from recurrentgpt.infrastructure.lock import writing
from recurrentgpt.memory.chronicle import Chronicle, Commit, Head, Link
from recurrentgpt.nodes.human.answers import control_character
from recurrentgpt.schema.errors import SettingsError, StoryError, StoryNotFound

LONGEST_NAME = 60


class Places:
    """Read the tree of one story and move its head; the text of no passage is touched."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def _log(self) -> Chronicle:
        return self._session.log

    @property
    def _id(self) -> str:
        return self._session.id

    async def tree(self) -> Tree:
        """Return the tree, from links alone."""
        record, head = await self._log.record(self._id), await self._session.head_id()
        links, names = await self._log.links(self._id), await self._log.names(self._id)
        return Tree(self._id, record["title"], head, links.values(), names)

    async def commit(self, ref: Ref | None) -> Commit:
        """Return the commit that a reference names; the head for None."""
        if ref is None:
            return await self._session.head_commit()
        return await self._log.get(self._id, await resolve(self._log, self._id, ref))

    async def diff(self, a: Ref, b: Ref) -> Diff:
        """Return what differs between two passages."""
        return Diff.of(Passage.of(await self.commit(a)), Passage.of(await self.commit(b)))

    async def goto(self, ref: Ref) -> Commit:
        """Move the head to a passage; a name is carried along from there. To go back is to undo, as far as `redo` sees it."""
        async with writing(self._session.library.locks, self._id):
            head, links = await self._place()
            names = {name.casefold(): name for name in await self._log.names(self._id)}
            meant = await resolve(self._log, self._id, ref, links)
            tip = head.get("undone") or head["head"]
            ahead = taken_back(tip, meant, links)
            commit = await self._log.get(self._id, meant)
            name = names.get(str(ref).strip().casefold(), "")
            await stand_at(self._log, commit, name=name, undone=tip if ahead else "")
        return commit

    async def undo(self, count: int) -> Commit:
        """Take back the newest moments of the branch: passages, edits and new plans alike."""
        _positive(count)
        async with writing(self._session.library.locks, self._id):
            head, links = await self._place()
            at, way = head["head"], list[str]()
            for done in range(count):
                if not (earlier := before(links[at])):
                    raise StoryError(f"{_only(done)} can be undone here: the story begins there.")
                way.append(at := earlier)
            await self._walk(head, links, way, undone=head.get("undone") or head["head"])
        return await self._log.get(self._id, at)

    async def redo(self, count: int) -> Commit:
        """Go along what was undone last."""
        _positive(count)
        async with writing(self._session.library.locks, self._id):
            head, links = await self._place()
            ahead = taken_back(head.get("undone", ""), head["head"], links) or []
            if count > len(ahead):
                raise StoryError(
                    f"{_only(len(ahead))} can be done again here: whatever is written or edited ends the list."
                )
            way = ahead[-count:][::-1]
            await self._walk(head, links, way, undone=ahead[0] if count < len(ahead) else "")
        return await self._log.get(self._id, way[-1])

    async def _walk(self, head: Head, links: Mapping[str, Link], way: list[str], *, undone: str) -> None:
        """Move the head along a way: back over edits, or forward over them, the name that it carries goes along."""
        at, name = head["head"], head.get("branch", "")
        steps = zip([at, *way], way, strict=False)
        if any(there == links[here]["parent"] or here == links[there]["parent"] for here, there in steps):
            name = ""  # another passage: the name stays at its branch
        elif (await self._log.names(self._id)).get(name) != at:
            name = ""
        brought = [self._log.name_op(self._id, name, way[-1])] if name else []
        commit = await self._log.get(self._id, way[-1])
        await stand_at(self._log, commit, name=name, undone=undone, also=brought)

    async def _place(self) -> tuple[Head, Mapping[str, Link]]:
        """Return where the story stands and all its links; raise StoryNotFound before the story is opened."""
        head = await self._log.head(self._id)
        if head is None:
            raise StoryNotFound("Nothing of this story is written yet: call step() first.")
        return head, await self._log.links(self._id)

    async def name(self, name: str, ref: Ref | None) -> str:
        """Put a name at a passage; where the head is, it carries the name from now on."""
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME or control_character(name):
            raise SettingsError(
                f"The name of a branch is 1 to {LONGEST_NAME} characters; {name[:LONGEST_NAME]!r} is not."
            )
        if name.isdigit() or name.casefold() == OPENING or re.fullmatch("[0-9a-f]{24}", name.casefold()):
            raise SettingsError(f"{name!r} would be taken for a passage: give the branch a name that is none.")
        async with writing(self._session.library.locks, self._id):
            commit = await self.commit(ref)
            put = self._log.name_op(self._id, name, commit["id"])
            head = await self._log.head(self._id)
            assert head is not None
            here = head["head"] == commit["id"]
            carried = name if here else head.get("branch", "")
            if not here and carried.casefold() == name.casefold():
                carried = ""  # it was taken elsewhere
            current = await self._session.head_commit()
            await self._log.move_head(
                current, head["status"], undone=head.get("undone", ""), branch=carried, also=[put]
            )
        return name

    async def remove_name(self, name: str) -> None:
        """Take a name away; the passages stay."""
        async with writing(self._session.library.locks, self._id):
            known = {known.casefold(): known for known in await self._log.names(self._id)}
            if name.strip().casefold() not in known:
                listed = f"the names are {', '.join(known.values())}" if known else "no branch has a name"
                raise StoryError(f"No branch is called {name[:LONGEST_NAME]!r}; {listed}.")
            head, current = await self._log.head(self._id), await self._session.head_commit()
            assert head is not None
            carried = head.get("branch", "")
            carried = "" if carried.casefold() == name.strip().casefold() else carried
            gone = self._log.name_op(self._id, known[name.strip().casefold()], None)
            await self._log.move_head(
                current, head["status"], undone=head.get("undone", ""), branch=carried, also=[gone]
            )


def _positive(count: int) -> None:
    if count < 1:
        raise SettingsError(f"The number of steps to take is 1 or more; it is {count}.")


def _only(count: int) -> str:
    return "Nothing" if not count else f"Only {count} {'step' if count == 1 else 'steps'}"
