"""Other words for a selection: asked for in its place, returned alone, and nothing of the story changed by it."""

import pytest

from recurrentgpt.nodes.rework import REWORKS
from recurrentgpt.prose.emphasis import uncut
from recurrentgpt.schema.errors import BadAnswer, ModelReplyError, StoryError

PASSAGE = "Mira lit the lamp. The keeper lay in a dark room. Nobody came."
ROOM = "a dark room"


@pytest.fixture
def story(begin, model):
    """Give a story of one passage, whose text is known, and which the model has now an answer for."""
    story = begin()
    story.step()
    list(story.edit_passage(1, PASSAGE))
    model.calls.clear()
    return story


def place(text, part=ROOM):
    at = text.index(part)
    return at, at + len(part)


@pytest.mark.parametrize("tier", ["small", "full"])
@pytest.mark.parametrize("how", REWORKS)
def test_words_for_a_part_are_asked_for_in_its_place(story, model, prompts, tier, how):
    model.tier, model.replies = tier, lambda messages: "a room without a window"
    before = story.snapshot(usage=True)
    assert story.rework(1, *place(PASSAGE), how) == "a room without a window"
    (asked,) = prompts()
    assert "Mira lit the lamp. The keeper lay in [[a dark room]]. Nobody came." in asked
    assert story.snapshot(usage=True) == before


def test_each_way_is_asked_for_in_words_of_its_own(story, model, prompts):
    model.replies = lambda messages: "a hall"
    for how in REWORKS:
        story.rework(1, *place(PASSAGE), how)
    assert len(set(prompts())) == len(REWORKS)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("[[a hall]]", "a hall"),
        ('"a hall"', "a hall"),
        ("Here is the new part:\n\na hall", "a hall"),
        ("<think>A hall?</think>a hall", "a hall"),
        ("  a hall\n", "a hall"),
        ('"Come," she said, "in."', '"Come," she said, "in."'),
    ],
)
def test_what_a_model_puts_around_it_is_left_out(story, model, reply, text):
    model.replies = lambda messages: reply
    assert story.rework(1, *place(PASSAGE), "rewrite") == text


@pytest.mark.parametrize(("tier", "text"), [("full", "a *quiet* *hall*"), ("small", "a quiet hall")])
def test_emphasis_has_the_form_that_a_passage_gives_it(story, model, tier, text):
    model.tier, model.replies = tier, lambda messages: "a __quiet__ **hall**"
    assert story.rework(1, *place(PASSAGE), "rewrite") == text


EMPHASISED = "He was *very tired* and *so* cold."


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("tired* and", "*very tired* and"),
        ("was *very", "was *very tired*"),
        ("tired* and *so", "*very tired* and *so*"),
        ("*so", "*so*"),
        ("very", "very"),
        ("so", "so"),
        (" and ", " and "),
        ("*so* cold", "*so* cold"),
    ],
)
def test_no_emphasis_is_cut_apart(part, whole):
    found = uncut(EMPHASISED, slice(*place(EMPHASISED, part)))
    assert EMPHASISED[found] == whole


def test_what_stands_inside_an_emphasis_has_none_of_its_own(story, model):
    list(story.edit_passage(1, EMPHASISED))
    model.tier, model.replies = "full", lambda messages: "*utterly*\n\nworn"
    assert story.rework(1, *place(EMPHASISED, "tired"), "rewrite") == "utterly worn"
    with pytest.raises(BadAnswer, match="characters 7 to 23, which hold all of it"):
        story.rework(1, *place(EMPHASISED, "tired* and"), "rewrite")


def test_white_space_at_its_ends_stays(story, model):
    model.replies = lambda messages: "He slept."
    at, end = place(PASSAGE, " The keeper lay in a dark room. ")
    assert story.rework(1, at, end, "shorten") == " He slept. "


@pytest.mark.parametrize("part", [(3, 3), (5, 2), (-1, 4), (0, 10_000), (4, 5)])
def test_a_part_without_words_is_refused_before_a_model_is_asked(story, model, part):
    with pytest.raises(BadAnswer, match="Nothing is selected"):
        story.rework(1, *part, "rewrite")
    assert model.calls == []


def test_what_cannot_be_done_is_refused(story, model):
    with pytest.raises(BadAnswer, match="rewrite, expand, shorten, describe, rephrase"):
        story.rework(1, 0, 4, "improve")
    with pytest.raises(StoryError, match="opening"):
        story.rework("opening", 0, 4, "rewrite")
    model.replies = lambda messages: "[[]]"
    with pytest.raises(ModelReplyError, match="no words for the selection"):
        story.rework(1, 0, 4, "rewrite")


async def test_it_is_awaited_too(story, model):
    model.replies = lambda messages: "a hall"
    assert await story.arework(1, *place(PASSAGE), "describe") == "a hall"


def test_words_without_a_banned_phrase_are_asked_for_again(story, model, prompts):
    story.change_settings(banned="a hall")
    replies = iter(["a *hall*", "a hall", "a house"])
    model.replies = lambda messages: next(replies)
    assert story.rework(1, *place(PASSAGE), "rewrite") == "a house"
    asked = prompts()
    assert "may stand in it: a hall" in asked[0]
    assert [text.count("It holds what the author has banned: a hall.") for text in asked] == [0, 1, 2]


def test_of_words_that_hold_one_in_the_end_the_other_sentences_stay(story, model):
    story.change_settings(banned="a hall")
    model.replies = lambda messages: "It was a hall. It was dark."
    assert story.rework(1, *place(PASSAGE), "rewrite") == "It was dark."
    model.replies = lambda messages: "a hall"
    with pytest.raises(ModelReplyError, match="no words for the selection"):
        story.rework(1, *place(PASSAGE), "rewrite")
