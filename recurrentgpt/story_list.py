"""The list of stories, from the rows of the log alone: it is looked at more often than anything, and needs no engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recurrentgpt.memory.log_reader import whole_records
from recurrentgpt.memory.row_shapes import fits
from recurrentgpt.schema.log import Head


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


DAMAGED = "damaged"
"""The status of a story whose rows cannot be read."""


def summarize(
    records: Mapping[str, Mapping[str, Any]], heads: Mapping[str, Mapping[str, Any]], *, archived: bool
) -> list[StorySummary]:
    """Return a line for every story, the one written last at the end; those put away only with `archived`.

    One of which a row is damaged comes first, with what can be read of it and the status `damaged`.
    """
    whole, damaged = whole_records(records)
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
        for record in whole
        if fits(Head, head := heads.get(record["story"])) and head and (archived or not record.get("archived"))
    ]
    titles = dict.fromkeys(damaged, "")
    titles |= {
        record["story"]: record["title"]
        for record in whole
        if record["story"] in heads and not fits(Head, heads[record["story"]])
    }
    lost = [StorySummary(story, title or story, "", 0, DAMAGED, "", "") for story, title in titles.items()]
    return sorted([*lost, *summaries], key=lambda summary: summary.updated)


def read_summaries(database: Path, *, archived: bool) -> list[StorySummary]:
    """Return the same lines from SQLite's file alone; raise StorageError where it cannot be read."""
    from recurrentgpt.checkpoints.read_only import open_rows

    query = "SELECT key, value FROM store WHERE prefix = 'recurrentgpt.' || ? ORDER BY rowid"
    with open_rows(database) as rows:
        heads, records = (dict(rows.select(query, table)) for table in ("heads", "stories"))
    return summarize(records, heads, archived=archived)
