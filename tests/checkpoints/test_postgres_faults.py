"""Every way a Postgres server can fail ends soon, in a sentence without the password."""

import asyncio
import logging
import socket
import sys
import traceback
from urllib.parse import urlsplit

import pytest

from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.engine.engine import Engine
from recurrentgpt.schema.errors import MissingExtra, RecurrentGPTError, SettingsError, StorageError, StoryBusy

psycopg = pytest.importorskip("psycopg", reason="no psycopg: pip install 'recurrentgpt[postgres]'")


async def failure(url):
    with pytest.raises(RecurrentGPTError) as caught:
        async with open_persistence(url):
            pass
    shown = "".join(traceback.format_exception(caught.value))
    assert "hunter2" not in shown
    assert "psycopg" not in shown
    return caught.value


async def test_another_kind_of_url_is_a_settings_error():
    error = await failure("mysql://ann:hunter2@127.0.0.1/db")
    assert isinstance(error, SettingsError)
    assert "postgresql://user:password@host/database" in str(error)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter2/x@127.0.0.1:1/db",
        "postgresql://ann:12/hunter2@127.0.0.1:1/db",
        "postgresql://ann:a@hunter2@127.0.0.1:1/db",
        "postgresql://127.0.0.1/db?hunter2",
    ],
)
async def test_an_unreadable_url_is_a_settings_error(url):
    error = await failure(url)
    assert isinstance(error, SettingsError)
    assert "percent-encoded" in str(error)


async def test_an_unreachable_server():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        error = await failure(f"postgres://ann:hunter2@127.0.0.1:{closed.getsockname()[1]}/db")
    assert isinstance(error, StorageError)
    assert "/db cannot be used: the server cannot be reached; start it" in str(error)


async def test_a_wrong_password():
    async def refuse(reader, writer):
        length = int.from_bytes(await reader.readexactly(4))
        await reader.readexactly(length - 4)
        body = b'SFATAL\0C28P01\0Mpassword authentication failed for user "ann"\0\0'
        writer.write(b"E" + (len(body) + 4).to_bytes(4) + body)
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        options = "sslmode=disable&gssencmode=disable"
        error = await failure(f"postgresql://ann:hunter2@127.0.0.1:{port}/db?{options}")
    assert isinstance(error, StorageError)
    assert "the server refused the user or password; correct RECURRENTGPT_DATABASE_URL" in str(error)


async def test_a_missing_database(postgres_server):
    error = await failure(urlsplit(postgres_server)._replace(path="/nowhere").geturl())
    assert "nowhere cannot be used: the server has no such database; create it" in str(error)


async def test_a_user_without_rights(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute("CREATE ROLE ann LOGIN PASSWORD 'hunter2'")
    try:
        error = await failure(postgres_url.replace("postgres:@", "ann:hunter2@"))
        assert "grant it CREATE on the schema" in str(error)
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("DROP ROLE ann")


async def test_dropped_connections_are_replaced(postgres_url, put_steps):
    async with open_persistence(postgres_url) as opened:
        await put_steps(opened.saver, 1)
        with psycopg.connect(postgres_url, autocommit=True) as conn:
            conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        await put_steps(opened.saver, 1)
        await opened.store.aput(("log",), "1", {"passage": "Once"})


async def test_a_server_lost_midway(postgres_server, postgres_url, put_steps, caplog):
    caplog.set_level(logging.CRITICAL, "psycopg.pool")
    async with open_persistence(postgres_url) as opened:
        opened.saver.conn.timeout = 0.2
        with psycopg.connect(postgres_server, autocommit=True) as conn:
            conn.execute(f"DROP DATABASE {urlsplit(postgres_url).path[1:]} WITH (FORCE)")
        with pytest.raises(StorageError, match="check that the server is running"):
            await put_steps(opened.saver, 1)
        with pytest.raises(StorageError, match="check that the server is running"):
            await opened.store.aput(("log",), "1", {"passage": "Once"})


async def test_a_missing_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "recurrentgpt.checkpoints.postgres", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'recurrentgpt\[postgres\]'"):
        async with open_persistence("postgresql://127.0.0.1/db"):
            pass


async def test_a_story_has_one_writer_among_all_machines(postgres_url, tmp_path):
    # Two hosts: each has a folder of locks of its own, and one database.
    async with open_persistence(postgres_url) as here, open_persistence(postgres_url) as there:
        one = Engine(here.saver, here.store, locks=tmp_path / "here", holding=here.holding)
        other = Engine(there.saver, there.store, locks=tmp_path / "there", holding=there.holding)
        async with one.writing("story"), other.writing("another"):
            with pytest.raises(StoryBusy, match="is being written on another machine"):
                async with other.writing("story"):
                    pass
        async with other.writing("story"):
            pass
