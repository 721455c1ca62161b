"""What a passage did not reach of its plan belongs to its branch, and is shown where the passage is."""

import json

import pytest

LEFT = "Mira has not yet asked Bo about the oil."


@pytest.fixture
def story(begin, model):
    """Give a story of two passages, the first of which did not reach all of its plan."""
    plain, model.tier, memories = model.replies, "full", []

    def replies(messages):
        text = plain(messages)
        if not text.startswith("{") or "unreached" not in (reply := json.loads(text)):
            return text
        memories.append(messages)
        return json.dumps({**reply, "unreached": LEFT if len(memories) == 1 else ""})

    model.replies = replies
    story = begin()
    list(story.stream(2))
    model.calls.clear()
    return story


def told(model):
    return [call[-1].text for call in model.calls if LEFT in call[-1].text]


def test_it_is_shown_with_the_passage_and_with_what_the_next_was_written_from(story):
    assert [passage.unreached for passage in story.passages()] == [LEFT, ""]
    heading = "Of its own plan the passage before did not reach this, and it has not happened"
    parts = {part.name: part.text for part in story.written_from(2)}
    assert parts[heading] == f"{heading}: {LEFT}"
    assert heading not in {part.name for part in story.written_from(1)}


def test_a_fork_is_told_what_its_own_passage_left(story, model):
    story.step()
    assert told(model) == [], "passage 2 has reached all of its plan"
    story.goto(1)
    story.step()
    assert any("Write the next passage" in text for text in told(model))
    story.goto("opening")
    model.calls.clear()
    story.step()
    assert told(model) == []


def test_other_plans_and_another_take_are_told_it_too(story, model):
    second = story.passage(2).id
    list(story.replan(1))
    (asked,) = told(model)
    assert "Now propose" in asked
    model.calls.clear()
    list(story.retry(second))
    assert any("Write the next passage" in text for text in told(model))


def test_of_a_passage_that_was_edited_by_hand_the_plan_is_history(story, model):
    list(story.edit_passage(1, "Mira asked Bo about the oil, and Bo looked at his cuff. " * 12))
    assert story.passage().unreached == ""
    model.calls.clear()
    story.step()
    assert told(model) == []


def test_words_are_replaced_in_it(story):
    passage = story.passage(1)
    word = next(word for word in passage.text.split() if word.isalpha() and len(word) > 5)
    story.replace(word, "Bo")
    story.replace("Bo", "Otto")
    assert story.passage(1).unreached == LEFT.replace("Bo", "Otto")
