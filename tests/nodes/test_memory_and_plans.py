"""update_memory and propose_plans: ceilings that hold, reasons that are true, plans that differ."""

import json
from itertools import pairwise

import pytest

from recurrentgpt.nodes.write import MOST_SAMPLES
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.testing import story_replies


def rewritten(lines, **more):
    return json.dumps({"dropped": [], "added": [], "short_term_memory": lines, "summary": "Mira left.", **more})


def answering(model, reply):
    """Let the model answer calls for a memory with `reply(number of the call)`, and others as before."""
    plain, calls = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{") and "short_term_memory" in json.loads(text) and "title" not in json.loads(text):
            calls.append(messages)
            return reply(len(calls))
        return text

    model.replies = replies
    return calls


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_memory_stays_within_its_ceilings_and_keeps_learning(write, model, tier):
    model.tier = tier
    commits = await write(steps=14)
    for before, after in pairwise(commits):
        old, new = before["short_term_memory"].splitlines(), after["short_term_memory"].splitlines()
        assert 1 <= len(new) <= 20
        assert count_words(after["short_term_memory"]) <= 500
        assert [item["sentence"] for item in after["rationale"]["added"]] == [line for line in new if line not in old]
        dropped = [item["sentence"] for item in after["rationale"]["dropped"]]
        assert set(dropped) >= {line for line in old if line not in new}
        assert not set(dropped) & set(new)
        assert after["rationale"]["added"]
        assert after["summary"]
    if tier == "small":
        assert len(commits[-1]["short_term_memory"].splitlines()) >= 10
        assert all(item["why"] for commit in commits for item in commit["rationale"]["dropped"])


async def test_a_model_that_cannot_be_short_is_cut_to_the_ceilings(write, model):
    lines = [f"Mira counted {number} grey stones on the {number}th day." for number in range(30)]
    calls = answering(model, lambda number: rewritten(lines))
    _, first = await write(steps=1)
    assert len(calls) == 2, "it is asked once to be shorter"
    kept = first["short_term_memory"].splitlines()
    assert len(kept) <= 20
    assert set(kept) <= set(lines)
    dropped = [item for item in first["rationale"]["dropped"] if item["sentence"] in lines]
    assert {item["sentence"] for item in dropped} == set(lines) - set(kept)
    assert all("at most" in item["why"] for item in dropped)


async def test_reasons_belong_to_what_really_changed(write, model):
    """A model may claim to have dropped what it kept, and forget to say what it added."""
    memories = {
        1: rewritten(["Mira has a lamp.", "Bo fell."]),
        2: rewritten(
            ["Mira has a lamp.", "Cy sings."],
            dropped=[{"sentence": "Mira has a lamp.", "why": "no"}, {"sentence": "Bo fell.", "why": "He got up."}],
            added=[{"sentence": "Bo fell.", "why": "no"}, {"sentence": "Cy  sings.", "why": "It is loud."}],
        ),
    }
    answering(model, memories.__getitem__)
    commits = await write(steps=2)
    assert commits[2]["rationale"] == {
        "dropped": [{"sentence": "Bo fell.", "why": "He got up."}],
        "added": [{"sentence": "Cy sings.", "why": "It is loud."}],
    }


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("tier", ["small", "full"])
async def test_as_many_plans_as_asked_for(write, model, tier, count):
    model.tier = tier
    commits = await write(steps=2, plans=count)
    assert [len(commit["candidate_plans"]) for commit in commits[1:]] == [count, count]
    assert 1 <= len(commits[0]["candidate_plans"]) <= count
    assert all(len(set(commit["candidate_plans"])) == len(commit["candidate_plans"]) for commit in commits[1:])


async def test_plans_that_say_the_same_are_asked_for_again(write, model):
    plain, calls = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{") and set(json.loads(text)) == {"plans"}:
            calls.append(messages)
            if len(calls) == 1:
                return json.dumps({"plans": ["Mira runs to the old mill."] * 2 + ["Bo hides."]})
        return text

    model.replies = replies
    commits = await write(steps=1)
    assert len(calls) == 2
    assert "must go its own way" in calls[1][-1].text
    assert len(set(commits[1]["candidate_plans"])) == 3
    assert commits[1]["usage"]["resamples"] == 1


@pytest.mark.parametrize(
    "reply", ["", "   ", "I'm sorry, but I can't help with that.", "Chapter 1\n\n# The End", "word " * 600]
)
async def test_prose_that_stays_unusable_ends_after_some_samples(write, model, write_prompts, reply):
    plain = model.replies
    model.replies = lambda messages: text if (text := plain(messages)).startswith("{") else reply
    with pytest.raises(Exception, match="try again") as caught:
        await write(steps=1)
    assert isinstance(caught.value, ModelReplyError) or not reply.strip()
    assert len(write_prompts()) <= MOST_SAMPLES


async def test_a_short_sample_is_continued_from_where_it_stopped(write, model, write_prompts):
    plain, parts = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{"):
            return text
        parts.append(" ".join(text.split("\n\n")[:2]))
        return parts[-1]

    model.replies = replies
    commits = await write(steps=1, min_words=200)
    assert len(parts) > 1
    words = commits[1]["passage"].split()
    assert 200 <= len(words) <= 400
    assert words[: len(parts[0].split())] == parts[0].split()
    assert parts[0] in write_prompts()[1]
    assert commits[1]["usage"]["resamples"] == len(parts) - 1


def writing(model, *passages):
    """Let the model answer calls for prose with these passages in their order, and others as before."""
    left = list(passages)
    model.replies = lambda messages: text if (text := story_replies(messages)).startswith("{") else left.pop(0)


def scene(count):
    words = [f"{letter}{ending}" for letter in "bcdfgklmprst" for ending in ("ench", "oat", "ridge", "all", "ell")]
    return "\n\n".join(
        f"Mira {words[n]}ed the {words[-n - 1]} by the {words[n // 2]} {n + 1} times." for n in range(count)
    )


async def test_not_a_word_of_a_capable_models_passage_is_lost(write, model):
    passage = scene(14) + "\n\nThe last lamp was hers."
    writing(model, passage)
    _, commit = await write(steps=1, min_words=60, max_words=100)
    assert commit["passage"] == passage
    assert commit["usage"]["resamples"] == 0


async def test_a_passage_that_is_much_too_long_is_asked_for_again_and_kept_whole(write, model, write_prompts):
    long, shorter = scene(30), scene(8)
    writing(model, long, shorter)
    _, commit = await write(steps=1, min_words=60, max_words=100)
    assert commit["passage"] == shorter
    again = write_prompts()[1]
    assert long in again
    assert "at most 100 are wanted" in again
    writing(model, long, long, long)
    _, commit = await write(steps=1, min_words=60, max_words=100)
    assert commit["passage"] == long, "it is kept where the model insists"


async def test_a_comment_is_asked_about_with_the_reason(write, model, write_prompts):
    clean = scene(8)
    writing(model, f"{clean}\n\nMIRA: We have to go.", clean)
    _, commit = await write(steps=1, min_words=60, max_words=100)
    assert commit["passage"] == clean
    assert "script" in write_prompts()[1]


async def test_the_place_in_the_novel_is_told_and_the_end_leaves_no_room(write, write_prompts, model):
    await write(steps=2, ending=True, new_character=1.0)
    first, last = write_prompts()[0], write_prompts()[-1]
    assert "passage 1 of 2" in first
    assert "passage 2 of 2" in last
    assert "Leave room" not in last
    assert "new character" not in last
