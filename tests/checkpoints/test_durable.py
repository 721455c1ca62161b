"""What survives: a closed and reopened place, pruning, a kill, a second process."""

import signal

import pytest
from langgraph.types import Command

CONFIG = {"configurable": {"thread_id": "t"}}


async def steps_of(saver, thread="t", ns=""):
    config = {"configurable": {"thread_id": thread, "checkpoint_ns": ns}}
    return [item.metadata["step"] async for item in saver.alist(config)]


async def rows_of(place, persistence, table):
    query = f"SELECT count(*) AS n FROM {table}"
    if place.kind == "sqlite":
        async with persistence.saver.conn.execute(query) as cursor:
            return (await cursor.fetchone())[0]
    async with persistence.saver._cursor() as cursor:
        await cursor.execute(query)
        return (await cursor.fetchone())["n"]


async def test_a_reopened_place_resumes_the_story(place, story):
    async with place.open() as first:
        app = story.compile(checkpointer=first.saver)
        await app.ainvoke({"step": 0}, CONFIG, durability="sync")
        await first.store.aput(("log",), "1", {"passage": "Once"})
    async with place.open() as second:
        app = story.compile(checkpointer=second.saver)
        paused = await app.ainvoke(Command(resume="left"), CONFIG, durability="sync")
        assert paused["answers"] == ["left"]
        assert paused["step"] == 20
        assert (await second.store.aget(("log",), "1")).value == {"passage": "Once"}


async def test_pruning_keeps_the_newest_and_an_interrupt_still_resumes(place, story):
    async with place.open() as opened:
        opened.saver.keep, opened.saver.prune_every = 3, 5
        app = story.compile(checkpointer=opened.saver)
        await app.ainvoke({"step": 0}, CONFIG, durability="sync")
        await opened.saver.prune_thread("t")
        assert len(await steps_of(opened.saver)) == 3
        paused = await app.ainvoke(Command(resume="left"), CONFIG, durability="sync")
        await opened.saver.prune_thread("t")
        done = await app.ainvoke(Command(resume="right"), CONFIG, durability="sync")
        done = await app.ainvoke(Command(resume="on"), CONFIG, durability="sync")
        assert paused["answers"] == ["left"]
        assert done["answers"] == ["left", "right", "on"]
        assert done["step"] == 30


async def test_pruning_goes_by_thread_and_namespace(place, put_steps):
    async with place.open() as opened:
        opened.saver.keep = 4
        await put_steps(opened.saver, 10, thread="t")
        await put_steps(opened.saver, 10, thread="t", ns="chapter")
        await put_steps(opened.saver, 10, thread="u")
        await opened.saver.prune_thread("t")
        assert await steps_of(opened.saver, "t") == [9, 8, 7, 6]
        assert await steps_of(opened.saver, "t", "chapter") == [9, 8, 7, 6]
        assert len(await steps_of(opened.saver, "u")) == 10
        assert await rows_of(place, opened, "writes" if place.kind == "sqlite" else "checkpoint_writes") == 2 * 18
        if place.kind == "postgres":
            assert await rows_of(place, opened, "checkpoint_blobs") == 18
        newest = await opened.saver.aget_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})
        assert newest.checkpoint["channel_values"]["text"] == ["9" + "x" * 6000]
        assert newest.pending_writes == [("task", "text", ["y" * 6000]), ("task", "step", 9)]


async def test_a_subgraph_call_goes_with_its_root_checkpoint(place, put_steps):
    async with place.open() as opened:
        opened.saver.keep = 2
        await put_steps(opened.saver, 1)
        await put_steps(opened.saver, 2, ns="host:old-call")
        await put_steps(opened.saver, 2)
        await put_steps(opened.saver, 2, ns="host:new-call")
        await opened.saver.prune_thread("t")
        assert await steps_of(opened.saver, ns="host:old-call") == []
        assert await steps_of(opened.saver, ns="host:new-call") == [1, 0]
        if place.kind == "postgres":
            assert await rows_of(place, opened, "checkpoint_blobs WHERE checkpoint_ns = 'host:old-call'") == 0
            assert await rows_of(place, opened, "checkpoint_blobs WHERE checkpoint_ns = 'host:new-call'") == 2


async def test_a_program_of_few_steps_run_again_and_again_stays_bounded(place, put_steps):
    for _ in range(4):
        async with place.open() as opened:
            opened.saver.keep = 3
            await put_steps(opened.saver, 5)
            assert len(await steps_of(opened.saver)) <= 3 + 5


async def test_thousands_of_puts_stay_bounded(place, put_steps, user_folder):
    async with place.open() as opened:
        opened.saver.keep, opened.saver.prune_every = 100, 50
        await put_steps(opened.saver, 2000 if place.kind == "sqlite" else 500)
        assert len(await steps_of(opened.saver)) <= 150
        if place.kind == "sqlite":
            size = sum(file.stat().st_size for file in user_folder.iterdir())
            assert size < 10_000_000  # 2,000 unpruned puts of 6 KB and their writes are 28 MB
        else:
            assert await rows_of(place, opened, "checkpoint_blobs") <= 150


async def test_a_killed_writer_loses_nothing_it_had_saved(place, start_writer):
    writer = start_writer(place.url, "t", 10_000)
    saved = [int(writer.stdout.readline()) for _ in range(60)]
    writer.send_signal(signal.SIGKILL)
    saved += [int(line) for line in writer.stdout.read().splitlines()]
    writer.wait()
    writer.stdout.close()
    async with place.open() as opened:
        assert set(saved) <= set(await steps_of(opened.saver))
        entries = await opened.store.asearch(("log", "t"), limit=10_000)
        assert set(saved) <= {entry.value["step"] for entry in entries}
        if place.kind == "sqlite":
            for conn in (opened.saver.conn, opened.store.conn):
                async with conn.execute("PRAGMA integrity_check") as cursor:
                    assert await cursor.fetchone() == ("ok",)


@pytest.mark.parametrize("threads", [("t", "u", "v"), ("t", "t", "t")], ids=["own threads", "one thread"])
async def test_processes_start_and_write_at_once(place, start_writer, threads):
    writers = [start_writer(place.url, thread, 100) for thread in threads]
    outputs = [writer.communicate()[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert [len(output.splitlines()) for output in outputs] == [100, 100, 100]
    async with place.open() as opened:
        for thread in set(threads):
            assert sorted(await steps_of(opened.saver, thread)) == sorted([*range(100)] * threads.count(thread))
