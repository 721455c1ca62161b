"""A role means whoever has it, where nobody else can be meant by it: nobody is accused, asked for or told of by another's."""

import pytest

from recurrentgpt.memory.codex import changed
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
