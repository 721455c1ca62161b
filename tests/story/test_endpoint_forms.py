"""Whole steps at endpoints that hold a reply to no schema, or think: every call works, and none is asked more than once again."""

import json
from collections import Counter

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt.models.profiles import THINKING_TOKENS
from recurrentgpt.story import Story
from recurrentgpt.testing import FaultyServer, story_answers, story_replies


@pytest.fixture
def written(library, settings, monkeypatch):
    """Give a maker of stories of two passages that a server wrote."""
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")

    def make(server):
        shape = settings(model="some-model", base_url=server.base_url, min_words=60, max_words=200)
        story = Story.new("fantasy", "Mira tends a lamp.", library=library, **shape)
        list(story.stream(2))
        return story

    return make


def is_whole(story):
    passages = story.passages()
    assert [passage.step for passage in passages] == [1, 2]
    assert all(passage.text and passage.summary and passage.short_term_memory for passage in passages)
    assert all(story.brief[part] for part in ("title", "premise", "characters", "outline", "truth", "clues", "voice"))


def forms(server):
    """Return what each request wanted its reply held to; "" for none."""
    return [body.get("response_format", {}).get("type", "") for body in server.requests]


def asked(body):
    """Return what of a request stays the same when it is made again without a field."""
    return json.dumps(body["messages"][:-1]) + body["messages"][-1]["content"].partition("\n\nAnswer with one JSON")[0]


def unseen_form(body):
    """Answer what the messages ask for, as a server that leaves `response_format` out does."""
    return story_replies([HumanMessage(str(message["content"])) for message in body["messages"]])


@pytest.mark.parametrize(
    ("refusal", "tried"),
    [("no schema", ["json_schema", "json_object", ""]), ("no json_schema", ["json_schema", "json_object"])],
)
def test_a_refused_form_is_followed_by_the_simpler_ones_in_one_call_of_a_story(written, refusal, tried):
    with FaultyServer(refusal, text=story_answers) as server:
        is_whole(written(server))
        found = forms(server)
    assert found[: len(tried)] == tried
    assert set(found[len(tried) :]) == {tried[-1], ""}, "prose is held to no form"
    assert sorted(Counter(map(asked, server.requests)).values(), reverse=True)[:2] == [len(tried), 1]
    for body in server.requests:
        assert {"seed", "stream_options"} <= set(body), "no other field is lost"
        assert "max_tokens" in body
    told = ["JSON schema:" in body["messages"][-1]["content"] for body in server.requests[len(tried) - 1 :]]
    assert told[0]
    assert sum(told) >= 5, "founding, and the memory and the plans of two passages"


def test_a_form_that_a_server_passes_over_is_told_in_words_from_the_second_call_on(written):
    with FaultyServer(text=unseen_form) as server:
        is_whole(written(server))
    unusable = [body for body in server.requests if "That reply cannot be used" in str(body["messages"])]
    assert len(unusable) == 1
    assert "JSON schema:" in unusable[0]["messages"][-1]["content"]
    structured = [body for body in server.requests if "response_format" in body]
    assert all("JSON schema:" in body["messages"][-1]["content"] for body in structured[1:])


def test_a_model_that_thinks_against_its_name_gets_tokens_for_it_after_one_call(written):
    with FaultyServer("long thinking", text=story_answers) as server:
        story = written(server)
        is_whole(story)
    first, second, *others = (body["max_tokens"] for body in server.requests)
    assert second == first + THINKING_TOKENS
    assert all(limit > THINKING_TOKENS for limit in others)
    assert max(Counter(map(asked, server.requests[1:])).values()) == 1


@pytest.mark.parametrize("shape", ["thinking", "thinking in reasoning", "thinking in a list", "think tags"])
def test_reasoning_is_in_no_story(written, shape):
    with FaultyServer(shape, text=story_answers) as server:
        story = written(server)
        is_whole(story)
    kept = json.dumps([story.brief, [[it.text, it.summary, it.plan, it.short_term_memory] for it in story.passages()]])
    assert "Let me" not in kept
    assert "think" not in kept
    assert max(Counter(map(asked, server.requests)).values()) == 1


def tells(*passages):
    """Return the answers of a server that writes these passages, from request to request for prose."""
    left = list(passages)

    def answer(body):
        text = story_answers(body)
        return text if text.startswith("{") else left.pop(0)

    return answer


FIRST, SECOND = (story_replies([HumanMessage(text)]) for text in ("One.", "Two."))
END = "She left it dark, and went down to the boats with the key in her shoe."


def test_a_passage_that_met_its_limit_is_gone_on_with_to_its_end(written):
    with FaultyServer("ok", "half", "ok", text=tells(FIRST, END, SECOND)) as server:
        story = written(server)
        first, _ = story.passages()
        again = server.requests[2]["messages"]
    half = first.text.removesuffix(END).rstrip()
    assert first.text.endswith(END), "the end of a passage is its own"
    assert len(half) > len(FIRST) / 3
    assert FIRST.startswith(half)
    assert again[-2]["content"] == half
    assert "Go on from exactly where that text stops" in again[-1]["content"]


def test_a_passage_whose_limit_was_spent_on_thinking_is_gone_on_with_and_the_next_ones_have_room(written):
    with FaultyServer("ok", "half thought", text=tells(FIRST, END, SECOND)) as server:
        story = written(server)
        first, second = story.passages()
        limits = [body["max_tokens"] for body in server.requests[1:]]
    assert first.text.endswith(END)
    assert second.text == SECOND
    assert limits[0] < THINKING_TOKENS
    assert all(limit > THINKING_TOKENS for limit in limits[1:])


def test_a_reply_that_met_its_limit_while_it_thought_is_asked_for_again_with_room(written):
    with FaultyServer("half thought", text=story_answers) as server:
        is_whole(written(server))
    assert server.requests[0]["max_tokens"] < THINKING_TOKENS
    assert all(body["max_tokens"] > THINKING_TOKENS for body in server.requests[1:])


def test_a_model_that_meets_its_limit_again_and_again_ends_at_a_sentence(written):
    texts = [story_replies([HumanMessage(text)]) for text in ("One.", "Two.", "Three.", "Four.")]
    with FaultyServer("ok", "half", "half", "half", "ok", text=tells(*texts)) as server:
        first, _ = written(server).passages()
        prose = [body for body in server.requests if "response_format" not in body]
    assert len(prose) == 4
    assert first.text.endswith(".")
    assert all(text.partition(".")[0] in first.text for text in texts[:3]), "what was written is kept"


@pytest.mark.parametrize("words", ["json_schema is beyond us.", "Failed: response_format", "That schema is too much."])
def test_a_form_refused_in_any_words_is_followed_by_a_simpler_one(written, monkeypatch, words):
    from recurrentgpt import testing_server

    monkeypatch.setitem(testing_server._MESSAGES, "no json_schema", words)
    with FaultyServer("no json_schema", text=story_answers) as server:
        is_whole(written(server))
        found = forms(server)
    assert found[:2] == ["json_schema", "json_object"]
    assert "json_schema" not in found[1:]


def test_a_story_is_written_in_a_small_window(written):
    with FaultyServer("small window", text=story_answers) as server:
        is_whole(written(server))
