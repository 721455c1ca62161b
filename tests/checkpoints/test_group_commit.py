"""Writes that come at about the same time are one transaction, and each asker is told how it went."""

import asyncio
import sqlite3

import aiosqlite
import pytest

from recurrentgpt.checkpoints.group_commit import GroupCommit

PUT = "INSERT INTO kept VALUES (?)"


@pytest.fixture
async def statements():
    """Give the statements that a connection has carried out."""
    return []


@pytest.fixture
async def conn(statements):
    async with aiosqlite.connect(":memory:", isolation_level=None) as opened:
        await opened.execute("CREATE TABLE kept (value INTEGER PRIMARY KEY)")
        await opened.set_trace_callback(statements.append)
        yield opened


@pytest.fixture
def writes(conn):
    return GroupCommit(conn, asyncio.Lock())


async def kept(conn):
    return [value for (value,) in await conn.execute_fetchall("SELECT value FROM kept")]


async def test_what_comes_together_is_one_transaction_in_its_order(conn, writes, statements):
    await asyncio.gather(*(writes.write(PUT, [value]) for value in (3, 1, 2)))
    values = [f"INSERT INTO kept VALUES ({value})" for value in (3, 1, 2)]
    assert statements == ["BEGIN IMMEDIATE", *values, "COMMIT"]


async def test_what_comes_alone_is_one_statement(conn, writes, statements):
    for value in (1, 2):
        await writes.write(PUT, [value])
    assert statements == ["INSERT INTO kept VALUES (1)", "INSERT INTO kept VALUES (2)"]


async def test_a_write_that_fails_takes_its_group_along_and_each_asker_hears_of_it(conn, writes):
    await writes.write(PUT, [1])
    told = await asyncio.gather(*(writes.write(PUT, [value]) for value in (2, 1)), return_exceptions=True)
    assert [type(one) for one in told] == [sqlite3.IntegrityError] * 2
    assert await kept(conn) == [1]
    await writes.write(PUT, [2])
    assert await kept(conn) == [1, 2], "nothing stays open"


async def test_an_asker_that_is_cancelled_takes_no_write_along(conn, writes):
    first, second = (asyncio.create_task(writes.write(PUT, [value])) for value in (1, 2))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert first.cancelled()
    assert await kept(conn) == [1, 2]
