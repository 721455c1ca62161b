import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.prose.shared_runs import longest_shared_run, ngrams, overlap, place_of, tokens

WORDS = st.lists(st.sampled_from("abcd"), max_size=25).map(" ".join)


def naive(text: str, others: list[str]) -> int:
    own, best = tokens(text), 0
    for other in others:
        theirs = tokens(other)
        for n in range(1, len(own) + 1):
            if ngrams(own, n) & ngrams(theirs, n):
                best = max(best, n)
    return best


def test_case_and_punctuation_do_not_matter():
    length, run = longest_shared_run("She said: “The door was open.”", ["THE DOOR, was open; nobody came", "she"])
    assert (length, run) == (4, "the door was open")


def test_nothing_shared():
    assert longest_shared_run("a b", ["c d"]) == (0, "")
    assert longest_shared_run("", ["c d"]) == (0, "")
    assert longest_shared_run("a b", []) == (0, "")


def test_a_run_does_not_cross_from_one_text_into_the_next():
    assert longest_shared_run("one two three four", ["one two", "three four"])[0] == 2


@given(WORDS, st.lists(WORDS, max_size=3))
def test_the_longest_run_is_found(text, others):
    length, run = longest_shared_run(text, others)
    assert length == naive(text, others)
    assert f" {run} " in f" {' '.join(tokens(text))} " or not run


def test_a_run_in_one_of_twenty_passages_is_found():
    dealer = random.Random(1)
    vocabulary = [f"w{number}" for number in range(2000)]
    passage, *others = ([*dealer.choices(vocabulary, k=300)] for _ in range(21))
    others[13][40:52] = passage[100:112]
    assert longest_shared_run(" ".join(passage), map(" ".join, others)) == (12, " ".join(passage[100:112]))


def test_ngrams_and_overlap():
    assert ngrams(["a", "b", "c"], 2) == {("a", "b"), ("b", "c")}
    assert ngrams(["a"], 2) == set()
    assert overlap("a b c", "a b c d") == 1.0
    assert overlap("a b", "c d") == overlap("", "a b") == 0.0


@pytest.mark.parametrize(
    ("said", "text", "found"),
    [
        ("he walked on", "It rained. He walked on! She did not.", "He walked on!"),
        ("“Come in,” he said.", 'Rain. "Come in," he\n said. Night.', '"Come in," he\n said.'),
        ("She really did…", "Then *she really did* all of it.", "*she really did*"),
        ("went", "He wentworth went.", "went."),
        ("He sang", "She sang.", None),
        ("…", "She sang.", None),
    ],
)
def test_words_are_found_where_they_stand(said, text, found):
    place = place_of(said, text)
    assert (text[place[0] : place[1]] if place else None) == found
