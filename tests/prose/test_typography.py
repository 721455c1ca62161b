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


def test_a_text_without_them_stays():
    text = 'Rain.\n\nShe took 5" of it — and no more.'
    assert typographic(text, "en") == text.replace('"', "”")
    assert typographic("", "en") == ""
