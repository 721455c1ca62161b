"""Banned phrases: found as whole words, asked for again, and in no passage in the end."""

import pytest

from recurrentgpt.prose.banned import BannedPhrases
from recurrentgpt.prose.gate import MOST_BANNED, ProseGate

BANNED = ["a testament to", "shivers down"]


@pytest.mark.parametrize(
    ("phrase", "sentence"),
    [
        ("shivers down", "It sent Shivers  down\nher back."),
        ("shivers down", "‘Shivers down,’ he said."),
        ("it's no use", "It’s no use."),
        ("don’t panic", "Don't panic!"),
        ("Elara", "It was Elara's."),
        ("STRASSE", "Sie ging die Straße hinab."),
        ("—", "He waited—then went."),
        ("命运", "她相信命运的安排。"),
        ("AI", "用AI写的。"),
    ],
)
def test_a_phrase_is_found_whatever_its_case_quotation_marks_and_spaces(phrase, sentence):
    assert BannedPhrases(["nothing", phrase]).find(sentence) == phrase


@pytest.mark.parametrize(
    ("phrase", "sentence"),
    [("lamp", "The lamps and the lamplight."), ("arms", "Charms."), ("a b", "A. B"), ("c++", "C+")],
)
def test_words_are_whole(phrase, sentence):
    assert BannedPhrases([phrase]).find(sentence) == ""


def test_a_phrase_may_begin_in_the_sentence_before():
    phrases = BannedPhrases(["and yet. And so"])
    assert phrases.find("And so he went.", "It was late, and yet. ")
    assert not phrases.find("He went.", "It was late, and yet. And so he went. ")


def gate_of(text, **settings):
    gate = ProseGate(min_words=5, max_words=80, banned=BANNED, **settings)
    for start in range(0, len(text), 5):
        gate.feed(text[start : start + 5])
    gate.close()
    return gate


def test_a_small_models_stream_stops_and_goes_on_until_it_insists():
    gate = ProseGate(min_words=40, max_words=80, banned=BANNED)
    for sample in range(MOST_BANNED):
        gate.feed(f"Ada ran to gate {sample}. It sent shivers down her back. She stopped.")
        gate.close()
        assert str(gate.fault) == "banned: shivers down"
        assert gate.cut().endswith(f"gate {sample}.")
    gate.feed("Ada ran home. It sent shivers down her back. She stopped.")
    gate.close()
    assert gate.fault is None
    assert gate.finish() == "Ada ran to gate 0. Ada ran to gate 1. Ada ran home. She stopped."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ada ran. It was a *testament* to her. She stopped.", "Ada ran. She stopped."),
        ("It was a testament to her. Ada ran.\n\nShe stopped.", "Ada ran.\n\nShe stopped."),
        ("Ada ran. It was a testament to her.\n\nShe stopped.", "Ada ran.\n\nShe stopped."),
        ('"Go. It sent shivers down me," said Ada. She ran.', '"Go." She ran.'),
        ('"It sent shivers down me. We go," said Ada. She ran.', '"We go," said Ada. She ran.'),
        ("“It sent shivers down me. We go,” said Ada. She ran.", "“We go,” said Ada. She ran."),
        ("“Go. It sent shivers down me,” said Ada. She ran.", "“Go.” She ran."),
        ('"It sent shivers down me!" said Ada. She ran.', "She ran."),
    ],
)
def test_a_capable_model_is_told_and_what_stays_is_whole(text, left):
    gate = gate_of(text, keeps_all=True)
    assert gate.fault is None
    assert gate.objection.startswith("It held what the author has banned: ")
    assert gate.finish() == left


def test_a_capable_model_is_told_all_of_them_once():
    gate = gate_of("A testament to it. Shivers down her. Shivers down him. She ran.", keeps_all=True)
    assert gate.objection == "It held what the author has banned: a testament to; shivers down."
    assert not gate_of("Ada ran to the gate. She stopped.", keeps_all=True).objection
