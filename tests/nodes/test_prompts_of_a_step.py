"""What each call of a timestep is told: the shared prefix, invitations, the ending."""

import json

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt.testing import FaultyServer, story_replies


def reply(body):
    asked = [HumanMessage(str(message["content"])) for message in body["messages"]]
    if found := body.get("response_format"):
        asked.append(HumanMessage("JSON schema:\n" + json.dumps(found["json_schema"]["schema"])))
    return story_replies(asked)


async def test_every_later_call_of_a_timestep_begins_with_the_earlier_one(write):
    """Byte for byte, so that a server's prefix cache pays for the split."""
    with FaultyServer(text=reply) as server:
        await write(model="some-model", base_url=server.base_url, steps=3)
    said = [body["messages"] for body in server.requests]
    system, *_ = said[0]
    assert all(turns[0] == system for turns in said)
    writes = [at for at, body in enumerate(server.requests) if "response_format" not in body]
    assert len(writes) == 3
    for at in writes:
        asked = said[at]
        later = said[at + 1 : at + 4] if at != writes[-1] else said[at + 1 : at + 3]
        assert len(later) >= 2
        for turns in later:
            assert turns[: len(asked)] == asked
            assert turns[len(asked)]["role"] == "assistant"
    simulator = said[writes[1] - 1]
    plans = next(turns for turns in said[writes[0] + 1 : writes[0] + 3] if turns == simulator[: len(turns)])
    assert len(plans) < len(simulator)


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_an_ending_is_steered_to_when_it_is_wanted(write, write_prompts, model, tier):
    model.tier = tier
    await write(steps=4, ending=True)
    near = [("nearing its end" in text or "The end is close" in text) for text in write_prompts()]
    last = [("last passage" in text or "last scene of the novel" in text) for text in write_prompts()]
    assert near == [False, True, True, False]
    assert last == [False, False, False, True]


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_an_open_story_is_not_steered_to_an_end(write, write_prompts, model, tier):
    model.tier = tier
    await write(steps=3)
    for text in write_prompts():
        assert "last passage of the novel" not in text
        assert "The end is close" not in text


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_new_characters_are_invited_as_often_as_asked(write, write_prompts, model, tier):
    model.tier = tier

    async def invited(**settings):
        model.calls.clear()
        await write(**settings)
        return [("enter here" in text or "comes into this scene" in text) for text in write_prompts()]

    assert await invited(steps=3, new_character=1.0) == [True] * 3
    assert await invited(steps=3, new_character=0.0) == [False] * 3
    some = await invited(steps=9, new_character=0.5, seed=1)
    assert True in some
    assert False in some
    assert await invited(steps=9, new_character=0.5, seed=1) == some
    assert await invited(steps=9, new_character=0.5, seed=3) != some


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_the_brief_is_in_every_prompt_and_language_and_length_are_told(write, write_prompts, model, tier):
    model.tier = tier
    commits = await write(steps=2, min_words=70, max_words=130)
    assert len(commits) == 3
    for text in write_prompts():
        assert "Mira tends a lamp." in text
        assert "70 to 130 words" in text or "about 100 words" in text


async def test_a_genre_is_dealt_when_none_is_given(write):
    from recurrentgpt.nodes.open_story import GENRES

    genres = {
        (await write({"premise": "Mira tends a lamp."}, steps=1, seed=seed))[0]["story"]: seed for seed in range(2)
    }
    assert len(genres) == 2
    assert len(GENRES) == 10


async def test_a_readers_own_prompts_replace_the_packaged_ones(write, write_prompts, tmp_path):
    (tmp_path / "novel" / "full").mkdir(parents=True)
    (tmp_path / "novel" / "full" / "write.md").write_text("Write as Zoltan would: {{ plan }} {{ memory | length }}")
    commits = await write(steps=1, prompts=str(tmp_path))
    assert f"Write as Zoltan would: {commits[1]['plan']} " in write_prompts()[0]
