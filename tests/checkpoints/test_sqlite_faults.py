"""Every way a SQLite file can fail ends in a sentence that names it, and nothing is overwritten."""

import asyncio
import os
import random
import sqlite3
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from langgraph.store.base import GetOp, PutOp

from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.checkpoints.sqlite import APPLICATION_ID, BUSY_SECONDS, CHECKPOINTS, STORIES
from recurrentgpt.schema.errors import StorageError

NOBODY = 65534
BOTH = pytest.mark.parametrize("name", [STORIES, CHECKPOINTS])


def incompressible(length):
    """Return a text that deflates to little less than half, as letters of sixteen kinds do."""
    return random.Random(1).randbytes(length // 2).hex()


async def failure(folder):
    with pytest.raises(StorageError) as caught:
        async with open_persistence(folder=folder):
            pass
    return str(caught.value)


@pytest.fixture
async def sqlite(user_folder):
    async with open_persistence(folder=user_folder) as opened:
        yield opened


@BOTH
async def test_a_database_of_a_newer_version_is_refused_and_kept(user_folder, name):
    async with open_persistence(folder=user_folder):
        pass
    with sqlite3.connect(user_folder / name) as conn:
        conn.execute("PRAGMA user_version = 99")
    conn.close()
    before = (user_folder / name).read_bytes()
    said = await failure(user_folder)
    assert f"{name} was written by a newer version; upgrade recurrentgpt or set RECURRENTGPT_HOME" in said
    assert (user_folder / name).read_bytes() == before


@BOTH
async def test_a_database_of_another_program_is_refused_and_kept(user_folder, name):
    user_folder.mkdir()
    with sqlite3.connect(user_folder / name) as conn:
        conn.execute("CREATE TABLE bookmarks (url TEXT)")
    conn.close()
    before = (user_folder / name).read_bytes()
    assert f"{name} is the database of another program; move it away" in await failure(user_folder)
    assert (user_folder / name).read_bytes() == before


@BOTH
async def test_a_file_that_is_no_database_is_refused_and_kept(user_folder, name):
    user_folder.mkdir()
    (user_folder / name).write_text("Chapter one. It was a dark and stormy night. " * 50)
    said = await failure(user_folder)
    assert f"{name} cannot be used: it is not a SQLite database" in said
    assert ("restore it from a backup" if name == STORIES else "delete it") in said
    assert (user_folder / name).read_text().startswith("Chapter one.")


async def test_damaged_checkpoints_may_be_deleted_without_losing_a_story(user_folder, put_steps):
    async with open_persistence(folder=user_folder) as opened:
        await put_steps(opened.saver, 50)
        await opened.store.aput(("log",), "1", {"passage": "Once"})
    content = bytearray((user_folder / CHECKPOINTS).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (user_folder / CHECKPOINTS).write_bytes(content)
    async with open_persistence(folder=user_folder) as opened:
        with pytest.raises(
            StorageError, match="it is damaged; delete it: it holds only steps in flight, the stories are"
        ):
            await opened.saver.aget_tuple({"configurable": {"thread_id": "t"}})
    (user_folder / CHECKPOINTS).unlink()
    async with open_persistence(folder=user_folder) as opened:
        assert (await opened.store.aget(("log",), "1")).value == {"passage": "Once"}


async def test_damage_found_while_reading_is_reported(user_folder):
    async with open_persistence(folder=user_folder) as opened:
        for number in range(200):
            await opened.store.aput(("log",), str(number), {"passage": incompressible(2000)})
    content = bytearray((user_folder / STORIES).read_bytes())
    content[-40 * 4096 :] = b"\xff" * (40 * 4096)
    (user_folder / STORIES).write_bytes(content)
    async with open_persistence(folder=user_folder) as opened:
        with pytest.raises(StorageError, match=r"stories\.db cannot be used: it is damaged; restore it"):
            await opened.store.abatch([GetOp(("log",), str(number)) for number in range(200)])


async def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        said = await failure(folder)
        assert str(folder) in said
        assert "RECURRENTGPT_HOME" in said
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder in which even root may not make files")
async def test_a_folder_without_write_permission():
    said = await failure(Path("/proc"))
    assert "/proc/stories.db cannot be used" in said
    assert "RECURRENTGPT_HOME" in said


@contextmanager
def plain_user(folder):
    """Own `folder` and act as a user whom permissions bind: root may write read-only files."""
    if os.geteuid() != 0:
        yield
        return
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@BOTH
async def test_a_read_only_file_is_found_at_opening(name):
    # Not in tmp_path, which only its owner may enter.
    with TemporaryDirectory() as place:
        folder = Path(place)
        async with open_persistence(folder=folder):
            pass
        (folder / name).chmod(0o444)
        with plain_user(folder):
            assert f"{name} cannot be used: it may not be written" in await failure(folder)


async def test_a_database_turned_read_only(sqlite, put_steps):
    for conn in (sqlite.saver.conn, sqlite.store.conn):
        await conn.execute("PRAGMA query_only = 1")
    with pytest.raises(StorageError, match=r"checkpoints\.db cannot be used: it may not be written"):
        await put_steps(sqlite.saver, 1)
    with pytest.raises(StorageError, match=r"stories\.db cannot be used: it may not be written"):
        await sqlite.store.aput(("log",), "1", {"passage": "Once"})


async def test_a_full_disk_loses_nothing_and_is_left_behind(sqlite, put_steps):
    for conn in (sqlite.saver.conn, sqlite.store.conn):
        await conn.execute("PRAGMA max_page_count = 20")
    with pytest.raises(StorageError, match=r"checkpoints\.db cannot be used: the disk is full; free some space"):
        await put_steps(sqlite.saver, 20)
    batch = [PutOp(("log",), "small", {"n": 1}), PutOp(("log",), "large", {"passage": incompressible(500_000)})]
    with pytest.raises(StorageError, match=r"stories\.db cannot be used: the disk is full"):
        await sqlite.store.abatch(batch)
    assert await sqlite.store.asearch(("log",)) == []
    for conn in (sqlite.saver.conn, sqlite.store.conn):
        await conn.execute("PRAGMA max_page_count = 1000000")
    await put_steps(sqlite.saver, 20)
    await sqlite.store.abatch(batch)
    assert len(await sqlite.store.asearch(("log",))) == 2


@BOTH
async def test_a_file_locked_by_another_program(sqlite, user_folder, put_steps, name):
    for conn in (sqlite.saver.conn, sqlite.store.conn):
        await conn.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(user_folder / name, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    write = put_steps(sqlite.saver, 1) if name == CHECKPOINTS else sqlite.store.aput(("log",), "1", {"n": 1})
    with pytest.raises(StorageError, match=f"{name} cannot be used: another program holds it locked"):
        await write
    other.execute("ROLLBACK")
    other.close()
    await put_steps(sqlite.saver, 1)
    await sqlite.store.aput(("log",), "1", {"passage": "Once"})


def _take_lock(path):
    other = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.parametrize("ticks", range(1, 12))
async def test_a_cancelled_call_leaves_no_lock_behind(sqlite, user_folder, put_steps, ticks):
    calls = [
        asyncio.create_task(put_steps(sqlite.saver, 1)),
        asyncio.create_task(sqlite.store.abatch([PutOp(("log",), "1", {"passage": "Once"})])),
    ]
    for _ in range(ticks):
        await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    # What is given up is still written, with what came beside it: another process waits for no more than that.
    for name in (STORIES, CHECKPOINTS):
        await asyncio.to_thread(_take_lock, user_folder / name)
    await sqlite.store.aput(("log",), "2", {"passage": "upon"})


async def test_files_are_stamped(sqlite, user_folder):
    for name in (STORIES, CHECKPOINTS):
        conn = sqlite3.connect(user_folder / name)
        assert conn.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        conn.close()


async def test_rolling_a_run_back_reads_checkpoints_once_however_many_writes_there_are(sqlite, put_steps):
    """In a grown folder every program waited for minutes: all checkpoints of a thread were read for each of its writes."""
    saver = sqlite.saver
    spent = []
    for count in (50, 150):
        await put_steps(saver, count)
        counted = []
        await saver.conn.set_progress_handler(lambda counted=counted: counted.append(1) and 0, 100)
        await saver.adelete_for_runs(["nobody's"])
        await saver.conn.set_progress_handler(None, 0)
        spent.append(len(counted))
    few, many = spent
    assert many < 8 * few + 8
