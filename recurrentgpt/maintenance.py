"""Look after the stories of a place: what of them is whole, copies of them, and what can be saved of a damaged one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.checkpoints.backups import FOLDER, copies, copy_database, make_room, new_copy, replace_database
from recurrentgpt.checkpoints.read_only import Row, read_rows
from recurrentgpt.checkpoints.sqlite_faults import STORIES
from recurrentgpt.engine.check import Examined, examine
from recurrentgpt.engine.story_export import TABLES, put_story
from recurrentgpt.infrastructure import settings
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.schema.errors import SettingsError, StorageError


@dataclass(frozen=True)
class Report:
    """What a look at all rows of a place found."""

    place: str
    fault: str
    """What the database itself says is wrong with its file; empty for nothing."""
    stories: list[Examined]

    @property
    def is_whole(self) -> bool:
        """Whether nothing is damaged."""
        return not self.fault and not any(story.damage for story in self.stories)


def check() -> Report:
    """Verify every passage of the user's stories by its hashes; raise StorageError where the place cannot be read at all."""
    if settings.resolve("database_url").value:
        return call(_check_server)
    if not (database := _database()).exists():
        return Report(str(database), "", [])
    rows, fault = read_rows(database)
    return Report(str(database), fault, examine(rows))


async def _check_server() -> Report:
    from recurrentgpt.memory.story_log import StoryLog

    async with open_persistence() as persistence:
        log = StoryLog(persistence.store)
        rows: list[Row] = []
        for record in await log.records():
            story = record["story"]
            places = {(*log.root, name, story): await log.scan((*log.root, name, story)) for name in TABLES}
            places[*log.root, "heads"] = [row for row in await log.scan((*log.root, "heads")) if row.key == story]
            rows.append(Row((*log.root, "stories"), story, json.dumps(record)))
            rows += [Row(place, row.key, json.dumps(row.value)) for place, found in places.items() for row in found]
        return Report(persistence.description, "", examine(rows))


def repair(report: Report) -> Path:
    """Write all that is whole of a report's stories to a new file, which `restore` can put in place, and return it.

    The place itself stays as it is. Raises StorageError where nothing is whole.
    """
    archives = [(story.root, story.archive) for story in report.stories if story.archive is not None]
    if not archives:
        raise StorageError(f"No passage of any story in {report.place} is whole: restore a copy, if there is one.")
    target = new_copy(_database(), "repaired-")

    from recurrentgpt.memory.story_log import StoryLog

    async def write(folder: Path) -> None:
        async with open_persistence(folder=folder) as persistence:
            for root, archive in archives:
                await put_story(StoryLog(persistence.store, root), archive)

    with TemporaryDirectory(prefix="recurrentgpt-") as folder:
        call(lambda: write(Path(folder)))
        copy_database(Path(folder) / STORIES, target)
    return target


def backup(target: Path | None = None) -> Path:
    """Copy the user's stories, while others may write them, to a file (default: one among the copies), and return it."""
    database = _local()
    if not database.exists():
        raise StorageError(f"There are no stories in {database.parent} to copy.")
    target = target or new_copy(database)
    if target.exists():
        raise StorageError(f"{target} exists; choose another file.")
    if target.parent != database.parent / FOLDER and not target.parent.is_dir():
        raise StorageError(f"There is no folder {target.parent}; make it first, or choose another.")
    copy_database(database, target)
    return target


def backups() -> list[Path]:
    """Return the copies of the user's stories, the newest last."""
    return copies(_local())


def restore(source: Path) -> Path | None:
    """Put a copy in the place of the user's stories, and return where those that were there are kept, if there were any.

    Raises StorageError for a copy that is damaged, and where a program opens the stories; StoryBusy where one writes a story.
    """
    from filelock import FileLock, Timeout

    from recurrentgpt.infrastructure.lock import refuse_writers

    database = _local()
    database.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(database.with_suffix(".lock"), timeout=0):
            refuse_writers(database.parent / "locks")
            return replace_database(database, source)
    except Timeout as error:
        raise StorageError(f"{database} is being opened by another program: end it, and try again.") from error


def make_room_to_erase() -> None:
    """Delete the copies made by themselves, which go with what is erased, where a full disk would let nobody erase."""
    if not settings.resolve("database_url").value:
        make_room(_database())


def _database() -> Path:
    return settings.home() / STORIES


def _local() -> Path:
    if settings.resolve("database_url").value:
        raise SettingsError(
            "The stories are in Postgres, which has its own backups: pg_dump copies them, pg_restore brings them back."
        )
    return _database()
