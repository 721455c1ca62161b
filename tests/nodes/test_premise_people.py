"""People of a founded story are spelled as its premise spells them, and are denied nothing that it does not deny."""

import pytest

from recurrentgpt.nodes.small.premise_people import misspelled, told_of

MAP = "Surveyor Liesl Varn finds her own handwriting on a map of a place that she has never been."


@pytest.mark.parametrize(
    ("names", "premise", "meant"),
    [
        (["Liezl Varn", "Jesper"], MAP, {"Liezl": "Liesl"}),
        (["Liezl Varn"], "It is Liesl Varn's map.", {"Liezl": "Liesl"}),
        (["Surveyor Liezl Varn"], MAP, {"Liezl": "Liesl"}),
        (["Tamsi Ironwell", "Duke Ironwell"], "Bell-founder Tamsin Ironwell must cast a bell.", {"Tamsi": "Tamsin"}),
        (["Anne-Marei Roth"], "Anne-Marie Roth keeps bees.", {"Anne-Marei": "Anne-Marie"}),
        # As it is there, or somebody else.
        (["Liesl Varn", "Jesper"], MAP, {}),
        (["Liezl Varn", "Liesl Varn"], MAP, {}),
        (["Ada Varn"], MAP, {}),
        (["Liezl Hale"], MAP, {}),
        (["Hanna Roth"], "Anna Roth keeps bees.", {}),
        (["Martha Hale", "Marta Hall"], "Marta Hale keeps bees.", {}),
        (["Martha Hale", "Mara Hale"], "Marta Hale keeps bees.", {}),
        (["Marla Hale"], "Marta Hale and Maria Hale keep bees.", {}),
        # A last name stays, also where it is somebody's whose thing is told of.
        (["Ruth Lindgren"], "Audiologist Ruth Lindgren's son vanishes.", {}),
        (["Ruth Lindgren"], "Audiologist Ruth Lindgren’s son vanishes.", {}),
        (["Tom Hartley"], "Tom and the Hartleys keep bees.", {}),
        (["Marlo Varn"], "In Marlow, surveyor Ada Varn finds a map.", {}),
        (["Marlo"], "Marlow keeps bees.", {}),
    ],
)
def test_a_first_name_is_spelled_as_the_premise_spells_it(names, premise, meant):
    assert misspelled(names, premise) == meant


HEARS = "Audiologist Ruth Lindgren tests a boy who hears nothing but footsteps."
KNOWS = "Somebody sends the choir of Saint Anne's a hymn. Organist Clara Crewe knows the tune and how it ends."
DEAF = "Ruth Lindgren is an audiologist and went deaf."


@pytest.mark.parametrize(
    ("name", "who", "premise", "told"),
    [
        ("Ruth Lindgren", "an audiologist, who cannot hear", HEARS, "an audiologist"),
        ("Ruth Lindgren", "an audiologist, who has lost her keys", HEARS, "an audiologist, who has lost her keys"),
        ("Clara Crewe", "an organist, who does not play", KNOWS, "an organist"),
        ("Organist Clara Crewe", "who has never been to Saint Anne's", KNOWS, "the organist"),
        ("Clara Crewe", "who has never been to Saint Anne's", KNOWS, "who has never been to Saint Anne's"),
        ("Clara Crewe", "who is not well, and hides a letter", KNOWS, "who is not well, and hides a letter"),
        ("Clara Crewe", "an organist, who has never lost a key", KNOWS, "an organist, who has never lost a key"),
        # Whom the premise does not name, or denies something.
        ("Gunnar", "a boy, who cannot hear", HEARS, "a boy, who cannot hear"),
        ("Anna Lindgren", "her sister, who cannot hear", HEARS, "her sister, who cannot hear"),
        ("Otto", "a thief, who is not sorry", "", "a thief, who is not sorry"),
        ("Liesl Varn", "a surveyor, who has never been there", MAP, "a surveyor, who has never been there"),
        ("Ruth Lindgren", "an audiologist, who cannot hear", DEAF, "an audiologist, who cannot hear"),
        (
            "Ruth Lindgren",
            "an audiologist, who cannot hear",
            "Ruth Lindgren is an audiologist. She can't hear.",
            "an audiologist, who cannot hear",
        ),
    ],
)
def test_nobody_of_a_premise_lacks_what_it_does_not_deny_them(name, who, premise, told):
    assert told_of(name, who, premise) == told
