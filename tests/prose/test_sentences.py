import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recurrentgpt.prose.sentences import (
    count_words,
    end_at_sentence,
    ends_a_sentence,
    language_code,
    language_name,
    last_sentences,
    limit_words,
    segments,
    sentences,
    words,
)

SCENE = (
    '"Wait!" she said. Dr. Vale did not wait. He took the lamp...\n\n'
    "“Who is there?” Mara asked. Nobody, at least nobody she could see."
)


def test_sentences_keep_abbreviations_and_speech_tags_together():
    found = sentences(SCENE)
    assert found[0] == '"Wait!" she said.'
    assert found[1] == "Dr. Vale did not wait."
    assert found[-1].startswith("Nobody")


def test_a_lone_closing_mark_belongs_to_the_sentence_before_it():
    assert all(any(letter.isalnum() for letter in sentence) for sentence in sentences('She left. " He stayed.'))


SENTENCES = st.text(alphabet='ab .!?"\n“”', max_size=120)
SPACES = st.text(alphabet="aA.!\n \u00a0\u0085\u2009\u2028\u3000", max_size=30)


@given(st.text(max_size=300) | SENTENCES | SPACES, st.sampled_from(["English", "Arabic", "French", "Japanese", "Thai"]))
@example("? “\na", "English")
@example("A\u00a0.", "Arabic")
@example("Piers walked on.\n\n" * 700, "English")
def test_segments_lose_nothing(text, language):
    assert "".join(segments(text, language)) == text


def test_words_have_no_punctuation_and_keep_apostrophes_and_hyphens():
    assert words("“It's half-past nine,” said Zoë — no, ten.") == [
        "It's",
        "half-past",
        "nine",
        "said",
        "Zoë",
        "no",
        "ten",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "धीरे-धीरे सीढ़ियाँ उतरकर नीचे गई",
        "নদীর জল বেড়েছে",
        "நீர் பொய் சொல்லாது",
        "نمی\u200cدانم چه شد",
        "קָרָא שָׁלוֹם",
        "كِتَابٌ جَدِيدٌ",
        "cafe\u0301s nai\u0308ve d'e\u0301te\u0301",
    ],
)
def test_a_word_is_not_split_at_its_vowel_signs_and_accents(text):
    assert words(text) == text.split()
    assert count_words(f"{text}। ॥ {text}") == 2 * len(text.split())
    assert limit_words(text, 1) == text.split()[0] + "…"


def test_a_character_of_an_unspaced_script_keeps_its_marks():
    assert words("เฝ้าเขื่อน") == ["เฝ้", "าเ", "ขื่อ", "น"]
    assert words("水从来不撒谎") == ["水从", "来不", "撒谎"]


@given(st.text("ab9'-_ .\n’‑", max_size=30))
def test_words_are_the_same_whatever_letters_stand_beside_them(text):
    assert words(f"{text} é") == [*words(text), "é"]


def test_languages_without_spaces_count_two_characters_as_a_word():
    assert count_words("彼は走った。") == 3
    assert count_words("她打开了门 and ran") == 5
    assert sentences("彼は走った。夜だった。", "Japanese") == ["彼は走った。", "夜だった。"]


def test_an_unfinished_sentence_is_trimmed():
    assert end_at_sentence("He ran. She followed him to the") == "He ran."
    assert end_at_sentence('He ran. "Stop!" she') == 'He ran. "Stop!"'
    assert end_at_sentence("She went to see Dr. Vale about the") == ""
    assert end_at_sentence("nothing finished here") == ""
    assert end_at_sentence("彼は走った。そして") == "彼は走った。"


def test_a_quotation_that_the_cut_left_open_is_closed():
    assert end_at_sentence('He sat down. "I know it. And you') == 'He sat down. "I know it."'
    assert end_at_sentence("«Je sais. Et toi") == "«Je sais.»"
    assert end_at_sentence('He sat down. "') == "He sat down."
    assert end_at_sentence('«He said "Go. And you') == '«He said "Go."»'


def test_a_sentence_ends_with_its_closing_mark():
    assert ends_a_sentence('"Go!" ')
    assert ends_a_sentence("Gone…")
    assert not ends_a_sentence("Gone with")
    assert not ends_a_sentence("He called Dr.")
    assert not ends_a_sentence("")


def test_last_sentences_are_the_end_of_the_text():
    assert last_sentences("One went. Two stayed. Three slept.", 2) == "Two stayed. Three slept."
    assert last_sentences("One went.", 3) == "One went."
    assert last_sentences("One went.", 0) == ""


def test_limit_words_stops_at_a_sentence_and_is_hard():
    assert limit_words("One two three. Four five six. Seven.", 6) == "One two three. Four five six."
    assert limit_words("One two three. Four five six. Seven.", 5) == "One two three."
    assert limit_words("One two three four.", 2) == "One two…"
    assert limit_words("One two.", 0) == ""


@given(SENTENCES, st.integers(min_value=0, max_value=20))
@example("? “\na", 1)
def test_limits_hold_for_any_text(text, n):
    assert count_words(limit_words(text, n)) <= n
    assert text.startswith(end_at_sentence(text, close=False))
    assert last_sentences(text, n) in text


@pytest.mark.parametrize("mark", ["`", "*", '"', ".", "x", " "])
def test_a_file_of_one_mark_is_split_in_bounded_time(mark):
    text = mark * 300_000
    assert "".join(segments(text)) == text


@pytest.mark.parametrize(
    ("own", "code"),
    [
        ("polski", "pl"),
        ("Português", "pt"),
        ("franc\u0327ais", "fr"),
        ("Español", "es"),
        ("Русский", "ru"),
        ("日本語", "ja"),
    ],
)
def test_a_language_is_known_by_its_own_name(own, code):
    assert language_code(own) == code
    assert language_code(language_name(own)) == code


def test_a_language_that_nobody_knows_is_told_as_english():
    assert language_code("Klingon") == "en"
    assert language_name("Klingon") == "Klingon"
