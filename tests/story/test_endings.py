"""What ends: a story that was asked to, and replies that never would."""

import json

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt.models.calls import Meter, ask
from recurrentgpt.models.roles import resolve_model
from recurrentgpt.nodes.human.answers import check_memory, parse_answer
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BadAnswer, ModelReplyError, SettingsError
from recurrentgpt.testing import FaultyServer


def test_a_story_that_ends_has_no_more_plans_and_can_be_taken_up_again(begin, library):
    story = begin(ending=True)
    events = list(story.stream(3))
    assert story.plans == []
    assert [event["step"] for event in events if event["event"] == "plans"] == [1, 2]
    assert library.stories()[0].status == "finished"
    again = type(story).open(story.id, library=library, model=story.context.model, embeddings=story.context.embeddings)
    assert again.step().step == 4
    assert len(again.plans) == 3


@pytest.fixture
def ended(begin, model):
    """Give a story of two passages that has ended, and whose model says what each update of the memory adds."""
    plain, model.tier = model.replies, "full"

    def replies(messages):
        text = plain(messages)
        if not text.startswith("{") or "turns" not in (reply := json.loads(text)):
            return text
        about = next(message.text for message in reversed(messages) if message.type == "ai")
        line = f"Mira learned this: {about.split('.')[0]}."
        reply |= {
            "drop": [],
            "replace": [],
            "add": [{"sentence": line, "why": "It is new."}],
            "turns": [],
            "unreached": "",
        }
        return json.dumps(reply)

    model.replies = replies
    story = begin(ending=True)
    list(story.stream(2))
    assert story.plans == []
    assert story.memory == story.passage(1).short_term_memory, "nothing is written from it"
    model.calls.clear()
    return story


def memory_calls(model):
    return [at for at, call in enumerate(model.calls) if "Now bring the short-term memory" in call[-1].text]


def prose_calls(model):
    return [at for at, call in enumerate(model.calls) if "Write the next passage" in call[-1].text]


def again_of(story, library):
    return type(story).open(story.id, library=library, model=story.context.model, embeddings=story.context.embeddings)


def test_a_story_that_goes_on_after_its_end_first_remembers_how_it_ended(ended, model, library):
    last = ended.passage()
    told = f"Mira learned this: {last.text.split('.')[0]}."
    again = again_of(ended, library)
    third = again.step()
    assert third.step == 3
    assert memory_calls(model)[0] < prose_calls(model)[0]
    assert told in model.calls[prose_calls(model)[0]][-1].text
    assert told in third.short_term_memory
    corrected = again.passage(2)
    assert (corrected.amends, corrected.text, corrected.summary) == (last.id, last.text, last.summary)
    assert corrected.rationale["added"] == [{"sentence": told, "why": "It is new."}]
    assert len(corrected.plans) == 3
    assert len(memory_calls(model)) == 2, "once for the end, once for the new passage"
    model.calls.clear()
    again.step()
    assert len(memory_calls(model)) == 1


def test_a_plan_of_ones_own_after_the_end_is_written_from_the_memory_of_it(ended, model, library):
    told = f"Mira learned this: {ended.passage().text.split('.')[0]}."
    again = again_of(ended, library)
    assert again.choose({"action": "write", "plan": "Mira comes back in spring."}) == "Mira comes back in spring."
    assert again.waiting_plan == "Mira comes back in spring."
    again = again_of(ended, library)
    third = again.step()
    assert (third.step, third.plan) == (3, "Mira comes back in spring.")
    (asked,) = (model.calls[at][-1].text for at in prose_calls(model))
    assert told in asked
    assert "The plan for the next passage:\nMira comes back in spring." in asked
    plans = [call for call in model.calls if "Now propose" in call[-1].text]
    assert len(plans) == 1, "none were asked for before it"
    about = model.calls[memory_calls(model)[0]]
    assert not any("comes back in spring" in turn.text for turn in about), "the end was not written from it"


def test_plans_for_what_comes_after_the_end_are_asked_for_as_such(ended, model, library):
    """The request before them said that nothing comes after it."""
    again = again_of(ended, library)
    again.step()
    again.step()
    asking = [call[-1].text for call in model.calls if "Now propose" in call[-1].text]
    assert ["was to end with the passage you just wrote" in text for text in asking] == [True, False, False]


def test_other_plans_after_the_end_come_from_the_memory_of_it(ended, model):
    told = f"Mira learned this: {ended.passage().text.split('.')[0]}."
    list(ended.replan())
    assert len(ended.plans) == 3
    assert told in ended.memory
    assert prose_calls(model) == []


def test_another_take_of_the_last_passage_leaves_the_memory_alone(ended, model):
    list(ended.retry())
    assert memory_calls(model) == []


def test_new_plans_know_an_edited_memory(begin, model):
    story = begin()
    story.step()
    story.edit_memory("Mira has a twin called Quoll.")
    before = len(model.calls)
    list(story.replan())
    assert any("Quoll" in message.text for call in model.calls[before:] for message in call)


async def test_a_reply_without_end_is_cut(monkeypatch):
    with FaultyServer("endless") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        chat = resolve_model("planner", Context(model="m"))
        schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
        with pytest.raises(ModelReplyError, match="token limit"):
            await ask(chat, [HumanMessage("Say a.")], schema, max_tokens=20, meter=Meter())
        assert len(server.requests) == 2


def test_one_long_word_is_no_way_around_a_ceiling():
    with pytest.raises(BadAnswer, match="characters"):
        check_memory("y" * 1_000_000)
    with pytest.raises(BadAnswer, match="characters"):
        parse_answer("x" * 200_000, ["one", "two"])


@pytest.mark.parametrize(
    "bad", [{"tier": "x"}, {"selector": "x"}, {"timeout": -1}, {"temperature": -5}, {"language": " "}, {"plans": 0}]
)
def test_settings_that_cannot_be_are_refused(bad):
    with pytest.raises(SettingsError, match=next(iter(bad))):
        Context(**bad)


def test_english_has_one_name():
    assert Context(language="en").language == Context(language="english").language == "English"
