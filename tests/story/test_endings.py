"""What ends: a story that was asked to, and replies that never would."""

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
