"""What of a passage contradicts the codex, by rules: planted ones are found, and nobody is accused who only remembers."""

import json
import re

import pytest

from recurrentgpt.memory.codex import changed, open_entries, tell, touched
from recurrentgpt.nodes.codex_changes import from_facts
from recurrentgpt.nodes.codex_from_reply import CodexChange, from_reply
from recurrentgpt.nodes.continuity import find_contradictions, no_longer_gone
from recurrentgpt.schema.codex import Change, Codex, Entry
from recurrentgpt.testing import story_replies


def said(entry, aspect, value, kind="person", do="set"):
    return Change(entry=entry, kind=kind, do=do, aspect=aspect, value=value, rests_on=f"{entry}, {value}.")


CODEX = changed(
    Codex(),
    [
        said("Bastian Cole", "status", "dead"),
        said("Bastian Cole", "pronouns", "he"),
        said("Signe Orrin", "pronouns", "she"),
        said("Odo Vane", "status", "absent"),
        said("Petra Lund", "place", "in the mill"),
        said("brass key", "holder", "Signe Orrin", "thing"),
        said("ferry", "status", "destroyed", "thing"),
        said("Old Town", "role", "a town", "place"),
        Change(entry="Old Town", kind="place", do="rename", value="Newharbour"),
        said("Mattis Orrin", "role", "a clerk"),
    ],
    "p1",
    3,
)

PLANTED = {
    "dead": [
        "Bastian danced until midnight without a word.",
        "Rain fell. Bastian was waiting by the gate.",
        "Petra greeted Bastian.",
        "Bastian laughed and poured the wine.",
        '"Sit down," said Bastian.',
        "Rain fell. Bastian Cole opened the gate for them.",
        "She waited, and Bastian quietly took the lamp.",
    ],
    "absent": ["Odo smiled across the table.", '"Eat," said Odo Vane.'],
    "lost": [
        "Signe shook the rain from the ferry.",
        "They lit the lamp and Signe turned the ferry into the wind.",
    ],
    "holder": [
        "Petra tucked the brass key into her sleeve.",
        "The brass key hung from Petra's belt.",
        "Petra took the brass key out of her pocket.",
        "Petra still had the brass key on her belt.",
        "Petra unlocked the gate with the brass key.",
    ],
    "pronouns": [
        "Signe put on his coat.",
        "Signe shook his head.",
        '"No," Signe said softly, shaking his head.',
        "Signe put the kettle on. He looked at the door and sat down.",
        "Bastian's ghost was forgotten. Signe himself had no answer.",
        "Signe was early on Monday. He unlocked the shop, and he lit the stove with a letter from Leeds.",
        '"It never rains," said Signe. He rubbed the window clear. "Nobody does."',
        '"I sail on Friday," said Signe, and he put down the cup.',
        "Signe Orrin was a tall man with a soft voice.",
        "Petra paid. Signe scratched his beard and counted the coins twice.",
    ],
    "renamed": ["They rode into Old Town at noon."],
}
CLEAN = [
    "Years ago the yard was full. Bastian danced there with everybody.",
    "Orrin shook his head.",
    "Petra bought a ferry and steered it home.",
    "Signe remembered how Bastian had laughed.",
    "Bastian had opened this gate every morning.",
    "Bastian's coat hung by the door, and nobody touched it.",
    "She dreamed that Bastian sat by the fire.",
    '"Bastian walked here," said Signe. "Odo said so."',
    "A portrait of Bastian Cole looked down on them.",
    "At last the door opened, and Odo stepped in. Odo smiled.",
    "They found the ferry again, mended, and Signe turned the ferry to the shore.",
    "Signe took the brass key out of her pocket.",
    "Signe unlocked the gate with the brass key.",
    "Signe watched them from the stair. Petra unlocked the gate with the brass key.",
    "Signe put the kettle on. He looked at her and sat down.",
    "He had slept badly. Signe put the kettle on. He looked at the door.",
    "The doctor came. Signe put the kettle on. He looked at the door.",
    "Signe called Leon. He looked at the door.",
    '"No," Signe said, and shook his hand.',
    "Signe put the kettle on. He looked at the door. She sat down.",
    "Signe handed Petra the brass key. Petra took the brass key out of her pocket an hour later.",
    "Signe shook her head. Petra took his hand.",
    "Orrin laughed at the clerk.",
    '"I am cold," said Bastian\'s widow.',
    '"I am cold," asked Bastian Cole’s wife.',
    "Petra walked to the mill and asked about the dead man.",
    "Newharbour lay grey in the rain.",
    '"You are late," said Signe, and he took off the wet hat.',
    '"Late," said Signe. "As always." He took off the wet hat.',
    '"Leon never wrote," said Signe. He lived in Leeds.',
    "Leon came in from the yard. Signe nodded. He sat down.",
    "Signe saddled the grey. He tossed the reins and stamped.",
    "Signe called the sheriff. He rode over at noon.",
    "Signe whistled twice. He came running through the mud.",
    "Signe put the kettle on. He had been at sea for a year.",
    "Signe closed the shop at six, and he was waiting by the lamp.",
    "Beside Signe was a tall man with a scar.",
    "The player of Signe was a tall man with a red beard.",
    "Signe was a man short at the pumps.",
    "In a dream Signe was a tall man with a beard.",
]


@pytest.mark.parametrize(("rule", "passage"), [(rule, text) for rule, texts in PLANTED.items() for text in texts])
def test_a_planted_contradiction_is_found_with_both_sentences(rule, passage):
    (found,) = find_contradictions(passage, CODEX)
    assert found["rule"] == rule
    assert found["said"] in passage
    assert found["holds"]
    if rule != "renamed":
        assert (found["passage"], found["step"]) == ("p1", 3)
        assert found["rests_on"]


@pytest.mark.parametrize(
    "before",
    ["Mattis Orrin waited at the gate.", "He leaned on the gate.", "A man leaned on the gate.", "Leon waited."],
)
def test_a_pronoun_may_mean_whom_the_passage_before_told_of(before):
    passage = "Signe was early on Monday. He unlocked the shop."
    assert find_contradictions(passage, CODEX, before=before) == []
    assert find_contradictions(passage, CODEX, before="Signe Orrin wrote to Leeds, and she went to bed.") != []


@pytest.mark.parametrize("fact", ["He changed his name to Lukas.", "She was now called Mother Agnes by the nuns."])
def test_nobody_is_renamed_by_a_pronoun(fact):
    assert [change for change in from_facts("", [fact], fact, CODEX, "English") if change["do"] == "rename"] == []


@pytest.mark.parametrize("passage", ["Bastian slumped in the chair.", "Bastian weighed more than he looked."])
def test_a_body_that_is_found_and_carried_does_not_act(passage):
    assert find_contradictions(passage, CODEX) == []


@pytest.mark.parametrize("passage", CLEAN)
def test_nobody_is_accused_who_remembers_returns_or_hands_over(passage):
    assert find_contradictions(passage, CODEX) == []


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ("Bastian Cole died in the tunnel.", ("Bastian Cole", "status", "dead")),
        ("Signe killed Bastian Cole.", ("Bastian Cole", "status", "dead")),
        ("Bastian Cole is missing.", ("Bastian Cole", "status", "absent")),
        ("Signe Orrin carries the brass key in her belt.", ("brass key", "holder", "Signe Orrin")),
        ("Signe gave the silver ring to Bastian.", ("silver ring", "holder", "Bastian Cole")),
        ("Signe waits in the old mill and sings.", ("Signe Orrin", "place", "in the old mill")),
        ("The ferry was destroyed by the storm.", ("ferry", "status", "destroyed")),
        ("Signe lost the lantern.", ("lantern", "status", "lost")),
        ("Signe promised Bastian to come back.", ("Signe promised Bastian to come back", "status", "open")),
        ("Nobody could help Bastian Cole, who perished in the snow.", ("Bastian Cole", "status", "dead")),
        ("Bastian, wounded in the chest, called out once and died.", ("Bastian Cole", "status", "dead")),
        ("They beat Bastian to death.", ("Bastian Cole", "status", "dead")),
        ("Signe finds Bastian dead in the tunnel and is left alone.", ("Bastian Cole", "status", "dead")),
        ("Signe found Bastian lying dead on the stair.", ("Bastian Cole", "status", "dead")),
        ("Signe discovers Bastian's body in the river.", ("Bastian Cole", "status", "dead")),
        ("The fever takes Bastian's life.", ("Bastian Cole", "status", "dead")),
        ("When Bastian fell he broke his neck, and he died at once.", ("Bastian Cole", "status", "dead")),
        ("Signe emigrated in the spring.", ("Signe Orrin", "status", "absent")),
        ("Nobody had heard of Signe since.", ("Signe Orrin", "status", "absent")),
        ("The storm wrecked the old mill.", ("old mill", "status", "destroyed")),
        ("Signe tore the letter into small pieces.", ("letter", "status", "destroyed")),
        ("The raft broke into pieces.", ("raft", "status", "destroyed")),
        ("Signe grabbed the silver ring from Bastian.", ("silver ring", "holder", "Signe Orrin")),
        ("The silver ring was left to Bastian.", ("silver ring", "holder", "Bastian Cole")),
        ("Signe, the harbour clerk, waited.", ("Signe Orrin", "role", "harbour clerk")),
        ("A shell fell, and Corporal Bastian Cole was killed outright.", ("Bastian Cole", "status", "dead")),
        ("Bastian Cole had choked on a bone, and was buried on the Friday.", ("Bastian Cole", "status", "dead")),
        ("Signe Orrin had fled the country.", ("Signe Orrin", "status", "absent")),
        ("Signe went west with the ships.", ("Signe Orrin", "status", "absent")),
        ("Signe had lost her silver ring at the baths, and no one ever found it.", ("silver ring", "status", "lost")),
        ("The raft rolled, and the brass sextant sank in the bay.", ("brass sextant", "status", "lost")),
        ("Signe dropped the silver ring into her own pocket.", ("silver ring", "holder", "Signe Orrin")),
        (
            "Signe gave the silver ring to the warden Bastian, and he wore it.",
            ("silver ring", "holder", "Bastian Cole"),
        ),
    ],
)
def test_facts_are_read_by_rule(fact, expected):
    known = changed(Codex(), [said("Bastian Cole", "look", "tall"), said("Signe Orrin", "look", "small")])
    found = [
        (change["entry"], change.get("aspect"), change.get("value"))
        for change in from_facts("", [fact], fact, known, "English")
    ]
    assert expected in found


@pytest.mark.parametrize(
    "fact",
    [
        "Bastian Cole almost died.",
        "Signe fears that Bastian Cole is dead.",
        "Bastian Cole would have died.",
        "Bastian Cole did not die.",
        "Signe had heard it said that Bastian Cole was dead, it seemed.",
        "Signe imagined that Bastian Cole was dead.",
    ],
)
def test_what_is_doubted_is_kept_as_it_is_said(fact):
    known = changed(Codex(), [said("Bastian Cole", "look", "tall"), said("Signe Orrin", "look", "small")])
    (change,) = from_facts("", [fact], fact, known, "English")
    assert (change["aspect"], change["text"]) == ("fact", fact)


@pytest.mark.parametrize(
    "fact",
    [
        "Uncle Cole died in the spring.",
        "It rained, and Nurse Cole died in the spring.",
        "Bastian Cole was dead tired.",
        "Signe finds Bastian dead asleep.",
        "Signe found Bastian dead calm on the stair.",
        "It takes Bastian's life savings.",
        "The wedding ended Bastian's life of solitude.",
        "Signe discovered Bastian's body language had changed.",
        "Signe found Bastian's body warm under the blanket.",
        "Signe saw Bastian dead ahead, waving.",
        "Signe saw Bastian hanged in effigy.",
        "Signe puts Bastian to rest on the sofa.",
        "Signe saved Bastian's life.",
        "Signe shot Bastian Cole in the leg.",
        "Signe shot Bastian Cole a glance.",
        "When Signe was gone, Bastian Cole sat down.",
        "Bastian Cole fled into the kitchen.",
        "Out of earshot Bastian Cole laughed.",
        "The princess sank into a chair beside Bastian Cole.",
    ],
)
def test_nothing_befalls_a_namesake_nor_by_a_figure_of_speech(fact):
    known = changed(Codex(), [said("Bastian Cole", "look", "tall"), said("Signe Orrin", "look", "small")])
    changes = [change for change in from_facts("", [fact], fact, known, "English") if known.find(change["entry"])]
    assert [change for change in changes if change.get("aspect") == "status"] == []


def test_whoever_is_gone_and_speaks_in_the_same_passage_was_only_out_of_the_room():
    gone, passage = "Signe was gone.", 'Signe was gone. The clock struck. "Here," said Signe, and put down the tray.'
    known = changed(Codex(), [said("Signe Orrin", "look", "small")])
    assert from_facts("", [gone], passage, known, "English") == []
    (change,) = from_facts("", [gone], f"{gone} The clock struck.", known, "English")
    assert change["value"] == "absent"


GONE = changed(
    CODEX,
    [
        said("Odo Vane", "status", "absent"),
        said("Odo Vane", "place", "in Bern"),
        said("silver compass", "status", "lost", "thing"),
    ],
    "p2",
    4,
)


@pytest.mark.parametrize(
    ("passage", "ended"),
    [
        ("Odo Vane came in from the yard and sat down.", ["Odo Vane"]),
        ('"I will stay," said Odo.', ["Odo Vane"]),
        ('"I will stay," Odo said. Petra sighed.', ["Odo Vane"]),
        ("In May Odo dug up the silver compass.", ["Odo Vane", "silver compass"]),
        ("By the ditch Petra found the silver compass.", ["silver compass"]),
        ("Petra took the silver compass down from the shelf.", ["silver compass"]),
        ("Petra remembered how Odo had laughed.", []),
        ("She dreamed that Odo sat by the fire.", []),
        ('The telephone rang. "I am in Bern," said Odo.', []),
        ("Petra thought of Odo, and of the mare.", []),
        ("In Bern, Odo lit a cigarette and looked at the river.", []),
        ("A hundred miles away, Odo woke with a start.", []),
        ("Petra pictured it. Odo walked along the river.", []),
        ('Odo came home from Bern. "I am home," said Odo.', ["Odo Vane"]),
        ("The train from Bern was late. Odo came in and sat down.", ["Odo Vane"]),
        ('"Odo came home," said Petra.', []),
        ("Petra never found the silver compass.", []),
        ("Petra looked for the silver compass until dark.", []),
        ("Bastian laughed and poured the wine.", []),
    ],
)
def test_who_acts_is_absent_no_longer_and_what_is_found_not_lost(passage, ended):
    changes = no_longer_gone(passage, GONE)
    assert [change["entry"] for change in changes] == ended
    assert all(change["do"] == "end" and change["rests_on"] in passage for change in changes)
    after = changed(GONE, changes, "p3", 5)
    assert [after.find(name).value("status") for name in ended] == [""] * len(ended)


def test_whoever_is_back_and_says_so_is_accused_of_nothing():
    assert find_contradictions('"I have come back," said Odo. Petra put the kettle on.', CODEX) == []


@pytest.mark.parametrize("value", ["found", "found in the ditch", "recovered", "gefunden", "retrouvée"])
def test_a_capable_model_says_that_a_thing_is_found(value):
    found = from_reply([CodexChange(name="silver compass", kind="thing", aspect="status", value=value)], "", GONE)
    assert changed(GONE, found, "p3", 5).find("silver compass").value("status") == ""


def test_a_small_model_says_that_a_thing_is_found():
    fact = "The silver compass was found by the ditch."
    assert (
        changed(GONE, from_facts("", [fact], fact, GONE, "English"), "p3", 5).find("silver compass").value("status")
        == ""
    )


def test_a_capable_models_changes_are_kept_and_named_as_entries_are():
    reply = [
        CodexChange(name="Bastian", aspect="status", value="Alive.", sentence="Bastian got up."),
        CodexChange(name="the mill", kind="place", aspect="colour", value="The mill is red."),
        CodexChange(name="Odo", aspect="status", value="sleepy"),
        CodexChange(name="Odo", aspect="status", value="Dead, buried in Wilf Harker's grave."),
        CodexChange(name="key", kind="thing", aspect="holder", value="Odo Vane, in his cassock pocket"),
        CodexChange(name="", value="nothing"),
    ]
    found = from_reply(reply, "Bastian got up. The mill is red now.", CODEX)
    assert [(change["entry"], change["aspect"], change.get("value") or change.get("text")) for change in found] == [
        ("Bastian Cole", "status", "alive"),
        ("the mill", "fact", "The mill is red."),
        ("Odo Vane", "fact", "Odo is sleepy."),
        ("Odo Vane", "status", "dead"),
        ("Odo Vane", "fact", "Odo is dead, buried in Wilf Harker's grave."),
        ("brass key", "holder", "Odo Vane"),
    ]
    assert found[0]["rests_on"] == "Bastian got up."


@pytest.mark.parametrize(("sentence", "is_dead"), [("Odo fell into the lock and drowned.", False), ("", True)])
def test_nobody_dies_by_a_sentence_that_the_passage_has_not(sentence, is_dead):
    reply = [CodexChange(name="Odo", aspect="status", value="dead", sentence=sentence)]
    found = from_reply(reply, "Rain fell on the yard, and the gutters sang.", CODEX)
    assert bool(found) is is_dead


def test_what_is_said_of_such_a_death_is_no_fact_either():
    said = CodexChange(
        name="Odo", aspect="status", value="dead, drowned in the lock", sentence="Odo fell into the lock."
    )
    assert not from_reply([said], "Rain fell on the yard, and the gutters sang.", CODEX)


def test_a_sentence_may_be_quoted_in_part():
    passage = "Odo’s hands let go of the rope. The river’s cold closed over his head at once."
    said = CodexChange(name="Odo", aspect="status", value="dead", sentence="Odo's hands let go... closed over his head")
    assert [change["value"] for change in from_reply([said], passage, CODEX)] == ["dead"]


@pytest.mark.parametrize(
    ("left", "place", "status"),
    [
        ("Petra left for Harwick.", "in Harwick", "absent"),
        ("Petra left for Harwick.", "at the Harwick docks", "absent"),
        ("Petra sailed to the island.", "on the island", "absent"),
        ("Petra left for Harwick.", "in the yard", ""),
        ("Petra left the mill in Harwick without a word.", "in Harwick", ""),
        ("Petra's bed in the attic was empty.", "in the attic", ""),
        ("Petra left for their cabin.", "in their kitchen", ""),
        ("Petra ging in ihrem Mantel fort.", "in ihrem Zimmer", ""),
    ],
)
def test_whoever_left_for_a_town_and_is_told_of_there_is_away_still(left, place, status):
    absent = Change(entry="Petra Lund", kind="person", do="set", aspect="status", value="absent", rests_on=left)
    there = Change(entry="Petra Lund", kind="person", do="set", aspect="place", value=place, rests_on="Money came.")
    codex = changed(changed(CODEX, [absent], "p2", 4), [there], "p3", 5)
    assert codex.find("Petra Lund").value("status") == status


@pytest.mark.parametrize(
    ("kind", "said", "status"),
    [
        ("person", "killed", "dead"),
        ("person", "Deceased", "dead"),
        ("person", "murdered by Odo Vane", "dead"),
        ("person", "drowned", "dead"),
        ("person", "died of a fever", "dead"),
        ("person", "passed away", "dead"),
        ("person", "dead (shot by Odo)", "dead"),
        ("person", "dead and buried", "dead"),
        ("person", "dead - drowned", "dead"),
        ("person", "missing", "absent"),
        ("person", "presumed dead", ""),
        ("person", "not dead", "alive"),
        ("person", "undead, and thirsty", "alive"),
        ("person", ".", ""),
        ("person", "dead tired", ""),
        ("person", "killed Odo Vane", ""),
        ("thing", "missing since dawn", "lost"),
        ("thing", "killed", ""),
        ("promise", "fulfilled", "kept"),
        ("question", "resolved", "answered"),
    ],
)
def test_a_status_is_understood_in_other_words(kind, said, status):
    found = from_reply([CodexChange(name="Quill", kind=kind, aspect="status", value=said)], "", CODEX)
    assert [change["value"] for change in found if change["aspect"] == "status"] == ([status] if status else [])
    facts = [change["text"] for change in found if change["aspect"] == "fact"]
    assert all(fact.startswith("Quill ") for fact in facts)
    assert len(facts) == (said != ".")


@pytest.mark.parametrize(
    ("held", "fact", "is_over"),
    [
        ("Odo Vane is engaged to Mira.", "Odo Vane is no longer engaged to Mira.", True),
        ("Odo Vane lives in the mill.", "Odo Vane no longer lives in the mill.", True),
        ("Odo Vane does not know who cast the bell.", "Odo Vane knows who cast the bell.", True),
        ("Odo Vane does not know who cast the bell.", "Odo Vane knows that Bastian Cole cast the bell.", True),
        ("Odo does not know who cast the bell.", "Odo Vane learned that the Abbot cast the bell.", True),
        ("Odo Vane does not know whether the bell is whole.", "Odo Vane knows that the bell is whole.", True),
        ("Odo Vane is engaged to Mira and lives in the mill.", "Odo Vane is no longer engaged.", False),
        ("Odo Vane is engaged to Mira.", "Odo Vane is no longer engaged to Greta.", False),
        ("Odo Vane is old.", "Odo Vane is no longer engaged to Mira.", False),
        ("Odo Vane does not know where the bell is.", "Odo Vane knows that the bell is whole.", False),
        ("Odo Vane does not know who cast the bell.", "Odo Vane knows that the bell is whole.", False),
        ("Odo Vane does not know who cast the bell.", "Petra Lund knows who cast the bell.", False),
        (
            "Odo Vane does not know who cast the bell.",
            "Odo Vane thinks that Petra Lund knows who cast the bell.",
            False,
        ),
    ],
)
def test_a_fact_ends_what_it_takes_back_in_the_same_words(held, fact, is_over):
    other = "Odo Vane is engaged in a long quarrel over the bell."
    told = [{**said("Odo Vane", "fact", ""), "text": text} for text in (other, held)]
    known = changed(CODEX, told, "p1", 1)
    after = changed(known, from_facts("", [fact], f"They spoke. {fact}", known, "English"), "p2", 2)
    lines = [line.text for line in after.find("Odo Vane").lines]
    assert (held in lines, other in lines) == (not is_over, True)
    assert fact in [line.text for entry in after.entries.values() for line in entry.lines]
    assert [line.sentence for line in after.over.get("p1", ())] == ([held] if is_over else [])


def test_who_does_not_know_by_a_line_of_that_kind_knows_now():
    known = changed(CODEX, [said("Odo Vane", "unaware", "who cast the bell")], "p1", 1)
    after = changed(known, from_facts("", ["Odo Vane knows who cast the bell."], "", known, "English"), "p2", 2)
    assert after.find("Odo Vane").value("unaware") == ""


def test_nobody_has_what_a_capable_model_gives_to_nobody():
    reply = [CodexChange(name="key", kind="thing", aspect="holder", value="nobody")]
    (change,) = from_reply(reply, "", CODEX)
    assert (change["do"], change["aspect"]) == ("end", "holder")


def test_what_is_open_is_told_first_where_it_is_asked_for():
    codex = changed(
        CODEX,
        [
            said("Who rang the bell?", "status", "open", "question"),
            said("Who lit the lamp?", "status", "answered", "question"),
            said("Odo's word to come back", "holder", "Petra Lund", "promise"),
        ],
        "p2",
        4,
    )
    assert [entry.name for entry in open_entries(codex)] == ["Who rang the bell?", "Odo's word to come back"]
    rows = tell(touched(codex, "Petra Lund asks for bread.", "", open_entries(codex)), words=16)
    assert [row["lines"] for row in rows] == [
        ["The question “Who rang the bell?” is open."],
        ["Petra Lund has Odo's word to come back."],
    ]


def test_what_a_person_does_not_know_is_told_first():
    codex = changed(CODEX, [said("Petra Lund", "unaware", "who cast the bell")], "p2", 4)
    (row,) = tell(touched(codex, "Petra Lund asks for bread.", ""), words=100)
    assert row["lines"] == ["Petra Lund does not know who cast the bell.", "Petra Lund is in the mill."]


WALKING = "Bastian Cole laughed and poured the wine into two cups for the strangers at the long table by the window of the inn."
OTHER = (
    "Rain came in from the sea, and the strangers at the long table drank their wine and said nothing of the road back."
)


@pytest.mark.parametrize("tier", ["small", "full"])
@pytest.mark.parametrize("continuity", ["off", "note", "mend"])
async def test_a_contradiction_is_let_be_noted_or_mended(write, model, tier, continuity):
    model.tier = tier
    passages = [
        "Bastian Cole died on the stones below the wall before anybody reached him, and the bells kept still all that day.",
        WALKING,
        OTHER,
    ]

    def replies(messages):
        asked = str(messages[-1].text)
        if "JSON schema:" not in asked:
            return passages.pop(0)
        reply = json.loads(story_replies(messages))
        told = "Bastian Cole died on the stones."
        if "facts" in reply:
            first = "below the wall" in asked
            reply = {"summary": told if first else "It rained.", "facts": [told if first else "The rain went on."]}
        if "characters" in reply:
            reply["characters"] = (
                ["Bastian Cole: a warden"] if tier == "full" else [{"name": "Bastian Cole", "who": "a warden"}]
            )
        if "codex" in reply:
            first = "below the wall" in str(messages[-2].text)
            change = {
                "name": "Bastian Cole",
                "kind": "person",
                "change": "set",
                "aspect": "status",
                "value": "dead",
                "sentence": told,
            }
            reply["codex"] = [change] if first else []
        return json.dumps(reply)

    model.replies = replies
    commits = await write(steps=2, continuity=continuity, min_words=20, max_words=60)
    found = commits[2].get("contradictions", [])
    assert commits[2]["passage"] == (OTHER if continuity == "mend" else WALKING)
    assert [(one["rule"], one["entry"]) for one in found] == (
        [("dead", "Bastian Cole")] if continuity == "note" else []
    )
    asked = [str(call[-1].text) for call in model.calls if "JSON schema:" not in str(call[-1].text)]
    if tier == "small":
        reminded = [text.endswith("Keep in mind: Bastian Cole died on the stones.") for text in asked]
        assert reminded == [False, False, *([True] if continuity == "mend" else [])]
    if continuity == "mend" and tier == "full":
        reasons = [str(call[-1].text) for call in model.calls if WALKING in str(call[-1].text)]
        assert any("Bastian Cole is dead" in reason for reason in reasons)


SILAS = Codex({name.casefold(): Entry(name, "person") for name in ("Silas Thorne", "Hester Lane")})


def status_after(fact):
    changes = from_facts("", [fact], "", SILAS, "English")
    return [one["value"] for one in changes if one.get("aspect") == "status" and one["entry"] == "Silas Thorne"]


@pytest.mark.parametrize(
    "opening",
    [
        "There had been frost.",
        "Signe remembered the keys.",
        "Signe remembered to lock the door.",
        "She set the canvas bag on the table.",
        "The wireless stood on the shelf, unplugged.",
        "She drew the screen across the hearth.",
        "She wiped the marble counter with a rag.",
        "A film of dust lay on the piano.",
        "She kept a record of every delivery.",
        "The letter had been burned.",
        "The wind tore at the canvas.",
        "She smiled and wiped the marble counter.",
        "She looked at him! The marble was cold.",
    ],
)
def test_what_only_has_a_word_of_memories_or_pictures_silences_nothing(opening):
    found = find_contradictions(f"{opening} Bastian laughed and poured the wine.", CODEX)
    assert [one["rule"] for one in found] == ["dead"]


@pytest.mark.parametrize(
    "opening",
    [
        "Signe remembered.",
        "Signe remembered his laugh.",
        "Signe remembered her husband.",
        "Signe remembered the picnic.",
        "Signe remembered how it was.",
        "It had been a hard winter.",
        "It had been Tuesday.",
        "They had been young.",
        "I had been his student.",
        "His father had been a baker.",
        "The house had been full of laughter.",
        "He switched the radio on.",
        "She turned the radio on.",
        "A voice came over the radio.",
        "On the screen the scene changed.",
        "The camera rolled.",
        "She sat before the monitor.",
        "She stared at the poster.",
        "The poster of Bastian was torn.",
        "The film flickered.",
        "The film began.",
        "It was a bronze of him.",
        "It was a bronze of Bastian.",
    ],
)
def test_in_memories_and_pictures_the_dead_may_act(opening):
    assert not find_contradictions(f"{opening} Bastian laughed and poured the wine.", CODEX)


@pytest.mark.parametrize(
    "fact",
    [
        "Silas Thorne left Harrow for good.",
        "Silas Thorne leaves Harrow for good.",
        "Silas Thorne left Harrow on Monday and sailed to America.",
        "Silas Thorne left Dunmere on Monday and rowed to the mainland.",
        "Silas Thorne has left Saint Mary Harbour for London.",
        "Silas Thorne left Harrow on the night train.",
    ],
)
def test_whoever_leaves_a_place_for_good_or_for_another_one_is_away(fact):
    assert status_after(fact) == ["absent"]
    away = changed(SILAS, from_facts("", [fact], fact, SILAS, "English"), "p1", 1)
    place = re.search(r"Harrow|Dunmere|Harbour", fact)[0]
    told = f"Silas Thorne poured Hester Lane a cup of tea in the kitchen at {place}."
    assert [one["rule"] for one in find_contradictions(told, away)] == ["absent"]
    if where := re.search(r"America|mainland|London", fact):
        assert find_contradictions(f"Silas Thorne bought a hat in {where[0]} and laughed.", away) == []


@pytest.mark.parametrize(
    "fact",
    [
        "Silas Thorne left Harrow.",
        "Silas Thorne left Harrow on Monday.",
        "Silas Thorne left Harrow on Monday and spoke to the miller.",
        "Silas Thorne left Harrow on Monday and rowed to the island and back.",
        "Silas Thorne left Hester Lane for good.",
        "Silas Thorne left Hester for London gin.",
        "Silas Thorne left the Crown and moved to the window.",
        "Silas Thorne left the Crown for London.",
        "Silas Thorne left Church Street for Harrow.",
        "Silas Thorne left Harrow and went to the mill.",
        "Silas Thorne left Harrow without a word.",
        "Silas Thorne left Captain Rusk for Harrow.",
        "Silas Thorne left Mrs Lane for good.",
        "Silas Thorne left Sunday for London.",
        "Silas Thorne never left Harrow for good.",
        "Silas Thorne wanted to say that he left Harrow for good.",
        "Silas Thorne drowns his sorrows.",
        "Silas Thorne drowns in debt.",
        "Silas Thorne drowns in the crowd.",
        "Silas Thorne drowns in a wave of relief.",
    ],
)
def test_nobody_is_away_or_dead_for_less(fact):
    assert status_after(fact) == []


@pytest.mark.parametrize(
    "fact", ["Silas Thorne drowns in the weir.", "Silas Thorne drowns.", "Silas Thorne drowned off Harrow."]
)
def test_whoever_drowns_is_dead(fact):
    assert status_after(fact) == ["dead"]


def test_what_is_handed_over_by_its_shorter_name_is_held_by_whoever_got_it():
    codex = changed(CODEX, [said("brass theodolite", "holder", "Signe Orrin", "thing")], "p2", 4)
    holds = "Petra held the theodolite against her chest until the wind dropped."
    assert [one["rule"] for one in find_contradictions(holds, codex)] == ["holder"]
    assert not find_contradictions(f"Signe gave Petra the theodolite and bent to tie her boot. {holds}", codex)


KARL = changed(
    Codex(),
    [
        said("Karl Ostrow", "status", "dead"),
        said("Ada Whitlock", "pronouns", "she"),
        said("silver flute", "status", "lost", "thing"),
    ],
    "p1",
    3,
)


@pytest.mark.parametrize(
    "passage",
    [
        # Whose somebody is, and a twin, an impostor, a boss of others
        "She was Karl's wife. Karl took her hand.",
        "He was Karl's oldest friend. Karl poured him a glass.",
        "Ada, who was Karl's sister, sat down. Karl nodded.",
        "His boss called Karl. Karl picked up the phone.",
        "He had a twin brother. Karl nodded.",
        "The impostor fled. Karl ran after him.",
        # Papers
        "The newspaper was wet. Karl spread it over a chair.",
        "The files were kept upstairs. Karl climbed the steps.",
        "The list was long. Karl took the basket and went out.",
        "Her will was iron. Karl gave way.",
        "He turned the page. Karl coughed.",
        # Who wakes and who is there
        "Karl ran up the stairs. Ada woke and screamed.",
        "Karl opened the door. It was nobody.",
        "Karl raised his gun. It was a stranger.",
        "Karl lit the stove.\n\nThen she woke.",
        # Words of time and telling
        "According to the sergeant, the road was closed. Karl turned the car around.",
        "The boat drifted off. Karl jumped in after it.",
        "Tom was sixteen. Karl offered him a cigarette.",
        "He told them. Karl nodded.",
        "The guide pointed to the left. Karl took the lantern.",
        "The lights went down. Karl took Ada's hand.",
        "She would have screamed. Karl put his hand over her mouth.",
        # Written with the rules as they were then in view
        "The letter was for Ada. Karl propped it against the jug.",
        "The ledger was heavy. Karl carried it to the window.",
        "A journal lay open on the desk. Karl closed it and sat down.",
        "She knew the story. Karl yawned and reached for his hat.",
        "The chapter was finished. Karl put out the lamp.",
        "Tom loved the tale. Karl tucked the blanket around him.",
        "Ada read the list twice. Karl waited by the cart.",
        "The door drifted open. Karl turned to look.",
        "The canoe had drifted off in the night. Karl swam out and towed it in.",
        "Lotte was seven, and she was hungry. Karl cut her a slice of bread.",
        "The boy was nine. Karl lifted him onto the wall.",
        "Karl laid the baby down. She woke and cried.",
        "Karl slammed the door. Ada woke with a start.",
        "Karl knocked again. There was nobody there.",
        "Karl lifted the lantern. It was only a stranger with a dog.",
        "The twins were asleep. Karl hung his coat on the nail.",
        "Tom had a twin sister in Leeds. Karl asked after her.",
        "A namesake of the mayor kept the inn. Karl shook his hand.",
        "He was Karl's brother. Karl embraced him at the gate.",
        "According to Ada, supper was at six. Karl looked at the clock.",
        "The teacher tapped the board. Karl opened his book.",
        "The guide explained the way to the hut. Karl shouldered his pack.",
        "They would have missed the ferry. Karl whistled, and the ferryman waited.",
        "The matinée was over. Karl helped Ada into her coat.",
        "Ada told it well. Karl laughed until he wept.",
        # Written when the rules had been narrowed
        "The telegram had not come. Karl put on his boots and walked to the post office.",
        "A bundle of letters stood on the dresser. Karl moved it to make room for the plates.",
        "The report was late again. Karl threw his pen on the desk.",
        "Ada wrote the last entry and blotted it. Karl brought her a cup of tea.",
        "The song ended. Karl clapped louder than anybody.",
        "Tom copied out the list for the grocer. Karl lifted the crates into the cart.",
        "The sign over the shop had been painted green. Karl admired it from across the street.",
        "Her diary was locked. Karl laughed and gave her back the key.",
        "The skiff drifted past the pier. Karl threw a rope.",
        "The gate banged in the wind. Karl went out and tied it shut.",
        "It was only the milkman. Karl paid him and carried in the bottles.",
        "Karl held up the lamp. There was no one on the stairs.",
        "Karl tiptoed past the cot, but the child woke.",
        "Ada woke before dawn. Karl was chopping wood in the yard.",
        "Karl touched her shoulder. She woke and rubbed her eyes.",
        "Lotte was ten. Karl handed her a whistle.",
        "Tom was nineteen and tall. Karl lent him a jacket.",
        "The twins had measles. Karl read to them through the door.",
        "He looked like his twin brother. Karl told him so.",
        "She would have fallen. Karl caught her by the sleeve.",
        "He would have been late. Karl harnessed the mare in two minutes.",
        "The schoolmaster rang the bell. Karl ran across the yard.",
        "According to the almanac, frost was due. Karl fetched sacking for the beans.",
        "Ada told him about the rent. Karl shrugged.",
        "The minutes dragged. Karl tapped the table with his spoon.",
        "The last page was missing. Karl turned the book over.",
        "His uncle called Karl. Karl ran down the stairs.",
        "She was Karl's niece. Karl patted her hand.",
        "Ada dozed off over her knitting. Karl put another log on the fire.",
        "Her mind wandered. Karl waited for an answer.",
        "The lights went out. Karl lit a candle.",
        "The matinée was sold out. Karl bought tickets for the evening.",
        "She knew the ballad by heart. Karl hummed along with her.",
        "It was a long story. Karl poured himself another glass.",
        "There was a note on the door. Karl tore it down and read it.",
        "A poem hung framed above the piano. Karl straightened it.",
        "Ada read the report and sighed. Karl refilled her cup.",
        "Ada read the letter to the end. Karl watched her from the stove.",
        "The journals filled two shelves. Karl took one down.",
        "The story made Tom laugh. Karl laughed with him.",
        "The rumours had reached the mill. Karl closed the shutters.",
        "The cellar door stood ajar. Karl went down with a candle.",
        "The barge drifted into the reeds. Karl took the pole.",
        "Ada was five months gone. Karl carried the water for her.",
        "She had a list in her apron. Karl held out his hand for it.",
        "Nobody had read the will yet. Karl sat by the window and smoked.",
        "Karl closed the shutters softly. Ada woke in the next room.",
        "Karl rang the bell until the whole house woke.",
        "Karl shouted. Tom jumped up, and the dog woke and barked.",
        "An impostor had sold them the mare. Karl swore.",
        "He would have hated to be seen. Karl drew the curtain.",
        "They told it to the sergeant. Karl leaned on the counter.",
        "It had started with a cough. Karl brought her honey and milk.",
        "A stranger stood at the gate. Karl asked his name.",
        "It was not her. Karl apologised and lifted his hat.",
        "She was his cousin. Karl kissed her on both cheeks.",
        "He was the image of his father. Karl gave the boy a penny.",
        "The clock said nine. Karl yawned.",
        "The teacher told the class to sit. Karl sat in the back row.",
    ],
)
def test_everyday_sentences_hide_no_dead_who_acts(passage):
    assert [one["rule"] for one in find_contradictions(passage, KARL)] == ["dead"]


@pytest.mark.parametrize(
    "passage",
    [
        "He gave it up at once. Ada played the silver flute.",
        "Ada threw them out. She played the silver flute.",
        "The boy sent it up to the office. Ada played the silver flute.",
        "The porter brought the trunk down and sent it back. Ada played the silver flute.",
        "Tom repaired the cart, and it was mended by noon. Ada played the silver flute.",
        "The kite fell into the river. Tom fished it out. Ada played the silver flute.",
        "She returned it to the shelf, the big atlas. Ada played the silver flute.",
        "The dog brought it back, a stick as long as himself. Ada played the silver flute.",
    ],
)
def test_what_else_is_given_back_hides_nothing_that_is_lost(passage):
    assert [one["rule"] for one in find_contradictions(passage, KARL)] == ["lost"]


@pytest.mark.parametrize(
    "passage",
    [
        "Odo was Lord Harrow's man. Signe scratched his beard.",
        "A paper wig lay there. Signe put on his coat.",
        "Odo was Mrs Lane's lodger. Signe scratched his beard.",
    ],
)
def test_nobody_is_in_disguise_for_a_masters_name_or_a_wig_that_lies_there(passage):
    assert [one["rule"] for one in find_contradictions(passage, CODEX)] == ["pronouns"]


def read_of(fact):
    known = changed(
        Codex(), [said(name, "look", "tall") for name in ("Bastian Cole", "Signe Orrin", "Odo Vane")], "p1", 1
    )
    changes = from_facts("", [fact], fact, known, "English")
    return [(one["entry"], one["aspect"], one["value"]) for one in changes if one.get("aspect", "fact") != "fact"]


@pytest.mark.parametrize(
    "fact",
    [
        "Signe is held in high regard.",
        "Signe is kept in the dark about the will.",
        "Signe is held in contempt.",
        "Signe is kept in line by her aunt.",
        "Signe is living in fear.",
        "Signe is sleeping in his arms.",
        "Signe is in love with Odo.",
        "Signe is under suspicion.",
        "Signe had fled the city in her youth.",
        "Signe had fled the country house.",
        "Signe fled the island when she was nine.",
        "Signe went with the fleet captain to dinner.",
        "Signe went with the caravan as far as the gate.",
        "Signe gave the silver ring to the wife of Odo.",
        "Signe gave the silver ring to the church in Harrow.",
        "The silver ring fell, and the sea was lost in fog.",
    ],
)
def test_what_is_no_place_no_leaving_and_no_handing_over_is_not_read(fact):
    assert read_of(fact) == []


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ("Signe is held in the kitchen from Odo.", ("Signe Orrin", "place", "in the kitchen")),
        ("Signe is hidden in the cellar by her aunt.", ("Signe Orrin", "place", "in the cellar")),
        ("Signe is kept in the mill by the river.", ("Signe Orrin", "place", "in the mill")),
        ("Signe hides in the heart of the forest.", ("Signe Orrin", "place", "in the heart of the forest")),
        ("Signe lives at the end of the lane.", ("Signe Orrin", "place", "at the end of the lane")),
        ("Signe gave the silver ring to the blind fiddler Odo.", ("silver ring", "holder", "Odo Vane")),
        ("Signe went with the army into the hills.", ("Signe Orrin", "status", "absent")),
        ("The lantern was lost on the road.", ("lantern", "status", "lost")),
        ("Signe is kept in the power station.", ("Signe Orrin", "place", "in the power station")),
        ("Signe fled the city in the night.", ("Signe Orrin", "status", "absent")),
        ("Signe had fled the country.", ("Signe Orrin", "status", "absent")),
        ("Signe went with the caravan at dawn.", ("Signe Orrin", "status", "absent")),
        ("Signe gave the silver ring to her uncle Odo.", ("silver ring", "holder", "Odo Vane")),
        ("Signe gave the silver ring to the old ferryman Odo.", ("silver ring", "holder", "Odo Vane")),
        ("The silver ring dropped, and a wave came, and it was gone.", ("silver ring", "status", "lost")),
        ("The silver ring fell over the side and was lost.", ("silver ring", "status", "lost")),
    ],
)
def test_where_somebody_is_who_left_and_who_has_a_thing_is_read(fact, expected):
    assert read_of(fact) == [expected]


@pytest.mark.parametrize(
    ("gone", "passage"),
    [
        *(
            (gone, passage)
            for gone in ("Odo Vane was arrested at noon.", "Odo Vane was imprisoned.", "Odo Vane was kidnapped.")
            for passage in (
                "In March Odo escaped.",
                "Odo broke out at night.",
                "Odo got away over the roofs.",
                "Odo struck the turnkey with a stool.",
                "In the dungeon Odo counted the drops.",
            )
        ),
        ("Odo Vane was arrested at noon.", "Odo stood in the dock and said nothing."),
        ("Odo Vane was jailed.", "Odo confessed to the magistrate."),
        ("Odo Vane was arrested at noon.", "Odo walked to the gallows at dawn."),
    ],
)
def test_whoever_is_held_and_escapes_or_is_told_of_as_a_prisoner_contradicts_nothing(gone, passage):
    held = changed(Codex(), from_facts("", [gone], gone, CODEX, "English"), "p1", 1)
    assert held.find("Odo Vane").value("status") == "absent"
    assert find_contradictions(passage, held) == []
    assert find_contradictions("Odo opened the shop at nine and sold a hat.", held)
