"""Who is meant by a name that a family shares, by what they are to each other, and by an office that passes on."""

import pytest

from recurrentgpt.engine.reader import find_entry
from recurrentgpt.memory.codex import changed, in_names, tell, touched
from recurrentgpt.nodes.codex_changes import from_facts
from recurrentgpt.nodes.continuity import find_contradictions
from recurrentgpt.schema.codex import Change, Codex
from recurrentgpt.schema.errors import EntryNotFound


def said(entry, aspect, value, kind="person"):
    return Change(entry=entry, kind=kind, do="set", aspect=aspect, value=value, rests_on=f"{entry}: {value}.")


COUPLE = changed(
    Codex(),
    [
        said("Catherine Lisle", "role", "the doctor's wife; she keeps bees"),
        said("Henry Lisle", "role", "a village doctor who has debts; he limps"),
        said("Constable Pike", "role", "the constable"),
        said("Oliver Benn", "role", "deputy mayor"),
    ],
    "p1",
    1,
)
AWAY = changed(COUPLE, [said("Henry Lisle", "status", "absent")], "p2", 2)
PASSED_ON = changed(
    COUPLE, [said("Constable Pike", "status", "dead"), said("Arthur Marle", "role", "the constable")], "p2", 2
)


def named(text, codex=COUPLE):
    return {entry.name for entry in codex.named_in(text)}


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("Dr. Lisle", "Henry Lisle"),
        ("Doctor Lisle", "Henry Lisle"),
        ("Mr. Lisle", "Henry Lisle"),
        ("Mrs. Lisle", "Catherine Lisle"),
        ("the doctor", "Henry Lisle"),
        ("the village doctor", "Henry Lisle"),
        ("the doctor's wife", "Catherine Lisle"),
        ("Dr. Lisle's wife", "Catherine Lisle"),
        ("Catherine's husband", "Henry Lisle"),
        ("Mrs. Lisle's husband", "Henry Lisle"),
    ],
)
def test_of_a_couple_who_is_meant_whom_the_title_or_the_role_fits(name, who):
    found = COUPLE.meant(name)
    assert found is not None
    assert found.name == who
    assert named(f"In the garden {name} cut the roses.") >= {who}


@pytest.mark.parametrize("name", ["Lisle", "Captain Lisle", "the mayor", "the doctor's husband"])
def test_where_nothing_fits_nobody_alone_is_meant(name):
    assert COUPLE.meant(name) is None


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Dr. Lisle cut the roses.", {"Henry Lisle"}),
        ("Mrs. Lisle cut the roses.", {"Catherine Lisle"}),
        ("Henry Lisle cut the roses.", {"Henry Lisle"}),
        ("Lisle cut the roses.", {"Henry Lisle", "Catherine Lisle"}),
        ("Dr. Lisle met Mrs. Lisle.", {"Henry Lisle", "Catherine Lisle"}),
        ("Catherine asks her husband about the quarry.", {"Henry Lisle", "Catherine Lisle"}),
        ("Henry asks his wife about the quarry.", {"Henry Lisle", "Catherine Lisle"}),
    ],
)
def test_a_text_names_only_those_of_a_family_whom_it_means(text, who):
    assert named(text) == who


def test_the_writer_is_told_of_the_husband_whom_a_plan_means():
    plan = "Catherine asks her husband about the quarry."
    told = {one["name"]: one["lines"] for one in tell(touched(AWAY, plan, ""), words=80)}
    assert "Henry Lisle is absent." in told["Henry Lisle"]
    assert in_names(AWAY, plan) == ["Catherine asks Henry Lisle about the quarry."]


def test_who_is_away_is_missed_by_the_name_of_the_couple():
    for did in (
        "cut the roses and looked up",
        "cut the roses, as he did every morning,",
        "passed the bread, and sat down",
    ):
        passage = f"Dr. Lisle {did}. His limp was gone."
        (found,) = find_contradictions(passage, AWAY)
        assert (found["rule"], found["entry"]) == ("absent", "Henry Lisle")
        assert find_contradictions(passage.replace("Dr.", "Mrs."), AWAY) == []


def test_of_a_couple_dies_whom_a_fact_means():
    fact = "Dr. Lisle drowned in the quarry."
    codex = changed(COUPLE, from_facts("", [fact], fact, COUPLE, "English"), "p2", 2)
    assert [entry.name for entry in codex.dead] == ["Henry Lisle"]


def test_an_office_of_the_dead_is_whose_it_is_now():
    assert PASSED_ON.meant("the constable").name == "Arthur Marle"
    assert named("The constable finds the ruby.", PASSED_ON) == {"Arthur Marle"}
    again = changed(PASSED_ON, [said("Rose Amery", "role", "the constable")], "p3", 3)
    assert again.meant("the constable") is None


def test_whoever_asks_for_a_miss_means_the_only_one_of_her_surname():
    known = changed(COUPLE, [said("Adeline Foyle", "role", "the lawyer")], "p2", 2)
    assert find_entry(known, "Miss Foyle").name == "Adeline Foyle"
    assert known.meant("Miss Foyle") is None, "a passage may tell of a sister of hers"
    with pytest.raises(EntryNotFound):
        find_entry(known, "Mrs Foyle")


def test_of_two_sisters_neither_is_the_miss_while_only_one_is_known_to_be_she():
    known = changed(Codex(), [said("Jane Amery", "role", "a nurse"), said("Rose Amery", "pronouns", "she")], "p1", 1)
    assert known.meant("Miss Amery") is None
    assert known.meant("Nurse Amery").name == "Jane Amery"


TITLED = changed(
    Codex(),
    [
        said("Peg Orme", "role", "Mr. Carrow's sister"),
        said("Ann Pell", "role", "Mrs. Pike's maid. She limps"),
        said("Catherine Lisle", "role", "Dr. Lisle's wife"),
        said("Henry Lisle", "role", "a doctor. He has debts"),
        said("Gil Fenn", "role", "St. Bride's vicar, who drinks"),
        said("Lew Carrow", "role", "a captain. Drinks"),
    ],
    "p1",
    1,
)


def test_the_full_stop_of_a_title_ends_no_role():
    assert in_names(TITLED, "Mr. Vane laughed. Mrs. Vane did not.") == []
    assert named("Mrs. Vane laughed. Dr. Moss and St. Just did not.", TITLED) == set()
    assert TITLED.find("Ann Pell").roles == ("Mrs. Pike's maid",)
    assert TITLED.find("Gil Fenn").roles == ("St. Bride's vicar",)
    assert TITLED.find("Henry Lisle").roles == ("doctor",)
    assert TITLED.find("Lew Carrow").roles == ("captain",)
    for called, who in (("Mrs. Lisle", "Catherine Lisle"), ("Dr. Lisle", "Henry Lisle"), ("Mr. Carrow", "Lew Carrow")):
        assert TITLED.meant(called).name == who
    assert named("Lew Carrow asks his sister.", TITLED) == {"Lew Carrow", "Peg Orme"}


def with_dead(*people):
    """Return a codex of people with their roles, the first of whom is dead."""
    known = changed(Codex(), [said(name, "role", role) for name, role in people], "p1", 1)
    return changed(known, [said(people[0][0], "status", "dead")], "p2", 2)


@pytest.mark.parametrize(
    ("people", "title", "passage"),
    [
        (
            [("Edith Hale", "Robert's wife"), ("Mary Hale", "Robert's mother"), ("Robert Hale", "a miller")],
            "Mrs. Hale",
            "Mrs. Hale poured the tea and sat down.",
        ),
        (
            [("Robert Hale", "a captain"), ("Tom Hale", "a lieutenant")],
            "Captain Hale",
            "Captain Hale came in and sat down.",
        ),
        (
            [("Henry Lisle", "a doctor"), ("Ann Lisle", "a student")],
            "Dr. Lisle",
            "Ann became a doctor. Dr. Lisle laughed.",
        ),
    ],
)
def test_by_a_title_nobody_dead_is_meant_while_somebody_living_of_the_name_can_be(people, title, passage):
    known = with_dead(*people)
    assert find_contradictions(passage, known) == []
    assert (meant := known.meant(title)) is None or not meant.is_dead


def test_of_those_of_one_rank_the_living_one_is_meant():
    people = ("Mary Hale", "Robert's mother"), ("Edith Hale", "Robert's wife")
    known = changed(with_dead(*people), [said("Robert Hale", "role", "a miller")], "p3", 3)
    assert (meant := known.meant("Mrs. Hale")) is not None
    assert meant.name == "Edith Hale"


def test_by_a_title_somebody_dead_is_meant_where_nobody_else_can_be():
    people = ("Henry Lisle", "a doctor"), ("Catherine Lisle", "Henry's wife")
    (found,) = find_contradictions("Mr. Lisle cut the roses and looked up.", with_dead(*people))
    assert (found["rule"], found["entry"]) == ("dead", "Henry Lisle")


def test_of_a_wife_and_a_mother_each_may_be_the_mrs():
    people = ("Ann Hale", "a cook"), ("Edith Hale", "Robert's wife"), ("Mary Hale", "Robert's mother")
    known = changed(with_dead(*people), [said("Robert Hale", "role", "a miller")], "p3", 3)
    assert known.meant("Mrs. Hale") is None
