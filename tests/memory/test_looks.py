"""How somebody looks is many lines: a new one takes the place of an older one of the same feature alone."""

import pytest

from recurrentgpt.memory.codex import changed, tell, under
from recurrentgpt.memory.looks import MOST_LOOK_WORDS, MOST_LOOKS
from recurrentgpt.memory.superseded import says_again
from recurrentgpt.schema.codex import Change, Codex


def look(value, name="Edmund Crale", do="set", **also):
    return Change(entry=name, kind="person", do=do, aspect="look", value=value, rests_on=f"{name}, {value}.", **also)


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
        (["graue Augen", "blaue Augen"], ["blaue Augen"]),
    ],
)
def test_a_look_replaces_what_was_told_of_the_same_feature_alone(values, left):
    assert told(looks(*values)) == left


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


def test_looks_are_bounded_in_number_and_words():
    assert told(looks(*(f"a red {noun}" for noun in NOUNS))) == [f"a red {noun}" for noun in NOUNS[-MOST_LOOKS:]]
    long = looks(*(f"{' '.join(['very'] * 25)} long {noun}" for noun in NOUNS))
    assert sum(len(value.split()) for value in told(long)) <= MOST_LOOK_WORDS
    assert told(long)[-1].endswith("wig")


def test_an_end_takes_one_look_and_without_words_all_of_them():
    codex = looks(SCAR, "left-handed", "grey eyes")
    assert told(changed(codex, [look("the scar", do="end")], "p4", 4)) == ["left-handed", "grey eyes"]
    assert told(changed(codex, [look("a wooden leg", do="end")], "p4", 4)) == told(codex)
    assert told(changed(codex, [look("", do="end")], "p4", 4)) == []


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
