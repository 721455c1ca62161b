"""What a small model's facts change in the codex, by rule: deaths, who has a thing, names, and what somebody knows now."""

import pytest

from recurrentgpt.memory.codex import changed
from recurrentgpt.nodes.codex_changes import deaths, from_facts, from_manuscript
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.codex import Change, Codex


def said(entry, aspect, value, kind="person"):
    return Change(entry=entry, kind=kind, do="set", aspect=aspect, value=value)


KNOWN = changed(
    Codex(),
    [
        said("Mara Voss", "pronouns", "she"),
        said("Idris Kane", "pronouns", "he"),
        said("the visor", "holder", "Idris Kane", "thing"),
        said("Berlin", "role", "a town", "place"),
    ],
    "p1",
    1,
)


def after(*facts, known=KNOWN, passage=""):
    """Return the codex after a passage of which a model noted these facts."""
    return changed(known, from_facts("", facts, passage or " ".join(facts), known, "English"), "p2", 2)


LIVES = [
    # after all
    "Idris Kane was poisoned but lived.",
    "Idris Kane was hanged twice and lived.",
    "Idris Kane was buried under the avalanche and dug out alive.",
    "Idris Kane was dead for two minutes before they brought him back.",
    "Idris Kane had died once, on the table, for two minutes.",
    "Idris Kane flatlined on the table, and Doctor Hale shocked him back.",
    "Idris Kane drowned in the lake, but Mara Voss pulled him out and he breathed again.",
    "Idris Kane was killed, but the loop reset at midnight.",
    "Idris Kane was killed by the dragon, but Mara Voss turned back time.",
    "Idris Kane was hanged, but the rope broke and he escaped.",
    "Idris Kane was pronounced dead, but he woke in the morgue.",
    "Idris Kane died and rose again on the third day.",
    "Idris Kane's death was faked.",
    "Idris Kane's execution was postponed.",
    # whoever is theirs
    "The wife of Idris Kane died in the spring.",
    "The dog of old Idris Kane drowned.",
    "The wife and son of Idris Kane died in the fire.",
    "The mother of Mara Voss and Idris Kane died in the spring.",
    "Both sons of Idris Kane died in the war.",
    "A friend of Idris Kane was killed in the war.",
    "The father of Idris Kane is dead.",
    # wished, said and written
    "Mara Voss wishes that Idris Kane were dead.",
    "Mara Voss lied to Tom that Idris Kane was dead.",
    "The letter says that Idris Kane drowned in the canal.",
    # what some live through
    "Mara Voss shot Idris Kane in the corridor.",
    "Mara Voss stabbed Idris Kane.",
    "Idris Kane was poisoned at dinner.",
    "Idris Kane was declared dead after seven years.",
    # in a play, a game, a dream
    "Idris Kane was killed in the simulation and lost a point.",
    "Idris Kane died in the third round but respawned.",
    "Idris Kane was executed in the novel that Mara Voss writes.",
    "Idris Kane was killed off in season two of the show.",
    "Idris Kane died in Mara Voss's dream.",
    "In the film, Idris Kane is hanged.",
    "Mara Voss wrote a story in which Idris Kane dies.",
    "Idris Kane dies in every performance.",
    "Idris Kane was murdered at chess by Mara Voss.",
    "Idris Kane lost the game and was dead on the board.",
    "Idris Kane was beheaded as Holofernes.",
    # in a manner of speaking
    "Idris Kane died laughing at the joke.",
    "Idris Kane drowned in paperwork.",
    "Idris Kane was drowned in applause.",
    "Idris Kane was hanged in effigy.",
    "Idris Kane was murdered by the critics.",
    "Idris Kane was slain by her smile.",
    "Mara Voss's smile killed Idris Kane.",
    "Mara Voss smothered Idris Kane with kisses.",
    "Mara Voss crushed Idris Kane at chess.",
    "Idris Kane was crushed by the news.",
    "Idris Kane was torn apart by guilt.",
    "Idris Kane was swallowed by the crowd.",
    "Idris Kane was strangled by red tape.",
    "Idris Kane was buried in sand up to his neck by the children.",
    "The children buried Idris Kane in sand up to his neck.",
    "Idris Kane was buried under a mountain of letters.",
    "Idris Kane is dead weight.",
    "Idris Kane is dead to the world.",
    "Idris Kane was executed well as a character.",
    "Idris Kane lost his life savings.",
    "Idris Kane gave his life to science.",
    "Idris Kane shot himself in the foot.",
    "Idris Kane's heart stopped at the sight of her.",
    "Nobody killed Idris Kane.",
    "Idris Kane was hanged by his ankles.",
    # as somebody says, or for show
    "Mara Voss told the guards that Idris Kane was dead.",
    "Idris Kane is dead, Mara Voss lied.",
    "By morning half the town had it that Idris Kane was dead.",
    "Word went round that Idris Kane was dead.",
    "Word had got about in the market that Idris Kane was dead.",
    "It was said that Idris Kane had died.",
    "It was put about that Idris Kane had drowned.",
    "Rumour had it that Idris Kane was dead.",
    "The talk on the quay was that Idris Kane was dead.",
    "The story went that Idris Kane was killed by wolves.",
    "Everybody said Idris Kane was dead.",
    "According to the baker, Idris Kane was dead.",
    "Idris Kane was dead, they said.",
    "Idris Kane had died, the whole town had it.",
    "Idris Kane was executed in the mock trial.",
    "Idris Kane was killed and rebuilt as an android.",
    "Idris Kane died, and the witch raised him.",
]

DIES = [
    "Idris Kane flatlined on the table.",
    "Idris Kane bled out in the airlock.",
    "Idris Kane was burned at the stake.",
    "The mob burned Idris Kane at the stake.",
    "Idris Kane suffocated in the sealed hold.",
    "The wolves tore Idris Kane apart.",
    "Idris Kane was torn apart by wolves.",
    "Idris Kane was pronounced dead by Doctor Hale.",
    "Idris Kane was eaten by the beast.",
    "The dragon devoured Idris Kane.",
    "Idris Kane jumped to his death.",
    "Mara Voss shot Idris Kane through the heart.",
    "Mara Voss poisoned Idris Kane, and he is dead.",
    "Idris Kane was shot twice and died.",
    "Idris Kane drowned in the Thames at night.",
    "Idris Kane was buried at sea with honours.",
    "Mara Voss buried Idris Kane in the garden.",
    "The avalanche buried Idris Kane alive, and nobody could dig so deep.",
    "Idris Kane was swallowed by the sea.",
    "Idris Kane was crushed by a falling beam.",
    "Idris Kane has been dead for three days.",
    "Idris Kane was killed by wolves and Mara Voss survived.",
    "Idris Kane died in the crash, but the others lived.",
    "Idris Kane, survived by two sons, died on Monday.",
    "Idris Kane died and his body was recovered from the river.",
    "Idris Kane died where he had lived.",
    "They found Idris Kane dead.",
    "Idris Kane was dead.",
    "Word came that Idris Kane was dead.",
    "Mara Voss had it out with him, and that night Idris Kane died.",
    "Idris Kane died before they said a word.",
    "After everybody said a prayer Idris Kane died.",
]


@pytest.mark.parametrize("fact", LIVES)
def test_nobody_dies_who_lives_after_all_or_dies_in_a_manner_of_speaking(fact):
    codex = after(fact)
    assert codex.find("Idris Kane").value("status") != "dead"
    assert fact in [line.text for entry in codex.entries.values() for line in entry.lines]
    assert deaths(fact, KNOWN) == set()


@pytest.mark.parametrize("fact", DIES)
def test_a_death_is_noted_of_whoever_dies(fact):
    codex = after(fact)
    assert codex.find("Idris Kane").is_dead
    assert not codex.find("Mara Voss").is_dead
    assert deaths(fact, KNOWN) == {"Idris Kane"}


@pytest.mark.parametrize(
    "fact",
    [
        "Mara Voss has the visor now.",
        "Mara Voss has the visor too.",
        "Mara Voss keeps the visor safe.",
        "Mara Voss holds the visor today.",
        "Mara Voss wears the visor instead.",
        "Mara Voss has Idris Kane's visor.",
        "Mara Voss took Idris Kane's visor.",
        "Idris Kane handed Mara Voss the visor.",
        "Idris Kane gave the visor back to Mara Voss.",
        "Idris Kane left the visor with Mara Voss.",
        "Idris Kane gave it to Mara Voss.",
        "Idris Kane found the visor and gave it to Mara Voss.",
        "The visor is back with Mara Voss.",
        "The visor is now Mara Voss's.",
        "The visor has been Mara Voss's since Monday.",
        "The visor is in Mara Voss's hands.",
    ],
)
def test_a_thing_changes_hands_under_its_one_name(fact):
    codex = after(fact)
    assert [(thing.name, thing.value("holder")) for thing in codex.held] == [("the visor", "Mara Voss")]


@pytest.mark.parametrize(
    "fact",
    [
        "Idris Kane no longer has the visor.",
        "Idris Kane does not have the visor any more.",
        "Idris Kane left the visor on the train.",
        "Idris Kane left it on the train.",
        "Idris Kane forgot the visor in the cab.",
        "Idris Kane gave the visor away.",
        "Idris Kane gave her the visor.",
        "Idris Kane gave the visor to the girl at the desk.",
        "Idris Kane lent the visor to Mara Voss's brother.",
        "Idris Kane traded the visor for bread.",
        "Idris Kane returned the visor.",
        "Mara Voss took the visor from Idris Kane and threw it to the gulls.",
    ],
)
def test_nobody_has_what_they_gave_away_or_left_behind(fact):
    codex = after(fact)
    assert codex.held == ()
    assert fact in [line.text for entry in codex.entries.values() for line in entry.lines]


def test_what_is_taken_and_left_in_one_passage_is_in_nobodys_hands():
    codex = after("Mara Voss has the lantern.", "Mara Voss left the lantern on the train.")
    assert [thing.name for thing in codex.held] == ["the visor"]


@pytest.mark.parametrize(
    "fact",
    [
        "Mara Voss no longer has the visor.",
        "Mara Voss has a visor.",
        "Mara Voss has the flu.",
        "Mara Voss has the floor.",
        "Mara Voss holds the record.",
        "Mara Voss holds the position of treasurer.",
        "Mara Voss has the ability to fly.",
        "Mara Voss has the lantern lit.",
        "Mara Voss took Idris Kane's advice.",
        "Idris Kane gave Mara Voss the creeps.",
        "The doctor is with Mara Voss.",
        "The fault is Mara Voss's.",
    ],
)
def test_what_is_no_thing_is_in_nobodys_hands(fact):
    assert [(thing.name, thing.value("holder")) for thing in after(fact).held] == [("the visor", "Idris Kane")]


@pytest.mark.parametrize(
    ("fact", "name", "also"),
    [
        ("Mara Voss married Idris Kane and became Mara Kane.", "Mara Kane", "Mara"),
        ("Mara Voss married Idris Kane and is Mara Kane now.", "Mara Kane", "Mara Voss"),
        ("Mara Voss is called Mara Kane since the wedding.", "Mara Kane", "Mara"),
        ("Mara Kane, who was Mara Voss, opened the door.", "Mara Kane", "Mara"),
        ("Mara Voss calls herself Nyx now.", "Nyx", "Mara"),
        ("Mara Voss took the name Nyx.", "Nyx", "Mara"),
        ("Mara Voss goes by Nyx.", "Mara Voss", "Nyx"),
        ("Mara Voss is known as the Magpie.", "Mara Voss", "the Magpie"),
        ("Mara Voss, alias Nyx, robbed the bank.", "Mara Voss", "Nyx"),
        ("Nyx, alias Mara Voss, robbed the bank.", "Mara Voss", "Nyx"),
        ("Mara Voss's real name is Helen Ash.", "Mara Voss", "Helen Ash"),
        ("Nyx is Mara Voss.", "Mara Voss", "Nyx"),
        ("The Magpie turns out to be Mara Voss.", "Mara Voss", "the Magpie"),
        ("Everybody calls Mara Voss the Magpie.", "Mara Voss", "the Magpie"),
        ("Mara Voss took the veil and is Sister Benedicta now.", "Mara Voss", "Sister Benedicta"),
        ("Mara Voss married Idris Kane on Monday and is Mrs Kane now.", "Mara Voss", "Mrs Kane"),
        ("Mara Voss was crowned and is Queen Mara now.", "Mara Voss", "Queen Mara"),
    ],
)
def test_whoever_has_another_name_is_one_person(fact, name, also):
    codex = after(fact)
    assert {entry.name for entry in codex.entries.values() if entry.kind == "person"} == {name, "Idris Kane"}
    assert codex.meant(also) is codex.meant(name) is not None
    died = after(f"{also[0].upper()}{also[1:]} died of the fever.", known=codex)
    assert died.find(name).is_dead


@pytest.mark.parametrize(
    "fact",
    [
        "Mara Voss took the name of Idris Kane's mother.",
        "Mara Voss took the name of the dead pilot.",
        "Mara Voss took the name Idris Kane.",
        "Mara Voss is known as Idris Kane's sister.",
        "Mara Voss is called Captain by the crew.",
        "Mara Voss is German now.",
        "Mara Voss is President of Mars now.",
        "Mara Voss became Queen of Ceres.",
        "Mara Voss, who was Idris Kane's wife, wept.",
        "Mara Voss pretends to be Nyx.",
        "Mara Voss never called herself Nyx.",
        "Idris Kane thinks that Mara Voss is Nyx.",
        "In the play, Mara Voss is called Juliet.",
        "The Magpie is Mara Voss's brother.",
        "Idris Kane is Mara Voss.",
    ],
)
def test_nobody_has_a_name_that_is_anothers_a_title_or_played(fact):
    codex = after(fact)
    people = [entry for entry in codex.entries.values() if entry.kind == "person"]
    assert sorted((entry.name, entry.aliases, entry.former) for entry in people) == [
        ("Idris Kane", (), ()),
        ("Mara Voss", (), ()),
    ]


def test_whoever_is_unmasked_and_known_by_both_names_is_one_person():
    known = changed(KNOWN, [{**said("the Magpie", "fact", ""), "text": "The Magpie robbed the bank."}], "p1", 1)
    codex = after("The Magpie turns out to be Mara Voss.", known=known)
    assert codex.find("the Magpie") is codex.find("Mara Voss")
    assert "The Magpie robbed the bank." in [line.text for line in codex.find("Mara Voss").lines]


def test_what_follows_a_new_name_is_noted_of_the_same_person():
    codex = after("Mara Voss calls herself Nyx now.", "Mara Voss has the lamp.", "Nyx lives in the mill.")
    assert codex.find("lamp").value("holder") == "Nyx"
    assert codex.find("Mara").value("place") == "in the mill"


@pytest.mark.parametrize(
    "fact",
    [
        "Mara Voss knows now that the widow is her mother.",
        "Mara Voss now knows that the widow is her mother.",
        "Mara Voss understands that the widow is her mother.",
        "Mara Voss has finally realised that the widow is her mother.",
        "Mara Voss learned from Idris Kane that the widow is her mother.",
        "Idris Kane told Mara Voss that the widow is her mother.",
        "The widow told Mara that she is her mother.",
    ],
)
def test_whoever_learns_or_is_told_something_does_not_know_it_no_longer(fact):
    unknown = "Mara Voss does not know that the widow is her mother."
    known = changed(KNOWN, [{**said("Mara Voss", "fact", ""), "text": unknown}], "p1", 1)
    assert unknown not in [line.text for line in after(fact, known=known).find("Mara Voss").lines]


@pytest.mark.parametrize(
    "fact",
    [
        "Idris Kane never told Mara Voss that the widow is her mother.",
        "Nobody told Mara Voss that the widow is her mother.",
        "Mara Voss told Idris Kane that the widow is her mother.",
        "Idris Kane told Mara Voss that the widow is dead.",
        "Mara Voss does not understand that the widow is her mother.",
    ],
)
def test_whoever_is_not_told_still_does_not_know(fact):
    unknown = "Mara Voss does not know that the widow is her mother."
    known = changed(KNOWN, [{**said("Mara Voss", "fact", ""), "text": unknown}], "p1", 1)
    assert unknown in [line.text for line in after(fact, known=known).find("Mara Voss").lines]


@pytest.mark.parametrize(
    ("fact", "where"),
    [
        ("Mara Voss moved to the attic over the bakery.", "in the attic"),
        ("Mara Voss moved into two rooms over the chandler.", "in two rooms"),
        ("Mara Voss went to live in the mill.", "in the mill"),
        ("Mara Voss has moved to Port Brack with Idris Kane.", "in Port Brack"),
        ("Mara Voss moved to the window of the tower.", "in the cellar"),
        ("Mara Voss moved to Idris Kane and took his hand.", "in the cellar"),
        ("Mara Voss wants to move to the attic.", "in the cellar"),
        ("Mara Voss moved the table to the attic.", "in the cellar"),
    ],
)
def test_who_moves_house_lives_there(fact, where):
    known = changed(KNOWN, [said("Mara Voss", "place", "in the cellar")], "p1", 1)
    places = [line.value for line in after(fact, known=known).find("Mara Voss").lines if line.aspect == "place"]
    assert places == [where]


def test_who_is_no_longer_the_mayor_of_a_town_is_no_longer_the_mayor():
    known = changed(KNOWN, [said("Idris Kane", "role", "the mayor")], "p1", 1)
    codex = after("Idris Kane is no longer the mayor of Brack.", known=known)
    assert not [line.value for line in codex.find("Idris").lines if line.aspect == "role"]


@pytest.mark.parametrize(
    "fact",
    [
        "Idris Kane never woke up again.",
        "The fever took Idris Kane on the third day.",
        "The sea took Idris Kane.",
        "Mara Voss lost her brother Idris Kane to the fever.",
        "Idris Kane fell from the roof and broke his neck.",
        "Lena shot Idris Kane dead.",
        "Idris Kane was poisoned by Mara Voss and died.",
        "Tuberculosis took Idris Kane at nineteen.",
        "Mara Voss lost Idris Kane to the fever.",
        "Idris Kane went down with his ship.",
        "Idris Kane did not wake up again.",
        "Idris Kane was run over and killed.",
        "Idris Kane and ten others were killed in the mine.",
        "Old Idris Kane passed in his sleep.",
        "Idris Kane fell through the ice and never came up.",
        "The troll crushed Idris Kane's skull.",
        "Idris Kane sacrificed himself for Mara Voss.",
    ],
)
def test_further_deaths(fact):
    assert after(fact).find("Idris").is_dead


@pytest.mark.parametrize(
    "fact",
    [
        "The river took Idris Kane to the sea.",
        "The fever took Idris Kane's strength.",
        "Idris Kane never woke up before noon.",
        "Mara Voss lost her brother Idris Kane to the crowd.",
        "Idris Kane broke his neck brace.",
        "Mara Voss lost Idris Kane to the sea for two years.",
        "The sea took Idris Kane at his word.",
        "The fever took Idris Kane in the night and left him by morning.",
        "Idris Kane never came up with an answer.",
        "The name of Idris Kane never came up.",
        "Idris Kane never came up, but he wrote from the cellar.",
        "Mara Voss crushed Idris Kane's head against her chest.",
        "Idris Kane sacrificed himself for his work.",
        "Idris Kane and Mara Voss heard others drowned in the bay.",
        "Idris Kane and two others were found in the mine.",
        "The thief crushed Idris Kane's head of cabbage under his boot.",
    ],
)
def test_nobody_dies_of_what_sounds_like_it(fact):
    assert not after(fact).find("Idris").is_dead


def test_whoever_has_a_title_by_name_is_dead_by_any_part_of_it():
    known = changed(KNOWN, [said("Lady Maud Estcourt", "role", "the mistress of Pelham House")], "p1", 1)
    assert after("Lady Maud is dead.", known=known).find("Lady Maud Estcourt").is_dead
    assert not after("Aunt Maud is dead.", known=known).find("Lady Maud Estcourt").is_dead


@pytest.mark.parametrize(
    "fact",
    [
        "Mara Voss took the visor and gave it to Silas Croft.",
        "Mara Voss picked up the visor, and later handed it over to Silas Croft.",
        "Idris Kane gave the visor and the map to Silas Croft.",
        "Idris Kane gave the map and the visor to Silas Croft.",
        "Idris Kane gave Silas Croft the map and the visor.",
    ],
)
def test_what_is_handed_on_and_the_second_of_two_things_change_hands(fact):
    codex = after(fact)
    assert codex.find("visor").value("holder") == "Silas Croft"
    assert "map" not in fact or codex.find("map").value("holder") == "Silas Croft"


@pytest.mark.parametrize(
    "fact",
    [
        "Mara Voss has the lamp and the visor broke.",
        "Mara Voss carries the lamp and the children follow.",
        "Mara Voss opened the visor and gave it some oil.",
    ],
)
def test_a_thing_of_another_clause_stays_with_whom_it_is(fact):
    codex = after(fact)
    assert codex.find("visor").value("holder") == "Idris Kane"
    assert [entry.name for entry in codex.entries.values() if entry.kind == "thing"] in (
        ["the visor"],
        ["the visor", "lamp"],
    )


@pytest.mark.parametrize(
    ("unknown", "fact"),
    [
        ("that Idris Kane took the watch", "Mara Voss learns that Idris Kane stole her watch."),
        ("that Idris Kane took the watch", "Mara Voss discovered that Idris had taken her watch."),
        ("that Idris Kane took the watch", "Idris Kane admitted to Mara Voss that he had stolen the watch."),
        ("that Idris Kane took the watch", "Mara Voss knows who took her watch."),
        ("who killed her father", "Idris Kane confessed to Mara Voss that he had killed her father."),
        ("where the key is", "Mara Voss found the key."),
        ("where the key is", "Mara Voss learned that the key is under the stone."),
        ("where the key is", "Idris Kane showed Mara Voss where the key was hidden."),
    ],
)
def test_what_somebody_did_not_know_is_over_when_they_learn_it_in_other_words(unknown, fact):
    unknown = f"Mara Voss does not know {unknown}."
    known = changed(KNOWN, [{**said("Mara Voss", "fact", ""), "text": unknown}], "p1", 1)
    assert unknown not in [line.text for line in after(fact, known=known).find("Mara Voss").lines]


@pytest.mark.parametrize(
    ("unknown", "fact"),
    [
        ("that Idris Kane took the watch", "Mara Voss knows that Tilda Rook took the watch."),
        ("that Idris Kane took the watch", "Mara Voss knows that Idris Kane has a boat."),
        ("that Idris Kane took the watch", "Tilda Rook told Mara Voss that Idris Kane did not take the watch."),
        ("that Idris Kane took the watch", "Mara Voss learned that the watch is gone."),
        ("that Idris Kane took the watch", "Mara Voss knows who took the boat."),
        ("who killed her father", "Mara Voss knows that her father was killed."),
        ("who killed her father", "Mara Voss learned that Idris Kane knew her father."),
        ("who killed her father", "Mara Voss knows where her father is buried."),
        ("where the key is", "Mara Voss knows what the key opens."),
        ("where the key is", "Mara Voss lost the key."),
        ("where the key is", "Idris Kane found the key."),
        ("that Tilda Rook loves Idris Kane", "Mara Voss knows that Tilda Rook hates Idris Kane."),
        ("that Tilda Rook loves Idris Kane", "Mara Voss knows that Idris Kane loves Tilda Rook."),
        ("that Idris Kane lost the money", "Idris Kane told Mara Voss that he needs the money."),
        ("that Idris Kane burned the letter", "Mara Voss knows that Idris Kane wrote the letter."),
        ("that Idris Kane stole the key", "Idris Kane told Mara Voss that he stole a kiss."),
        ("who killed her father", "Mara Voss knows who killed Idris Kane's father."),
        ("where Idris Kane is", "Mara Voss learned that Idris Kane is in love."),
    ],
)
def test_what_somebody_did_not_know_stands_when_they_learn_something_else(unknown, fact):
    unknown = f"Mara Voss does not know {unknown}."
    known = changed(KNOWN, [{**said("Mara Voss", "fact", ""), "text": unknown}], "p1", 1)
    assert unknown in [line.text for line in after(fact, known=known).find("Mara Voss").lines]


SHE_IS_TOLD = (
    'Ruth Bell unlocked the shop at seven. She had slept badly, and the parcel from Leeds was wet.\n\n"Again," said Ruth. '
    "She wrote a letter before she took off her coat."
)


def test_a_pronoun_that_can_mean_nobody_else_is_known_and_is_turned_round_by_no_passage():
    known = after(
        "Ruth Bell runs the shop.", known=Codex(), passage=f"{SHE_IS_TOLD}\n\nRuth put the kettle on. She hummed."
    )
    assert known.find("Ruth Bell").value("pronouns") == "she"
    known = after("Ruth Bell is late.", known=known, passage='"Late," said Ruth. Ruth shrugged his shoulders.')
    assert known.find("Ruth Bell").value("pronouns") == "she"


@pytest.mark.parametrize(
    "passage",
    [
        SHE_IS_TOLD.replace("the parcel from Leeds was wet", "the nurse was late"),
        SHE_IS_TOLD.replace("the parcel from Leeds was wet", "his parcel was wet"),
        SHE_IS_TOLD.replace("the parcel from Leeds was wet", "Mara Voss slept"),
        '"Again," said Ruth. She wrote a letter.',
        "She was late. " + SHE_IS_TOLD,
    ],
)
def test_a_pronoun_that_may_be_somebody_elses_is_nobodys(passage):
    ruth = after("Ruth Bell runs the shop.", passage=f'"Good morning," said Ruth.\n\n{passage}').find("Ruth")
    assert ruth.value("pronouns") == ""


def test_who_is_given_a_thing_is_an_entry():
    known = after("Mara Voss gave the brass key to Piet Moore.")
    assert known.find("brass key").value("holder") == "Piet Moore"
    assert known.find("Piet Moore").kind == "person"


@pytest.mark.parametrize(
    ("role", "fact"),
    [
        ("the ferryman", "The ferryman fell from the tower and died."),
        ("a ferryman who drinks", "The ferryman fell from the tower and died."),
        ("the mayor of Sorn", "The mayor fell from the tower and died."),
        ("the town's mayor", "The mayor fell from the tower and died."),
        ("Mara Voss's brother", "Mara's brother fell from the tower and died."),
        ("a clerk", "Poor Rufus fell from the tower and died."),
        ("a clerk", "Brave Rufus Bligh fell from the tower and died."),
    ],
)
def test_a_death_that_is_told_by_a_role_or_with_pity_is_read(role, fact):
    codex = after(fact, known=changed(KNOWN, [said("Rufus Bligh", "role", role)], "p1", 1))
    assert codex.find("Rufus Bligh").is_dead
    assert len(codex.entries) == len(KNOWN.entries) + 1


def test_the_comb_is_the_only_comb_unless_the_passage_brings_in_another():
    known = changed(KNOWN, [said("ivory comb", "holder", "Mara Voss", "thing")], "p1", 1)
    assert after("Idris Kane has the comb.", known=known).find("ivory comb").value("holder") == "Idris Kane"
    other = after("Idris Kane has the comb.", known=known, passage="Idris Kane bought a comb of horn from the pedlar.")
    assert other.find("ivory comb").value("holder") == "Mara Voss"


def test_whoever_hides_elsewhere_is_not_where_they_hid():
    codex = after("Mara Voss is hiding in the crypt.")
    codex = changed(codex, from_facts("", ["Mara Voss is hiding in the belfry."], "", codex, "English"), "p3", 3)
    assert [line.text for line in codex.find("Mara").lines if line.text] == ["Mara Voss is hiding in the belfry."]


@pytest.mark.parametrize(
    ("role", "fact", "passage"),
    [
        (
            "a soldier",
            "The soldier was killed at the gate.",
            "A soldier fell at the gate. Rufus Bligh closed the man's eyes.",
        ),
        ("the ferryman", "The other ferryman died.", ""),
        ("the ferryman", "The ferryman died.", "Another ferryman waited there. The ferryman died."),
        ("the captain", "The enemy captain died.", ""),
        ("the captain", "The captain drowned.", "The captain of the Petrel drowned at noon."),
        ("the captain", "The captain drowned.", "On the Petrel, her captain drowned."),
        ("the king", "The old king died.", ""),
        ("the guard", "The guard dog died.", ""),
        ("the smith", "John Smith died.", ""),
        ("a nurse", "Nurse Ines drowned.", ""),
    ],
)
def test_another_of_the_same_role_is_somebody_else(role, fact, passage):
    codex = after(fact, known=changed(KNOWN, [said("Rufus Bligh", "role", role)], "p1", 1), passage=passage)
    assert not codex.find("Rufus Bligh").is_dead


@pytest.mark.parametrize("codex", [Codex(), changed(Codex(), [said("Gregory Hale", "role", "a carpenter")])])
def test_a_father_of_the_same_surname_is_somebody_else(codex):
    passage = 'Gregory Hale came in. "Cold," said Gregory. His father sat by the fire. "Shut the door," said Mr Hale.'
    codex = after("Gregory Hale came in.", "Mr Hale is the father of Gregory Hale.", known=codex, passage=passage)
    codex = changed(codex, from_facts("", ["Mr Hale died in the night."], "", codex, "English"), "p3", 3)
    assert [entry.name for entry in codex.dead] == ["Mr Hale"]


DRIVER = changed(
    KNOWN,
    [said("Edwin Quill", "role", "the mail driver, a man"), said("iron seal", "holder", "Mara Voss", "thing")],
    "p1",
    1,
)


@pytest.mark.parametrize(
    "fact",
    [
        "Edwin Quill, Mara Voss's son, is dead.",
        "Edwin Quill, who drove the mail cart, has died.",
        "The mail driver Edwin Quill was killed.",
        "Edwin Quill (the mail driver) died.",
        "The mail driver is dead.",
        "Lightning struck Edwin Quill dead on the ridge.",
        "Edwin Quill gave his life at the bridge.",
        "Two highwaymen shot Edwin Quill dead on the Hallow road.",
    ],
)
def test_a_death_is_read_behind_what_else_is_said_of_somebody(fact):
    assert [entry.name for entry in after(fact, known=DRIVER).dead] == ["Edwin Quill"]


@pytest.mark.parametrize("fact", ["The mails killed Edwin Quill.", "Edwin Quill lost his life at bridge."])
def test_a_figure_of_speech_kills_nobody(fact):
    assert not after(fact, known=DRIVER).dead


def test_who_is_told_to_have_a_thing_that_is_known_has_it_whoever_they_are():
    codex = after("Silas Croft has the iron seal.", known=DRIVER, passage="At noon Mara gave it to Silas Croft.")
    assert codex.find("iron seal").value("holder") == "Silas Croft"
    assert codex.find("Silas Croft").kind == "person"


def lost_or(status, *facts):
    things = [said("the ring", "holder", "Mara Voss", "thing"), said("the clock", "holder", "Mara Voss", "thing")]
    known = changed(KNOWN, things, "p1", 1)
    for fact in facts:
        known = changed(known, from_facts("", [fact], fact, known, "English"), fact, 2)
    return known.find("the ring" if status == "lost" else "the clock").value("status")


@pytest.mark.parametrize(
    "fact",
    [
        "The ring fell into the sea.",
        "The ring rolled overboard.",
        "The ring is missing.",
        "The ring sank in the lake.",
        "Mara Voss dropped the ring into the well.",
    ],
)
def test_a_known_thing_that_goes_overboard_is_lost(fact):
    assert lost_or("lost", fact) == "lost"


@pytest.mark.parametrize(
    "fact",
    [
        "Mara Voss found the ring in a fish.",
        "Idris Kane fished the ring out of the sea.",
        "Idris Kane brought the ring back.",
        "The ring washed up on the beach.",
        "The ring was found.",
        "The ring came to light.",
        "The thief gave back the ring.",
        "A fisherman brought Mara Voss the ring.",
        "The ring lies on the table.",
    ],
)
def test_what_is_found_is_lost_no_longer(fact):
    assert lost_or("lost", "The ring fell into the sea.", fact) in ("", "kept")


@pytest.mark.parametrize(
    "fact",
    [
        "Idris Kane looked for the ring.",
        "Nobody found the ring.",
        "Idris Kane hopes to find the ring.",
        "Idris Kane did not find the ring.",
        "The ring was never found.",
        "Idris Kane found the key.",
        "Idris Kane found out about the ring.",
        "The ring lies at the bottom of the sea.",
    ],
)
def test_what_is_looked_for_is_lost_still(fact):
    assert lost_or("lost", "The ring fell into the sea.", fact) == "lost"


@pytest.mark.parametrize(
    ("fact", "status"),
    [
        ("The clock was repaired.", ""),
        ("Idris Kane mended the clock.", ""),
        ("The clock runs again.", ""),
        ("Idris Kane put the clock together again.", ""),
        ("Idris Kane tried to mend the clock.", "destroyed"),
        ("Idris Kane mended the chair.", "destroyed"),
        ("The clock cannot be repaired.", "destroyed"),
        ("Idris Kane swept up the clock.", "destroyed"),
    ],
)
def test_what_is_mended_is_destroyed_no_longer(fact, status):
    assert lost_or("destroyed", "Idris Kane smashed the clock.", fact) == status


@pytest.mark.parametrize(
    ("passage", "status"),
    [
        ("The silver cup was lost in the flood.", "lost"),
        ("The silver cup was lost in the flood. The children found the silver cup in the mud.", ""),
        ("The silver cup was lost in the flood.\n\nIn May the silver cup was recovered from the mud.", ""),
        ("The silver cup was lost. Nobody found the silver cup.", "lost"),
        ("The silver cup was lost. A boy found the silver cup. That winter the silver cup was stolen.", "lost"),
        ("The old mill was destroyed in the war. Mara Voss rebuilt the old mill.", ""),
    ],
)
def test_what_a_passage_says_last_of_a_thing_holds(passage, status):
    thing = "old mill" if "mill" in passage else "silver cup"
    assert changed(KNOWN, from_manuscript(passage, KNOWN, Codex()), "p2", 2).find(thing).value("status") == status
    assert after(*sentences(passage)).find(thing).value("status") == status


@pytest.mark.parametrize(
    ("passage", "is_dead"),
    [
        ('Idris Kane was dead. The priest came in.\n\n"I was told so too," said Idris.', False),
        ("The guards left, and Idris Kane was dead. Idris opened one eye.", False),
        ('Idris Kane was dead. "Poor man," said Mara Voss.', True),
        ('Idris Kane was dead. "Poor father," said Idris Kane\'s son.', True),
        ('Idris opened the gate. "Wait," said Idris. That night Idris Kane died.', True),
    ],
)
def test_nobody_is_dead_who_acts_later_in_the_same_passage(passage, is_dead):
    assert changed(KNOWN, from_manuscript(passage, KNOWN, Codex()), "p2", 2).find("Idris Kane").is_dead is is_dead


STAY, GUARD = "Idris Kane promised Mara Voss to stay at the gate.", "Idris Kane swore to guard the old visor."


def promises(*facts, known=KNOWN, summary=""):
    """Return the promises of a codex, by their names, with how they stand after a passage of which a model noted these."""
    passage = " ".join((summary, *facts))
    codex = changed(known, from_facts(summary, facts, passage, known, "English"), "p2", 2)
    return {entry.name: entry.value("status") for entry in codex.entries.values() if entry.kind == "promise"}


def test_a_promise_that_is_told_of_again_is_one():
    assert list(promises(GUARD, summary="Idris Kane swears to guard the visor.")) == [GUARD[:-1]]
    assert list(promises("Idris Kane swears to guard the old visor.", known=after(GUARD))) == [GUARD[:-1]]


@pytest.mark.parametrize(
    "other",
    [
        "Idris Kane swore to guard Mara Voss.",
        "Idris Kane swore to sell the old visor.",
        "Idris Kane swore not to guard the old visor.",
        "Mara Voss swore to guard the old visor.",
        "Idris Kane swore that the old visor would guard him.",
        "Before Mara Voss left, Idris Kane swore to guard the old visor.",
    ],
)
def test_promises_of_other_things_are_others(other):
    assert set(promises(GUARD, other)) == {GUARD[:-1], other[:-1]}
    assert set(promises(other, known=after(GUARD))) == {GUARD[:-1], other[:-1]}


@pytest.mark.parametrize(
    ("fact", "status"),
    [
        ("Idris Kane kept his promise to Mara Voss.", "kept"),
        ("Idris Kane kept his promise and stayed.", "kept"),
        ("Idris Kane has kept his word.", "kept"),
        ("Idris Kane broke his promise to Mara Voss, and the lamp went out.", "broken"),
        ("Idris Kane would have kept his promise.", "open"),
        ("Idris Kane broke his promise to his sister.", "open"),
        ("Idris Kane kept his promise and brought the water.", "open"),
        ("Idris Kane kept his word, and paid Mara Voss the ten crowns.", "open"),
        ("Idris Kane kept his promise and sat at the gate.", "kept"),
        ("Idris Kane broke his promise to him.", "open"),
        ("Idris Kane kept his promise to stay in Berlin.", "open"),
        ("Idris Kane kept his word list in a drawer.", "open"),
        ("Idris Kane kept her promise.", "open"),
        ("In the play, Idris Kane broke his oath.", "open"),
        ("Years ago, Idris Kane broke his word.", "open"),
        ("Has Idris Kane kept his promise?", "open"),
        ("Mara Voss kept her promise.", "open"),
    ],
)
def test_a_promise_is_settled_by_whose_it_is(fact, status):
    assert promises(fact, known=after(STAY)) == {STAY[:-1]: status}


def test_of_two_promises_the_one_that_is_told_of_is_settled():
    water = "Idris Kane promised Tom Reed to fetch water."
    found = promises(water, "Idris Kane kept his promise and fetched the water.", known=after(STAY))
    assert found == {STAY[:-1]: "open", water[:-1]: "kept"}
    assert set(promises("Idris Kane kept his word.", known=after(STAY, GUARD)).values()) == {"open"}


@pytest.mark.parametrize(
    ("fact", "holder"),
    [
        ("Mara Voss took the visor.", "Mara Voss"),
        ("Mara Voss took the visor and hid it under her bed.", "Mara Voss"),
        ("Mara Voss took the visor and went out with it.", "Idris Kane"),
        ("Idris Kane slipped the visor into Mara Voss's bag.", "Mara Voss"),
        ("Mara Voss took the visor to Idris Kane.", "Idris Kane"),
        ("Mara Voss took the visor off.", "Idris Kane"),
    ],
)
def test_whoever_takes_what_another_has_has_it(fact, holder):
    assert after(fact).find("the visor").value("holder") == holder


def test_what_a_passage_calls_a_thing_by_two_names_is_one_where_it_says_the_same_of_them():
    codex = after("Mara Voss gave Idris Kane her locket.", "Mara Voss gave Idris Kane her silver locket.")
    assert {entry.name for entry in codex.entries.values() if "locket" in entry.name} == {"silver locket"}
    codex = after("Idris Kane lost the key.", "Mara Voss keeps the cellar key on her belt.")
    assert {entry.name for entry in codex.entries.values() if "key" in entry.name} == {"key", "cellar key"}


@pytest.mark.parametrize(
    "fact",
    [
        "As Mara Voss prayed, Idris Kane died.",
        "The priest prayed and Mara Voss buried Idris Kane.",
        "As he had wished, Mara Voss buried Idris Kane at the point.",
        "On the night of the storm Idris Kane drowned.",
        "The Duke of Skerry and Idris Kane died in the fire.",
        "Mara Voss is the widow of Tom Reed and spoke of Idris Kane, who died in the war.",
        "The remains of Captain Idris Kane were buried at sea.",
        "The bodies of Mara Voss and Idris Kane were buried at dawn.",
        "A man by the name of Idris Kane died.",
    ],
)
def test_whoever_dies_beside_a_prayer_or_a_storm_is_dead(fact):
    assert after(fact).find("Idris Kane").is_dead


def test_a_thing_has_no_other_in_its_name():
    codex = after("Idris Kane dropped the iron key into the river and it sank.")
    assert {entry.name for entry in codex.entries.values() if entry.is_gone} == {"iron key"}


def test_an_oath_is_no_thing():
    assert not [entry for entry in after("Mara Voss kept her oath.").entries.values() if entry.name == "oath"]


PAID = "Idris Kane has paid for the red lamp and for the key."


@pytest.mark.parametrize(
    ("held", "fact", "ends"),
    [
        (PAID, "Idris Kane has not paid for the red lamp and for the key.", True),
        ("Idris Kane has never paid for the red lamp and the key.", PAID, True),
        (PAID, "Idris Kane has not paid for the red lamp.", False),
        ("Idris Kane loves Mara Voss.", "Idris Kane loves Mara Voss, but does not tell her.", False),
        ("Idris Kane loves Mara Voss.", "Idris Kane does not love Mara Voss.", True),
        (PAID, "Idris Kane has not paid for the blue lamp.", False),
        (PAID, "Idris Kane has paid for the red lamp.", False),
        ("Idris Kane has the lamp.", "Idris Kane does not know who has the lamp.", False),
        ("Idris Kane waits for Mara Voss.", "Mara Voss does not wait for Idris Kane.", False),
    ],
)
def test_a_fact_ends_by_another_that_says_that_it_is_not_so(held, fact, ends):
    known = changed(KNOWN, [{**said("Idris Kane", "fact", ""), "text": held}], "p1", 1)
    lines = [line.text for line in after(fact, known=known).find("Idris Kane").lines]
    assert (held not in lines) == ends


@pytest.mark.parametrize(
    ("passage", "notes", "rests_on"),
    [
        ("The lamp was out. Idris was dead. Mara Voss sat down.", ["Mara Voss sits by the lamp."], None),
        ("Idris went up. He died on the stair, and the lamp went out.", ["Idris Kane dies."], "stair"),
        ("Mara Voss went down to Idris Kane. Her friend lay dead on the stair.", ["Idris Kane died."], "lay dead"),
        (
            "Mara Voss studied the ladies. Idris Kane fell and lay still.",
            ["Idris Kane died of a fall."],
            "fell and lay",
        ),
    ],
)
def test_a_death_rests_on_the_sentence_that_tells_it(passage, notes, rests_on):
    changes = from_facts("", notes, passage, KNOWN, "English")
    (death,) = (change for change in changes if change.get("value") == "dead")
    assert death["entry"] == "Idris Kane"
    if rests_on is None:
        assert (death["text"], "rests_on" in death) == ("Idris was dead.", False)
    else:
        assert death["text"] == notes[0]
        assert rests_on in death["rests_on"]


@pytest.mark.parametrize(
    ("passage", "notes"),
    [
        ("The lamp was out. Idris was dead. The doctor came.", ["Idris Kane is alive after all."]),
        ("Idris was dead. Then he opened his eyes.", ["Mara Voss sits down."]),
        ("Idris was dead. No, not dead. He slept.", ["Mara Voss sits down."]),
        ("The news came at noon: Idris was dead. It was false.", ["Mara Voss sits down."]),
        ("As far as Mara knew, Idris was dead.", ["Mara Voss sits down."]),
        ("To Mara, Idris was dead.", ["Mara Voss sits down."]),
        ("Had the rope held, Idris was dead.", ["Mara Voss sits down."]),
        ("The play went on. Idris was killed by the villain.", ["Mara Voss sits down."]),
        ("Idris died for a cigarette.", ["Mara Voss sits down."]),
        ("Tom's dog Idris was dead.", ["Mara Voss sits down."]),
        ('"Idris was dead," said Mara Voss. "I saw him."', ["Mara Voss tells a tale."]),
        ("Mara Voss dreamed that Idris was dead.", ["Mara Voss wakes."]),
        ("Idris was dead on his feet. Mara Voss made coffee.", ["Mara Voss makes coffee."]),
    ],
)
def test_nobody_is_dead_whom_a_passage_does_not_say_to_be(passage, notes):
    assert not [change for change in from_facts("", notes, passage, KNOWN, "English") if change.get("value") == "dead"]


@pytest.mark.parametrize(
    ("fact", "role"),
    [
        ("Idris Kane is the landlord.", "the landlord"),
        ("Idris Kane is a baker.", "a baker"),
        ("Idris Kane is the grocer of Fern Street.", "the grocer of Fern Street"),
        ("Idris Kane is Mara Voss's husband.", "Mara Voss's husband"),
        ("Idris Kane is your brother.", "your brother"),
        ("Idris Kane is a stranger.", ""),
        ("Idris Kane is the father.", ""),
        ("Idris Kane is a young man.", ""),
        ("Idris Kane is a danger.", ""),
        ("Idris Kane is a winner.", ""),
        ("Idris Kane is the answer.", ""),
        ("Idris Kane is a would-be writer.", ""),
        ("Idris Kane is the baker that she feared.", ""),
        ("Idris Kane is not the baker.", ""),
    ],
)
def test_a_fact_says_what_somebody_is_by_trade_or_to_another(fact, role):
    (line,) = after(fact).find("Idris Kane").true_lines[-1:]
    assert (line.text, line.value if line.aspect == "role" else "") == (fact, role)


def test_who_has_another_head_of_hair_has_the_old_one_no_more():
    codex = after("Mara Voss has brown hair down to her waist.")
    codex = changed(codex, from_facts("", ["Mara Voss has grey eyes."], "", codex, "English"), "p3", 3)
    codex = changed(codex, from_facts("", ["Mara Voss has short hair."], "", codex, "English"), "p4", 4)
    looks = [line.value for line in codex.find("Mara Voss").true_lines if line.aspect == "look"]
    assert looks == ["grey eyes", "short hair"]


@pytest.mark.parametrize(
    ("first", "then", "holds"),
    [
        ("Mara Voss is ill.", "Mara Voss is well again.", False),
        ("Mara Voss is ill.", "Mara Voss is asleep.", True),
        ("Mara Voss is missing.", "Mara Voss is in the belfry.", False),
        ("The mother of Mara Voss is ill.", "Mara Voss is well.", True),
        ("Mara Voss is ill.", "Idris Kane is well.", True),
        ("Mara Voss is missing.", "Mara Voss is dead.", False),
        ("Mara Voss is ill.", "Mara Voss says that the child is well.", True),
        ("Mara Voss knows that Idris Kane is imprisoned.", "Mara Voss is free.", True),
        ("The ring Mara Voss wore is lost.", "Mara Voss is in the belfry.", True),
        ("Mara Voss is wounded.", "Mara Voss is sick.", True),
    ],
)
def test_of_each_kind_of_condition_somebody_is_in_one(first, then, holds):
    codex = changed(KNOWN, [{**said("Mara Voss", "fact", ""), "text": first}], "p2", 2)
    codex = changed(codex, from_facts("", [then], "", codex, "English"), "p3", 3)
    assert (first in [line.text for line in codex.find("Mara Voss").true_lines]) is holds
    over = [one.sentence for found in codex.over.values() for one in found]
    assert (first in over) is not holds


@pytest.mark.parametrize(
    "fact", ["Mara Voss has an eye for detail.", "Mara Voss has tears in her eyes.", "Mara Voss has a private eye."]
)
def test_not_all_that_somebody_has_of_an_eye_is_how_they_look(fact):
    assert not [line for line in after(fact).find("Mara Voss").true_lines if line.aspect == "look"]


def test_a_death_has_its_place_among_the_most_changes_of_a_passage():
    passage = "Idris was dead. Mara Voss sat down."
    facts = [
        f"Mara Voss counts the {word} boats."
        for word in ["red", "blue", "old", "new", "big", "dark", "pale", "long", "last", "first", "next", "grey"]
    ]
    changes = from_facts("", facts, passage, KNOWN, "English")
    assert len(changes) == 12
    assert [change["entry"] for change in changes if change.get("value") == "dead"] == ["Idris Kane"]


def test_who_is_known_with_a_title_is_the_landlord_without_it():
    told = "Mr. Osgood Pike was the landlord of the bookshop, and Tess Marlow owed him three months' rent."
    changes = from_facts("", ["Osgood Pike is the landlord."], told, Codex(), "English")
    (role,) = (change for change in changes if change.get("aspect") == "role")
    assert (role["entry"], role["value"]) == ("Mr. Osgood Pike", "the landlord")
