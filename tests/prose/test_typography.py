"""Quotation marks as languages print them."""

import pytest

from recurrentgpt.prose.typography import typographic

SAID = '"Don\'t," she said, "call it a \'lamp\'."'


@pytest.mark.parametrize(
    ("tag", "printed"),
    [
        ("en", "“Don’t,” she said, “call it a ‘lamp’.”"),
        ("de-AT", "„Don’t,“ she said, „call it a ‚lamp‘.“"),
        ("fr", "«Don’t,» she said, «call it a ‹lamp›.»"),
        ("sv", "”Don’t,” she said, ”call it a ’lamp’.”"),
    ],
)
def test_straight_marks_become_those_of_the_language_letter_for_letter(tag, printed):
    assert typographic(SAID, tag) == printed
    assert len(printed) == len(SAID)
    assert typographic(printed, tag) == printed


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ('"*No*", he said', "“*No*”, he said"),
        ('"You—", she said', "“You—”, she said"),
        ("'Tis '90s talk, get 'em", "’Tis ’90s talk, get ’em"),
    ],
)
def test_a_mark_that_ends_or_stands_for_letters_opens_nothing(typed, printed):
    assert typographic(typed, "en") == printed


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("He was 5'10\" tall.", "He was 5'10\" tall."),
        ('"He\'s 5\' 10", I say," she said.', "“He’s 5' 10\", I say,” she said."),
        ("'It's 6'2\" long.'", "‘It’s 6'2\" long.’"),
        ('"She is 5\'10"."', "“She is 5'10\".”"),
        ('Rain.\n\nShe took 5" of it: 3" x 4".', 'Rain.\n\nShe took 5" of it: 3" x 4".'),
        ("A board of 6' lay there. 'Take it,' he said.", "A board of 6' lay there. ‘Take it,’ he said."),
        ('"I was born in 1990"', "“I was born in 1990”"),
        ('"In 1990, 1991 or 1992", he said. "In 1993"', "“In 1990, 1991 or 1992”, he said. “In 1993”"),
        ("'It was 1990'", "‘It was 1990’"),
        ("'Don't; it was 1990'", "‘Don’t; it was 1990’"),
        ("the 1990's, the '90s'", "the 1990’s, the ’90s’"),
        ('“A board of 10", he said.', "“A board of 10”, he said."),
        ('"One.\n\n"In 1990"', "“One.\n\n“In 1990”"),
        ('She said-"Area 51" is empty.', "She said-”Area 51” is empty."),
    ],
)
def test_feet_and_inches_stay(typed, printed):
    assert typographic(typed, "en") == printed
    assert typographic(printed, "en") == printed


def test_a_text_without_them_stays():
    text = "Rain.\n\nShe took some of it — and no more."
    assert typographic(text, "en") == text
    assert typographic("", "en") == ""
