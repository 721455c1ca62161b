"""The length of a story that was asked to end belongs to the story: whoever writes of it later is told the same place."""

import pytest

from recurrentgpt.story import Story


@pytest.fixture
def begin_whole(library, model, begin):
    """Give a maker of stories for a capable model."""
    return lambda **more: begin(tier="full", **more)


@pytest.fixture
def reopened(library, model):
    """Give what opens a story again, as a later command does."""

    def reopen(story, **more):
        return Story.open(
            story.id, library=library, model=model, embeddings=story.context.embeddings, tier="full", **more
        )

    return reopen


def asked(model):
    return [call[-1].text for call in model.calls]


def test_another_take_of_the_last_passage_is_told_that_it_is_the_last(begin_whole, reopened, model):
    story = begin_whole(ending=True)
    list(story.stream(2))
    first = [call[-1].text for call in model.calls if "Write the next passage" in call[-1].text][-1]
    assert "passage 2 of 2" in first.casefold()
    model.calls.clear()
    again = reopened(story)
    list(again.retry())
    writes = [text for text in asked(model) if "passage alone" in text]
    assert writes
    assert all("2 of 2" in text and "Leave room" not in text for text in writes)
    assert len(model.calls) == 2, "the passage and its summary: no memory and no plans"
    assert again.plans == []


def test_an_edit_of_the_last_passage_asks_for_no_plans(begin_whole, reopened, model):
    story = begin_whole(ending=True)
    list(story.stream(2))
    model.calls.clear()
    again = reopened(story)
    list(again.edit_passage(2, "Mira puts the lamp out, and the ferry does not come. " * 20))
    assert model.calls
    assert again.plans == []
    assert not [text for text in asked(model) if "exactly 3" in text]


def test_a_novel_that_is_gone_on_with_knows_its_place(begin_whole, reopened, model):
    story = begin_whole(ending=True)
    for event in (events := story.stream(6)):
        if event["event"] == "memory" and event["step"] == 3:
            break
    events.close()
    model.calls.clear()
    again = reopened(story)
    assert again.context.length == 6
    again.step()
    assert any("4 of 6" in text for text in asked(model))
    list(again.stream(2))
    assert (again.passage().step, again.plans) == (6, [])


def test_an_ending_that_is_asked_for_later_is_kept_too(begin_whole, reopened, model):
    story = begin_whole()
    story.step()
    assert reopened(story).context.length == 0
    list(reopened(story, ending=True).stream(2))
    assert reopened(story).context.length == 3


def test_a_story_that_goes_on_after_its_end_or_has_none_is_open(begin_whole, reopened, model):
    story = begin_whole(ending=True)
    list(story.stream(2))
    model.calls.clear()
    again = reopened(story)
    assert again.step().step == 3
    assert again.plans
    assert not [text for text in asked(model) if "3 of" in text]
