"""Summaries and names without a model."""

import pytest

from recurrentgpt.books.extract import LONG, Vocabulary, key_sentence, names, vocabulary
from recurrentgpt.prose.sentences import count_words

STORM = (
    "It was late. Mara found the stolen ledger of the harbour master under the floor of the mill. “Well?” said Tobias. "
    "He was tired. The rain went on."
)
OTHERS = ["The rain went on and he was tired of it.", "It was late and the rain went on.", "He said it was late."]


def test_the_sentence_that_tells_most_is_taken():
    known = vocabulary([STORM, *OTHERS])
    assert (
        key_sentence(STORM, known) == "Mara found the stolen ledger of the harbour master under the floor of the mill."
    )


def test_a_sentence_is_taken_as_it_is_and_long_ones_end_at_a_clause():
    long = "Mara went down to the harbour with the lamp, " * 5 + "and " + "then she " * 40 + "slept."
    summary = key_sentence(long, vocabulary([long]))
    assert count_words(summary) <= LONG
    assert summary.endswith("lamp…")
    unbroken = "word " * 100 + "end."
    assert count_words(key_sentence(unbroken, vocabulary([unbroken]))) <= LONG
    assert count_words(key_sentence(STORM, vocabulary([STORM]), max_words=5)) == 5


@pytest.mark.parametrize("text", ["", "  \n ", "* * *", "…"])
def test_nothing_says_nothing(text):
    assert key_sentence(text, Vocabulary()) == ""
    assert names(text) == []


def test_paragraphs_come_out_on_one_line():
    assert key_sentence("Mara found\nthe ledger.", Vocabulary()) == "Mara found the ledger."


def test_any_language_has_a_key_sentence():
    assert key_sentence("夜は静かだった。彼女は古い手紙を港の灯台で見つけた。", Vocabulary(), "Japanese").endswith("。")
    assert key_sentence("نعم. وجدت مارا الرسالة القديمة تحت أرض الطاحونة.", Vocabulary(), "Arabic").startswith("وجدت")


TALE = (
    "In the morning Elizabeth Hale met Mr. Hallam at Greywater. “Come,” said Elizabeth Hale, “the tide waits.” Nobody saw "
    "Hallam again. I think Elizabeth knew. On Monday the rain came back to Greywater, and Elizabeth Hale, who had seen Hallam, "
    "wept. Rain fell. When Hallam spoke, He listened. THE END"
)


def test_names_are_found_by_their_capitals_inside_sentences():
    assert names(TALE) == ["Elizabeth Hale", "Hallam", "Greywater"]
    assert names(TALE, 1) == ["Elizabeth Hale"]


def test_german_nouns_are_not_names():
    text = "Am Abend ging Peter in das Haus. Dort saß Peter und sah das Haus an, und der Hund sah Peter an, und das Haus schwieg."
    assert names(text * 3, language="German") == ["Peter"]


def test_names_in_other_alphabets():
    assert names("Утром пришла Анна, и снова Анна сказала, что видела, как Анна пела.") == ["Анна"]
    assert names("夜は静かだった。") == []


def test_names_do_not_depend_on_chance():
    assert names(TALE * 20) == names(TALE * 20)
