"""What an edit changes of the brief, which is in every prompt."""

import re

import pytest


@pytest.mark.parametrize("replay", [False, True])
def test_an_edit_that_only_changes_a_name_changes_it_in_the_brief_of_its_branch(written, model, prompts, replay):
    story = written(3)
    text = story.passage(2).text
    name = next(word for word in re.findall(r"\b[A-Z]\w+", text) if text.count(word) > 1)
    story.edit_brief(premise=f"{name} tends a lamp.", characters=[f"{name} Kerr: a smith", "Otto: a friend"])
    beginning = len(model.calls)
    list(story.edit_passage(2, text.replace(name, "Zebulon"), replay=replay))
    story.step()
    assert story.brief["characters"] == ["Zebulon Kerr: a smith", "Otto: a friend"]
    assert story.brief["premise"] == "Zebulon tends a lamp."
    assert any("Zebulon Kerr" in prompt for prompt in prompts(beginning))
    assert not any(f"{name} Kerr" in prompt or f"{name} tends" in prompt for prompt in prompts(beginning))
    story.undo(2)
    assert story.brief["characters"][0] == f"{name} Kerr: a smith"


def test_an_edit_that_changes_more_than_a_name_leaves_the_brief_alone(written):
    story = written(2)
    story.edit_brief(characters=["Mira: a smith"])
    for text in ("Zebulon left, and nobody saw it.", story.passage(2).text + " Mira left."):
        list(story.edit_passage(2, text))
        assert story.brief["characters"] == ["Mira: a smith"]
