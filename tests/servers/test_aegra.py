"""Aegra with Postgres, from the same langgraph.json: the same story as on `langgraph dev`. Aegra needs Python 3.12."""

import signal
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.real


@pytest.fixture
def server(aegra_server):
    yield from aegra_server("langgraph.json")


def tables_with(url, text):
    """Return the tables of which a row holds this text, plain or in bytes."""
    with psycopg.connect(url) as conn:
        tables = conn.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public'"
        )
        found = {}
        for (table,) in tables.fetchall():
            either = f"SELECT count(*) FROM {table} t WHERE strpos(t::text, %s) > 0 OR strpos(t::text, %s) > 0"
            found[table] = conn.execute(either, (text, text.encode().hex())).fetchone()[0]
    return {table for table, rows in found.items() if rows}


async def test_the_same_story_through_the_sdk(server, playing, writer, environment, postgres_url):
    assert server.addresses() == {"127.0.0.1"}
    async with playing.Play(server.url, writer) as play:
        await play.schemas()
        await play.begin()
        await play.choose()
        await play.edit()
        await play.fork()
        await play.crash(server.kill, lambda: server.start("/health"))
        await play.autonomous()
        await play.one_step()
    await playing.written_remotely(server.url)
    server.stop()
    assert {"public.store", "public.checkpoint_blobs"} <= tables_with(postgres_url, playing.OWN_PLAN)
    assert not tables_with(postgres_url, environment["OPENAI_API_KEY"])
    assert environment["OPENAI_API_KEY"] not in server.log.read_text()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_its_own_postgres_ends_with_it(processes, environment, aegra, tmp_path, user_folder, how):
    folder = tmp_path / "server"
    folder.mkdir()
    command = processes.aegra_server(aegra, processes.config(ROOT, folder))
    it = processes.ServerProcess(command, environment, folder)
    it.start("/health")
    running = user_folder / "server" / "postmaster.pid"
    assert running.exists()
    it.stop(how)
    assert not running.exists(), "Postgres takes it away when it has ended in order"
