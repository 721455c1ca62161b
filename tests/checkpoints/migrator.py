"""Open a home of an earlier version again and again, in processes that die: `python migrator.py HOME KILLS`.

Each process kills itself (`kill -9`) at a random moment of SQLite's work; the next one finds what it left. After each death the
log is as it was or as it shall be, never between. Prints how often the log was moved on, and how often it was as before.
"""

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.checkpoints.backups import KEPT
from recurrentgpt.checkpoints.row_values import value_of
from recurrentgpt.checkpoints.sqlite_faults import SCHEMA_VERSION

EVERY = 20
"""Instructions of SQLite's machine between two moments at which a process may die."""

connect = sqlite3.connect


async def open_and_close(folder):
    async with open_persistence(folder=folder):
        pass


def life(folder, dies_at=None):
    """Open the home in a process of its own; return its exit status and how many moments it had."""
    reader, writer = os.pipe()
    if child := os.fork():
        os.close(writer)
        _, status = os.waitpid(child, 0)
        with open(reader) as told:
            return os.waitstatus_to_exitcode(status), int(told.read() or 0)
    moments = 0

    def tick():
        nonlocal moments
        moments += 1
        if moments == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.set_progress_handler(tick, EVERY)
        return connection

    try:
        sqlite3.connect = watched
        asyncio.run(open_and_close(folder))
        os.write(writer, str(moments).encode())
    except BaseException as error:  # noqa: BLE001 - this process has nobody above it
        print(repr(error), file=sys.stderr)
        os._exit(1)
    os._exit(0)


def contents(folder):
    """Return the version of a log and all of its rows."""
    with closing(connect(folder / "stories.db")) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = connection.execute("SELECT prefix, key, value FROM store").fetchall()
    return version, {(prefix, key): value_of(value) for prefix, key, value in rows}


def main(home, kills):
    dice, ends = random.Random(kills), Counter()
    with TemporaryDirectory() as place:
        folder = Path(place) / "home"
        shutil.copytree(home, folder)
        older = contents(folder)
        code, moments = life(folder)
        assert code == 0
        newer = contents(folder)
        assert (older[0], newer[0]) == (1, SCHEMA_VERSION)
        for _ in range(kills):
            if contents(folder) == newer:
                shutil.rmtree(folder)
                shutil.copytree(home, folder)
            code, _ = life(folder, dice.randrange(1, moments))
            assert code in (0, -signal.SIGKILL)
            found = contents(folder)
            assert found in (older, newer), "the log stands between two versions"
            ends["moved on" if found == newer else "as it was"] += 1
            left = list((folder / "backups").glob("*"))
            assert len([path for path in left if path.suffix == ".db"]) <= 2 * KEPT
            assert len([path for path in left if path.suffix == ".part"]) <= 2
        assert life(folder)[0] == 0
        assert contents(folder) == newer
        assert not list((folder / "backups").glob("version-*.part"))
    print(json.dumps(ends))


main(Path(sys.argv[1]), int(sys.argv[2]))
