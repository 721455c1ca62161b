"""Who comes into a story of the small tier: an entry, whatever their name looks like; and who or what is nobody."""

import pytest

from recurrentgpt.memory.codex import changed
from recurrentgpt.nodes.codex_changes import from_facts, from_manuscript
from recurrentgpt.nodes.codex_newcomers import find_names
from recurrentgpt.schema.codex import Change, Codex

KNOWN = changed(Codex(), [Change(entry="Anna Cole", kind="person", do="alias", value="Anna Cole")], "p0", 1)
NAMES = [
    "Mr Finch", "Mr. Pryce", "Dr Pryce", "Mrs Finch", "Sister Oda", "Inspector Hale", "Captain Idris Vale", "Oda", "Jo",
    "Ed", "Zoë", "René", "O'Brien", "O’Brien", "McKay", "Walter Pryce", "Jean-Luc Moreau", "Anton de Vries", "Zoë McKay",
]  # fmt: skip
SCENES = [
    'Late in the day {n} came to the mill in a grey coat. "It is cold here," said {n}. Anna gave {n} a chair.',
    "The new doctor came to the mill. Anna gave {n} a chair, and {n} sat down by the stove and drank the soup.",
    '"My name is {n}," he said to Anna. "I am the new doctor." Anna gave him a chair.',
    "They had waited long for a doctor. At last {n} walked up the hill, and Anna held the lantern.",
]


def after(passage, facts=(), summary="", known=KNOWN, step=2):
    """Return the codex after a passage of which a small model noted these facts."""
    return changed(known, from_facts(summary, facts, passage, known, "English"), f"p{step}", step)


def people(codex):
    return {entry.name for entry in codex.entries.values() if entry.kind == "person"} - {"Anna Cole"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scene", SCENES)
def test_whoever_acts_speaks_or_is_given_something_is_an_entry_and_dies(name, scene):
    codex = after(scene.format(n=name))
    assert people(codex) == {name}
    facts = [f"{name} drowned in the night.", f"Anna wept for {name}."]
    dead = after(f"In the night the bridge gave way, and {name} drowned.", facts, f"{name} drowns.", codex, step=3)
    assert dead.find(name).is_dead


@pytest.mark.parametrize("name", NAMES)
def test_whoever_is_only_told_of_in_a_fact_or_the_summary_is_an_entry(name):
    passage = "A stranger came up the hill with a bag, and the dog did not bark. Anna gave him soup."
    codex = after(passage, [f"The new doctor is {name}.", f"Anna gave {name} a bowl of soup."])
    assert people(codex) == {name}
    assert any("new doctor" in line.text for line in codex.find(name).lines)
    assert people(after(passage, [], f"Anna meets {name}, the new doctor, at the mill.")) == {name}


def test_somebody_is_one_entry_under_the_parts_of_their_name():
    codex = after(
        'Walter Gray came in. "Sit down, Mr Gray," said Anna, and Gray sat down. "It is cold here," said Walter.',
        ["Dr Gray gave Anna the bag."],
    )
    assert people(codex) == {"Walter Gray"}


@pytest.mark.parametrize(
    "passage",
    [
        "London slept under the snow. Anna had lived in London for a year, and London burned in her mind.",
        "On Monday the rain came back. Monday brought a letter, and Anna read it.",
        "The Petrel sailed at noon. Anna watched the Petrel until it sank, and the Petrel took the light with her.",
        "A schooner called Petrel lay at the quay, and a town called Marrow burned behind it.",
        "Anna took the road to Marrow. In Marrow nobody knew her, and Marrow closed its doors.",
        "Smoke lay low over the fields. Gulls screamed, and Rain Lane was empty. Rain fell. Nobody laughed.",
        "I'll go, Anna thought. Don't wait. They'd gone. Everybody laughed, and Christmas passed.",
        "The King nodded. The Mayor sat down beside the Widow, and Anna read the Bible in French.",
        "Marrow Street was dark, and Hale House stood open. Anna walked over London Bridge.",
        "THE END came. NOTICE said the board, and Anna read IT twice.",
        "Slowly Anna turned. Yesterday she had been in Kent, and Kent had been kind.",
        "Mount Hale threw its shadow, and Lake Orra took the boat. New York shook, and the Earl of Marrow nodded to Anna.",
        "The Thames rose. Anna saw the Thames swallow the stair, and the Inn of Cardle shook.",
    ],
)
def test_what_is_no_person_is_nobody(passage):
    assert (
        people(after(passage, ["Anna was in London.", "The Petrel was lost.", "A town called Marrow burned."])) == set()
    )


def test_whoever_has_a_style_is_known_by_their_name():
    assert people(after("The Reverend Hugh Orme nodded, and the Honourable Miss Orme laughed.")) == {
        "Hugh Orme",
        "Miss Orme",
    }


def test_the_people_and_places_of_a_text_are_those_named_most():
    text = (
        "Rosa Hale met Tom Brack at Greywater. The road to Greywater was long. Tom nodded, and Tom laughed. "
        '"Come," said Tom. In Greywater it rained. Rosa shook her head. In Kent it had not rained, and Kent was dry.'
    )
    found = find_names([text], Codex())
    assert ([entry.name for entry in found.people], found.places) == (["Tom Brack", "Rosa Hale"], ["Greywater", "Kent"])


KNOWN_PAIR = "Robert Hale and Edith Crane kept the orchard. Daniel Moss laughed, and Edith Crane laughed."
DATED = [
    "In March {n} died of a fever.",
    "By Christmas {n} was dead.",
    "On Boxing Day {n} died.",
    "That October {n} died of his chest.",
    "On New Year's Eve {n} drowned.",
    "It snowed, and by May {n} was dead.",
    "In Spring {n} died.",
]
IN_A_TOWN = "In London {n} died of a fever."


@pytest.mark.parametrize(
    ("before", "sentence"),
    [*((before, sentence) for before in (KNOWN_PAIR, "") for sentence in DATED), (KNOWN_PAIR, IN_A_TOWN)],
)
def test_when_and_where_something_happens_is_no_part_of_a_name(before, sentence):
    text = sentence.format(n="Daniel Moss")
    named = Codex()
    for entry in find_names([before, text], Codex()).people:
        named = named.with_entry(None, entry)
    codex = changed(Codex(), from_manuscript(text, Codex(), named), "p1", 1)
    assert [entry.name for entry in codex.dead] == ["Daniel Moss"]
    assert "Daniel Moss" in {entry.name for entry in named.entries.values()}
    assert people(codex) <= {"Daniel Moss"}


@pytest.mark.parametrize(
    "speech",
    [
        '"Promise me," said Hester Lane, "that you will never tell him."',
        '"Promise me," said Hester Lane. "It is late. You must go."',
        "“Is it late?” asked Hester Lane, “or not?”",
        "«Promise me,» said Hester Lane, «now!»",
    ],
)
@pytest.mark.parametrize(
    "sentence",
    ["Agnes Cole promised that she would never tell Hugh where the key was.", "Agnes Cole died that night."],
)
def test_whoever_speaks_is_no_part_of_the_sentence_after_that(speech, sentence):
    named = Codex()
    for entry in find_names([speech, sentence, "Agnes sat. Hugh Vale sat. Hester sat."], Codex()).people:
        named = named.with_entry(None, entry)
    changes = from_manuscript(f"{speech} {sentence}", Codex(), named)
    assert {change["text"] for change in changes if change["do"] == "set"} == {sentence}
    assert not [change for change in changes if "said" in change["entry"] or "asked" in change["entry"]]


@pytest.mark.parametrize("sentence", [*DATED, IN_A_TOWN])
def test_whoever_is_known_dies_on_a_date(sentence):
    known = after('"It is cold," said Daniel Moss. "It is," said Edith Crane.')
    text = sentence.format(n="Daniel Moss")
    codex = after(text, [text], "", known, step=3)
    assert people(codex) == {"Daniel Moss", "Edith Crane"}
    assert codex.find("Daniel Moss").is_dead


@pytest.mark.parametrize(
    ("sentence", "is_dead"),
    [
        ("At Port Anna died two sailors.", False),
        ("In Lake Anna drowned two boys.", False),
        ("Near Saint Anna died two sailors.", False),
        ("Near Aunt Anna died two sailors.", False),
        ("In Hyde Park Anna died of a fever.", True),
        ("In London, Anna died of a fever.", True),
        ("In London Anna died of a fever.", True),
    ],
)
def test_nobody_dies_whose_name_ends_that_of_a_place(sentence, is_dead):
    assert after(sentence, [sentence]).find("Anna Cole").is_dead is is_dead


def test_who_is_called_as_a_month_is_somebody_all_the_same():
    text = (
        "He came by May Welland's house. “Come,” said May Welland. Amy March laughed, and April Winter nodded to May."
    )
    assert people(after(text)) == {"May Welland", "Amy March", "April Winter"}


def test_somebody_with_a_rank_is_not_the_sister_of_that_surname():
    text = (
        "Captain Voss lived in the customs house and wore a red coat. He received Anna on Tuesday. His sister Margarethe "
        "poured the tea. She was a small woman, and her hands shook. Margarethe Voss stood at the gate. Captain Voss laughed."
    )
    assert {entry.name for entry in find_names([text], KNOWN).people} == {"Captain Voss", "Margarethe Voss"}


@pytest.mark.parametrize(
    "deed",
    [
        "took her hand",
        "lifted her chin",
        "kissed her cheek, and shook her hand",
        "read her letter",
        "stood at her door",
        "gave a lamp to her brother",
    ],
)
def test_what_somebody_does_with_what_may_be_anothers_makes_no_second_person_of_them(deed):
    text = f'Robert Voss rubbed his eyes. "Come," said Robert Voss. Captain Voss {deed}. Captain Voss {deed} again.'
    assert {entry.name for entry in find_names([text], Codex()).people} == {"Robert Voss"}
    text = f'Robert Voss {deed}. "Come," said Robert Voss. "No," said Mr. Voss.'
    assert {entry.name for entry in find_names([text], Codex()).people} == {"Robert Voss"}


def test_what_somebody_does_with_their_own_head_tells_two_of_a_surname_apart():
    text = 'Robert Voss slowly shook his head. "Come," said Robert Voss. Captain Voss cleared her throat.'
    assert {entry.name for entry in find_names([text], Codex()).people} == {"Robert Voss", "Captain Voss"}


def test_a_miss_is_who_is_she_of_her_surname():
    text = (
        "Anna Kessler sat on her trunk. Daniel Kessler came in at nine, and he embraced her. Daniel drew a key from his coat. "
        '"You will not be careless, Miss Kessler," said Captain Rudd. Anna kept her face quite still. She thanked him.'
    )
    assert {entry.name for entry in find_names([text], Codex()).people} == {
        "Anna Kessler",
        "Daniel Kessler",
        "Captain Rudd",
    }


@pytest.mark.parametrize("how", ["quite still", "very straight", "rather low", "almost hidden"])
def test_how_somebody_has_a_thing_is_no_part_of_its_name(how):
    changes = from_facts(
        "", [f"Anna kept her face {how}.", f"Anna kept the ledger {how}."], "Anna sat.", KNOWN, "English"
    )
    assert {change["entry"] for change in changes if change["kind"] == "thing"} == {"ledger"}


@pytest.mark.parametrize(
    ("passage", "facts"),
    [
        ("Old Hanne's lamp was lit.", ["Hanne is the lamp keeper."]),
        ("Hanne's lamp was lit.", ["Hanne is the keeper of the lamp.", "Hanne is old."]),
        ("Hanne's window was dark.", ["Hanne is a weaver."]),
        ("There was a light in Hanne's window.", ["Hanne lives alone."]),
        ("The door of Hanne's hut was open.", ["Hanne has a limp.", "Hanne owns the hut."]),
        ("The garden was Hanne's.", ["Hanne is a widow."]),
        ("They spoke of Hanne.", ["Hanne is blind.", "Hanne knows about the letter."]),
        ("A coat hung on the nail, and it was Odrun's.", ["Odrun is the sexton."]),
        ("Poor Hanne's goats were out.", ["Hanne has two sons."]),
        ("Hanne's lamp was lit.", ["Hanne cannot swim."]),
        ("Jorun's boat lay at the quay.", ["Jorun owes Anna ten pounds."]),
        ("The lamp at Hanne's was lit.", ["Hanne is Anna's friend."]),
    ],
)
def test_whoever_only_owns_something_in_a_passage_is_somebody_by_what_is_noted_of_them(passage, facts):
    codex = after(passage, facts)
    (name,) = people(codex)
    assert name in passage
    assert facts[0] in [line.text for entry in codex.entries.values() for line in entry.lines]


@pytest.mark.parametrize(
    ("passage", "facts"),
    [
        ("Marrow's lamps were lit.", ["Marrow is a fishing harbour.", "Marrow is old."]),
        ("The Petrel's lamp was lit.", ["Petrel is a steamer.", "The Petrel is a cutter."]),
        ("March's winds were cold.", ["March is the month of rain.", "March was the killer of lambs."]),
        ("Orra's water was high.", ["Orra is a river.", "Orra has a mouth."]),
        ("Time's hand is cold.", ["Time is a thief."]),
        ("Death's bell rang.", ["Death is a stranger."]),
        (
            "London's bridge was lit.",
            ["London is the owner of the bridge.", "Anna lives in London.", "London was crossed in London fog."],
        ),
        ("Smoke's smell hung over the yard, and smoke rose.", ["Smoke is the keeper of the yard."]),
        ("The Swan's sign creaked.", ["The Swan is an inn.", "The Swan has a landlord."]),
        ("Winter's breath was cold.", ["Winter is a beggar."]),
        ("Sorn's wall is high.", ["Sorn is a city.", "Sorn has no king."]),
        ("Today's bread was warm.", ["Today is the baker's day."]),
        ("Lamps burned in Marrow.", ["Marrow has a doctor.", "Marrow knows no peace."]),
        ("The Excalibur was bright.", ["Excalibur is the king's sword."]),
    ],
)
def test_no_place_ship_month_or_figure_of_speech_is_somebody_by_what_is_noted(passage, facts):
    assert people(after(passage, facts)) == set()


@pytest.mark.parametrize(
    "sentence",
    [
        '"Is Pip back?" said Hugh.',
        '"Did Pip put it there?" said Hugh.',
        '"Fetch Pip," said Hugh. "I want to tell him."',
        "“Find Pip and bring him here,” said Hugh.",
        "Had Pip known of it, he had not come.",
        "Watching Pip closely, the dog growled.",
        "Between Pip and the gate lay the dog.",
        '"Is Rosa Pell at home?" said Hugh.',
        '"Wake Rosa. Wake Captain Voss," said Hugh.',
        "Thus Rosa came down the hill again.",
        '"Tell Captain Voss that it is late," said Hugh.',
    ],
)
def test_what_a_sentence_or_a_quotation_begins_with_is_no_part_of_a_name(sentence):
    text = (
        "Hugh Orme nodded. The dog woke, and Pip fetched the lamp between them. They went to find it there, watching him thus. "
        "At the gate Pip laughed, and Rosa Pell nodded to Captain Voss. Rosa laughed."
    )
    assert {entry.name for entry in find_names([text, sentence], Codex()).people} == {
        "Hugh Orme",
        "Pip",
        "Rosa Pell",
        "Captain Voss",
    }


@pytest.mark.parametrize(
    "sentence",
    [
        "Mark Hale opened the gate.",
        "Mark Hale was late.",
        "Mark Hale had a black beard.",
        '"Mark Hale," said the man. "Sit down," said Mark.',
        "The gate stood open for Mark Hale.",
    ],
)
def test_whose_name_is_a_word_is_called_by_all_of_it(sentence):
    text = "Hale marked the place, for there was no mark. Hale nodded. The dog followed Hale."
    assert [entry.name for entry in find_names([sentence, text], Codex()).people] == ["Mark Hale"]


def test_whoever_is_known_is_nobody_new_behind_what_a_sentence_begins_with():
    assert people(
        after('"Fetch Anna," said Hugh Orme. "Is Anna Cole back? Wake Mrs Finch and Anna." They fetched her.')
    ) == {
        "Hugh Orme",
        "Mrs Finch",
    }


def test_a_town_whose_post_somebody_has_from_her_father_is_nobody():
    text = (
        "Josiah Pell had been harbourmaster of Sallow Reach for years, and Josiah Pell died. "
        "Then Edith nodded, and she became harbourmaster of Sallow Reach in her father's place."
    )
    assert {entry.name for entry in find_names([text], Codex()).people} == {"Josiah Pell", "Edith"}


def test_whoever_is_watched_is_who_a_text_goes_on_about_and_his_daughter_is_mrs_of_her_husbands_name():
    text = (
        "Josiah lived with his daughter Edith, who kept the ledgers. Edith watched him from the window. He crossed the yard. "
        'Tom Pell nodded. Tom rubbed his eyes. "I will," said Edith Pell. '
        '"Good night, Mrs. Pell," said the sexton.'
    )
    assert {entry.name for entry in find_names([text], Codex()).people} == {"Edith Pell", "Tom Pell"}
