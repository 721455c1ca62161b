"""What is shown of a recalled piece that is too long to be shown whole."""

from recurrentgpt.memory.excerpts import excerpt
from recurrentgpt.prose.sentences import count_words

RAIN = "It rained on the roof all night. " * 12
KEY = "Ada hid the iron key under the stove."


def test_a_short_piece_is_shown_whole():
    assert excerpt(f" {KEY} ", "Where is the key?", 8) == KEY


def test_what_bears_on_the_plan_is_shown_wherever_it_stands():
    for text in (KEY + " " + RAIN, RAIN + KEY, RAIN + KEY + " " + RAIN):
        shown = excerpt(text, "Ada looks for the iron key.", 20)
        assert KEY in shown
        assert count_words(shown) <= 20
        assert shown in text


def test_where_nothing_bears_on_the_plan_the_beginning_is_shown():
    assert excerpt(RAIN + KEY, "A ship sails.", 7) == "It rained on the roof all night."


def test_a_sentence_that_is_too_long_is_cut():
    assert excerpt("word " * 30, "word", 5) == "word word word word word…"
