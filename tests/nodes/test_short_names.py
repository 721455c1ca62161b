"""A thing is known by the shorter name that prose uses, and a person by what they alone are; never where others may be meant."""

import pytest

from recurrentgpt.memory.codex import changed, in_names, tell, touched
from recurrentgpt.nodes.codex_changes import from_facts
from recurrentgpt.nodes.codex_from_reply import CodexChange, from_reply
from recurrentgpt.nodes.continuity import find_contradictions
from recurrentgpt.schema.codex import Change, Codex


def said(entry, kind, aspect, value):
    return Change(entry=entry, kind=kind, do="set", aspect=aspect, value=value, rests_on=f"{entry}: {value}.")


KNOWN = changed(
    Codex(),
    [
        said("silver compass", "thing", "status", "destroyed"),
        said("iron key of the chain-house", "thing", "status", "destroyed"),
        said("letter from Leeds", "thing", "status", "lost"),
        said("Father Amos's diary", "thing", "status", "lost"),
        said("spare oar", "thing", "place", "in the barn"),
        said("brass lamp", "thing", "place", "in the barn"),
        said("tin lamp", "thing", "place", "in the loft"),
        said("compass case", "thing", "place", "in the loft"),
        said("Captain Idris Vale", "person", "role", "captain of the Petrel"),
        said("Hester Quill", "person", "role", "cook at the inn"),
        said("Rufus Quill", "person", "role", "friend of the house"),
        said("Ruth Cole", "person", "place", "in the mill"),
    ],
    "p1",
    1,
)
CLEAR = changed(KNOWN, [Change(entry="compass case", kind="thing", do="remove")], "p2", 2)


def named(text, codex=CLEAR):
    return [entry.name for entry in codex.named_in(text)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("She looks for the compass.", "silver compass"),
        ("The old compass lay there.", "silver compass"),
        ("She drops the iron key.", "iron key of the chain-house"),
        ("She drops the rusty old key.", "iron key of the chain-house"),
        ("The key of the chain-house lay there.", "iron key of the chain-house"),
        ("She read the letter.", "letter from Leeds"),
        ("“The diary,” she said.", "Father Amos's diary"),
        ("The captain laughed.", "Captain Idris Vale"),
        ("The captain of the Petrel laughed.", "Captain Idris Vale"),
        ("Captain Vale sat. The captain laughed.", "Captain Idris Vale"),
        ("The cook laughed.", "Hester Quill"),
    ],
)
def test_what_alone_can_be_meant_is_known_by_its_shorter_name(text, name):
    assert named(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "She bought a compass.",
        "She bought a compass. The compass was new.",
        "There was another key. The key was new.",
        "Two keys lay there. The key was old.",
        "Otto's letter lay there. She read the letter.",
        "Her key lay there. The key was old.",
        "The key of the cellar lay there.",
        "The letter from Hull lay there.",
        "The key that he had found lay there.",
        "She took the other compass, and the compass broke.",
        "She hid it in the key-ring and the keyhole.",
        "The brass compass lay there.",
        "The oar lay there.",
        "The lamp lay there.",
        "A captain came in. The captain laughed.",
        "Captain Hook sat. The captain laughed.",
        "The captain of the Gull laughed.",
        "The friend laughed.",
    ],
)
def test_nothing_is_meant_where_it_may_be_another_one(text):
    assert named(text) == []


def test_what_another_entry_is_called_by_is_no_shorter_name():
    assert named("The compass case lay there.", KNOWN) == ["compass case"]
    assert named("The compass lay there.", KNOWN) == []
    both = changed(CLEAR, [said("brass compass", "thing", "place", "in the barn")], "p3", 3)
    assert named("The compass lay there.", both) == []
    assert both.meant("compass") is None
    two = changed(CLEAR, [said("Ansel Moor", "person", "role", "captain of the Gull")], "p3", 3)
    assert named("The captain laughed.", two) == []
    one = changed(both, [Change(entry="brass compass", kind="thing", do="remove")], "p4", 4)
    assert named("The compass lay there.", one) == ["silver compass"]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("compass", "silver compass"),
        ("the iron key", "iron key of the chain-house"),
        ("key", "iron key of the chain-house"),
        ("diary", "Father Amos's diary"),
        ("the captain", "Captain Idris Vale"),
        ("brass compass", None),
        ("key of the cellar", None),
        ("lamp", None),
    ],
)
def test_a_shorter_name_is_asked_for(name, known):
    found = CLEAR.meant(name)
    assert (found and found.name) == known


def test_the_writer_is_told_of_what_the_plan_means_and_it_is_recalled_by_its_name():
    (told,) = tell(touched(CLEAR, "She looks for the compass.", ""), words=40)
    assert told["lines"] == ["The silver compass is destroyed."]
    plan = "She looks for the compass. Then she asks the captain for the diary."
    assert in_names(CLEAR, plan) == [
        "She looks for the silver compass.",
        "Then she asks Captain Idris Vale for Father Amos's diary.",
    ]


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("compass", "silver compass"),
        ("iron key", "iron key of the chain-house"),
        ("letter", "letter from Leeds"),
        ("diary", "Father Amos's diary"),
    ],
)
def test_what_is_lost_is_not_at_hand_by_its_shorter_name_either(what, name):
    passage = f"Ruth Cole took the {what} out of her pocket and looked at it for a long time."
    (found,) = find_contradictions(passage, CLEAR, plan=f"Ruth Cole looks for the {what}.")
    assert (found["rule"], found["entry"]) == ("lost", name)


def test_what_is_lost_is_in_nobodys_pocket_whatever_the_plan():
    passage = "Ruth Cole took the compass out of her pocket and looked at it for a long time."
    (found,) = find_contradictions(passage, CLEAR, plan="Ruth Cole goes home.")
    assert (found["rule"], found["entry"]) == ("lost", "silver compass")


@pytest.mark.parametrize(
    ("passage", "plan"),
    [
        ("Ruth Cole took the compass from the shelf.", "Ruth Cole goes home."),
        ("Ruth Cole took the compass out of her pocket.", "Ruth Cole buys a compass."),
        ("Ruth Cole took the key out of her pocket.", "Ruth Cole goes home."),
        ("Ruth Cole bought a compass. Ruth Cole took the compass home.", "Ruth Cole looks for the compass."),
        ("Ruth Cole took the key ring from the hook.", "Ruth Cole looks for the key."),
        ("Ruth Cole took the letter box from the hook.", "Ruth Cole looks for the letter."),
        ("Ruth Cole found the compass. She took the compass home.", "Ruth Cole looks for the compass."),
        ("The clerk took the compass from the shelf.", "Ruth Cole looks for the compass."),
    ],
)
def test_nobody_is_accused_where_it_may_be_another_one(passage, plan):
    assert find_contradictions(passage, CLEAR, plan=plan) == []


def test_who_has_a_thing_has_it_by_its_shorter_name():
    held = changed(
        CLEAR,
        [
            Change(entry="silver compass", kind="thing", do="end", aspect="status", value="destroyed"),
            said("silver compass", "thing", "holder", "Hester Quill"),
        ],
        "p3",
        3,
    )
    passage = "Ruth Cole took the compass out of her pocket."
    (found,) = find_contradictions(passage, held, plan="Ruth Cole looks for the silver compass.")
    assert (found["rule"], found["entry"]) == ("holder", "silver compass")
    assert find_contradictions(passage, held, plan="Ruth Cole looks at the compass.") == [], "it may be her own"


@pytest.mark.parametrize(
    "passage",
    [
        "It was late. The captain laughed and shut the door.",
        'The captain came at noon. "Cast off," said the captain, and nodded to Ruth.',
    ],
)
def test_the_captain_of_after_a_captains_death_is_another_one(passage):
    dead = changed(CLEAR, [said("Captain Idris Vale", "person", "status", "dead")], "p3", 3)
    assert find_contradictions(passage, dead) == []
    assert "Captain Idris Vale" not in [entry.name for entry in dead.named_in(passage)]


@pytest.mark.parametrize(
    ("passage", "who"),
    [
        ("Vale gave it to Ruth.", "Captain Idris Vale"),
        ("The captain gave it to Ruth.", "Captain Idris Vale"),
        ("The captain of the Gull came in.", "the captain"),
        ("A captain came in, and the captain sat down.", "the captain"),
    ],
)
def test_the_captain_whom_a_model_names_is_the_one_that_is_known(passage, who):
    reply = [
        CodexChange(name="the captain", kind="person", aspect="place", value="in the inn"),
        CodexChange(name="brass lamp", kind="thing", aspect="holder", value="the captain"),
    ]
    changes = from_reply(reply, passage, CLEAR)
    assert [(change["entry"], change["do"]) for change in changes] == [(who, "set"), ("brass lamp", "set")]
    assert changes[1]["value"] == who


def test_a_fact_of_another_one_that_the_passage_brings_in_is_not_noted_of_the_known_one():
    facts = ["The compass lies in the drawer."]
    known = from_facts("", facts, "Ruth Cole put the compass in the drawer.", CLEAR, "English")
    assert "silver compass" in {change["entry"] for change in known}
    other = from_facts("", facts, "Ruth Cole bought a compass. She put the compass in the drawer.", CLEAR, "English")
    assert "silver compass" not in {change["entry"] for change in other}
