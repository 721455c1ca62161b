"""Banned words and phrases: named in the prompts of prose, asked for again, and in no passage in the end."""

import pytest

from recurrentgpt.nodes.write import MOST_REWRITES
from recurrentgpt.prose.gate import MOST_BANNED
from recurrentgpt.testing import story_replies

BANNED = "a testament to; shivers down"
BAD = "It sent Shivers down his back."


def insisting(times):
    """Return replies of which the first `times` passages hold a banned phrase after their first paragraph."""
    left = [times]

    def replies(messages):
        text = story_replies(messages)
        if text.startswith("{"):
            return text
        left[0] -= 1
        first, rest = text.split("\n\n", 1)
        return f"{first}\n\n{BAD}\n\n{rest}" if left[0] >= 0 else text

    return replies


def passages(commits):
    return [commit["passage"] for commit in commits if commit["step"]]


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_passage_that_holds_one_is_asked_for_again(write, write_prompts, model, tier):
    model.tier, model.replies = tier, insisting(1)
    (passage,) = passages(await write(steps=1, min_words=200, banned=BANNED))
    prompts = write_prompts()
    assert BANNED in prompts[0]
    assert "shivers" not in passage.lower()
    assert len(prompts) == 2
    assert ("It held what the author has banned: shivers down." in prompts[1]) == (tier == "full")


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_model_that_insists_is_asked_so_often_and_the_sentence_is_left_out(write, write_prompts, model, tier):
    model.tier, model.replies = tier, insisting(99)
    (passage,) = passages(await write(steps=1, min_words=200, banned=BANNED))
    assert len(passage.split()) >= 200
    assert "shivers" not in passage.lower()
    assert len(write_prompts()) == 1 + (MOST_REWRITES if tier == "full" else MOST_BANNED)


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_where_nothing_is_banned_nobody_is_told_so(write, write_prompts, model, tier):
    model.tier, model.replies = tier, insisting(99)
    (passage,) = passages(await write(steps=1))
    (prompt,) = write_prompts()
    assert BAD in passage
    assert "may stand in it" not in prompt
    assert "Never use" not in prompt
