"""Where stories and checkpoints are kept: SQLite in the user's folder, or a Postgres server.

Two things are stored apart. The store is the story log and the truth. The saver holds checkpoints, which serve
inspection and the step in flight, and can be lost without losing a story.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from recurrentgpt.checkpoints.persistence import Persistence
from recurrentgpt.infrastructure.settings import home, resolve
from recurrentgpt.schema.errors import SettingsError

__all__ = ["Persistence", "open_persistence"]


@asynccontextmanager
async def open_persistence(
    database_url: str | None = None, folder: Path | None = None, *, read_only: bool = False
) -> AsyncIterator[Persistence]:
    """Open the saver and the store, create what is missing, and close both at the end; with `read_only`, SQLite writes nothing.

    A given URL beats a given folder, and a given folder beats RECURRENTGPT_DATABASE_URL. Raises SettingsError for a
    URL that is not Postgres, MissingExtra without its driver, StorageError for a place that cannot be used.
    """
    url = database_url if folder else resolve("database_url", database_url).value
    if not url:
        # Drivers are imported late: `recurrentgpt --help` must not wait for them, nor need the ones it does not use.
        from recurrentgpt.checkpoints.sqlite import open_sqlite, open_sqlite_to_read

        async with (open_sqlite_to_read if read_only else open_sqlite)(folder or home()) as persistence:
            yield persistence
        return
    if not url.startswith(("postgres://", "postgresql://")):
        # The value may hold a password, so the message does not repeat it.
        raise SettingsError(
            "The database URL is not a Postgres address; write RECURRENTGPT_DATABASE_URL as "
            "postgresql://user:password@host/database, or unset it to use SQLite."
        )
    from recurrentgpt.checkpoints.postgres import open_postgres

    async with open_postgres(url) as persistence:
        yield persistence
