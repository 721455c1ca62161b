"""`AsyncStory` in an event loop of one's own: the names of `Story`, awaited."""

import pytest

from recurrentgpt import AsyncStory, Context, Library, Story, StoryNotFound
from recurrentgpt.checkpoints.persistence import Persistence
from recurrentgpt.storage import open_engine

DEPRECATED = {"another_take", "aanother_take", "new_plans", "anew_plans"}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_a_story_and_its_awaited_twin_have_the_same_names(library, settings):
    context = Context(**settings())
    story, twin = (kind(library.engine, "x", context) for kind in (Story, AsyncStory))
    assert "book" in public(twin)
    names = public(Story) | set(vars(story)) - {"_story"}
    assert {name for name in names if not (name.startswith("a") and name[1:] in names)} - DEPRECATED == public(twin)


async def test_a_story_is_begun_written_and_opened_again_in_ones_own_loop(tmp_path, settings):
    engine = await open_engine(tmp_path)
    try:
        kept = Library(engine)
        story = AsyncStory.new("fantasy", "Mira tends a lamp.", library=kept, **settings(plans=2))
        first = await story.step()
        second = [event async for event in story.stream(1) if event["event"] == "passage"]
        assert (await story.goto(1)).id == first.id
        again = await AsyncStory.open((await story.title())[:8], library=kept, **settings())
        assert (again.id, again.context.plans) == (story.id, 2)
        assert (await again.memory(), len(await again.plans())) == (first.short_term_memory, 2)
        assert len((await again.tree()).nodes) == 2 + len(second)
        assert (await again.book()).description == "Mira tends a lamp."
        with pytest.raises(StoryNotFound):
            await AsyncStory.open("nobody", library=kept)
    finally:
        await engine.close()


def test_old_names_of_a_library_are_understood(library):
    engine = library.engine
    for name, value in (
        ("persistence", Persistence(engine.saver, engine.log.store, engine.description)),
        ("chronicle", engine.log),
        ("locks", engine.locks),
    ):
        with pytest.warns(DeprecationWarning, match=f"Library.{name} goes with version 0.3.0"):
            assert getattr(library, name) == value
