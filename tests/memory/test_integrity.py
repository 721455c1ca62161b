"""What is read from the log is what was written: content hashes tell damage."""

import pytest
from langgraph.store.memory import InMemoryStore

from recurrentgpt.memory.log_rows import is_as_written
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.errors import StorageError


async def test_a_passage_that_rotted_on_the_disk_is_not_shown(commit):
    log = StoryLog(InMemoryStore())
    first = commit("s", None, "")
    second = commit("s", first, "Mira tends a lamp. The ferry comes.")
    for made in (first, second):
        await log.append(made, "choosing")
    link = (await log.links(second["story"]))[second["id"]]
    rotten = {**second, "passage": second["passage"].replace("e", "f", 1)}
    forgetful = {**second, "short_term_memory": "Nothing of that is so."}
    assert [is_as_written(read, link) for read in (second, rotten, forgetful)] == [True, False, False]
    await log.batch([log.put((*log.root, "commits", second["story"]), second["id"], rotten)])
    assert await log.get(first["story"], first["id"]) == first
    for read in (log.get(second["story"], second["id"]), log.get_many(second["story"], [second["id"]])):
        with pytest.raises(StorageError, match=r"Passage 1 of story .* is damaged on the disk: `recurrentgpt check`"):
            await read


async def test_a_passage_that_was_emptied_is_damage(commit):
    first = commit("s", None, "")
    second = commit("s", first, "Mira tends a lamp.")
    assert is_as_written(second)
    assert not is_as_written({**second, "passage": ""})
