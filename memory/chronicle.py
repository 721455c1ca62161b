"""The story log: git for a novel, in any LangGraph `BaseStore`.

One entry per passage, a commit, named by the hash of its parent, its plan and its text: running a node twice writes
the same row, another take is a sibling, and nothing is ever overwritten or deleted. A branch is a path of parents, so a
story needs no more than the id of its newest commit, its head. Every commit holds the whole LSTM state after its
passage, so that a story can be reopened at any of them from the log alone.

Rows are kept in four namespaces below one root:

* `stories`: what a story is (brief, settings), written once when it opens and when its settings change
* `heads`: where it stands; the only pointer that moves
* `commits/<story>`: the commits
* `links/<story>`: parent, step and words of each commit, small, so that a tree of thousands is read at once
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, cast

from langgraph.store.base import BaseStore, GetOp, Op, PutOp, Result, SearchItem, SearchOp
from typing_extensions import TypedDict

from recurrentgpt.errors import StoryError, StoryNotFound
from recurrentgpt.graph.state import Brief, Rationale, Usage
from recurrentgpt.prose.sentences import count_words

Author = Literal["model", "human", "edited"]
PAGE = 500


class RecalledId(TypedDict):
    """Which passage was recalled, without its text."""

    id: str
    step: int
    score: float


class Commit(TypedDict):
    """One passage and the whole LSTM state after it."""

    id: str
    story: str
    parent: str
    """Id of the commit before it; empty for the opening."""
    amends: str
    """Id of the commit of which this is a corrected version (same passage, other memory or plans); mostly empty."""
    step: int
    plan: str
    plan_author: str
    passage: str
    author: str
    summary: str
    short_term_memory: str
    rationale: Rationale
    candidate_plans: list[str]
    recalled: list[RecalledId]
    usage: Usage
    created: str


class Link(TypedDict):
    """What a tree needs to know of a commit."""

    id: str
    parent: str
    amends: str
    step: int
    words: int
    author: str


class StoryRecord(TypedDict):
    """What a story is, apart from its passages."""

    story: str
    title: str
    genre: str
    premise: str
    brief: Brief
    settings: dict[str, Any]
    created: str


class Head(TypedDict):
    """Where a story stands."""

    story: str
    head: str
    step: int
    status: str
    updated: str


def now() -> str:
    """Return the time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def commit_id(story: str, parent: str, plan: str, passage: str, amendment: object = None) -> str:
    """Return the content address of a commit: 24 hexadecimal digits of SHA-256.

    The story's id stands in for the parent of an opening, so that equal openings of two stories differ.
    """
    content: list[object] = [parent or story, plan, passage]
    if amendment is not None:
        content.append(amendment)
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:24]


class Chronicle:
    """Read and append the log of stories in `store`.

    `threaded` runs the store's synchronous methods in a worker thread: a graph under `invoke` may carry a store that
    is synchronous only, or one whose event loop is another.
    """

    def __init__(self, store: BaseStore, root: Sequence[str] = ("recurrentgpt",), *, threaded: bool = False) -> None:
        self.store, self.root, self._threaded = store, tuple(root), threaded

    async def batch(self, operations: Iterable[Op]) -> list[Result]:
        """Run store operations together; with SQLite and Postgres they succeed or fail as one."""
        operations = list(operations)
        if self._threaded:
            return await asyncio.to_thread(self.store.batch, operations)
        return await self.store.abatch(operations)

    async def get(self, story: str, commit: str) -> Commit:
        """Return one commit; raise StoryNotFound where the story has none of that id."""
        value = await self._value((*self.root, "commits", story), commit)
        if value is None:
            raise StoryNotFound(f"Story {story} has no passage {commit!r}; `recurrentgpt show {story}` lists them.")
        return cast(Commit, value)

    async def get_many(self, story: str, commits: Sequence[str]) -> list[Commit]:
        """Return several commits in the order asked for."""
        found = await self.batch([GetOp((*self.root, "commits", story), commit) for commit in commits])
        missing = [commit for commit, item in zip(commits, found, strict=True) if item is None]
        if missing:
            raise StoryError(f"The log of story {story} lacks commit {missing[0]}; restore the database from a backup.")
        return [cast(Commit, item.value) for item in found]  # type: ignore[union-attr]

    async def latest(self, story: str, head: str, count: int) -> list[Commit]:
        """Return the last `count` commits up to `head`, newest first."""
        found: list[Commit] = []
        while head and len(found) < count:
            found.append(await self.get(story, head))
            head = found[-1]["parent"]
        return found

    async def append(self, commit: Commit, status: str, *, also: Sequence[PutOp] = ()) -> None:
        """Write a commit, its link and the story's head as one batch, with the rows in `also`; idempotent."""
        story, key = commit["story"], commit["id"]
        link = Link(
            id=key,
            parent=commit["parent"],
            amends=commit["amends"],
            step=commit["step"],
            words=count_words(commit["passage"]),
            author=commit["author"],
        )
        await self.batch(
            [
                self._put((*self.root, "commits", story), key, commit),
                self._put((*self.root, "links", story), key, link),
                self._head(story, commit, status),
                *also,
            ]
        )

    async def move_head(self, commit: Commit, status: str) -> None:
        """Point the story at `commit`, which is in the log."""
        await self.batch([self._head(commit["story"], commit, status)])

    async def head(self, story: str) -> Head | None:
        """Return where the story stands, or None when nothing was committed."""
        return cast("Head | None", await self._value((*self.root, "heads"), story))

    async def links(self, story: str) -> dict[str, Link]:
        """Return the links of all commits of a story by id."""
        rows = await self.scan((*self.root, "links", story))
        return {row.key: cast(Link, row.value) for row in rows}

    async def path(self, story: str, head: str) -> list[str]:
        """Return the ids from the opening to `head`, oldest first."""
        links = await self.links(story)
        path: list[str] = []
        while head:
            if head not in links:
                raise StoryNotFound(f"Story {story} has no passage {head!r}.")
            path.append(head)
            head = links[head]["parent"]
        return path[::-1]

    async def put_record(self, record: StoryRecord) -> None:
        """Write what a story is."""
        await self.batch([self.put_record_op(record)])

    def put_record_op(self, record: StoryRecord) -> PutOp:
        """Return the operation that writes what a story is, to join a batch."""
        return self._put((*self.root, "stories"), record["story"], record)

    async def record(self, story: str) -> StoryRecord:
        """Return what a story is; raise StoryNotFound where there is none of exactly that id."""
        value = await self._value((*self.root, "stories"), story)
        if value is None:
            raise StoryNotFound(f"There is no story {story!r}; `recurrentgpt stories` lists them.")
        return cast(StoryRecord, value)

    async def records(self) -> list[StoryRecord]:
        """Return all stories, oldest first."""
        rows = await self.scan((*self.root, "stories"))
        return sorted((cast(StoryRecord, row.value) for row in rows), key=lambda record: record["created"])

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

    async def _value(self, namespace: tuple[str, ...], key: str) -> dict[str, Any] | None:
        (item,) = await self.batch([GetOp(namespace, key)])
        return None if item is None else cast(SearchItem, item).value

    def _head(self, story: str, commit: Commit, status: str) -> PutOp:
        head = Head(story=story, head=commit["id"], step=commit["step"], status=status, updated=now())
        return self._put((*self.root, "heads"), story, head)

    @staticmethod
    def _put(namespace: tuple[str, ...], key: str, value: Any) -> PutOp:
        # index=False: hosts may give a store with an embedding index, and recall is ours (branches, pieces).
        return PutOp(namespace, key, dict(value), index=False)
