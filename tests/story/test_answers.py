"""What `Story.choose` makes of an answer."""

from __future__ import annotations

import pytest

from recurrentgpt.schema.errors import BadAnswer


def test_a_yes_is_nobody_to_play_and_something_to_say(begin):
    story = begin(mode="fiction")
    list(story.begin())
    with pytest.raises(BadAnswer, match="Did you mean plan 1"):
        story.choose("yes")
    story.choose("I am the one who sells oil to the keepers.")
    story.step()
    assert story.choose("yes") == "yes"
