"""A story whose embedded model wears an adapter: what is asked for at its root, and whom its plans are about."""

from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import pytest

import recurrentgpt.nodes.runtime as surroundings
from recurrentgpt.models.embedded.adapter import Adapter
from recurrentgpt.models.roles import aresolve_model
from recurrentgpt.nodes.reply_schemas import PlansReply


@pytest.fixture(autouse=True)
def worn(monkeypatch, model):
    """Let every model be a small one that wears an adapter."""

    async def resolve(role, context):
        return replace(await aresolve_model(role, context), adapter=Adapter(Path("teller.gguf")))

    model.tier = "small"
    monkeypatch.setattr(surroundings, "aresolve_model", resolve)


@pytest.mark.parametrize("mode", ["novel", "fiction"])
def test_new_plans_of_the_first_passage_go_on_from_no_conversation(begin, model, mode):
    story = begin(mode=mode, player="Ilse Brandt" if mode == "fiction" else "")
    story.step()
    story.goto(0)
    before = len(model.calls)
    list(story.replan())
    asked = [str(turn.text) for call in model.calls[before:] for turn in call]
    assert asked
    assert not [turn for turn in asked if not turn.strip() or "Plan of the first scene:" in turn]


def with_dead(begin, name):
    """Begin a story of whose two people the one of this name is dead after its first passage."""
    story = begin()
    story.step()
    story.edit_brief(characters=[f"{name}: a clerk", "Otto Reyes: a baker"])
    story.edit_entry(name, "status", "dead")
    return story


def test_plans_in_which_somebody_dead_acts_are_asked_for_again(begin, model, monkeypatch):
    name = "Ilka Brunn"
    story = with_dead(begin, name)
    replies = chain([f"{name} opens the door."], repeat("Somebody else opens the door."))
    monkeypatch.setattr(PlansReply, "in_order", lambda reply: [next(replies)])
    before = len(model.calls)
    list(story.replan())
    # With other luck, and not shown its first reply.
    first, again = model.calls[before:]
    assert [str(turn.text) for turn in first] == [str(turn.text) for turn in again]
    assert len({options["seed"] for options in model.options[before:]}) == 2
    assert story.plans == ["Somebody else opens the door."]


def test_plans_of_the_dead_that_come_again_and_again_are_told_what_is_wrong(begin, model, monkeypatch):
    name = "Ilka Brunn"
    story = with_dead(begin, name)
    replies = chain([f"{name} opens the door."] * 3, repeat("Somebody else opens the door."))
    monkeypatch.setattr(PlansReply, "in_order", lambda reply: [next(replies)])
    before = len(model.calls)
    list(story.replan())
    told = ["Every plan must be about the living." in str(call[-1].text) for call in model.calls[before:]]
    assert told == [False, False, False, True]
    assert story.plans == ["Somebody else opens the door."]


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        ("Mrs. Reed opens the door.", True),
        ("Otto waits. Then Mrs. Reed opens the door.", True),
        ("Mrs. Reed is buried at dawn.", False),
        ("Mrs. Reed's son opens the door.", False),
        ("Otto finds what Mrs. Reed left.", False),
        ("A" * 180, False),
    ],
)
def test_who_acts_in_a_plan(begin, model, monkeypatch, plan, fault):
    story = with_dead(begin, "Mrs. Reed")
    replies = chain([plan], repeat("Otto Reyes opens the other door."))
    monkeypatch.setattr(PlansReply, "in_order", lambda reply: [next(replies)])
    before = len(model.calls)
    list(story.replan())
    assert len(model.calls[before:]) == (2 if fault else 1)
