"""What `Story.choose` makes of an answer."""

from __future__ import annotations

import pytest

from recurrentgpt.nodes.human.phrases import offers_action
from recurrentgpt.schema.errors import BadAnswer


def test_a_yes_is_nobody_to_play_and_something_to_say(begin):
    story = begin(mode="fiction")
    list(story.begin())
    with pytest.raises(BadAnswer, match="Did you mean plan 1"):
        story.choose("yes")
    story.choose("I am the one who sells oil to the keepers.")
    story.step()
    assert story.choose("yes") == "yes"


@pytest.mark.parametrize("said", [
    "another take", "new plans", "simulator", "end", "help", "quit", "redo it", "nope", "make it darker", "go back",
    {"action": "end"},
])  # fmt: skip
def test_a_refusal_offers_only_what_can_be_chosen(begin, said):
    story = begin()
    story.step()
    with pytest.raises(BadAnswer) as refused:
        story.choose(said)
    told = str(refused.value)
    assert told.endswith("Answer with a number from 1 to 3 or with a plan of your own in a sentence.")
    assert "` sets no plan." in told or not offers_action(told)
    assert story.choose("Lorcan lets the last boat go by.")
