"""Who is who: an entry is found by its names, forms of them and roles, and nobody by what may be somebody else's."""

import pytest

from recurrentgpt.memory.codex import changed, in_names, tell, touched
from recurrentgpt.nodes.continuity import find_contradictions
from recurrentgpt.schema.codex import Change, Codex, Entry


def said(name, aspect, value, kind="person"):
    return Change(entry=name, kind=kind, do="set", aspect=aspect, value=value, rests_on=f"{name}, {value}.")


def people(*names, aliases=()):
    entries = [Entry(name, "person", aliases=tuple(aliases)) for name in names]
    return Codex({entry.name.casefold(): entry for entry in entries})


def found(codex, name):
    entry = codex.find(name)
    return entry.name if entry else None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("The Ferryman", "Signe asks the Ferryman for passage."),
        ("the Ferryman", "The Ferryman waits."),
        ("der Fährmann", "Niemand findet den Fährmann."),
        ("Der Fährmann", "Sie gibt es dem Fährmann."),
        ("der Fährmann", "Sie geht zum Fährmann."),
        ("le Passeur", "Elle parle au Passeur."),
        ("l'Étranger", "Puis L’Étranger parle."),
        ("el Barquero", "La barca del Barquero."),
        ("il Traghettatore", "La barca del Traghettatore."),
        ("o Barqueiro", "A barca do Barqueiro."),
        ("de Veerman", "De Veerman wacht."),
    ],
)
def test_an_article_of_a_name_may_be_another_case_of_it(name, text):
    assert [entry.name for entry in people(name).named_in(text)] == [name]
    assert [entry.name for entry in people("Otto", aliases=[name]).named_in(text)] == ["Otto"]


@pytest.mark.parametrize(
    "text", ["A Ferryman waits.", "Ferryman's Lane is dark.", "Well, the ferryman said.", "To bathe Ferryman dogs."]
)
def test_a_name_with_an_article_is_no_other_word(text):
    assert people("The Ferryman", "The Well").named_in(text) == []


def test_a_name_is_looked_up_with_any_article_of_its_own_and_a_first_name_is_none():
    codex = changed(
        people("The Ferryman", "Bo Cole", "die Müllerin"),
        [said("Otto Brandt", "role", "ein Köhler"), said("Anna Weiss", "role", "une reine")],
    )
    assert found(codex, "the ferryman") == found(codex, "Ferryman") == "The Ferryman"
    assert found(codex, "der Müllerin") == found(codex, "Die Müllerin") == "die Müllerin"
    assert found(codex, "der Köhler") == found(codex, "Der Köhler") == found(codex, "den Köhler") == "Otto Brandt"
    assert found(codex, "la reine") == "Anna Weiss"
    assert [found(codex, name) for name in ("Al Cole", "Lo Cole", "El Cole", "ein Köhler")] == [None] * 4


def test_whoever_has_an_article_is_told_of_inside_a_sentence_and_does_nothing_dead():
    fact = Change(entry="The Ferryman", kind="person", do="set", aspect="fact", text="The Ferryman takes no coin.")
    codex = changed(Codex(), [fact], "p1", 1)
    told = tell(touched(codex, "Signe asks the Ferryman for passage.", ""), words=40)
    assert "The Ferryman takes no coin." in told[0]["lines"]
    dead = changed(codex, [said("The Ferryman", "status", "dead")], "p2", 2)
    (accused,) = find_contradictions("In the night the Ferryman laughed and sang to her.", dead)
    assert (accused["rule"], accused["entry"]) == ("dead", "The Ferryman")


def test_a_plan_under_other_names_is_asked_for_by_names_whatever_the_article():
    codex = changed(people("Otto Brandt"), [said("Otto Brandt", "role", "ein Fährmann")])
    assert in_names(codex, "Niemand findet den Fährmann am Ufer.") == ["Niemand findet Otto Brandt am Ufer."]
    assert in_names(codex, "Am Ufer steht ein Fährmann im Regen.") == []


def test_names_are_compared_in_composed_letters_and_with_one_apostrophe():
    codex = people("José García", "Nora O'Brien")
    text = "Jose\u0301 asks Nora O’Brien."
    assert [entry.name for entry in codex.named_in(text)] == ["José García", "Nora O'Brien"]
    assert found(codex, "Jose\u0301 Garci\u0301a") == "José García"
    assert found(codex, "Nora O’Brien") == found(codex, "O’Brien") == "Nora O'Brien"
    dead = changed(codex, [said("Nora O’Brien", "status", "dead")], "p1", 1)
    assert [entry.name for entry in dead.dead] == ["Nora O'Brien"]
    assert [one["entry"] for one in find_contradictions("Nora O’Brien laughed.", dead)] == ["Nora O'Brien"]
