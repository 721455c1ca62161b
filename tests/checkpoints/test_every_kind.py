"""Behaviour that every saver and store has in common."""

import asyncio

import pytest
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
