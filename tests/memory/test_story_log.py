"""The story log over every kind of store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from recurrentgpt.memory.path_fold import PathFold
from recurrentgpt.memory.story_log import StoryLog, commit_id
from recurrentgpt.schema.errors import StorageError, StoryError, StoryNotFound


@pytest.fixture
def log(persistence):
    return StoryLog(persistence.store)


async def rows(log):
    found = await log.store.asearch(log.root, limit=1000)
    return {(*row.namespace, row.key) for row in found}


async def test_appending_twice_is_one_row(log, commit):
    opening = commit("s", None, "")
    first = commit("s", opening, "Mira ran.")
    for entry in (opening, first, first):
        await log.append(entry, "choosing")
    assert await log.get("s", first["id"]) == first
    assert set(await log.links("s")) == {opening["id"], first["id"]}
    head = await log.head("s")
    assert (head["head"], head["step"], head["status"]) == (first["id"], 1, "choosing")


async def test_what_was_read_is_remembered_until_its_story_is_erased(log, commit):
    opening = commit("s", None, "")
    await log.append(opening, "choosing")
    assert await log.remembered("s", opening["id"]) == opening
    await log.erase("s")
    with pytest.raises(StoryNotFound):
        await log.remembered("s", opening["id"])


async def test_what_was_worked_out_of_a_story_is_forgotten_with_it(log, commit):
    text = PathFold("", lambda before, passage, given: before + passage["passage"])
    heads = {}
    for story in ("s", "s1"):
        opening = commit(story, None, "")
        first = commit(story, opening, "Mira ran.")
        for entry in (opening, first):
            await log.append(entry, "choosing")
        heads[story] = first["id"]
        assert await text.at(log, story, first["id"]) == "Mira ran."
    await log.erase("s")
    with pytest.raises(StoryNotFound):
        await text.at(log, "s", heads["s"])
    assert await text.at(log, "s1", heads["s1"]) == "Mira ran."


async def test_siblings_live_beside_each_other(log, commit):
    opening = commit("s", None, "")
    takes = [commit("s", opening, text) for text in ("Mira ran.", "Mira slept.")]
    takes.append(commit("s", opening, "Mira ran.", plan="Another plan."))
    child = commit("s", takes[0], "She fell.")
    for entry in (opening, *takes, child):
        await log.append(entry, "choosing")
    assert len({entry["id"] for entry in takes}) == 3
    assert await log.path("s", child["id"]) == [opening["id"], takes[0]["id"], child["id"]]
    assert await log.path("s", takes[2]["id"]) == [opening["id"], takes[2]["id"]]
    assert await log.get_many("s", [takes[2]["id"], opening["id"]]) == [takes[2], opening]


async def test_stories_do_not_see_each_other(log, commit):
    for story in ("s", "s1", "s-1"):
        await log.append(commit(story, None, ""), "choosing")
    links = [await log.links(story) for story in ("s", "s1", "s-1")]
    assert [len(found) for found in links] == [1, 1, 1]
    assert len({next(iter(found)) for found in links}) == 3


async def test_an_erased_story_leaves_nothing_and_its_neighbours_everything(log, commit):
    for story in ("s", "s1", "s-1"):
        entry = commit(story, None, "")
        await log.append(entry, "choosing", also=[log.name_op(story, "the end", entry["id"])])
        vector = log.put((*log.root, "vectors", story, "model"), entry["id"], {"dimension": 1})
        await log.batch([vector, log.put((*log.root, "replays"), story, {"at": 1})])
    others = log.put((*log.root, "users", "s", "commits", "t"), "row", {"text": "Another user's."})
    await log.batch([others])
    before = await rows(log)
    await log.erase("s")
    left = await rows(log)
    assert len(before) - len(left) == 6
    assert {row for row in left if "s" in row} == {(*log.root, "users", "s", "commits", "t", "row")}
    await log.erase("s")
    assert await rows(log) == left


async def test_a_log_of_more_than_a_page_is_read_whole(log, commit, monkeypatch):
    monkeypatch.setattr("recurrentgpt.memory.story_log.PAGE", 7)
    entry = commit("s", None, "")
    await log.append(entry, "choosing")
    for number in range(20):
        entry = commit("s", entry, f"Passage {number}.")
        await log.append(entry, "choosing")
    assert len(await log.path("s", entry["id"])) == 21


async def test_any_text_comes_back_as_it_went_in(log, commit):
    text = "Zoë 🌊 said “שלום”, \u202eand\u202c 你好.\n\n\ttab \\u0041 %s {x} \U0001f469\u200d\U0001f680"
    entry = commit("s", None, text, short_term_memory=text, plan=text)
    await log.append(entry, "choosing")
    assert await log.get("s", entry["id"]) == entry


@pytest.mark.parametrize("wanted", ["ffff", ""])
async def test_what_is_not_in_the_log_is_said_so(log, commit, wanted):
    await log.append(commit("s", None, ""), "choosing")
    with pytest.raises(StoryNotFound, match="no passage"):
        await log.get("s", wanted)
    with pytest.raises(StoryNotFound, match="no story 'x'"):
        await log.record("x")
    assert await log.head("x") is None
    assert await log.links("x") == {}


async def test_a_hole_in_the_log_is_one_sentence(log, commit):
    lost = commit("s", None, "")
    entry = commit("s", lost, "Mira ran.")
    await log.append(entry, "choosing")
    with pytest.raises(StoryError, match=lost["id"]):
        await log.get_many("s", [entry["id"], lost["id"]])
    with pytest.raises(StorageError, match=lost["id"]):
        await log.path("s", entry["id"])


async def test_a_host_store_with_an_index_is_not_made_to_embed(commit):
    def embed(texts):
        raise AssertionError("the host's index must not see passages")

    log = StoryLog(InMemoryStore(index={"dims": 4, "embed": embed}))
    await log.append(commit("s", None, "Mira ran."), "choosing")
    assert len(await log.links("s")) == 1


texts = st.text(st.characters(codec="utf-8"), max_size=30)


@given(st.tuples(texts, texts, texts), st.tuples(texts, texts, texts))
def test_ids_are_equal_just_where_parent_plan_and_passage_are(first, second):
    ids = [commit_id("story", *content) for content in (first, second)]
    same = [(content[0] or "story", *content[1:]) for content in (first, second)]
    assert (ids[0] == ids[1]) == (same[0] == same[1])
    assert commit_id("story", *first, amendment=["x"]) != ids[0]
