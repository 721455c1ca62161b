"""A role means whoever has it, where nobody else can be meant by it: nobody is accused, asked for or told of by another's."""

import pytest

from recurrentgpt.memory.codex import changed, in_names
from recurrentgpt.nodes.codex_from_reply import CodexChange, from_reply
from recurrentgpt.nodes.continuity import find_contradictions
from recurrentgpt.schema.codex import Change, Codex


def said(name, aspect, value):
    return Change(entry=name, kind="person", do="set", aspect=aspect, value=value, rests_on=f"{name}, {value}.")


DEAD = changed(
    Codex(),
    [
        *(said(name, "status", "dead") for name in ("Mira", "Tom", "Odo")),
        said("Mira", "role", "a woman"),
        said("Tom", "role", "a fisherman"),
        said("Odo", "role", "the keeper of bells"),
        said("Signe Orrin", "role", "a warden"),
        said("Leon", "status", "alive"),
    ],
    "p1",
    3,
)


@pytest.mark.parametrize(
    "passage",
    [
        "At the inn a stranger poured wine for Signe Orrin. The woman laughed and shut the door behind her.",
        "The woman laughed.",
        "Down at the quay a man from Hull mended nets. The fisherman laughed and waved to Signe Orrin.",
        "A fisherman sat on the quay. The fisherman laughed.",
        "Two fishermen sat on the quay. The fisherman laughed.",
        "The fisherman from Hull laughed.",
        '"No," said the fisherman from Hull.',
        "Leon sat on the quay. The fisherman laughed.",
        "Karl mended nets. The fisherman laughed.",
        "Nets were mended by Karl. The fisherman laughed.",
        "A keeper of bells came to the gate. The keeper of bells laughed.",
    ],
)
def test_a_dead_persons_role_accuses_nobody_who_may_have_it_too(passage):
    assert find_contradictions(passage, DEAD) == []


@pytest.mark.parametrize(
    ("passage", "who"),
    [
        ("It was still on the quay. The fisherman laughed.", "Tom"),
        ("Signe Orrin sat in the boat house. The fisherman laughed and waved to her.", "Tom"),
        ("Leon sat by the door with a man from Hull. The keeper of bells laughed.", "Odo"),
    ],
)
def test_where_nobody_else_can_be_meant_the_dead_are_known_by_their_role(passage, who):
    assert [(one["rule"], one["entry"]) for one in find_contradictions(passage, DEAD)] == [("dead", who)]


def test_nobody_is_known_as_a_woman_and_a_fisherman_is_none_who_is_known():
    assert DEAD.named_in("The woman laughed. A fisherman laughed.") == []
    assert [entry.name for entry in DEAD.named_in("The fisherman laughed.")] == ["Tom"]
    assert DEAD.find("the woman") is None


FAMILY = changed(
    Codex(),
    [
        said("Bastian Cole", "pronouns", "he"),
        said("Signe Orrin", "role", "Bastian's older sister, a warden"),
        said("Greta", "role", "the mother of Bastian Cole"),
        said("Odo", "role", "her brother"),
        said("Leon", "role", "a friend of Bastian"),
    ],
    "p1",
    1,
)


@pytest.mark.parametrize(
    ("plan", "asked"),
    [
        ("Bastian asks his sister to go to the harbour.", "Bastian asks Signe Orrin to go to the harbour."),
        ("Bastian asks his older sister to go there.", "Bastian asks Signe Orrin to go there."),
        ("Odo sleeps all day. Bastian asks his own sister to go.", "Bastian asks Signe Orrin to go."),
        ("Then Bastian Cole’s sister waits at the mill.", "Then Signe Orrin waits at the mill."),
        ("At dusk Bastian calls his mother to the door.", "At dusk Bastian calls Greta to the door."),
    ],
)
def test_whose_sister_somebody_is_says_who_is_his_sister(plan, asked):
    assert asked in in_names(FAMILY, plan)
    assert {entry.name for entry in FAMILY.named_in(plan)} & {"Signe Orrin", "Greta"}


def test_who_is_his_sister_may_be_told_in_the_sentence_after_his_name():
    assert "Signe Orrin" in [entry.name for entry in FAMILY.named_in("Bastian goes down. He asks his sister to wait.")]


@pytest.mark.parametrize(
    "plan",
    [
        "At the mill, Greta quarrels with her brother over the flour.",
        "Anna kissed her brother.",
        "Karl asks his sister to go.",
        "Bastian meets Karl and his sister.",
        "Bastian greets Greta. Karl asks his sister to go.",
        "He asks Bastian about his sister.",
        "His sister waits.",
        "Bastian asks her sister to go.",
        "Bastian asks his younger sister to go.",
        "Bastian asks his friend to go.",
    ],
)
def test_nobody_is_the_sister_or_the_brother_of_somebody_else(plan):
    assert in_names(FAMILY, plan) == []
    assert not {entry.name for entry in FAMILY.named_in(plan)} & {"Signe Orrin", "Odo", "Leon"}


def test_of_two_sisters_each_is_the_one_that_is_told_apart():
    both = changed(FAMILY, [said("Mia", "role", "Bastian's younger sister")], "p2", 2)
    assert [entry.name for entry in both.named_in("Bastian asks his sister to go.")] == ["Bastian Cole"]
    assert [entry.name for entry in both.named_in("Bastian asks his younger sister.")] == ["Bastian Cole", "Mia"]


def test_what_a_model_says_of_somebodys_sister_is_hers():
    told = [CodexChange(name="Bastian Cole’s sister", kind="person", aspect="place", value="in the mill")]
    assert [change["entry"] for change in from_reply(told, "She waits.", FAMILY)] == ["Signe Orrin"]


def test_whoever_is_a_physician_is_the_doctor():
    people = [
        said("Ansel Vail", "role", "physician, a widower"),
        said("Leon Lowe", "role", "the captain of the Petrel"),
    ]
    codex = changed(Codex(), people, "p1", 3)
    for called in ("Doctor Vail", "Dr. Vail", "the doctor", "the physician"):
        assert [one.name for one in codex.named_in(f"Then {called} came in.")] == ["Ansel Vail"]


@pytest.mark.parametrize("role", ["tree surgeon", "former physician", "a retired surgeon"])
def test_whoever_is_another_surgeon_or_was_one_is_no_doctor(role):
    codex = changed(Codex(), [said("Ansel Vail", "role", role)], "p1", 3)
    assert not codex.named_in("Then the doctor came in.")


def test_his_sister_is_whose_brother_is_named_by_his_role():
    told = [said("Tobias Fenn", "role", "the ferryman"), said("Greta Fenn", "role", "Tobias's sister")]
    codex = changed(Codex(), [*told, said("Tobias Fenn", "pronouns", "he")], "p1", 1)
    assert [entry.name for *_, entry in codex.kin_in("The ferryman and his sister count the tolls.")] == ["Greta Fenn"]
    assert not codex.kin_in("The miller and his sister count the tolls.")
    assert not codex.kin_in("The ferryman met the miller and his sister.")
    assert not codex.kin_in("The ferryman's boat was old. The priest blessed his sister.")
    assert not codex.kin_in("The ferryman and his sister-in-law count the tolls.")
