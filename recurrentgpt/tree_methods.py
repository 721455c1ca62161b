"""The tree operations of `Story`: to look at its branches, go back, name, and edit anywhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

from recurrentgpt.engine.diff import Diff
from recurrentgpt.engine.edits import Edits
from recurrentgpt.engine.navigation import Places
from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import Ref, resolve
from recurrentgpt.engine.replay import PendingReplay, Replay, ReplayCost
from recurrentgpt.engine.session import Session
from recurrentgpt.engine.tree import Tree
from recurrentgpt.infrastructure.background_loop import acall, aiterate, call, iterate
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import Brief


class TreeMethods:
    """What `Story` can do with its tree; every method comes twice, as in `Story`."""

    _session: Session
    _places: Places
    _edits: Edits
    _replay: Replay

    # Reading

    def tree(self) -> Tree:
        """Return all passages and branches, where each left, and which holds the head."""
        return call(lambda: self._places.tree())

    async def atree(self) -> Tree:
        """Return the tree like `tree`, without blocking the event loop."""
        return await acall(lambda: self._places.tree())

    def resolve(self, ref: Ref) -> str:
        """Return the id of the passage that `ref` means: an id, the beginning of one, a step of this branch, or a branch's name.

        Raises StoryNotFound for none and for several.
        """
        return call(lambda: resolve(self._session.log, self._session.id, ref))

    async def aresolve(self, ref: Ref) -> str:
        """Return the id like `resolve`, without blocking the event loop."""
        return await acall(lambda: resolve(self._session.log, self._session.id, ref))

    def passage(self, ref: Ref | None = None) -> Passage:
        """Return one passage (default: the newest), of whichever branch; the opening is step 0 and has no text."""
        return Passage.of(call(lambda: self._places.commit(ref)))

    async def apassage(self, ref: Ref | None = None) -> Passage:
        """Return the passage like `passage`, without blocking the event loop."""
        return Passage.of(await acall(lambda: self._places.commit(ref)))

    def names(self) -> dict[str, str]:
        """Return which passage each name of a branch stands at."""
        return call(lambda: self._session.log.names(self._session.id))

    async def anames(self) -> dict[str, str]:
        """Return the names like `names`, without blocking the event loop."""
        return await acall(lambda: self._session.log.names(self._session.id))

    def diff(self, a: Ref, b: Ref) -> Diff:
        """Return what differs between two passages in plan, words and memory."""
        return call(lambda: self._places.diff(a, b))

    async def adiff(self, a: Ref, b: Ref) -> Diff:
        """Return the difference like `diff`, without blocking the event loop."""
        return await acall(lambda: self._places.diff(a, b))

    # Moving

    def goto(self, ref: Ref) -> Passage:
        """Go to a passage and return it; what is written next follows it.

        Gone to by its name, a branch carries that name along as it grows. After going back, `redo` leads forward again.
        """
        return Passage.of(call(lambda: self._places.goto(ref)))

    async def agoto(self, ref: Ref) -> Passage:
        """Go there like `goto`, without blocking the event loop."""
        return Passage.of(await acall(lambda: self._places.goto(ref)))

    def undo(self, steps: int = 1) -> Passage:
        """Take back what was done last on this branch, and return the passage where the story stands then.

        A step is a new passage, or an edit or new plans for one; an edit with replay is one step, and after an edit further
        back the story returns to where it stood. Nothing leaves the log. Raises StoryError where there are fewer steps, and
        then nothing has changed.
        """
        return Passage.of(call(lambda: self._places.undo(steps)))

    async def aundo(self, steps: int = 1) -> Passage:
        """Take back like `undo`, without blocking the event loop."""
        return Passage.of(await acall(lambda: self._places.undo(steps)))

    def redo(self, steps: int = 1) -> Passage:
        """Do again what was undone last, and return the passage where the story stands then.

        Whatever is written or edited in between ends it, and so does another branch that was gone to. Raises StoryError
        where there is less to do again.
        """
        return Passage.of(call(lambda: self._places.redo(steps)))

    async def aredo(self, steps: int = 1) -> Passage:
        """Do again like `redo`, without blocking the event loop."""
        return Passage.of(await acall(lambda: self._places.redo(steps)))

    def name_branch(self, name: str, ref: Ref | None = None) -> str:
        """Give a branch a name, at its newest passage or another one, and return the name.

        A name that the head carries moves along with each new passage and edit of the head; `goto` takes it up again. Undo,
        another take and a fork leave it where it was.
        """
        return call(lambda: self._places.name(name, ref))

    async def aname_branch(self, name: str, ref: Ref | None = None) -> str:
        """Name the branch like `name_branch`, without blocking the event loop."""
        return await acall(lambda: self._places.name(name, ref))

    def remove_name(self, name: str) -> None:
        """Take a branch's name away; its passages stay."""
        return call(lambda: self._places.remove_name(name))

    async def aremove_name(self, name: str) -> None:
        """Take it away like `remove_name`, without blocking the event loop."""
        return await acall(lambda: self._places.remove_name(name))

    # Editing

    def edit_passage(self, ref: Ref, text: str, *, replay: bool = False) -> Iterator[Event]:
        """Give a passage another text, with the memory and the summary rewritten from it and new plans; yield what happens.

        The story goes on from there. With `replay` the later passages of this branch are kept word for word, the memory
        rewritten for each; the head moves when the last is in place, and until then `pending_replay` shows what was
        interrupted, and the same call or `resume_replay` goes on. Raises BadAnswer for a text that is none.
        """
        return iterate(lambda: self._replay.edit(ref, text, replay=replay))

    def aedit_passage(self, ref: Ref, text: str, *, replay: bool = False) -> AsyncIterator[Event]:
        """Edit like `edit_passage`, without blocking the event loop."""
        return aiterate(lambda: self._replay.edit(ref, text, replay=replay))

    def replay_cost(self, ref: Ref) -> ReplayCost:
        """Return about what an edit of this passage with replay will cost, from what its passages cost."""
        return call(lambda: self._replay.cost(ref))

    async def areplay_cost(self, ref: Ref) -> ReplayCost:
        """Return the cost like `replay_cost`, without blocking the event loop."""
        return await acall(lambda: self._replay.cost(ref))

    @property
    def pending_replay(self) -> PendingReplay | None:
        """The edit with replay that was interrupted, if there is one."""
        return call(self._replay.pending)

    async def apending_replay(self) -> PendingReplay | None:
        """Return what `pending_replay` holds, without blocking the event loop."""
        return await acall(self._replay.pending)

    def resume_replay(self) -> Iterator[Event]:
        """Go on with the replay that was interrupted, and yield what happens."""
        return iterate(lambda: self._replay.resume())

    def aresume_replay(self) -> AsyncIterator[Event]:
        """Go on like `resume_replay`, without blocking the event loop."""
        return aiterate(lambda: self._replay.resume())

    def drop_replay(self) -> None:
        """Forget the replay that was interrupted; what it wrote stays in the log."""
        return call(lambda: self._replay.drop())

    async def adrop_replay(self) -> None:
        """Forget it like `drop_replay`, without blocking the event loop."""
        return await acall(lambda: self._replay.drop())

    def edit_memory(self, text: str, at: Ref | None = None) -> str:
        """Replace the short-term memory after a passage (default: the newest) and return it, one sentence a line.

        The log keeps the old one, and the plans stay: `replan` proposes others from the new memory. Raises BadAnswer beyond
        the ceilings of 20 sentences and 500 words.
        """
        return call(lambda: self._edits.memory(text, at))

    async def aedit_memory(self, text: str, at: Ref | None = None) -> str:
        """Replace the memory like `edit_memory`, without blocking the event loop."""
        return await acall(lambda: self._edits.memory(text, at))

    def edit_plans(self, plans: Sequence[str], at: Ref | None = None) -> list[str]:
        """Replace the plans to choose from after a passage (default: the newest) and return them; raises BadAnswer."""
        return call(lambda: self._edits.plans(plans, at))

    async def aedit_plans(self, plans: Sequence[str], at: Ref | None = None) -> list[str]:
        """Replace the plans like `edit_plans`, without blocking the event loop."""
        return await acall(lambda: self._edits.plans(plans, at))

    def edit_plan(self, number: int, text: str, at: Ref | None = None) -> list[str]:
        """Replace one of the plans, counted from 1, and return them all; raises BadAnswer."""
        return call(lambda: self._edits.plan(number, text, at))

    async def aedit_plan(self, number: int, text: str, at: Ref | None = None) -> list[str]:
        """Replace the plan like `edit_plan`, without blocking the event loop."""
        return await acall(lambda: self._edits.plan(number, text, at))

    def edit_summary(self, ref: Ref | None, text: str) -> str:
        """Replace what the long-term memory holds of a passage, on this branch from now on, and return it in one line.

        Raises StoryError for a passage of another branch.
        """
        return call(lambda: self._edits.summary(ref, text))

    async def aedit_summary(self, ref: Ref | None, text: str) -> str:
        """Replace the summary like `edit_summary`, without blocking the event loop."""
        return await acall(lambda: self._edits.summary(ref, text))

    def edit_brief(
        self,
        *,
        premise: str | None = None,
        genre: str | None = None,
        characters: Sequence[str] | None = None,
        outline: Sequence[str] | None = None,
    ) -> Brief:
        """Replace parts of what every prompt of this branch holds, from now on, and return the whole brief."""
        return call(lambda: self._edits.brief(premise=premise, genre=genre, characters=characters, outline=outline))

    async def aedit_brief(
        self,
        *,
        premise: str | None = None,
        genre: str | None = None,
        characters: Sequence[str] | None = None,
        outline: Sequence[str] | None = None,
    ) -> Brief:
        """Replace parts of the brief like `edit_brief`, without blocking the event loop."""
        return await acall(
            lambda: self._edits.brief(premise=premise, genre=genre, characters=characters, outline=outline)
        )

    def rename(self, title: str) -> str:
        """Give the story another title, on all its branches, and return it."""
        return call(lambda: self._edits.rename(title))

    async def arename(self, title: str) -> str:
        """Rename like `rename`, without blocking the event loop."""
        return await acall(lambda: self._edits.rename(title))

    def archive(self) -> None:
        """Put the story away from the list of stories; it can be opened as before."""
        return call(lambda: self._edits.archive(True))

    async def aarchive(self) -> None:
        """Put it away like `archive`, without blocking the event loop."""
        return await acall(lambda: self._edits.archive(True))

    def unarchive(self) -> None:
        """Put the story back into the list of stories."""
        return call(lambda: self._edits.archive(False))

    async def aunarchive(self) -> None:
        """Put it back like `unarchive`, without blocking the event loop."""
        return await acall(lambda: self._edits.archive(False))
