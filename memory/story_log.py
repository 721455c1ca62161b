"""The story log: git for a novel, in any LangGraph `BaseStore`.

One entry per passage, a commit, named by the hash of its parent, its plan and its text: running a node twice writes
the same row, another take is a sibling, nothing is ever overwritten, and what is deleted is a whole story. A branch is a
path of parents, so a story needs no more than the id of its newest commit, its head. Every commit holds the whole LSTM
state after its passage, so that a story can be reopened at any of them from the log alone.

Rows are kept in these namespaces below one root:

* `stories`: what a story is (brief, settings), written when it opens and when its title or settings change
* `heads`: where it stands
* `commits/<story>`: the commits
* `links/<story>`: parent, step and words of each commit, small, so that a tree of thousands is read at once
* `names/<story>`: the names of branches. A name is a second pointer that moves, with the head that carries it
* `overlays/<story>`: what was corrected for a branch as a whole; see `recurrentgpt.memory.corrections`

Others add to a story below its id in the same way: `vectors/<story>/...`, `calls/<story>`; `replays` and `ahead` have a row a
story.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from recurrentgpt.memory.log_reader import LogReader, path_to
from recurrentgpt.memory.log_rows import commit_id, link_of, now
from recurrentgpt.memory.namespace import own_root
from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.schema.log import Commit, Head, Link, RecalledId, StoryRecord

__all__ = ["Commit", "Head", "Link", "RecalledId", "StoryLog", "StoryRecord", "commit_id", "now", "path_to"]

PAGE = 10_000
"""Rows that are read at once: a store sorts them all for each page."""


class StoryLog(LogReader):
    """Read and append the log of stories in `store`.

    `threaded` runs the store's synchronous methods in a worker thread: a graph under `invoke` may carry a store that
    is synchronous only, or one whose event loop is another. `root` is that of `recurrentgpt.memory.namespace` if not given.
    """

    store: BaseStore

    def __init__(self, store: BaseStore, root: Sequence[str] | None = None, *, threaded: bool = False) -> None:
        self.store, self._threaded = store, threaded
        self.root = own_root() if root is None else tuple(root)

    async def batch(self, operations: Iterable[Op]) -> list[Result]:
        """Run store operations together; with SQLite and Postgres they succeed or fail as one."""
        operations = list(operations)
        if self._threaded:
            return await asyncio.to_thread(self.store.batch, operations)
        return await self.store.abatch(operations)

    async def append(self, commit: Commit, status: str, *, also: Sequence[PutOp] = (), move: bool = True) -> None:
        """Write a commit, its link and, with `move`, the story's head as one batch, with the rows in `also`.

        Idempotent: what is in the log stays as it is, and only the head moves. A name that the head carries comes along
        where the commit follows the head or corrects it.
        """
        story, key = commit["story"], commit["id"]
        known, place = await self.batch([GetOp((*self.root, "links", story), key), GetOp((*self.root, "heads"), story)])
        head = cast("Head | None", None if place is None else cast(SearchItem, place).value)
        operations = list(also)
        if known is None:
            commit = _with_left(commit, head)
            operations += self._commit_ops(commit)
        if move:
            name = visible_text(head.get("branch", "")) if head else ""
            follows = head is not None and head["head"] in (commit["parent"], commit["amends"], key)
            operations.append(self._head(story, commit, status, branch=name if follows else ""))
            if name and follows:
                operations.append(self.name_op(story, name, key))
        await self.batch(operations)
        if known is None:
            self._read.put((*self.root, story, key), commit)

    async def append_all(self, story: str, commits: Sequence[Commit], *, also: Sequence[PutOp] = ()) -> None:
        """Write commits of a story and their links as one batch, with the rows in `also`; the head stays where it is.

        What is in the log stays as it is.
        """
        *known, place = await self.batch(
            [
                *(GetOp((*self.root, "links", story), commit["id"]) for commit in commits),
                GetOp((*self.root, "heads"), story),
            ]
        )
        head = cast("Head | None", None if place is None else cast(SearchItem, place).value)
        new = [_with_left(commit, head) for commit, link in zip(commits, known, strict=True) if link is None]
        await self.batch([*also, *(operation for commit in new for operation in self._commit_ops(commit))])

    def _commit_ops(self, commit: Commit) -> list[PutOp]:
        story, key = commit["story"], commit["id"]
        return [
            self.put((*self.root, "commits", story), key, commit),
            self.put((*self.root, "links", story), key, link_of(commit)),
        ]

    async def move_head(
        self,
        commit: Commit,
        status: str,
        *,
        undone: str = "",
        branch: str | None = None,
        overlay: str | None = None,
        also: Sequence[PutOp] = (),
    ) -> None:
        """Point the story at `commit`, which is in the log.

        `branch` is the name that the head carries from there, and `overlay` the corrections in force: None for as before.
        """
        story = commit["story"]
        stood = await self.head(story)
        if stood and stood["head"] == commit["id"]:
            branch = stood.get("branch", "") if branch is None else branch
            overlay = stood.get("overlay") if overlay is None else overlay
        moved = self._head(story, commit, status, undone=undone, branch=branch or "", overlay=overlay)
        await self.batch([moved, *also])

    def name_op(self, story: str, name: str, commit: str | None) -> PutOp:
        """Return the operation that puts a name at a commit; None takes the name away."""
        # Names are told apart without regard to case.
        value = None if commit is None else {"name": name, "at": commit}
        return self.put((*self.root, "names", story), name.casefold(), value)

    async def remove_name_ops(self, story: str, name: str) -> list[PutOp]:
        """Return the operations that take a name away, and with it those of earlier versions that look the same."""
        place = (*self.root, "names", story)
        alike = [row.key for row in await self.scan(place) if visible_text(row.key) == name.casefold()]
        return [self.put(place, key, None) for key in alike]

    async def put_record(self, record: StoryRecord) -> None:
        """Write what a story is."""
        await self.batch([self.put_record_op(record)])
        self._remember_record(record)

    def put_record_op(self, record: StoryRecord) -> PutOp:
        """Return the operation that writes what a story is, to join a batch."""
        return self.put((*self.root, "stories"), record["story"], record)

    async def erase(self, story: str) -> None:
        """Delete every row of a story, whoever wrote it; with SQLite and Postgres all of them or none."""
        rows = [row for namespace in await self._namespaces(story) for row in await self.scan(namespace)]
        listed = [((*self.root, table), story) for table in ("stories", "heads", "replays", "ahead")]
        await self.batch(self.put(*row, None) for row in [*((row.namespace, row.key) for row in rows), *listed])
        self.forget(story)

    async def _namespaces(self, story: str) -> list[tuple[str, ...]]:
        """Return the namespaces that hold rows of this story alone."""
        below = MatchCondition("prefix", (*self.root, "*", story))
        found: list[tuple[str, ...]] = []
        while True:
            (page,) = await self.batch([ListNamespacesOp((below,), limit=PAGE, offset=len(found))])
            found += cast("list[tuple[str, ...]]", page)
            if len(found) % PAGE or not page:
                break
        kind = len(self.root)
        # A store may compare prefixes letter by letter, and below `users` are others' stories.
        return [names for names in found if names[kind + 1] == story and names[kind] != "users"]

    async def copy_vectors_ops(self, story: str, parents: Mapping[tuple[str, str], str]) -> list[PutOp]:
        """Return the operations that keep the vectors of commits for copies of them: `parents` by the ids of both.

        Vectors are a cache, and where there are none none are made: no embedding model is needed for that.
        """
        found: list[PutOp] = []
        for namespace in await self._namespaces(story):
            if namespace[len(self.root)] == "vectors":
                rows = await self.values(namespace, [old for old, _ in parents])
                found += [
                    self.put(namespace, new, {**row, "parent": parent})
                    for ((_, new), parent), row in zip(parents.items(), rows, strict=True)
                    if row is not None
                ]
        return found

    async def values(self, namespace: tuple[str, ...], keys: Sequence[str]) -> list[Mapping[str, Any] | None]:
        """Return the values of rows in the order asked for, None for one that is not there."""
        if not keys:
            return []
        found = await self.batch([GetOp(namespace, key) for key in keys])
        return [None if item is None else cast(SearchItem, item).value for item in found]

    async def scan(self, namespace: tuple[str, ...]) -> list[SearchItem]:
        """Return every row of exactly this namespace."""
        rows: dict[str, SearchItem] = {}
        offset = 0
        while True:
            (page,) = await self.batch([SearchOp(namespace, limit=PAGE, offset=offset)])
            items = cast("list[SearchItem]", page)
            rows.update((item.key, item) for item in items if item.namespace == namespace)
            if len(items) < PAGE:
                return list(rows.values())
            offset += PAGE

    async def keep(self, namespace: tuple[str, ...], rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Store rows, by key, that can be worked out of others again."""
        await self.batch([self.put(namespace, key, row) for key, row in rows.items()])

    def _head(
        self,
        story: str,
        commit: Commit,
        status: str,
        *,
        undone: str = "",
        branch: str = "",
        overlay: str | None = None,
    ) -> PutOp:
        head = Head(
            story=story,
            head=commit["id"],
            step=commit["step"],
            status=status,
            updated=now(),
            undone=undone,
            branch=branch,
        )
        if overlay is not None and overlay != commit.get("overlay", ""):
            head["overlay"] = overlay
        return self.put((*self.root, "heads"), story, head)

    @staticmethod
    def put(namespace: tuple[str, ...], key: str, value: Any) -> PutOp:
        """Return the operation that writes a row; None as its value takes it away."""
        # index=False: hosts may give a store with an embedding index, and recall is ours (branches, pieces).
        return PutOp(namespace, key, None if value is None else dict(value), index=False)


def _with_left(commit: Commit, head: Head | None) -> Commit:
    """Return a correction that knows where the head stood, if not at what it corrects, and which corrections it had brought."""
    if not commit["amends"] or not head:
        return commit
    if head["head"] != commit["amends"]:
        commit = {**commit, "left": head["head"]}
    return {**commit, "left_overlay": head["overlay"]} if "overlay" in head else commit
