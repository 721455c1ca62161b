"""A judge: a capable model that is set for it says what in a passage cannot be true, and only what it can quote counts."""

import json
import logging

import pytest

from recurrentgpt.schema.errors import ModelRefused
from recurrentgpt.testing import ScriptedChatModel, story_replies

WALKS = (
    "Rain fell on the yard, and the gutters sang all night. A dog slept under the cart beside three wet sacks. "
    "Far down the road Bastian Cole hummed, a man of twenty with a fine new hat. The wardens counted the sacks again. "
    "Nobody had swept the steps, and the candle burned low on the long table. "
)
COUNTS = (
    "Morning came late, and with it the miller from the upper bridge. Bastian Cole lit the candle again. Two geese stood at "
    "the pump and would not be moved. Someone had left a ladder against the barn, wet from top to bottom."
)
HUMMED = "Far down the road Bastian Cole hummed, a man of twenty with a fine new hat."
OLD = "Bastian Cole is eighty years old."


def verdict(messages):
    """Find one thing in a passage that holds it, one that nobody wrote, and one that no line says."""
    asked = str(messages[-1].text)
    number = next((line.partition(".")[0] for line in asked.splitlines() if line.endswith(OLD)), "99")
    found = {"sentence": HUMMED, "number": int(number), "instead": "Bastian Cole is twenty years old."}
    made_up = {**found, "sentence": "Bastian Cole danced."}
    return json.dumps({"contradictions": [found, made_up, {**found, "number": 99}]})


@pytest.fixture
def judge():
    return ScriptedChatModel(replies=verdict, model_name="judge")


@pytest.fixture
def begun(begin, model, judge):
    """Give a story in which Bastian is old, whose next passages are what is asked for."""

    def make(*passages, **settings):
        story = begin(min_words=20, max_words=80, selector="simulator", models={"judge": judge}, **settings)
        story.step()
        story.add_entry("Bastian Cole", "person", [OLD])
        waiting = list(passages)

        def replies(messages):
            prose = "JSON schema:" not in str(messages[-1].text)
            return waiting.pop(0) if prose and waiting else story_replies(messages)

        model.replies = replies
        story.choose("Bastian Cole walks home.")
        story.step()
        return story

    return make


def test_what_a_judge_quotes_stands_with_the_passage_and_may_be_meant_so(begun, judge):
    story = begun(WALKS)
    (found,) = story.passage().contradictions
    assert (found["rule"], found["entry"], found["said"], found["holds"]) == ("judge", "Bastian Cole", HUMMED, OLD)
    story.accept_contradiction()
    assert story.passage().contradictions == []
    (bastian,) = story.codex("Bastian")
    assert [line.text for line in bastian.lines] == ["Bastian Cole is twenty years old."]


def test_a_judge_is_shown_once_what_two_entries_say_in_the_same_words(begun, judge):
    story = begun(WALKS, COUNTS)
    story.add_entry("candle", "thing", ["The candle is for Bastian Cole.", OLD])
    story.choose("Bastian Cole lights the candle.")
    story.step()
    shown = str(judge.calls[-1][-1].text)
    assert COUNTS in shown
    assert "The candle is for Bastian Cole." in shown
    assert shown.count(OLD) == 1


def test_the_judges_tokens_are_counted_with_the_passage(begun, judge):
    story = begun(WALKS)
    assert story.passage().usage["calls"] == len(judge.calls) + 3


def test_a_passage_is_mended_for_a_judges_reason(begun, model):
    story = begun(WALKS, WALKS.replace(HUMMED, "Bastian Cole slept."), continuity="mend")
    assert "Bastian Cole slept." in story.passage().text
    assert story.passage().contradictions == []
    assert any(HUMMED in str(message.text) and OLD in str(message.text) for call in model.calls for message in call)


def test_a_judge_that_does_not_answer_costs_no_passage(begun, judge, caplog):
    judge.replies = lambda messages: "{"
    with caplog.at_level(logging.WARNING):
        story = begun(WALKS)
    assert HUMMED in story.passage().text
    assert "was not checked by the judge judge" in caplog.text


@pytest.mark.parametrize("wish", [{"continuity": "off"}, {"codex": False}])
def test_a_judge_is_asked_nothing_where_nobody_wants_to_know(begin, model, judge, wish):
    story = begin(min_words=20, max_words=80, selector="simulator", models={"judge": judge}, **wish)
    story.step()
    assert judge.calls == []


def test_an_edited_passage_is_judged_once_as_a_written_one_is(begun, judge, model):
    story = begun(COUNTS)
    asked, before = len(judge.calls), story.usage["calls"] - len(model.calls)
    list(story.edit_passage(2, WALKS))
    assert len(judge.calls) == asked + 1
    passage = story.passage()
    assert [(one["rule"], one["said"]) for one in passage.contradictions] == [("judge", HUMMED)]
    assert story.whole_usage["calls"] - len(model.calls) == before + 1, "the judge's call is counted"


def test_replayed_passages_are_judged_and_their_calls_told_before(begun, judge):
    story = begun(WALKS, COUNTS)
    story.choose("Bastian Cole lights the candle.")
    story.step()
    asked = len(judge.calls)
    cost = story.replay_cost(2)
    list(story.edit_passage(2, f"{WALKS.strip()} Nobody came.", replay=True))
    assert (len(judge.calls) - asked, cost.calls) == (2, 5)
    assert [len(passage.contradictions) for passage in story.passages()[1:]] == [1, 0]


def test_a_judge_that_does_not_answer_costs_no_edit(begun, judge, caplog):
    story = begun(COUNTS)
    judge.replies = lambda messages: "{"
    with caplog.at_level(logging.WARNING):
        list(story.edit_passage(2, WALKS))
    assert HUMMED in story.passage().text
    assert "was not checked by the judge judge" in caplog.text


def test_a_draft_that_is_kept_is_judged(begun, judge, model):
    story = begun(COUNTS)
    asked = len(judge.calls)
    story.choose("Bastian Cole hums.")

    def refuses(messages):
        raise ModelRefused("The server refused the request.")

    usual, model.replies = model.replies, refuses
    with pytest.raises(ModelRefused):
        story.step()
    model.replies = usual
    list(story.keep(WALKS))
    assert len(judge.calls) == asked + 1
    assert [one["said"] for one in story.passage().contradictions] == [HUMMED]
