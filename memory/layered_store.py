"""A store over another one: it reads through, and keeps what is written to itself until somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Op, PutOp, Result, SearchItem, SearchOp

Key = tuple[tuple[str, ...], str]


class LayeredStore(BaseStore):
    """Rows of `below`, and over them those that were written here; `below` is never written to.

    Searches are those that the story log makes: by namespace alone.
    """

    def __init__(self, below: BaseStore) -> None:
        self._below = below
        self._rows: dict[Key, Mapping[str, Any] | None] = {}

    def written(self) -> list[PutOp]:
        """Return what was written here, as operations on the store below."""
        rows = self._rows.items()
        return [PutOp(*place, None if value is None else dict(value), index=False) for place, value in rows]

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations from another thread than the event loop's."""
        operations = list(ops)
        return self._merged(operations, self._below.batch(self._reads(operations)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations together."""
        operations = list(ops)
        reads = self._reads(operations)
        return self._merged(operations, await self._below.abatch(reads) if reads else [])

    def _reads(self, operations: Sequence[Op]) -> list[Op]:
        """Return what is to be asked below: of a search all up to its page's end, and one row for each that is replaced here."""
        reads: list[Op] = [operation for operation in operations if not isinstance(operation, PutOp)]
        here = len(self._rows) + len(operations) - len(reads)
        return [
            read._replace(limit=read.offset + read.limit + here, offset=0) if isinstance(read, SearchOp) else read
            for read in reads
        ]

    def _merged(self, operations: Sequence[Op], found: list[Result]) -> list[Result]:
        answers, merged = iter(found), list[Result]()
        for operation in operations:
            if isinstance(operation, PutOp):
                self._rows[operation.namespace, operation.key] = operation.value
                merged.append(None)
                continue
            answer = next(answers)
            if isinstance(operation, GetOp) and (operation.namespace, operation.key) in self._rows:
                answer = self._row(operation.namespace, operation.key)
            elif isinstance(operation, SearchOp):
                answer = self._over(operation, answer)
            merged.append(answer)
        return merged

    def _over(self, search: SearchOp, found: Any) -> list[SearchItem]:
        """Return a page of the rows as they stand here: those that were written here before all others."""
        within = len(search.namespace_prefix)
        written = [self._row(*place) for place in self._rows if place[0][:within] == search.namespace_prefix]
        rows = [row for row in written if row is not None]
        rows += [item for item in found if (item.namespace, item.key) not in self._rows]
        return rows[search.offset : search.offset + search.limit]

    def _row(self, namespace: tuple[str, ...], key: str) -> SearchItem | None:
        value, now = self._rows[namespace, key], datetime.now(UTC)
        return None if value is None else SearchItem(namespace, key, dict(value), now, now)
