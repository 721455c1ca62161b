"""Nobody and nothing of a prompt's worked examples walks into a small model's story."""

import json

import pytest

from recurrentgpt.testing import story_replies


def passages(commits):
    return [commit["passage"] for commit in commits if commit["passage"]]


STRANGER = "Then Petra came up the stair with the keys."


def with_a_stranger(messages):
    text = story_replies(messages)
    first, _, rest = text.partition("\n\n")
    return text if text.startswith("{") else f"{first}\n\n{STRANGER}\n\n{rest}"


async def test_nobody_of_a_worked_example_walks_into_a_small_models_story(write, write_prompts, model):
    model.tier, model.replies = "small", with_a_stranger
    (passage,) = passages(await write(steps=1, min_words=200))
    assert "- Petra Lund: the oldest warden" in write_prompts()[0]
    assert "Petra" not in passage


async def test_whoever_has_such_a_name_in_the_story_may_act_in_it(write, write_prompts, model):
    model.tier, model.replies = "small", with_a_stranger
    (passage,) = passages(await write({"premise": "Petra tends a lamp."}, steps=1, min_words=200))
    assert STRANGER in passage
    assert len(write_prompts()) == 1


COPIED = "She put the oil can down and stood well back from it."


async def test_no_sentence_of_a_worked_example_is_copied(write, write_prompts, model):
    model.tier, model.replies = "small", lambda messages: with_a_stranger(messages).replace(STRANGER, COPIED)
    (passage,) = passages(await write(steps=1, min_words=200))
    assert COPIED in write_prompts()[0]
    assert COPIED not in passage


def telling(fields):
    """Return replies in which an object that has these fields holds these values."""

    def replies(messages):
        text = story_replies(messages)
        found = json.loads(text) if text.startswith("{") else {}
        return json.dumps({**found, **fields}) if fields.keys() <= found.keys() else text

    return replies


KNOWN = "Mira found the bridge broken."
UNKNOWN = "Mira was caught in the tunnel with Bastian."


@pytest.mark.parametrize(
    ("summary", "facts", "kept"),
    [
        (KNOWN, [UNKNOWN, "Mira has a lamp.", "The bridge is gone."], KNOWN),
        (UNKNOWN, [UNKNOWN, "Mira has a lamp.", "The bridge is gone."], "Mira has a lamp."),
    ],
)
async def test_no_note_tells_of_them(write, model, summary, facts, kept):
    model.tier, model.replies = "small", telling({"summary": summary, "facts": facts})
    commit = (await write(steps=1))[-1]
    assert commit["summary"] == kept
    assert "Bastian" not in json.dumps([commit["short_term_memory"], commit.get("codex", [])])


async def test_where_every_note_tells_of_them_the_passage_is_summed_up_by_its_beginning(write, model):
    model.tier, model.replies = "small", telling({"summary": UNKNOWN, "facts": [UNKNOWN] * 3})
    commit = (await write(steps=1))[-1]
    assert commit["passage"].startswith(commit["summary"])


async def test_plans_about_them_are_asked_for_again(write, model):
    model.tier, asked = "small", []

    def replies(messages):
        text = story_replies(messages)
        if "What happens next" not in str(messages[-1].text) and not any(
            "cannot be used" in str(turn.text) for turn in messages
        ):
            return text
        asked.append(messages)
        plans = json.loads(text)
        return (
            json.dumps({name: f"Bastian goes first. {plan}" for name, plan in plans.items()})
            if len(asked) == 1
            else text
        )

    model.replies = replies
    await write(steps=1)
    assert "Nobody in this story is called Bastian." in str(asked[1][-1].text)
