"""The list of stories, from the rows of the log alone: it is looked at more often than anything, and needs no engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from recurrentgpt.schema.log import Head, StoryRecord


@dataclass(frozen=True)
class StorySummary:
    """One line of the list of stories."""

    story: str
    title: str
    genre: str
    step: int
    status: str
    head: str
    updated: str
    archived: bool = False


def summarize(records: Iterable[StoryRecord], heads: Mapping[str, Head], *, archived: bool) -> list[StorySummary]:
    """Return a line for every story, the one written last at the end; those put away only with `archived`."""
    summaries = [
        StorySummary(
            story=record["story"],
            title=record["title"],
            genre=record["genre"],
            step=head["step"],
            status=head["status"],
            head=head["head"],
            updated=head["updated"],
            archived=record.get("archived", False),
        )
        for record in records
        if (head := heads.get(record["story"])) and (archived or not record.get("archived"))
    ]
    return sorted(summaries, key=lambda summary: summary.updated)


def read_summaries(database: Path, *, archived: bool) -> list[StorySummary]:
    """Return the same lines from SQLite's file alone; raise StorageError where it cannot be read."""
    from recurrentgpt.checkpoints.read_only import open_rows

    query = "SELECT key, value FROM store WHERE prefix = 'recurrentgpt.' || ? ORDER BY rowid"
    with open_rows(database) as rows:
        heads = cast("dict[str, Head]", dict(rows.select(query, "heads")))
        records = cast("dict[str, StoryRecord]", dict(rows.select(query, "stories")))
    return summarize(sorted(records.values(), key=lambda record: str(record["created"])), heads, archived=archived)
