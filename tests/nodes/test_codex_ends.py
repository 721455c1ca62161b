"""Which fact a capable model ends in words of its own."""

import asyncio
from types import SimpleNamespace

import pytest

from recurrentgpt.memory.codex import changed
from recurrentgpt.nodes.codex_ends import meant_ends
from recurrentgpt.schema.codex import Change, Codex

FACTS = (
    "Hanne's left arm is in a sling.",
    "Hanne owes Otto ten marks.",
    "Hanne is waiting for the ferry to Lund.",
    "Hanne suspects the cook.",
)
HANNE = changed(
    Codex(),
    [Change(entry="Hanne Vogt", kind="person", do="set", aspect="fact", text=fact, rests_on="") for fact in FACTS],
    "p1",
    1,
)


def runtime(near, language="English"):
    """Return what embeds as told: how near each fact is that holds a word."""

    async def nearness(query, texts):
        return {text: next((share for word, share in near.items() if word in text), 0.1) for text in texts}

    return SimpleNamespace(context=SimpleNamespace(language=language), recall=SimpleNamespace(nearness=nearness))


def ended(said, near=(), aspect="fact"):
    change = Change(entry="Hanne Vogt", kind="person", do="end", aspect=aspect, text=said, rests_on="")
    found = asyncio.run(meant_ends([change], HANNE, runtime(dict(near))))
    left = changed(HANNE, found, "p2", 2).find("Hanne Vogt").lines
    return [fact for fact in FACTS if fact not in {line.text for line in left}]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Hanne's left arm is in a sling.", 0),
        ("her arm in the sling", 0),
        ("Hanne is no longer waiting for the ferry to Lund.", 2),
        ("Hanne owes Otto ten marks", 1),
    ],
)
def test_an_end_in_the_words_of_a_fact_ends_it_without_an_embedder(said, fact):
    assert ended(said) == [FACTS[fact]]


def test_an_end_in_other_words_ends_the_fact_that_it_means():
    assert ended("Hanne's arm is injured.", {"sling": 0.77, "ferry": 0.3}) == [FACTS[0]]
    assert ended("bandaged arm", {"sling": 0.7}, aspect="look") == [FACTS[0]]


@pytest.mark.parametrize("near", [{"sling": 0.7, "ferry": 0.6}, {"sling": 0.4}])
def test_an_end_that_no_fact_is_clearly_meant_by_ends_nothing_and_is_told(near, caplog):
    assert not ended("Hanne has been hurt.", near)
    assert "Nothing of Hanne Vogt ended" in caplog.text


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("Hanne's right arm is in a sling.", "sling"),
        ("Hanne's left foot is in a sling.", "sling"),
        ("Hanne owes Lena ten marks.", "Otto"),
        ("Hanne is waiting for the train.", "ferry"),
        ("Hanne suspects the cook's brother.", "cook"),
        ("Hanne suspects the gardener.", "cook"),
        ("Hanne does not suspect the cook.", "cook"),
    ],
)
def test_another_thing_in_the_same_words_ends_nothing(said, word):
    assert not ended(said, {word: 0.95})


def test_what_is_close_by_meaning_alone_ends_nothing():
    assert ended("Hanne is afraid of Otto.", {"Otto": 0.9}) == []


def test_an_end_in_another_language_is_left_as_it_was_said():
    change = Change(entry="Hanne Vogt", kind="person", do="end", aspect="fact", text="Hanne wartet.", rests_on="")
    assert asyncio.run(meant_ends([change], HANNE, runtime({}, "German"))) == [change]
