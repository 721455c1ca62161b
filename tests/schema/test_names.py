"""Who is who: an entry is found by its names, forms of them and roles, and nobody by what may be somebody else's."""

import pytest

from recurrentgpt.memory.codex import changed, in_names, tell, touched, under
from recurrentgpt.nodes.codex_changes import from_facts
from recurrentgpt.nodes.codex_from_reply import CodexChange, from_reply
from recurrentgpt.nodes.continuity import find_contradictions, no_longer_gone
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


def after(codex, *names):
    """Return who is dead, with their aliases, after passages that a capable model read each tell of the death of one name."""
    for step, name in enumerate(names, 1):
        told = [CodexChange(name=name, kind="person", aspect="status", value="dead", sentence=f"{name} died.")]
        codex = changed(codex, from_reply(told, f"{name} died.", codex), f"p{step}", step)
    return {entry.name: list(entry.aliases) for entry in codex.dead}


@pytest.mark.parametrize(
    ("known", "names", "dead"),
    [
        ([], ["Bastian", "Bastian Cole", "Cole", "Mr Cole"], {"Bastian": ["Bastian Cole"]}),
        ([], ["Captain Ahab", "Ahab"], {"Captain Ahab": []}),
        ([], ["Ahab", "Captain Ahab"], {"Ahab": []}),
        (["Bastian Cole"], ["Mr Cole", "Mr. Cole", "Captain Cole", "Captain Bastian Cole"], {"Bastian Cole": []}),
        (["Bastian"], ["Captain Bastian Cole", "Bastian Cole"], {"Bastian": ["Bastian Cole"]}),
        (["Bastian Cole"], ["Bastian Andreas Cole"], {"Bastian Cole": ["Bastian Andreas Cole"]}),
        (["Nora O'Brien"], ["Nora O’Brien", "Dr O’Brien"], {"Nora O'Brien": []}),
        (["José García"], ["Jose\u0301 Garci\u0301a"], {"José García": []}),
    ],
)
def test_somebody_is_one_person_in_whatever_form_of_their_name(known, names, dead):
    assert after(people(*known), *names) == dead


@pytest.mark.parametrize(
    ("known", "name"),
    [
        (["Bastian Cole", "Greta Cole"], "Mr Cole"),
        (["Bastian Cole", "Greta Cole"], "Cole"),
        (["Mira Holt", "Mira Vane"], "Mira"),
        (["Mira Holt", "Mira Vane"], "Mira Ann Holt"),
        (["Bastian Cole"], "Mrs Cole"),
        (["Bastian Cole"], "Greta Cole"),
        (["Bastian Cole"], "Old Cole"),
        (["Bastian Cole"], "Bastian Vane"),
        (["Captain Cole"], "Mr Cole"),
        (["Mr Cole"], "Bastian Cole"),
        (["Cole"], "Bastian Cole"),
        (["Cole"], "Mrs Cole"),
        (["Mr Cole"], "Cole Porter"),
        (["Mary Ann Cole"], "Mary Jane Cole"),
        (["Bastian"], "Bastian Junior"),
        (["Bastian"], "Bastian the Elder"),
        (["Bastian"], "Bastian's mother"),
    ],
)
def test_nobody_takes_the_name_of_somebody_else(known, name):
    assert list(after(people(*known), name)) == [name]


def test_a_name_with_a_surname_is_that_of_one_who_has_no_other_yet():
    assert after(people("Bastian"), "Bastian Vane", "Bastian Cole") == {"Bastian": ["Bastian Vane"], "Bastian Cole": []}


def test_a_title_says_who_is_he_or_she():
    codex = changed(people("Greta Cole"), [said("Greta Cole", "pronouns", "she")])
    assert list(after(codex, "Mrs Cole")) == ["Greta Cole"]
    assert list(after(codex, "Mr Cole")) == ["Mr Cole"]


def test_a_place_that_is_called_after_somebody_is_a_place():
    told = [CodexChange(name="Bastian Street", kind="place", aspect="fact", value="Bastian Street is empty.")]
    (change,) = from_reply(told, "Bastian Street was empty.", people("Bastian"))
    assert (change["entry"], change["kind"]) == ("Bastian Street", "place")


def test_no_word_of_a_person_without_a_name_means_them():
    assert people("a tall stranger", "der Fährmann").named_in("A dog and a tall horse. Der Hund.") == []


def rules(codex, *facts, passage="Nobody spoke."):
    told = from_facts("", facts, passage, codex, "English")
    return [(change["entry"], change["do"], change.get("value", "")) for change in told]


def test_a_fact_about_a_longer_form_of_a_name_is_about_whoever_has_the_shorter():
    dead = ("Bastian", "set", "dead")
    longer = ("Bastian", "alias", "Bastian Cole")
    assert rules(people("Bastian"), "Bastian Cole died before noon.") == [longer, dead]
    assert rules(people("Bastian"), "Bastian Street is empty.") == [("Bastian", "set", "")]
    assert rules(people("Bastian Cole"), "Mr Cole died before noon.") == [("Bastian Cole", "set", "dead")]
    assert rules(people("Bastian"), "Odo spoke to Bastian Cole.", passage='"No," said Bastian Cole.')[0][0] == "Bastian"


@pytest.mark.parametrize(
    ("known", "fact", "who"),
    [
        (["Bastian Cole", "Captain Cole"], "Captain Cole died before noon.", ["Captain Cole"]),
        (["Mira Holt", "Mira Vane"], "Mira died before noon.", []),
        (["Mira Holt", "Mira Vane"], "Mira Vane died before noon.", ["Mira Vane"]),
    ],
)
def test_of_two_who_share_a_name_nobody_dies_by_it(known, fact, who):
    assert [name for name, _, value in rules(people(*known), fact) if value == "dead"] == who


@pytest.mark.parametrize(
    ("names", "text", "named"),
    [
        (["Greta Lind", "Jonas Roth"], "Gretas Mantel liegt im Hof.", ["Greta Lind"]),
        (["Greta Lind"], "Am Haken hängt und trocknet Greta Linds Mantel.", ["Greta Lind"]),
        (["Jona Roth", "Jonas Lind"], "Jonas Mantel liegt im Hof.", ["Jonas Lind"]),
        (["Anna Lind", "Anna Berg"], "Annas Mantel liegt im Hof.", []),
        (["Greta Lind"], "Die Linds Kinder sind nicht da.", []),
        (["Jen Holt"], "Jens Vane walks to the mill.", []),
        (["Анна Орлова"], "Сторож встречает Анну Орлову во дворе.", ["Анна Орлова"]),
        (["Анна Орлова"], "Письмо лежит у Анны.", ["Анна Орлова"]),
        (["Мария Лисина"], "Он говорит с Марией.", ["Мария Лисина"]),
        (["Иван Орлов"], "Она уехала с Иваном.", ["Иван Орлов"]),
        (["Анна Орлова", "Анна Лисина"], "Сторож встречает Анну Орлову.", ["Анна Орлова"]),
        (["Анна Орлова", "Анна Лисина"], "Сторож встречает Анну.", []),
    ],
)
def test_a_name_in_another_case_names_somebody_where_it_can_be_nobody_elses(names, text, named):
    assert [entry.name for entry in people(*names).named_in(text)] == named


EPITHETS = ["Old Josiah", "Little Annie", "Sister Agnes", "Uncle Walter", "Old Captain Rusk", "Old Uncle Hiram"]


@pytest.mark.parametrize("name", EPITHETS)
def test_whoever_is_introduced_with_an_epithet_is_known_by_the_name_behind_it(name):
    called = name.split()[-1]
    assert found(people(name), called) == name
    assert [entry.name for entry in people(name).named_in(f"Harriet asks {called} what happened.")] == [name]
    assert after(people(), name, called) == {name: []}
    dead = changed(people(name), [said(name, "status", "dead")], "p1", 1)
    for told in (f"{called} came in and hung up the coat.", f'"Sunday," said {called}.', f"{name} came in."):
        assert [one["entry"] for one in find_contradictions(told, dead)] == [name], told


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("Old Woman", "Woman"),
        ("Little One", "One"),
        ("Old Captain", "Captain"),
        ("Little Brother", "Brother"),
        ("Father Christmas", "Christmas"),
        ("Old Mrs Crabbe", "Crabbe"),
        ("Mother Superior", "Superior"),
        ("Old Peg of the Mill", "Mill"),
        ("the Old Ferryman", "Ferryman's"),
        ("old ferryman", "ferryman's"),
    ],
)
def test_what_is_no_name_calls_nobody_behind_an_epithet(name, called):
    assert people(name).named_in(f"{called} things lay about, and {called} Lane was dark.") == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("mother of Tom", "Tom"),
        ("Mother of Tom", "Tom"),
        ("old friend of Anna", "Anna"),
        ("friend of Anna", "Anna"),
        ("sister of Bastian Cole", "Cole"),
        ("young clerk of Mr Crane", "Crane"),
        ("old harbour master", "harbour master"),
    ],
)
def test_who_is_told_of_by_somebody_elses_name_is_not_called_by_it(name, other):
    told = f"Then {other} came in and hung up the coat."
    assert people(name).named_in(told) == []
    dead = [said(name, "status", "dead")]
    assert find_contradictions(told, changed(people(name), dead, "p1", 1)) == []
    both = changed(people(other, name), [said(other, "status", "dead")], "p1", 1)
    assert [one["entry"] for one in find_contradictions(told, both)] == [other]


@pytest.mark.parametrize("name", ["old ferryman Josiah", "chief engineer Josiah", "old captain Josiah"])
def test_a_name_behind_what_somebody_is_is_theirs(name):
    dead = changed(people(name), [said(name, "status", "dead")], "p1", 1)
    assert [one["entry"] for one in find_contradictions("Josiah came in and sat down.", dead)] == [name]


def test_an_epithet_is_part_of_a_places_name():
    harbour = changed(people(), [said("Old Harbour", "look", "grey", "place")], "p1", 1)
    assert harbour.named_in("Harbour lights burned.") == []


TOMS = changed(people("Old Tom", "Young Tom"), [said("Old Tom", "status", "dead")], "p1", 1)


def test_two_of_one_name_are_told_apart_by_their_epithets_and_without_them_neither_is_accused():
    assert found(TOMS, "Tom") is None
    assert [entry.name for entry in TOMS.named_in("Young Tom came in.")] == ["Young Tom"]
    for told in ("Tom came in and sat down.", "Young Tom came in. Tom sat down.", '"Sunday," said Young Tom.'):
        assert find_contradictions(told, TOMS) == [], told
    assert [one["entry"] for one in find_contradictions("Old Tom came in and sat down.", TOMS)] == ["Old Tom"]


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("Old Tom", "Young Tom"),
        ("Old Tom", "Uncle Tom"),
        ("Old Tom", "Captain Tom"),
        ("Agnes", "Sister Agnes"),
        ("Uncle Walter", "Mr Walter"),
    ],
)
def test_another_epithet_makes_somebody_else(known, name):
    dead = changed(people(known), [said(known, "status", "dead")], "p1", 1)
    assert list(after(dead, name)) == [known, name]


def test_somebody_of_another_epithet_does_what_the_dead_do_not_before_anybody_knows_them():
    dead = changed(people("Old Tom"), [said("Old Tom", "status", "dead")], "p1", 1)
    assert dead.named_in("Young Tom came in.") == []
    for told in ("Young Tom came in. Tom sat down.", "Young Tom's hands shook.", "She greeted Uncle Tom. Tom laughed."):
        assert find_contradictions(told, dead) == [], told
    fact = Change(entry="Young Tom", kind="person", do="set", aspect="fact", text="Young Tom runs the mill.")
    assert changed(dead, [fact], "p2", 2).find("Young Tom").line("fact")
    assert [
        one["entry"] for one in from_facts("", ["Young Tom died of the fever."], "", people("Old Tom"), "English")
    ] != ["Old Tom"]


def test_of_a_name_with_an_epithet_and_the_same_without_it_neither_is_accused_where_both_may_be_meant():
    known = people("Agnes", "Sister Agnes")
    for dead, other in (("Agnes", "Sister Agnes"), ("Sister Agnes", "Agnes")):
        codex = changed(known, [said(dead, "status", "dead")], "p1", 1)
        assert find_contradictions("Agnes came in and hung up her coat.", codex) == []
        assert find_contradictions(f"{other} came in. Agnes sat down.", codex) == []
    fact = Change(entry="Sister Agnes", kind="person", do="set", aspect="fact", text="Agnes runs the hospice.")
    codex = changed(changed(known, [said("Agnes", "status", "dead")], "p1", 1), [fact], "p2", 2)
    assert codex.find("Sister Agnes").line("fact")


def test_a_longer_name_with_the_same_epithet_is_the_same_persons():
    assert after(people("Old Josiah"), "Old Josiah Crabbe", "Crabbe", "Josiah") == {"Old Josiah": ["Old Josiah Crabbe"]}


def test_a_brief_that_calls_one_without_an_epithet_does_not_make_them_the_other():
    codex = changed(people(), [said("Sister Agnes", "status", "dead")], "p1", 1)
    both = under(codex, [said("Agnes", "role", "the baker")])
    assert [entry.name for entry in both.dead] == ["Sister Agnes"]
    assert found(both, "Agnes") == "Agnes"


def test_pronouns_are_learned_and_held_against_a_passage_under_the_name_behind_an_epithet():
    passage = "Agnes shook her head. Young Tom shook his head."
    changes = from_facts("", ["Agnes waits."], passage, people("Sister Agnes", "Old Tom"), "English")
    assert [(one["entry"], one["value"]) for one in changes if one.get("aspect") == "pronouns"] == [
        ("Sister Agnes", "she")
    ]
    known = changed(people("Sister Agnes"), [said("Sister Agnes", "pronouns", "she")], "p1", 1)
    assert [one["rule"] for one in find_contradictions("Agnes shook his head.", known)] == ["pronouns"]
    assert find_contradictions("Uncle Agnes shook his head.", known) == []


def test_who_comes_in_with_another_epithet_is_somebody_new():
    passage = "Young Tom came in. Young Tom shook his head, and Tom Reed nodded to the others."
    changes = from_facts("", ["Young Tom runs the mill."], passage, people("Old Tom", "Tom Reed"), "English")
    assert "Young Tom" in {one["entry"] for one in changes}
    assert "Old Tom" not in {one["entry"] for one in changes}


@pytest.mark.parametrize(("dead", "living"), [("Crale", "Dorothy Crale"), ("Tom", "Tom Reed"), ("Agnes", "Agnes Rook")])
def test_the_dead_are_accused_under_their_whole_name_also_where_it_is_a_part_of_somebody_elses(dead, living):
    codex = changed(people(dead, living), [said(dead, "status", "dead"), said(dead, "pronouns", "he")], "p1", 1)
    assert [one["rule"] for one in find_contradictions(f"{dead} came in and hung up the coat.", codex)] == ["dead"]
    known = changed(people(dead, living), [said(dead, "pronouns", "he")], "p1", 1)
    assert [one["rule"] for one in find_contradictions(f"{dead} shook her head.", known)] == ["pronouns"]
    assert codex.names_of(codex.find(dead), "person") == (dead,)


def test_a_name_of_the_dead_may_be_short_for_the_living_whom_a_passage_names_in_full():
    for living in ("Tom King", "Tom van Reed", "Tom the Miller", "Tom Reed"):
        codex = changed(people("Tom", living), [said("Tom", "status", "dead")], "p1", 1)
        assert find_contradictions(f"{living} came in and sat down. Tom took off his hat.", codex) == []
    both = changed(codex, [said("Tom Reed", "status", "dead")], "p2", 2)
    told = find_contradictions("Tom Reed lay in the ground.\n\nTom came in and took off his hat.", both)
    assert [one["entry"] for one in told] == ["Tom"]


@pytest.mark.parametrize(
    ("known", "names", "dead"),
    [
        (["Annie Reed"], ["Little Annie", "Annie"], ["Annie Reed", "Little Annie"]),
        (["Little Annie"], ["Annie Reed", "Annie"], ["Annie Reed"]),
        (["Josiah Crabbe", "Old Josiah"], ["Josiah"], ["Josiah Crabbe"]),
    ],
)
def test_a_first_name_is_whose_it_is_without_an_epithet(known, names, dead):
    assert sorted(after(people(*known), *names)) == dead
    assert found(people(*known), names[-1]) == known[0]


@pytest.mark.parametrize(
    ("dead", "told"),
    [
        ("Old Tom", "Tom Reed came in and sat down. Tom laughed."),
        ("Old Tom", "Then Tom Reed's hat fell. Tom laughed."),
        ("Old Tom", '"This is Tom Reed," she said. Tom laughed.'),
        ("Little John", "King John came in. John sat down."),
        ("Captain Rusk", "Mrs. Rusk came in. Rusk sat down."),
        ("Bastian Cole", "Bastian Vane came in. Bastian sat down."),
    ],
)
def test_nobody_dead_is_accused_by_a_name_that_a_passage_has_in_a_longer_form_of_somebody_nobody_knows(dead, told):
    codex = changed(people(dead), [said(dead, "status", "dead")], "p1", 1)
    assert find_contradictions(told, codex) == []
    away = changed(people(dead), [said(dead, "status", "absent")], "p1", 1)
    assert no_longer_gone(told, away) == []


@pytest.mark.parametrize(
    ("dead", "told"),
    [
        ("Tom", "Tom came in and sat down."),
        ("Tom", "Tom Reed came in and sat down. Tom laughed."),
        ("Tom", "She greeted Captain Tom. Tom laughed."),
        ("Josiah Pell", "Pell came in and sat down. Rain fell on Pell Farm."),
        ("Old Tom", "She saw Tom. He nodded. Reed's coat was wet. Tom laughed."),
        ("Old Tom", "She asked the Captain. Tom laughed."),
        ("Old Tom", "She met Tom Sunday. Tom laughed."),
        ("Old Tom", "Old Tom Reed came in and sat down. Tom laughed."),
        ("Old Tom", "Tom's Reed Inn was dark. Tom laughed."),
        ("Captain Rusk", "Captain Rusk came in and sat down. Rusk laughed."),
        ("Bastian Andreas Cole", "Bastian Andreas came in and sat down. Bastian laughed."),
        ("Bastian Cole", "Bastian Andreas Cole sat there. Bastian laughed."),
    ],
)
def test_the_dead_are_accused_where_a_longer_form_of_their_name_is_theirs_or_none(dead, told):
    codex = changed(people(dead), [said(dead, "status", "dead")], "p1", 1)
    assert [one["entry"] for one in find_contradictions(told, codex)] == [dead]


def test_a_surname_may_mean_whoever_has_it_behind_an_epithet():
    codex = people("Old Crabbe", "Dinah Crabbe")
    assert found(codex, "Crabbe") is None
    assert (
        find_contradictions("Crabbe came in.", changed(codex, [said("Dinah Crabbe", "status", "dead")], "p1", 1)) == []
    )


@pytest.mark.parametrize(("name", "alias"), [("Walter Crane", "Uncle Walter"), ("Josiah Crabbe", "Little Josiah")])
def test_whoever_has_a_name_without_an_epithet_may_be_called_with_any(name, alias):
    known = changed(people(name, aliases=[alias]), [said(name, "pronouns", "he")], "p1", 1)
    called = alias.split()[-1]
    assert [entry.name for entry in known.named_in(f"Old {called} came in.")] == [name]
    passage = f"Old {called} came in and shook his head. Nobody spoke to Old {called}."
    assert {one["entry"] for one in from_facts("", [f"Old {called} runs the mill."], passage, known, "English")} == {
        name
    }
    dead = changed(known, [said(name, "status", "dead")], "p2", 2)
    passage = f"Old {called}'s chair was empty. {called} came in and sat down."
    assert [one["entry"] for one in find_contradictions(passage, dead)] == [name]
    for told in (f"{alias} came in and hung up his coat.", f"{name} came in and hung up his coat."):
        assert [one["entry"] for one in find_contradictions(told, dead)] == [name], told


@pytest.mark.parametrize("alias", ["the sexton", "Mr Crabbe", "Grandfather"])
def test_whoever_is_called_something_else_too_is_told_apart_by_an_epithet_all_the_same(alias):
    known = people("Old Josiah", aliases=[alias])
    assert known.named_in("Young Josiah came in.") == []
    fact = "Young Josiah runs the mill."
    passage = "Young Josiah came in. Young Josiah shook her head, and Josiah Pell nodded."
    assert "Young Josiah" in {one["entry"] for one in from_facts("", [fact], passage, known, "English")}
    dead = [said("Old Josiah", "pronouns", "he"), said("Old Josiah", "status", "dead")]
    codex = changed(known, dead, "p1", 1)
    for told in ("Young Josiah shook her head.", "Young Josiah came in and hung up the coat."):
        assert find_contradictions(told, codex) == [], told
    for told in ("Josiah came in and hung up the coat.", "Old Josiah came in and hung up the coat."):
        assert [one["entry"] for one in find_contradictions(told, codex)] == ["Old Josiah"], told
    both = under(codex, [said("Josiah", "role", "the baker")])
    assert found(both, "Josiah") == "Josiah"


def test_a_name_without_an_epithet_may_have_any_also_beside_one_with_it():
    known = people("Old Josiah", aliases=["Mr Crabbe"])
    assert [entry.name for entry in known.named_in("Young Mr Crabbe came in.")] == ["Old Josiah"]


@pytest.mark.parametrize(
    "name", ["Old Captain Rusk", "Old Josiah Crabbe", "Little Red Riding Hood", "Old Peg of the Mill"]
)
def test_whoever_has_a_name_of_several_words_behind_an_epithet_is_known_by_all_of_them(name):
    called = name.split(maxsplit=1)[1]
    assert found(people(name), called) == name
    assert after(people(), name, called) == {name: []}
    dead = changed(people(name), [said(name, "status", "dead")], "p1", 1)
    for told in (f"{called} came in and hung up the coat.", f"{name} came in and hung up the coat."):
        assert [one["entry"] for one in find_contradictions(told, dead)] == [name], told
    assert find_contradictions(f"Young {called} came in and hung up the coat.", dead) == []


@pytest.mark.parametrize("name", ["Old Uncle Hiram", "Old Mother Hubbard", "Little Sister Agnes"])
def test_whoever_has_two_epithets_is_known_by_the_name_behind_the_first(name):
    _, second, called = name.split()
    assert after(people(), name, f"{second} {called}", called) == {name: []}
    dead = changed(people(name), [said(name, "status", "dead")], "p1", 1)
    assert [one["entry"] for one in find_contradictions(f"{second} {called} came in and sat down.", dead)] == [name]
    for told in (f"Young {called} came in.", f"Young {second} {called} came in.", f"{second} Walter came in."):
        assert find_contradictions(told, dead) == [], told


def test_a_name_behind_the_first_of_two_epithets_is_whose_it_is_without_that():
    for other in ("Uncle Hiram", "Young Uncle Hiram"):
        both = people("Old Uncle Hiram", other)
        assert found(both, other) == other
        dead = changed(both, [said("Old Uncle Hiram", "status", "dead")], "p1", 1)
        assert find_contradictions("Uncle Hiram came in and sat down.", dead) == []
    assert list(after(people("Old Uncle Hiram"), "Uncle Walter")) == ["Uncle Walter"]
    for name, called in (("Little Old Woman", "Old Woman"), ("Old Father Christmas", "Father Christmas")):
        assert people(name).named_in(f"Then {called} came in.") == []


def test_a_name_of_several_words_is_whose_it_is_without_an_epithet():
    assert found(people("Old Captain Rusk", "Captain Rusk"), "Captain Rusk") == "Captain Rusk"
    assert after(people("Captain Rusk"), "Old Captain Rusk") == {"Old Captain Rusk": []}


@pytest.mark.parametrize("name", ["Josiah Pell", "Josiah", "Old Josiah"])
@pytest.mark.parametrize(
    "told",
    [
        "Old Josiah came in from the yard and sat down.",
        "Poor Josiah sat down by the fire.",
        '"A storm is coming," said Old Josiah.',
        '"A storm is coming," said old Josiah.',
        "Rain fell, and poor old Josiah laughed.",
    ],
)
def test_the_dead_are_accused_behind_a_word_that_makes_nobody_else_of_them(name, told):
    dead = changed(people(name), [said(name, "status", "dead")], "p1", 1)
    assert [one["entry"] for one in find_contradictions(told, dead)] == [name]


@pytest.mark.parametrize(
    ("dead", "others", "told"),
    [
        ("Young Josiah", [], '"A storm is coming," said old Josiah.'),
        ("Young Josiah", [], "Old Josiah came in and sat down."),
        ("Josiah Pell", ["Josiah Crabbe"], "Old Josiah came in and sat down."),
        ("Josiah Pell", ["Old Josiah"], "Old Josiah came in and sat down."),
        ("Josiah Pell", ["Old Josiah"], '"A storm is coming," said old Josiah.'),
        ("Josiah Pell", ["Young Josiah"], '"A storm is coming," said old Josiah.'),
        ("Josiah Pell", [], "Young Josiah came in and sat down."),
        ("Josiah Pell", [], "Uncle Josiah came in and sat down."),
        ("Josiah Pell", [], "Old Josiah Crabbe came in. Old Josiah sat down."),
        ("Josiah Pell", [], "She remembered how old Josiah laughed."),
        ("Josiah Pell", [], "The Old Josiah sailed at noon."),
    ],
)
def test_behind_such_a_word_nobody_is_accused_who_may_be_another(dead, others, told):
    codex = changed(people(dead, *others), [said(dead, "status", "dead")], "p1", 1)
    assert find_contradictions(told, codex) == []
