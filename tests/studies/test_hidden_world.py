"""The worlds of hidden facts are what they say: told once, asked in other words, among people who are everywhere."""

import asyncio
import dataclasses
import random
import re
from collections import Counter
from functools import cached_property

import pytest

from benchmarks import codex_recall
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.studies.measures.hidden_world import PLANTED, WORLDS, HiddenWorld, Planted, Probe

# Words that tell nothing of what a sentence is about.
PLAIN = """
    a about across after again against all an and any anyone are ask asked at be been before being beyond but by came can
    could did do does done down each else for from get good got had has have he her hers him his how i if in into is it
    its just kept later left less let like made make many may me meant more most much must my no nobody none not nothing
    now of off on once one only or other out over own said she should so some somebody something than that the their them
    then there these they this those through time times to too two under until up us was way we well went were what when
    where which while who whom whose why will with without would yet you your back day days ever never put set since take
    took goes go gone
"""


def said(text: str) -> set[str]:
    """Return the stems of the words of a text that say something."""
    words = set(re.findall(r"[a-z]{3,}", text.lower())) - set(PLAIN.split())
    return {re.sub(r"(?<=...)(ings?|ied|ies|ed|es|ly|s|e)$", "", word) for word in words}


@pytest.fixture(params=WORLDS, scope="module")
def world(request):
    return HiddenWorld(request.param)


def names(world: HiddenWorld) -> set[str]:
    once = [
        word
        for probe in world.probes
        if "once" in probe.sort
        for word in re.findall(r"\b[A-Z]\w+ [A-Z]\w+", probe.query)
    ]
    return said(" ".join([*world.people, *world.roles, *once]))


def test_each_fact_is_told_in_its_passage_and_a_change_by_its_last_version(world):
    for probe in world.probes:
        assert probe.at <= PLANTED
        assert probe.sentence in world.passage(probe.at)
        for old in probe.old:
            assert any(old in world.passage(number) for number in range(1, probe.at))
        assert probe.sentence not in probe.old
    sorts = Counter(probe.sort for probe in world.probes)
    assert sorts["person"] + sorts["once"] == PLANTED
    assert all(len(probe.old) == 3 for probe in world.probes if probe.sort == "changed")


def test_a_question_has_no_word_of_the_fact_but_who_it_is_about(world):
    for probe in world.probes:
        if probe.sort in ("person", "role", "once"):
            assert not said(probe.query) & said(probe.sentence) - names(world), probe
        if probe.sort == "changed":
            assert len(said(probe.query) & said(probe.sentence) - names(world)) <= 3, "no more than what it is called"


def test_what_else_is_told_has_no_word_of_a_fact(world):
    facts = set().union(*(said(" ".join([probe.sentence, *probe.old])) for probe in world.probes)) - names(world)
    dealer = random.Random(5)
    for _ in range(3000):
        line = world.filler(dealer)
        assert not said(line) & facts, line


def test_people_are_everywhere_and_the_filler_has_variety(world):
    passages = [world.passage(number) for number in range(300, 400)]
    for person in world.people:
        assert sum(person in passage for passage in passages) > 60
    lines = [line for passage in passages for line in re.split(r"(?<=[.?!])\s+", passage)]
    assert len(set(lines)) > 0.6 * len(lines)


def test_a_world_is_the_same_twice_and_another_by_another_seed(world):
    again = HiddenWorld(world.name)
    assert (again.passage(7), again.probes) == (world.passage(7), world.probes)
    assert HiddenWorld(world.name, seed=2).passage(7) != world.passage(7)


def test_what_an_honest_author_noted_is_told_to_the_writer(world, monkeypatch):
    early = [probe for probe in world.probes if probe.at <= 12]
    found = asyncio.run(codex_recall.measure(world, HashEmbeddings(), (2, 8), early))
    assert found["person"]["2"]["told"] == 1
    assert found["once"]["8"]["among 4"] == 1
    # Of people who are everywhere the codex knows more than the passages that hashes find, and brings those too.
    monkeypatch.setattr("recurrentgpt.nodes.retrieve.KNOWN_LINES", 0)
    alone = asyncio.run(codex_recall.measure(world, HashEmbeddings(), (8,), early))
    assert found["person"]["8"]["told"] > alone["person"]["8"]["among 4"]
    assert found["person"]["8"]["among 4"] > alone["person"]["8"]["among 4"]


class Quiet(HiddenWorld):
    """A world in which nothing is to be noted, as in the passages after those that plant facts."""

    planted = ()


def test_an_honest_author_goes_on_where_there_is_nothing_to_note(world):
    _, states = asyncio.run(codex_recall.write(Quiet(world.name), HashEmbeddings(), 3))
    assert [state["step"] for state in states] == [1, 2, 3]


class Changing(HiddenWorld):
    """A world in which four things change, and nothing else is told: the first version of each, the second of each, the last."""

    @cached_property
    def _told(self) -> tuple[list[Planted], list[Probe]]:
        planted, probes = super()._told
        found = [probe for probe in probes if probe.sort == "changed"][::5]
        told = {one.fact: one for one in planted}
        versions = [
            fact for version in zip(*((*probe.old, probe.fact) for probe in found), strict=True) for fact in version
        ]
        at = {fact: number for number, fact in enumerate(versions, 1)}
        return (
            [dataclasses.replace(told[fact], at=number) for fact, number in at.items()],
            [dataclasses.replace(probe, at=at[probe.fact]) for probe in found],
        )


def test_what_has_changed_is_not_told_as_it_was(world):
    """Not by a summary either, each of which tells what has changed since."""
    changing = Changing(world.name)
    found = asyncio.run(codex_recall.measure(changing, HashEmbeddings(), (2, 12)))
    for distance in ("2", "12"):
        assert found["changed"][distance]["superseded"] == 0
        assert found["changed"][distance]["told"] > 0.7
