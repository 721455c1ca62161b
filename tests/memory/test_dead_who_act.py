"""Which sentences of a passage that was written as somebody lived, who is dead now, tell of them as of the living."""

import pytest

from recurrentgpt.memory.codex import changed, of_brief, under
from recurrentgpt.memory.dead_who_act import DeadWhoActs, dead_in, is_of_body
from recurrentgpt.schema.codex import Change, Codex


def said(entry: str, aspect: str, value: str) -> Change:
    return Change(entry=entry, kind="person", do="set", aspect=aspect, value=value)  # type: ignore[typeddict-item]


def once_alive(name: str, *told: Change) -> DeadWhoActs:
    """Return somebody who is dead by now and was alive as the passage was written, of whom and of others so much is told."""
    codex = changed(Codex(), [*told, said(name, "status", "dead")], "p1", 1)
    entry = codex.find(name)
    assert entry is not None
    return dead_in(codex, entry, was_alive=True)


def dead(name: str, *roles: str, others: tuple[str, ...] = ("Anna Reed",)) -> DeadWhoActs:
    """Return somebody of these roles among others, who was alive as the passage was written."""
    people = [said(other, "pronouns", "she") for other in others]
    return once_alive(name, *people, *(said(name, "role", role) for role in roles))


HUGO = dead("Hugo Moss", "the cook")


@pytest.mark.parametrize(
    "sentence",
    [
        "It was Hugo at the tiller.",
        "You and Hugo climb the stair.",
        "Anna kept supper for Hugo until late.",
        "She grabbed Hugo by the wet sleeve.",
        '"Remember, Hugo," said Anna.',
        "Anna raked the gravel with Hugo.",
        "The widow gave Hugo a bowl of soup.",
        "Hugo's hand shook.",
        "Hugo's sleeping.",
        "Anna told Hugo it was late.",
        "She gave Hugo Anna's coat.",
        "She saw Hugo grab the rope.",
        "She killed the engine and turned to Hugo.",
        "Mr Moss laughed.",
        "Hugo gave her the brandy that he had promised.",
        "The cook laughed.",
        "Marie kaufte Hugo die neue Mütze.",
        "Slowly Hugo turned the key.",
        "Anna thought that Hugo looked ill.",
        "She hid the coin in a letter, and Hugo carried it to town.",
        "Anna named the boat after Hugo came home.",
        "The door was left by Hugo wide open as he ran.",
        "In the picture the house was small, and Hugo laughed at it.",
        "On Sunday Hugo slept.",
    ],
)
def test_whatever_names_them_tells_of_them_as_of_the_living(sentence):
    assert HUGO.lives_in(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Anna stood at Hugo's grave.",
        "The late Hugo Moss was in all the papers.",
        "Anna had met Hugo in Bergen.",
        "Anna met Hugo in 1978.",
        "As a boy Hugo stole apples.",
        "Hugo's father built boats.",
        "They moored at Hugo's Wharf.",
        "The Hugo lay at the quay.",
        "She named the boy Hugo.",
        "Hugo Bell drove her home.",
        "Anna had to cook the eggs herself.",
        "A cook was wanted at the inn.",
        "The cook's wife laughed.",
        "Anna laughed.",
        "Greta Moss laughed.",
        "Mrs Moss laughed.",
        "Anna thought of Hugo.",
        "Anna missed poor Hugo.",
        "The chair was made by Hugo Moss.",
        "Anna owed Hugo nine pounds.",
        "She named her son after Hugo.",
        "In the dream Hugo walked in.",
        "Hugo would have laughed at that.",
        "In the photograph Hugo stood beside the boat.",
        "Hugo Moss lay in the churchyard.",
        "Anna loved Hugo more than ever.",
    ],
)
def test_what_tells_of_their_death_of_the_time_before_or_of_another_does_not(sentence):
    assert not HUGO.lives_in(sentence)


def test_a_name_that_is_a_word_is_a_name_where_it_can_be():
    will = dead("Will Carver")
    assert not will.lives_in('"Will you sit down?" said Anna.')
    assert will.lives_in("Will sat down.")
    assert not dead("August Lind").lives_in("In August it rained.")


def test_somebody_is_meant_by_the_rank_or_role_that_nobody_else_has():
    king = dead("King Aldric", "the king of Aran")
    assert king.lives_in("The king sleeps with his door open.")
    assert dead("Major Fitch").lives_in("The Major coughed into his cards.")
    assert dead("Jun Sato", "the pilot of the Kestrel").lives_in("The pilot sang on the ramp.")
    assert not dead("Major Fitch", others=("Major Lund",)).lives_in("The Major coughed into his cards.")


def test_a_mans_surname_is_his_where_women_alone_have_it_beside_him():
    assert family().lives_in("Moss laughed.")
    assert not family().lives_in("Mrs Moss laughed.")
    assert not family().lives_in("Anna Moss laughed.")


def test_the_dead_are_meant_by_rank_trade_and_what_their_family_calls_them():
    nair = dead("Asha Nair", "the ship's engineer, a lieutenant")
    assert nair.lives_in("The lieutenant traced the signal.")
    assert nair.lives_in("The engineer smiled.")
    mother = dead("my mother")
    assert mother.lives_in("My mother laughed.")
    assert mother.lives_in('"Mother is singing," I said.')
    father = family(("Hugo Moss", "Anna Moss's father"))
    assert father.lives_in("Dad laughed.")
    assert not father.lives_in("Father Brown laughed.")


def test_a_description_is_no_role_that_means_somebody():
    assert dead("Hugo Moss", "a young man, thin").names == ("Hugo Moss", "Hugo", "Moss")
    assert "the mayor" not in dead("Hugo Moss", "the former mayor").names
    assert "the one" not in dead("Hugo Moss", "one of the smugglers").names
    assert "the Harbour master" in dead("Hugo Moss", "the harbour master").names


def test_a_passage_has_a_mark_where_they_act_and_is_as_it_was_elsewhere():
    passage = "No! No! No! Go.\nAnna slept.\n\nHugo came. Hugo sat. It rained. It rained.\n\nHugo left."
    assert HUGO.marked_in(passage) == "No! No! No! Go.\nAnna slept.\n\n… It rained. It rained.\n\n…"


@pytest.mark.parametrize(
    ("fact", "is_over"),
    [
        ("Anna gave Hugo the rake.", True),
        ("Hugo carried the paraffin.", True),
        ("The Academy wants Hugo in the spring.", True),
        ("Anna owes Hugo forty pounds.", False),
        ("Hugo stole apples as a boy.", False),
        ("Anna buried Hugo under the oak.", False),
        ("Anna counted the sacks.", False),
        ("Anna lives with the cook.", True),
    ],
)
def test_of_what_was_noted_what_they_did_there_is_over_and_what_is_so_stays(fact, is_over):
    assert HUGO.is_over(fact) is is_over


def family(*roles: tuple[str, str]) -> DeadWhoActs:
    """Return Hugo Moss, who was alive as the passage was written, among people of these roles."""
    told = [
        said("Hugo Moss", "pronouns", "he"),
        said("Anna Moss", "pronouns", "she"),
        said("Tom Bell", "pronouns", "he"),
    ]
    codex = changed(Codex(), [*told, *(said(name, "role", role) for name, role in roles)], "p1", 1)
    codex = changed(codex, [said("Hugo Moss", "status", "dead")], "p2", 2)
    entry = codex.find("Hugo Moss")
    assert entry is not None
    return dead_in(codex, entry, was_alive=True)


def test_a_father_is_he_whose_daughter_a_brief_says_somebody_is():
    brief = {"characters": ["Hugo Moss: a carpenter", "Anna: his daughter"]}
    codex = changed(under(Codex(), of_brief(brief)), [said("Hugo Moss", "status", "dead")], "p1", 1)
    hugo = codex.find("Hugo Moss")
    assert hugo.pronoun == "he"
    assert dead_in(codex, hugo, was_alive=True).lives_in("Anna's father said nothing.")


def test_their_daughter_is_the_daughter_of_both_who_stand_before_her():
    brief = {
        "characters": [
            "Lady Moss: a proud lady",
            "Hugo Moss: her husband",
            "Anna: their daughter",
            "Colonel Pym: Hugo's brother",
        ]
    }
    codex = changed(under(Codex(), of_brief(brief)), [said("Hugo Moss", "status", "dead")], "p1", 1)
    hugo = dead_in(codex, codex.find("Hugo Moss"), was_alive=True)
    for sentence in (
        "Anna's father rose.",
        '"Well," said his brother.',
        "The Colonel's brother reads.",
        "Her father rose.",
    ):
        assert hugo.lives_in(sentence), sentence
    assert not hugo.lives_in("Lady Moss's daughter rose.")
    both = {"characters": [*brief["characters"][:3], "Ben: their son"]}
    ben = under(Codex(), of_brief(both)).find("Ben")
    assert [line.value for line in ben.lines if line.aspect == "role"] == ["Lady Moss's son", "Hugo Moss's son"]


def test_what_else_a_brief_calls_somebody_is_their_name_and_no_ships():
    people = [
        "Tom Barrow: a farmer, called Big Tom",
        "Hugo Moss: captain of a ship, called Albatross",
        "Ben: a man known as Red",
    ]
    codex = under(Codex(), of_brief({"characters": people}))
    assert [codex.find(name).aliases for name in ("Tom Barrow", "Hugo Moss", "Ben")] == [("Big Tom",), (), ("Red",)]


@pytest.mark.parametrize(
    ("who", "is_dead"),
    [
        ("the cook, who has been dead for two days", True),
        ("a clerk, who was found dead in the kitchen", True),
        ("the old ferryman who died last winter", True),
        ("Anna's late husband", True),
        ("her sister, who died in the flood", True),
        ("the dead man's brother", False),
        ("a nurse on the late shift", False),
        ("a man who is dead tired", False),
        ("a ghost, who has been dead for ten years", False),
        ("the keeper, who is believed dead", False),
        ("a boy whose mother died", False),
        ("a widow, and her husband is dead", False),
        ("the son of Ada Cole, who was killed", False),
        ("a doctor who was almost killed", False),
    ],
)
def test_whom_a_brief_calls_dead_is_dead_from_the_beginning(who, is_dead):
    codex = under(Codex(), of_brief({"characters": [f"Hugo Moss: {who}", "Anna: a cook"]}))
    told = [line.value for line in codex.find("Hugo Moss").lines if line.aspect == "status"]
    assert told == (["dead"] if is_dead else [])
    assert not [line for line in codex.find("Anna").lines if line.aspect == "status"]


MARRIED = family(("Hugo Moss", "Anna Moss's husband"))


@pytest.mark.parametrize(
    ("sentence", "is_named"),
    [('"Careful," said her husband.', False), ("Anna’s husband held the lamp.", True), ("My husband says so.", False)],
)
def test_somebody_is_meant_by_what_they_alone_are_to_somebody(sentence, is_named):
    assert MARRIED.lives_in(sentence)
    assert MARRIED.is_named_living_in(sentence) is is_named


@pytest.mark.parametrize(
    "sentence",
    ["Her husband's mother sang.", "Her late husband was a baker.", "His husband laughed.", "Her brother laughed."],
)
def test_another_relative_is_somebody_else(sentence):
    assert not MARRIED.lives_in(sentence)


def test_who_is_called_by_a_common_noun_is_another_one_too():
    told = [
        said("Hugo Moss", "pronouns", "he"),
        said("The Stranger", "pronouns", "she"),
        said("Bastian Cole", "pronouns", "he"),
    ]
    told += [said("the guard", "pronouns", "he"), said("Bastian Cole", "role", "the ferryman")]
    told += [
        said("Tom Kay", "pronouns", "he"),
        said("Anna Kay", "pronouns", "she"),
        said("Hugo Moss", "status", "dead"),
    ]
    codex = changed(Codex(), told, "p1", 1)
    hugo = dead_in(codex, codex.find("Hugo Moss"), was_alive=True)
    assert hugo.taken_from("Hugo took the rope. The rain fell. He coughed.") == "The rain fell."
    for another in ("The ferryman", "The guard", "Kay"):
        assert hugo.taken_from(f"Hugo took the rope. {another} shouted. He drew his knife.").endswith(
            "He drew his knife."
        )


def test_a_sentence_that_stands_twice_is_meant_by_its_place():
    passage = "Tom came in. He nodded. Hugo took the rope. He nodded. Anna laughed."
    assert MARRIED.left_out_of("Tom came in. He nodded.", passage) == ["Tom came in.", "He nodded."]
    assert MARRIED.left_out_of("He nodded. Anna laughed.", passage)[1] == "Anna laughed."
    assert MARRIED.marked_in(passage) == "Tom came in. He nodded. … Anna laughed."


@pytest.mark.parametrize(
    ("told", "is_body"),
    [
        ("They carried Hugo into the chapel.", True),
        ("Hugo lay dead on the stair.", True),
        ("Her father's body was in the crypt.", True),
        ("Hugo remains in the kitchen.", False),
        ("Hugo lay in the hammock, reading.", False),
        ("Hugo brought Anna tea.", False),
        ("His face was grave.", False),
    ],
)
def test_the_dead_are_told_of_as_a_body(told, is_body):
    assert is_of_body(told, ("Hugo Moss", "Hugo")) is is_body


def test_of_two_husbands_hers_may_be_either():
    two = family(("Hugo Moss", "Anna Moss's husband"), ("Tom Bell", "Greta Bell's husband"), ("Greta Bell", "a singer"))
    assert not two.lives_in("Her husband laughed.")
    assert two.lives_in("Anna's husband laughed.")


def test_behind_what_is_left_out_he_is_meant_until_another_man_is_named():
    kept = "Anna laughed. She took the key. Tom came in. He sat down."
    told = "It rained. Anna looked at him."
    assert MARRIED.taken_from("It rained. Hugo took the rope.") == "It rained."
    assert MARRIED.taken_from(f"He knelt. Hugo took the rope. {told} {kept}") == f"It rained. {kept}", (
        "he is meant before, too"
    )
    before = "Tom came in. He knelt. Hugo took the rope. He coughed."
    assert MARRIED.taken_from(before) == "Tom came in. He knelt."
    assert HUGO.taken_from("Hugo took the rope. He knelt. Anna laughed. She sat down.") == "Anna laughed. She sat down."
    assert HUGO.taken_from("Hugo waved to Anna. She laughed.") == "She laughed."
    assert (
        HUGO.taken_from("Anna stood there. He knelt. Hugo took the rope. She sat.") == "Anna stood there. She sat."
    ), "she is Anna, and he nobody else"


BY_MARRIAGE = family(("Hugo Moss", "Anna Moss's father-in-law"))


@pytest.mark.parametrize(
    ("sentence", "lives"),
    [
        ("Her father-in-law laughed.", True),
        ("Anna's father-in-law poured the tea.", True),
        ("Her father laughed.", False),
        ("Her mother-in-law laughed.", False),
    ],
)
def test_a_relative_by_marriage_is_no_other_relative(sentence, lives):
    assert BY_MARRIAGE.lives_in(sentence) is lives


@pytest.mark.parametrize(
    ("cast", "sentence", "lives"),
    [
        (["Hugo Moss: your brother, a fisherman"], "Your brother hauled the net.", True),
        (["Hugo Moss: your brother, a fisherman"], "Her brother hauled the net.", False),
        (["Hugo Moss: your younger brother", "Ben Moss: your older brother"], "Your brother hauled the net.", False),
        (["Hugo Moss: my father"], '"Is Papa asleep?"', True),
        (["Hugo Moss: your dream"], "Your dream ended.", False),
    ],
)
def test_what_somebody_is_to_the_reader_means_them_where_no_other_one_is_that(cast, sentence, lives):
    codex = changed(under(Codex(), of_brief({"characters": cast})), [said("Hugo Moss", "status", "dead")], "p1", 1)
    assert dead_in(codex, codex.find("Hugo Moss"), was_alive=True).lives_in(sentence) is lives


@pytest.mark.parametrize(
    ("who", "sentence", "lives"),
    [
        ("Anna Moss", "Mrs Moss poured the tea.", True),
        ("Anna Moss", "Moss poured the tea.", False),
        ("Hugo Moss", "Mrs Moss poured the tea.", False),
        ("Hugo Moss", "Moss poured the tea.", True),
        ("Hugo Moss", "Mr. Moss poured the tea.", True),
    ],
)
def test_of_a_couple_each_is_meant_by_the_surname_behind_a_title(who, sentence, lives):
    one_of_them = once_alive(who, said("Hugo Moss", "pronouns", "he"), said("Anna Moss", "pronouns", "she"))
    assert one_of_them.lives_in(sentence) is lives


@pytest.mark.parametrize(
    "sentence", ["Hugo always said so.", "Hugo said never to show it.", "Hugo told her always to knock."]
)
def test_what_somebody_said_for_all_times_they_said_before(sentence):
    assert not HUGO.lives_in(sentence)


def test_whoever_is_on_the_way_to_somebody_dead_is_there_no_more():
    assert HUGO.is_over("Anna Reed is on her way to Hugo Moss.")
    assert not HUGO.is_over("Anna Reed is on her way to bury Hugo Moss.")


@pytest.mark.parametrize(
    ("sentence", "lives"),
    [
        ("Hugo tells Anna that her grandmother threw a plate at him years ago.", True),
        ("Hugo told Anna that he knew her mother when he was nineteen.", True),
        ('"I was there years ago," said Hugo.', True),
        ('"Hugo lived here years ago," said Anna.', False),
        ("In the evenings Hugo climbed up with the board, and they played until he had lost.", True),
        ("Anna wore the coat that Hugo had bought.", False),
        ("Hugo told Anna years ago that he loved her.", False),
        ("Anna had kept the letter Hugo wrote.", False),
        ("Anna remembered what Hugo told her when she was a girl.", False),
        ("Hugo set down the pan and told Anna never to touch it.", True),
    ],
)
def test_what_somebody_tells_of_long_ago_they_tell_in_the_passage(sentence, lives):
    assert HUGO.lives_in(sentence) is lives


def test_what_goes_on_behind_a_sentence_that_is_left_out_goes_with_it():
    ben = once_alive("Ben Moss", said("Peter Hale", "role", "a pilot"))
    passage = (
        "Ben taught Peter Hale chess. He always lost, and he thanked Peter. The candle went out. Then Peter swore."
    )
    assert ben.marked_in(passage) == "… The candle went out. Then Peter swore."


def test_of_whom_nobody_knows_the_pronoun_one_sentence_goes_with_theirs():
    ben = once_alive("Ben Moss", said("Anna Reed", "pronouns", "she"), said("Peter Hale", "pronouns", "he"))
    passage = "Ben met Anna and Peter. She sold the mill. She left for Paris. She never came back."
    assert ben.marked_in(passage) == "… She left for Paris. She never came back."


def test_a_daughter_is_no_mrs_and_the_sisters_may_be_nuns():
    anna = once_alive("Anna Moss", said("Hugo Moss", "pronouns", "he"), said("Anna Moss", "role", "Hugo's daughter"))
    assert not anna.lives_in("Mrs. Moss, Hugo's new wife, poured the tea.")
    assert anna.lives_in("Miss Moss poured the tea.")
    sisters = [said("Velma Stroud", "pronouns", "she"), said("Edith Stroud", "role", "Velma's sister")]
    edith = once_alive("Edith Stroud", *sisters, said("Sister Agnes", "role", "a nun"))
    assert not edith.lives_in("The sisters sang vespers.")


def test_what_two_sisters_do_one_of_them_does_no_more():
    two, three = (
        {"characters": ["Velma Stroud: a woman who sings", *(f"{name} Stroud: Velma's sister" for name in names)]}
        for names in (("Edith",), ("Edith", "Rose"))
    )
    for brief, lives in ((two, True), (three, False)):
        told = [said("Velma Stroud", "pronouns", "she"), said("Edith Stroud", "status", "dead")]
        codex = changed(under(Codex(), of_brief(brief)), told, "p1", 1)
        assert dead_in(codex, codex.find("Edith Stroud"), was_alive=True).lives_in("The sisters quarrel.") is lives


@pytest.mark.parametrize(
    ("fact", "is_true"),
    [
        ("Anna Reed lives with Tom and Hugo Moss.", False),
        ("Anna Reed plays chess with Hugo Moss in the evenings.", False),
        ("Anna Reed is afraid of Hugo Moss.", False),
        ("Anna Reed owes Hugo Moss forty coins.", True),
        ("Anna Reed fears Hugo Moss is dead.", True),
        ("Anna Reed relies on Hugo Moss.", False),
        ("Anna Reed played chess with Hugo Moss.", True),
    ],
)
def test_what_somebody_does_with_another_ends_with_the_others_death(fact, is_true):
    told = Change(entry="Anna Reed", kind="person", do="set", aspect="fact", text=fact)
    codex = changed(Codex(), [said("Hugo Moss", "role", "the cook"), told], "p1", 1)
    codex = changed(codex, [said("Hugo Moss", "status", "dead")], "p2", 2)
    assert (fact in [line.text for line in codex.find("Anna Reed").true_lines]) is is_true


@pytest.mark.parametrize(("what", "lives"), [("aunt", True), ("sister", False)])
def test_the_aunt_is_the_only_aunt_and_the_sister_may_be_anybodys(what, lives):
    told = [said("Mrs. Pomfret", "role", f"Harriet's {what}"), said("Harriet Lisle", "pronouns", "she")]
    assert once_alive("Mrs. Pomfret", *told).lives_in(f"The {what} likes him.") is lives
