"""The last passage of a capable model ends where its model ended it."""

import itertools

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.testing import ScriptedChatModel, story_replies


def speaking(*lasts):
    """Return a model whose last passages are these texts, one after the other."""
    calls, left = itertools.count(), list(lasts)

    def reply(messages):
        own = story_replies([*messages, HumanMessage(f"call {next(calls)}")])
        asked = messages[-1].text
        last = "passage 2 of 2" in "".join(message.text for message in messages if message.type == "human").casefold()
        return left.pop(0) if (last and "passage alone" in asked) or "Go on from" in asked else own

    return ScriptedChatModel(tier="full", replies=reply)


def told(words, name="Mira"):
    """Return a text of so many words that ends properly."""
    sentences = (
        f"{name} leaves key {number} at door {number * 7} before lamp {number * 13} is out." for number in range(99)
    )
    text = ""
    for sentence in sentences:
        if count_words(text) >= words:
            break
        text += sentence + " "
    return text + "Then it was morning."


async def test_a_last_passage_that_is_a_little_short_stands(write):
    text = told(155)
    model = speaking(text)
    commits = await write(steps=2, ending=True, min_words=200, model=model)
    assert commits[-1]["passage"] == text
    assert not [call for call in model.calls if "Go on from exactly" in call[-1].text]


@pytest.mark.parametrize("second", [told(80, "Bo"), told(210, "Bo")])
async def test_a_last_passage_that_is_far_too_short_is_asked_for_again_and_the_better_one_stands(write, second):
    model = speaking(told(90), second, told(170, "Ada"))
    commits = await write(steps=2, ending=True, min_words=200, model=model)
    again = [call for call in model.calls if "Write the whole passage again" in call[-1].text]
    assert "words, and the end of the novel needs more room." in again[0][-1].text
    assert not [call for call in model.calls if "Go on from exactly" in call[-1].text]
    assert commits[-1]["passage"] == (second if "210" in second or count_words(second) > 200 else told(170, "Ada"))


async def test_a_short_ending_that_a_model_insists_on_is_the_end_of_the_novel(write):
    model = speaking(*[text := told(40)] * 9)
    commits = await write(steps=2, ending=True, min_words=200, model=model)
    assert commits[-1]["passage"] == text
    assert sum("Write the whole passage again" in call[-1].text for call in model.calls) == 2


async def test_a_refusal_that_stays_is_not_gone_on_with(write):
    model = speaking(*["I'm sorry, but I can't continue this story."] * 20)
    with pytest.raises(ModelReplyError, match="in 3 tries"):
        await write(steps=2, ending=True, min_words=200, model=model)
    assert sum("passage alone" in call[-1].text for call in model.calls) == 4, (
        "one for the first passage, three for the last"
    )
    assert not [call for call in model.calls if "Go on from exactly" in call[-1].text]


@pytest.mark.parametrize(
    "more",
    ["The story is complete; there is nothing to add.", "(The passage is complete.)", "There is nothing more to add."],
)
async def test_what_a_model_says_when_it_has_told_all_is_no_part_of_the_novel(write, more):
    short = told(120)
    model = speaking(short, short, short, *[more] * 9)
    commits = await write(steps=2, ending=True, min_words=200, model=model)
    assert commits[-1]["passage"] == short
    assert not [call for call in model.calls if "Go on from exactly" in call[-1].text]


@pytest.mark.parametrize("more", ["The passage is complete.", "(The scene is now complete.)", "again"])
async def test_a_passage_that_was_told_stands_where_going_on_brings_nothing(write, more):
    """The first of two passages: it is gone on with once."""
    calls, short = [], told(120)

    def replies(messages):
        asked = messages[-1].text
        if "Go on from exactly" in asked:
            calls.append(asked)
            return short if more == "again" else more
        first = "passage 1 of 2" in "".join(message.text for message in messages if message.type == "human").casefold()
        return short if first and "passage alone" in asked else story_replies(messages)

    commits = await write(steps=2, ending=True, min_words=200, model=ScriptedChatModel(tier="full", replies=replies))
    assert commits[1]["passage"] == short
    assert len(calls) == 1


async def test_a_notice_that_a_model_insists_on_costs_one_more_call_and_stands(write):
    text = told(210).replace(
        "Then it was morning.", "The board said:\n\nNOTICE: The bell is not to be rung.\n\nThen it was morning."
    )
    model = speaking(*[text] * 9)
    commits = await write(steps=2, ending=True, min_words=200, model=model)
    assert commits[-1]["passage"] == text
    again = [call[-1].text for call in model.calls if "Write the whole passage again" in call[-1].text]
    assert len(again) == 1
    assert "(script: NOTICE: The bell is not to be rung.)" in again[0]
