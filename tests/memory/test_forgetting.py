"""The gates of the small tier's memory."""

from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.memory.forgetting import admit, forget
from recurrentgpt.prose.sentences import count_words

WORDS = ["Mira", "lamp", "horse", "bell", "runs", "owes", "hides", "old", "blue"]
line = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join)


def same(sentence, others):
    return [float(sentence == other) for other in others]


@given(st.lists(line, max_size=40), st.integers(1, 20), st.integers(20, 500), st.randoms())
def test_both_limits_hold_and_nothing_is_lost_without_a_reason(lines, most_sentences, most_words, chance):
    kept, dropped = forget(
        lines, lambda asked: [chance.random() for _ in asked], most_sentences=most_sentences, most_words=most_words
    )
    assert len(kept) <= most_sentences
    assert sum(map(count_words, kept)) <= most_words
    assert len(kept) + len(dropped) == len(lines)
    assert all(item["why"] for item in dropped)
    assert len(lines) > most_sentences or sum(map(count_words, lines)) > most_words or not dropped


def test_relevance_is_asked_only_when_something_has_to_go():
    assert forget(["Mira runs."], lambda asked: 1 / 0) == (["Mira runs."], [])


def test_the_newest_go_last_and_the_irrelevant_go_first():
    lines = [f"Line number {number}." for number in range(22)]
    relevant = {3, 9}
    kept, dropped = forget(lines, lambda asked: [1.0 if at in relevant else 0.0 for at in range(len(asked))], protect=4)
    assert {lines[at] for at in relevant} <= set(kept)
    assert kept[-4:] == lines[-4:]
    assert [item["sentence"] for item in dropped] == [lines[0], lines[1]]
    assert kept == [text for text in lines if text in kept], "the order stays"


def test_the_reason_names_the_limit_that_was_passed():
    lines = [f"{number} " + "word " * 27 for number in range(18)]
    _, dropped = forget(lines, lambda asked: [0.0] * len(asked), most_sentences=20, most_words=500, down_to=14)
    assert len(dropped) == 4
    assert all("at most 500 words" in item["why"] for item in dropped)
    _, dropped = forget([*lines, "Three."], lambda asked: [0.0] * len(asked), most_sentences=18, most_words=5000)
    assert [("at most 18 sentences" in item["why"]) for item in dropped] == [True]


def test_only_what_is_new_is_admitted():
    memory = ["Mira has a lamp."]
    facts = ["mira has a LAMP", "- Bo fell into the well", "Bo fell into the well!", "", "  "]
    assert admit(facts, memory, same) == ["Bo fell into the well."]


def test_a_step_that_happened_is_remembered():
    near = {"Bo fell.": 0.99, "Bo slept.": 0.9}
    assert admit(list(near), ["Bo lay there."], lambda fact, known: [near[fact]] * len(known)) == ["Bo slept."]
    assert admit(["Bo lay there."], ["Bo lay there."], same) == []
