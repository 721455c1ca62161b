"""Whose part of a store a run works in: what a server says of its user decides, and nothing that a client writes."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from langgraph_sdk.auth.types import StudioUser

from recurrentgpt import Context, StoryNotFound, build_story_graph
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings


class User(StudioUser):
    """A user as a server hands it to a run."""

    def __init__(self, name, signed_in=True):
        super().__init__(name, signed_in)


@pytest.fixture
def tell(model):
    """Give a graph on one store, and how a server runs it for a user."""
    store = InMemoryStore()
    graph = build_story_graph(checkpointer=InMemorySaver(), store=store)

    async def run(user, thread, given):
        config = {"configurable": {"thread_id": thread, "langgraph_auth_user": user}}
        await graph.ainvoke(given, config, context=Context(model=model, embeddings=HashEmbeddings()))
        return (await graph.aget_state(config)).values

    run.graph, run.store = graph, store
    return run


async def test_a_story_is_found_by_its_owner_only(tell):
    ann, bob = User("ann@example.com"), User("bob")
    hers = await tell(ann, "1", {"premise": "Ann hides a key."})
    again = await tell(ann, "2", {"story": hers["story"]})
    assert again["head"] == hers["head"]
    his = await tell(bob, "3", {"story": hers["story"], "premise": "Bob looks for a key."})
    assert his["premise"] == "Bob looks for a key."
    assert his["head"] != hers["head"]
    assert await StoryLog(tell.store).head(hers["story"]) is None, "nor is it among those of the machine"


@pytest.mark.parametrize("node", ["open_story", "retrieve"])
async def test_what_a_client_writes_into_the_state_opens_nothing(tell, node):
    """Bob edits his own thread so that it names Ann's story, and goes on from any node."""
    ann, bob = User("ann"), User("bob")
    hers = await tell(ann, "1", {"premise": "Ann hides a key."})
    await tell(bob, "2", {"premise": "Bob looks for a key."})
    with pytest.raises(StoryNotFound):
        await tell(bob, "2", Command(update={"story": hers["story"], "head": hers["head"]}, goto=node))
    assert "Ann" not in str(await tell.graph.aget_state({"configurable": {"thread_id": "2"}}))


async def test_without_a_user_a_story_is_the_machines(tell):
    for number, user in enumerate((None, User("", signed_in=False))):
        told = await tell(user, str(number), {"premise": "A lamp."})
        assert (await StoryLog(tell.store).head(told["story"]))["head"] == told["head"]


async def test_a_graph_called_without_a_loop_knows_its_user_too(tell, model):
    config = {"configurable": {"thread_id": "1", "langgraph_auth_user": User("ann")}}
    context = Context(model=model, embeddings=HashEmbeddings())
    told = tell.graph.invoke({"premise": "Ann hides a key."}, config, context=context)
    assert await StoryLog(tell.store).head(told["story"]) is None
