"""Behaviour that every saver and store has in common."""

import asyncio
import time

import pytest
from langgraph.checkpoint.base import id as checkpoint_ids
from langgraph.store.base import GetOp, PutOp
from langgraph.types import Command

CONFIG = {"configurable": {"thread_id": "t"}}


async def test_checkpoints_are_put_got_and_listed_newest_first(persistence, put_steps):
    await put_steps(persistence.saver, 5)
    newest = await persistence.saver.aget_tuple(CONFIG)
    listed = [item async for item in persistence.saver.alist(CONFIG)]
    assert newest.checkpoint["channel_values"]["step"] == 4
    assert newest.pending_writes == [("task", "text", ["y" * 6000]), ("task", "step", 4)]
    assert [item.metadata["step"] for item in listed] == [4, 3, 2, 1, 0]
    assert listed[0].checkpoint == newest.checkpoint


async def test_a_deleted_thread_is_gone_and_others_stay(persistence, put_steps):
    await put_steps(persistence.saver, 2, thread="t")
    await put_steps(persistence.saver, 2, thread="u")
    await persistence.saver.adelete_thread("t")
    assert await persistence.saver.aget_tuple(CONFIG) is None
    assert await persistence.saver.aget_tuple({"configurable": {"thread_id": "u"}}) is not None


async def test_the_store_keeps_what_it_is_given(persistence):
    await persistence.store.aput(("log", "a"), "1", {"passage": "Once — ünïcode 龍"})
    await persistence.store.aput(("log", "b"), "2", {"passage": "upon"})
    item = await persistence.store.aget(("log", "a"), "1")
    assert item.value == {"passage": "Once — ünïcode 龍"}
    assert len(await persistence.store.asearch(("log",))) == 2
    await persistence.store.adelete(("log", "a"), "1")
    assert await persistence.store.aget(("log", "a"), "1") is None


async def test_a_foreign_thread_may_use_the_blocking_store(persistence):
    def write(name: str) -> None:
        for number in range(20):
            persistence.store.batch([PutOp(("log",), f"{name}{number}", {"n": number}), GetOp(("log",), "a0")])

    await asyncio.gather(*(asyncio.to_thread(write, name) for name in "abc"))
    assert len(await persistence.store.asearch(("log",), limit=100)) == 60


async def test_a_graph_interrupts_and_resumes(persistence, story):
    app = story.compile(checkpointer=persistence.saver, store=persistence.store)
    paused = await app.ainvoke({"step": 0}, CONFIG, durability="sync")
    assert paused["__interrupt__"][0].value == "after 10"
    paused = await app.ainvoke(Command(resume="left"), CONFIG, durability="sync")
    assert paused["__interrupt__"][0].value == "after 20"
    assert paused["answers"] == ["left"]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_the_description_names_the_place(kind, user_folder, request):
    from recurrentgpt.checkpoints import open_persistence

    url = request.getfixturevalue("postgres_url") if kind == "postgres" else None
    async with open_persistence(url) as opened:
        assert opened.description.startswith("Postgres at " if url else f"SQLite in {user_folder}")


@pytest.fixture
async def saver(place):
    """Give each of our savers."""
    async with place.open() as opened:
        yield opened.saver


async def listed(saver, thread="t"):
    """Return what is kept of a thread, newest first: the step, and what was written on it."""
    config = {"configurable": {"thread_id": thread}}
    return [(item.metadata["step"], item.pending_writes) async for item in saver.alist(config)]


@pytest.mark.parametrize("sync", [False, True])
async def test_a_thread_is_copied_whole(saver, put_steps, sync):
    await put_steps(saver, 3)
    await put_steps(saver, 1, thread="other")
    if sync:
        await asyncio.to_thread(saver.copy_thread, "t", "u")
    else:
        await saver.acopy_thread("t", "u")
    assert await listed(saver, "u") == await listed(saver, "t")
    await saver.adelete_thread("t")
    newest = await saver.aget_tuple({"configurable": {"thread_id": "u"}})
    assert newest.checkpoint["channel_values"]["step"] == 2
    assert len(await listed(saver, "other")) == 1


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize(("strategy", "left"), [("keep_latest", [2]), ("delete", [])])
async def test_threads_are_pruned_as_asked(saver, put_steps, sync, strategy, left):
    for thread in ("t", "u", "other"):
        await put_steps(saver, 3, thread=thread)
    if sync:
        await asyncio.to_thread(saver.prune, ["t", "u"], strategy=strategy)
    else:
        await saver.aprune(["t", "u"], strategy=strategy)
    assert [[step for step, _ in await listed(saver, thread)] for thread in ("t", "u", "other")] == [
        left,
        left,
        [2, 1, 0],
    ]
    with pytest.raises(ValueError, match="forget"):
        await saver.aprune(["t"], strategy="forget")
    with pytest.raises(TypeError, match="sequence"):
        await saver.aprune("t")


@pytest.mark.parametrize("sync", [False, True])
async def test_a_run_that_is_rolled_back_leaves_its_thread_as_before(saver, story, sync):
    app = story.compile(checkpointer=saver)
    first = {"configurable": {"thread_id": "t", "run_id": "run-1"}}
    await app.ainvoke({"step": 0}, first, durability="sync")
    before = await app.aget_state(CONFIG)
    await app.ainvoke(
        Command(resume="left"), {"configurable": {"thread_id": "t", "run_id": "run-2"}}, durability="sync"
    )
    await app.ainvoke({"step": 0}, {"configurable": {"thread_id": "u", "run_id": "run-3"}}, durability="sync")
    if sync:
        await asyncio.to_thread(saver.delete_for_runs, ["run-2", "unknown"])
    else:
        await saver.adelete_for_runs(["run-2", "unknown"])
    after = await app.aget_state(CONFIG)
    assert (after.config, after.values, after.next) == (before.config, before.values, before.next)
    assert [task.interrupts for task in after.tasks] == [task.interrupts for task in before.tasks]
    assert (await app.aget_state({"configurable": {"thread_id": "u"}})).values["step"] == 10
    paused = await app.ainvoke(Command(resume="right"), CONFIG, durability="sync")
    assert paused["answers"] == ["right"]
    await saver.adelete_for_runs([])


async def test_the_blocking_methods_refuse_to_block_their_own_loop(saver):
    with pytest.raises(asyncio.InvalidStateError):
        saver.copy_thread("t", "u")


async def test_ids_rise_within_a_thread_whatever_the_clock_says(saver, story, monkeypatch):
    app = story.compile(checkpointer=saver)
    await app.ainvoke({"step": 0}, CONFIG, durability="sync")
    clock = time.time_ns
    # Another process, whose clock is two seconds behind.
    monkeypatch.setattr(checkpoint_ids, "_last_v6_timestamp", None)
    monkeypatch.setattr(checkpoint_ids.time, "time_ns", lambda: clock() - 2_000_000_000)
    updated = await app.aupdate_state(CONFIG, {"text": ["chosen"]}, as_node="write")
    newest = await app.aget_state(CONFIG)
    assert newest.values["text"] == ["chosen"]
    assert newest.config["configurable"]["checkpoint_id"] == updated["configurable"]["checkpoint_id"]
    # A fork of an old checkpoint, in a third process.
    monkeypatch.setattr(checkpoint_ids, "_last_v6_timestamp", None)
    history = [item async for item in app.aget_state_history(CONFIG)]
    await app.aupdate_state(history[-3].config, {"text": ["forked"]}, as_node="write")
    assert (await app.aget_state(CONFIG)).values["text"] == ["forked"]
