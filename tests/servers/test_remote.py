"""What a story on a server says where there is none, and how its tree is read from a history."""

import asyncio
import dataclasses

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from recurrentgpt import Context, SettingsError, Story, StoryError, StoryNotFound, build_story_graph
from recurrentgpt.cli.commands.remote import BlockingRemoteStory
from recurrentgpt.engine.passage import Passage
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.remote.client import RemoteStory, astories
from recurrentgpt.remote.copy import acopied
from recurrentgpt.remote.history import checkpoint_of, tree_of
from recurrentgpt.schema.state import StoryInput


async def test_where_no_server_answers_it_is_said(unused_tcp_port):
    url = f"http://127.0.0.1:{unused_tcp_port}"
    with pytest.raises(StoryError, match=f"No server answers at {url}"):
        await RemoteStory.new(url, StoryInput())
    with pytest.raises(StoryError, match="No server answers"):
        await RemoteStory.open(url, "lamp")
    with pytest.raises(StoryError, match="No server answers"):
        await astories(url)


@pytest.mark.parametrize("url", ["", "lamp", "127.0.0.1:2024", "ftp://127.0.0.1"])
async def test_what_is_no_address_is_refused(url):
    with pytest.raises(SettingsError, match="begins with http"):
        await astories(url)


def as_sent(snapshot):
    """Return a snapshot as a server sends it."""
    parent = snapshot.parent_config
    return {
        "values": snapshot.values,
        "checkpoint": snapshot.config["configurable"],
        "parent_checkpoint": parent and parent["configurable"],
        "created_at": snapshot.created_at,
    }


class Told:
    """A story on a server, as far as a copy of it asks."""

    def __init__(self, history):
        self.settings, self._history = {"plans": 3}, [as_sent(item) for item in history]

    async def avalues(self):
        return self._history[0]["values"]

    async def ahistory(self):
        return self._history


@pytest.fixture
async def written(model):
    """Give a graph, where its story stands, and the log of it: three passages, the last in two takes."""
    store = InMemoryStore()
    graph = build_story_graph(checkpointer=InMemorySaver(), store=store)
    context = Context(model=model, embeddings=HashEmbeddings())
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"premise": "A lamp."}, config, context=context)
    for answer in (2, 1, "another_take"):
        await graph.ainvoke(Command(resume=answer), config, context=context)
    return graph, config, context, store


async def test_a_copy_tells_what_the_log_tells(written):
    graph, config, _, store = written
    history = [item async for item in graph.aget_state_history(config)]
    values, log = history[0].values, StoryLog(store)
    library = await acopied(Told(history))
    copy = await Story.aopen(values["title"], library=library)
    kept = await log.get_many(values["story"], await log.path(values["story"], values["head"]))
    assert await copy.apassages() == [Passage.of(commit) for commit in kept[1:]]
    assert [passage.usage["calls"] > 0 for passage in await copy.apassages()] == [True] * 3
    assert (await library.engine.log.record(values["story"]))["brief"] == values["brief"]
    assert (await copy.aresolve(1), await copy.aresolve("opening")) == (kept[1]["id"], kept[0]["id"])
    there = checkpoint_of(kept[1]["id"], await Told(history).ahistory())["values"]
    assert (there["step"], there["status"]) == (1, "choosing")
    with pytest.raises(StoryNotFound, match="no checkpoint of passage"):
        checkpoint_of("nowhere", await Told(history).ahistory())


@pytest.mark.parametrize("left", range(6, 16))
async def test_a_copy_of_what_was_pruned_begins_later(written, left):
    graph, config, _, _ = written
    history = [item async for item in graph.aget_state_history(config)]
    library = await acopied(Told(history[:left]))
    copy = await Story.aopen(history[0].values["story"], library=library)
    shown = await copy.apassages()
    assert 0 < len(shown) < 3
    assert shown[-1].text == history[0].values["passage"]
    newest = await library.engine.log.get(copy.id, shown[-1].id)
    recalled = await library.engine.log.get_many(copy.id, [entry["id"] for entry in newest["recalled"]])
    assert all(passage["summary"] for passage in recalled), "what was recalled is known though it is gone"


async def test_of_a_story_without_a_passage_there_is_no_copy():
    empty = Told([])
    empty._history = [{"values": {}}]
    with pytest.raises(StoryNotFound, match="Nothing of this story is written yet"):
        await acopied(empty)


async def test_the_tree_of_a_history_is_that_of_the_log(written):
    graph, config, context, store = written
    history = [item async for item in graph.aget_state_history(config)]
    old = next(item for item in history if item.values["step"] == 1 and item.next == ("select_plan",))
    forked = await graph.aupdate_state(old.config, {"short_term_memory": "Nobody has a lamp."}, as_node="commit")
    await graph.ainvoke(
        Command(resume=3), {"configurable": {**config["configurable"], **forked["configurable"]}}, context=context
    )
    history = [item async for item in graph.aget_state_history(config)]
    values = history[0].values
    tree = tree_of(values, [as_sent(item) for item in history])
    links = await StoryLog(store).links(values["story"])
    assert {key for key, link in links.items() if not link["amends"]} <= tree.nodes.keys() <= links.keys()
    assert tree.head == values["head"]
    for key, node in tree.nodes.items():
        before, known = tree.nodes.get(node.parent), links.get(links[key]["parent"])
        # A version that was corrected in the middle of a run is told as the passage that it corrects.
        assert (before.amends or before.id if before else "") == (known["amends"] or known["id"] if known else "")
        assert (node.step, node.words, node.text) == tuple(links[key][name] for name in ("step", "words", "text"))
    assert len(tree.branches) == 3
    shortened = tree_of(values, [as_sent(item) for item in history[:6]])
    assert set(shortened.nodes) < set(tree.nodes)
    assert shortened.path()[-1] == values["head"], "what was pruned is left out, and what is left can be drawn"


class Client:
    """A client of a server that writes nothing, and remembers what it was asked."""

    def __init__(self, values):
        self.values, self.contexts, self.metadata = values, [], []
        self.threads = self.runs = self

    async def search(self, limit):
        about = {"story": "abc", "title": "The Lamp", "settings": {"plans": 3, "tense": "present", "length": 9}}
        return [{"thread_id": "1", "metadata": about, "updated_at": "2026-01-01"}]

    async def get_state(self, thread):
        return {"values": self.values, "next": [], "checkpoint": {}}

    async def update(self, thread, metadata):
        self.metadata.append(metadata)

    async def stream(self, thread, graph, *, context, **options):
        self.contexts.append(context)
        return
        yield


BRIEF = {"title": "The Lamp", "genre": "mystery", "premise": "A lamp.", "characters": [], "outline": []}
OPENED = {
    "story": "abc", "title": "The Lamp", "genre": "mystery", "premise": "A lamp.", "brief": BRIEF, "head": "0", "step": 2,
    "short_term_memory": "", "candidate_plans": [], "status": "choosing",
}  # fmt: skip


@pytest.mark.parametrize("values", [{}, OPENED])
async def test_a_story_on_a_server_keeps_the_length_that_it_was_asked_to_end_at(values):
    client = Client(values)
    story = RemoteStory(client, "http://server", "1", {}, {"ending": True, "plans": 3})
    assert [event async for event in story.astream(4)][-1]["event"] == "done"
    at = 6 if values else 4
    assert client.contexts[0]["length"] == at
    kept = {"story": "abc", "title": "The Lamp", "settings": {"plans": 3, "length": 6}}
    assert client.metadata == ([kept] if values else []), "a new one is told of with its first commit"
    later = RemoteStory(client, "http://server", "1", {}, story.settings | {"ending": False})
    [event async for event in later.astream(1)]
    assert client.contexts[1]["length"] == at


def test_a_story_on_a_server_knows_its_length_from_its_first_passage_on():
    client = Client(OPENED)
    story = BlockingRemoteStory(RemoteStory(client, "http://server", "1", {}, {"ending": True}))
    story.end_at(6)
    story.context = dataclasses.replace(story.context, ending=False)
    list(story.stream(1))
    assert (client.contexts[0]["length"], story.context.length) == (6, 6)
    assert client.metadata[-1]["settings"] == {"length": 6}


async def test_a_run_says_what_its_caller_set_and_the_server_what_the_story_keeps(monkeypatch):
    client = Client(OPENED)
    monkeypatch.setattr("recurrentgpt.remote.client.client_of", lambda *_: asyncio.sleep(0, client))
    story = await RemoteStory.open("http://server", "abc", tense="past", budget_tokens=100)
    [event async for event in story.astream(1)]
    run = {"selector": "simulator", "last_step": 3}
    # That a story ends there is kept by its thread alone.
    assert client.contexts == [{"tense": "past", "budget_tokens": 100, "length": 9, **run}]
    assert (story.settings["plans"], story.settings["tense"]) == (3, "past")
    await story.aend_at(6)
    assert client.metadata[-1]["settings"] == {"plans": 3, "tense": "present", "length": 6}
