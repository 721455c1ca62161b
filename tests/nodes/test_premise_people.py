"""People of a founded story are spelled as its premise spells them, and are denied nothing that it does not deny."""

import pytest

from recurrentgpt.nodes.small.premise_people import misspelled, told_of

MAP = "Surveyor Liesl Varn finds her own handwriting on a map of a place that she has never been."


@pytest.mark.parametrize(
    ("names", "premise", "meant"),
    [
        (["Liezl Varn", "Jesper"], MAP, {"Liezl": "Liesl"}),
        (["Liesl Varn", "Jesper"], MAP, {}),
        (["Liezl Varn", "Liesl Varn"], MAP, {}),
        (["Ada Varn"], MAP, {}),
        (["Liezl Hale"], MAP, {}),
        (["Tamsi Ironwell", "Duke Ironwell"], "Bell-founder Tamsin Ironwell must cast a bell.", {"Tamsi": "Tamsin"}),
        (["Hanna Roth"], "Anna Roth keeps bees.", {}),
    ],
)
def test_a_first_name_is_spelled_as_the_premise_spells_it(names, premise, meant):
    assert misspelled(names, premise) == meant


HEARS = "Audiologist Ruth Lindgren tests a boy who hears nothing but footsteps."
KNOWS = "Somebody sends the choir of Saint Anne's a hymn. Organist Clara Crewe knows the tune and how it ends."


@pytest.mark.parametrize(
    ("name", "who", "premise", "told"),
    [
        ("Ruth Lindgren", "an audiologist, who cannot hear", HEARS, "an audiologist"),
        ("Ruth Lindgren", "an audiologist, who has lost her keys", HEARS, "an audiologist, who has lost her keys"),
        ("Gunnar", "a boy, who cannot hear", HEARS, "a boy, who cannot hear"),
        ("Liesl Varn", "a surveyor, who has never been there", MAP, "a surveyor, who has never been there"),
        ("Organist Clara Crewe", "who has never been to Saint Anne's", KNOWS, "who knows the tune and how it ends"),
        ("Organist Clara Crewe", "an organist, who does not play", KNOWS, "an organist"),
        ("Clara Crewe", "who is not well", "It began with Clara Crewe.", "who is not well"),
        ("Otto", "a thief, who is not sorry", "", "a thief, who is not sorry"),
    ],
)
def test_nobody_of_a_premise_lacks_what_it_does_not_deny_them(name, who, premise, told):
    assert told_of(name, who, premise) == told
