"""How somebody looks is many lines: a new one takes the place of an older one of the same feature alone."""

import pytest

from recurrentgpt.memory.codex import changed, tell, under
from recurrentgpt.memory.looks import MOST_LOOKS
from recurrentgpt.memory.superseded import says_again
from recurrentgpt.schema.codex import Change, Codex


def look(value, name="Edmund Crale", do="set", kind="person", **also):
    return Change(entry=name, kind=kind, do=do, aspect="look", value=value, rests_on=f"{name}, {value}.", **also)


def looks(*values, codex=None):
    codex = codex or Codex()
    for step, value in enumerate(values, 1):
        codex = changed(codex, [look(value)], f"p{step}", step)
    return codex


def told(codex):
    return [line.value for line in codex.find("Edmund Crale").lines if line.aspect == "look"]


NOUNS = ["hat", "coat", "belt", "boots", "scarf", "ring", "cane", "gloves", "collar", "badge", "sash", "wig"]
SCAR = "a scar across his chin that whitens when he smiles"


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ([SCAR, "left-handed"], [SCAR, "left-handed"]),
        (["tall, with grey eyes", "grey eyes"], ["tall, with grey eyes"]),
        (["grey-eyed", "grey eyes"], ["grey-eyed"]),
        (["eyes grey", "grey eyes"], ["eyes grey"]),
        (["a tall man with long grey hair", "tall, grey hair"], ["a tall man with long grey hair"]),
        (["grey eyes", "tall, with grey eyes"], ["tall, with grey eyes"]),
        (["grey eyes", "blue eyes"], ["blue eyes"]),
        (["tall, with grey eyes", "blue eyes"], ["tall", "blue eyes"]),
        (["grey eyes and a limp", "blue eyes"], ["a limp", "blue eyes"]),
        (["a tall woman with red hair", "black hair"], ["a tall woman", "black hair"]),
        (["black hair", "hair gone white"], ["hair gone white"]),
        (["black hair", "his hair is white now"], ["his hair is white now"]),
        (["a red beard", "no beard"], ["no beard"]),
        (["no beard", "a beard"], ["a beard"]),
        (["grey eyes", "a grey coat"], ["grey eyes", "a grey coat"]),
        (["tall", "a tall hat"], ["tall", "a tall hat"]),
        (["a tall man", "an old man"], ["a tall man", "an old man"]),
        ([SCAR, "a scar on his left hand"], [SCAR, "a scar on his left hand"]),
        (["a scar on his chin", "a beard on his chin"], ["a scar on his chin", "a beard on his chin"]),
        (["a green dress", "in a red dress"], ["in a red dress"]),
        (["wears a red coat", "wears a hat"], ["wears a red coat", "wears a hat"]),
        (["a red coat and boots", "a green coat"], ["boots", "a green coat"]),
        (["a black and white dress", "thin"], ["a black and white dress", "thin"]),
        (["thin and pale", "pale as chalk"], ["thin", "pale as chalk"]),
        (["tall and thin", "thin as a rake"], ["tall", "thin as a rake"]),
        (["old, thin and pale", "pale as chalk"], ["old, thin", "pale as chalk"]),
        (["tall and thin, with grey eyes", "thin as a rake"], ["tall, grey eyes", "thin as a rake"]),
        (["thin and pale", "pale and thin"], ["thin and pale"]),
        (["in black and white", "black as coal"], ["in black and white", "black as coal"]),
        (["black and white hair", "black teeth"], ["black and white hair", "black teeth"]),
        (["black and white and red hair", "a white scar"], ["black and white and red hair", "a white scar"]),
        (["graue Augen", "blaue Augen"], ["blaue Augen"]),
        (["ein graues Kleid", "ein blaues Kleid"], ["ein blaues Kleid"]),
        (["black hair", "hair cut short"], ["hair cut short"]),
        (["grey-eyed", "blue-eyed"], ["blue-eyed"]),
        (["black hair", "white-haired"], ["white-haired"]),
        (["white-haired", "black hair"], ["black hair"]),
        (["dressed in black", "dressed in white"], ["dressed in white"]),
        (["dressed in black", "clad in white"], ["clad in white"]),
        (
            ["tall, black hair to her waist, a green coat", "hair cut to the jaw"],
            ["tall, a green coat", "hair cut to the jaw"],
        ),
        (["long black hair", "hair cropped"], ["hair cropped"]),
        (["hair cropped", "long hair"], ["long hair"]),
        (["long black hair", "hair tied back"], ["hair tied back"]),
        (["long black hair", "hair now short"], ["hair now short"]),
        (["black hair", "black hair shorn to the scalp"], ["black hair shorn to the scalp"]),
        (["small, bald, a brown beard", "beard shaved off"], ["small, bald", "beard shaved off"]),
        (["small, bald, a brown beard", "clean-shaven"], ["small, bald", "clean-shaven"]),
        (["clean shaven", "a beard"], ["a beard"]),
        (["left arm in a sling", "left arm healed"], ["left arm healed"]),
        (["a bandaged hand", "hand healed"], ["hand healed"]),
        (["left hand bandaged", "left hand healed"], ["left hand healed"]),
        (["a scarred face", "face scarred"], ["a scarred face"]),
    ],
)
def test_a_look_replaces_what_was_told_of_the_same_feature_alone(values, left):
    assert told(looks(*values)) == left


@pytest.mark.parametrize(
    "values",
    [
        ("eyes grey", "a grey coat"),
        ("eyes grey", "cheeks grey"),
        ("hair gone white", "a white coat"),
        ("wears black", "black hair"),
        ("eyes red from weeping", "red hair"),
        ("a blue left eye", "a green right eye"),
        ("his left hand is missing", "his right hand is burned"),
        ("a scar on his left hand", "a scar on his right hand"),
        ("grey eyes", "a glass eye"),
        ("still tired", "still wounded"),
        ("a bit dazed", "a bit sunburned"),
        ("grey eyes", "one-eyed"),
        ("a deep cut above his eye", "a deep voice"),
        ("left-handed", "his right hand is burned"),
        ("yeux gris", "cheveux gris"),
        ("ojos negros", "pelo negro"),
        ("un manteau noir", "un chapeau noir"),
        ("серые глаза", "голубые глаза"),
        ("tall", "a tall hat"),
        ("short", "short hair"),
        ("black", "a black coat"),
        ("tall, with grey eyes", "a tall hat with grey feathers"),
        ("grey eyes", "eyes closed"),
        ("hair cropped", "beard cropped"),
        ("right arm in a sling", "left arm healed"),
        ("a scar on his left hand", "scar faded on his chin"),
        ("a deep cut above his eye", "a deep voice torn by smoke"),
        ("a red bed", "a red shed"),
        ("a tall bearded man", "a tall hooded man"),
        ("broad shouldered", "broad chested"),
        ("well dressed", "well fed"),
        ("very tired", "very scared"),
        ("no longer bandaged", "no longer bruised"),
        ("newly shaved", "newly dressed"),
    ],
)
def test_looks_of_different_features_stand_side_by_side(values):
    codex = looks(*values)
    assert told(codex) == list(values)
    assert not codex.over
    assert told(looks(*values[::-1])) == list(values[::-1])


def test_in_a_language_whose_adjectives_stand_last_no_look_takes_the_place_of_another():
    codex = looks("manteau noir")
    said = {**look("chapeau noir"), "rests_on": "Il portait un chapeau noir."}
    assert told(changed(codex, [said], "p2", 2)) == ["manteau noir", "chapeau noir"]
    said = {**look("blue eyes"), "rests_on": "In the café Zoë saw his blue eyes."}
    assert told(changed(looks("grey eyes"), [said], "p2", 2)) == ["blue eyes"]


@pytest.mark.parametrize(
    ("values", "left"),
    [
        (["whole", "broken"], ["broken"]),
        (["the lantern is whole", "broken"], ["broken"]),
        (["a red handle", "broken"], ["a red handle", "broken"]),
        (["locked", "a green door", "open"], ["a green door", "open"]),
        (["tall, with a red roof", "roof burnt away"], ["tall", "roof burnt away"]),
    ],
)
@pytest.mark.parametrize("kind", ["thing", "place"])
def test_a_thing_or_a_place_is_in_one_state(kind, values, left):
    codex = Codex()
    for step, value in enumerate(values, 1):
        codex = changed(codex, [look(value, "lantern", kind=kind)], f"p{step}", step)
    assert [line.value for line in codex.find("lantern").lines] == left


def test_no_other_line_goes_with_a_look():
    fact = Change(entry="Edmund Crale", kind="person", do="set", aspect="fact", text="Edmund Crale walks with a stick.")
    codex = looks("grey eyes", "blue eyes", codex=changed(Codex(), [fact], "p0", 1))
    assert [line.text or line.value for line in codex.find("Edmund Crale").lines] == [fact["text"], "blue eyes"]


def test_what_is_replaced_is_over_and_what_only_makes_room_is_not():
    codex = looks("tall, with grey eyes", "blue eyes")
    (over,) = codex.over["p1"]
    assert over.instead == "Edmund Crale: blue eyes"
    assert says_again("Edmund Crale has grey eyes.", over)
    assert not looks(SCAR, "left-handed").over
    assert not looks(*(f"a red {noun}" for noun in NOUNS)).over


def test_looks_are_bounded_in_number():
    assert told(looks(*(f"a red {noun}" for noun in NOUNS))) == [f"a red {noun}" for noun in NOUNS[-MOST_LOOKS:]]


def test_a_long_look_stays_beside_a_short_one_and_what_the_author_says_makes_no_room():
    long = f"a nose that was {' '.join(['once'] * 32)} broken"
    assert told(looks(long, "a slight limp in the left leg")) == [long, "a slight limp in the left leg"]
    scar = {**look(SCAR, author=True), "rests_on": ""}
    codex = looks(*(f"a red {noun}" for noun in NOUNS), codex=changed(Codex(), [scar], "p0", 0))
    assert told(codex) == [SCAR, *(f"a red {noun}" for noun in NOUNS[-MOST_LOOKS:])]


def test_an_end_takes_one_look_and_without_words_all_of_them():
    codex = looks(SCAR, "left-handed", "grey eyes")
    assert told(changed(codex, [look("the scar", do="end")], "p4", 4)) == ["left-handed", "grey eyes"]
    assert told(changed(codex, [look("a wooden leg", do="end")], "p4", 4)) == told(codex)
    assert told(changed(codex, [look("", do="end")], "p4", 4)) == []


@pytest.mark.parametrize(
    ("value", "ended", "left"),
    [
        ("tall, with grey eyes and a scar", "grey eyes", ["tall, a scar"]),
        ("tall, with grey eyes and a scar", "the scar", ["tall, grey eyes"]),
        ("tall, with grey eyes and a scar", "tall, with grey eyes and a scar", []),
        ("tall, with a tall hat", "tall", ["a tall hat"]),
        ("tall, grey-eyed", "the grey eyes", ["tall"]),
        ("tall, with grey eyes", "a wooden leg", ["tall, with grey eyes"]),
    ],
)
def test_an_end_of_a_feature_leaves_the_others_of_its_line(value, ended, left):
    codex = changed(looks(value), [look(ended, do="end")], "p2", 2)
    assert told(codex) == left
    if left not in ([], [value]):
        (over,) = codex.over["p1"]
        assert over.instead == f"Edmund Crale: {left[0]}"
    below = under(Codex(), [look(value, author=True), look(ended, do="end", author=True)])
    assert told(below) == left


def test_two_people_with_three_looks_each_are_both_told_of_in_few_words():
    codex = looks("a scar across his chin", "a long black coat", "left-handed and thin")
    for step, value in enumerate(("hair gone white at the temples", "a limp in the right leg", "a green hat"), 4):
        codex = changed(codex, [look(value, "Dorothea Quill")], f"p{step}", step)
    first, second = tell(list(codex.entries.values()), words=45)
    assert first["lines"][0] == "Edmund Crale: left-handed and thin; a long black coat"
    assert second["lines"][0] == "Dorothea Quill: a green hat; a limp in the right leg"
    assert [len(one["lines"]) for one in (first, second)] == [2, 2], "the older ones, where words are left"


def test_the_writer_is_told_all_looks_in_one_sentence():
    codex = looks(SCAR, "left-handed")
    (entry,) = codex.entries.values()
    assert entry.value("look") == "left-handed"
    (lines,) = (one["lines"] for one in tell([entry], words=60))
    assert lines == [f"Edmund Crale: left-handed; {SCAR}"]


def test_two_that_are_one_keep_the_looks_of_both():
    codex = changed(
        looks(SCAR, "grey eyes"), [look("blue eyes", "the stranger"), look("thin", "the stranger")], "p3", 3
    )
    merge = Change(entry="Edmund Crale", kind="person", do="merge", value="the stranger")
    assert told(changed(codex, [merge], "p4", 4)) == [SCAR, "blue eyes", "thin"]


def test_what_the_author_says_of_looks_stands_where_no_passage_says_otherwise():
    codex = under(looks("grey eyes"), [look("blue eyes", author=True), look("a limp", author=True)])
    assert told(codex) == ["a limp", "grey eyes"]


def test_a_passage_takes_from_the_look_of_an_author_the_features_that_it_tells_of():
    codex = under(looks("tall, grey eyes"), [look("blue eyes, a limp", author=True)])
    assert told(codex) == ["a limp", "tall, grey eyes"]


@pytest.mark.parametrize("value", ["a fat man", "grey eyes", "tall"])
def test_what_an_author_sets_as_of_a_passage_is_the_whole_look(value):
    own = {**look(value, author=True), "rests_on": ""}
    codex = changed(looks("tall, with grey eyes", "a limp"), [own], "p2", 2)
    assert told(codex) == [value]
    assert told(changed(codex, [look("a scar")], "p3", 3)) == [value, "a scar"]
